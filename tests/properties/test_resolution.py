"""Redundancy resolved at each instant: closed forms without limits, strict priorities, limits kept and named."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, dot, times
from property_strategies import Case, cases, joints_of, rebuilt, robots, seeds

import torsor
from torsor.model.joints import KINDS
from torsor.resolution.quadratic_program import least_squares_within

DT = 0.01
# Rounding, where a pseudoinverse amplifies it by conditions up to 1e4
SOLVED = 1e-8


def well_conditioned(*matrices):
    return all(np.linalg.cond(A) < 1e4 for A in matrices)


@st.composite
def limited(draw, least=3, most=6):
    """Random trees of which many numbers of q, and entries of v, have limits on one side or both."""
    robot, rng = draw(robots(least=least, most=most)), np.random.default_rng(draw(seeds))

    def bounds(joint):
        nq, nv = KINDS[joint.kind]
        places = {"spherical": 0, "free": 3}.get(joint.kind, nq)  # numbers that are no quaternion
        sides = [np.where(rng.uniform(size=nq) < 0.7, rng.uniform(0.2, 1.5, nq), np.inf) for _ in range(2)]
        for side in sides:
            side[places:] = np.inf
        most_v = np.where(rng.uniform(size=nv) < 0.5, rng.uniform(0.5, 2.0, nv), np.inf)
        lower, upper, most_v = ((x[0] if len(x) == 1 else x) for x in (-sides[0], sides[1], most_v))
        return replace(joint, lower=lower, upper=upper, velocity_limit=most_v)

    return rebuilt(robot, [joint if joint.mimic else bounds(joint) for joint in joints_of(robot)])


ONE_STATE = cases(limited(), ((),))


@given(cases(robots(least=3, most=6), ((), (3,))), st.booleans())
def test_resolved_rates_do_the_task_nearest_to_the_second_aim(case, by_inertia):
    """J v = ẏ, and what is left of v − v_0 is orthogonal to all self-motions in the metric."""
    robot, task = case.robot, torsor.position_task(case.robot.frames[-1])
    J, M = task.jacobian(robot, case.q), torsor.mass_matrix(robot, case.q)
    assume(well_conditioned(*J.reshape(-1, *J.shape[-2:]), *M.reshape(-1, *M.shape[-2:])))
    y, null = case.rng.normal(size=(*case.batch, 3)), case.tau()
    metric = M if by_inertia else None
    v = torsor.resolved_rate(robot, case.q, task, y, null=null, metric=metric)
    assert_close(times(J, v), y, SOLVED, scale=v)
    P = np.eye(robot.nv) - np.linalg.pinv(J) @ J
    across = times(P, times(M, v - null) if by_inertia else v - null)
    assert_close(across, np.zeros_like(across), SOLVED, scale=np.abs(M).max() * np.abs(v).max())
    a = torsor.resolved_acceleration(robot, case.q, case.v, task, y, null=null, metric=metric)
    assert_close(times(J, a) + task.drift(robot, case.q, case.v), y, SOLVED, scale=np.abs(a).max() + np.abs(J).max())


@given(ONE_STATE)
def test_damped_rates_are_the_least_of_what_they_say(case):
    """|ẏ − J v|² + d² |v − v_0|²: the normal equations hold, also where J has no full rank."""
    robot, frame = case.robot, case.robot.frames[-1]
    J = torsor.body_jacobian(robot, case.q, frame)
    y, null, d = case.rng.normal(size=6), case.tau(), 0.3
    v = torsor.resolved_rate(robot, case.q, frame, y, null=null, damping=d)
    assert_close(
        J.T @ (J @ v - y) + d**2 * (v - null), np.zeros(robot.nv), 1e-10, scale=np.abs(J).max() ** 2 * np.abs(v).max()
    )


@given(ONE_STATE)
def test_objectives_have_the_slopes_they_give(case):
    robot, q, v = case.robot, case.q, case.v
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    posture = torsor.integrate(robot, q, 0.3 * case.tau())
    weights = case.rng.uniform(0.5, 2.0, robot.nv)
    bounded = np.isfinite(lower) & np.isfinite(upper)

    def of_limits(q):
        low, high = lower[bounded], upper[bounded]
        x = (q[bounded] - 0.5 * (low + high)) / (0.5 * (high - low))
        return 0.5 * (x**2).sum()

    def of_posture(q):
        e = torsor.difference(robot, q, posture)
        return 0.5 * dot(e, weights * e)

    slopes = torsor.limit_gradient(robot, q), torsor.posture_gradient(robot, q, posture, weights)
    for H, slope in zip((of_limits, of_posture), slopes, strict=True):
        expected = derivative(lambda t, H=H: H(torsor.integrate(robot, q, v, t)))
        assert_close(slope @ v, expected, DIFFERENTIATED, scale=slope)


def panda_state(seed):
    """A Panda well within its limits, and two tasks: position of the hand, then orientation of link 4, wanting little."""
    panda, rng = torsor.robots.panda(), np.random.default_rng(seed)
    lower, upper = np.array(panda.limits.lower), np.array(panda.limits.upper)
    q = lower + (upper - lower) * rng.uniform(0.2, 0.8, 7)
    hand, elbow = torsor.position_task("hand_tcp"), torsor.orientation_task("link_4")
    return panda, q, (hand, 0.005 * rng.normal(size=3)), (elbow, 0.005 * rng.normal(size=3)), rng


@pytest.mark.parametrize("by_inertia", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5])  # at 4 the second task needs more than joints can do
def test_without_active_limits_priorities_are_the_recursion_of_null_spaces(seed, by_inertia):
    """v = v_1 + (J_2 N_1)^# (ẏ_2 − J_2 v_1) + N v_0 with inverses weighted by the metric; one task is a resolved rate."""
    panda, q, one, two, rng = panda_state(seed)
    W = torsor.mass_matrix(panda, q) if by_inertia else np.eye(7)
    null = 0.1 * rng.normal(size=7)
    (J1, y1), (J2, y2) = ((task.jacobian(panda, q), y) for task, y in (one, two))
    metric = W if by_inertia else None
    alone = torsor.prioritised_velocities(panda, q, [one], DT, null=null, metric=metric)
    assert_close(alone.v, torsor.resolved_rate(panda, q, *one, null=null, metric=metric), SOLVED)
    L = np.linalg.cholesky(W).T  # in coordinates L v the metric is 1
    A1, A2, x0 = J1 @ np.linalg.inv(L), J2 @ np.linalg.inv(L), L @ null
    x1 = np.linalg.pinv(A1) @ y1
    N1 = np.eye(7) - np.linalg.pinv(A1) @ A1
    x2 = x1 + np.linalg.pinv(A2 @ N1, rcond=1e-9) @ (y2 - A2 @ x1)
    A = np.concatenate([A1, A2])
    x = x2 + (np.eye(7) - np.linalg.pinv(A, rcond=1e-9) @ A) @ x0
    both = torsor.prioritised_velocities(panda, q, [one, two], DT, null=null, metric=metric)
    assert both.feasible
    assert not both.active_limits
    assert_close(both.v, np.linalg.solve(L, x), SOLVED)


