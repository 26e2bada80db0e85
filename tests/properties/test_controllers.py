"""Controllers do what their Lyapunov functions say, for every kind of joint, in NumPy, in JAX and as one kernel."""

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, dot, times
from property_strategies import ONE_NUMBER, Case, cases, robots

import torsor
from torsor import controllers

ONE_STATE = ((),)
STATES = cases(robots(most=5, mimic=None), ONE_STATE)


def moved(robot, q, v, a, t):
    """q and v a short while later, to second order in q."""
    return torsor.integrate(robot, q, v + 0.5 * t * a, t), v + t * a


def reference_of(case: Case):
    """A reference less than half a turn away, with velocity and acceleration."""
    robot, rng = case.robot, case.rng
    v_ref, a_ref = rng.normal(size=(2, *case.batch, robot.nv))
    return torsor.integrate(robot, case.q, 0.5 * rng.normal(size=v_ref.shape)), v_ref, a_ref


def some_gains(case: Case, k: int = 2) -> np.ndarray:
    return case.rng.uniform(0.5, 2.0, (k, case.robot.nv))


def slope_of(V, case: Case, reference, acceleration):
    """dV/dt as robot and reference move on."""

    def later(t):
        state = moved(case.robot, case.q, case.v, acceleration, t)
        return V(*state, *moved(case.robot, *reference, t), t)

    return derivative(later, 1e-5), later(0.0)


def regular(robot) -> bool:
    """Whether accelerations are well defined enough to be differentiated."""
    q = torsor.random_configuration(robot, seed=0)
    return np.linalg.cond(torsor.mass_matrix(robot, q)) < 1e6


@given(STATES)
def test_pd_with_gravity_loses_energy_by_its_dampers_alone(case):
    """V = ½ vᵀ M v + ½ eᵀ K_p e falls at vᵀ K_d v and friction, exactly, for every kind of joint and unequal gains."""
    robot, (kp, kd) = case.robot, some_gains(case)
    assume(regular(robot))
    q_ref = reference_of(case)[0]
    tau = controllers.pd_gravity(robot, case.q, case.v, q_ref, kp, kd)
    a = torsor.forward_dynamics(robot, case.q, case.v, tau)

    def V(q, v, *_):
        e = torsor.difference(robot, q, q_ref)
        return torsor.kinetic_energy(robot, q, v) + 0.5 * dot(e, kp * e)

    rest = np.zeros_like(a)
    slope, value = slope_of(V, case, (q_ref, rest, rest), a)
    power = dot(case.v, kd * case.v + torsor.friction_forces(robot, case.v))
    assert_close(slope, -power, 10 * DIFFERENTIATED, scale=value * np.abs(a).max(initial=1.0))


@given(STATES)
def test_computed_torque_leaves_a_spring_and_a_damper_of_unit_mass(case):
    robot, (kp, kd) = case.robot, some_gains(case)
    assume(regular(robot))
    reference = reference_of(case)
    tau = controllers.computed_torque(robot, case.q, case.v, *reference, kp, kd)
    a = torsor.forward_dynamics(robot, case.q, case.v, tau)

    def V(q, v, q_ref, v_ref, t):
        error = relative_velocity(robot, q, v, q_ref, v_ref)
        e = torsor.difference(robot, q, q_ref)
        return 0.5 * dot(error, error) + 0.5 * dot(e, kp * e)

    slope, value = slope_of(V, case, reference, a)
    error = relative_velocity(robot, case.q, case.v, *reference[:2])
    assert_close(slope, -dot(error, kd * error), 10 * DIFFERENTIATED, scale=value * np.abs(a).max(initial=1.0))


def relative_velocity(robot, q, v, q_ref, v_ref):
    """v_r − v with v_r = Ad(exp e) v_ref, joint by joint, by the matrices of the adjoint."""
    e, parts = torsor.difference(robot, q, q_ref), []
    kinds = {c.name: robot.structure.kinds[robot.structure.joints.index(c.name)] for c in robot.structure.coordinates}
    for c in robot.structure.coordinates:
        X, u = e[..., c.v], v_ref[..., c.v]
        kind = kinds[c.name]
        if kind == "spherical":
            u = torsor.lie.so3.exp(X) @ u
        elif kind == "free":
            u = torsor.lie.Ad(torsor.lie.se3.exp(X)) @ u
        elif kind == "planar":
            full = [np.concatenate([np.zeros(2), x, np.zeros(1)]) for x in (X, u)]
            u = (torsor.lie.Ad(torsor.lie.se3.exp(full[0])) @ full[1])[2:5]
        parts.append(u - v[..., c.v])
    return np.concatenate(parts, axis=-1)


