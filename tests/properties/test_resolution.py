"""Redundancy resolved at each instant: closed forms without limits, strict priorities, limits kept and named."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, dot, times
from property_strategies import ONE_NUMBER, Case, cases, joints_of, rebuilt, robots, seeds

import torsor
from torsor.control.priorities.joint_limit_rows import velocity_rows
from torsor.control.priorities.quadratic_program import least_squares_along, least_squares_in_box, least_squares_within
from torsor.model.joint_kinds import KINDS

DT = 0.01
# Rounding, where a pseudoinverse amplifies it by conditions up to 1e4
SOLVED = 1e-8


def well_conditioned(*matrices):
    return all(np.linalg.cond(A) < 1e4 for A in matrices)


@st.composite
def limited(draw, least=3, most=5, kinds=None, serial=None):
    """Random trees of which many numbers of q, and entries of v, have limits on one side or both."""
    robot = draw(robots(least=least, most=most, kinds=kinds, serial=serial))
    rng = np.random.default_rng(draw(seeds))

    def bounds(joint):
        nq, nv = KINDS[joint.kind].nq, KINDS[joint.kind].nv
        places = {"spherical": 0, "free": 3}.get(joint.kind, nq)  # numbers that are no quaternion
        sides = [np.where(rng.uniform(size=nq) < 0.7, rng.uniform(0.2, 1.5, nq), np.inf) for _ in range(2)]
        for side in sides:
            side[places:] = np.inf
        most_v = np.where(rng.uniform(size=nv) < 0.5, rng.uniform(0.5, 2.0, nv), np.inf)
        lower, upper, most_v = ((x[0] if len(x) == 1 else x) for x in (-sides[0], sides[1], most_v))
        return replace(joint, lower=lower, upper=upper, velocity_limit=most_v)

    return rebuilt(robot, [joint if joint.mimic else bounds(joint) for joint in joints_of(robot)])


ONE_STATE = cases(limited(), ((),))


@settings(max_examples=15)
@given(cases(robots(least=3, most=5), ((), (3,))), st.booleans())
def test_resolved_rates_do_the_task_nearest_to_the_second_aim(case, by_inertia):
    """J v = ẏ, and what is left of v − v_0 is orthogonal to all self-motions in the metric."""
    robot, task = case.robot, torsor.position_task(case.robot.frames[-1])
    assume(robot.nv >= task.size)
    J, M = task.jacobian(robot, case.q), torsor.mass_matrix(robot, case.q)
    assume(well_conditioned(*J.reshape(-1, *J.shape[-2:]), *M.reshape(-1, *M.shape[-2:])))
    y, null = case.rng.normal(size=(*case.batch, 3)), case.tau()
    metric = M if by_inertia else None
    v = torsor.control.resolved_rate(robot, case.q, task, y, null=null, metric=metric)
    assert_close(times(J, v), y, SOLVED, scale=v)
    P = np.eye(robot.nv) - np.linalg.pinv(J) @ J
    across = times(P, times(M, v - null) if by_inertia else v - null)
    assert_close(across, np.zeros_like(across), SOLVED, scale=np.abs(M).max() * np.abs(v).max())
    a = torsor.control.resolved_acceleration(robot, case.q, case.v, task, y, null=null, metric=metric)
    assert_close(times(J, a) + task.drift(robot, case.q, case.v), y, SOLVED, scale=np.abs(a).max() + np.abs(J).max())


@settings(max_examples=15)
@given(ONE_STATE)
def test_damped_rates_are_the_least_of_what_they_say(case):
    """|ẏ − J v|² + d² |v − v_0|²: the normal equations hold, also where J has no full rank."""
    robot, frame = case.robot, case.robot.frames[-1]
    J = torsor.body_jacobian(robot, case.q, frame)
    y, null, d = case.rng.normal(size=6), case.tau(), 0.3
    v = torsor.control.resolved_rate(robot, case.q, frame, y, null=null, damping=d)
    assert_close(
        J.T @ (J @ v - y) + d**2 * (v - null), np.zeros(robot.nv), 1e-10, scale=np.abs(J).max() ** 2 * np.abs(v).max()
    )


@settings(max_examples=15)
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

    slopes = (
        torsor.control.limit_gradient(robot, q),
        torsor.control.posture_gradient(robot, q, posture, weights=weights),
    )
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
    alone = torsor.control.prioritised_velocities(panda, q, [one], DT, null=null, metric=metric)
    assert_close(alone.v, torsor.control.resolved_rate(panda, q, *one, null=null, metric=metric), SOLVED)
    L = np.linalg.cholesky(W).T  # in coordinates L v the metric is 1
    A1, A2, x0 = J1 @ np.linalg.inv(L), J2 @ np.linalg.inv(L), L @ null
    x1 = np.linalg.pinv(A1) @ y1
    N1 = np.eye(7) - np.linalg.pinv(A1) @ A1
    x2 = x1 + np.linalg.pinv(A2 @ N1, rcond=1e-9) @ (y2 - A2 @ x1)
    A = np.concatenate([A1, A2])
    x = x2 + (np.eye(7) - np.linalg.pinv(A, rcond=1e-9) @ A) @ x0
    both = torsor.control.prioritised_velocities(panda, q, [one, two], DT, null=null, metric=metric)
    assert both.feasible
    assert not both.active_limits
    assert_close(both.v, np.linalg.solve(L, x), SOLVED)


@settings(max_examples=12)
@given(ONE_STATE, st.floats(-1.0, 1.5))
def test_lower_levels_take_nothing_from_higher_ones_and_limits_are_kept(case, size):
    """Random trees, some joints at limits: the residual of a task is the same whatever comes after it."""
    robot = case.robot
    rng, frames = case.rng, case.rng.choice(robot.frames, 3)
    q = within(case)
    tasks = [(torsor.position_task(str(f)), 10.0**size * rng.normal(size=3)) for f in frames]
    results = [torsor.control.prioritised_velocities(robot, q, tasks[: k + 1], DT) for k in range(3)]
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
    later = q + DT * torsor.kinematics.configuration_rate(robot, q, v)
    assert np.all(later >= np.array(robot.limits.lower) - 1e-8)
    assert np.all(later <= np.array(robot.limits.upper) + 1e-8)


def test_a_limit_in_the_way_is_named_and_what_it_costs():
    """A Panda at the end of joint 4 that is to stretch: joint 4 stays, and the result says why."""
    panda = torsor.robots.panda()
    q = np.array([0.3, 0.2, 0.1, panda.limits.upper[3] - 1e-4, 0.2, 1.5, 0.3])
    J = torsor.position_task("hand_tcp").jacobian(panda, q)
    stretch = 0.1 * J[:, 3] / np.linalg.norm(J[:, 3])
    free = torsor.control.prioritised_velocities(
        panda, q, [(torsor.position_task("hand_tcp"), stretch)], DT, within_limits="velocity"
    )
    assert free.v[3] > 0.01 + 1e-6  # more than the 1e-4 rad that are left
    wide_task = torsor.stack_tasks("hand_tcp", torsor.orientation_task("link_4"))
    result = torsor.control.prioritised_velocities(
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
    result = torsor.control.prioritised_velocities(panda, q, [fast], DT)
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
    contrary = torsor.control.prioritised_velocities(panda, q, [one, (one[0], -one[1])], DT)
    assert contrary.tasks[0].done
    assert_close(contrary.residuals[1], -2.0 * one[1], SOLVED)
    assert "tasks of higher priority use the same freedoms" in str(contrary.tasks[1])
    arm = torsor.robots.planar2r()
    up = torsor.control.prioritised_velocities(
        arm, [0.3, 0.4], [(torsor.position_task(arm.frames[-1]), [0.0, 0.0, 1.0])], DT
    )
    assert "cannot move that way here, whatever the limits" in str(up.tasks[0])
    assert_close(up.residuals[0], np.array([0.0, 0.0, 1.0]), SOLVED)


@pytest.mark.parametrize("beyond, conflict", [(0.05, False), (0.5, True)])
def test_a_robot_beyond_a_limit_comes_back_and_says_if_it_cannot_in_time(beyond, conflict):
    """Over 0.1 s, or as fast as its velocity limit allows; the position limit is then named."""
    panda, q, one, two, _ = panda_state(3)
    q[3] = panda.limits.upper[3] + beyond
    result = torsor.control.prioritised_velocities(panda, q, [one, two], DT)
    assert_close(result.v[3], -min(beyond / 0.1, 2.175), 1e-7)
    assert result.feasible != conflict
    assert np.all(np.abs(result.v) <= np.array(panda.limits.velocity) + 1e-8)
    if conflict:
        (found,) = result.conflicts
        assert (found.limit.joint, found.limit.kind, found.limit.side) == ("panda_joint4", "position", "upper")
        assert "panda_joint4 0.5 rad beyond its upper position limit −0.0698 rad" in str(result)
        assert "allow −2.175 rad/s" in str(result)
    for _ in range(12):
        result = torsor.control.prioritised_velocities(panda, q, [], 5 * DT)
        q = q + 5 * DT * result.v
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
    result = torsor.control.prioritised_velocities(robot, q, [(torsor.position_task("body"), goal)], DT)
    moved = torsor.kinematics.configuration_rate(robot, q, result.v)
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
    b = rng.normal(size=m) * 10.0 ** rng.uniform(-2, 2 if seed % 4 else 8)
    lower, upper = -rng.uniform(0.0, 1.0, k), rng.uniform(0.0, 1.0, k)
    lower[0], upper[-1] = (-np.inf, 0.0) if seed % 5 == 0 else (lower[0], upper[-1])
    w, multipliers = least_squares_within(A, b, C, lower, upper)
    size = max(1.0, np.abs(b).max())
    values = C @ w
    assert np.all(values <= upper + 1e-8 * size)
    assert np.all(values >= lower - 1e-8 * size)
    assert_close(A.T @ (A @ w - b) + C.T @ multipliers, np.zeros(n), 1e-7, scale=size)
    slack = np.where(multipliers > 0, upper - values, values - lower)[multipliers != 0]
    assert np.all(np.abs(slack) <= 1e-7 * size)


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_in_a_box_and_along_one_freedom_are_those_within_rows(seed):
    """The shorter ways for limits of entries and for a single freedom: the same optimum, whatever ranks and bounds."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 9), rng.integers(1, 8)
    A, b = rng.normal(size=(m, n)), rng.normal(size=m) * 10.0 ** rng.uniform(-2, 3)
    A[-1] = A[0] if seed % 3 == 0 else A[-1]
    lower, upper = -rng.uniform(0.0, 1.0, n), rng.uniform(0.0, 1.0, n)
    lower[0], upper[-1] = (-np.inf, 0.0) if seed % 4 == 0 else (lower[0], upper[-1])
    unlimited = np.linalg.pinv(A) @ b
    w, multipliers = least_squares_in_box(A, b, lower, upper, unlimited)
    size = max(1.0, np.abs(b).max())
    assert np.all((w <= upper + 1e-8) & (w >= lower - 1e-8))
    assert_close(A.T @ (A @ w - b) + multipliers, np.zeros(n), 1e-9, scale=size)
    assert_close(A @ w, A @ least_squares_within(A, b, np.eye(n), lower, upper).w, 1e-9, scale=size)
    at = np.where(multipliers > 0.0, upper, lower)[multipliers != 0.0]
    assert_close(w[multipliers != 0.0], at, 1e-9)

    column, c = A[:, :1], rng.normal(size=n) * (rng.uniform(size=n) < 0.7)  # rows that the freedom does not change, too
    w, multipliers = least_squares_along(column, b, c, lower, upper, np.linalg.pinv(column) @ b)
    expected = least_squares_within(column, b, c[:, None], lower, upper)
    assert_close(w, expected.w, 1e-9, scale=size)
    assert_close(c @ multipliers, c @ expected.multipliers, 1e-9, scale=size)


