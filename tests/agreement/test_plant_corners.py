"""Corners of a simulated plant: stops without room, starts at a stop, actions, interrupts, motions that do not end."""

from __future__ import annotations

import dataclasses
import functools
import threading

import numpy as np
import pytest

import torsor
from torsor.errors import ArgumentError, SimulationDiverged
from torsor.simulation import Event, Stops, careful

pytestmark = pytest.mark.compiled

G = 9.81
ARM = torsor.robots.planar2r()
Q, V = np.array([0.3, -0.2]), np.array([0.1, 0.4])
STEPS = {
    "rk4": {"dt": 0.01},
    "variational": {"dt": 0.01, "method": "variational"},
    "implicit_midpoint": {"dt": 0.01, "method": "implicit_midpoint"},
    "adaptive": {},
}
EVERY = pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS.keys())


def slider(gravity: float = 0.0, name: str = "slide", **joint) -> torsor.Robot:
    made = torsor.Joint(name=name, kind="prismatic", axis=(0, 0, 1), inertia=torsor.Inertia(mass=1.0), **joint)
    return torsor.assemble([made], gravity=(0, 0, -gravity))


# Stops


@EVERY
@pytest.mark.parametrize("e", [0.0, 1.0])
def test_a_joint_between_two_stops_that_are_one_stays_there(steps, e):
    robot = slider(G, lower=0.5, upper=0.5)
    run = torsor.simulate(robot, [0.5], [1.0], duration=0.1, stops=Stops(restitution=e), **steps)
    assert np.all(run.q == 0.5) and np.all(run.v[1:] == 0.0) and run.audit().residual == 0.0
    assert len(run.notes) == 1 and "stop from 0 s." in run.notes[0]


@EVERY
@pytest.mark.parametrize("v", [0.0, 1.0])
def test_a_motion_that_begins_where_a_soft_stop_does(steps, v):
    """Half of an oscillation below zero under gravity, m ẍ = −k x − m g."""
    k = 400.0
    robot = slider(G, lower=0.0)
    run = torsor.simulate(robot, [0.0], [-v], duration=0.1, stops=Stops(stiffness=k), **steps)
    rest, w, t = -G / k, np.sqrt(k), run.time
    exact = rest - rest * np.cos(w * t) - v / w * np.sin(w * t)
    order = {"variational": 2, "implicit_midpoint": 2}.get(steps.get("method"), 4)
    assert np.abs(run.q[:, 0] - exact).max() < {2: 1e-3, 4: 2e-6}[order]


@EVERY
def test_impacts_come_to_an_end_and_the_joint_to_rest(steps):
    run = torsor.simulate(slider(G, lower=0.0), [0.05], [0.0], duration=0.5, stops=Stops(restitution=0.5), **steps)
    fall = np.sqrt(2 * 0.05 / G)
    assert run.q[-1] == 0.0 and run.v[-1] == 0.0 and run.audit().residual < 1e-9
    # t (1 + 2 Σ eᵏ) = 3 t with e = ½
    assert any(note == f"slide at its lower stop from {3 * fall:.4g} s." for note in run.notes)


# Actions of events


@EVERY
def test_an_action_may_put_a_joint_beyond_its_stop_and_the_audit_knows(steps):
    def lifts(t, q, v):
        return q + 5.0, v

    event = Event(lambda t, q, v: t - 0.205, action=lifts, name="crane")
    run = torsor.simulate(slider(G, lower=-2.0, upper=2.0), [1.0], [0.0], duration=0.4, events=event, **steps)
    assert run.audit().residual < 1e-9 and run.work.wrenches[-1] == pytest.approx(5.0 * G)
    np.testing.assert_allclose(run.q[-1], 6.0 - 0.5 * G * 0.16, atol=1e-9)
    assert run.notes == ("event 'crane' put slide beyond its upper stop at 0.205 s; it is kept from going further.",)


def test_an_action_that_gives_no_numbers_is_refused():
    event = Event(lambda t, q, v: t - 0.05, action=lambda t, q, v: (np.nan * q, v), name="lost")
    with pytest.raises(
        ArgumentError, match=r"the action of event 'lost' must return a state .* of finite numbers, got"
    ):
        torsor.simulate(slider(), [0.0], [1.0], duration=0.1, dt=0.01, events=event)


# Friction


