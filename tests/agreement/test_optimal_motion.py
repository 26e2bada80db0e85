"""Optimal motions against closed forms and a boundary value problem, and the words about them against differences."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import minimize

import torsor
from torsor.motion.optimal_motions.problem import Problem
from torsor.motion.optimal_motions.setting import Setting, problem_of, straight

pytestmark = pytest.mark.compiled
optimal = torsor.motion.optimal


def slider(**limits):
    """A mass of 2 kg on a rail: τ = 2 a."""
    inertia = torsor.Inertia.box((0.1, 0.1, 0.1), mass=2.0)
    joint = torsor.Joint(
        name="rail", kind="prismatic", parent="base", link="mass", axis=(1.0, 0.0, 0.0), inertia=inertia
    )
    robot = torsor.assemble([joint], name="slider", gravity=(0.0, 0.0, 0.0))
    return robot.with_limits(**limits) if limits else robot


def ball():
    """A homogeneous ball that turns about its centre: what is least is a turn about one axis."""
    joint = torsor.Joint(
        name="ball", kind="spherical", parent="base", link="body", inertia=torsor.Inertia.sphere(0.2, mass=3.0)
    )
    return torsor.assemble([joint], name="ball", gravity=(0.0, 0.0, 0.0))


def test_the_least_acceleration_is_a_cubic_and_the_least_jerk_a_quintic():
    robot, T, d = slider(), 1.3, 0.7
    t = np.linspace(0.0, T, 33)
    s = t / T
    found = optimal(robot, [0.1], [0.1 + d], duration=T)
    assert found and found.second_order and not found.active
    np.testing.assert_allclose(found.cost, 4.0 * 12.0 * d**2 / T**3, rtol=1e-10)
    np.testing.assert_allclose(found.motion.at(t).q[:, 0], 0.1 + d * (3.0 * s**2 - 2.0 * s**3), atol=1e-10)
    found = optimal(robot, [0.1], [0.1 + d], duration=T, cost="jerk", a0=[0.0], a1=[0.0])
    np.testing.assert_allclose(found.cost, 720.0 * d**2 / T**5, rtol=1e-10)
    np.testing.assert_allclose(
        found.motion.at(t).q[:, 0], 0.1 + d * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5), atol=1e-9
    )


def test_least_time_with_bounded_force_is_nearly_full_force_and_full_brake():
    """T = 2 √(d m / F); a spline cannot switch at once, and is longer by a few percent."""
    found = optimal(slider(effort=6.0), [0.0], [0.75], duration=None, cost="time")
    assert found
    assert 1.0 < found.duration <= 1.05
    assert found.overshoot <= 1e-3


def test_time_and_force_in_balance():
    """T + w 48 d²/T³ is least where T⁴ = 144 w d²."""
    found = optimal(slider(), [0.0], [0.5], duration=None, cost={"time": 1.0, "torque": 0.1})
    np.testing.assert_allclose(found.duration, (144.0 * 0.1 * 0.25) ** 0.25, rtol=1e-6)
    assert set(found.parts) == {"time", "torque"}


def test_a_pendulum_meets_the_conditions_of_pontryagin():
    """q̈ = (τ − g(q))/I with the least ∫τ²: the boundary value problem of its necessary conditions."""
    robot, T, q1 = torsor.robots.pendulum(), 1.2, 1.5
    I = float(torsor.dynamics.mass_matrix(robot, [0.0])[0, 0])
    up, side = (float(torsor.gravity_forces(robot, [x])[0]) for x in (0.0, np.pi / 2))

    def rates(t, x):  # q, v, and the multipliers of q̇ = v and v̇ = (τ − g(q))/I, by which τ = −μ/(2 I)
        q, v, lam, mu = x
        weight, slope = up * np.cos(q) + side * np.sin(q), side * np.cos(q) - up * np.sin(q)
        return np.array([v, (-mu / (2.0 * I) - weight) / I, mu * slope / I, -lam])

    grid = np.linspace(0.0, T, 41)
    guess = np.zeros((4, 41))
    guess[0] = q1 * grid / T
    exact = solve_bvp(rates, lambda a, b: [a[0], a[1], b[0] - q1, b[1]], grid, guess, tol=1e-9, max_nodes=20000)
    assert exact.success
    tau = -exact.sol(np.linspace(0.0, T, 2001))[3] / (2.0 * I)
    found = optimal(robot, [0.0], [q1], duration=T, within_limits=False)
    # A spline of 11 pieces is not the solution, but near it; its cost is of second order in the difference, and larger.
    np.testing.assert_allclose(found.cost, np.trapezoid(tau**2, dx=T / 2000), rtol=1e-6)
    np.testing.assert_allclose(found.motion.at(grid).q[:, 0], exact.sol(grid)[0], atol=1e-4)


@pytest.mark.parametrize(("part", "index"), [(0.5, 0), (1.2, 1), (8.0, 2)])
def test_the_index_is_that_of_a_clamped_beam(part, index):
    """∫ a² − c q² from rest to rest in one place: λ = 1 − c/β_k⁴ with cos β_k T cosh β_k T = 1; it is a minimum below β₁⁴."""
    T = 1.3
    c = part * (4.730040744862704 / T) ** 4
    found = optimal(slider(), [0.2], [0.2], duration=T, cost=lambda q, v, a, tau: a[0] * a[0] - c * (q[0] - 0.2) ** 2)
    report = found.certificate()
    assert (
        report.certain
        and report.bends
        and (report.negative, bool(report)) == (index, index == 0) == (index, found.second_order)
    )
    np.testing.assert_allclose(report.lowest, 1.0 - part, rtol=1e-6)
    assert ("NOT a minimum" in str(report)) == (index > 0)


def test_a_certificate_looks_at_a_finer_spline_within_the_limits():
    robot = torsor.robots.pendulum().with_limits(effort=15.5)
    many = optimal(robot, [0.0], np.array([[1.5], [1.4]]), duration=1.2)
    report = many[0].certificate()
    fine = optimal(robot, [0.0], [1.5], duration=1.2, pieces=22)
    assert report and report.order == 2 and 0.0 < report.uncertainty < report.lowest
    np.testing.assert_allclose(report.saved, 1.0 - fine.cost / many[0].cost, rtol=1e-3)
    fast = optimal(slider(effort=6.0), [0.0], [0.75], duration=None, cost="time").certificate()
    assert not fast and not fast.bends and "undecided" in str(fast)
    with pytest.raises(torsor.TorsorError, match="has not converged"):
        optimal(robot, [0.0], [1.5], duration=1.2, iterations=1).certificate()


def test_prices_are_the_derivatives_of_the_cost_by_the_limits():
    costs = {}
    for bound in (0.69, 0.7, 0.71):
        found = optimal(slider(velocity=bound), [0.0], [0.6], duration=1.0)
        costs[bound] = found.cost
        if bound == 0.7:
            (limit,) = found.active
    assert (limit.name, limit.limit, limit.bound) == ("rail", "velocity", 0.7)
    np.testing.assert_allclose(
        limit.price, (costs[0.69] - costs[0.71]) / 0.02, rtol=0.06
    )  # nodes differ, which moves the limit by 5e-4
    assert "each m/s more would save" in str(found)


def test_what_cannot_be_says_what_to_relax():
    found = optimal(slider(velocity=0.5, effort=50.0), [0.0], [1.0], duration=1.0)
    assert not found and found.infeasible
    assert ("rail", "velocity") in {(one.name, one.limit) for one in found.relax}
    assert max(abs(one.needed) for one in found.relax if one.limit == "velocity") > 1.0
    assert "No motion near this one keeps all limits" in str(found)


def test_a_turn_of_a_ball_is_about_one_axis_whatever_the_chart():
    robot, T, axis = ball(), 0.8, np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    q0 = np.array([0.1, -0.3, 0.2, 0.9])
    q0 = q0 / np.linalg.norm(q0)
    q1 = torsor.integrate(robot, q0, 2.0 * axis)
    found = optimal(robot, q0, q1, duration=T)
    moment = 0.4 * 3.0 * 0.2**2
    np.testing.assert_allclose(found.cost, moment**2 * 12.0 * 2.0**2 / T**3, rtol=1e-8)
    state = found.motion.at(T / 2)
    np.testing.assert_allclose(state.v, 1.5 * 2.0 / T * axis, atol=1e-6)
    # From another orientation of the same turn, and through a configuration that is on the way.
    other = optimal(robot, torsor.integrate(robot, q0, 0.7 * axis), q1, duration=T, v0="free", v1="free")
    assert other.cost < 1e-12
    through = optimal(robot, q0, q1, duration=T, through={0.5: torsor.integrate(robot, q0, np.array([0.3, 0.5, 0.2]))})
    passed = through.motion.at(T / 2).q
    assert np.abs(torsor.difference(robot, passed, torsor.integrate(robot, q0, np.array([0.3, 0.5, 0.2])))).max() < 1e-8
    assert through.cost > found.cost


def lagrangian(problem, multipliers, y):
    p = problem.at(y)
    return p.cost + float((multipliers * p.c).sum())


@pytest.mark.parametrize("kind", ["arm", "ball"])
def test_derivatives_are_those_of_differences(kind):
    """Of the Lagrangian and of all limits, by all unknowns, the duration too: a step along each of two random directions."""
    robot = torsor.robots.planar2r().with_limits(velocity=2.0, effort=9.0) if kind == "arm" else ball()
    q0, q1 = torsor.random_configuration(robot, seed=0), torsor.random_configuration(robot, seed=1)
    frame = robot.frames[-1]
    cost = {"torque": 0.3, "time": 1.0, (lambda q, v, a, tau: tau[0] * v[1] ** 2 + q[1] * a[0]): 2.0}
    setting = Setting(
        robot,
        None,
        cost,
        True,
        {"acceleration": 4.0, "jerk": 50.0, "power": 7.0},
        None,
        {"v0": np.full(robot.nv, 0.2), "v1": None, "a0": None, "a1": None},
        3,
        through={0.4: q1},
        along={torsor.orientation_task(frame): np.eye(3)},
        obstacles=[[0.3, 0.8, 0.1, 0.05]],
        capsules=[(frame, [-0.5, 0.1, 0.0], [0.1, 0.0, 0.0], 0.05)],
    )
    problem: Problem = problem_of(setting, q0, q1)
    rng, h = np.random.default_rng(3), 1e-5
    y = straight(problem, setting, q0, q1) + 0.2 * rng.normal(size=problem.count)
    multipliers = rng.normal(size=(len(problem.nodes.s), problem.width))
    p = problem.at(y)
    model = problem.model(p, multipliers)
    for d in rng.normal(size=(2, problem.count)):
        high, low = problem.at(y + h * d), problem.at(y - h * d)
        rate = (lagrangian(problem, multipliers, y + h * d) - lagrangian(problem, multipliers, y - h * d)) / (2.0 * h)
        np.testing.assert_allclose(model.slope @ d, rate, rtol=1e-6)  # of differences
        np.testing.assert_allclose(model.gradient @ d, (high.cost - low.cost) / (2.0 * h), rtol=1e-6)
        slopes = [problem.model(x, multipliers).slope for x in (high, low)]
        near = (slopes[0] - slopes[1]) / (2.0 * h)
        np.testing.assert_allclose(model.H @ d, near, atol=1e-7 * np.abs(near).max())
        moved = (high.c - low.c) / (2.0 * h)
        np.testing.assert_allclose(problem.changes(p, d), moved, atol=1e-7 * np.abs(moved).max())
        node, column = (x.ravel() for x in np.indices(moved.shape))
        rows = problem.rows(p, node, column) @ d * problem.scale[column]
        np.testing.assert_allclose(rows, moved.ravel(), atol=1e-7 * np.abs(moved).max())


def test_what_is_asked_for_on_the_way_is_kept():
    robot = torsor.robots.planar2r().with_limits(velocity=4.0, effort=60.0)
    tip = torsor.position_task(robot.frames[-1])
    q0, q1 = np.array([-1.2, 0.9]), np.array([0.4, 0.9])
    direct = optimal(robot, q0, q1, duration=1.0)
    middle = tip.value(robot, direct.motion.at(0.5).q)
    ball_at = [*(1.07 * middle), 0.15]
    capsules = [(robot.frames[-1], [-0.2, 0.0, 0.0], [0.0, 0.0, 0.0], 0.05)]
    found = optimal(robot, q0, q1, duration=1.0, obstacles=[ball_at], capsules=capsules)
    assert found and found.cost > direct.cost
    times = np.linspace(0.0, 1.0, 2001)
    gap = np.linalg.norm(np.asarray(tip.value(robot, found.motion.at(times).q)) - 1.07 * middle, axis=-1)
    assert 0.2 - 1e-3 * 0.1 <= gap.min() <= 0.205
    assert "distance" in {one.limit for one in found.active}
    goal = tip.value(robot, np.array([0.2, 1.1]))
    reached = optimal(robot, q0, None, duration=1.0, through={1.0: {tip.select([0, 1]): goal}})
    np.testing.assert_allclose(tip.value(robot, reached.motion.at(1.0).q)[:2], goal[:2], atol=1e-8)


def test_the_order_of_joints_and_the_frames_change_nothing():
    """Joints in the other order; the whole robot, gravity too, turned with its base; link frames put elsewhere."""
    arm = torsor.robots.planar2r().with_limits(velocity=4.0, effort=90.0)
    q0, q1 = np.array([0.1, 0.4]), np.array([1.4, -0.5])
    found = optimal(arm, q0, q1, duration=1.0)
    other = optimal(arm.reorder(list(reversed(arm.coordinates))), q0[::-1], q1[::-1], duration=1.0)
    np.testing.assert_allclose(other.cost, found.cost, rtol=1e-9)
    np.testing.assert_allclose(other.motion.at(0.3).q[::-1], found.motion.at(0.3).q, atol=1e-7)
    T, one = torsor.lie.se3.exp(np.array([0.3, -0.8, 0.5, 0.2, -0.1, 0.4])), np.eye(4)
    plain = optimal(double_pendulum(one, one), q0, q1, duration=1.0)
    for base, link in ((T, one), (one, T)):
        other = optimal(double_pendulum(base, link), q0, q1, duration=1.0)
        np.testing.assert_allclose(other.cost, plain.cost, rtol=1e-9)
        np.testing.assert_allclose(other.motion.at(0.3).q, plain.motion.at(0.3).q, atol=1e-7)


def double_pendulum(base, link):
    """The same robot whatever its base and its links' frames: at a pose ``base``, these seen from others by ``link``."""
    back, step = torsor.lie.se3.inverse(link), np.eye(4)
    step[0, 3] = 0.7
    body = torsor.Inertia(2.0, np.array([0.4, 0.05, 0.0]), 0.03 * np.eye(3)).moved(back)
    screw = torsor.lie.transform_twist(back, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    poses = {"first": base @ link, "second": back @ step @ link}
    joints = [
        torsor.Joint(
            name=name,
            kind="revolute",
            parent=parent,
            link=f"{name} link",
            pose=poses[name],
            screw=screw,
            inertia=body,
            effort_limit=60.0,
        )
        for name, parent in (("first", "base"), ("second", "first link"))
    ]
    return torsor.assemble(joints, name="double pendulum", gravity=base[:3, :3] @ [0.0, -9.81, 0.0])


def _collocated(inertia, weight, slope, q1, T, effort, steps):
    """The least ∫τ² dt of q̈ = (τ − weight(q))/I with |τ| ≤ effort: trapezoidal rule and SciPy's SLSQP."""
    n, h = steps + 1, T / steps
    weights = np.full(n, h)
    weights[[0, -1]] *= 0.5
    D, A, none, ends = (
        np.diff(np.eye(n), axis=0),
        0.5 * h * np.abs(np.diff(np.eye(n), axis=0)),
        np.zeros,
        np.eye(n)[[0, -1]],
    )

    def defects(z):
        q, v, tau = z.reshape(3, n)
        return np.concatenate(
            [D @ q - A @ v, D @ v - A @ ((tau - weight(q)) / inertia), ends @ q - [0.0, q1], ends @ v]
        )

    def slopes(z):
        q = z[:n]
        top = [[D, -A, none((steps, n))], [A * (slope(q) / inertia), D, -A / inertia]]
        return np.block([*top, [ends, none((2, n)), none((2, n))], [none((2, n)), ends, none((2, n))]])

    found = minimize(
        lambda z: weights @ z[2 * n :] ** 2,
        np.concatenate([np.linspace(0.0, q1, n), np.full(n, q1 / T), np.zeros(n)]),
        jac=lambda z: np.concatenate([np.zeros(2 * n), 2.0 * weights * z[2 * n :]]),
        bounds=[(None, None)] * (2 * n) + [(-effort, effort)] * n,
        constraints={"type": "eq", "fun": defects, "jac": slopes},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 300},
    )
    assert found.success
    return found.fun


