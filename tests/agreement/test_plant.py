"""The plant of a simulation against closed forms: friction that sticks, stops, drives with limits, events."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import torsor
from torsor.simulation import Event, Stops

pytestmark = pytest.mark.compiled  # as users run them; `test_random_plants.py` has plants in NumPy
G = 9.81


def slider(*, mass: float = 2.0, gravity: float = 0.0, **joint: object) -> torsor.Robot:
    """A block on a vertical rail."""
    body = torsor.Inertia.sphere(0.1, mass=mass)
    rail = torsor.Joint(name="slide", kind="prismatic", axis=(0, 0, 1), inertia=body, **joint)
    return torsor.assemble([rail], gravity=(0, 0, -gravity), name="slider")


def pendulum(**joint: object) -> torsor.Robot:
    """A point mass of 1 kg, 1 m below its hinge."""
    bob = torsor.Inertia(mass=1.0, com=(0.0, 0.0, -1.0))
    return torsor.assemble([torsor.Joint(name="hinge", kind="revolute", axis=(1, 0, 0), inertia=bob, **joint)])


def chain(**options: object) -> torsor.Robot:
    """Two blocks on one rail, the second carried by the first."""
    one, two = (dict(options.pop(name, {})) for name in ("first", "second"))
    body = torsor.Inertia.sphere(0.1, mass=1.0)
    return torsor.assemble(
        [
            torsor.Joint(name="first", kind="prismatic", axis=(0, 0, 1), inertia=body, **one),
            torsor.Joint(name="second", kind="prismatic", axis=(0, 0, 1), parent="first_link", inertia=body, **two),
        ],
        gravity=(0, 0, -float(options.pop("gravity", 0.0))),
        name="chain",
    )


def crossing(level: float, *, of: int = 0, **options: object) -> Event:
    return Event(lambda t, q, v: q[of] - level, **options)


# Friction that sticks


@pytest.mark.parametrize("dt", [0.01, 0.003])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "euler"])
def test_a_sliding_block_stops_where_friction_has_taken_its_energy(dt, method):
    mass, c, v0 = 2.0, 3.0, 1.0
    run = torsor.simulate(slider(mass=mass, coulomb_friction=c), [0.0], [v0], duration=0.9, dt=dt, method=method)
    stop = v0 * mass / c
    assert np.all(run.v[run.time > stop] == 0.0)
    rest = run.q[run.time > stop]
    assert np.ptp(rest) == 0.0
    first_order = 0.0 if method == "rk4" else 0.6 * v0 * dt  # a method of first order is off by half a step
    assert abs(rest[0, 0] - 0.5 * v0 * stop) <= first_order + 1e-14
    assert run.notes == (f"friction held slide for {0.9 - stop:.4g} s in all, first at {stop:.4g} s.",)
    if method == "rk4":
        assert run.audit().residual < 1e-13
        assert abs(run.work.friction[-1] - 0.5 * mass * v0**2) < 1e-13


def test_half_the_coulomb_force_holds_for_ever_and_more_than_all_of_it_breaks_away():
    robot = slider(mass=2.0, coulomb_friction=3.0)
    held = torsor.simulate(robot, [0.25], [0.0], duration=10.0, dt=0.05, tau=[1.5])
    assert np.all(held.q == 0.25) and np.all(held.v == 0.0) and np.all(held.a == 0.0)
    assert held.work.friction[-1] == held.work.drives[-1] == 0.0
    ramp = torsor.simulate(robot, [0.0], [0.0], duration=2.0, dt=0.05, tau=lambda t: 2.0 * t * np.ones(1))
    moving = ramp.time > 1.5  # 2 t = 3; then m v = ∫ (2 t − 3) dt = (t − 1.5)²
    assert np.all(ramp.q[~moving] == 0.0)
    np.testing.assert_allclose(ramp.v[moving, 0], (ramp.time[moving] - 1.5) ** 2 / 2.0, atol=1e-12)
    np.testing.assert_allclose(ramp.q[moving, 0], (ramp.time[moving] - 1.5) ** 3 / 6.0, atol=1e-12)
    assert ramp.audit().residual < 1e-12


def test_a_block_that_turns_round_slides_back_more_slowly():
    """Up against weight and friction, at rest for no time, down against friction: c < m g."""
    mass, c, v0 = 2.0, 5.0, 3.0
    robot = slider(mass=mass, gravity=G, coulomb_friction=c)
    up, down = G + c / mass, G - c / mass
    top = v0 / up
    run = torsor.simulate(robot, [0.0], [v0], duration=1.0, dt=0.02)
    t = run.time
    q = np.where(t < top, v0 * t - 0.5 * up * t**2, 0.5 * v0 * top - 0.5 * down * (t - top) ** 2)
    np.testing.assert_allclose(run.q[:, 0], q, atol=1e-13)
    assert run.audit().residual < 1e-13


def test_forces_at_the_very_edge_of_friction_neither_hang_nor_move():
    """At, and by a rounding beside, the force at which joints break away: a motion is as small as that rounding."""
    robot = torsor.robots.random_tree(3, seed=3, kinds=("revolute",), serial=True)
    c = np.array([0.3, 0.2, 0.1])
    robot = robot.with_parameters(coulomb_friction=c)
    q = np.array([0.3, -0.2, 0.5])
    g = torsor.gravity_forces(robot, q)
    for edge in (1.0, -1.0, 1.0 - 2e-16, 1.0 + 1e-15):
        run = torsor.simulate(robot, q, np.zeros(3), duration=0.1, dt=0.01, tau=g + edge * c)
        assert np.abs(run.q - q).max() < 1e-12


def test_one_joint_is_held_while_the_other_slides():
    """The carried block slides; its friction pushes the carrying one, whose own friction holds."""
    robot = chain(first={"coulomb_friction": 5.0}, second={"coulomb_friction": 2.0})
    run = torsor.simulate(robot, [0.0, 0.0], [0.0, 1.0], duration=1.0, dt=0.01)
    stop = 0.5  # m v / c
    assert np.all(run.q[:, 0] == 0.0)
    np.testing.assert_allclose(run.q[-1, 1], 0.25, atol=1e-13)
    assert np.all(run.v[run.time > stop] == 0.0)
    weak = chain(first={"coulomb_friction": 0.5}, second={"coulomb_friction": 2.0})
    run = torsor.simulate(weak, [0.0, 0.0], [0.0, 1.0], duration=0.2, dt=0.01)
    # Absolute accelerations: the second −2, the first 2 − 0.5 = 1.5
    np.testing.assert_allclose(run.v[-1], [0.2 * 1.5, 1.0 - 0.2 * 3.5], atol=1e-13)


def test_friction_with_a_width_is_smooth_and_creeps():
    robot = slider(mass=2.0, coulomb_friction=3.0).with_coulomb_width(0.1)
    run = torsor.simulate(robot, [0.0], [0.0], duration=5.0, dt=0.01, tau=[1.5])
    np.testing.assert_allclose(run.v[-1, 0], 0.1 * np.arctanh(0.5), atol=1e-9)
    assert run.notes == ()


# Hard stops


def bounces(height: float, e: float, gravity: float, t: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Height (N,) of a ball that falls and comes back with e of its speed, and the times of its impacts."""
    q = np.zeros_like(t)
    first = np.sqrt(2.0 * height / gravity)
    q[t <= first] = height - 0.5 * gravity * t[t <= first] ** 2
    start, v, times = first, gravity * first * e, [first]
    for _ in range(200):
        flight = 2.0 * v / gravity
        here = (t > start) & (t <= start + flight)
        q[here] = v * (t[here] - start) - 0.5 * gravity * (t[here] - start) ** 2
        start, v = start + flight, v * e
        times.append(start)
    return q, times


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8])
def test_a_bouncing_ball_comes_to_rest_after_infinitely_many_impacts(e):
    dt = 0.01
    robot = slider(gravity=G, lower=0.0)
    run = torsor.simulate(robot, [0.5], [0.0], duration=3.5, dt=dt, stops=Stops(restitution=e))
    q, times = bounces(0.5, e, G, run.time)
    # Flights shorter than a step may end at the stop: after twelve impacts in one step, none is higher than g dt² / 8
    np.testing.assert_allclose(run.q[:, 0], q, atol=G * dt**2 / 8)
    long = run.time < next(x for x, y in itertools.pairwise(times) if y - x < 2 * dt)
    np.testing.assert_allclose(run.q[long, 0], q[long], atol=1e-12)
    assert np.all(run.q >= 0.0) and np.all(run.q[-20:] == 0.0) and np.all(run.v[-20:] == 0.0)
    assert run.audit().residual < 1e-13
    assert abs(run.work.stops[-1] + 2.0 * G * 0.5) < 1e-10
    (came_back, at_rest) = run.notes
    assert came_back.startswith("slide hit its lower stop and left it") and f"{times[0]:.4g} s" in came_back
    assert abs(float(at_rest.split()[-2]) - times[-1]) < 2 * dt