@EVERY
def test_friction_with_a_width_acts_in_every_method(steps):
    robot = slider(coulomb_friction=2.0).with_coulomb_width(0.05)
    run = torsor.simulate(robot, [0.0], [1.0], duration=0.3, tau=[1.0], **steps)
    np.testing.assert_allclose(run.v[-1], 0.7, atol=1e-9)  # tanh is 1 there
    assert run.audit().residual < 1e-5 and run.work.friction[-1] == pytest.approx(2.0 * run.q[-1, 0], rel=1e-5)


@pytest.mark.parametrize("viscous", [1e2, 1e4, 1e6, 1e9])
def test_strong_friction_takes_the_speed_away_in_midpoint_steps(viscous):
    robot = slider(G, viscous_friction=viscous)
    run = torsor.simulate(robot, [0.0], [1.0], duration=0.5, dt=0.01, method="implicit_midpoint")
    assert abs(run.v[-1, 0] + G / viscous) < 1e-6 * G / viscous + 1e-12
    assert abs(run.q[-1, 0] - (1.0 - 0.5 * G) / viscous) < 0.2 / viscous


@pytest.mark.parametrize("viscous", [1e4, 1e6, 1e8])
def test_strong_friction_leaves_a_block_where_it_stops(viscous):
    """A block of mass m that slides with v comes to rest m v / d away, in RK4's steps too, which are longer than that takes."""
    run = torsor.simulate(slider(viscous_friction=viscous), [0.0], [1.0], duration=0.1, dt=0.01)
    assert run.q[1:, 0] == pytest.approx(
        1.0 / viscous, rel=0.1
    )  # v itself is damped to h⁻¹ d⁻¹ of what it was, not to zero
    assert run.q[-1, 0] == pytest.approx(1.0 / viscous, rel=2e-3)


def test_modes_that_change_without_end_do_not_lead_through_a_stop():
    """The book's Euler steps are not stable under such friction: the joint goes from stop to stop, a hundred times in a step."""
    robot = slider(viscous_friction=1e8, lower=-0.1, upper=0.1)
    run = torsor.simulate(
        robot, [0.0], [1.0], duration=0.01, dt=1e-3, method="euler", stops=Stops(restitution=1.0), tau=[1.0]
    )
    assert np.abs(run.q).max() <= 0.1 + 1e-12 and np.isfinite(run.v).all()


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["implicit_midpoint", "variational"])
def test_derivatives_are_those_of_the_steps_with_friction(method):
    from torsor.simulation import sensitivities

    robot = ARM.with_parameters(coulomb_friction=np.full(2, 2.0)).with_coulomb_width(0.3)
    if method == "implicit_midpoint":
        robot = ARM.with_parameters(viscous_friction=np.full(2, 500.0))

    def run(x):
        return torsor.simulate(robot, x[:2], x[2:], duration=0.06, dt=0.02, method=method, within_limits=False)

    def end(x):
        return np.concatenate([run(x).q[-1], run(x).v[-1]])

    x, e = np.concatenate([Q, V]), 1e-6
    slope = np.transpose([(end(x + d) - end(x - d)) / (2 * e) for d in e * np.eye(4)])
    np.testing.assert_allclose(sensitivities(run(x)).by_start()[-1], slope, atol=1e-7)


def test_friction_that_is_too_fast_for_adaptive_steps_is_refused_in_words():
    with pytest.raises(ArgumentError, match="viscous friction of robot 'robot' is too fast for adaptive steps"):
        torsor.simulate(slider(viscous_friction=1e9), [0.0], [1.0], duration=1.0)


def test_the_notes_of_adaptive_steps_say_how_long_friction_held():
    for control_dt, held in ((0.0, 0.2), (0.01, 0.21)):
        run = torsor.simulate(
            slider(coulomb_friction=2.0),
            [0.0],
            [0.0],
            duration=0.5,
            controller=lambda t, q, v: 10 * (t - q),
            control_dt=control_dt,
        )
        assert run.notes == (f"friction held slide for {held:g} s in all, first at 0 s.",)


@pytest.mark.parametrize("name", ["", " ", "a'b\"c", "{0}", "%s", "стол", "x" * 200, "a\nb"])
def test_names_of_any_kind_stand_in_notes(name):
    try:
        robot = slider(G, name=name, lower=0.0)
    except torsor.errors.TorsorError:
        return  # such a joint cannot be made
    run = torsor.simulate(robot, [0.0], [0.0], duration=0.1, dt=0.05)
    assert run.notes == (f"{name} at its lower stop from 0 s.",)