def test_a_direct_collocation_comes_to_the_same_optimum_by_its_order():
    """A pendulum whose drive is at its limit for part of the way: errors of the trapezoidal rule fall with h²."""
    robot, T, q1 = torsor.robots.pendulum(), 1.2, 1.5
    I = float(torsor.dynamics.mass_matrix(robot, [0.0])[0, 0])
    up, side = (float(torsor.gravity_forces(robot, [x])[0]) for x in (0.0, np.pi / 2))
    effort = 15.5  # three quarters of what the least torque without limits takes
    costs = np.array(
        [
            _collocated(
                I,
                lambda q: up * np.cos(q) + side * np.sin(q),
                lambda q: side * np.cos(q) - up * np.sin(q),
                q1,
                T,
                effort,
                steps,
            )
            for steps in (10, 20, 40)
        ]
    )
    found = optimal(robot.with_limits(effort=effort), [0.0], [q1], duration=T, pieces=40)
    assert found and {one.limit for one in found.active} == {"effort"}
    errors = costs - found.cost
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, atol=0.3)
    # Extrapolated; the torque has a kink where it leaves the limit, which neither way follows to more digits.
    np.testing.assert_allclose(found.cost, costs[-1] - (costs[-2] - costs[-1]) / 3.0, rtol=3e-5)


