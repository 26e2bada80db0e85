"""Controllers do what their Lyapunov functions say, for every kind of joint, in NumPy, in JAX and as one kernel."""

import pickle
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, dot, times
from property_strategies import ONE_NUMBER, Case, cases, robots

import torsor
from torsor import control as controllers

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
    true = torsor.identification.inertial_parameters(robot)
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
    options = {
        "velocity": ydot,
        "acceleration": yddot,
        "posture": posture,
        "posture_kp": posture_kp,
        "posture_kd": posture_kd,
        "limit": case.rng.choice([0.0, 1e-9]),
    }
    tau = controllers.operational_space(robot, case.q, case.v, task, target, kp, kd, **options)
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
    height = torsor.function_task(lambda robot, q: torsor.dynamics.centre_of_mass(robot, q)[2:], 1)
    both = torsor.stack_tasks(plane, height)
    target = (p, np.array([0.3]))
    tau = controllers.operational_space(panda, q, v, both, target, 4.0, [1.0, 2.0, 3.0])
    a = torsor.forward_dynamics(panda, q, v, tau)
    reached = both.jacobian(panda, q) @ a + both.drift(panda, q, v)
    e = np.array([0.1, 0.1, 0.3 - torsor.dynamics.centre_of_mass(panda, q)[2]])
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
    run = torsor.simulate(arm, q, v, duration=4.0, dt=4e-3, method="rk4", controller=lambda t, q, v: kernel(q=q, v=v))
    V = run.kinetic + 0.5 * (kp * (run.q - q_ref) ** 2).sum(-1)
    assert np.diff(V).max() < 1e-9 * V[0]  # of the integration error
    assert V[-1] < 1e-6 * V[0]


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["free", "planar"])
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

    run = torsor.simulate(robot, q, v, duration=3.0, dt=2e-2, controller=controller, control_dt=0)
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
    true = torsor.identification.inertial_parameters(arm)
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


def calls(robot, batch=(), task=None):
    """Every controller with arguments for a batch of states, the shapes of those, and what is fixed."""
    q, v, _ = torsor.random_state(robot, seed=1, batch=batch)
    q_ref, v_ref, a_ref = torsor.random_state(robot, seed=2, batch=batch)
    frame, parameters = robot.frames[-1], torsor.identification.inertial_parameters(robot)
    gain = np.linspace(1.0, 2.0, robot.nv)
    state, point = {"q": q, "v": v}, {"q_ref": q_ref}
    path = {**state, **point, "v_ref": v_ref, "a_ref": a_ref}
    learnt = {"parameters": np.broadcast_to(parameters, (*batch, len(parameters)))}
    T = torsor.frame_pose(robot, q_ref, frame)
    where = {"target": T if task is None else T[..., :3, 3], "posture": q_ref}
    fixed = {"task": frame if task is None else task, "posture_kp": 3.0, "posture_kd": gain}
    sliding = {"rate": 2.0, "kd": gain}
    return {
        "pd_gravity": ({**state, **point}, {"kp": 2.0, "kd": gain}),
        "computed_torque": (path, {"kp": gain, "kd": 2.0}),
        "passivity_based": (path, sliding),
        "adaptive": ({**path, **learnt}, {**sliding, "adaptation": 0.1}),
        "operational_space": ({**state, **where}, {**fixed, "kp": 2.0, "kd": 3.0}),
    }


PARTS = {  # a function that each of them calls, where it does
    "pd_gravity": (import_module("torsor.control._pd_gravity"), "gravity_forces"),
    "computed_torque": (import_module("torsor.control._computed_torque"), "inverse_dynamics"),
    "passivity_based": (import_module("torsor.control._passivity_based"), "coriolis_matrix"),
    "adaptive": (import_module("torsor.control._adaptive"), "reference_regressor"),
    "operational_space": (import_module("torsor.control.operational_space_law"), "inverse_dynamics"),
}
NAMES = tuple(PARTS)


