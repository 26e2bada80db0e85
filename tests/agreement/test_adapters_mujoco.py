"""Adapters against MuJoCo: the same robot written as MJCF, states handed over by torsor.adapters.MuJoCo.

Tolerance. MuJoCo diagonalises every inertia and normalises every quaternion it reads, each a few units of rounding off:
ROUNDING = 1e-12 of the largest entry. A solved mass matrix multiplies some units of rounding by its condition: 1e-11.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from test_robot_files import ROBOTS, read

import torsor
from torsor import Inertia, Joint, Robot
from torsor.adapters import MuJoCo
from torsor.model._assemble import disassemble, frames_of

ROUNDING = 1e-12
INVERSE = 1e-11
KINDS = ("revolute", "prismatic", "planar", "spherical")
CASES = ["tree 0", "tree 1", "free tree 2", "free tree 3", "free tree 4", "planar", "spherical", "free", "panda7"]
HOME = torsor.pose_from((0.3, -0.5, 0.7), (0.4, -1.1, 2.0))  # a free joint that does not start at the world's origin


def floating(robot: Robot, home: np.ndarray) -> Robot:
    """The robot with its base on a free joint."""
    free = Joint(
        name="float",
        kind="free",
        parent="ground",
        link="base",
        pose=home,
        inertia=Inertia(2.0, (0.1, -0.2, 0.05), [[0.3, 0.02, 0.01], [0.02, 0.4, 0.03], [0.01, 0.03, 0.5]]),
    )
    joints = [replace(joint, screw=None, axis=joint_axis(joint)) for joint in disassemble(robot)]
    return torsor.assemble(
        [free, *joints], name="floating", gravity=robot.gravity, frames=frames_of(robot), base="ground"
    )


def joint_axis(joint: Joint) -> np.ndarray | None:
    if joint.screw is None:
        return None
    return joint.screw[3:] if joint.kind == "prismatic" else joint.screw[:3]


def text(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def wxyz(R: np.ndarray) -> np.ndarray:
    """Quaternion of a rotation by MuJoCo, so that nothing of the adapter is used to test it."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ravel(R))
    return quat


def mjcf(robot: Robot) -> str:
    """A robot as MJCF; siblings in reverse, so that MuJoCo has another order of joints."""
    s, p = robot.structure, robot.parameters
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian")
    ElementTree.SubElement(root, "option", gravity=text(p.gravity))
    bodies = {-1: ElementTree.SubElement(root, "worldbody")}

    def add(i: int) -> None:
        pose = p.poses[i]
        body = ElementTree.SubElement(
            bodies[s.parents[i]], "body", name=s.links[i], pos=text(pose[:3, 3]), quat=text(wxyz(pose[:3, :3]))
        )
        inertia = robot.inertia(s.links[i])
        I = np.asarray(inertia.rotational)
        full = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        ElementTree.SubElement(
            body, "inertial", mass=repr(float(inertia.mass)), pos=text(inertia.com), fullinertia=text(full)
        )
        for name, kind, axis in mjcf_joints(robot, i):
            ElementTree.SubElement(
                body, "joint", name=name, type=kind, **({"axis": text(axis)} if axis is not None else {})
            )
        for frame in s.frames:
            if frame.link == i and frame.pose_row is not None:
                T = p.frame_poses[frame.pose_row]
                ElementTree.SubElement(body, "site", name=frame.name, pos=text(T[:3, 3]), quat=text(wxyz(T[:3, :3])))
        bodies[i] = body
        for child in reversed([k for k in range(s.n) if s.parents[k] == i]):
            add(child)

    for i in reversed([k for k in range(s.n) if s.parents[k] < 0]):
        add(i)
    return ElementTree.tostring(root, encoding="unicode")


def mjcf_joints(robot: Robot, i: int) -> list[tuple[str, str, np.ndarray | None]]:
    name, kind, S = robot.joints[i], robot.structure.kinds[i], robot.parameters.screws[i]
    if kind == "planar":
        x, y, z = np.eye(3)
        return [(f"{name} x", "slide", x), (f"{name} y", "slide", y), (name, "hinge", z)]
    if kind == "revolute":
        return [(name, "hinge", S[:3])]
    if kind == "prismatic":
        return [(name, "slide", S[3:])]
    return [(name, {"spherical": "ball", "free": "free"}[kind], None)]