@given(cases(robots(most=5, kinds=ONE_NUMBER), ONE_STATE))
def test_computed_torque_of_joints_with_one_number_makes_the_error_linear(case):
    """ë + K_d ė + K_p e = 0."""
    robot, (kp, kd) = case.robot, some_gains(case)
    assume(regular(robot))
    q_ref, v_ref, a_ref = reference_of(case)
    tau = controllers.computed_torque(robot, case.q, case.v, q_ref, v_ref, a_ref, kp, kd)
    a = torsor.forward_dynamics(robot, case.q, case.v, tau)
    assert_close(a_ref - a + kd * (v_ref - case.v) + kp * (q_ref - case.q), np.zeros_like(a), 1e-7, scale=a)


def sliding(robot, rate, q, v, q_ref, v_ref):
    """S = v − v_r − Λ e."""
    return -relative_velocity(robot, q, v, q_ref, v_ref) - rate * torsor.difference(robot, q, q_ref)


@given(STATES)
def test_passivity_based_control_lets_sliding_energy_fall_by_its_damper(case):
    """V = ½ sᵀ M s falls at sᵀ K_d s, exactly; friction is made up for."""
    robot, (rate, kd) = case.robot, some_gains(case)
    assume(regular(robot))
    reference = reference_of(case)
    tau = controllers.passivity_based(robot, case.q, case.v, *reference, rate, kd)
    a = torsor.forward_dynamics(robot, case.q, case.v, tau)

    def V(q, v, q_ref, v_ref, t):
        return torsor.kinetic_energy(robot, q, sliding(robot, rate, q, v, q_ref, v_ref))

    slope, value = slope_of(V, case, reference, a)
    s = sliding(robot, rate, case.q, case.v, *reference[:2])
    assert_close(slope, -dot(s, kd * s), 10 * DIFFERENTIATED, scale=value * np.abs(a).max(initial=1.0))


@given(STATES)
def test_adaptive_control_lets_sliding_energy_and_parameter_error_fall(case):
    """V = ½ sᵀ M s + ½ π̃ᵀ Γ⁻¹ π̃ falls at sᵀ K_d s, however wrong the parameters are."""
    robot, (rate, kd) = case.robot, some_gains(case)
    assume(regular(robot))
    reference = reference_of(case)
    true = torsor.inertial_parameters(robot)
    wrong = true + case.rng.normal(size=true.shape)
    adaptation = case.rng.uniform(0.1, 1.0, true.shape)
    control = controllers.adaptive(robot, case.q, case.v, *reference, wrong, rate, kd, adaptation)
    a = torsor.forward_dynamics(robot, case.q, case.v, control.tau)

    def V(q, v, q_ref, v_ref, t):
        error = wrong + t * control.parameter_rate - true
        energy = torsor.kinetic_energy(robot, q, sliding(robot, rate, q, v, q_ref, v_ref))
        return energy + 0.5 * dot(error, error / adaptation)

    slope, value = slope_of(V, case, reference, a)
    s = sliding(robot, rate, case.q, case.v, *reference[:2])
    assert_close(slope, -dot(s, kd * s), 10 * DIFFERENTIATED, scale=value * np.abs(a).max(initial=1.0))


