"""Base parameters against published counts, groupings worked out by hand, and the rank of Pinocchio's regressor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin

import torsor
from torsor import robots

FILES = Path(__file__).parents[1] / "data" / "robots"
PLANAR = robots.planar2r(masses=(2.0, 3.0), lengths=(0.5, 0.4))
# Six revolute joints, the first vertical: 7·6 − 6 = 36 [GK90; MYO90]; seven: 43.
COUNTS = {
    "pendulum": (robots.pendulum(), 3),
    "planar 2R": (PLANAR, 6),
    "planar 2R without gravity": (PLANAR.with_gravity(np.zeros(3)), 4),
    "planar 2R lying flat": (PLANAR.with_gravity([0.0, 0.0, -9.81]), 4),
    "cart and pole": (robots.cart_pole(), 4),
    "UR5": (robots.ur5(), 36),
    "Puma 560": (robots.puma560(), 36),
    "iiwa": (robots.iiwa(), 43),
    "Panda": (robots.panda(), 43),
}


@pytest.mark.parametrize("method", ["structural", "numerical"])
@pytest.mark.parametrize("name", COUNTS)
def test_well_known_robots_have_the_published_number(name, method):
    robot, count = COUNTS[name]
    assert torsor.identification.base_parameters(robot, method=method).count == count


def test_a_planar_arm_regroups_as_in_the_textbook():
    """The second mass acts on the first link as a point at the elbow."""
    base = torsor.identification.base_parameters(PLANAR)
    assert [str(g) for g in base.groupings] == [
        "mcx_1 + x_2 m_2",
        "mcy_1",
        "Izz_1 + x_2² m_2",
        "mcx_2",
        "mcy_2",
        "Izz_2",
    ]
    np.testing.assert_allclose(
        base.values, [2 * 0.5 + 0.5 * 3, 0, 2 * 0.25 + 0.25 * 3, 3 * 0.4, 0, 3 * 0.16], atol=1e-15
    )


def test_the_rules_for_a_revolute_joint_about_z():
    """Behind an elbow, XX − YY stays and YY, 2 r MZ and r² M join the link before, with MZ and M [GK90]."""
    base = torsor.identification.base_parameters(robots.iiwa())
    text = dict(zip(base.symbols, map(str, base.groupings), strict=True))
    assert text["Ixx_7"] == "Ixx_7 − Iyy_7"
    assert text["Izz_6"] == "Izz_6 + y_7² m_7 + 2 y_7 mcz_7 + Iyy_7"
    assert text["mcy_6"] == "mcy_6 + y_7 m_7 + mcz_7"
    assert text["Izz_1"] == "Izz_1 + Iyy_2"
    kept = {symbol for symbol in base.symbols if symbol.endswith("_5")}
    assert kept == {f"{s}_5" for s in ("Ixx", "Ixy", "Ixz", "Iyz", "Izz", "mcx", "mcy")}


@pytest.mark.parametrize("name, floating, count", [("talos32", False, 206), ("talos38_floating", True, 234)])
def test_a_humanoid_by_both_methods(name, floating, count):
    robot = torsor.load(FILES / f"{name}.urdf", base="floating" if floating else "fixed")
    one, other = (torsor.identification.base_parameters(robot, method=method) for method in ("structural", "numerical"))
    assert one.count == count
    assert one.columns.tolist() == other.columns.tolist()
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-11)


def pinocchio_rows(robot, states):
    """Pinocchio's regressor at random states, in its own frames and order of parameters."""
    twin = Twin(robot)
    data = twin.model.createData()
    rng, rows = np.random.default_rng(3), []
    for _ in range(states):
        q = pin.randomConfiguration(twin.model, -np.ones(twin.model.nq), np.ones(twin.model.nq))
        v, a = rng.normal(size=(2, twin.model.nv))
        rows.append(pin.computeJointTorqueRegressor(twin.model, data, q, v, a).reshape(twin.model.nv, -1).copy())
    return np.concatenate(rows)


@pytest.mark.parametrize("seed", range(12))
def test_there_are_as_many_as_the_rank_of_pinocchios_regressor(seed):
    """With other frames and another order of parameters; the rank is the same."""
    pin.seed(seed)
    robot = robots.random_tree(1 + seed % 6, seed=seed) if seed else robots.iiwa()
    rows = pinocchio_rows(robot, 60)
    lengths = np.linalg.norm(rows, axis=0)
    rows = rows / np.maximum(lengths, 1e-3 * lengths.max())
    assert torsor.identification.base_parameters(robot).count == np.linalg.matrix_rank(rows, tol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_pinocchio_feels_no_change_of_parameters_that_keeps_the_base_parameters(seed):
    robot = robots.random_tree(5, seed=seed, kinds=("revolute", "prismatic", "spherical", "free"))
    base, own, rng = (
        torsor.identification.base_parameters(robot),
        torsor.identification.inertial_parameters(robot),
        np.random.default_rng(seed),
    )
    push = 0.01 * rng.normal(size=own.size)
    change = push - np.linalg.pinv(base.matrix) @ (base.matrix @ push)
    changed = robot.with_inertial_parameters(own + change)
    q, v, a = torsor.random_state(robot, seed=seed)
    before, after = (Twin(r).inverse_dynamics(q, v, a) for r in (robot, changed))
    assert np.abs(change).max() > 1e-3 or base.count == own.size
    np.testing.assert_allclose(after, before, atol=1e-10 * max(1.0, np.abs(before).max()))