def test_a_fine_spline_converges_to_the_last_digit():
    """Steps pass limits by less than the merit of the last steps can notice: else those are cut short, for ever."""
    robot = torsor.robots.pendulum().with_limits(effort=15.669)
    found = optimal(robot, [0.0], [1.5], duration=1.2, pieces=80)
    assert found and found.iterations <= 10


def test_a_function_of_the_users_is_the_same_as_the_word():
    arm = torsor.robots.planar2r()
    q0, q1 = np.array([0.1, 0.4]), np.array([1.4, -0.5])
    word = optimal(arm, q0, q1, duration=1.0, cost="torque")
    function = optimal(arm, q0, q1, duration=1.0, cost=lambda q, v, a, tau: (tau * tau).sum())
    np.testing.assert_allclose(function.cost, word.cost, rtol=1e-10)
    assert function.iterations == word.iterations


def test_an_interrupted_search_returns_the_best_so_far(monkeypatch):
    calls, plain = [], Problem.model

    def interrupted(self, p, multipliers):
        calls.append(p)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self, p, multipliers)

    monkeypatch.setattr(Problem, "model", interrupted)
    found = optimal(torsor.robots.planar2r(), [0.1, 0.4], [1.4, -0.5], duration=0.4, cost="work")
    assert found.interrupted and not found
    assert np.isfinite(found.motion.at(0.2).q).all() and "interrupted" in str(found)