def test_a_perfect_stop_returns_all_the_speed():
    robot = slider(lower=-0.1, upper=0.2)
    run = torsor.simulate(robot, [0.0], [1.0], duration=3.0, dt=0.01, stops=Stops(restitution=1.0))
    phase = np.mod(run.time + 0.1, 0.6)
    np.testing.assert_allclose(run.q[:, 0], -0.1 + np.minimum(phase, 0.6 - phase), atol=1e-12)
    assert np.all(np.abs(np.abs(run.v) - 1.0) < 1e-12)


def test_a_joint_stays_at_its_stop_until_the_force_pulls_it_away():
    robot = slider(mass=2.0, upper=0.1)
    run = torsor.simulate(robot, [0.0], [1.0], duration=2.0, dt=0.01, tau=lambda t: (1.0 - t) * np.ones(1))
    t, at = run.time, run.time[np.flatnonzero(run.q[:, 0] == 0.1)]
    assert 0.09 < at[0] < 0.12 and abs(at[-1] - 1.0) < 0.011
    free = t > 1.0
    np.testing.assert_allclose(run.q[free, 0], 0.1 - (t[free] - 1.0) ** 3 / 12.0, atol=1e-12)
    assert len(run.notes) == 1 and run.notes[0].startswith("slide at its upper stop from 0.0976")
    assert run.notes[0].endswith("to 1 s.")
    assert run.audit().residual < 1e-12


