"""Singular mass matrices, joints that move nothing, states with NaN: answers without exceptions or warnings.

Warnings are errors in these tests, so a division by zero on the way would show.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close
from property_strategies import Case, any_robots, cases, directions, robots, seeds, vectors3

import torsor
from torsor.arrays import factor, solve
from torsor.functions.dispatch import PUBLIC

FUNCTIONS = {
    "link_poses": "q",
    "mass_matrix": "q",
    "inverse_mass_matrix": "q",
    "gravity_forces": "q",
    "potential_energy": "q",
    "centre_of_mass": "q",
    "joint_axes": "q",
    "mass_matrix_rate": "qv",
    "coriolis_matrix": "qv",
    "coriolis_forces": "qv",
    "bias_forces": "qv",
    "kinetic_energy": "qv",
    "generalised_momentum": "qv",
    "spatial_momentum": "qv",
    "joint_axes_rate": "qv",
    "inverse_dynamics": "qva",
    "joint_wrenches": "qva",
    "forward_dynamics": "qva",
    "factorised_acceleration": "qva",
}


def end_loaded(lengths: list[float], mass: float) -> torsor.Robot:
    """A planar chain whose only mass is a point at its end."""
    return torsor.robots.planar_chain(lengths, [*np.zeros(len(lengths) - 1), mass])


# Singular mass matrices


@given(st.floats(0.1, 3), st.floats(0.1, 3), st.floats(0.1, 10), st.floats(-3, 3))
def test_a_stretched_arm_with_all_mass_at_its_end_has_no_definite_acceleration(l1, l2, mass, q1):
    robot = end_loaded([l1, l2], mass)
    v, tau = np.array([0.3, -0.2]), np.array([1.0, 2.0])
    assert np.all(np.isnan(torsor.forward_dynamics(robot, [q1, 0.0], v, tau)))
    assert np.any(np.isnan(torsor.dynamics.inverse_mass_matrix(robot, [q1, 0.0])))
    # and beside a singular state the others of a batch are not disturbed
    batch = np.array([[q1, 0.0], [q1, 1.0]])
    a = torsor.forward_dynamics(robot, batch, v, tau)
    assert np.all(np.isnan(a[0]))
    assert_close(a[1], torsor.forward_dynamics(robot, batch[1], v, tau))
    assert_close(torsor.inverse_dynamics(robot, batch[1], v, a[1]), tau, 1e-10)


def assert_no_plausible_acceleration(a: np.ndarray) -> None:
    """NaN, or so large that nobody takes it for an answer: rounding may leave a pivot a little above zero."""
    assert np.all(np.isnan(a).any(-1) | (np.abs(a).max(-1) > 1e8))


@given(st.floats(0.1, 3), st.floats(0.1, 3), st.floats(-3, 3))
def test_a_folded_arm_with_all_mass_at_its_end_has_no_plausible_acceleration(l1, l2, q1):
    assert_no_plausible_acceleration(torsor.forward_dynamics(end_loaded([l1, l2], 1.0), [q1, np.pi], [0, 0], [1, 2]))


@given(st.integers(3, 6), seeds)
def test_more_joints_than_one_point_mass_can_resist_are_refused(n, seed):
    rng = np.random.default_rng(seed)
    robot = end_loaded(list(rng.uniform(0.2, 1.0, n)), 1.0)
    q, v, tau = rng.normal(size=(3, 2, n))
    with pytest.raises(torsor.ModelError, match=r"joints 'joint_1', .* can move together without moving any inertia"):
        torsor.forward_dynamics(robot, q, v, tau)
    # and where nobody asks beforehand, no acceleration is made up
    assert_no_plausible_acceleration(solve(factor(torsor.mass_matrix(robot, q), guarded=True), tau))


def test_long_chains_of_point_masses_have_accelerations():
    robot = torsor.robots.planar_chain([0.3] * 60, [0.5] * 60)
    q, v, tau = np.random.default_rng(0).normal(size=(3, 60))
    a = torsor.forward_dynamics(robot, q, v, tau)
    assert_close(torsor.inverse_dynamics(robot, q, v, a), tau, 1e-9, scale=a)


@given(st.floats(0.1, 3), st.floats(0.1, 3), st.floats(-3, 3))
def test_the_report_names_the_motion_that_meets_no_inertia(l1, l2, q1):
    report = torsor.dynamics.mass_matrix_report(end_loaded([l1, l2], 1.0), [q1, 0.0])
    assert report.rank == 1
    assert report.condition > 1e14
    assert report.idle_joints == ()
    # The end stays where it is if (l1 + l2) v1 + l2 v2 = 0.
    v1, v2 = report.weakest_motion["joint_1"], report.weakest_motion["joint_2"]
    assert_close((l1 + l2) * v1 + l2 * v2, 0.0, 1e-7)  # an eigenvector of eigenvalue 0 ± 1e-16 is off by its root
    assert_close(v1**2 + v2**2, 1.0)


@given(cases(robots(mimic=False), batches=((),)))
def test_the_report_of_a_regular_robot_is_that_of_its_mass_matrix(case):
    robot, q, _, _, _ = case
    report, M = torsor.dynamics.mass_matrix_report(robot, q), torsor.mass_matrix(robot, q)
    assert report.rank == robot.nv
    assert abs(report.condition / np.linalg.cond(M) - 1) < 1e-15 * np.linalg.cond(M) * robot.nv + 1e-9
    weakest = np.array(list(report.weakest_motion.values()))
    assert_close(weakest @ M @ weakest, np.linalg.eigvalsh(M)[0])


# Joints that move nothing


@given(directions, vectors3, st.sampled_from(["revolute", "prismatic", "helical"]), seeds)
def test_a_joint_that_moves_no_inertia_is_refused_by_name(axis, point, kind, seed):
    arm = torsor.Joint(name="arm", kind="revolute", axis=axis, link="arm", inertia=torsor.Inertia.sphere(0.2, mass=1.0))
    idle = torsor.Joint(
        name="idle", kind=kind, axis=axis, pitch=0.1 * (kind == "helical"), parent="arm", link="nothing"
    )
    robot = torsor.assemble([arm, idle], name="toy")
    q, v, tau = np.random.default_rng(seed).normal(size=(3, 2))
    for function in (
        torsor.forward_dynamics,
        torsor.papers.factorised_acceleration,
        torsor.papers.articulated_body_acceleration,
    ):
        with pytest.raises(torsor.ModelError, match="'idle' moves no inertia"):
            function(robot, q, v, tau)
    with pytest.raises(torsor.ModelError, match="'idle' moves no inertia"):
        torsor.simulate(robot, q, v, duration=0.1, dt=0.1)
    assert torsor.dynamics.mass_matrix_report(robot, q).idle_joints == ("idle",)
    assert_close(torsor.inverse_dynamics(robot, q, v, v)[1], 0.0)  # what is asked of it costs nothing
    # what the refusal advises works
    held = robot.lock({"idle": 0.0})
    assert np.all(np.isfinite(torsor.forward_dynamics(held, q[:1], v[:1], tau[:1])))
    loaded = robot.with_inertia("nothing", torsor.Inertia.box((0.1, 0.2, 0.3), mass=1.0, com=point))
    assert np.all(np.isfinite(torsor.forward_dynamics(loaded, q, v, tau)))


def test_a_negative_inertia_is_called_so():
    arm = torsor.robots.planar2r()
    pi, rest = torsor.identification.inertial_parameters(arm), np.zeros(2)
    for wrong, links in ((-pi, "'link_1', 'link_2'"), (pi * np.repeat([1.0, -1.0], 10), "'link_2'")):
        robot = arm.with_inertial_parameters(wrong)
        for function in (torsor.forward_dynamics, torsor.forward_dynamics_derivatives):
            with pytest.raises(
                torsor.ModelError, match=f"moves a negative inertia, .* the inertia of {links} is negative"
            ):
                function(robot, rest, rest, rest)
        assert torsor.dynamics.mass_matrix_report(robot, rest).idle_joints == ()


@given(seeds)
def test_an_armature_makes_an_idle_joint_move(seed):
    motor = torsor.Joint(name="motor", kind="revolute", axis=(0, 0, 1), armature=0.5)
    robot = torsor.assemble([motor])
    q, v, tau = np.random.default_rng(seed).normal(size=(3, 1))
    assert_close(torsor.forward_dynamics(robot, q, v, tau), tau / 0.5)


@given(seeds)
def test_a_robot_without_mass_has_no_centre_of_mass(seed):
    robot = torsor.assemble([torsor.Joint(name="motor", kind="revolute", axis=(0, 0, 1), armature=0.5)])
    q = np.random.default_rng(seed).normal(size=1)
    assert_close(torsor.potential_energy(robot, q), 0.0, 0.0)
    com = torsor.dynamics.centre_of_mass(robot, q)  # documented as NaN
    assert com.shape == (3,) and np.all(np.isnan(com))


# NaN and zero


def spoilt(case: Case, letter: str, index: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The case's arrays with one NaN in the state at ``index``."""
    arrays = {"q": case.q.copy(), "v": case.v.copy(), "a": case.a.copy()}
    place = int(case.rng.integers(arrays[letter].shape[-1]))
    arrays[letter][(*index, place)] = np.nan
    return arrays


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=12)
@given(cases(any_robots, batches=((3,),)))
def test_a_nan_in_one_state_gives_nan_there_and_nowhere_else(name, case):
    letters = FUNCTIONS[name]
    function = PUBLIC[name]
    clean = function(case.robot, *({"q": case.q, "v": case.v, "a": case.a}[x] for x in letters))
    letter = str(case.rng.choice(list(letters)))
    arrays = spoilt(case, letter, (1,))
    result = function(case.robot, *(arrays[x] for x in letters))
    assert result.shape == clean.shape
    assert_close(result[[0, 2]], clean[[0, 2]])
    # Elsewhere a NaN need not show: M of one joint does not depend on q, nor its Coriolis force on v.
    if letter == "a" or (letter == "v" and name in ("kinetic_energy", "generalised_momentum")):
        assert np.any(np.isnan(result[1]))


