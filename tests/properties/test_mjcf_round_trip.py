"""Any robot without helical joints, written as MJCF: MuJoCo computes what torsor does, and so does torsor from the file.

Tolerance. Numbers are written to the last digit; poses become quaternions and back, inertias are diagonalised, and joints
of one body are seen from its frame: some units of rounding, 1e-12 of the largest entry.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_strategies import seeds

import torsor
from torsor.adapters import MuJoCo
from torsor.lie import quaternion
from torsor.model._assemble import disassemble, frames_of

ROUNDING = 1e-12
KINDS = ("revolute", "prismatic", "planar", "spherical", "free")
STILL = ("revolute", "prismatic", "spherical")  # joints whose armature and friction MuJoCo counts along the same axes


@st.composite
def robots(draw: st.DrawFn) -> torsor.Robot:
    """Trees of all kinds; with friction, armature and springs where MuJoCo means the same by them."""
    effects = draw(st.booleans())
    kinds = draw(st.sampled_from([KINDS, *((kind,) for kind in KINDS)])) if not effects else STILL
    flags = {name: draw(st.booleans()) for name in ("serial", "mimic", "fixed")}
    n = draw(st.integers(1, 8))
    effect = dict.fromkeys(("friction", "armature", "springs"), effects)
    return torsor.robots.random_tree(n, seed=draw(seeds), kinds=kinds, **effect, **flags)


def split(robot: torsor.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """A state by the names that the file gives to joints: planar and inner free joints in parts, rates along fixed axes."""
    s, found = robot.structure, {"q": {}, "v": {}, "a": {}}

    def put(name: str, *values: np.ndarray) -> None:
        for key, value in zip("qva", values, strict=True):
            found[key][name] = value

    for i, name in enumerate(s.joints):
        c = s.coordinate_of(i)
        if c.name != name:
            continue
        x, y, z = q[c.q], v[c.v], a[c.v]
        if s.kinds[i] == "planar":
            turn, (dx, dy) = np.array([[np.cos(x[2]), -np.sin(x[2])], [np.sin(x[2]), np.cos(x[2])]]), y[1:]
            rates, accelerations = turn @ y[1:], turn @ (z[1:] + y[0] * np.array([-dy, dx]))
            put(f"{name}_x", x[0], rates[0], accelerations[0])
            put(f"{name}_y", x[1], rates[1], accelerations[1])
            put(name, x[2], y[0], z[0])
        elif s.kinds[i] == "free" and s.parents[i] >= 0:
            R = quaternion.to_rotation(x[3:])
            rates, accelerations = R @ y[3:], R @ (z[3:] + np.cross(y[:3], y[3:]))
            for k, letter in enumerate("xyz"):
                put(f"{name}_{letter}", x[k], rates[k], accelerations[k])
            put(name, x[3:], y[:3], z[:3])
        elif s.kinds[i] == "free":  # from the world, not from its home
            home = robot.parameters.poses[i]
            turned = quaternion.product(quaternion.from_rotation(home[:3, :3]), x[3:])
            put(name, np.concatenate([home[:3, 3] + home[:3, :3] @ x[:3], turned]), y, z)
        else:
            put(name, *((value[0] if len(value) == 1 else value) for value in (x, y, z)))
    return found


def powers(robot: torsor.Robot, other: torsor.Robot, q: np.ndarray) -> np.ndarray:
    """K (other's nv, nv): the velocities of the other robot are K v."""
    nothing = np.zeros(robot.nv)
    return np.array([other.v_from_dict(split(robot, q, unit, nothing)["v"]) for unit in np.eye(robot.nv)]).T


def close(got: np.ndarray, want: np.ndarray, scale: float = 0.0) -> None:
    assert np.abs(got - want).max() <= ROUNDING * max(np.abs(want).max(), scale)


@settings(max_examples=40)
@given(robots(), seeds)
def test_written_and_read_it_moves_as_before(robot, seed):
    other = torsor.load(robot.to_mjcf())
    q, v, a = torsor.random_state(robot, seed=seed)
    state = split(robot, q, v, a)
    q2, v2, a2 = other.q_from_dict(state["q"]), other.v_from_dict(state["v"]), other.v_from_dict(state["a"])
    K = powers(robot, other, q)
    close(K.T @ torsor.mass_matrix(other, q2) @ K, torsor.mass_matrix(robot, q))
    tau = torsor.inverse_dynamics(robot, q, v, a)
    close(K.T @ torsor.inverse_dynamics(other, q2, v2, a2), tau)
    close(K.T @ torsor.gravity_forces(other, q2), torsor.gravity_forces(robot, q), np.abs(tau).max())
    for frame in robot.frames:
        close(torsor.frame_pose(other, q2, frame), torsor.frame_pose(robot, q, frame), 1.0)


@settings(max_examples=40)
@given(robots(), seeds)
def test_mujoco_computes_the_same_from_the_file(robot, seed):
    """MuJoCo's joints are those of the robot that is read back from the same text, one to one."""
    text = robot.to_mjcf()
    other, model = torsor.load(text), mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # dry friction and followers among them
    data, adapter = mujoco.MjData(model), MuJoCo(other, order=other.joints)
    q, v, a = torsor.random_state(other, seed=seed)
    data.qpos, data.qvel, data.qacc = adapter.to_q(q), adapter.to_v(q, v), adapter.to_a(q, v, a)
    mujoco.mj_inverse(model, data)
    smooth = other.with_parameters(coulomb_friction=np.zeros(other.nv))
    tau = torsor.inverse_dynamics(smooth, q, v, a)
    close(adapter.from_tau(q, np.array(data.qfrc_inverse)), tau)
    M = torsor.mass_matrix(other, q)
    for k, unit in enumerate(np.eye(other.nv)):
        product = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, product, adapter.to_v(q, unit))
        close(adapter.from_tau(q, product), M[:, k], np.abs(M).max())
    for k in range(model.nbody):
        T = torsor.frame_pose(other, q, model.body(k).name)
        close(data.xpos[k], T[:3, 3], 1.0)
        close(data.xmat[k].reshape(3, 3), T[:3, :3], 1.0)