def test_friction_with_a_step_is_smoothed_and_said():
    robot = slider().with_parameters(coulomb_friction=np.array([1.0]))
    found = optimal(robot, [0.0], [0.5], duration=1.0)
    assert found and "Coulomb friction is smoothed" in str(found)
    assert found.cost > 4.0 * 12.0 * 0.25  # what it costs without friction


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"duration": 0.0}, "`duration` must be finite and positive"),
        ({"cost": "torqe"}, "torqe"),
        ({"cost": {}}, "`cost` has no entries"),
        ({"cost": "losses"}, "`motor_constants` are missing"),
        ({"cost": lambda q, v, a, tau: np.concatenate([q, v])}, "must return one number"),
        ({"v1": "fre"}, '`v1` must be numbers (1,), or "free"'),
        ({"through": {2.0: [0.1]}}, "part of the duration"),
        ({"through": [[0.1]]}, "`through` must be a mapping"),
        ({"along": {"tool": 1.0}}, "tasks are made by"),
        ({"obstacles": [[0.0, 0.0, 1.0]]}, "`obstacles` must be balls"),
        ({"obstacles": [[0.0, 0.0, 1.0, 0.1]]}, "has no solids to keep clear of"),
        ({"pieces": 1}, "`pieces` must be at least 2"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(arguments, words):
    with pytest.raises(torsor.TorsorError) as caught:
        optimal(slider(), [0.0], [0.5], **({"duration": 1.0} | arguments))
    assert words in str(caught.value)
    assert str(caught.value).startswith("optimal: ")


def test_ends_beyond_limits_are_refused():
    robot = slider(position=(-0.2, 0.4))
    with pytest.raises(torsor.TorsorError, match=r"`q1`: joint 'rail' is at 0\.5, beyond its limits -0\.2 … 0\.4"):
        optimal(robot, [0.0], [0.5], duration=1.0)
    assert optimal(robot, [0.0], [0.5], duration=1.0, within_limits=False)


def test_a_batch_is_its_problems_one_by_one():
    """In processes, as with two cores, and here: the same numbers; what cannot be sent to a process is solved here."""
    robot = slider(velocity=1.2)
    q1 = np.linspace(0.1, 1.4, 16)[:, None]
    torsor.set_threads(2)
    try:
        found = optimal(robot, np.zeros((16, 1)), q1, duration=1.0)
    finally:
        torsor.set_threads(1)
    some = [0, 7, 15]
    alone = [optimal(robot, np.zeros(1), q1[k], duration=1.0) for k in some]
    np.testing.assert_allclose(found.cost[some], [one.cost for one in alone], rtol=1e-12)
    assert not found and found.converged[some].tolist() == [bool(one) for one in alone] == [True, True, False]
    assert "problem 15 is infeasible: rail: velocity" in str(found)
    assert found[3].robot is robot and found.motion.at(0.5).q.shape == (16, 1)
    np.testing.assert_array_equal(found.motion.at(0.5).q[3], found[3].motion.at(0.5).q)
    here = optimal(robot, np.zeros((2, 1)), q1[:2], duration=1.0, cost=lambda q, v, a, tau: tau[0] ** 2)
    np.testing.assert_allclose(here.cost, found.cost[:2], rtol=1e-9)