@given(cases(robots(kinds=("revolute", "spherical", "free"), mimic=False), batches=((),)))
def test_a_nan_in_the_configuration_reaches_the_pose_and_does_not_raise(case):
    robot, q = case.robot, case.q.copy()
    q[case.rng.integers(robot.nq)] = np.nan
    assert np.any(np.isnan(torsor.link_poses(robot, q)))
    assert np.any(np.isnan(torsor.integrate(robot, q, case.v, 0.1)))
    assert np.any(np.isnan(torsor.difference(robot, q, case.q)))
    assert np.any(np.isnan(torsor.gravity_forces(robot, q)))
    assert np.any(np.isnan(torsor.forward_dynamics(robot, q, case.v, case.a)))


@given(cases())
def test_a_robot_at_rest_without_gravity_and_springs_needs_no_force(case):
    robot, q, v, _, _ = case
    floating = robot.with_gravity((0, 0, 0)).with_parameters(stiffness=np.zeros(robot.nv))
    zero = 0.0 * v
    assert_close(torsor.inverse_dynamics(floating, q, zero, zero), zero, 0.0)
    assert_close(torsor.kinetic_energy(robot, q, zero), np.zeros(case.batch), 0.0)
    assert_close(torsor.coriolis_matrix(robot, q, zero), np.zeros((*case.batch, robot.nv, robot.nv)), 0.0)
