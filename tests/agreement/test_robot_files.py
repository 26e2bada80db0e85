"""Robot files on two roads: a few lines of ElementTree and torsor.assemble, against Pinocchio's own URDF reader.

Tolerance. The same numbers are read from the same text and used in doubles: ROUNDING of the largest entry, as for
random trees. The condition number of M, up to 1e5 for the floating Talos and the chain of 64, multiplies some units of
rounding in the accelerations: 1e-10, as much as that can make of it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

import torsor
from torsor import Inertia, Joint, Robot

ROBOTS = Path(__file__).parents[1] / "data" / "robots"
FILES = ["panda7", "ur5", "kinova6", "talos32", "talos38_floating", "chain2", "chain8", "chain24", "chain64"]
ROUNDING = 1e-12


def numbers(element: ElementTree.Element | None, key: str) -> list[float]:
    return [0.0, 0.0, 0.0] if element is None else [float(x) for x in element.get(key, "0 0 0").split()]


def pose(element: ElementTree.Element) -> np.ndarray:
    """The pose of an <origin>."""
    origin = element.find("origin")
    return torsor.pose_from(numbers(origin, "xyz"), numbers(origin, "rpy"))


def inertia(link: ElementTree.Element) -> Inertia:
    body = link.find("inertial")
    if body is None:
        return Inertia.zero()
    xx, xy, xz, yy, yz, zz = (float(body.find("inertia").get(f"i{k}")) for k in ("xx", "xy", "xz", "yy", "yz", "zz"))
    rotational = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return Inertia(float(body.find("mass").get("value")), (0.0, 0.0, 0.0), rotational).moved(pose(body))


def read(name: str) -> Robot:
    """A robot file as torsor joints; "floating" ones get a free joint between the world and their root link."""
    root = ElementTree.parse(ROBOTS / f"{name}.urdf").getroot()
    links = {link.get("name"): link for link in root.iter("link")}
    joints = [
        Joint(
            name=joint.get("name"),
            kind=joint.get("type"),
            parent=joint.find("parent").get("link"),
            link=joint.find("child").get("link"),
            pose=pose(joint),
            axis=numbers(joint.find("axis"), "xyz"),
            inertia=inertia(links[joint.find("child").get("link")]),
            lower=float(joint.find("limit").get("lower")),
            upper=float(joint.find("limit").get("upper")),
        )
        for joint in root.iter("joint")
    ]
    (base,) = set(links) - {joint.link for joint in joints}
    if "floating" not in name:
        return torsor.assemble(joints, name=name, base=base)
    free = Joint(name="root_joint", kind="free", parent="ground", link=base, inertia=inertia(links[base]))
    return torsor.assemble([free, *joints], name=name, base="ground")


class File:
    """One file on both roads, with its states and the constant map v_pin = K v (order of joints, linear part first)."""

    def __init__(self, name: str) -> None:
        self.robot = read(name)
        path, floating = str(ROBOTS / f"{name}.urdf"), "floating" in name
        self.model = (
            pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
        )
        self.data = self.model.createData()
        self.K = np.zeros((self.model.nv, self.robot.nv))
        for joint in self.robot.joints:
            row, block = self.model.idx_vs[self.model.getJointId(joint)], self.robot.v_slice(joint)
            columns = np.arange(self.robot.nv)[block]
            for k, column in enumerate(np.roll(columns, 3) if len(columns) == 6 else columns):
                self.K[row + k, column] = 1.0
        self.states = [torsor.random_state(self.robot, seed=seed) for seed in range(3)]

    def q(self, q: np.ndarray) -> np.ndarray:
        result = pin.neutral(self.model)
        for joint in self.robot.joints:
            part, start = q[self.robot.q_slice(joint)], self.model.idx_qs[self.model.getJointId(joint)]
            result[start : start + len(part)] = part
        return result

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return self.K.T @ (M + np.triu(M, 1).T) @ self.K

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.K.T @ pin.rnea(self.model, self.data, self.q(q), self.K @ v, self.K @ a)


@cache
def file(name: str) -> File:
    return File(name)


@pytest.fixture(params=FILES, scope="module")
def arm(request: pytest.FixtureRequest) -> File:
    return file(request.param)


def test_both_readers_find_the_same_joints_and_masses(arm):
    joints = [name for name in arm.model.names if name != "universe"]
    assert sorted(joints) == sorted(arm.robot.joints)
    assert np.all(np.abs(arm.K).sum(axis=1) == 1)
    masses = {name: arm.model.inertias[arm.model.getJointId(name)].mass for name in joints}
    read_masses = dict(zip(arm.robot.joints, arm.robot.parameters.inertias[:, 0], strict=True))
    assert masses == pytest.approx(read_masses, rel=1e-15)


def test_inverse_dynamics_of_a_file_agrees(arm, same):
    for q, v, a in arm.states:
        same(torsor.inverse_dynamics(arm.robot, q, v, a), arm.inverse_dynamics(q, v, a), ROUNDING)


def test_forward_dynamics_of_a_file_agrees(arm, same):
    for q, v, tau in arm.states:
        want = arm.K.T @ pin.aba(arm.model, arm.data, arm.q(q), arm.K @ v, arm.K @ tau)
        for algorithm in (torsor.forward_dynamics, torsor.papers.factorised_acceleration):
            same(algorithm(arm.robot, q, v, tau), want, 1e-10)


def test_mass_matrix_of_a_file_agrees(arm, same):
    for q, _, _ in arm.states:
        same(torsor.mass_matrix(arm.robot, q), arm.mass_matrix(q), ROUNDING)


def test_coriolis_matrix_of_a_file_agrees(arm, same):
    for q, v, _ in arm.states:
        C = arm.K.T @ pin.computeCoriolisMatrix(arm.model, arm.data, arm.q(q), arm.K @ v) @ arm.K
        same(torsor.coriolis_matrix(arm.robot, q, v), C, ROUNDING)


def test_all_states_of_a_file_as_one_batch_give_the_same(arm, same):
    q, v, a = (np.array(part) for part in zip(*arm.states, strict=True))
    want = [arm.inverse_dynamics(*state) for state in arm.states]
    same(torsor.inverse_dynamics(arm.robot, q, v, a), want, ROUNDING)


@pytest.mark.parametrize(("name", "embedded"), [("panda7", torsor.robots.panda), ("ur5", torsor.robots.ur5)])
def test_embedded_arms_are_the_robots_of_their_files(name, embedded, same):
    # Some numbers have twelve digits on one side: inertias in the table of the Panda, right angles in the UR5's file.
    here, there = embedded().parameters, file(name).robot.parameters
    for field in ("poses", "screws", "inertias", "gravity"):
        same(getattr(here, field), getattr(there, field), 1e-9)
    ends = [np.array((*robot.limits.lower, *robot.limits.upper)) for robot in (embedded(), file(name).robot)]
    same(*ends, 1e-9)


@pytest.mark.parametrize(("name", "embedded"), [("panda7", torsor.robots.panda), ("ur5", torsor.robots.ur5)])
def test_embedded_arms_need_the_torques_of_their_files(name, embedded, same):
    for q, v, a in file(name).states:
        same(torsor.inverse_dynamics(embedded(), q, v, a), file(name).inverse_dynamics(q, v, a), 1e-9)
        same(torsor.mass_matrix(embedded(), q), file(name).mass_matrix(q), 1e-9)