def arrays_of(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", NAMES)
def test_a_controller_is_one_kernel_and_machine_code_and_takes_batches(name, monkeypatch):
    """One state at a time, all at once, as a kernel, and called with the compiler on: the same numbers."""
    arm = torsor.robots.random_tree(3, seed=6, kinds=("revolute", "planar"), mimic=True, friction=True)
    assert arm.structure.has_couplings and "planar" in arm.structure.kinds
    control, hand = getattr(controllers, name), torsor.position_task(arm.frames[-1])
    given, fixed = calls(arm, (2, 3), hand)[name]
    together = arrays_of(control(arm, **given, **fixed))
    alone = arrays_of(control(arm, **{key: x[1, 2] for key, x in given.items()}, **fixed))
    kernel = torsor.compile(control, arm, {key: x.shape[2:] for key, x in given.items()}, **fixed)
    by_kernel = kernel(**given)
    by_kernel = list(by_kernel.values()) if isinstance(by_kernel, dict) else arrays_of(by_kernel)
    with torsor.backend("compiled"):
        result = control(arm, **given, **fixed)
        monkeypatch.setattr(*PARTS[name], None)  # machine code has no use for it
        again = [arrays_of(control(arm, **{key: x[1, 2] for key, x in given.items()}, **fixed)) for _ in range(3)]
    assert type(result) is (controllers.AdaptiveControl if name == "adaptive" else np.ndarray)
    for k, expected in enumerate(together):
        assert_close(expected[1, 2], alone[k], 1e-9)
        assert_close(by_kernel[k], expected, 1e-9)
        assert_close(arrays_of(result)[k], expected, 1e-9)
        assert all(np.array_equal(one[k], again[0][k]) for one in again)  # however short the way to the code
        assert_close(again[0][k], alone[k], 1e-9)
    assert pickle.loads(pickle.dumps(control)) is control


@pytest.mark.compiled
def test_machine_code_is_that_of_the_task_target_and_limit_given():
    """Targets of stacked tasks, tasks that are made anew, and other limits in turn: as the algorithm itself has it."""
    arm = torsor.robots.planar2r()
    q, v, frame = np.array([0.3, 0.8]), np.array([0.5, -0.2]), arm.frames[-1]
    T = torsor.frame_pose(arm, q + 0.1, frame)

    def height(offset):
        return torsor.function_task(lambda robot, q: torsor.dynamics.centre_of_mass(robot, q)[1:2] + offset, 1)

    def turn():
        return torsor.orientation_task(frame, ["wz"])

    def place():
        return torsor.position_task(frame, ["vx", "vy"])

    asked = [
        (torsor.stack_tasks(turn(), height(0.0)), (T[:3, :3], np.array([0.4])), {}),
        (torsor.stack_tasks(turn(), height(0.2)), (T[:3, :3], np.array([0.4])), {}),
        (torsor.stack_tasks(turn(), height(0.2)), (T[:3, :3], np.array([0.4])), {"limit": 0.0}),
        (place(), T[:3, 3], {}),
        (place(), T[:3, 3], {"limit": 5.0}),
        (place(), T[:3, 3], {"velocity": [0.1, 0.2]}),
        (place(), T[:3, 3], {"velocity": [0.3, 0.2], "posture": q, "posture_kp": 1.0}),
    ]
    seen = []
    for task, target, options in asked + asked[::-1]:
        tau = controllers.operational_space(arm, q, v, task, target, 4.0, 2.0, **options)
        with torsor.backend("numpy"):
            expected = controllers.operational_space(arm, q, v, task, target, 4.0, 2.0, **options)
        assert_close(tau, expected, 1e-9)
        seen.append(tau)
    apart = np.abs(np.array(seen[:7])[:, None] - np.array(seen[:7])).max(-1)
    assert ((apart > 1e-3).sum() == 7 * 6 - 2) and apart[1, 2] < 1e-9  # where nothing is damped, the limit is nothing


@pytest.mark.compiled
def test_controllers_run_in_jax(jax_in_doubles):
    """All under jit and vmap; of the longest also the derivative along a change of all arguments."""
    jax, arm = jax_in_doubles, torsor.robots.planar2r()
    asked = calls(arm, (3,), torsor.position_task(arm.frames[-1], ["vx", "vy"]))
    given = {name: own for name, (own, _) in asked.items()}

    def control(name, own):
        return arrays_of(getattr(controllers, name)(arm, **own, **asked[name][1]))[0]

    def all_of_them(given, along):
        results = {name: control(name, given[name]) for name in NAMES[:-1]}
        last = jax.jvp(partial(control, NAMES[-1]), (given[NAMES[-1]],), (along,))
        return {**results, NAMES[-1]: last[0]}, last[1]

    rng, own = np.random.default_rng(1), given[NAMES[-1]]
    along = {key: rng.normal(size=x.shape) for key, x in own.items()}
    results, slope = jax.jit(jax.vmap(all_of_them))(given, along)
    for name in NAMES:
        assert_close(np.asarray(results[name]), control(name, given[name]), 1e-9)
    moving = {key: (x, along[key]) for key, x in own.items()}
    expected = derivative(lambda t: control(NAMES[-1], {key: x + t * u for key, (x, u) in moving.items()}), 1e-5)
    assert_close(np.asarray(slope), expected, DIFFERENTIATED, scale=np.abs(expected).max())


def test_the_kernels_are_as_short_as_their_parts():
    """Multiplications and additions of a Panda's controllers, compiled: nothing is computed twice."""
    panda = torsor.robots.panda()
    most = {"pd_gravity": 150, "computed_torque": 900, "passivity_based": 3100, "adaptive": 3600}
    most["operational_space"] = 5200  # a third makes the rows of J orthonormal: digits are kept near singularities
    exact = calls(panda)["operational_space"]
    exact[1]["limit"] = 0.0
    for name, (inputs, fixed) in {**calls(panda), "operational_space": exact}.items():
        kernel = torsor.compile(getattr(controllers, name), panda, {k: x.shape for k, x in inputs.items()}, **fixed)
        assert sum(kernel.count().values()) <= most[name], name


def test_nothing_pulls_a_joint_more_than_from_as_far_as_is_said():
    """|v̇ + K_d v| ≤ K_p d for every joint if `farthest` is d; what asks for less, near no singularity, is as without it."""
    arm, kp, kd, d = torsor.robots.planar2r(), 25.0, 10.0, 1.5
    task, rng = torsor.position_task(arm.frames[-1], ["vx", "vy"]), np.random.default_rng(0)
    q, v = rng.uniform([-3, 0.5], [3, 2.5], (200, 2)), rng.normal(size=(200, 2))
    target = torsor.frame_pose(arm, q + rng.normal(size=q.shape), arm.frames[-1])[:, :3, 3]
    tau, free = (controllers.operational_space(arm, q, v, task, target, kp, kd, farthest=x) for x in (d, None))
    pull, asked = (np.abs(torsor.forward_dynamics(arm, q, v, x) + kd * v).max(-1) for x in (tau, free))
    assert (pull <= kp * d * (1 + 1e-9)).all()
    few, many = asked < kp * d, asked > kp * d
    assert few.sum() > 20 and many.sum() > 20
    assert_close(tau[few], free[few], 1e-9)
    assert_close(pull[many], np.full(many.sum(), kp * d), 1e-9)
    inputs, fixed = {"q": 2, "v": 2, "target": 3}, {"task": task, "kp": kp, "kd": kd, "farthest": d}
    kernel = torsor.compile(controllers.operational_space, arm, inputs, **fixed)
    assert_close(kernel(q, v, target), tau, 1e-9)
    slope = torsor.derivative(controllers.operational_space, arm, inputs, wrt="v", **fixed)(q, v, target)
    for k, along in enumerate(np.eye(2)):
        expected = derivative(lambda t, along=along: kernel(q, v + t * along, target), 1e-6)
        assert_close(slope[..., k], expected, DIFFERENTIATED, scale=np.abs(expected).max())


def test_of_a_batch_only_targets_out_of_reach_are_approached_slowly():
    arm, kp, kd = torsor.robots.ur5(), 25.0, 10.0
    q, v = np.tile([0.2, -1.1, 1.3, -0.4, 0.6, 0.5], (2, 1)), np.full((2, 6), 0.1)
    task, near = torsor.position_task("tool0"), torsor.frame_pose(arm, q[0], "tool0")[:3, 3]
    targets = np.array([-near, [-2.0, 0.3, 0.2]])  # behind the robot, both
    tau = controllers.operational_space(arm, q, v, task, targets, kp, kd)
    for k in range(2):
        assert_close(tau[k], controllers.operational_space(arm, q[k], v[k], task, targets[k], kp, kd), 1e-9)
    pull = np.abs(torsor.forward_dynamics(arm, q, v, tau) + kd * v).max(-1)
    assert pull[0] > kp * np.pi and pull[1] < kp * np.pi * (1 + 1e-9)


def test_near_singularities_a_limit_bounds_the_torques_and_elsewhere_changes_nothing():
    """A UR5 is led along the direction that its wrist is about to lose, nearer and nearer to the singularity."""
    arm = torsor.robots.ur5()
    q = np.array([0.2, -1.1, 1.3, -0.4, 0.1, 0.5]) - np.linspace(0, 0.1, 101)[:, None] * np.eye(6)[4]
    task, v, kd = "tool0", np.full(6, 0.1), 20.0
    lost = torsor.tasks.damped_task_space_dynamics(arm, q[-1], v, task).report.directions[:, -1]
    T = torsor.frame_pose(arm, q, task) @ torsor.lie.se3.exp(0.05 * lost)
    plain, bounded = (controllers.operational_space(arm, q, v, task, T, 100.0, kd, limit=x) for x in (0.0, 1e-3))
    damped = torsor.tasks.damped_task_space_dynamics(arm, q, v, task).report.is_damped
    assert 5 < damped.sum() < 50
    assert_close(bounded[~damped], plain[~damped], 1e-9)
    assert np.isnan(plain[-1]).all() and np.abs(plain[-2]).max() > 1e3
    assert np.abs(bounded[damped]).max() < 200.0  # N·m
    aside = torsor.frame_pose(arm, q[-1], task) @ torsor.lie.se3.exp(1e-5 * lost)
    at_rest = controllers.operational_space(arm, q[-1], 0 * v, task, aside, 100.0, kd, limit=1e-3)
    assert_close(at_rest, torsor.gravity_forces(arm, q[-1]), 1e-9)  # no use pushing along the direction that is lost


@pytest.mark.compiled
def test_a_ur5_is_led_through_its_wrist_singularity_with_bounded_torques():
    """Joint 5 through zero, where the exact controller's torques are unbounded: the hand leaves its path only for a while."""
    arm, hand, dt, steps = torsor.robots.ur5(), "tool0", 2e-3, 1000
    time = dt * np.arange(steps)[:, None]
    start, rate = np.array([0.2, -1.1, 1.3, -0.4, 0.6, 0.5]), np.array([0.1, 0.05, 0.0, 0.2, -0.6, 0.3])
    path = torsor.frame_pose(arm, start + rate * time, hand)
    twists = torsor.kinematics.body_twist(arm, start + rate * time, np.broadcast_to(rate, (steps, 6)), hand)

    def step(robot, q, v, target, velocity):
        tau = controllers.operational_space(robot, q, v, hand, target, 100.0, 20.0, velocity=velocity, posture_kd=5.0)
        v = v + dt * torsor.forward_dynamics(robot, q, v, tau)
        return {"q": q + dt * v, "v": v, "tau": tau}

    loop = torsor.scan(step, arm, {"q": 6, "v": 6}, inputs={"target": (4, 4), "velocity": 6})
    aside = 0.02 * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    run = loop(steps=steps, every=1, q=start + aside, v=rate, target=path, velocity=twists)
    assert run["q"][-1, 4] < -0.5  # it came through
    assert np.abs(run["tau"]).max() < 60.0  # N·m; with limit=0.0 more than 1e100, then NaN
    off = np.linalg.norm(torsor.frame_pose(arm, run["q"], hand)[:, :3, 3] - path[:, :3, 3], axis=-1)
    assert off[0] > 0.01 and off[300:].max() < 1e-3  # m, from 0.6 s on, the singularity at 1 s among it


def test_a_task_may_have_more_rows_than_there_are_joints_unless_it_is_to_be_followed_exactly():
    """Two joints hold what they can of a pose, and what is left free of the pose is not disturbed by the posture."""
    arm = torsor.robots.planar2r()
    q, v, frame = np.array([0.3, 0.8]), np.array([0.5, -0.2]), arm.frames[-1]
    T = torsor.frame_pose(arm, q + 0.05, frame)
    tau = controllers.operational_space(arm, q, v, frame, T, 9.0, 6.0, posture=q + 1.0, posture_kp=5.0)
    without = controllers.operational_space(arm, q, v, frame, T, 9.0, 6.0)
    assert_close(tau, without, 1e-9)  # two joints, two directions: nothing is left for the posture
    assert np.isfinite(tau).all() and np.abs(tau - torsor.inverse_dynamics(arm, q, v, 0 * v)).max() > 0.1
    with pytest.raises(torsor.TorsorError, match="independent"):
        controllers.operational_space(arm, q, v, frame, T, 9.0, 6.0, limit=0.0)


def test_a_torque_of_the_null_space_is_not_felt_by_the_task():
    """Two postures, one task: the same acceleration of the hand, other ones of the joints."""
    panda = torsor.robots.panda()
    q, v, _ = torsor.random_state(panda, seed=1)
    T = torsor.frame_pose(panda, torsor.random_configuration(panda, seed=2), "hand_tcp")
    control = partial(controllers.operational_space, panda, q, v, "hand_tcp", T, 10.0, 5.0, posture_kp=20.0)
    one, other = (control(posture=torsor.random_configuration(panda, seed=k)) for k in (3, 4))
    a = torsor.dynamics.inverse_mass_matrix(panda, q) @ (one - other)
    J = torsor.body_jacobian(panda, q, "hand_tcp")
    assert np.linalg.norm(a) > 0.1
    assert_close(times(J, a), np.zeros(6), 1e-8, scale=a)