@given(ONE_STATE, st.floats(-1.0, 1.5))
def test_lower_levels_take_nothing_from_higher_ones_and_limits_are_kept(case, size):
    """Random trees, some joints at limits: the residual of a task is the same whatever comes after it."""
    robot = case.robot
    rng, frames = case.rng, case.rng.choice(robot.frames, 3)
    q = within(case)
    tasks = [(torsor.position_task(str(f)), 10.0**size * rng.normal(size=3)) for f in frames]
    results = [torsor.prioritised_velocities(robot, q, tasks[: k + 1], DT) for k in range(3)]
    for k, earlier in enumerate(results):
        for later in results[k:]:
            for task in range(k + 1):
                assert_close(later.residuals[task], earlier.residuals[task], 1e-8, scale=10.0**size)
    for result in results:
        check_limits(robot, q, result.v)


def within(case: Case):
    """The state's configuration, with about every third number that has limits at one of them."""
    lower, upper = np.array(case.robot.limits.lower), np.array(case.robot.limits.upper)
    q = np.clip(case.q, lower, upper)
    at = case.rng.uniform(size=q.shape)
    return np.where((at < 0.15) & np.isfinite(lower), lower, np.where((at > 0.85) & np.isfinite(upper), upper, q))


def check_limits(robot, q, v):
    assert np.all(np.abs(v) <= np.array(robot.limits.velocity) + 1e-8)
    later = q + DT * torsor.configuration_rate(robot, q, v)
    assert np.all(later >= np.array(robot.limits.lower) - 1e-8)
    assert np.all(later <= np.array(robot.limits.upper) + 1e-8)


