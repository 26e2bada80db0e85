"""Optimal feedback: quadratic problems have known answers, gradients and Hessians are those of the rollout, limits hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from property_checks import assert_close

import torsor
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.control import ddp, lqr, lqr_along, mpc
from torsor.control._ddp import programs_for
from torsor.control.optimal_feedback.box import minimum_in_box
from torsor.control.optimal_feedback.costs import final_cost, running_cost
from torsor.control.optimal_feedback.look_ahead import moved_on
from torsor.control.optimal_feedback.models_by_velocity import ModelsByVelocity
from torsor.control.optimal_feedback.models_of_any_step import ModelsOfAnyStep
from torsor.control.optimal_feedback.programs import kernel_of_final
from torsor.control.optimal_feedback.solver import Solver, Trust

ARM = torsor.robots.planar2r()
NV = ARM.nv


def driven(robot, *efforts):
    return robot.with_limits(effort=dict(zip(robot.joints, efforts, strict=True)))


def point_mass(**limits):
    body = torsor.Inertia.sphere(0.1, mass=2.0)
    joint = torsor.Joint(name="slide", kind="prismatic", axis=(1, 0, 0), inertia=body, **limits)
    return torsor.assemble([joint], name="point mass", gravity=(0, 0, 0))


def reach(goal, force=1e-2, end=100.0):
    def running(robot, q, v, tau, t):
        return force * (tau @ tau) + 1e-2 * (v @ v)

    def final(robot, q, v):
        return end * ((q - goal) @ (q - goal)) + 0.1 * end * (v @ v)

    return {"running": running, "final": final}


def solver_of(robot, problem, steps, dt, method="semi_implicit_euler", second_order=True):
    limit = np.full(robot.nv, np.inf)
    programs = programs_for(robot, problem["running"], problem["final"], method, second_order, False)
    return Solver(robot, programs, dt, dt * np.arange(steps + 1), -limit, limit, second_order, 1e-6)


def gradient_of(solver, motions):
    """The gradient of the whole cost by the forces, (P, N, nv)."""
    N = motions.tau.shape[1]
    where = {"q": motions.q[:, :N], "v": motions.v[:, :N], "tau": motions.tau, "t": solver.time[:N], "h": solver.h}
    return solver.programs.models.expanded(where, motions.end, solver.lower, solver.upper)["by_tau"]


def trusting(second_order=True):
    return Trust(np.zeros(1), np.ones(1), np.full(1, float(second_order)))


# Linear feedback


@pytest.mark.parametrize("dt", [None, 0.02])
def test_feedback_at_an_equilibrium_solves_the_algebraic_equation(dt):
    robot = driven(torsor.robots.cart_pole(), 20.0, 0.0)
    W, R = np.diag([10.0, 20.0, 1.0, 1.0]), 0.1
    found = lqr(robot, [0.0, np.pi], state_weights=W, force_weights=R, dt=dt)
    near = torsor.linearise(robot, [0.0, np.pi], [0.0, 0.0], [0.0, 0.0], dt=dt)
    B, one = near.B[:, :1], np.eye(1)
    if dt is None:
        X = scipy.linalg.solve_continuous_are(near.A, B, W, R * one)
        K = -B.T @ X / R
    else:
        X = scipy.linalg.solve_discrete_are(near.A, B, dt * W, dt * R * one)
        K = -np.linalg.solve(dt * R * one + B.T @ X @ B, B.T @ X @ near.A)
    assert_close(found.cost_to_go, X, 1e-11, scale=np.abs(X).max())
    assert_close(found.gains[:1], K, 1e-11, scale=np.abs(K).max())
    assert not found.gains[1].any() and found.is_stable


def test_far_from_its_end_feedback_along_rest_is_that_of_the_equilibrium():
    q, N, weights = np.array([0.3, 0.8]), 600, {"state_weights": [9.0, 4.0, 1.0, 1.0], "force_weights": 0.1}
    rest = lqr(ARM, q, dt=0.02, **weights)
    states = np.tile(q, (N + 1, 1)), np.zeros((N + 1, 2)), np.tile(rest.tau, (N, 1))
    along = lqr_along(ARM, *states, dt=0.02, method="exact", **weights)
    assert_close(along.gains[0], rest.gains, 1e-9, scale=np.abs(rest.gains).max())
    assert_close(along.cost_to_go[0], rest.cost_to_go, 1e-9, scale=np.abs(rest.cost_to_go).max())


def test_where_nothing_can_be_held_feedback_says_so():
    found = lqr(driven(torsor.robots.pendulum(), 0.0), [np.pi], state_weights=1.0, force_weights=1.0)
    assert not found.is_stable and "no feedback" in str(found)


# One step backward


def test_the_minimum_in_a_box_is_where_slopes_point_outwards():
    rng = np.random.default_rng(0)
    for _ in range(30):
        root = rng.normal(size=(4, 4))
        H, g = root @ root.T + 0.3 * np.eye(4), rng.normal(size=4)
        lower, upper = -rng.uniform(0.0, 0.6, 4), rng.uniform(0.0, 0.6, 4)
        x = minimum_in_box(H, g, lower, upper, rounds=12).x
        slope = H @ x + g
        assert np.all(x >= lower) and np.all(x <= upper)
        assert_close(
            np.where(x <= lower, np.minimum(slope, 0.0), np.where(x >= upper, np.maximum(slope, 0.0), slope)), 0 * x
        )


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_a_linear_quadratic_problem_takes_one_step_and_has_the_gains_of_lqr(method):
    robot, dt, N = point_mass(), 0.1, 12
    plan = ddp(robot, [1.0], [0.5], **reach(np.zeros(1)), dt=dt, steps=N, method=method)
    along = lqr_along(
        robot, plan.motion.q, plan.motion.v, plan.tau, dt=dt, state_weights=[0.0, 1e-2], force_weights=1e-2,
        final_weights=[100.0, 10.0], method=method,
    )  # fmt: skip
    assert plan.converged and plan.iterations == 1
    assert_close(plan.gains, along.gains, 1e-10, scale=np.abs(along.gains).max())
    x = np.array([1.0, 0.5])
    assert_close(plan.cost, x @ along.cost_to_go[0] @ x, 1e-10)


def test_least_effort_of_a_point_mass_is_a_force_that_falls_linearly():
    """With ends that are all but fixed: τ = m (−6 d/T² + 12 d t/T³), in the limit of short steps."""
    robot, N, T = point_mass(), 200, 1.0
    plan = ddp(robot, [1.0], [0.0], **reach(np.zeros(1), force=1.0, end=1e7) | {"running": lambda robot, q, v, tau, t: tau @ tau},
               dt=T / N, steps=N, method="rk4")  # fmt: skip
    t = (np.arange(N) + 0.5) * T / N
    assert_close(plan.tau[:, 0], 2.0 * (-6.0 + 12.0 * t), 1e-4, scale=12.0)


# Derivatives


def test_gradient_is_that_of_the_rollout_for_every_joint_kind(method="semi_implicit_euler"):
    kinds = ("spherical", "planar", "revolute")
    robot = torsor.robots.random_tree(3, seed=3, kinds=kinds, serial=True)
    rng, N, dt = np.random.default_rng(1), 4, 0.05
    q0, v0, _ = torsor.random_state(robot, seed=2)
    goal = rng.normal(size=3)

    def running(robot, q, v, tau, t):
        tip = torsor.frame_pose(robot, q, "tool")[:3, 3] - (1.0 + t) * goal
        return tip @ tip + 0.1 * (v @ v) * (tau @ tau)

    def final(robot, q, v):
        tip = torsor.frame_pose(robot, q, "tool")[:3, 3] - goal
        return tip @ tip + v @ v

    solver = solver_of(robot, {"running": running, "final": final}, N, dt, method, second_order=False)
    tau = rng.normal(size=(1, N, robot.nv))
    motions = solver.begin(q0[None], v0[None], tau)
    gradient = gradient_of(solver, motions)
    step = 1e-5
    moves = step * np.concatenate([np.eye(N * robot.nv), -np.eye(N * robot.nv)]).reshape(-1, N, robot.nv)
    cost = solver.begin(np.tile(q0, (len(moves), 1)), np.tile(v0, (len(moves), 1)), tau + moves).cost
    plus, minus = np.split(cost, 2)
    assert_close(gradient.ravel(), (plus - minus) / (2.0 * step), 1e-6, scale=np.abs(gradient).max())


BALL = torsor.robots.random_tree(2, seed=1, kinds=("spherical", "revolute"), serial=True)


@pytest.mark.parametrize("robot", [ARM, BALL], ids=["hinges", "ball"])
@pytest.mark.parametrize("method", ["semi_implicit_euler", "euler", "rk4"])
def test_second_order_is_newtons_method_for_all_forces_at_once(robot, method):
    N, dt, nv = 3, 0.05, robot.nv
    q0, v0, _ = torsor.random_state(robot, seed=2)
    goal = np.array([0.5, -0.4, 0.2])

    def away(robot, q):
        apart = torsor.frame_pose(robot, q, robot.frames[-1])[:3, 3] - goal
        return apart @ apart

    problem = {
        "running": lambda robot, q, v, tau, t: tau @ tau + away(robot, q),
        "final": lambda robot, q, v: away(robot, q) + 0.1 * (v @ v),
    }
    solver = solver_of(robot, problem, N, dt, method)
    tau = 3.0 + np.random.default_rng(0).normal(size=(1, N, nv))

    def gradient(tau):
        many = len(tau)
        motions = solver.begin(np.tile(q0, (many, 1)), np.tile(v0, (many, 1)), tau)
        return gradient_of(solver, motions).reshape(many, -1)

    step = 1e-5
    moves = step * np.eye(N * nv).reshape(-1, N, nv)
    H = (gradient(tau + moves) - gradient(tau - moves)) / (2.0 * step)
    newton = -np.linalg.solve(0.5 * (H + H.T), gradient(tau)[0]).reshape(N, nv)
    motions = solver.begin(q0[None], v0[None], tau)
    found = solver.models(motions, np.array([0]), trusting())
    assert found["sound"].all()
    near = torsor.linearise(robot, motions.q[0, :N], motions.v[0, :N], tau[0], dt=dt, method=method)
    x, change = np.zeros(2 * nv), []
    for k, feed, K in zip(range(N), found["feed"][0], found["gains"][0], strict=True):
        change.append(feed + K @ x)
        x = near.A[k] @ x + near.B[k] @ change[-1]
    assert_close(np.array(change), newton, 1e-8, scale=np.abs(newton).max())  # of the smallest terms, 1e-6 is left out


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize("case", ["free", "limits", "regular", "gaps", "no drive"])
def test_models_by_velocity_are_those_of_any_step(case, backend):
    """The same model of the cost, whether it is seen from the forces or from the velocities that they lead to."""
    N, dt = 5, 0.05
    problem = reach(np.array([0.5, -0.4]), force=1.0, end=1.0)
    limit = {"limits": np.array([0.5, 4.0]), "no drive": np.array([np.inf, 0.0])}.get(case, np.full(NV, np.inf))
    costs, rng = running_cost(ARM, problem["running"]), np.random.default_rng(0)
    end = final_cost(ARM, problem["final"])
    is_limited = case in ("limits", "no drive")
    q, v, tau = (rng.normal(size=(2, N, 2)) for _ in range(3))
    where = {"q": q, "v": v, "tau": np.clip(tau, -limit, limit), "t": 0.0, "h": dt}
    gap = rng.normal(size=(2, N, 2 * NV)) if case == "gaps" else None
    mu = np.array([0.0, 0.3]) if case == "regular" else np.zeros(2)
    with torsor.backend(backend):
        last = kernel_of_final(ARM, end)(q[:, -1], v[:, -1])
        found = []
        for models in (
            ModelsByVelocity(ARM, costs, True, is_limited),
            ModelsOfAnyStep(ARM, costs, "semi_implicit_euler", True, is_limited),
        ):
            near = models.expanded(where, last, -limit, limit)
            near |= models.curved(where, near, np.ones((2, N)))
            held = np.zeros(2, bool)
            found.append(
                (near, models.feedback(where, near, last, gap, mu, held, (-limit, limit)), models.scale(near, dt))
            )
    (near, feedback, scale), (expected_near, expected, expected_scale) = found
    for name in ("p", "steepest", "by_tau"):
        assert_close(near[name], expected_near[name], 1e-11, scale=np.abs(expected_near[name]).max())
    assert (expected["least"][:, 0] > 0.0).all() and (feedback["least"][:, 0] > 0.0).all()
    for name in ("feed", "gains", "p", "first", "second"):
        assert_close(feedback[name], expected[name], 1e-9, scale=np.abs(expected[name]).max())
    assert_close(scale, expected_scale, 1e-12)
    if is_limited:
        assert feedback["held"].any() and np.all(np.abs(where["tau"] + feedback["feed"]) <= limit + 1e-12)


# Motions


PENDULUM = torsor.robots.pendulum()
UP = {
    "running": lambda robot, q, v, tau, t: 1e-2 * (tau @ tau),
    "final": lambda robot, q, v: 100.0 * (1.0 + np.cos(q[0])) + 10.0 * (v @ v),
}


@pytest.fixture(scope="module")
def swings():
    """The same swing with and without second derivatives of the dynamics, from forces that already push."""
    given = {"dt": 0.05, "steps": 40, "tau": np.array([1.0]), "tolerance": 1e-7}
    return [ddp(PENDULUM, [0.0], [0.0], **UP, **given, second_order=x) for x in (True, False)]


def test_a_pendulum_swings_up_and_the_gradient_vanishes(swings):
    for plan in swings:
        assert plan.converged and plan.gradient < 1e-4
        height = 1.0 + np.cos(plan.motion.q[-1, 0])
        assert height < 1e-2 and abs(plan.motion.v[-1, 0]) < 0.1
        assert np.all(np.diff(plan.cost_history) <= 1e-12 * plan.cost_history[0])


def test_simulation_under_the_feedback_is_the_plan_and_returns_to_it(swings):
    plan, T = swings[0], 2.0
    run = {"duration": T, "dt": 0.05, "method": plan.method, "controller": plan.controller}
    again = torsor.simulate(PENDULUM, [0.0], [0.0], **run)
    assert_close(again.q, plan.motion.q, 1e-12)
    moved = torsor.simulate(PENDULUM, [0.05], [0.0], **run)
    assert abs(moved.q[-1, 0] - plan.motion.q[-1, 0]) < 0.01
    left = torsor.simulate(PENDULUM, [0.05], [0.0], **{**run, "controller": None, "tau": plan.tau})
    assert abs(left.q[-1, 0] - plan.motion.q[-1, 0]) > 0.05


def test_forces_stay_within_limits_and_each_at_its_limit_would_go_beyond():
    robot = driven(PENDULUM, 0.4 * abs(float(torsor.gravity_forces(PENDULUM, [np.pi / 2])[0])))
    plan = ddp(robot, [0.0], [0.0], **UP, dt=0.05, steps=120, tau=np.array([0.3]), iterations=500)
    limit = robot.structure.limits.effort[0]
    assert plan.converged and np.abs(plan.tau).max() <= limit and plan.at_limit.any()
    assert 1.0 + np.cos(plan.motion.q[-1, 0]) < 0.05
    assert np.all(plan.gains[plan.at_limit[..., 0]] == 0.0)
    assert "at its limit" in str(plan)


def test_many_problems_are_solved_as_each_alone():
    starts = np.array([[0.3, -0.5], [0.6, 0.2], [-1.0, 1.5]])
    given = {**reach(np.array([1.0, 0.5])), "dt": 0.02, "steps": 20}
    together = ddp(ARM, starts, np.zeros(2), **given)
    assert together.converged.all() and together.tau.shape == (3, 20, 2) and together.cost_history.shape[1:] == (3,)
    for k, start in enumerate(starts):
        alone = ddp(ARM, start, np.zeros(2), **given)
        assert_close(together.tau[k], alone.tau, 1e-6, scale=np.abs(alone.tau).max())
        assert together.iterations[k] == alone.iterations


def test_states_that_the_forces_do_not_lead_through_end_in_the_same_motion():
    goal = np.array([1.0, 0.5])
    given = {**reach(goal), "dt": 0.02, "steps": 20}
    start = np.array([0.3, -0.5])
    plan = ddp(ARM, start, np.zeros(2), **given)
    line = start + np.linspace(0.0, 1.0, 21)[:, None] * (goal - start)
    shot = ddp(ARM, start, np.zeros(2), **given, states=(line, np.zeros((21, 2))))
    assert shot.converged
    assert_close(shot.tau, plan.tau, 1e-5, scale=np.abs(plan.tau).max())
    again = torsor.simulate(ARM, start, np.zeros(2), duration=0.4, dt=0.02, method=shot.method, tau=shot.tau)
    assert_close(again.q, shot.motion.q, 1e-10)


@pytest.mark.compiled
def test_a_floating_body_takes_the_same_forces_wherever_it_is_seen_from():
    body = torsor.Joint(name="float", kind="free", inertia=torsor.Inertia.box((1.0, 0.8, 0.6), mass=5.0))
    robot = torsor.assemble([body], name="body", gravity=(0, 0, 0))
    here = torsor.random_configuration(robot, seed=1)
    turn = torsor.random_configuration(robot, seed=2)

    def towards(goal):
        T = torsor.frame_pose(robot, goal, robot.frames[-1])

        def final(robot, q, v):
            now = torsor.frame_pose(robot, q, robot.frames[-1])
            apart = now[:3, :] - T[:3, :]
            return 10.0 * (apart * apart).sum() + v @ v

        return final

    def seen(q):
        """From a frame that is turned and moved."""
        return torsor.integrate(robot, turn, torsor.difference(robot, robot.neutral, q))

    goal = torsor.integrate(robot, here, np.array([0.2, -0.1, 0.3, 0.1, 0.2, -0.3]))
    running = lambda robot, q, v, tau, t: 1e-2 * (tau @ tau)  # noqa: E731
    plans = [
        ddp(robot, f(here), np.zeros(6), running=running, final=towards(f(goal)), dt=0.1, steps=8)
        for f in (lambda q: q, seen)
    ]
    assert all(plan.converged for plan in plans)
    assert_close(plans[0].tau, plans[1].tau, 1e-5, scale=np.abs(plans[0].tau).max())


# Prediction


def test_prediction_of_a_linear_motion_is_feedback_along_its_horizon():
    robot, dt, N = point_mass(), 0.1, 12
    look = mpc(robot, **reach(np.zeros(1)), dt=dt, steps=N)
    weights = {"state_weights": [0.0, 1e-2], "force_weights": 1e-2, "final_weights": [100.0, 10.0]}
    rest = np.zeros((N + 1, 1)), np.zeros((N + 1, 1)), np.zeros((N, 1))
    K = lqr_along(robot, *rest, dt=dt, method="semi_implicit_euler", **weights).gains[0]
    state = look.start([0.0])
    for t, x in ((0.0, [1.0, 0.5]), (0.03, [-0.4, 0.2])):
        tau, state = look(t, x[:1], x[1:], state)
        assert_close(tau, K @ x, 1e-9, scale=10.0)
        assert state["t"] == t and state["tau"].shape == (N, 1)
    many, _ = look(0.0, [[1.0], [-0.4]], [[0.5], [0.2]], look.start([[1.0], [-0.4]]))
    assert_close(many, [K @ [1.0, 0.5], K @ [-0.4, 0.2]], 1e-9, scale=10.0)


@pytest.fixture(scope="module")
def home():
    """A weak drive and a controller that leads it to rest at 0."""
    robot = driven(point_mass(), 1.0)
    return robot, mpc(robot, **reach(np.zeros(1), force=1e-3), dt=0.1, steps=15)


@pytest.mark.compiled
def test_prediction_leads_a_robot_home_within_its_limits(home):
    """In one compiled simulation, as from Python, and for each of a batch."""
    robot, look = home
    run, starts = {"duration": 3.0, "dt": 0.05, "controller": look, "method": "rk4"}, np.array([[1.0], [-0.3]])
    one = torsor.simulate(robot, [1.0], [0.0], **run, controller_state=look.start([1.0]), compile_controller=True)
    assert np.abs(one.tau).max() == 1.0 and np.abs(one.q[-1]) < 0.02 and np.abs(one.v[-1]) < 0.05
    called = torsor.simulate(robot, [1.0], [0.0], **run, controller_state=look.start([1.0]), compile_controller=False)
    assert_close(called.q, one.q, 1e-9)
    together = torsor.simulate(
        robot, starts, [0.0], **run, controller_state=look.start(starts), compile_controller=False
    )
    assert_close(together.q[0], one.q, 1e-9)
    assert np.abs(together.q[1, -1]) < 0.02


def test_prediction_is_part_of_a_compiled_function(home):
    robot, look = home
    state = look.start([1.0])
    shapes = {"q": (1,), "t": (), "plan": (15, 1)}

    def twice(robot, q, t, plan):
        said, after = look(0.0, q, 0.0 * q, {"t": t, "tau": plan, "caution": t})
        return {"first": said, "second": look(0.1, q, 0.0 * q, after)[0]}

    found = torsor.compile(twice, robot, shapes)(q=[1.0], t=0.0, plan=state["tau"])
    first, after = look(0.0, [1.0], [0.0], state)
    assert_close(found["first"], first)
    assert_close(found["second"], look(0.1, [1.0], [0.0], after)[0])


def test_prediction_goes_on_with_its_plan_where_nothing_is_known(home):
    look = home[1]
    tau, state = look(0.0, [np.nan], [0.0], look.start([1.0], tau=[0.7]))
    assert tau == 0.7 and np.all(state["tau"] == 0.7)


@pytest.mark.parametrize("later", [0.0, 0.25, 1.0, 3.5, 11.0, 12.0, 40.0, -2.0])
def test_a_plan_is_moved_on_by_parts_of_steps(later):
    """As a table that is looked up between its entries, the last of which goes on."""
    plan = np.random.default_rng(0).normal(size=(12, 3))
    program = trace(moved_on, {"tau": (12, 3), "later": ()}, Level.FULL)
    found = Kernel("moved on", program)(plan, later)
    at = np.arange(12) + max(later, 0.0)
    assert_close(found, np.stack([np.interp(at, np.arange(12), x) for x in plan.T], axis=-1))


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_a_call_of_prediction_is_a_turn_of_the_descent(method):
    """Near rest, where the whole step of the unregularised model pays; the second turn is the second call."""
    problem, q, v = reach(np.array([0.6, -0.5]), force=1e-2, end=10.0), np.array([0.5, -0.4]), np.array([0.1, 0.0])
    given = {**problem, "dt": 0.05, "steps": 6, "method": method}
    tau = np.asarray(torsor.gravity_forces(ARM, q))
    plans = [ddp(ARM, q, v, **given, tau=tau, second_order=False, iterations=k).tau for k in (1, 2)]
    once, twice = (mpc(ARM, **given, iterations=k) for k in (1, 2))
    found, state = once(0.0, q, v, once.start(q))
    assert_close(state["tau"], plans[0], 1e-9, scale=np.abs(plans[0]).max())
    assert_close(found, plans[0][0], 1e-9, scale=10.0)
    _, again = once(0.0, q, v, state)
    _, both = twice(0.0, q, v, twice.start(q))
    for x in (again, both):
        assert_close(x["tau"], plans[1], 1e-9, scale=np.abs(plans[1]).max())
    assert both["caution"] == 0.0


def test_ctrl_c_gives_the_best_so_far(monkeypatch):
    turn, turns = Solver._turn, []

    def interrupted(self, *args):
        turns.append(1)
        if len(turns) == 3:
            raise KeyboardInterrupt
        return turn(self, *args)

    monkeypatch.setattr(Solver, "_turn", interrupted)
    plan = ddp(PENDULUM, [0.0], [0.0], **UP, dt=0.05, steps=40, tau=np.array([1.0]))
    assert plan.interrupted and plan.motion.interrupted and not plan.converged and len(plan.cost_history) == 3
    assert plan.cost < plan.cost_history[0] and "interrupted" in str(plan)


def test_bad_problems_are_answered():
    good = {**UP, "dt": 0.05, "steps": 4}
    for wrong, text in (
        ({"steps": 0}, "`steps` must be at least 1"),
        ({"dt": -1.0}, "`dt` must be finite and positive"),
        ({"method": "rk5"}, "`method` must be .* did you mean 'rk4'"),
        ({"tau": np.zeros(3)}, r"`tau` must have shape \(1,\), or \(\.\.\., 4, 1\)"),
        ({"running": lambda robot, q, v, tau, t: tau}, r"`running` must return one number.*e @ e"),
        ({"final": lambda robot, q: 0.0}, r"`final` must be a function final\(robot, q, v\)"),
        ({"running": 1.0}, r"`running` must be a function"),
        ({"states": (np.ones((5, 1)), np.zeros((5, 1)))}, "must begin at the start"),
        ({"tau": np.array([1e200])}, "is not finite"),
    ):
        with pytest.raises(torsor.TorsorError, match=f"ddp: .*{text}"):
            ddp(PENDULUM, [0.0], [0.0], **{**good, **wrong})
    with pytest.raises(torsor.TorsorError, match="lqr: this is no equilibrium"):
        lqr(PENDULUM, [1.0], tau=[0.0], state_weights=1.0, force_weights=1.0)
    with pytest.raises(torsor.TorsorError, match="`force_weights` must be positive definite"):
        lqr(PENDULUM, [0.0], state_weights=1.0, force_weights=0.0)