def test_two_joints_that_knock_each_other_off_their_stops_come_to_rest_there():
    """They did so for ever, a rounding error of their places away, and what was left of each step was not taken by the others."""
    robot, tau = torsor.robots.ur5(), [150.0, -150.0, 1.0, 28.0, 28.0, 1.0]
    q = [4.932555, -2.006414, np.pi, 4.873775, 5.276221, -2.0 * np.pi]
    v = [49.65458, -31.28156, 0.0, 72.26578, 49.97164, 1.3e-9]
    coarse, fine = (torsor.simulate(robot, q, v, duration=5e-3, dt=dt, tau=tau) for dt in (1e-3, 1e-4))
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=1e-6)
    assert fine.q[-1, 0] - q[0] > 0.2  # 5 ms at some 45 rad/s
    assert np.all(fine.v[-1, [2, 5]] == 0.0) and fine.audit().residual < 1e-9


def test_a_step_whose_modes_change_without_end_is_told(monkeypatch):
    monkeypatch.setattr(careful, "MOST", 1)  # as if the second bounce were one too many
    run = torsor.simulate(slider(G, lower=0.0), [1e-3], [0.0], duration=0.1, dt=0.1, stops=Stops(restitution=0.9))
    (told,) = (note for note in run.notes if "changed more than" in note)
    assert "within one step at 0.01428 s; in all the robot stood still for 0.0857 s: the motion is wrong there." in told


# The end of a motion that has none


def test_what_there_is_before_adaptive_steps_diverge_is_in_the_error():
    with pytest.raises(SimulationDiverged) as caught:
        torsor.simulate(
            slider(), [0.0], [1.0], duration=5.0, controller=lambda t, q, v: v * v, control_dt=0, within_limits=False
        )
    found = caught.value.trajectory  # v = 1/(1 − t)
    assert found.interrupted and found.time[-1] == pytest.approx(1.0, abs=1e-3) and len(found.time) > 20
    np.testing.assert_allclose(found.v[10, 0], 1 / (1 - found.time[10]), rtol=1e-6)


def test_forces_that_are_no_numbers_end_adaptive_steps_where_they_are_asked():
    def law(t, q, v):
        return -v if t < 0.25 else np.nan * v

    with pytest.raises(
        SimulationDiverged, match=r"asked for at 0\.3 s are not finite, first in joint 'joint_1'"
    ) as caught:
        torsor.simulate(ARM, Q, V, duration=1.0, controller=law, control_dt=0.1)
    found = caught.value.trajectory
    assert found.time[-1] == pytest.approx(0.3) and np.all(np.isfinite(found.tau)) and np.all(np.isfinite(found.a))


# Ctrl-C


class Interrupts:
    """A function that is called from Python, and stopped at one of its calls."""

    def __init__(self, at: int, value) -> None:
        self.left, self.value = at, value

    def __call__(self, *given):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.value(*given)


@pytest.mark.parametrize(
    ("what", "when"), [("law", 30), ("held", 1), ("held", 5), ("wrench", 30), ("base", 30), ("event", 5)]
)
@pytest.mark.parametrize("steps", [STEPS["rk4"], STEPS["adaptive"]], ids=["rk4", "adaptive"])
def test_ctrl_c_anywhere_gives_what_there_is(steps, what, when):
    still = (np.zeros(6), np.zeros(6))
    given = {
        "law": {"controller": Interrupts(when, lambda t, q, v: -v), "control_dt": 0},
        "held": {"controller": Interrupts(when, lambda t, q, v: -v), "control_dt": 0.01},
        "wrench": {"wrenches": {"tip": Interrupts(when, lambda t, q, v: np.zeros(6))}},
        "base": {"base_motion": Interrupts(when, lambda t: still)},
        "event": {"events": Event(Interrupts(when, lambda t, q, v: 1.0))},
    }[what]
    with torsor.backend("numpy"):  # which takes what there is to take from Python
        run = torsor.simulate(ARM, Q, V, duration=0.2, within_limits=False, **given, **steps)
    assert run.interrupted and (run.time[-1] < 0.2 or what == "event")
    assert np.all(np.diff(run.time) > 0.0) and np.all(np.isfinite(run.v)) and np.all(np.isfinite(run.a))


def test_moments_are_located_with_few_steps_where_margins_are_steep(monkeypatch):
    """Euler's steps under friction 10⁸ times too fast for them: margins that fall at once, beside others that hardly change."""
    calls, made = {"_step": 0, "_located": 0}, careful.CarefulStep

    def counting(name: str, own):
        def counted(*given):
            calls[name] += 1
            return own(*given)

        return counted

    for name in calls:
        monkeypatch.setattr(made, name, counting(name, getattr(made, name)))
    tree = torsor.robots.random_tree(3, seed=8, kinds=("revolute", "prismatic", "prismatic"), serial=True)
    tree = tree.with_parameters(viscous_friction=np.array([1e8, 0.1, 1e8]), coulomb_friction=np.array([50.0, 2.0, 0.1]))
    run = torsor.simulate(tree, np.zeros(3), np.array([1.0, -2.0, 0.5]), duration=3e-3, dt=1e-3, method="euler")
    assert np.all(np.isfinite(run.q)) and calls["_located"] > 10
    assert calls["_step"] < 32 * calls["_located"]