@given(cases(robots(least=2, most=6), ONE_STATE), st.sampled_from(["pose", "position", "orientation"]))
def test_operational_space_control_gives_the_task_its_acceleration_and_leaves_the_rest_to_the_posture(case, kind):
    """J a + J̇ v is that of a spring and a damper to the target; nothing in ker J differs, by M, from what the posture wants."""
    robot, frame = case.robot, case.robot.frames[-1]
    task = {"pose": torsor.pose_task, "position": torsor.position_task, "orientation": torsor.orientation_task}[kind](
        frame
    )
    J = task.jacobian(robot, case.q)
    M = torsor.mass_matrix(robot, case.q)
    assume(regular(robot) and task.size <= robot.nv and np.linalg.cond(J @ np.linalg.solve(M, J.T)) < 1e6)
    posture, v_ref, _ = reference_of(case)
    posture_kp, posture_kd = some_gains(case)
    kp, kd, ydot, yddot = case.rng.uniform(0.5, 2.0, (4, task.size))
    T_ref = torsor.frame_pose(robot, torsor.integrate(robot, case.q, 0.3 * v_ref), frame)
    target = {"pose": T_ref, "position": T_ref[:3, 3], "orientation": T_ref[:3, :3]}[kind]
    options = {"posture": posture, "posture_kp": posture_kp, "posture_kd": posture_kd}
    tau = controllers.operational_space(robot, case.q, case.v, task, target, kp, kd, ydot, yddot, **options)
    a = torsor.forward_dynamics(robot, case.q, case.v, tau)
    # What free, spherical and one-number joints with that error would be given
    alone = {"pose": "free", "orientation": "spherical", "position": None}[kind]
    T, y_rate = torsor.frame_pose(robot, case.q, frame), J @ case.v
    if alone is None:
        command = yddot + kd * (ydot - y_rate) + kp * (target - T[:3, 3])
    else:
        command = command_of_joint(alone, T, T_ref, y_rate, ydot, yddot, kp, kd)
    size = np.abs(a).max(initial=1.0) * np.linalg.norm(J)
    assert_close(J @ a + task.drift(robot, case.q, case.v), command, 1e-7, scale=size)
    tau_0 = controllers.pd_gravity(robot, case.q, case.v, posture, posture_kp, posture_kd)
    a_0 = tau_0 - torsor.gravity_forces(robot, case.q)
    left = null_space(J).T @ M @ (a - a_0)
    assert_close(left, np.zeros_like(left), 1e-7, scale=np.linalg.norm(M) * size)


def command_of_joint(kind, T, T_ref, y_rate, ydot, yddot, kp, kd):
    """The acceleration that computed torque gives to a body of its own that is where the frame is."""
    body = torsor.Joint(name="body", kind=kind, link="body", inertia=torsor.Inertia(1.0, np.zeros(3), np.eye(3)))
    alone = torsor.assemble([body], name="alone")
    q, q_ref = (
        np.concatenate([x[:3, 3], torsor.lie.quaternion.from_rotation(x[:3, :3])])[-alone.nq :] for x in (T, T_ref)
    )
    tau = controllers.computed_torque(alone, q, y_rate, q_ref, ydot, yddot, kp, kd)
    return torsor.forward_dynamics(alone, q, y_rate, tau)


def null_space(J):
    _, sizes, Vt = np.linalg.svd(J)
    return Vt[np.sum(sizes > 1e-9 * sizes.max(initial=0.0)) :].T


def test_a_selection_of_rows_and_stacked_tasks_are_driven_row_by_row():
    panda = torsor.robots.panda()
    q, v, _ = torsor.random_state(panda, seed=4)
    p = torsor.frame_pose(panda, q, "hand_tcp")[:3, 3] + 0.1
    plane = torsor.position_task("hand_tcp", ["vx", "vz"])
    height = torsor.function_task(lambda robot, q: torsor.centre_of_mass(robot, q)[2:], 1)
    both = torsor.stack_tasks(plane, height)
    target = (p, np.array([0.3]))
    tau = controllers.operational_space(panda, q, v, both, target, 4.0, [1.0, 2.0, 3.0])
    a = torsor.forward_dynamics(panda, q, v, tau)
    reached = both.jacobian(panda, q) @ a + both.drift(panda, q, v)
    e = np.array([0.1, 0.1, 0.3 - torsor.centre_of_mass(panda, q)[2]])
    assert_close(reached, 4.0 * e - np.array([1.0, 2.0, 3.0]) * (both.jacobian(panda, q) @ v), 1e-9)


# In closed loop


def wave(t, n):
    """A reference (q, v, a) of all joints of a robot with numbers alone."""
    phase = 0.3 * np.arange(n)
    return 0.4 * np.sin(2 * t + phase), 0.8 * np.cos(2 * t + phase), -1.6 * np.sin(2 * t + phase)


