"""RK4 of the Panda under PD control: `torsor.simulate` beside the same steps in `torsor.scan`, Pinocchio and MuJoCo."""

from __future__ import annotations

import os
import tempfile

import numpy as np

import torsor
from measure import best
from robots import path_of, torsor_robot
from starting import run_python
from torsor.simulation import sensitivities
from torsor.simulation.adaptive import AdaptiveFlow

STEPS, DT = 2000, 1e-3  # of one trajectory
MANY, MANY_STEPS = 4096, 100
FEW = 64  # trajectories that MuJoCo and Pinocchio are timed with: a loop is the same for every length
KP = np.array([60.0, 60.0, 60.0, 60.0, 8.0, 8.0, 4.0])
KD = np.array([12.0, 12.0, 12.0, 12.0, 1.0, 1.0, 0.5])
TARGET = np.array([0.2, -0.3, 0.1, -1.8, 0.1, 1.6, 0.4])
AGREEMENT = 1e-9  # rad and rad/s after a tenth of a second and more


def law(t, q, v):
    """The controller, in NumPy."""
    return KP * (TARGET - q) - KD * v


def measure(rounds: int) -> dict[str, float]:
    """Nanoseconds a step and trajectory, ratios, seconds of adaptive runs and of the first call."""
    torsor.set_threads(1)
    arm = torsor_robot("panda7")
    table = one_trajectory(arm, rounds) | many_trajectories(arm, rounds) | adaptive(arm, rounds) | first_call()
    table |= derivatives_of_a_motion(arm, rounds)
    print("\nPanda, RK4 under PD control: nanoseconds a step and trajectory unless said otherwise")
    for name, value in table.items():
        print(f"  {name:<72}{value:12,.2f}")
    return table


def one_trajectory(arm: torsor.Robot, rounds: int) -> dict[str, float]:
    """2,000 steps; the controller's answer is held over a step by all."""
    q, v = TARGET + 0.2, np.zeros(7)
    loop = by_hand(arm)
    options = {"duration": STEPS * DT, "dt": DT}
    qs, vs = np.tile(q, (STEPS, 1)), np.tile(v, (STEPS, 1))

    def controller_alone():
        for x, w in zip(qs, vs, strict=True):
            law(0.0, x, w)

    calls = {
        "simulate, bare equations": lambda: torsor.simulate(arm, q, v, controller=law, within_limits=False, **options),
        "simulate, stops and effort limits": lambda: torsor.simulate(arm, q, v, controller=law, **options),
        "by hand with scan": lambda: loop(steps=STEPS, q=q, v=v),
        "simulate, controller in Python": lambda: torsor.simulate(
            arm, q, v, controller=law, compile_controller=False, **options
        ),
        "the controller in Python alone": controller_alone,
    }
    end = calls["by hand with scan"]()
    for name in (*list(calls)[:2], "simulate, controller in Python"):
        run = calls[name]()
        require(name, run.q[-1], end["q"][-1])
        require(name, run.v[-1], end["v"][-1])
    peer = pinocchio_loop(q, v)
    if peer is not None:
        require("Pinocchio", peer(), end["q"][-1])
        calls["Pinocchio, Python loop"] = peer
    tau = np.zeros(7)
    seconds = best(calls | {"forward_dynamics": lambda: torsor.forward_dynamics(arm, q, v, tau)}, rounds=rounds)
    forward = 1e9 * seconds.pop("forward_dynamics")
    table = {f"one trajectory: {who}": 1e9 * s / STEPS for who, s in seconds.items()}
    own, one = table["one trajectory: simulate, bare equations"], "one trajectory: "
    python = table[one + "simulate, controller in Python"] - table[one + "the controller in Python alone"]
    table["ratio to scan, bare equations (goal: at most 1.15)"] = own / table[one + "by hand with scan"]
    limited = table[one + "simulate, stops and effort limits"]
    table["ratio to scan, stops and effort limits"] = limited / table[one + "by hand with scan"]
    table["a Python controller's step beside itself, in forward_dynamics (at most 4)"] = python / forward
    if peer is not None:
        table["Pinocchio's time, of simulate's (goal: at least 18)"] = table[one + "Pinocchio, Python loop"] / own
    return table