def test_starts_at_a_stop():
    """At rest and pushed, at rest and pulled, moving in, moving out: each from the very place of the stop."""
    robot = slider(mass=2.0, lower=0.0)
    pushed = torsor.simulate(robot, [0.0], [0.0], duration=0.1, dt=0.01, tau=[-1.0])
    assert np.all(pushed.q == 0.0) and pushed.notes == ("slide at its lower stop from 0 s.",)
    pulled = torsor.simulate(robot, [0.0], [0.0], duration=0.1, dt=0.01, tau=[1.0])
    np.testing.assert_allclose(pulled.q[-1, 0], 0.25 * 0.01, atol=1e-15)
    assert pulled.notes == ()
    out = torsor.simulate(robot, [0.0], [1.0], duration=0.1, dt=0.01)
    np.testing.assert_allclose(out.q[-1, 0], 0.1, atol=1e-15)
    assert out.notes == ()


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_motion_that_starts_into_its_stop_begins_with_the_impact(e):
    run = torsor.simulate(slider(lower=0.0), [0.0], [-1.0], duration=0.1, dt=0.01, stops=Stops(restitution=e))
    assert np.all(run.v == e)
    assert run.work.stops[0] == 0.0 and run.audit().residual < 1e-14  # energies count from the state after it
    word = "hit its lower stop and left it at" if e else "at its lower stop from"
    assert run.notes == (f"slide {word} 0 s.",)


def test_a_start_beyond_a_stop_moves_the_stop_there():
    robot = slider(mass=2.0, lower=0.0)
    run = torsor.simulate(robot, [-0.3], [-1.0], duration=0.2, dt=0.01)
    assert np.all(run.q == -0.3)
    assert run.notes[0] == "slide starts beyond its lower stop, by up to 0.3; it is kept from going further."
    back = torsor.simulate(robot, [-0.3], [1.0], duration=0.5, dt=0.01)
    np.testing.assert_allclose(back.q[-1], 0.2, atol=1e-14)


@pytest.mark.parametrize("backend", ["compiled", "numpy"])
def test_two_joints_meet_their_stops_at_once(backend):
    robot = chain(gravity=G, first={"lower": 0.0}, second={"lower": 0.0})
    with torsor.backend(backend):
        the_stops_are_met_at_once(robot)


def the_stops_are_met_at_once(robot: torsor.Robot) -> None:
    run = torsor.simulate(robot, [0.2, 0.2], [0.0, 0.0], duration=0.4, dt=0.01)
    land = np.sqrt(0.4 / G)  # the first lands, and the second still falls by 0.2 from then on at that speed
    fall = 0.2 - G * land * (run.time - land) - 0.5 * G * (run.time - land) ** 2
    later = (run.time > land) & (fall > 0.0)
    np.testing.assert_allclose(run.q[later, 1], fall[later], atol=1e-12)
    assert np.all(run.q[-1] == 0.0) and run.audit().residual < 1e-13
    both = torsor.simulate(robot, [0.2, 0.0], [0.0, 0.0], duration=0.4, dt=0.01)
    assert np.all(both.q[run.time > land] == 0.0)
    np.testing.assert_allclose(both.q[run.time < land, 1], 0.0, atol=1e-14)