@pytest.mark.compiled
def test_pd_with_gravity_comes_to_rest_at_the_set_point_and_its_energy_never_grows():
    arm = torsor.robots.ur5()
    q, v, _ = torsor.random_state(arm, seed=2)
    q_ref = torsor.random_configuration(arm, seed=3)
    inertia = np.diag(torsor.mass_matrix(arm, q_ref))  # light wrists need soft gains
    kp, kd = 100.0 * inertia, 16.0 * inertia
    kernel = torsor.compile(controllers.pd_gravity, arm, {"q": 6, "v": 6}, q_ref=q_ref, kp=kp, kd=kd)
    run = torsor.simulate(arm, q, v, duration=4.0, step=4e-3, method="rk4", controller=lambda t, q, v: kernel(q=q, v=v))
    V = run.kinetic + 0.5 * (kp * (run.q - q_ref) ** 2).sum(-1)
    assert np.diff(V).max() < 1e-9 * V[0]  # of the integration error
    assert V[-1] < 1e-6 * V[0]


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["spherical", "free", "planar"])
def test_bodies_with_several_freedoms_follow_moving_references(kind):
    """A body tumbles along after a tumbling reference; sliding energy never grows."""
    inertia = torsor.Inertia(1.0, np.zeros(3), np.diag([0.4, 0.5, 0.3]))
    robot = torsor.assemble([torsor.Joint(name="body", kind=kind, link="body", inertia=inertia)], name=kind)
    n, rng = robot.nv, np.random.default_rng(3)
    q, v, _ = torsor.random_state(robot, seed=5)
    reference = torsor.random_configuration(robot, seed=6)
    v_ref = 0.5 * rng.normal(size=n)

    def where(t):
        return torsor.integrate(robot, reference, v_ref, t)  # with constant body velocity

    def controller(t, q, v):
        return controllers.passivity_based(robot, q, v, where(t), v_ref, np.zeros(n), 3.0, 5.0)

    run = torsor.simulate(robot, q, v, duration=3.0, step=2e-2, method="rk4", controller=controller)
    targets = np.array([where(t) for t in run.time])
    s = np.array(
        [sliding(robot, 3.0, *state) for state in zip(run.q, run.v, targets, [v_ref] * len(run.time), strict=True)]
    )
    V = torsor.kinetic_energy(robot, run.q, s)
    assert np.diff(V).max() < 1e-6 * V[0]
    assert np.abs(torsor.difference(robot, run.q, targets))[-1].max() < 2e-3


@pytest.mark.compiled
def test_an_arm_that_does_not_know_its_masses_learns_to_follow():
    """V with the parameter error never grows, and the error vanishes."""
    arm = torsor.robots.planar2r(masses=(2.0, 1.0), lengths=(1.0, 0.6))
    true = torsor.inertial_parameters(arm)
    rate, kd, adaptation, dt = 5.0, 8.0, 20.0, 5e-3

    def slope(robot, x, q_ref, v_ref, a_ref):
        q, v, parameters = x[:2], x[2:4], x[4:]
        tau, change = controllers.adaptive(robot, q, v, q_ref, v_ref, a_ref, parameters, rate, kd, adaptation)
        return np.concatenate([v, torsor.forward_dynamics(robot, q, v, tau), change])

    kernel = torsor.compile(slope, arm, {"x": 24, "q_ref": 2, "v_ref": 2, "a_ref": 2})

    def f(t, x):
        q_ref, v_ref, a_ref = wave(t, 2)
        return kernel(x=x, q_ref=q_ref, v_ref=v_ref, a_ref=a_ref)

    def V(t, x):
        s = sliding(arm, rate, x[:2], x[2:4], *wave(t, 2)[:2])
        return torsor.kinetic_energy(arm, x[:2], s) + 0.5 * ((x[4:] - true) ** 2).sum() / adaptation

    x, levels, errors = np.concatenate([[1.0, -1.0, 0.0, 0.0], 0.3 * true]), [], []
    for t in dt * np.arange(1600):
        levels.append(V(t, x))
        errors.append(np.abs(wave(t, 2)[0] - x[:2]).max())
        a = f(t, x)
        b = f(t + dt / 2, x + dt / 2 * a)
        c = f(t + dt / 2, x + dt / 2 * b)
        x = x + dt / 6 * (a + 2 * b + 2 * c + f(t + dt, x + dt * c))
    assert np.diff(levels).max() < 1e-8 * levels[0]  # of the integration error
    assert max(errors[:100]) > 0.5
    assert max(errors[-600:]) < 0.03  # over a full period of the reference