def test_a_limit_in_the_way_is_named_and_what_it_costs():
    """A Panda at the end of joint 4 that is to stretch: joint 4 stays, and the result says why."""
    panda = torsor.robots.panda()
    q = np.array([0.3, 0.2, 0.1, panda.limits.upper[3] - 1e-4, 0.2, 1.5, 0.3])
    J = torsor.position_task("hand_tcp").jacobian(panda, q)
    stretch = 0.1 * J[:, 3] / np.linalg.norm(J[:, 3])
    free = torsor.prioritised_velocities(
        panda, q, [(torsor.position_task("hand_tcp"), stretch)], DT, position_limits=False
    )
    assert free.v[3] > 0.01 + 1e-6  # more than the 1e-4 rad that are left
    wide_task = torsor.stack_tasks("hand_tcp", torsor.orientation_task("link_4"))
    result = torsor.prioritised_velocities(
        panda, q, [(wide_task, np.append(free_twist(panda, q), [0.0, 0.0, 1.0]))], DT
    )
    names = [(limit.joint, limit.kind, limit.side) for limit in result.active_limits]
    assert ("panda_joint4", "position", "upper") in names
    assert result.feasible
    assert not result.tasks[0].done
    text = str(result)
    assert "panda_joint4 at its upper position limit −0.0698 rad" in text
    assert "limits in its way" in text
    check_limits(panda, q, result.v)


def free_twist(robot, q):
    """A twist of the hand for which joint 4 would have to move on at 0.5 rad/s."""
    return torsor.body_jacobian(robot, q, "hand_tcp") @ (0.5 * np.eye(7)[3])


def test_velocity_limits_are_named_and_kept():
    panda, q, one, _, _ = panda_state(1)
    fast = (one[0], np.array([30.0, 0.0, 0.0]))
    result = torsor.prioritised_velocities(panda, q, [fast], DT)
    at = {limit.joint for limit in result.active_limits if limit.kind == "velocity"}
    names, most = np.array(panda.joints), np.array(panda.limits.velocity)
    assert at == set(names[np.isclose(np.abs(result.v), most, atol=1e-6)])
    assert at
    assert all(
        f"velocity limit {most[list(names).index(joint)]:.4g} rad/s" in str(result).replace("−", "") for joint in at
    )
    check_limits(panda, q, result.v)


def test_higher_priorities_and_singularities_are_told_from_limits():
    panda, q, one, _, _ = panda_state(2)
    contrary = torsor.prioritised_velocities(panda, q, [one, (one[0], -one[1])], DT)
    assert contrary.tasks[0].done
    assert_close(contrary.residuals[1], -2.0 * one[1], SOLVED)
    assert "tasks of higher priority use the same freedoms" in str(contrary.tasks[1])
    arm = torsor.robots.planar2r()
    up = torsor.prioritised_velocities(arm, [0.3, 0.4], [(torsor.position_task(arm.frames[-1]), [0.0, 0.0, 1.0])], DT)
    assert "cannot move that way here, whatever the limits" in str(up.tasks[0])
    assert_close(up.residuals[0], np.array([0.0, 0.0, 1.0]), SOLVED)


@pytest.mark.parametrize("beyond, conflict", [(0.05, False), (0.5, True)])
def test_a_robot_beyond_a_limit_comes_back_and_says_if_it_cannot_in_time(beyond, conflict):
    """Over 0.1 s, or as fast as its velocity limit allows; the position limit is then named."""
    panda, q, one, two, _ = panda_state(3)
    q[3] = panda.limits.upper[3] + beyond
    result = torsor.prioritised_velocities(panda, q, [one, two], DT)
    assert_close(result.v[3], -min(beyond / 0.1, 2.175), 1e-7)
    assert result.feasible != conflict
    assert np.all(np.abs(result.v) <= np.array(panda.limits.velocity) + 1e-8)
    if conflict:
        (found,) = result.conflicts
        assert (found.limit.joint, found.limit.kind, found.limit.side) == ("panda_joint4", "position", "upper")
        assert "panda_joint4 0.5 rad beyond its upper position limit −0.0698 rad" in str(result)
        assert "allow −2.175 rad/s" in str(result)
    for _ in range(60):
        result = torsor.prioritised_velocities(panda, q, [one], DT)
        q = torsor.integrate(panda, q, result.v, DT)
    assert q[3] <= panda.limits.upper[3] + 0.02 * beyond
    assert result.feasible


