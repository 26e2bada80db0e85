"""Regressors against Pinocchio's, on trees of every joint kind and robots from files, and against the golden ones.

Tolerance. Both roads work in doubles, a few hundred operations deep: 1e-12 of the largest entry. The golden numbers have
thirty correct digits; entries of the regressor are accelerations, those of gravity and v² at a metre, which may cancel.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin, over_batch
from test_golden import STATES, TOLERANCE, largest, robot_of, state_of
from test_pinocchio import random_robot

import torsor

ROUNDING = 1e-12
FILES = Path(__file__).parents[1] / "data" / "robots"
CASES = [
    "panda7",
    "ur5",
    "talos32",
    *map(str, range(12)),
    "planar",
    "spherical",
    "free",
    "helical",
    "mimic 1",
    "mimic 4",
]
_FROM_PIN = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # (Ixx, Ixy, Iyy, Ixz, …) to (Ixx, Ixy, Ixz, Iyy, …)
_ENTRIES = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


@cache
def twin_of(case: str) -> Twin:
    return Twin(torsor.load(FILES / f"{case}.urdf") if case[0].isalpha() and case[-1] in "257" else random_robot(case))


def pseudo_inertia(row: np.ndarray) -> np.ndarray:
    """Σ m (x, 1)(x, 1)ᵀ (4, 4) of ten numbers."""
    I = np.zeros((3, 3))
    for (i, j), x in zip(_ENTRIES, row[4:], strict=True):
        I[i, j] = I[j, i] = x
    P = np.empty((4, 4))
    P[:3, :3], P[:3, 3], P[3, :3], P[3, 3] = 0.5 * np.trace(I) * np.eye(3) - I, row[1:4], row[1:4], row[0]
    return P


def moved(T: np.ndarray) -> np.ndarray:
    """The matrix (10, 10) that takes ten numbers to those of the same body in another frame, T its old one's pose there."""
    columns = []
    for unit in np.eye(10):
        P = T @ pseudo_inertia(unit) @ T.T
        I = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        columns.append([P[3, 3], *P[:3, 3], *(I[entry] for entry in _ENTRIES)])
    return np.array(columns).T


def in_link_frames(twin: Twin, Y: np.ndarray) -> np.ndarray:
    """Columns of Pinocchio's joints, in its order and about its joint frames, as those of torsor's links."""
    blocks = []
    for i, k in enumerate(twin.ids):
        own = Y[..., 10 * (k - 1) : 10 * k][..., _FROM_PIN]
        blocks.append(own @ moved(twin.shift[i].inverse().homogeneous))
    return np.concatenate(blocks, axis=-1)


@pytest.mark.parametrize("case", CASES)
def test_the_torque_regressor_is_pinocchios(case, same):
    twin = twin_of(case)

    def theirs(q, v, a):
        Y = pin.computeJointTorqueRegressor(twin.bare, data, twin.q(q), twin.v(v), twin.v(a))
        return twin.K.T @ in_link_frames(twin, Y)

    data = twin.bare.createData()
    q, v, a = torsor.random_state(twin.robot, seed=1, batch=(2,))
    same(torsor.identification.torque_regressor(twin.robot, q, v, a), over_batch(theirs, q, v, a), ROUNDING)


@pytest.mark.parametrize("case", CASES)
def test_the_energy_regressors_are_pinocchios(case, same):
    twin, data = twin_of(case), twin_of(case).bare.createData()

    def kinetic(q, v):
        return in_link_frames(twin, pin.computeKineticEnergyRegressor(twin.bare, data, twin.q(q), twin.v(v)))

    def potential(q):
        return in_link_frames(twin, pin.computePotentialEnergyRegressor(twin.bare, data, twin.q(q)))

    q, v, _ = torsor.random_state(twin.robot, seed=2, batch=(2,))
    same(torsor.identification.kinetic_energy_regressor(twin.robot, q, v), over_batch(kinetic, q, v), ROUNDING)
    same(torsor.identification.potential_energy_regressor(twin.robot, q), over_batch(potential, q), ROUNDING)


@pytest.mark.parametrize(("name", "k"), STATES)
def test_the_golden_regressor_and_its_parameters_are_met(name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    Y = torsor.identification.torque_regressor(robot, s["q"], s["qd"], s["qdd"])
    same(Y, s["regressor"], TOLERANCE, scale=max(largest(Y), largest(robot.gravity)))
    same(torsor.identification.inertial_parameters(robot), s["inertial_parameters"], TOLERANCE)
    same(
        Y @ torsor.identification.inertial_parameters(robot),
        s["tau"],
        TOLERANCE,
        scale=largest(np.abs(Y) @ np.abs(s["inertial_parameters"])),
    )