# One source: NumPy, batches, JAX, kernels


def calls(robot, batch=()):
    """Every controller with arguments for a batch of states, the shapes of those, and what is fixed."""
    q, v, _ = torsor.random_state(robot, seed=1, batch=batch)
    q_ref, v_ref, a_ref = torsor.random_state(robot, seed=2, batch=batch)
    frame, parameters = robot.frames[-1], torsor.inertial_parameters(robot)
    gain = np.linspace(1.0, 2.0, robot.nv)
    state, point = {"q": q, "v": v}, {"q_ref": q_ref}
    path = {**state, **point, "v_ref": v_ref, "a_ref": a_ref}
    learnt = {"parameters": np.broadcast_to(parameters, (*batch, len(parameters)))}
    pose = {"target": torsor.frame_pose(robot, q_ref, frame), "posture": q_ref}
    task = {"task": frame, "posture_kp": 3.0, "posture_kd": gain}
    sliding = {"rate": 2.0, "kd": gain}
    return {
        "pd_gravity": ({**state, **point}, {"kp": 2.0, "kd": gain}),
        "computed_torque": (path, {"kp": gain, "kd": 2.0}),
        "passivity_based": (path, sliding),
        "adaptive": ({**path, **learnt}, {**sliding, "adaptation": 0.1}),
        "operational_space": ({**state, **pose}, {**task, "kp": 2.0, "kd": 3.0}),
    }


NAMES = ("pd_gravity", "computed_torque", "passivity_based", "adaptive", "operational_space")
MIXED = partial(torsor.robots.random_tree, 3, seed=3, kinds=("revolute", "planar", "free"), mimic=True, friction=True)
MADE = {"panda": torsor.robots.panda, "mixed": MIXED}