def test_an_impact_passes_through_a_chain():
    """The second block meets its stop while both move: they go on together, with their momentum."""
    robot = chain(second={"upper": 0.1})
    run = torsor.simulate(robot, [0.0, 0.0], [0.5, 1.0], duration=0.5, dt=0.01)
    np.testing.assert_allclose(run.v[-1], [0.5 + 0.5, 0.0], atol=1e-13)  # (0.5 + 1.5) / 2
    elastic = torsor.simulate(robot, [0.0, 0.0], [0.5, 1.0], duration=0.5, dt=0.01, stops=Stops(restitution=1.0))
    np.testing.assert_allclose(elastic.v[-1], [1.5, -1.0], atol=1e-13)  # equal masses exchange their speeds
    held = chain(first={"coulomb_friction": 1e3}, second={"upper": 0.1})
    knocked = torsor.simulate(held, [0.0, 0.0], [0.0, 1.0], duration=0.3, dt=0.01)
    # Friction has no say in an impact: both get half the speed, and friction stops them within 2 · 0.5 / 1000 s
    np.testing.assert_allclose(knocked.q[-1], [0.5 * 0.5 * 0.001, 0.1], atol=1e-12)
    assert knocked.audit().residual < 1e-12


def test_stops_with_free_and_spherical_joints_in_the_tree():
    """A floating base keeps its momentum whatever the stops do."""
    body = torsor.Inertia.box((0.3, 0.2, 0.1), mass=2.0)
    robot = torsor.assemble(
        [
            torsor.Joint(name="base", kind="free", link="hull", inertia=body),
            torsor.Joint(name="ball", kind="spherical", parent="hull", link="arm", inertia=body),
            torsor.Joint(
                name="slide", kind="prismatic", axis=(1, 2, 3), parent="arm", inertia=body, lower=-0.05, upper=0.05
            ),
        ],
        gravity=(0, 0, 0),
    )
    q, v, _ = torsor.random_state(robot, seed=4)
    q[-1], v[-1] = 0.0, 1.0
    for e in (0.0, 0.7):
        run = torsor.simulate(robot, q, v, duration=0.5, dt=0.002, stops=Stops(restitution=e))
        assert np.all(np.abs(run.q[:, -1]) <= 0.05) and any("stop" in note for note in run.notes)
        h = torsor.dynamics.spatial_momentum(robot, run.q, run.v)
        assert np.abs(h - h[0]).max() < 1e-9 * np.abs(h).max()
        assert run.audit().residual < 1e-9


def test_a_leader_with_a_mimic_has_one_stop():
    body = torsor.Inertia.sphere(0.1, mass=1.0)
    fingers = torsor.assemble(
        [
            torsor.Joint(name="left", kind="prismatic", axis=(0, 1, 0), inertia=body, lower=0.0, upper=0.04),
            torsor.Joint(
                name="right", kind="prismatic", axis=(0, -1, 0), inertia=body, mimic=torsor.Mimic("left", 1.0, 0.0)
            ),
        ]
    )
    run = torsor.simulate(fingers, [0.02], [0.0], duration=0.5, dt=0.01, tau=[1.0])
    t = run.time
    np.testing.assert_allclose(run.q[:, 0], np.minimum(0.02 + 0.25 * t**2, 0.04), atol=1e-14)  # 2 kg in all
    assert run.notes == (f"left at its upper stop from {np.sqrt(0.08):.4g} s.",)


# Soft stops