@pytest.mark.parametrize("kind", ["planar", "free"])
def test_bodies_with_several_freedoms_keep_to_their_place(kind):
    """The place of a base is limited in axes of its parent, however it is turned: first order in the step."""
    numbers = {"planar": 3, "free": 7}[kind]
    limit = np.where(np.arange(numbers) < 2, 1.0, np.inf)
    joint = torsor.Joint(
        name="base",
        kind=kind,
        link="body",
        lower=-limit,
        upper=limit,
        inertia=torsor.Inertia(1.0, np.zeros(3), np.eye(3)),
    )
    robot = torsor.assemble([joint], name="rover")
    q = torsor.random_configuration(robot, seed=1)
    q[:2] = 0.999, -0.3
    goal = np.array([2.0, 1.0, 0.0]) if kind == "planar" else np.array([2.0, 1.0, 0.5])
    result = torsor.prioritised_velocities(robot, q, [(torsor.position_task("body"), goal)], DT)
    moved = torsor.configuration_rate(robot, q, result.v)
    assert_close(moved[:2], np.array([0.1, 1.0]), 1e-7)
    assert [(limit.joint, limit.side) for limit in result.active_limits] == [("base[0]", "upper")]


@pytest.mark.parametrize("seed", range(30))
def test_least_squares_within_limits_satisfies_its_optimality_conditions(seed):
    """Stationarity, limits and complementarity, ranks and active limits as awkward as they come."""
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 9), rng.integers(1, 7), rng.integers(1, 12)
    A, C = rng.normal(size=(m, n)), rng.normal(size=(k, n))
    A[-1] = A[0] if seed % 3 == 0 else A[-1]
    C[-1] = C[0] if seed % 2 == 0 else C[-1]
    b = rng.normal(size=m) * 10.0 ** rng.uniform(-2, 2)
    lower, upper = -rng.uniform(0.0, 1.0, k), rng.uniform(0.0, 1.0, k)
    lower[0], upper[-1] = (-np.inf, 0.0) if seed % 5 == 0 else (lower[0], upper[-1])
    w, multipliers = least_squares_within(A, b, C, lower, upper, "test")
    size = max(1.0, np.abs(b).max())
    values = C @ w
    assert np.all(values <= upper + 1e-8 * size)
    assert np.all(values >= lower - 1e-8 * size)
    assert_close(A.T @ (A @ w - b) + C.T @ multipliers, np.zeros(n), 1e-7, scale=size)
    slack = np.where(multipliers > 0, upper - values, values - lower)[multipliers != 0]
    assert np.all(np.abs(slack) <= 1e-7 * size)


def test_without_the_solver_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "piqp", None)
    panda, q, one, _, _ = panda_state(0)
    with pytest.raises(
        torsor.TorsorError, match=r"prioritised_velocities needs the QP solver PIQP: pip install 'torsor\[qp\]'"
    ):
        torsor.prioritised_velocities(panda, q, [one], DT)


def test_what_cannot_be_meant_is_refused():
    panda, q, one, _, _ = panda_state(0)
    with pytest.raises(torsor.TorsorError, match="`dt` must be finite and positive"):
        torsor.prioritised_velocities(panda, q, [one], 0.0)
    with pytest.raises(torsor.ShapeError, match="`velocity` must have shape"):
        torsor.prioritised_velocities(panda, q, [(one[0], np.zeros(6))], DT)
    with pytest.raises(torsor.TorsorError, match=r"pairs \(task, velocity\)"):
        torsor.prioritised_velocities(panda, q, [one[0]], DT)
    with pytest.raises(torsor.ShapeError, match="`velocity` must have shape"):
        torsor.resolved_rate(panda, q, "hand_tcp", np.zeros(3))