def arrays_of(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("robot", MADE)
def test_a_controller_is_one_kernel_and_takes_batches(robot, name):
    """One state at a time, all at once, and compiled: the same numbers."""
    arm, control = MADE[robot](), getattr(controllers, name)
    given, fixed = calls(arm, (2, 3))[name]
    together = arrays_of(control(arm, **given, **fixed))
    alone = arrays_of(control(arm, **{key: x[1, 2] for key, x in given.items()}, **fixed))
    shapes = {key: x.shape[2:] for key, x in given.items()}
    kernel = torsor.compile(control, arm, shapes, **fixed)
    compiled = kernel(**given)
    compiled = list(compiled.values()) if isinstance(compiled, dict) else arrays_of(compiled)
    for one, all_of_them, by_kernel in zip(alone, together, compiled, strict=True):
        assert_close(all_of_them[1, 2], one, 1e-9)
        assert_close(by_kernel, all_of_them, 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_controller_runs_in_jax(jax_in_doubles, name):
    jax = jax_in_doubles
    arm, control = torsor.robots.planar2r(), getattr(controllers, name)
    given, fixed = calls(arm)[name]
    if name == "operational_space":
        given["target"], fixed["task"] = given["target"][:2, 3], torsor.position_task(arm.frames[-1], ["vx", "vy"])
        given["target"] = np.append(given["target"], 0.0)
    expected = arrays_of(control(arm, **given, **fixed))
    result = jax.jit(lambda given: control(arm, **given, **fixed))(
        {key: jax.numpy.array(x) for key, x in given.items()}
    )
    for x, y in zip(arrays_of(result), expected, strict=True):
        assert_close(np.asarray(x), y, 1e-9)


def test_gains_of_the_wrong_size_are_refused_with_their_names():
    panda = torsor.robots.panda()
    q, v, _ = torsor.random_state(panda, seed=0)
    with pytest.raises(torsor.ShapeError, match=r"pd_gravity: `kd` must be a number or have shape \(\.\.\., 7\)"):
        controllers.pd_gravity(panda, q, v, q, 1.0, np.ones(6))
    with pytest.raises(torsor.ShapeError, match=r"the target of task 'hand_tcp' is a pose with shape \(\.\.\., 4, 4\)"):
        controllers.operational_space(panda, q, v, "hand_tcp", np.zeros(3), 1.0, 1.0)


def test_the_kernels_are_as_short_as_their_parts():
    """Multiplications and additions of a Panda's controllers, compiled: nothing is computed twice."""
    panda = torsor.robots.panda()
    most = {
        "pd_gravity": 150,
        "computed_torque": 900,
        "passivity_based": 3100,
        "adaptive": 3600,
        "operational_space": 3800,
    }
    for name, (inputs, fixed) in calls(panda).items():
        kernel = torsor.compile(getattr(controllers, name), panda, {k: x.shape for k, x in inputs.items()}, **fixed)
        assert sum(kernel.count().values()) <= most[name], name


def test_near_singularities_a_limit_bounds_the_torques_and_elsewhere_changes_nothing():
    """A UR5 is led along the direction that its wrist is about to lose, nearer and nearer to the singularity."""
    arm = torsor.robots.ur5()
    q = np.array([0.2, -1.1, 1.3, -0.4, 0.1, 0.5]) - np.linspace(0, 0.1, 101)[:, None] * np.eye(6)[4]
    task, v, kd = "tool0", np.full(6, 0.1), 20.0
    lost = torsor.damped_task_space_dynamics(arm, q[-1], v, task).report.directions[:, -1]
    T = torsor.frame_pose(arm, q, task) @ torsor.lie.se3.exp(0.1 * lost)
    plain, bounded = (controllers.operational_space(arm, q, v, task, T, 100.0, kd, limit=x) for x in (0.0, 1e-3))
    damped = torsor.damped_task_space_dynamics(arm, q, v, task).report.is_damped
    assert 5 < damped.sum() < 50
    assert_close(bounded[~damped], plain[~damped], 1e-9)
    assert np.isnan(plain[-1]).all() and np.abs(plain[-2]).max() > 1e3
    assert np.abs(bounded[damped]).max() < 200.0  # N·m
    aside = torsor.frame_pose(arm, q[-1], task) @ torsor.lie.se3.exp(1e-5 * lost)
    at_rest = controllers.operational_space(arm, q[-1], 0 * v, task, aside, 100.0, kd, limit=1e-3)
    assert_close(at_rest, torsor.gravity_forces(arm, q[-1]), 1e-9)  # no use pushing along the direction that is lost


def test_with_a_limit_a_task_may_have_more_rows_than_there_are_joints():
    """Two joints hold what they can of a pose, and what is left free of the pose is not disturbed by the posture."""
    arm = torsor.robots.planar2r()
    q, v, frame = np.array([0.3, 0.8]), np.array([0.5, -0.2]), arm.frames[-1]
    T = torsor.frame_pose(arm, q + 0.05, frame)
    tau = controllers.operational_space(arm, q, v, frame, T, 9.0, 6.0, limit=1e-4, posture=q + 1.0, posture_kp=5.0)
    without = controllers.operational_space(arm, q, v, frame, T, 9.0, 6.0, limit=1e-4)
    assert_close(tau, without, 1e-9)  # two joints, two directions: nothing is left for the posture
    assert np.isfinite(tau).all() and np.abs(tau - torsor.inverse_dynamics(arm, q, v, 0 * v)).max() > 0.1
    with pytest.raises(torsor.TorsorError, match="never independent"):
        controllers.operational_space(arm, q, v, frame, T, 9.0, 6.0)


def test_a_torque_of_the_null_space_is_not_felt_by_the_task():
    """Two postures, one task: the same acceleration of the hand, other ones of the joints."""
    panda = torsor.robots.panda()
    q, v, _ = torsor.random_state(panda, seed=1)
    T = torsor.frame_pose(panda, torsor.random_configuration(panda, seed=2), "hand_tcp")
    control = partial(controllers.operational_space, panda, q, v, "hand_tcp", T, 10.0, 5.0, posture_kp=20.0)
    one, other = (control(posture=torsor.random_configuration(panda, seed=k)) for k in (3, 4))
    a = torsor.inverse_mass_matrix(panda, q) @ (one - other)
    J = torsor.body_jacobian(panda, q, "hand_tcp")
    assert np.linalg.norm(a) > 0.1
    assert_close(times(J, a), np.zeros(6), 1e-8, scale=a)