def many_trajectories(arm: torsor.Robot, rounds: int) -> dict[str, float]:
    """4,096 at once, 100 steps, every step saved; MuJoCo's law acts at every stage, as simulate's with control_dt=0."""
    rng = np.random.default_rng(0)
    q = TARGET + 0.2 * rng.normal(size=(MANY, 7))
    v = 0.2 * rng.normal(size=(MANY, 7))
    options = {"duration": MANY_STEPS * DT, "dt": DT, "within_limits": False, "controller": law}
    loop = by_hand(arm)
    calls = {
        "simulate, held": lambda: torsor.simulate(arm, q, v, **options),
        "simulate, held, only the last step saved": lambda: torsor.simulate(arm, q, v, every=MANY_STEPS, **options),
        "simulate, continuous": lambda: torsor.simulate(arm, q, v, control_dt=0, **options),
        "by hand with scan, q and v saved": lambda: loop(steps=MANY_STEPS, q=q, v=v),
    }
    times = {who: 1e9 * s / MANY / MANY_STEPS for who, s in best(calls, rounds=rounds).items()}
    slow = {}
    held, continuous = calls["simulate, held"](), calls["simulate, continuous"]()
    rollout = mujoco_rollout(q[:FEW], v[:FEW])
    if rollout is not None:
        require("mujoco.rollout", rollout()[:, -1, 1:15], np.hstack([continuous.q[:FEW, -1], continuous.v[:FEW, -1]]))
        slow["mujoco.rollout"] = (rollout, FEW)
    peer = pinocchio_loop(q[0], v[0], MANY_STEPS)
    if peer is not None:
        require("Pinocchio", peer(), held.q[0, -1])
        slow["Pinocchio, Python loop"] = (peer, 1)
    for who, seconds in best({who: call for who, (call, _) in slow.items()}, rounds=rounds).items():
        times[who] = 1e9 * seconds / slow[who][1] / MANY_STEPS
    table = {f"4,096 trajectories: {who}": ns for who, ns in times.items()}
    if rollout is not None:
        table["mujoco.rollout's time, of simulate's (goal: at least 40)"] = (
            times["mujoco.rollout"] / times["simulate, continuous"]
        )
    if peer is not None:
        table["Pinocchio's time, of simulate's, held (goal: at least 90)"] = (
            times["Pinocchio, Python loop"] / times["simulate, held"]
        )
    return table


def adaptive(arm: torsor.Robot, rounds: int) -> dict[str, float]:
    """Two seconds of the Panda under the continuous law by error control, beside SciPy's DOP853 around compiled functions."""
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        return {}
    q, v, end = TARGET + 0.2, np.zeros(7), 2.0

    def rate(t, x):
        return np.concatenate([x[7:], torsor.forward_dynamics(arm, x[:7], x[7:], law(t, x[:7], x[7:]))])

    def acceleration(robot, t, q, v, c):
        return torsor.forward_dynamics(robot, q, v, law(t, q, v)), np.zeros(0)

    flow = AdaptiveFlow(arm, acceleration)
    table = {}
    for rtol in (1e-6, 1e-9, 1e-12):
        tolerances = {"rtol": rtol, "atol": 1e-2 * rtol}

        def run(tolerances=tolerances):
            return torsor.simulate(
                arm, q, v, duration=end, controller=law, control_dt=0, within_limits=False, **tolerances
            )

        def peer(tolerances=tolerances):
            return solve_ivp(rate, (0.0, end), np.concatenate([q, v]), method="DOP853", **tolerances)

        theirs = peer()
        require(f"SciPy at rtol {rtol:g}", run().q[-1], theirs.y[:7, -1], 1e3 * rtol)
        times = best({"torsor": run, "SciPy": peer}, rounds=rounds)
        name = f"adaptive, rtol {rtol:g}: "
        table[name + "evaluations of SciPy"] = float(theirs.nfev)
        own = int(flow.run(0.0, end, q, v, **tolerances).evaluations)
        table[name + "evaluations, of SciPy's (goal: at most 1.1)"] = own / theirs.nfev
        table[name + "simulate, ms"] = 1e3 * times["torsor"]
        table[name + "SciPy's time, of simulate's (goal: at least 20)"] = times["SciPy"] / times["torsor"]
    return table


def derivatives_of_a_motion(arm: torsor.Robot, rounds: int) -> dict[str, float]:
    """1,000 RK4 steps under torques for each: sensitivities beside the run itself and beside central differences of runs."""
    q, steps, nv = TARGET + 0.2, 1000, 7
    tau = torsor.gravity_forces(arm, q) + 0.1 * np.random.default_rng(0).normal(size=(steps, nv))
    options = {"duration": steps * DT, "dt": DT, "within_limits": False}
    run = torsor.simulate(arm, q, np.zeros(nv), tau=tau, **options)
    h, one, none = 1e-6, np.eye(nv), np.zeros((2 * nv, nv))
    starts = q + h * np.concatenate([one, -one, none]), h * np.concatenate([none, one, -one])
    forces = np.tile(tau, (4 * nv, 1, 1))

    def differences():
        ends = torsor.simulate(arm, *starts, tau=forces, **options)
        x = np.concatenate([ends.q, ends.v], axis=-1)
        by_q, by_v = (x[k : k + nv] - x[k + nv : k + 2 * nv] for k in (0, 2 * nv))
        return np.moveaxis(np.concatenate([by_q, by_v]) / (2 * h), 0, -1)

    weights, direction = np.ones((1, 2 * nv)), np.ones(2 * nv)
    calls = {
        "the run itself": lambda: torsor.simulate(arm, q, np.zeros(nv), tau=tau, **options),
        "along one direction": lambda: sensitivities(run).pushforward(direction, tau),
        "gradient by start and all 7,000 torques": lambda: sensitivities(run).pullback(weights),
        "gradient by these and all inertias": lambda: sensitivities(run, wrt="inertias").pullback(weights),
        "all states by the start, exact": lambda: sensitivities(run).by_start(),
        "all states by the start, central differences": differences,
    }
    exact, near = calls["all states by the start, exact"](), differences()
    require("differences of runs", near / np.abs(exact).max(), exact / np.abs(exact).max(), 1e-5)
    times = {f"derivatives, 1,000 steps: {who}, ms": 1e3 * s for who, s in best(calls, rounds=rounds).items()}
    gradient, itself = "gradient by start and all 7,000 torques", "the run itself"
    of = "derivatives, 1,000 steps: {}, ms".format
    return times | {"derivatives: that gradient's time, of the run's": times[of(gradient)] / times[of(itself)]}