def test_a_soft_stop_is_a_damped_oscillator_while_it_pushes():
    mass, k, d, v0 = 2.0, 800.0, 4.0, 1.0
    robot = slider(mass=mass, upper=0.0)
    run = torsor.simulate(robot, [-0.1], [v0], duration=0.5, dt=1e-3, stops=Stops(stiffness=k, damping=d))
    s, w = d / (2 * mass), np.sqrt(k / mass - (d / (2 * mass)) ** 2)
    t = run.time - 0.1 / v0
    x, rate = np.exp(-s * t) * v0 / w * np.sin(w * t), np.exp(-s * t) * v0 * (np.cos(w * t) - s / w * np.sin(w * t))
    # The force k x + d v ends before x does: where it would pull, the stop lets go
    end = (np.pi - np.arctan2(w * d, k - s * d)) / w
    inside, after = (t > 0) & (t < end), t > end
    np.testing.assert_allclose(run.q[inside, 0], x[inside], atol=1e-9)
    v_end = np.exp(-s * end) * v0 * (np.cos(w * end) - s / w * np.sin(w * end))
    np.testing.assert_allclose(run.v[after, 0], v_end, atol=1e-8)
    np.testing.assert_allclose(run.v[inside, 0], rate[inside], atol=1e-8)
    assert run.audit().residual < 1e-9 and len(run.notes) == 1 and "upper stop from 0.1 s to" in run.notes[0]


# Audit, drives, limits


def test_the_audit_closes_with_everything_that_acts():
    """Drives, wrenches, viscous and Coulomb friction, stops: nothing is lost but what is told."""
    robot = torsor.robots.random_tree(3, seed=11, kinds=("revolute", "prismatic"), serial=True)
    q, v, _tau = torsor.random_state(robot, seed=2)
    robot = robot.with_parameters(coulomb_friction=np.full(3, 0.4), viscous_friction=np.array([0.1, 0.2, 0.0]))
    robot = with_limits(robot, q - 0.05, q + 0.08)
    pushes = {robot.frames[-1]: lambda t, q, v: np.array([0.3, 0.0, 0.1, 1.0, 0.0, 0.5]) * np.cos(3.0 * t)}
    for stops, dt in ((Stops(restitution=0.4), 1e-3), (Stops(), 1e-3), (Stops(stiffness=300.0, damping=3.0), 5e-4)):
        run = torsor.simulate(
            robot,
            q,
            v,
            duration=0.2,
            dt=dt,
            tau=lambda t: 5.0 * np.sin(4 * t) * np.ones(3),
            wrenches=pushes,
            stops=stops,
        )
        assert run.audit().residual < 1e-10, stops
        assert any("stop" in note for note in run.notes) and np.all(np.diff(run.work.friction) >= 0.0)


def with_limits(robot: torsor.Robot, lower: np.ndarray, upper: np.ndarray) -> torsor.Robot:
    limits = robot.structure.limits
    changed = limits._replace(lower=tuple(map(float, lower)), upper=tuple(map(float, upper)))
    return dataclasses.replace(robot, structure=dataclasses.replace(robot.structure, limits=changed))


def test_drives_give_no_more_than_their_limit_and_say_so():
    robot = slider(mass=2.0, effort_limit=3.0)
    run = torsor.simulate(robot, [0.0], [0.0], duration=1.0, dt=0.1, tau=[5.0])
    assert np.all(run.tau == 3.0)
    np.testing.assert_allclose(run.q[-1], 0.75, atol=1e-14)
    assert run.notes == ("the drive of slide at its effort limit of 3, first at 0 s.",)
    asked = torsor.simulate(robot, [0.0], [0.0], duration=1.0, dt=0.1, controller=lambda t, q, v: np.array([-50.0]))
    assert np.all(asked.tau == -3.0)


def test_without_limits_the_bare_equations_move():
    robot = slider(mass=2.0, effort_limit=3.0, upper=0.1, velocity_limit=0.5)
    run = torsor.simulate(robot, [0.0], [0.0], duration=1.0, dt=0.1, tau=[5.0], within_limits=False)
    np.testing.assert_allclose(run.q[-1], 1.25, atol=1e-14)
    assert run.notes == ()
    fast = torsor.simulate(slider(velocity_limit=0.5), [0.0], [1.0], duration=1.0, dt=0.5)
    assert fast.notes == ("slide faster than its velocity limit of 0.5, up to 1, first at 0 s.",)


# Viscous friction of any size


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("viscous", [1e2, 1e4, 1e6, 1e9])
def test_viscous_friction_of_any_size_is_stable(viscous, method):
    mass, dt = 2.0, 0.01
    robot = slider(mass=mass, gravity=G, viscous_friction=viscous)
    run = torsor.simulate(robot, [0.0], [1.0], duration=0.5, dt=dt, method=method)
    end = -mass * G / viscous
    assert abs(run.v[-1, 0] - end) < 1e-6 * abs(end) + 1e-12
    # Beside the final speed the block goes m v / d
    assert np.abs(run.q[:, 0] - end * run.time).max() < 1.2 * mass / viscous
    assert (len(run.notes) == 1) == (dt * viscous / mass > 0.7)


