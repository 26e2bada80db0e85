"""Derivatives of motions through the steps taken agree with differences of simulations, also through stops and friction."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import torsor
from torsor import lie
from torsor.errors import ArgumentError, ShapeError, UnknownName
from torsor.simulation import Event, Stops, sensitivities
from torsor.simulation.linear_recurrence import recurrence

TIME = {"duration": 0.2, "dt": 0.02}
BOX = torsor.Inertia.box((0.1, 0.2, 0.4), mass=1.0)
METHODS = ("rk4", "implicit_midpoint", "variational", "semi_implicit_euler", "euler")


def of_joints(*kinds, **options):
    names = [f"joint_{k}" for k in range(len(kinds))]
    joints = []
    for k, kind in enumerate(kinds):
        pose = lie.se3.exp(np.array([0.2, 0.1, -0.3, 0.1, 0.2, 0.3]))
        own = {"axis": (0.0, 0.6, 0.8)} if kind in ("revolute", "helical", "prismatic") else {}
        own |= {"pitch": 0.1} if kind == "helical" else {}
        parent = {} if k == 0 else {"parent": f"joint_{k - 1}_link"}
        joints.append(torsor.Joint(name=names[k], kind=kind, inertia=BOX, pose=pose, **own, **parent))
    return torsor.assemble(joints, name=" and ".join(kinds), **options)


def mimicking():
    rod = {"kind": "revolute", "axis": (0.0, 1.0, 0.0), "inertia": BOX}
    away = lie.se3.exp(np.array([0.0, 0.0, 0.0, 0.3, 0.0, 0.0]))
    return torsor.assemble(
        [
            torsor.Joint(name="one", **rod),
            torsor.Joint(name="two", parent="one_link", pose=away, mimic=torsor.Mimic("one", -0.5, 0.1), **rod),
        ],
        name="gripper",
    )


ROBOTS = {
    "arm": torsor.robots.planar2r,
    "free": lambda: of_joints("free"),
    "spherical": lambda: of_joints("spherical", "helical"),
    "planar": lambda: of_joints("planar", "prismatic"),
    "mimic": mimicking,
}
CASES = [("arm", method) for method in METHODS] + [
    ("free", "rk4"),
    ("free", "implicit_midpoint"),
    ("spherical", "rk4"),
    ("spherical", "variational"),
    ("planar", "rk4"),
    ("planar", "semi_implicit_euler"),
    ("mimic", "rk4"),
]


def displacements(robot, run, other):
    """(..., N, 2 nv): from the states of one motion to those of another."""
    return np.concatenate([torsor.difference(robot, run.q, other.q), other.v - run.v], axis=-1)


def moved_robot(robot, changes):
    """The robot with some of its numbers changed."""
    p = robot.parameters
    found = {name: getattr(p, name) + change for name, change in changes.items() if name != "poses"}
    if "poses" in changes:
        found["poses"] = p.poses @ lie.se3.exp(changes["poses"])
    return robot.with_parameters(**found) if found else robot


def compared(robot, q, v, tau, *, start=None, numbers=None, h=1e-6, rtol=1e-6, **options):
    """The sensitivities, after a look at all directions at once, forward and back, by central differences."""
    rng, nv = np.random.default_rng(7), robot.nv
    x = rng.normal(size=2 * nv) if start is None else start
    force = rng.normal(size=tau.shape)
    numbers = {} if numbers is None else {name: rng.normal(size=np.shape(x)) * x for name, x in numbers.items()}

    def moved(s):
        changed = moved_robot(robot, {name: s * h * d for name, d in numbers.items()})
        begin = torsor.integrate(robot, q, s * h * x[:nv])
        return torsor.simulate(changed, begin, v + s * h * x[nv:], tau=tau + s * h * force, **(TIME | options))

    run = moved(0)
    expected = (displacements(robot, run, moved(1)) - displacements(robot, run, moved(-1))) / (2 * h)
    found = sensitivities(run, wrt=tuple(numbers))
    along = found.pushforward(x, force, numbers)
    np.testing.assert_allclose(along, expected, rtol=rtol, atol=rtol * (1.0 + np.abs(expected).max()))
    weights = rng.normal(size=along.shape)
    back = found.pullback(weights)
    summed = (back.start * x).sum() + (back.tau * force).sum()
    summed += sum((back.parameters[name] * d).sum() for name, d in numbers.items())
    np.testing.assert_allclose(summed, (weights * along).sum(), rtol=1e-9, atol=1e-9)
    return found


@pytest.mark.parametrize(("name", "method"), CASES)
def test_states_move_as_differences_say(name, method):
    robot = ROBOTS[name]()
    rng, nv = np.random.default_rng(7), robot.nv
    q, v, tau = torsor.random_configuration(robot, seed=1), rng.normal(size=nv), 0.05 * rng.normal(size=(10, nv))
    numbers = {"inertias": 0.1 * robot.parameters.inertias, "gravity": np.ones(3)}
    found = compared(robot, q, v, tau, method=method, numbers=numbers)
    assert found.mode_changes == () and found.notes == ()
    x, force = rng.normal(size=2 * nv), rng.normal(size=(10, nv))
    np.testing.assert_allclose(found.pushforward(x), found.by_start() @ x, atol=1e-10)
    alike = found.pushforward(tau=force[0])
    np.testing.assert_allclose(alike, found.by_constant_force() @ force[0], atol=1e-10)
    end = np.einsum("kij,kj->i", found.of_end_by_forces(), force)
    np.testing.assert_allclose(end, found.pushforward(tau=force)[-1], atol=1e-10)
    by = found.by_parameters()
    np.testing.assert_allclose(
        found.pushforward(parameters={"gravity": np.arange(3.0)}), by["gravity"] @ np.arange(3.0), atol=1e-10
    )
    assert by["inertias"].shape == (11, 2 * nv, robot.n, 10)


def test_the_robots_other_numbers():
    arm = torsor.robots.planar2r().with_parameters(
        viscous_friction=np.array([0.4, 0.3]), stiffness=np.array([3.0, 4.0]), armature=np.array([0.1, 0.2])
    )
    sizes = {name: np.ones(2) * 0.1 for name in ("armature", "viscous_friction", "stiffness", "rest")}
    q, v, tau = np.array([0.3, -0.4]), np.array([1.0, -2.0]), np.ones((10, 2))
    compared(arm, q, v, tau, numbers=sizes | {"poses": np.ones((2, 6))})
    stiff = arm.with_parameters(viscous_friction=np.array([300.0, 400.0]))
    for method in ("rk4", "semi_implicit_euler", "variational"):
        found = compared(stiff, q, v, tau, numbers={"viscous_friction": np.ones(2)}, method=method)
        assert np.abs(found.by_start()[-1]).max() < 10.0


def test_screws_and_pitches_are_those_of_the_derivative_of_a_step():
    """Of one step v + h a: by screws that are none of a joint there are no differences of simulations."""
    arm, (q, v, tau) = torsor.robots.planar2r(), np.array([[0.3, -0.4], [1.0, -2.0], [0.5, 0.7]])
    groups = ("screws", "pitches", "poses")
    run = torsor.simulate(arm, q, v, tau=tau, duration=0.01, dt=0.01, method="euler")
    found = sensitivities(run, wrt=groups).by_parameters()
    slopes = torsor.derivative(torsor.forward_dynamics, arm, wrt=groups)(q, v, tau)
    for group in groups:
        np.testing.assert_allclose(found[group][-1, 2:], 0.01 * slopes[f"a_by_{group}"], atol=1e-13)
        assert group == "pitches" or np.abs(found[group][-1, 2:]).max() > 1e-4  # along parallel axes nothing moves


def test_wrenches_a_moving_base_and_a_law_at_every_stage():
    arm = torsor.robots.planar2r()
    q, v, tau = np.array([0.3, -0.4]), np.array([1.0, -2.0]), np.ones((10, 2))
    pushes = {arm.frames[-1]: lambda t, q, v: np.stack([0.0 * t, 0.0 * t, q[0], v[0], t, 0.0 * t])}
    compared(arm, q, v, tau, wrenches=pushes, base_motion=(0.1 * np.ones(6), 0.2 * np.ones(6)))
    constant = {arm.frames[-1]: np.arange(6.0)}
    found = compared(arm, q, v, tau, wrenches=constant)
    np.testing.assert_allclose(found.by_start()[-1] @ np.arange(4.0), found.pushforward(np.arange(4.0))[-1], atol=1e-11)

    def law(t, q, v):
        return -20.0 * q - v

    def run(s):
        return torsor.simulate(arm, q + s * np.array([1e-6, 2e-6]), v, controller=law, control_dt=0, **TIME)

    expected = (displacements(arm, run(0), run(1)) - displacements(arm, run(0), run(-1))) / 2e-6
    along = sensitivities(run(0)).pushforward(np.array([1.0, 2.0, 0.0, 0.0]))
    np.testing.assert_allclose(along, expected, rtol=1e-6, atol=1e-7)


def test_the_pullback_is_the_adjoint_in_batches():
    """w · (derivative along x, τ) is (pullback of w) · (x, τ), with batches."""
    robot, rng, nv = torsor.robots.planar2r(), np.random.default_rng(8), 2
    q = torsor.random_configuration(robot, seed=2)
    run = torsor.simulate(robot, q, rng.normal(size=(3, nv)), tau=rng.normal(size=(3, 10, nv)), **TIME)
    found = sensitivities(run, wrt="armature")
    w, x, force = (rng.normal(size=(3, *s)) for s in ((11, 2 * nv), (2 * nv,), (10, nv)))
    own = rng.normal(size=(3, nv))
    along, back = found.pushforward(x, force, {"armature": own}), found.pullback(w)
    summed = (back.start * x).sum() + (back.tau * force).sum() + (back.parameters["armature"] * own).sum()
    np.testing.assert_allclose((w * along).sum(), summed, rtol=1e-11)
    last = found.pullback(w[:, -1:])
    np.testing.assert_allclose(
        (w[:, -1] * along[:, -1]).sum(),
        (last.start * x).sum() + (last.tau * force).sum() + (last.parameters["armature"] * own).sum(),
        rtol=1e-11,
    )
    one = sensitivities(run.of(1), wrt="armature")
    np.testing.assert_allclose(one.pushforward(x[1], force[1], {"armature": own[1]}), along[1], atol=1e-11)
    np.testing.assert_allclose(found.by_start()[1], one.by_start(), atol=1e-13)
    np.testing.assert_allclose(found.of_end_by_forces()[1], one.of_end_by_forces(), atol=1e-13)
    part = sensitivities(run.of(1)[3:8])
    np.testing.assert_allclose(part.A, one.A[3:7], atol=1e-14)
    none = sensitivities(torsor.simulate(robot, np.zeros((0, 2)), np.zeros(2), **TIME))
    assert none.by_start().shape == (0, 11, 4, 4) and none.pullback(np.ones((11, 4))).tau.shape == (0, 10, 2)


def limited_arm(**options):
    return torsor.robots.planar2r().with_limits(([-3.0, -0.5], [3.0, 0.5]), **options)


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_held_at_its_stop_stays_there(method):
    tau = np.tile([1.0, 60.0], (10, 1))
    away = np.array([0.7, 0.0, 0.3, 0.0])
    found = compared(limited_arm(), np.array([0.2, 0.5]), np.array([0.3, 0.0]), tau, start=away, method=method)
    assert found.mode_changes == ()
    assert np.all(found.by_start()[1:, 3] == 0.0)  # its velocity does not change with anything


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "variational"])
def test_a_joint_that_friction_holds_stays_where_it_is(method):
    """A small velocity of it is taken by friction at once, by an impulse that the other joint feels."""
    arm = torsor.robots.planar2r().with_parameters(coulomb_friction=np.array([0.1, 80.0])).with_coulomb_width(0.0)
    tau, away = np.tile([30.0, 0.0], (10, 1)), np.array([0.7, 0.4, 0.3, 0.6])
    numbers = {"coulomb_friction": np.array([0.01, 0.1])}
    if method == "variational":
        away[3] = 0.0  # the first step of a motion that slides is another one
    found = compared(arm, np.array([0.2, 0.5]), np.array([0.3, 0.0]), tau, start=away, method=method, numbers=numbers)
    assert found.mode_changes == ()


@pytest.mark.parametrize(
    ("method", "restitution"), [("rk4", 0.0), ("rk4", 0.6), ("euler", 0.6), ("implicit_midpoint", 0.6)]
)
def test_impacts_move_with_the_start_and_are_told(method, restitution):
    tau, numbers = np.tile([1.0, 0.0], (10, 1)), {"inertias": 0.1 * torsor.robots.planar2r().parameters.inertias}
    options = {"method": method, "stops": Stops(restitution=restitution), "numbers": numbers}
    found = compared(limited_arm(), np.array([0.2, 0.3]), np.array([0.3, 3.0]), tau, **options)
    (change,) = found.mode_changes
    assert 0.06 < change.time < 0.07 and "joint_2" in change.joints and change.trajectory == ()
    assert f"{change.time:.6g} s" in found.notes[0] and "changes of mode: 1" in repr(found)


@pytest.mark.compiled
def test_soft_stops_and_drives_at_their_limits():
    tau = np.tile([1.0, 0.0], (40, 1))
    soft, time = (
        Stops(stiffness=1e4, damping=10.0),
        {"duration": 0.2, "dt": 0.005},
    )  # steps that the stop is not too stiff for
    found = compared(limited_arm(), np.array([0.2, 0.45]), np.array([0.3, 3.0]), tau, stops=soft, **time)
    assert len(found.mode_changes) == 2
    strong = np.stack([np.linspace(-40.0, 40.0, 10), np.ones(10)], axis=-1)
    arm = torsor.robots.planar2r().with_limits(effort=20.0)
    found = compared(arm, np.array([0.2, 0.3]), np.array([0.3, 3.0]), strong)
    by_tau = found.pullback(np.ones((1, 4))).tau
    assert np.all((by_tau[:, 0] == 0.0) == (np.abs(strong[:, 0]) > 20.0)) and np.all(by_tau[:, 1] != 0.0)
    assert np.all(found.B[0, :, 0] == 0.0)


@pytest.mark.compiled
def test_stick_and_slip_over_many_changes():
    """Friction holds and lets go sixteen times; the moments at which it does depend on its size, too."""
    k = np.arange(60)
    tau = np.stack([4.0 * np.sin(0.5 * k), 5.0 * np.cos(0.3 * k)], axis=-1)
    arm = torsor.robots.planar2r().with_gravity(np.zeros(3)).with_coulomb_width(0.0)
    arm = arm.with_parameters(coulomb_friction=np.array([2.0, 3.0]), viscous_friction=np.ones(2))
    numbers = {"coulomb_friction": np.ones(2)}
    time = {"duration": 0.6, "dt": 0.01}
    found = compared(arm, np.array([0.2, 0.3]), np.array([0.1, 0.2]), tau, numbers=numbers, h=1e-7, rtol=1e-5, **time)
    assert len(found.mode_changes) > 10
    np.testing.assert_allclose(found.by_start() @ np.ones(4), found.pushforward(np.ones(4)), atol=1e-10)


def test_the_trajectories_of_a_batch_change_modes_at_times_of_their_own():
    arm, q = limited_arm(), np.array([0.2, 0.3])
    v = np.array([[0.3, 3.0], [0.1, 0.0], [0.3, 2.0]])
    tau = np.tile([1.0, 0.0], (3, 10, 1))
    run = torsor.simulate(arm, q, v, tau=tau, **TIME)
    found, w = sensitivities(run), np.random.default_rng(3).normal(size=(3, 11, 4))
    back = found.pullback(w)
    for k in range(3):
        alone = sensitivities(torsor.simulate(arm, q, v[k], tau=tau[k], **TIME))
        np.testing.assert_allclose(
            found.pushforward(np.ones(4), 1.0)[k], alone.pushforward(np.ones(4), 1.0), atol=1e-11
        )
        np.testing.assert_allclose(back.tau[k], alone.pullback(w[k]).tau, atol=1e-11)
        assert [c.time for c in found.mode_changes if c.trajectory == (k,)] == [c.time for c in alone.mode_changes]


def test_an_event_divides_its_step_at_a_time_that_is_held():
    arm, crossing = torsor.robots.planar2r(), Event(lambda t, q, v: q[1] - 0.3)
    run = torsor.simulate(arm, [0.2, 0.25], [0.0, 1.0], events=crossing, **TIME)
    found = sensitivities(run)
    assert len(run.events) == 1 and found.mode_changes == ()
    assert found.notes == (f"an event at {run.events[0].time:.6g} s divides its step; its time is held",)
    smooth = sensitivities(torsor.simulate(arm, [0.2, 0.25], [0.0, 1.0], **TIME))
    np.testing.assert_allclose(found.by_start(), smooth.by_start(), atol=1e-4)  # of steps of the fourth order


def test_motions_whose_steps_are_not_known_are_refused():
    arm = torsor.robots.planar2r()
    q, v = np.array([0.1, 0.2]), np.array([1.0, 0.0])
    run = torsor.simulate(arm, q, v, **TIME)
    with pytest.raises(ArgumentError, match="every=1"):
        sensitivities(torsor.simulate(arm, q, v, every=3, **TIME))
    with pytest.raises(ArgumentError, match="does not know the steps"):
        sensitivities(pickle.loads(pickle.dumps(run)))
    with pytest.raises(ArgumentError, match="does not know the steps"):
        sensitivities(torsor.simulate(arm, q, v, duration=0.1))
    with pytest.raises(ArgumentError, match="not the one that was simulated"):
        sensitivities(replace(run, robot=arm.with_gravity(np.zeros(3))))
    with pytest.raises(ArgumentError, match="one sample"):
        sensitivities(run[:1])
    falling = Event(lambda t, q, v: q[0] - 0.15, terminal=True)
    ended = torsor.simulate(arm, q, v, events=falling, **TIME)
    with pytest.raises(ArgumentError, match=r"run\[:-1\]"):
        sensitivities(ended)
    assert sensitivities(ended[:-1]).A.shape == (len(ended) - 2, 4, 4)
    kicked = Event(lambda t, q, v: q[0] - 0.15, action=lambda t, q, v: (q, -v))
    with pytest.raises(ArgumentError, match="an event acted at"):
        sensitivities(torsor.simulate(arm, q, v, events=kicked, **TIME))
    pair = [np.zeros(6), np.zeros(6)]  # a list, which may change
    with pytest.raises(ArgumentError, match="called from Python"):
        sensitivities(torsor.simulate(arm, q, v, base_motion=lambda t: pair[:], **TIME))
    with pytest.raises(ArgumentError, match="up to 12 joints"):
        chain = torsor.robots.chain(13)
        sensitivities(torsor.simulate(chain, chain.neutral, np.zeros(13), method="variational", **TIME))


def test_samples_that_were_changed_are_found():
    arm = torsor.robots.planar2r()
    run = torsor.simulate(arm, [0.1, 0.2], [1.0, 0.0], **TIME)
    v = run.v.copy()
    v[4] += 1e-4
    other = sensitivities(replace(run, v=v))
    for ask in (other.by_start, lambda: other.pushforward(np.ones(4)), lambda: other.pullback(np.ones((1, 4)))):
        with pytest.raises(ArgumentError, match=r"2 steps .* those at 0.06, 0.08 s"):
            ask()


def test_bad_arguments_are_refused_in_words():
    arm = torsor.robots.planar2r()
    run = torsor.simulate(arm, [0.1, 0.2], [1.0, 0.0], **TIME)
    with pytest.raises(UnknownName, match="inertias"):
        sensitivities(run, wrt="inertia")
    with pytest.raises(ShapeError, match="weights"):
        sensitivities(run).pullback(np.ones(3))
    with pytest.raises(ShapeError, match="`start`"):
        sensitivities(run).pushforward(np.ones(3))
    with pytest.raises(ArgumentError, match="not in wrt"):
        sensitivities(run).pushforward(parameters={"gravity": np.ones(3)})


@pytest.mark.parametrize("N", [1, 2, 3, 10, 26])
def test_products_by_blocks_are_those_one_by_one(N):
    rng = np.random.default_rng(N)
    A, x, b = rng.normal(size=(2, N, 3, 3)), rng.normal(size=(2, 3, 4)), rng.normal(size=(2, N, 3, 4))
    for more in (None, b):
        expected, y = [], x
        for k in range(N):
            y = A[:, k] @ y + (0.0 if more is None else more[:, k])
            expected.append(y)
        np.testing.assert_allclose(recurrence(A, x, more), np.stack(expected, axis=1), rtol=1e-10, atol=1e-10)
