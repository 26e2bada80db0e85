"""Strict priorities among accelerations: closed forms without limits, proofs of optimality with them, loops that keep limits."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative
from property_strategies import ONE_NUMBER, cases, joints_of, rebuilt, robots, seeds
from scipy.optimize import nnls

import torsor
from torsor.control.priorities.joint_limit_rows import acceleration_rows
from torsor.control.priorities.limit_rows import Rank
from torsor.control.priorities.quadratic_program import least_squares_within
from torsor.model.joint_kinds import KINDS

DT = 0.01
PANDA = torsor.robots.panda()
LOWER, UPPER, SPEED, EFFORT = (np.array(x) for x in PANDA.limits)
HAND, ELBOW = torsor.position_task("hand_tcp"), torsor.orientation_task("link_4")
# Rounding, where a pseudoinverse amplifies it by conditions up to 1e4
SOLVED = 1e-8


def panda_state(seed, speed=0.1):
    """A Panda well within its limits, slow, with two tasks that want little."""
    rng = np.random.default_rng(seed)
    q = LOWER + (UPPER - LOWER) * rng.uniform(0.3, 0.7, 7)
    return q, speed * rng.normal(size=7), (HAND, 0.3 * rng.normal(size=3)), (ELBOW, 0.3 * rng.normal(size=3)), rng


@pytest.mark.parametrize("by_inertia", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_without_active_limits_it_is_the_resolved_acceleration(seed, by_inertia):
    q, v, one, two, rng = panda_state(seed)
    null = 0.3 * rng.normal(size=7)
    metric = torsor.mass_matrix(PANDA, q) if by_inertia else None
    alone = torsor.control.prioritised_accelerations(PANDA, q, v, [one], DT, null=null, metric=metric)
    assert alone.feasible
    assert not alone.active_limits
    assert_close(alone.a, torsor.control.resolved_acceleration(PANDA, q, v, *one, null=null, metric=metric), SOLVED)
    assert_close(alone.tau, torsor.inverse_dynamics(PANDA, q, v, alone.a), 1e-14)
    both = torsor.control.prioritised_accelerations(PANDA, q, v, [one, two], DT, null=null, metric=metric)
    if not both.active_limits:
        stacked = torsor.control.resolved_acceleration(
            PANDA,
            q,
            v,
            torsor.stack_tasks(one[0], two[0]),
            np.append(one[1], two[1]),
            null=null,
            metric=metric,
        )
        assert_close(both.a, stacked, 1e-6)  # not in conflict here: both are done, and nearest to the same


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 6, 7, 8])  # at 0 and 3 tasks are at their edges
def test_no_other_acceleration_within_limits_is_better(seed):
    """Level by level, limits written down anew: the slope of a level is a sum of slopes before it and of limits it is at.

    Which proves the optimum, since all of it is convex. The multipliers are found by non-negative least squares.
    """
    q, v, *_, rng = panda_state(seed, speed=0.5)
    tasks = [(HAND, 30.0 * rng.normal(size=3)), (ELBOW, 60.0 * rng.normal(size=3))]
    null, most = 10.0 * rng.normal(size=7), 12.0
    found = torsor.control.prioritised_accelerations(
        PANDA, q, v, tasks, DT, null=null, acceleration_limits=most, within_limits=("velocity", "effort")
    )
    M, h = torsor.mass_matrix(PANDA, q), torsor.inverse_dynamics(PANDA, q, v, np.zeros(7))
    C = np.concatenate([np.eye(7), np.eye(7), M])
    room = np.concatenate([np.full(7, most), SPEED / DT, EFFORT])
    values = C @ found.a + np.concatenate([np.zeros(7), v / DT, h])
    assert np.all(np.abs(values) <= room + 1e-8)
    at_limits = (np.sign(values)[:, None] * C)[np.abs(values) >= room - 1e-7]
    assert len(at_limits)
    assert found.active_limits
    assert not any(task.at_edge for task in found.tasks)
    slopes, before = [], np.zeros((0, 7))
    for outcome, (task, y) in zip(found.tasks, tasks, strict=True):
        J, b = task.jacobian(PANDA, q), y - task.drift(PANDA, q, v)
        assert_close(outcome.given_up, b - J @ found.a, 1e-10)
        slopes.append((J, J.T @ (b - J @ found.a)))
    slopes.append((np.eye(7), null - found.a))
    for J, slope in slopes:
        generators = np.concatenate([before, -before, at_limits])
        _, left = nnls(generators.T, slope)
        assert left <= 1e-7 * max(1.0, np.abs(slope).max())
        before = np.concatenate([before, J])


@pytest.mark.parametrize("seed", range(10))
def test_limits_that_leave_nothing_of_a_level_but_rounding_cost_no_digits(seed):
    """Where all that A sees is at limits, only noise is left of it in the directions that are free: not to be divided by."""
    rng = np.random.default_rng(seed)
    C = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    A, b = rng.normal(size=(2, 2)) @ C[:2], 30.0 * rng.normal(size=2)
    lower, upper = np.array([-1.0, -1.0, -3.0, -np.inf, -3.0]), np.array([1.0, 1.0, np.inf, 2.0, 3.0])
    w, multipliers = least_squares_within(A, b, C, lower, upper)
    values = C @ w
    assert np.all((values >= lower - 1e-12) & (values <= upper + 1e-12))
    assert_close(C.T @ multipliers, A.T @ (b - A @ w), 1e-12)
    at = np.where(multipliers > 0.0, upper, lower)[multipliers != 0.0]
    assert_close(values[multipliers != 0.0], at, 1e-12)


@st.composite
def limited(draw, kinds=None, least=3, most=5):
    """Random trees with limits of position, velocity and effort on many joints."""
    robot, rng = draw(robots(least=least, most=most, kinds=kinds)), np.random.default_rng(draw(seeds))

    def bounds(joint):
        nq, nv = KINDS[joint.kind].nq, KINDS[joint.kind].nv
        places = {"spherical": 0, "free": 3}.get(joint.kind, nq)  # numbers that are no quaternion
        side = np.where((rng.uniform(size=nq) < 0.8) & (np.arange(nq) < places), rng.uniform(0.2, 1.5, nq), np.inf)
        speed, effort = (
            np.where(rng.uniform(size=nv) < 0.6, rng.uniform(*r, nv), np.inf) for r in ((0.5, 2), (10, 60))
        )
        lower, upper, speed, effort = ((x[0] if len(x) == 1 else x) for x in (-side, side, speed, effort))
        return replace(joint, lower=lower, upper=upper, velocity_limit=speed, effort_limit=effort)

    return rebuilt(robot, [joint if joint.mimic else bounds(joint) for joint in joints_of(robot)])


def inside(robot, q):
    """q, moved to at most 0.9 of its ranges."""
    return np.clip(q, 0.9 * np.array(robot.limits.lower), 0.9 * np.array(robot.limits.upper))


@settings(max_examples=12)
@given(cases(limited(), ((),)), st.floats(-1.0, 2.0))
def test_lower_levels_take_nothing_from_higher_ones_and_limits_are_kept(case, size):
    """Every joint kind: the residual of a task is the same whatever comes after it, and what is within limits stays there."""
    robot, rng = case.robot, case.rng
    q, v = inside(robot, case.q), 0.1 * case.v
    frames = rng.choice(robot.frames, 2)
    tasks = [(torsor.position_task(str(f)), 10.0**size * rng.normal(size=3)) for f in frames]
    results = [torsor.control.prioritised_accelerations(robot, q, v, tasks[: k + 1], DT) for k in range(2)]
    assert_close(results[1].residuals[0], results[0].residuals[0], 1e-8, scale=10.0**size + np.abs(v).max())
    for result in results:
        ranks = {conflict.limit.kind for conflict in result.conflicts}
        assert "effort" not in ranks
        assert np.all(np.abs(result.tau) <= np.array(robot.limits.effort) + 1e-7)
        if not ranks:
            assert np.all(np.abs(v + result.a * DT) <= np.array(robot.limits.velocity) + 1e-9)
            later = torsor.integrate(robot, q, v * DT + 0.5 * result.a * DT**2)
            free = np.array([kind in ("planar", "free") for kind in robot.structure.kinds]).any()
            over = 1e-9 if not free else 1e-3 * (1.0 + np.abs(result.a).max() * DT**2)  # places: to first order
            assert np.all(later >= np.array(robot.limits.lower) - over)
            assert np.all(later <= np.array(robot.limits.upper) + over)


@settings(max_examples=5)
@given(cases(limited(ONE_NUMBER, least=2, most=3), ((),)), st.booleans())
def test_loops_within_acceleration_limits_keep_all_limits_and_meet_no_conflict(case, constant):
    """Whatever is asked of the robot, and whichever way positions are integrated; mimic joints too."""
    robot, rng, q, v = case.robot, case.rng, inside(case.robot, case.q), np.zeros(case.robot.nv)
    most = rng.uniform(2.0, 30.0, robot.nv)
    lower, upper, speed, _ = (np.array(x) for x in robot.limits)
    task = torsor.position_task(robot.frames[-1])
    for k in range(40):
        if k % 10 == 0:
            y, null = 30.0 * rng.normal(size=3), 30.0 * rng.normal(size=robot.nv)
        result = torsor.control.prioritised_accelerations(
            robot, q, v, [(task, y)], DT, null=null, acceleration_limits=most, within_limits=("position", "velocity")
        )
        assert result.feasible
        assert np.all(np.abs(result.a) <= most + 1e-9)
        q = torsor.integrate(robot, q, v * DT + (0.5 if constant else 1.0) * result.a * DT**2)
        v = v + result.a * DT
        assert np.all((q >= lower - 1e-9) & (q <= upper + 1e-9))
        assert np.all(np.abs(v) <= speed + 1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("most", [None, 10.0])
def test_a_panda_that_is_driven_about_stays_within_all_its_limits(most):
    """Two seconds of tasks that want too much, efforts limited too: within 1e-9 of every limit, and no conflict."""
    rng = np.random.default_rng(5)
    q, v, closest = 0.5 * (LOWER + UPPER), np.zeros(7), np.inf
    for k in range(100):
        if k % 25 == 0:
            tasks = [(HAND, 20.0 * rng.normal(size=3)), (ELBOW, 40.0 * rng.normal(size=3))]
            null = 10.0 * rng.normal(size=7)
        result = torsor.control.prioritised_accelerations(
            PANDA, q, v, tasks, 2 * DT, null=null - v, acceleration_limits=most
        )
        assert result.feasible
        assert np.all(np.abs(result.tau) <= EFFORT + 1e-8)
        q, v = q + v * 2 * DT + 0.5 * result.a * (2 * DT) ** 2, v + result.a * 2 * DT
        closest = min(closest, (q - LOWER).min(), (UPPER - q).min())
        assert closest >= -1e-9
        assert np.all(np.abs(v) <= SPEED + 1e-9)
    assert closest < 0.1  # limits were in the way


@settings(max_examples=8)
@given(cases(limited(("planar", "free", "revolute"), least=2, most=3), ((),)))
def test_rows_of_positions_are_second_derivatives_of_the_numbers_of_q(case):
    """G a + Ġ v of places too, which turn with the body."""
    robot, q, v, a = case.robot, case.q, case.v, case.a
    rows = acceleration_rows(
        robot,
        q,
        v,
        DT,
        0.1,
        position=True,
        velocity=False,
        effort=False,
        most=np.full(robot.nv, np.inf),
    )
    at = np.flatnonzero(np.isfinite(np.array(robot.limits.upper)))
    expected = derivative(
        lambda t: torsor.kinematics.configuration_rate(
            robot, torsor.integrate(robot, q, v * t + 0.5 * a * t**2), v + a * t
        )[at]
    )
    assert np.all(rows.rank == Rank.POSITION)
    assert_close(rows.C @ a + rows.offset, expected, DIFFERENTIATED, scale=np.abs(expected).max(initial=1.0))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["planar", "free"])
def test_a_base_that_is_driven_about_keeps_to_its_place(kind):
    """Turning all the while; to first order in the step, of which 5e-3 m is ample."""
    numbers, dt, rng = {"planar": 3, "free": 7}[kind], 0.008, np.random.default_rng(3)
    limit = np.where(np.arange(numbers) < 2, 1.0, np.inf)
    body = torsor.Inertia(1.0, np.zeros(3), np.eye(3))
    joint = torsor.Joint(name="base", kind=kind, link="body", lower=-limit, upper=limit, inertia=body)
    robot = torsor.assemble([joint], name="rover")
    q, v = torsor.random_configuration(robot, seed=1), np.zeros(robot.nv)
    q[:2] = 0.5, -0.3
    furthest = 0.0
    for k in range(160):
        if k % 40 == 0:
            push, spin = 20.0 * rng.normal(size=3), 5.0 * rng.normal(size=robot.nv)
        result = torsor.control.prioritised_accelerations(
            robot, q, v, [(torsor.position_task("body"), push)], dt, null=spin - v, acceleration_limits=30.0
        )
        q, v = torsor.integrate(robot, q, v * dt + 0.5 * result.a * dt**2), v + result.a * dt
        furthest = max(furthest, np.abs(q[:2]).max())
    assert 0.95 < furthest < 1.005


def test_effort_limits_are_named_kept_and_told_from_others():
    """A fast upward pull that the motors cannot give: joint 2 of the Panda at 87 N m."""
    q, v = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 1.8, 0.7]), np.zeros(7)
    up = (torsor.position_task("hand_tcp", ["vz"]), [60.0])
    result = torsor.control.prioritised_accelerations(PANDA, q, v, [up], DT, within_limits=["effort"])
    assert result.feasible
    assert not result.tasks[0].done
    assert {limit.kind for limit in result.active_limits} == {"effort"}
    names = [limit.joint for limit in result.active_limits]
    assert names == [PANDA.joints[k] for k in np.flatnonzero(np.abs(result.tau) > EFFORT - 1e-6)]
    assert "panda_joint2 at its lower effort limit −87 N m" in str(result)
    assert str(result).startswith("1. hand_tcp position (vz): gets vz ")
    free = torsor.control.prioritised_accelerations(PANDA, q, v, [up], DT, within_limits=False)
    assert free.tasks[0].done
    assert np.any(np.abs(free.tau) > EFFORT)


@pytest.mark.compiled
def test_a_robot_too_fast_to_stop_brakes_as_it_can_and_says_so():
    """0.05 rad before the end of joint 4 at 1.5 rad/s needs 22.5 rad/s²; with 10 it passes the limit, and comes back."""
    q, v = 0.5 * (LOWER + UPPER), np.zeros(7)
    q[3], v[3] = UPPER[3] - 0.05, 1.5
    still = [(HAND, np.zeros(3))]
    result = torsor.control.prioritised_accelerations(PANDA, q, v, still, DT, acceleration_limits=10.0)
    (conflict,) = result.conflicts
    assert (conflict.limit.joint, conflict.limit.kind, conflict.limit.side) == ("panda_joint4", "position", "upper")
    assert (conflict.needed, conflict.given) == pytest.approx((-22.5, -10.0))
    assert (
        "panda_joint4 0.05 rad before its upper position limit −0.0698 rad: it should brake at −22.5 rad/s², other limits "
        "allow −10 rad/s²"
    ) in str(result)
    assert result.a[3] == pytest.approx(-10.0)
    beyond = []
    for _ in range(150):
        result = torsor.control.prioritised_accelerations(
            PANDA, q, v, still, DT, null=-5.0 * v, acceleration_limits=10.0
        )
        q, v = q + v * DT + 0.5 * result.a * DT**2, v + result.a * DT
        beyond.append(q[3] - UPPER[3])
    assert max(beyond) == pytest.approx(1.5**2 / 20 - 0.05, abs=2e-3)
    assert beyond[-1] < 1e-3
    assert result.feasible


def test_order_in_which_limits_give_way():
    """Position, then velocity, then acceleration, never effort: a weak arm that is too fast, near its end, and heavy."""
    weak = rebuilt(PANDA, [replace(joint, effort_limit=1.0) for joint in joints_of(PANDA)])
    q, v = np.array([0.0, 0.6, 0.0, UPPER[3] - 0.05, 0.0, 1.8, 0.7]), np.zeros(7)
    v[3] = 3.0  # more than 2.175 rad/s
    result = torsor.control.prioritised_accelerations(weak, q, v, [], DT, acceleration_limits=0.1)
    kinds = [conflict.limit.kind for conflict in result.conflicts]
    assert {"acceleration", "position"} <= set(kinds)
    assert "effort" not in kinds
    assert np.all(np.abs(result.tau) <= 1.0 + 1e-9)
    strong = torsor.control.prioritised_accelerations(
        PANDA, q, v, [], DT, acceleration_limits=20.0, within_limits=("position", "velocity")
    )
    assert [conflict.limit.kind for conflict in strong.conflicts] == ["position"]  # the velocity is back within 0.1 s
    assert np.all(np.abs(strong.a) <= 20.0 + 1e-9)
    assert strong.a[3] == pytest.approx(-20.0)


@pytest.mark.compiled
@pytest.mark.parametrize("most", [None, 5.0])
def test_a_robot_beyond_its_limits_comes_back(most):
    q, v = 0.5 * (LOWER + UPPER), np.zeros(7)
    q[3], v[0] = UPPER[3] + 0.2, 3.0
    for k in range(120):
        result = torsor.control.prioritised_accelerations(PANDA, q, v, [], DT, null=-v, acceleration_limits=most)
        if k == 0:
            assert result.feasible
            assert "panda_joint4 0.2 rad beyond its upper position limit −0.0698 rad" in str(result)
            assert "panda_joint1 0.825 rad/s beyond its upper velocity limit 2.175 rad/s" in str(result)
        q, v = q + v * DT + 0.5 * result.a * DT**2, v + result.a * DT
        assert most is None or np.all(np.abs(result.a) <= most + 1e-9)
    assert q[3] < UPPER[3] + 2e-3
    assert np.all(np.abs(v) <= SPEED)


@pytest.mark.compiled
def test_velocities_under_acceleration_limits_never_meet_a_conflict():
    """A second and a half of whims: |v − previous| ≤ a_max dt, within velocity and position limits, and never a contradiction."""
    rng, most = np.random.default_rng(7), np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
    q, v, closest = 0.5 * (LOWER + UPPER), np.zeros(7), np.inf
    for k in range(150):
        if k % 75 == 0:
            tasks = [(ELBOW, 6.0 * rng.normal(size=3))]
            null = 3.0 * rng.normal(size=7)
        result = torsor.control.prioritised_velocities(
            PANDA, q, tasks, DT, null=null, previous=v, acceleration_limits=most
        )
        assert result.feasible
        assert np.all(np.abs(result.v - v) <= most * DT + 1e-9)
        assert np.all(np.abs(result.v) <= SPEED + 1e-9)
        v = result.v
        q = q + v * DT
        closest = min(closest, (q - LOWER).min(), (UPPER - q).min())
        assert closest >= -1e-9
    assert closest < 0.01


def test_velocities_that_cannot_brake_in_time_say_so():
    q, v = 0.5 * (LOWER + UPPER), np.zeros(7)
    q[3], v[3] = UPPER[3] - 0.05, 1.5
    result = torsor.control.prioritised_velocities(
        PANDA, q, [(HAND, np.zeros(3))], DT, previous=v, acceleration_limits=10.0
    )
    assert result.v[3] == pytest.approx(1.4)
    (conflict,) = result.conflicts
    assert "panda_joint4 0.05 rad before its upper position limit" in str(conflict)
    assert "other limits allow 1.4 rad/s" in str(conflict)
    q[3] = UPPER[3] - 1.0
    near = torsor.control.prioritised_velocities(
        PANDA, q, [(HAND, np.zeros(3))], DT, previous=v, acceleration_limits=10.0
    )
    assert near.feasible
    assert "panda_joint4 at its lower acceleration limit −10 rad/s²" in str(near)


def test_velocities_too_fast_for_acceleration_limits_give_way_to_them():
    """3 rad/s where 2.175 are allowed, and 0.1 rad/s a step: 2.9 rad/s, and the velocity limit is named."""
    q, v = 0.5 * (LOWER + UPPER), np.zeros(7)
    v[0] = 3.0
    result = torsor.control.prioritised_velocities(
        PANDA, q, [(HAND, np.zeros(3))], DT, previous=v, acceleration_limits=10.0
    )
    assert result.v[0] == pytest.approx(2.9)
    (conflict,) = result.conflicts
    assert (conflict.limit.kind, conflict.needed, conflict.given) == ("velocity", 2.175, pytest.approx(2.9))
    assert str(conflict) == (
        "panda_joint1 at its upper velocity limit 2.175 rad/s: other limits allow no better than 2.9 rad/s"
    )


def test_two_tasks_of_one_frame_are_told_apart():
    q, v, *_ = panda_state(0)
    tasks = [(HAND, np.zeros(3)), (torsor.orientation_task("hand_tcp", ["wx"]), np.zeros(1)), ("hand_tcp", np.zeros(6))]
    names = [task.name for task in torsor.control.prioritised_accelerations(PANDA, q, v, tasks, DT).tasks]
    assert names == ["hand_tcp position", "hand_tcp orientation (wx)", "hand_tcp pose"]


def test_without_the_solver_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "piqp", None)
    q, v, one, *_ = panda_state(0)
    with pytest.raises(torsor.TorsorError, match="prioritised_accelerations: needs the QP solver PIQP: pip install"):
        torsor.control.prioritised_accelerations(PANDA, q, v, [one], DT)


def test_what_cannot_be_meant_is_refused():
    q, v, one, *_ = panda_state(0)

    def refused(match, error=torsor.TorsorError, tasks=(one,), dt=DT, v=v, **more):
        with pytest.raises(error, match=f"prioritised_accelerations: .*{match}"):
            torsor.control.prioritised_accelerations(PANDA, q, v, tasks, dt, **more)

    refused("`dt` must be finite and positive", dt=0.0)
    refused("`recovery` must be finite and not negative", recovery=-1.0)
    refused(r"`v` must have shape \(\.\.\., 7\)", torsor.ShapeError, v=v[:6])
    refused("`acceleration` must have shape", torsor.ShapeError, tasks=[(HAND, np.zeros(6))])
    refused(r"pairs \(task, acceleration\)", tasks=[HAND])
    refused("must be a number or of shape", torsor.ShapeError, acceleration_limits=np.ones(3))
    refused("must be positive", acceleration_limits=-1.0)
    for wrong in ("efort", ["position", "speed"], None, 1):
        refused(
            "`within_limits` must be 'position', 'velocity', 'effort' or several of these",
            within_limits=wrong,
        )
    refused("must be positive", acceleration_limits=np.nan)
    refused("numbers that are not finite", tasks=[(HAND, [np.nan, 0.0, 0.0])])
    refused("`metric` must be positive definite, and its least eigenvalue is -1", metric=-np.eye(7))
    for one_of_both in ({"previous": v}, {"acceleration_limits": 5.0}):
        with pytest.raises(torsor.TorsorError, match="`acceleration_limits` and `previous` go together"):
            torsor.control.prioritised_velocities(PANDA, q, [one], DT, **one_of_both)