def test_a_limit_that_one_freedom_changes_by_rounding_alone_is_not_in_its_way():
    """However far it moves: with several freedoms such rows do not count either."""
    c, lower, upper, aim = np.array([1.0, 1e-11]), np.array([-1e4, -1.0]), np.array([1e4, 0.0]), np.array([1e3])
    w, multipliers = least_squares_along(np.ones((1, 1)), aim, c, lower, upper, aim)
    assert w == 1e3 and not multipliers.any()


def test_one_huge_aim_costs_the_others_no_digits():
    """b of 1e8 and of 1 together: slopes have the signs of an optimum as far as they are known, 1e-14 of the largest."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        A, b, u = rng.normal(size=(4, 6)), 3.0 * rng.normal(size=4), rng.uniform(0.0, 3.0, 6)
        A[0], b[0] = np.eye(6)[0], 1e8
        w, multipliers = least_squares_within(A, b, np.eye(6), -u, u)
        slope = A.T @ (b - A @ w)
        assert np.all(np.abs(w) <= u + 1e-9)
        right = np.where(w >= u - 1e-9, slope, np.where(w <= 1e-9 - u, -slope, -np.abs(slope)))
        assert right.min() >= -1e-6
        assert_close(multipliers, slope, 1e-14, scale=1e8)


def test_without_the_solver_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "piqp", None)
    panda, q, one, _, _ = panda_state(0)
    with pytest.raises(
        torsor.TorsorError, match=r"prioritised_velocities: needs the QP solver PIQP: pip install 'torsor\[qp\]'"
    ):
        torsor.control.prioritised_velocities(panda, q, [one], DT)


def test_what_cannot_be_meant_is_refused():
    panda, q, one, _, _ = panda_state(0)

    def refused(match, error=torsor.TorsorError, robot=panda, q=q, tasks=(one,), dt=DT, **more):
        with pytest.raises(error, match=f"prioritised_velocities: .*{match}"):
            torsor.control.prioritised_velocities(robot, q, tasks, dt, **more)

    refused("`dt` must be finite and positive", dt=0.0)
    refused("`dt` must be finite and positive, got 'a'", dt="a")
    refused("`dt` must be finite and positive, got None", dt=None)
    refused("`recovery` must be finite and not negative", recovery=[0.1, 0.1])
    refused("`q` must be numbers, got 'abc'", torsor.ShapeError, q="abc")
    refused("`velocity` must have shape", torsor.ShapeError, tasks=[(one[0], np.zeros(6))])
    refused("velocity of task 'hand_tcp position' must be numbers, got 'abc'", tasks=[(one[0], "abc")])
    refused(r"pairs \(task, velocity\)", tasks=[one[0]])
    refused("a list of pairs, highest priority first, got None", tasks=None)
    refused("first argument must be a torsor.Robot, got nothing", robot=None)
    refused("differs from its transpose by 0.5", metric=np.eye(7) + 0.5 * np.eye(7, k=1))
    refused("positive definite, and its least eigenvalue is -2", metric=np.diag([1.0, 1, 1, 1, 1, 1, -2]))
    with pytest.raises(torsor.ShapeError, match="`velocity` must have shape"):
        torsor.control.resolved_rate(panda, q, "hand_tcp", np.zeros(3))


def test_what_is_traced_is_refused_in_words():
    jax = pytest.importorskip("jax")
    panda, q, one, _, _ = panda_state(0)
    match = "prioritised_{}: works with plain numbers, and cannot run inside jit"
    with pytest.raises(torsor.TorsorError, match=match.format("velocities")):
        jax.jit(lambda q: torsor.control.prioritised_velocities(panda, q, [one], DT).v)(q)
    with pytest.raises(torsor.TorsorError, match=match.format("accelerations")):
        jax.jit(lambda y: torsor.control.prioritised_accelerations(panda, q, q, [(one[0], y)], DT).a)(one[1])
    with pytest.raises(torsor.TorsorError, match=match.format("velocities")):
        torsor.compile(lambda robot, q: torsor.control.prioritised_velocities(robot, q, [one], DT).v, panda, {"q": 7})


@pytest.mark.parametrize("how", ["numpy", "compiled"])
def test_metrics_that_are_none_give_nothing(how):
    """Machine code reads one half of a metric: with another in the other half it must not answer."""
    panda, q, one, _, _ = panda_state(0)
    skewed, indefinite = np.eye(7) + 0.25 * np.eye(7, k=1), np.diag([1.0, 1, 1, -1, 1, 1, 1])
    with torsor.backend(how):
        for metric in (skewed, skewed.T, indefinite):
            assert np.isnan(torsor.control.resolved_rate(panda, q, *one, metric=metric)).all()
            assert np.isnan(torsor.control.resolved_acceleration(panda, q, q, *one, metric=metric)).all()
            assert np.isnan(torsor.redundancy.horizontal_lift(panda, q, one[0], metric=metric)).all()
        assert np.isfinite(torsor.control.resolved_rate(panda, q, *one, metric=0.5 * (skewed + skewed.T))).all()


def singular_cases():
    """Robots where rows of a position vanish but for rounding errors."""
    tip, tool = torsor.position_task("tip", ["vy"]), torsor.position_task("tool0")
    yield torsor.robots.planar2r(), np.array([np.pi / 2, 0.0]), tip
    for rows in ([0], [2], [0, 2]):
        yield torsor.robots.ur5(), np.pi * np.array([-1.5, -0.5, -1.0, -0.5, 0.0, 1.5]), tool.select(rows)


@pytest.mark.parametrize("robot, q, task", list(singular_cases()))
def test_what_is_left_of_a_task_by_rounding_moves_nothing(robot, q, task):
    """All of J is rounding error: no v is made up of it, and nobody else is blamed."""
    J, y, still = task.jacobian(robot, q), np.ones(task.size), np.zeros(robot.nv)
    assert 0.0 < np.abs(J).max() < 1e-15
    assert np.isnan(torsor.control.resolved_rate(robot, q, task, y)).any()
    assert np.isnan(torsor.control.resolved_acceleration(robot, q, still, task, y)).any()
    assert_close(torsor.control.resolved_rate(robot, q, task, y, damping=0.1), still, 1e-12)
    for result, x in (
        (found := torsor.control.prioritised_velocities(robot, q, [(task, y)], DT, within_limits="velocity"), found.v),
        (
            found := torsor.control.prioritised_accelerations(
                robot, q, still, [(task, y)], DT, within_limits=("position", "velocity")
            ),
            found.a,
        ),
    ):
        assert np.all(x == 0.0)
        assert not result.tasks[0].done
        assert str(result.tasks[0]).count(";") == 1
        assert "the robot cannot move that way here" in str(result.tasks[0])


def test_rows_that_never_move_are_an_error_unless_damped():
    arm, q = torsor.robots.planar2r(), np.array([0.3, 0.4])
    task = torsor.position_task("tip", ["vx", "vz"])
    with pytest.raises(torsor.TorsorError, match="no joint moves vz"):
        torsor.control.resolved_rate(arm, q, task, np.ones(2))
    assert np.isfinite(torsor.control.resolved_rate(arm, q, task, np.ones(2), damping=0.1)).all()


@settings(max_examples=20)
@given(cases(limited(kinds=ONE_NUMBER, least=4, most=6, serial=True), ((),)), st.integers(2, 3))
def test_limits_in_the_way_are_those_that_alone_would_give_more(case, levels):
    """Every limit loosened by 0.02, what tasks before were given held: the task is given more if and only if it is named."""
    robot, rng, q = case.robot, case.rng, within(case)
    tasks = []
    for frame in rng.choice(robot.frames[-3:], levels):
        rows = np.sort(rng.choice(3, rng.integers(1, 3), replace=False)).tolist()
        task = (torsor.position_task, torsor.orientation_task)[rng.integers(2)](str(frame)).select(rows)
        tasks.append((task, 3.0 * rng.normal(size=task.size)))
    result = torsor.control.prioritised_velocities(robot, q, tasks, DT)
    assume(not any(outcome.at_edge for outcome in result.tasks))  # there a task is given less, limits or not
    rows = velocity_rows(robot, q, DT, 0.1, position=True, velocity=True, change=None)
    K = np.eye(robot.nv)
    for (task, y), outcome in zip(tasks, result.tasks, strict=True):
        J = task.jacobian(robot, q)
        _, sizes, Vt = np.linalg.svd(J @ K)
        rank = int(np.sum(sizes > 1e-9 * np.linalg.norm(J)))
        before, named = float(np.sum(outcome.given_up**2)), {key(limit) for limit in outcome.limits}
        assert not named or not outcome.done
        if rank and not outcome.done:
            for k, side in np.argwhere(np.ones((len(rows.lower), 2))):
                lower, upper = rows.lower.copy(), rows.upper.copy()
                (lower, upper)[side][k] += (-0.02, 0.02)[side]
                more = before - given_up(J, y, K, rows.C, lower, upper, result.v)
                if key(rows.pairs[k][side]) in named:
                    assert more > 1e-11 * (1.0 + before)
                else:
                    assert more < 1e-7 * (1.0 + before)
        if named or outcome.limits_together:
            assert "limits in its way" in str(outcome)
        K = K @ Vt[rank:].T


def key(limit):
    return limit.joint, limit.kind, limit.side


def given_up(J, y, K, C, lower, upper, v):
    """The least |y − J (v + K w)|² within limits."""
    lower, upper = np.minimum(lower - C @ v, 0.0), np.maximum(upper - C @ v, 0.0)
    w = least_squares_within(J @ K, y - J @ v, C @ K, lower, upper).w
    return float(np.sum((y - J @ (v + K @ w)) ** 2))


def slides(*limits):
    """Two slides along x and y, with limits of velocity."""
    joints = [
        torsor.Joint(name=name, kind="prismatic", axis=axis, parent=parent, link=f"{name}_link", **given)
        for name, axis, parent, given in zip("xy", np.eye(3)[:2], ("base", "x_link"), limits, strict=True)
    ]
    return torsor.assemble(joints, name="slides")


def test_limits_that_tasks_before_are_held_at_are_listed_apart():
    """The first wants 3 m/s of x + y and is given 2; the second wants y slower, which needs x to be faster."""
    robot = slides({"velocity_limit": 1.0}, {"velocity_limit": 1.0})
    both = torsor.function_task(lambda robot, q: q[:1] + q[1:], 1)
    y = torsor.position_task("y_link", ["vy"])
    result = torsor.control.prioritised_velocities(robot, np.zeros(2), [(both, [3.0]), (y, [0.5])], DT)
    assert_close(result.v, np.ones(2), 1e-12)
    first, second = result.tasks
    assert [key(limit) for limit in first.limits] == [("x", "velocity", "upper"), ("y", "velocity", "upper")]
    assert [key(limit) for limit in second.limits] == [("x", "velocity", "upper")]
    assert [(k, key(limit)) for k, limit in second.held] == [(1, ("y", "velocity", "upper"))]
    assert str(second).endswith(
        "limits in its way: x at its upper velocity limit 1 m/s; task 1 is held by y at its upper velocity limit 1 m/s"
    )


def test_limits_that_are_in_the_way_only_together_are_said_to_be():
    """1 m/s at most, and 0.01 m left for a step of 0.01 s: a wider one of both would change nothing."""
    robot = slides({"velocity_limit": 1.0, "upper": 0.01}, {})
    result = torsor.control.prioritised_velocities(
        robot, np.zeros(2), [(torsor.position_task("y_link", ["vx"]), [2.0])], 0.01
    )
    (outcome,) = result.tasks
    assert not outcome.limits
    assert {key(limit) for limit in outcome.limits_together} == {("x", "velocity", "upper"), ("x", "position", "upper")}
    assert "limits in its way, but only together: x at its upper" in str(outcome)


def test_damping_is_not_taken_for_a_singularity():
    panda, q, one, _, _ = panda_state(0)
    text = str(torsor.control.prioritised_velocities(panda, q, [one], DT, damping=0.1).tasks[0])
    assert text.endswith(
        "; damping, or the robot cannot move that way here, whatever the limits (see torsor.tasks.task_rank)"
    )