def test_stiff_friction_does_not_depend_on_the_other_trajectories_of_a_batch():
    robot = torsor.robots.random_tree(2, seed=5, kinds=("revolute",), serial=True)
    q = torsor.random_configuration(robot, seed=1, batch=(6,))
    for scale in (0.5, 2.0, 8.0):
        damped = robot.with_parameters(viscous_friction=np.full(2, scale))
        together = torsor.simulate(damped, q, np.ones((6, 2)), duration=0.5, dt=0.05)
        for k in range(6):
            alone = torsor.simulate(damped, q[k], np.ones(2), duration=0.5, dt=0.05)
            assert np.array_equal(together.q[k], alone.q) and np.array_equal(together.v[k], alone.v)


def test_friction_of_any_size_beside_friction_that_sticks():
    """Two joints are stopped at once; the third is pushed by that, slides 0.5 mm with constant friction, and is held."""
    tree = torsor.robots.random_tree(3, seed=4, kinds=("prismatic",), serial=True)
    tree = tree.with_parameters(
        viscous_friction=np.array([0.0, 1e8, 1e8]), coulomb_friction=np.array([500.0, 2.0, 0.1])
    )
    v = np.array([0.0, 1.0, -0.5])
    M = torsor.mass_matrix(tree, np.zeros(3))
    pushed = M[0] @ v / M[0, 0]
    slowed = (500.0 + torsor.gravity_forces(tree, np.zeros(3))[0]) / M[0, 0]
    for method in ("rk4", "variational"):
        run = torsor.simulate(tree, np.zeros(3), v, duration=0.02, dt=1e-3, method=method)
        assert not any("changed more than" in note for note in run.notes)
        np.testing.assert_allclose(run.q[-1], [0.5 * pushed**2 / slowed, 0.0, 0.0], atol=1e-6)
        assert np.abs(run.v[-1]).max() < 1e-5


def test_extrapolation_takes_away_what_is_wrong_in_the_length_and_its_square():
    from torsor.simulation.steps.extrapolated_euler import PARTS, WEIGHTS

    n, w = np.array(PARTS, float), np.array(WEIGHTS)
    np.testing.assert_allclose([w.sum(), (w / n).sum(), (w / n**2).sum()], [1.0, 0.0, 0.0], atol=1e-14)


@pytest.mark.parametrize("viscous", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("damped", [(True, False), (False, True), (True, True)])
def test_friction_that_stops_one_joint_at_once_leaves_the_other_alone(viscous, damped):
    """The first step, of 10 ms, beside many short ones: the momentum that is taken at once is all that the other joint feels."""
    arm = torsor.robots.planar2r().with_parameters(viscous_friction=np.where(damped, viscous, 0.0))
    q, v = np.array([0.3, -1.2]), np.array([1.0, -1.5])
    exact = torsor.simulate(arm, q, v, duration=0.01, dt=1e-4, method="semi_implicit_euler", within_limits=False)
    run = torsor.simulate(arm, q, v, duration=0.01, dt=0.01, within_limits=False)
    # What is left of the velocity that friction takes; the short steps are of first order
    left = 10.0 / (viscous * 0.01)
    np.testing.assert_allclose(run.v[-1], exact.v[-1], atol=2e-3 + left)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-4 + 0.01 * left)


def test_the_extrapolated_step_is_of_third_order():
    robot = torsor.robots.random_tree(2, seed=7, kinds=("revolute", "spherical"), serial=True)
    robot = robot.with_parameters(viscous_friction=np.full(robot.nv, 1.0))
    q, v, tau = torsor.random_state(robot, seed=3)

    def end(n: int) -> np.ndarray:
        from torsor.simulation.steps.extrapolated_euler import extrapolated_euler
        from torsor.simulation.steps.rate import Rate

        def rate(t, q, v):
            return Rate(torsor.forward_dynamics(robot, q, v, tau), np.zeros((1, 1)))

        x, y, h = q[None], v[None], np.array([0.08 / n])
        for _ in range(n):
            x, y, *_ = extrapolated_euler(robot, rate, np.zeros(1), x, y, h)
        return y[0]

    exact = end(128)
    errors = [np.abs(end(n) - exact).max() for n in (4, 8, 16)]
    assert all(6.5 < one / two < 10.0 for one, two in itertools.pairwise(errors)), errors