@settings(max_examples=40)
@given(robots())
def test_what_was_read_is_written_and_read_again_as_the_same(robot):
    first = torsor.load(robot.to_mjcf())
    second = torsor.load(first.to_mjcf())
    for field in ("name", "base", "joints", "links", "parents", "kinds", "coordinates"):
        assert getattr(first.structure, field) == getattr(second.structure, field), field
    of_joints = ("armature", "viscous_friction", "coulomb_friction", "stiffness", "rest")
    for leaf in ("poses", "screws", "inertias", "gravity", *of_joints):
        got, want = getattr(second.parameters, leaf), getattr(first.parameters, leaf)
        close(got, want, 1.0)
    assert set(first.frames) == set(second.frames)
    for name, (link, pose) in frames_of(first).items():
        assert frames_of(second)[name][0] == link
        close(frames_of(second)[name][1], pose, 1.0)


# The odd ones


def chain(*joints: torsor.Joint, **options: object) -> torsor.Robot:
    return torsor.assemble(joints, name="odd", **options)


BALL = torsor.Inertia.sphere(0.1, mass=1.0, com=(0.1, 0.2, 0.3))


def test_links_without_mass_and_point_masses_are_given_what_mujoco_wants():
    robot = chain(
        torsor.Joint(name="a", kind="revolute", link="A", axis=(1, 0, 0)),
        torsor.Joint(
            name="b", kind="revolute", link="B", parent="A", axis=(0, 1, 0), inertia=torsor.Inertia.point(1.0)
        ),
        torsor.Joint(name="c", kind="spherical", link="C", parent="A", inertia=BALL),
    )
    with pytest.warns(torsor.ModelWarning, match="massless-connector"):
        other = torsor.load(robot.to_mjcf())
    assert other.links == robot.links and other.inertia("A").mass == 0.0
    q, v, a = torsor.random_state(robot, seed=0)
    close(torsor.inverse_dynamics(other, q, v, a), torsor.inverse_dynamics(robot, q, v, a))


def test_a_plate_and_a_rod_are_taken_though_mujoco_allows_no_rounding():
    for inertia in (
        torsor.Inertia.particles([1.0, 0.3, 0.7], [[0.1, 0.2, 0.3], [0.5, 0.1, 0.9], [0.2, 0.8, 0.4]]),
        torsor.Inertia.particles([1.0, 0.3], [[0.1, 0.2, 0.3], [0.5, 0.1, 0.9]]),
    ):
        robot = chain(torsor.Joint(name="a", kind="spherical", link="A", inertia=inertia))
        np.testing.assert_allclose(
            torsor.load(robot.to_mjcf()).parameters.inertias, robot.parameters.inertias, atol=1e-13
        )


def test_the_base_keeps_its_inertia_and_its_name():
    moving = torsor.Joint(name="a", kind="revolute", link="A", parent="pedestal", axis=(1, 0, 0), inertia=BALL)
    robot = chain(
        moving, base="pedestal", base_inertia=BALL, frames={"bolt": ("pedestal", torsor.pose_from((1, 2, 3)))}
    )
    first = torsor.load(robot.to_mjcf())
    second = torsor.load(first.to_mjcf())
    for other in (first, second):
        assert set(other.frames) == {"world", "pedestal", "bolt", "A"}
        np.testing.assert_allclose(other.parameters.base_inertia, BALL.row, atol=1e-15)
        np.testing.assert_allclose(torsor.frame_pose(other, [0.3], "bolt"), torsor.pose_from((1, 2, 3)), atol=1e-15)