def first_call() -> dict[str, float]:
    """Seconds of the first simulation in a new process, with an empty cache and with a full one."""
    code = (
        f"import sys, time; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
        "import torsor\nfrom robots import torsor_robot\nfrom simulation import TARGET, law\narm = torsor_robot('panda7')\n"
        "torsor.inverse_dynamics(torsor.robots.pendulum(), [0.], [0.], [0.])\n"  # LLVM itself starts here
        "t = time.process_time(); torsor.simulate(arm, TARGET, 0 * TARGET, duration=1.0, dt=1e-3, controller=law)\n"
        "print(time.process_time() - t)"
    )
    with tempfile.TemporaryDirectory() as place:
        return {
            f"first call, 1,000 steps, {what} cache, s of processor time": float(run_python(code, place))
            for what in ("empty", "full")
        }


def by_hand(arm: torsor.Robot):
    """The step as a user writes it with `torsor.scan`: RK4 with the controller's answer held."""

    def step(robot, q, v):
        tau = law(0.0, q, v)

        def acceleration(q, v):
            return torsor.forward_dynamics(robot, q, v, tau)

        a1 = acceleration(q, v)
        v2 = v + 0.5 * DT * a1
        a2 = acceleration(q + 0.5 * DT * v, v2)
        v3 = v + 0.5 * DT * a2
        a3 = acceleration(q + 0.5 * DT * v2, v3)
        v4 = v + DT * a3
        a4 = acceleration(q + DT * v3, v4)
        return {"q": q + DT / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4), "v": v + DT / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)}

    return torsor.scan(step, arm, {"q": 7, "v": 7})


def pinocchio_loop(q, v, steps: int = STEPS):
    """The same steps around `pinocchio.aba`, each state kept; None where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pin.buildModelFromUrdf(str(path_of("panda7")))
    data = model.createData()

    def run():
        x, w = q, v
        qs, vs = np.empty((steps, 7)), np.empty((steps, 7))
        for k in range(steps):
            tau = law(0.0, x, w)
            a1 = pin.aba(model, data, x, w, tau)
            w2 = w + 0.5 * DT * a1
            a2 = pin.aba(model, data, x + 0.5 * DT * w, w2, tau)
            w3 = w + 0.5 * DT * a2
            a3 = pin.aba(model, data, x + 0.5 * DT * w2, w3, tau)
            w4 = w + DT * a3
            a4 = pin.aba(model, data, x + DT * w3, w4, tau)
            x, w = x + DT / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4), w + DT / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            qs[k], vs[k] = x, w
        return qs[-1]

    return run


def mujoco_rollout(q, v):
    """`mujoco.rollout` with the law as actuators, contacts and limits off; None where it is not installed."""
    try:
        import mujoco
        from mujoco import rollout
    except ImportError:
        return None
    text = path_of("panda7").read_text().replace('<link name="world"/>', '<link name="base_of_all"/>')
    spec = mujoco.MjSpec.from_string(text.replace('<parent link="world"/>', '<parent link="base_of_all"/>'))
    for joint, kp, kd in zip(spec.joints, KP, KD, strict=True):
        spec.add_actuator(
            name=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            target=joint.name,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            gainprm=[kp] + [0.0] * 9,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            biasprm=[0.0, -kp, -kd] + [0.0] * 7,
        )
    model = spec.compile()
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = DT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.actuator_forcelimited[:] = 0
    model.jnt_actfrclimited[:] = 0
    data = mujoco.MjData(model)
    start = np.zeros((len(q), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1:8], start[:, 8:15] = q, v
    control = np.broadcast_to(TARGET, (len(q), MANY_STEPS, 7)).copy()
    return lambda: rollout.rollout(model, data, start, control)[0]


def require(who: str, found, wanted, tolerance: float = AGREEMENT) -> None:
    """Refuse to compare the times of those who do not compute the same."""
    worst = np.abs(np.asarray(found) - wanted).max()
    if not worst < tolerance:
        raise AssertionError(f"{who} ends {worst:.1e} away from the others.")