class Both:
    """A robot, its MuJoCo model, the adapter between them, and random states."""

    def __init__(self, case: str) -> None:
        if case == "panda7":
            self.robot = read(case)
            urdf = (ROBOTS / f"{case}.urdf").read_text()
            self.model = mujoco.MjModel.from_xml_string(urdf)
            self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT  # random states may be beyond them
        else:
            if case == "free":
                self.robot = floating(torsor.robots.random_tree(1, seed=8, kinds=("revolute",)), HOME)
            elif case in KINDS:
                self.robot = torsor.robots.random_tree(3, seed=6, kinds=(case,), serial=True)
            else:
                seed = int(case[-1])
                self.robot = torsor.robots.random_tree(6 + seed, seed=seed, kinds=KINDS)
                if case.startswith("free"):
                    self.robot = floating(self.robot, np.eye(4) if seed == 4 else HOME)
            self.model = mujoco.MjModel.from_xml_string(mjcf(self.robot))
        self.data = mujoco.MjData(self.model)
        names = [self.model.joint(i).name for i in range(self.model.njnt)]
        self.peer = MuJoCo(self.robot, order=[name for name in names if name in self.robot.joints])
        self.states = [torsor.random_state(self.robot, seed=seed) for seed in range(3)]

    def put(self, q: np.ndarray, v: np.ndarray) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.peer.to_q(q), self.peer.to_v(q, v)

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        self.put(q, v)
        self.data.qacc[:] = self.peer.to_a(q, v, a)
        mujoco.mj_inverse(self.model, self.data)
        return self.peer.from_tau(q, self.data.qfrc_inverse)

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Our acceleration, from MuJoCo; whatever else acts (xfrc_applied) is set by the caller after `put`."""
        self.data.qfrc_applied[:] = self.peer.to_tau(q, tau)
        mujoco.mj_forward(self.model, self.data)
        return self.peer.from_a(q, v, self.data.qacc)

    def centre(self, body: int) -> np.ndarray:
        return self.data.subtree_com[self.model.body_rootid[body]]


@cache
def both(case: str) -> Both:
    return Both(case)


@pytest.fixture(params=CASES, scope="module")
def pair(request: pytest.FixtureRequest) -> Both:
    return both(request.param)


def test_the_cases_hold_every_kind_that_mujoco_has_and_another_order():
    pairs = [both(case) for case in CASES]
    assert {kind for p in pairs for kind in p.robot.structure.kinds} == {*KINDS, "free"}
    assert sum(p.peer.order != p.robot.coordinates for p in pairs) >= 3


def test_sizes_and_places_are_the_models(pair):
    assert (pair.peer.nq, pair.peer.nv) == (pair.model.nq, pair.model.nv)
    for i, name in enumerate(pair.robot.joints):
        first = pair.model.joint(mjcf_joints(pair.robot, i)[0][0])
        assert pair.peer.q_slice(name).start == first.qposadr[0]
        assert pair.peer.v_slice(name).start == first.dofadr[0]


def test_links_are_in_the_same_places(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        mujoco.mj_forward(pair.model, pair.data)
        for link in pair.robot.links:
            body = pair.data.body(link)
            T = torsor.frame_pose(pair.robot, q, link)
            same(body.xpos, T[:3, 3], ROUNDING, 1 + np.abs(T).max())
            same(body.xmat.reshape(3, 3), T[:3, :3], ROUNDING)
            same(pair.peer.from_pose(np.concatenate([body.xpos, body.xquat])), T, ROUNDING)
            x = pair.peer.to_pose(T)
            same(x[3:], body.xquat * np.sign(body.xquat[0]), ROUNDING)


def test_frames_move_alike(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        mujoco.mj_forward(pair.model, pair.data)
        for link in pair.robot.links:
            body, V = pair.model.body(link).id, np.zeros(6)
            mujoco.mj_objectVelocity(pair.model, pair.data, mujoco.mjtObj.mjOBJ_XBODY, body, V, 1)
            want = torsor.kinematics.body_twist(pair.robot, q, v, link)
            same(pair.peer.from_twist(V), want, ROUNDING)
            same(pair.peer.to_twist(want), V, ROUNDING)


def test_inverse_dynamics_agrees(pair, same):
    for q, v, a in pair.states:
        want = torsor.inverse_dynamics(pair.robot, q, v, a)
        same(pair.inverse(q, v, a), want, ROUNDING)
        same(pair.peer.to_tau(q, want), pair.data.qfrc_inverse, ROUNDING)


def test_forward_dynamics_agrees(pair, same):
    for q, v, tau in pair.states:
        pair.put(q, v)
        same(pair.forward(q, v, tau), torsor.forward_dynamics(pair.robot, q, v, tau), INVERSE)


def test_mass_matrix_agrees(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        mujoco.mj_forward(pair.model, pair.data)
        K, MK = pair.peer.to_v(q, np.eye(pair.robot.nv)), np.zeros((pair.robot.nv, pair.model.nv))
        for column, product in zip(K, MK, strict=True):
            mujoco.mj_mulM(pair.model, pair.data, product, column)
        same(K @ MK.T, torsor.mass_matrix(pair.robot, q), ROUNDING)


def test_a_free_fall_step_by_step_is_the_same_motion(same):
    """The state of a tumbling body after one small step: rates of q are what MuJoCo integrates (order of step²)."""
    pair = both("free")
    q, v, _ = pair.states[0]
    pair.put(q, v)
    h = pair.model.opt.timestep = 1e-6
    mujoco.mj_step(pair.model, pair.data)
    moved = torsor.integrate(pair.robot, q, v, h)
    same(pair.peer.from_q(pair.data.qpos), moved, 1e-10)
    assert np.abs(moved - q).max() > 1e-7  # the bound above is far below the step itself


def test_external_wrenches_agree(pair, same):
    rng = np.random.default_rng(7)
    for q, v, tau in pair.states:
        pair.put(q, v)
        mujoco.mj_kinematics(pair.model, pair.data)
        mujoco.mj_comPos(pair.model, pair.data)
        frames = [*pair.robot.links, *(["tool"] if "tool" in pair.robot.frames else [])]
        wrenches = {frame: rng.normal(size=6) for frame in frames}
        for frame, F in wrenches.items():
            link = pair.robot.links[pair.robot.structure.frame(frame).link]
            body = pair.model.body(link).id
            T = torsor.frame_pose(pair.robot, q, frame)
            x = pair.peer.to_xfrc_applied(F, T, pair.data.xipos[body])
            same(pair.peer.from_xfrc_applied(x, T, pair.data.xipos[body]), F, ROUNDING)
            pair.data.xfrc_applied[body] += x
        same(pair.forward(q, v, tau), torsor.forward_dynamics(pair.robot, q, v, tau, wrenches=wrenches), INVERSE)


def test_centred_velocities_are_body_twists(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        mujoco.mj_forward(pair.model, pair.data)
        for link in pair.robot.links:
            body, T = pair.model.body(link).id, torsor.frame_pose(pair.robot, q, link)
            V, x = torsor.kinematics.body_twist(pair.robot, q, v, link), pair.data.cvel[body]
            same(pair.peer.from_cvel(x, T, pair.centre(body)), V, ROUNDING)
            same(pair.peer.to_cvel(V, T, pair.centre(body)), x, ROUNDING)


def test_centred_forces_are_joint_wrenches(pair, same):
    for q, v, tau in pair.states:
        pair.put(q, v)
        a = pair.forward(q, v, tau)
        mujoco.mj_rnePostConstraint(pair.model, pair.data)
        wanted = torsor.dynamics.joint_wrenches(pair.robot, q, v, a)
        for link, F in zip(pair.robot.links, wanted, strict=True):
            body, T = pair.model.body(link).id, torsor.frame_pose(pair.robot, q, link)
            x = pair.data.cfrc_int[body]
            same(pair.peer.from_cfrc(x, T, pair.centre(body)), F, INVERSE, np.abs(wanted).max())
            same(pair.peer.to_cfrc(F, T, pair.centre(body)), x, INVERSE, np.abs(wanted).max())


def test_states_from_mujoco_come_back_to_it(pair, same):
    rng = np.random.default_rng(3)
    mujoco.mj_resetData(pair.model, pair.data)
    pair.data.qvel[:] = rng.normal(size=pair.model.nv)
    mujoco.mj_integratePos(pair.model, pair.data.qpos, rng.normal(size=pair.model.nv), 1.0)
    pair.data.qacc[:] = rng.normal(size=pair.model.nv)
    mujoco.mj_inverse(pair.model, pair.data)
    q = pair.peer.from_q(pair.data.qpos)
    v = pair.peer.from_v(q, pair.data.qvel)
    a = pair.peer.from_a(q, v, pair.data.qacc)
    same(pair.peer.to_q(q), pair.data.qpos, ROUNDING)
    want = torsor.inverse_dynamics(pair.robot, q, v, a)
    same(pair.peer.from_tau(q, pair.data.qfrc_inverse), want, ROUNDING)


def test_a_helical_joint_is_refused():
    with pytest.raises(
        torsor.ModelError, match=r"no helical joint, and 'joint_0' .* robot\.lock\(\{'joint_0': 0\.0\}\)"
    ):
        MuJoCo(torsor.robots.random_tree(1, seed=0, kinds=("helical",)))


def test_a_free_joint_on_a_link_is_refused():
    robot = torsor.robots.random_tree(2, seed=0, kinds=("free",), serial=True)
    with pytest.raises(
        torsor.ModelError, match=r"'joint_1' .* hangs on 'link_0'\. Convert robot\.subtree\('joint_1'\)"
    ):
        MuJoCo(robot)
    MuJoCo(robot.subtree("joint_1"))