def test_a_base_called_world_keeps_its_inertia():
    robot = chain(
        torsor.Joint(name="a", kind="revolute", link="A", parent="world", axis=(1, 0, 0), inertia=BALL),
        base="world",
        base_inertia=BALL,
    )
    other = torsor.load(robot.to_mjcf())
    assert other.frames == ("world", "world_body", "A")
    np.testing.assert_allclose(other.parameters.base_inertia, BALL.row, atol=1e-15)


def test_a_screw_of_any_length_moves_by_its_ratio():
    """MuJoCo's joints are of unit length: qpos = ratio · q, tau of theirs is ours / ratio."""
    robot = chain(
        torsor.Joint(
            name="a", kind="revolute", link="A", screw=(0, 0, 2, 0.2, 0, 0), inertia=BALL, lower=-1, upper=2, armature=0.3,
            viscous_friction=0.2, effort_limit=4.0,
        ),
        torsor.Joint(
            name="b", kind="prismatic", link="B", parent="A", screw=(0, 0, 0, 3, 0, 0), inertia=BALL,
            mimic=torsor.Mimic("a", 0.5, 0.1),
        ),
    )  # fmt: skip
    other = torsor.load(robot.to_mjcf())
    assert (other.limits.lower, other.limits.upper, other.limits.effort) == ((-2.0,), (4.0,), (2.0,))
    q, v, a = torsor.random_state(robot, seed=0)
    close(torsor.frame_pose(other, 2 * q, "B"), torsor.frame_pose(robot, q, "B"))
    close(2 * torsor.inverse_dynamics(other, 2 * q, 2 * v, 2 * a), torsor.inverse_dynamics(robot, q, v, a))


def test_one_sided_limits_stay_one_sided():
    robot = chain(torsor.Joint(name="a", kind="revolute", link="A", axis=(1, 0, 0), inertia=BALL, upper=1.0))
    limits = torsor.load(robot.to_mjcf()).limits
    assert (limits.lower, limits.upper) == ((-np.inf,), (1.0,))


def test_the_zoo_survives():
    for make in (torsor.robots.panda, torsor.robots.ur5, torsor.robots.iiwa, torsor.robots.cart_pole):
        robot = make()
        other = torsor.load(robot.to_mjcf())
        q, v, a = torsor.random_state(robot, seed=0)
        close(torsor.inverse_dynamics(other, q, v, a), torsor.inverse_dynamics(robot, q, v, a))
        assert other.coordinates == robot.coordinates
    with pytest.raises(torsor.ModelError, match="which no body can have"):  # its links are given one moment only
        torsor.robots.puma560().to_mjcf()


def test_names_that_need_care_survive():
    name = "a <b> & \"c\" 'd' é\t"
    robot = chain(torsor.Joint(name=name, kind="revolute", link="L" + name, axis=(1, 0, 0), inertia=BALL))
    other = torsor.load(robot.to_mjcf())
    assert other.joints == (name,) and other.links == ("L" + name,)


def test_it_is_written_to_a_file(tmp_path):
    robot = torsor.robots.pendulum()
    text = robot.to_mjcf(tmp_path / "robot.xml")
    assert (tmp_path / "robot.xml").read_text() == text
    assert torsor.load(tmp_path / "robot.xml").source.format == "mjcf"


# What is refused


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (torsor.Joint(name="j", kind="helical", link="A", axis=(0, 0, 1), pitch=0.1, inertia=BALL), "helical"),
        (torsor.Joint(name="j", kind="revolute", link="world", axis=(0, 0, 1), inertia=BALL), "Rename it"),
        (torsor.Joint(name="j", kind="revolute", link="A", axis=(0, 0, 1), inertia=BALL, lower=1, upper=1), "lock"),
        (torsor.Joint(name="j", kind="spherical", link="A", inertia=BALL, armature=(1, 2, 3)), "one number for all"),
        (torsor.Joint(name="j", kind="planar", link="A", inertia=BALL, armature=(1, 2, 3)), "differs between directions"),
        (
            torsor.Joint(name="j", kind="spherical", link="A", inertia=torsor.Inertia(1.0, rotational=np.diag([1.0, 1.0, 9.0]))),
            "no body can have",
        ),
    ],
)  # fmt: skip
def test_what_mujoco_cannot_say_is_refused_with_a_way_out(joint, words):
    with pytest.raises(torsor.ModelError, match=words):
        chain(joint).to_mjcf()


@pytest.mark.parametrize("kind", ["free", "planar"])
def test_armature_of_a_translation_is_written_with_a_warning(kind):
    robot = chain(torsor.Joint(name="j", kind=kind, link="A", inertia=BALL, armature=0.5))
    with pytest.warns(torsor.ModelWarning, match="acts along the axes of its link"):
        text = robot.to_mjcf()
    assert disassemble(robot)[0].armature[0] == 0.5 and 'armature="0.5"' in text
