"""Simulated motions against closed forms and MuJoCo; events; batches and sizes of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from test_plant import G, chain, crossing, pendulum, slider

import torsor
from torsor.simulation import Event, Stops

special = pytest.importorskip("scipy.special")
pytestmark = pytest.mark.compiled  # as users run them


# Closed forms


@pytest.mark.parametrize("amplitude", [0.1, 1.5, 3.0])
def test_the_period_of_a_pendulum_is_an_elliptic_integral(amplitude):
    period = 4.0 * np.sqrt(1.0 / G) * special.ellipk(np.sin(amplitude / 2) ** 2)
    run = torsor.simulate(pendulum(), [amplitude], [0.0], duration=period, dt=period / 400)
    np.testing.assert_allclose(run.q[-1], amplitude, atol=2e-7)
    np.testing.assert_allclose(run.q[200], -amplitude, atol=2e-7)
    assert run.audit().residual < 1e-8


def test_a_free_body_flies_along_a_parabola_and_an_axial_top_precesses():
    I, I3 = 0.2, 0.5
    body = torsor.Inertia(mass=2.0, rotational=np.diag([I, I, I3]))
    robot = torsor.assemble([torsor.Joint(name="body", kind="free", inertia=body)], gravity=(0, 0, -G))
    w, u = np.array([0.3, 0.0, 2.0]), np.array([1.0, 0.5, 3.0])
    run = torsor.simulate(robot, robot.neutral, np.concatenate([w, u]), duration=1.0, dt=0.005)
    t = run.time[:, None]
    poses = torsor.frame_pose(robot, run.q, "body_link")
    np.testing.assert_allclose(poses[:, :3, 3], u * t + [0, 0, -0.5 * G] * t**2, atol=1e-9)
    rate = (I3 - I) / I * w[2]  # Euler's equations for I₁ = I₂: the velocity turns in the body at this rate
    turned = 0.3 * np.stack([np.cos(rate * run.time), np.sin(rate * run.time)], axis=-1)
    np.testing.assert_allclose(run.v[:, :2], turned, atol=1e-9)
    np.testing.assert_allclose(run.v[:, 2], 2.0, atol=1e-12)


def test_mujoco_takes_the_same_steps():
    """RK4 on one-freedom joints is the same formula: results agree to rounding that has grown a little."""
    mujoco = pytest.importorskip("mujoco")
    from mujoco_model import compiled, load

    text = """
    <mujoco><option timestep="0.002" integrator="RK4" gravity="0 0 -9.81"><flag constraint="disable" contact="disable"/></option>
    <worldbody><body name="a"><joint name="j1" type="hinge" axis="0 1 0" damping="0.3"/>
      <inertial pos="0.1 0 -0.4" mass="2" diaginertia="0.1 0.12 0.05"/>
      <body name="b" pos="0 0 -0.8"><joint name="j2" type="hinge" axis="1 1 0"/>
        <inertial pos="0 0.05 -0.3" mass="1" diaginertia="0.05 0.04 0.01"/>
        <body name="c" pos="0 0 -0.6"><joint name="j3" type="slide" axis="0 0 1"/>
          <inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/></body></body></body></worldbody></mujoco>"""
    model, robot = compiled(text), load(text)
    data = mujoco.MjData(model)
    q, v, tau = np.array([0.4, -0.7, 0.1]), np.array([0.5, 1.0, -0.3]), np.array([0.6, -0.2, 5.0])
    data.qpos, data.qvel, data.qfrc_applied = q, v, tau
    run = torsor.simulate(robot, q, v, duration=0.6, dt=0.002, tau=tau)
    for k in range(300):
        mujoco.mj_step(model, data)
        assert np.abs(data.qpos - run.q[k + 1]).max() < 1e-11 and np.abs(data.qvel - run.v[k + 1]).max() < 1e-11


# Events


def swing(**options: object) -> torsor.Trajectory:
    return torsor.simulate(pendulum(), [1.0], [0.0], duration=3.0, dt=0.01, **options)


def test_events_are_located_to_the_accuracy_of_the_steps():
    quarter = np.sqrt(1.0 / G) * special.ellipk(np.sin(0.5) ** 2)
    run = swing(
        events=[Event(lambda t, q, v: q[0], name="zero"), Event(lambda t, q, v: v[0], direction=-1, name="top")]
    )
    zeros = [e.time for e in run.events if e.name == "zero"]
    tops = [e.time for e in run.events if e.name == "top"]
    np.testing.assert_allclose(zeros, quarter * np.array([1, 3, 5]), atol=1e-8)
    np.testing.assert_allclose(tops, [4 * quarter], atol=1e-8)  # only where the velocity falls through zero
    assert all(abs(e.q[0]) < 1e-13 for e in run.events if e.name == "zero")
    np.testing.assert_allclose(run.q, swing().q, atol=1e-9)  # located, and nothing else happened
    assert len(run) == 301


def test_directions():
    for direction, expected in ((1, 1), (-1, 2), (0, 3)):
        assert len(swing(events=Event(lambda t, q, v: q[0], direction=direction)).events) == expected


@pytest.mark.parametrize("options", [{}, {"every": 7}, {"tau": [0.5]}, {"tau": np.full((300, 1), 0.5)}])
def test_a_terminal_event_ends_the_motion_there(options):
    run = swing(events=crossing(0.2, terminal=True, name="there"), **options)
    assert run.time[-1] == run.events[0].time and abs(run.q[-1, 0] - 0.2) < 1e-14 and len(run.events) == 1
    assert np.all(np.diff(run.time) > 0) and not run.interrupted
    assert np.all(np.isfinite(run.a)) and np.all(np.isfinite(run.tau))
    a = torsor.forward_dynamics(run.robot, run.q[-1], run.v[-1], run.tau[-1])
    np.testing.assert_allclose(run.a[-1], a, atol=1e-12)
    assert run.audit().residual < 1e-7
    assert run.tau[-1, 0] == (0.5 if "tau" in options else 0.0)


def test_a_terminal_event_at_the_very_end_and_none_at_the_very_beginning():
    for end in (0.3, np.nextafter(0.3, 0.0)):
        run = torsor.simulate(
            slider(), [0.0], [1.0], duration=0.3, dt=0.1, events=Event(lambda t, q, v, end=end: t - end, terminal=True)
        )
        assert abs(run.time[-1] - 0.3) < 1e-15
    none = torsor.simulate(slider(), [0.0], [1.0], duration=0.3, dt=0.1, events=crossing(0.0, terminal=True))
    assert len(none) == 4 and none.events == ()


def test_no_function_of_the_user_is_asked_about_states_that_do_not_exist():
    seen = []

    def law(t, q, v):
        seen.append((t, *q, *v))
        return -q

    torsor.simulate(
        slider(), [0.0], [1.0], duration=1.0, dt=0.1, controller=law, control_dt=0, events=crossing(0.25, terminal=True)
    )
    q = np.array([[0.0], [0.0]])
    torsor.simulate(
        slider(), q, np.array([[1.0], [0.1]]), duration=1.0, dt=0.1, events=crossing(0.25, terminal=True),
        wrenches={"slide_link": lambda t, q, v: (seen.append((t, *q, *v)), np.zeros(6))[1]},
    )  # fmt: skip
    numbers = np.array(seen)
    assert np.all(np.isfinite(numbers)) and np.all(np.abs(numbers) < 2.0)


def test_an_action_gives_a_kick():
    kick = crossing(0.55, direction=1, action=lambda t, q, v: (q, -2.0 * v), name="kick")
    run = torsor.simulate(slider(), [0.0], [1.0], duration=1.0, dt=0.1, events=kick)
    np.testing.assert_allclose(run.q[-1], 0.55 - 2.0 * 0.45, atol=1e-13)
    assert run.events[0].v == 1.0
    stuck = torsor.simulate(
        slider(mass=2.0, coulomb_friction=3.0), [0.0], [0.0], duration=1.0, dt=0.1,
        events=Event(lambda t, q, v: t - 0.25, action=lambda t, q, v: (q, v + 0.3)),
    )  # fmt: skip
    np.testing.assert_allclose(stuck.q[-1], 0.5 * 0.3**2 * 2.0 / 3.0, atol=1e-13)


def test_several_events_in_one_step_come_in_their_order():
    events = [crossing(x, name=f"{x}") for x in (0.17, 0.12, 0.15, 0.12)]
    run = torsor.simulate(slider(), [0.0], [1.0], duration=0.5, dt=0.1, events=events)
    assert [e.name for e in run.events] == ["0.12", "0.12", "0.15", "0.17"]
    np.testing.assert_allclose([e.time for e in run.events], [0.12, 0.12, 0.15, 0.17], atol=1e-14)


def test_events_and_stops_in_one_step():
    robot = slider(lower=-1.0, upper=0.14)
    events = [crossing(0.12, name="there"), Event(lambda t, q, v: v[0] + 0.5, name="back")]
    run = torsor.simulate(robot, [0.0], [1.0], duration=0.3, dt=0.1, events=events, stops=Stops(restitution=1.0))
    np.testing.assert_allclose([e.time for e in run.events if e.name == "there"], [0.12, 0.16], atol=1e-13)
    np.testing.assert_allclose(run.q[-1], 0.14 - 0.16, atol=1e-13)


def test_terminal_events_of_a_batch_leave_nan_behind():
    speeds = np.array([[1.0], [2.0], [0.1]])
    run = torsor.simulate(
        slider(), np.zeros((3, 1)), speeds, duration=1.0, dt=0.1, events=crossing(0.55, terminal=True)
    )
    ended = run.time > 0.55 / speeds
    assert np.array_equal(np.isnan(run.q[..., 0]), ended) and np.array_equal(np.isnan(run.tau[..., 0]), ended)
    assert [e.trajectory for e in run.events] == [(0,), (1,)] or [e.trajectory for e in run.events] == [(1,), (0,)]
    assert run.audit().residual < 1e-14
    assert [len(run.of(k).events) for k in range(3)] == [1, 1, 0]


# Sizes


@pytest.mark.parametrize(
    "robot",
    [
        slider(gravity=G, lower=0.0, coulomb_friction=0.5),
        chain(gravity=G, first={"lower": 0.0, "coulomb_friction": 1.0}, second={"upper": 0.3}),
    ],
    ids=["one joint", "two joints"],
)
def test_a_batch_is_each_motion_alone_to_the_last_bit(robot):
    rng = np.random.default_rng(3)
    q, v = rng.uniform(0.0, 0.3, (2, 3, robot.nv)), rng.normal(size=(2, 3, robot.nv))
    options = {"duration": 0.3, "dt": 0.01, "stops": Stops(restitution=0.3)}
    together = torsor.simulate(robot, q, v, **options)
    assert together.q.shape == (2, 3, 31, robot.nq)
    for k in np.ndindex(2, 3):
        alone = torsor.simulate(robot, q[k], v[k], **options)
        for name in ("q", "v", "a", "tau"):
            assert np.array_equal(getattr(together.of(*k), name), getattr(alone, name)), name
        assert np.array_equal(together.work.stops[k], alone.work.stops)


@pytest.mark.parametrize(
    "options", [{}, {"controller": lambda t, q, v: -q}, {"tau": np.ones(1)}, {"tau": lambda t: np.ones(1)}]
)
@pytest.mark.parametrize("control_dt", [None, 0.0])
def test_a_batch_of_none(options, control_dt):
    if control_dt is not None and "controller" not in options:
        return
    robot, none = slider(gravity=G, lower=0.0, coulomb_friction=0.5), np.zeros((0, 1))
    for compile_controller in (None, False) if "controller" in options else (None,):
        run = torsor.simulate(
            robot,
            none,
            none,
            duration=0.2,
            dt=0.1,
            control_dt=control_dt,
            compile_controller=compile_controller,
            **options,
        )
        assert run.q.shape == run.tau.shape == (0, 3, 1) and run.notes == () and run.audit().residual == 0.0


def test_sixty_joints():
    robot = torsor.robots.random_tree(60, seed=1, kinds=("revolute",), serial=True)
    q = np.zeros(60)
    with torsor.backend("numpy"):  # three steps, which are sooner taken than compiled
        run = torsor.simulate(robot, q, q, duration=3e-4, dt=1e-4)
    assert run.q.shape == (4, 60) and run.audit().residual < 1e-6


def test_no_time_and_every_third_step():
    robot = slider(gravity=G, lower=0.0)
    still = torsor.simulate(robot, [0.2], [0.1], duration=0.0, dt=0.1)
    assert len(still) == 1 and still.q[0, 0] == 0.2 and np.isclose(still.a[0, 0], -G)
    whole = torsor.simulate(robot, [0.2], [0.1], duration=0.5, dt=0.01, stops=Stops(restitution=0.5))
    some = torsor.simulate(robot, [0.2], [0.1], duration=0.5, dt=0.01, stops=Stops(restitution=0.5), every=3)
    places = [*range(0, 51, 3), 50]
    for name in ("time", "q", "v", "a", "tau"):
        assert np.array_equal(getattr(some, name), getattr(whole, name)[places]), name
    assert np.array_equal(some.work.stops, whole.work.stops[places]) and some.notes == whole.notes