@pytest.mark.parametrize("batch", [(), (2,)])
def test_a_step_that_meets_a_stop_is_asked_for_once(batch):
    """A law that is called from Python, and Ctrl-C before, within and behind the sixth step, in which the stop is met."""
    robot = slider(upper=0.5)
    q, v = np.full((*batch, 1), -0.02), np.ones((*batch, 1))
    for when in (*range(4, 9), 11):
        asked = []

        def law(t, q, v, asked=asked, when=when):
            asked.append(t)
            if len(asked) == when:
                raise KeyboardInterrupt
            return np.zeros_like(v)

        run = torsor.simulate(robot, q, v, duration=1.0, dt=0.1, controller=law)
        assert run.interrupted == (when < 11) and len(run) == min(when, 11)
        np.testing.assert_allclose(asked, 0.1 * np.arange(min(when, 10)), atol=1e-14)
        np.testing.assert_allclose(run.q[..., 0], np.broadcast_to(np.minimum(run.time - 0.02, 0.5), (*batch, len(run))))


def test_ctrl_c_after_the_last_step_does_not_lose_it():
    """80 calls are those of the steps; the samples of the wrench are asked afterwards."""
    push = Interrupts(90, lambda t, q, v: np.zeros(6))
    run = torsor.simulate(ARM, Q, V, duration=0.2, dt=0.01, wrenches={"tip": push}, within_limits=False)
    assert run.interrupted and len(run.time) == 21 and np.all(np.isfinite(run.q))


@pytest.mark.compiled
@pytest.mark.parametrize("when", [0, 1, 2])
def test_ctrl_c_in_a_long_run_of_a_long_robot(monkeypatch, when):
    from torsor.simulation import variational_run

    robot = torsor.robots.chain(13)
    q, v = np.full(13, 0.1), np.zeros(13)
    given = {"dt": 1e-3, "method": "variational", "within_limits": False, "every": 500}
    whole = torsor.simulate(robot, q, v, duration=3.0, **given)
    loop, calls = variational_run._iterations(robot), []

    def interrupted(**asked):
        calls.append(asked["steps"])
        if len(calls) == when + 1:
            raise KeyboardInterrupt
        return loop(**asked)

    monkeypatch.setattr(variational_run, "_iterations", lambda robot: interrupted)
    run = torsor.simulate(robot, q, v, duration=3.0, **given)
    assert run.interrupted and len(run.time) == 1 + 2 * when and not whole.interrupted
    assert np.array_equal(run.q, whole.q[: len(run.time)])


def test_of_an_interrupted_batch_the_last_forces_are_those_of_that_time():
    """Trajectories may have come farther than the one that is cut; forces per step are those of the last sample."""
    tau = np.arange(40.0).reshape(20, 2)
    whole = torsor.simulate(ARM, Q, V, duration=0.2, dt=0.01, tau=tau, within_limits=False)
    push = {"tip": Interrupts(60, lambda t, q, v: np.zeros(6))}
    run = torsor.simulate(ARM, Q, V, duration=0.2, dt=0.01, tau=tau, within_limits=False, wrenches=push)
    assert run.interrupted
    np.testing.assert_allclose(run.tau, whole.tau[: len(run.time)], atol=1e-13)


# Threads


@pytest.mark.compiled
def test_threads_may_simulate_at_once():
    found: dict[int, list[np.ndarray]] = {}

    def work(k: int) -> None:
        found[k] = [
            torsor.simulate(ARM, Q, V, duration=0.05, dt=1e-2, controller=lambda t, q, v: -k * q, stops=Stops(0.1 * e)).q[-1]
            for e in range(3)
        ]  # fmt: skip

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = dict(found)
    for k in range(3):
        work(k)
        assert np.array_equal(together[k], found[k])


# Orders and closed forms

KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
ORDERS = {"euler": 1, "semi_implicit_euler": 1, "implicit_midpoint": 2, "variational": 2, "rk4": 4}


@functools.cache
def end_of_a_motion(kind: str, steps: int, method: str) -> tuple[torsor.Robot, torsor.Trajectory]:
    robot = torsor.robots.random_tree(2, seed=4, kinds=(kind,), serial=True)
    robot = robot.with_parameters(viscous_friction=np.full(robot.nv, 0.05))
    q, v, _ = torsor.random_state(robot, seed=2)
    with torsor.backend("numpy"):
        return robot, torsor.simulate(
            robot, q, v, duration=0.1, dt=0.1 / steps, method=method, tau=lambda t: np.cos(9.0 * t) * np.ones(robot.nv)
        )


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_has_its_order_on_every_joint_kind(kind, method):
    order = ORDERS[method]
    (robot, exact), first = end_of_a_motion(kind, 64, "rk4"), {1: 16, 2: 8, 4: 4}[order]
    errors = []
    for steps in (first, 2 * first):
        run = end_of_a_motion(kind, steps, method)[1]
        with torsor.backend("numpy"):
            away = torsor.difference(robot, exact.q[-1], run.q[-1])
        errors.append(max(np.abs(away).max(), np.abs(run.v[-1] - exact.v[-1]).max()))
    low, high = {1: (1.6, 2.6), 2: (3.1, 5.2), 4: (10.0, 26.0)}[order]
    assert low < errors[0] / errors[1] < high


def test_a_body_that_turns_about_its_middle_axis_flips_over():
    """The Dzhanibekov effect against Jacobi's elliptic functions [LL76, §37]."""
    special = pytest.importorskip("scipy.special")
    inertia = np.array([1.0, 2.0, 3.0])
    body = torsor.assemble(
        [torsor.Joint(name="ball", kind="spherical", inertia=torsor.Inertia(mass=1.0, rotational=np.diag(inertia)))],
        gravity=(0, 0, 0),
    )
    start = np.array([0.02, 1.0, 0.01])
    run = torsor.simulate(
        body, body.neutral, start, duration=30.0, times=np.linspace(0.0, 30.0, 61), rtol=1e-11, atol=1e-13
    )
    E, L = run.kinetic, np.linalg.norm(run.v * inertia, axis=-1)
    assert np.ptp(E) < 1e-9 and np.ptp(L) < 1e-9
    I1, I2, I3 = inertia
    twice, squared = start**2 @ inertia, (start * inertia) ** 2 @ np.ones(3)
    # ω₁, ω₂, ω₃ are cn, sn, dn where L² > 2 E I₂, and with 1 and 3 exchanged where it is less
    if squared < twice * I2:
        (I1, I3), order = (I3, I1), [2, 1, 0]
    else:
        order = [0, 1, 2]
    rate = np.sqrt((I3 - I2) * (squared - twice * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (twice * I3 - squared) / ((I3 - I2) * (squared - twice * I1))
    sizes = np.sqrt([(twice * I3 - squared) / (I1 * (I3 - I1)), (twice * I3 - squared) / (I2 * (I3 - I2)),
                     (squared - twice * I1) / (I3 * (I3 - I1))])  # fmt: skip
    found = np.abs(run.v[:, order])
    phase = special.ellipkinc(np.arcsin(min(1.0, start[1] / sizes[1])), m)
    best = np.inf
    for sign in (1.0, -1.0):
        sn, cn, dn, _ = special.ellipj(rate * run.time * sign + phase, m)
        best = min(best, np.abs(found - sizes * np.abs([cn, sn, dn]).T).max())
    assert best < 1e-6
    assert run.v[:, 1].min() < -0.9  # it has turned over


def test_the_audit_closes_with_springs_too():
    robot = torsor.robots.random_tree(2, seed=11, kinds=("revolute", "prismatic"), serial=True)
    q, v, _ = torsor.random_state(robot, seed=2)
    robot = robot.with_parameters(
        coulomb_friction=np.full(2, 0.4),
        viscous_friction=np.array([0.1, 0.2]),
        stiffness=np.array([20.0, 30.0]),
        rest=q,
    )
    limits = robot.structure.limits._replace(lower=tuple((q - 0.05).tolist()), upper=tuple((q + 0.08).tolist()))
    robot = dataclasses.replace(robot, structure=dataclasses.replace(robot.structure, limits=limits))
    run = torsor.simulate(
        robot, q, v, duration=0.2, dt=5e-4, tau=lambda t: 5.0 * np.sin(4 * t) * np.ones(2), stops=Stops(0.4),
        wrenches={robot.frames[-1]: np.array([0.3, 0.0, 0.1, 1.0, 0.0, 0.5])},
    )  # fmt: skip
    assert run.audit().residual < 1e-10 and any("stop" in note for note in run.notes)
