"""Controllers in a simulation: asked once per step, and the same motion whether they are compiled or called from Python."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import torsor
from torsor.errors import ArgumentError, ShapeError, SimulationDiverged
from torsor.simulation.controllers import fingerprint

ARM = torsor.robots.planar2r()
Q, V, GOAL = np.array([0.3, -0.2]), np.array([0.1, 0.4]), np.array([0.8, 0.5])
DT = 0.01
KP, KI, KD = np.array([40.0, 30.0]), np.array([20.0, 10.0]), np.array([8.0, 4.0])


class PID:
    """With a memory of its own, as people write them; counts its calls."""

    def __init__(self) -> None:
        self.integral, self.calls = np.zeros(2), 0

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        self.calls += 1
        self.integral += DT * (GOAL - q)
        return KP * (GOAL - q) + KI * self.integral - KD * v


def pid(t, q, v, integral):
    """The same with its memory handed on."""
    integral = integral + DT * (GOAL - q)
    return KP * (GOAL - q) + KI * integral - KD * v, integral


def pd(t, q, v):
    return KP * (GOAL - q) - KD * v


def by_hand(robot: torsor.Robot, q, v, controller, steps: int, *, every: int = 1) -> np.ndarray:
    """A loop of one's own around steps under constant forces."""
    states = [np.concatenate([q, v])]
    for k in range(steps):
        if k % every == 0:
            tau = controller(k * DT, q, v)
        run = torsor.simulate(robot, q, v, duration=DT, dt=DT, tau=tau, within_limits=False)
        q, v = run.q[-1], run.v[-1]
        states.append(np.concatenate([q, v]))
    return np.array(states)


def states(run: torsor.Trajectory) -> np.ndarray:
    return np.concatenate([run.q, run.v], axis=-1)


BOTH = pytest.mark.parametrize(
    "compiled", [pytest.param(True, marks=pytest.mark.compiled, id="compiled"), pytest.param(False, id="NumPy")]
)


@BOTH
@pytest.mark.parametrize("every", [1, 3])
def test_a_pid_with_memory_is_asked_once_per_step(compiled, every):
    law, mine = PID(), PID()
    run = torsor.simulate(ARM, Q, V, duration=0.3, dt=DT, controller=law, control_dt=every * DT)
    assert law.calls == 30 // every
    np.testing.assert_allclose(states(run), by_hand(ARM, Q, V, mine, 30, every=every), atol=1e-12)
    asked = run.tau[::every]
    assert np.array_equal(np.repeat(asked, every, axis=0)[: len(run.tau) - 1], run.tau[:-1])
    bound = PID()
    again = torsor.simulate(ARM, Q, V, duration=0.3, dt=DT, controller=bound.__call__, control_dt=every * DT)
    assert bound.calls == 30 // every and np.array_equal(again.q, run.q)


@pytest.mark.compiled
@pytest.mark.parametrize("every", [1, 3])
def test_memory_that_is_handed_on_gives_the_same_compiled_or_not(every):
    runs = [
        torsor.simulate(
            ARM, Q, V, duration=0.3, dt=DT, controller=pid, controller_state=np.zeros(2), control_dt=every * DT,
            compile_controller=choice,
        )
        for choice in (True, False, None)
    ]  # fmt: skip
    own = torsor.simulate(ARM, Q, V, duration=0.3, dt=DT, controller=PID(), control_dt=every * DT)
    for run in runs:
        np.testing.assert_allclose(states(run), states(own), atol=1e-13)
        np.testing.assert_allclose(run.tau, own.tau, atol=1e-11)


@pytest.mark.compiled
@pytest.mark.parametrize("form", ["dict", "tuple"])
def test_memories_of_any_form(form):
    def law(t, q, v, state):
        x, n = (state["x"], state["n"]) if form == "dict" else state
        x, n = x + DT * (GOAL - q), n + 1.0
        return pd(t, q, v) + x / n, {"x": x, "n": n} if form == "dict" else (x, n)

    state = {"x": np.zeros(2), "n": 0.0} if form == "dict" else (np.zeros(2), 0.0)
    runs = [
        torsor.simulate(
            ARM, Q, V, duration=0.1, dt=DT, controller=law, controller_state=state, compile_controller=choice
        )
        for choice in (True, False)
    ]
    np.testing.assert_allclose(states(runs[0]), states(runs[1]), atol=1e-13)


def test_a_memory_may_be_anything_that_python_has():
    def law(t, q, v, log):
        return pd(t, q, v), [*log, t]

    run = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=law, controller_state=[])
    np.testing.assert_allclose(states(run), by_hand(ARM, Q, V, pd, 10), atol=1e-13)


@pytest.mark.compiled
def test_a_continuous_law_is_the_same_compiled_or_not():
    runs = [
        torsor.simulate(ARM, Q, V, duration=0.2, dt=DT, controller=pd, control_dt=0, compile_controller=choice)
        for choice in (True, False, None)
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(states(run), states(runs[0]), atol=1e-13)
    fine = torsor.simulate(ARM, Q, V, duration=0.2, dt=DT / 4, controller=pd, control_dt=0)
    assert np.abs(fine.q[-1] - runs[0].q[-1]).max() < 1e-6  # of fourth order; sampled it is 1e-3 away


@pytest.mark.compiled
def test_a_batch_under_a_law_is_each_motion_alone():
    q = torsor.random_configuration(ARM, seed=1, batch=(3,))
    v = np.zeros((3, 2))
    for choice in (True, False):
        given = {"duration": 0.1, "dt": DT, "controller": pid, "controller_state": np.zeros(2)}
        together = torsor.simulate(ARM, q, v, compile_controller=choice, **given)
        for k in range(3):
            alone = torsor.simulate(ARM, q[k], v[k], compile_controller=choice, **given)
            assert np.array_equal(together.q[k], alone.q) and np.array_equal(together.tau[k], alone.tau)


# What is never compiled

COUNT, LOG, ROWS, GAIN = 0, [], np.zeros(1), 1.0


def counts(t, q, v):
    global COUNT
    COUNT += 1
    return pd(t, q, v)


def appends(t, q, v):
    LOG.append(t)
    return pd(t, q, v)


def writes(t, q, v):
    ROWS[0] += 1
    return pd(t, q, v)


def writes_by_fill(t, q, v):
    ROWS.fill(ROWS[0] + 1)
    return pd(t, q, v)


def writes_by_out(t, q, v):
    np.add(ROWS, 1, out=ROWS)
    return pd(t, q, v)


def bump(rows):
    rows[0] += 1


def writes_elsewhere(t, q, v):
    bump(ROWS)
    return pd(t, q, v)


@pytest.mark.compiled
@pytest.mark.parametrize("law", [counts, appends, writes, writes_by_fill, writes_by_out, writes_elsewhere])
def test_functions_that_write_outside_are_called_once_per_step(law):
    global COUNT
    COUNT, ROWS[0] = 0, 0.0
    LOG.clear()
    run = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=law)
    seen = {counts: COUNT, appends: len(LOG)}.get(law, ROWS[0])
    assert seen == 10
    np.testing.assert_allclose(states(run), by_hand(ARM, Q, V, pd, 10), atol=1e-13)


@pytest.mark.compiled
def test_closures_that_write_are_called_once_per_step():
    n, box = 0, (np.zeros(1),)

    def outer(t, q, v):
        nonlocal n
        n += 1
        return pd(t, q, v)

    def in_a_tuple(t, q, v):
        box[0][0] += 1
        return pd(t, q, v)

    def held(rows, t, q, v):
        rows[0] += 1
        return pd(t, q, v)

    from functools import partial

    rows = np.zeros(1)
    for law in (outer, in_a_tuple, partial(held, rows)):
        torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=law)
    assert (n, box[0][0], rows[0]) == (10, 10, 10)


@pytest.mark.compiled
def test_a_law_that_draws_numbers_draws_as_many_as_it_is_asked():
    rng = np.random.default_rng(0)

    def by_generator(t, q, v):
        return pd(t, q, v) + rng.normal(size=2)

    def by_module(t, q, v):
        return pd(t, q, v) + np.random.normal(size=2)

    run = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=by_generator)
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(states(run), by_hand(ARM, Q, V, by_generator, 10), atol=1e-13)
    np.random.seed(0)
    run = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=by_module)
    np.random.seed(0)
    np.testing.assert_allclose(states(run), by_hand(ARM, Q, V, by_module, 10), atol=1e-13)


@pytest.mark.compiled
def test_numbers_that_change_from_run_to_run_are_seen(capsys):
    global GAIN
    target = np.array([0.1, 0.2])

    def law(t, q, v):
        return GAIN * (target - q)

    ends = []
    for choice in (None, True, False):
        for GAIN in (1.0, 5.0):  # noqa: B007 the law reads it
            for target[0] in (0.1, 0.9):
                ends.append(
                    torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=law, compile_controller=choice).q[-1]
                )
    ends = np.array(ends).reshape(3, 4, 2)
    np.testing.assert_allclose(ends[0], ends[2], atol=1e-13)
    np.testing.assert_allclose(ends[1], ends[2], atol=1e-13)
    assert len(np.unique(ends[2][:, 0])) == 4

    def tells(t, q, v):
        print("asked")  # noqa: T201
        return pd(t, q, v)

    torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=tells)
    assert capsys.readouterr().out.count("asked") == 10


@pytest.mark.compiled
def test_what_is_remembered_of_a_simulation_is_asked_for_again_where_it_changes():
    """From the third call on, drives and steps are those of before, if nothing they depend on has changed."""
    gain = np.array([3.0, 2.0])

    def law(t, q, v):
        return -gain * v - 10.0 * t

    def end(q=Q, v=V, **given):
        return torsor.simulate(ARM, q, v, **({"duration": 0.1, "dt": DT, "controller": law} | given)).q[..., -1, :]

    many = np.stack([Q, Q + 0.1])
    again = {
        "same": {},
        "longer": {"duration": 0.2},
        "shorter steps": {"dt": 0.5 * DT},
        "held": {"control_dt": 2 * DT},
        "at every stage": {"control_dt": 0},
        "no law": {"controller": None},
        "many": {"q": many, "v": np.stack([V, V])},
    }
    runs = [{name: end(**given) for name, given in again.items()} for _ in range(3)]
    for name, found in runs[0].items():
        np.testing.assert_array_equal(found, runs[2][name])
    alone = [x for name, x in runs[2].items() if name != "many"]
    assert len(np.unique(np.array(alone)[:, 0])) == len(alone)
    np.testing.assert_allclose(runs[2]["many"][0], runs[2]["same"], atol=1e-15)
    gain[0] = 30.0
    changed = end()
    assert abs(changed[0] - runs[2]["same"][0]) > 1e-4
    np.testing.assert_allclose(changed, end(compile_controller=False), atol=1e-13)


def test_what_is_kept_of_a_function_follows_everything_it_refers_to():
    """Defaults, cells, inner functions, names that come into being, arrays that change: each is another function."""
    inner_gain = np.array([1.0, 2.0])

    def inner(q):
        return inner_gain * q

    scale = 2.0

    def law(t, q, v, factor=1.0, *, shift=0.0):
        return scale * factor * inner(q) + shift - v

    seen = [fingerprint(law)]
    assert fingerprint(law) == seen[0]
    inner_gain[0] = 3.0
    seen.append(fingerprint(law))
    inner_gain.shape = (2, 1)
    seen.append(fingerprint(law))
    scale = 5.0
    seen.append(fingerprint(law))
    law.__defaults__ = (4.0,)
    seen.append(fingerprint(law))
    law.__kwdefaults__["shift"] = 7.0
    seen.append(fingerprint(law))
    assert None not in seen and len(set(seen)) == len(seen)
    scale = [5.0]  # it may change at any time
    assert fingerprint(law) is None
    gone = weakref.ref(law)
    del law
    assert gone() is None


def test_functions_with_a_name_of_the_library_are_told_from_each_other():
    """A function that wraps another has its name; a force of time is wrapped by torsor itself."""
    slider = torsor.robots.pendulum(mass=1.0, length=1.0)
    ends = []
    for size in (1.0, -2.0):
        run = torsor.simulate(
            slider, [0.0], [0.0], duration=DT, dt=DT, tau=lambda t, k=size: k * np.ones(1), within_limits=False
        )
        ends.append(float(run.tau[0, 0]))

        def law(t, q, v, k=size):
            return k + 0.0 * q

        law.__module__, law.__qualname__ = "torsor.simulation.plant", "given_to_dynamics"
        ends.append(float(torsor.simulate(slider, [0.0], [0.0], duration=DT, dt=DT, controller=law).tau[0, 0]))
    assert ends == [1.0, 1.0, -2.0, -2.0]


@pytest.mark.compiled
def test_what_cannot_be_compiled_is_refused_if_it_is_asked_for():
    def decides(t, q, v):
        return pd(t, q, v) if q[0] > 0 else -v

    with pytest.raises(
        ArgumentError, match="`compile_controller`: this controller cannot be compiled, for it cannot be"
    ):
        torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=decides, compile_controller=True)
    run = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, controller=decides)
    np.testing.assert_allclose(states(run), by_hand(ARM, Q, V, decides, 10), atol=1e-13)


# Joint forces and wrenches


@BOTH
def test_forces_of_time_and_per_step(compiled):
    def force(t):
        return np.stack([np.sin(5.0 * t), 0.5 * np.cos(3.0 * t)])

    smooth = torsor.simulate(ARM, Q, V, duration=0.2, dt=DT, tau=force)
    law = torsor.simulate(ARM, Q, V, duration=0.2, dt=DT, controller=lambda t, q, v: force(t) + 0 * v, control_dt=0)
    np.testing.assert_allclose(states(smooth), states(law), atol=1e-14)
    np.testing.assert_allclose(smooth.tau, np.array([force(t) for t in smooth.time]), atol=1e-15)
    rows = np.array([force(t) for t in smooth.time[:-1]])
    stairs = torsor.simulate(ARM, Q, V, duration=0.2, dt=DT, tau=rows)
    np.testing.assert_allclose(states(stairs), by_hand(ARM, Q, V, lambda t, q, v: rows[round(t / DT)], 20), atol=1e-13)


def test_shapes_with_two_meanings_are_refused_with_both_spellings():
    q = np.zeros((5, 2))
    tau = np.ones((5, 2))
    with pytest.raises(ShapeError, match=r"Pass tau\[:, None\] \(5, 1, 2\) for the former, tau\[None\] \(1, 5, 2\)"):
        torsor.simulate(ARM, q, q, duration=5 * DT, dt=DT, tau=tau)
    each = torsor.simulate(ARM, q, q, duration=5 * DT, dt=DT, tau=tau[:, None])
    steps = torsor.simulate(ARM, q, q, duration=5 * DT, dt=DT, tau=tau[None])
    np.testing.assert_array_equal(each.q, steps.q)
    with pytest.raises(ShapeError, match=r"must have shape \(6,\), got \(9, 6\).*lambda t, q, v: W\[int\(t / dt\)\]"):
        torsor.simulate(ARM, Q, V, duration=9 * DT, dt=DT, wrenches={ARM.frames[-1]: np.zeros((9, 6))})


@BOTH
def test_wrenches_that_are_functions(compiled):
    frame = ARM.frames[-1]
    F = np.array([0.0, 0.0, 0.3, 1.0, 2.0, 0.0])
    constant = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, wrenches={frame: F})
    asked = torsor.simulate(ARM, Q, V, duration=0.1, dt=DT, wrenches={frame: lambda t, q, v: F})
    assert asked.wrenches[frame].shape == (11, 6)
    np.testing.assert_allclose(states(asked), states(constant), atol=1e-14)
    damper = {frame: lambda t, q, v: -2.0 * F * v[0] * t}
    calls = []

    def in_python(t, q, v):
        calls.append(t)
        return -2.0 * F * v[0] * t

    one, other = (
        torsor.simulate(ARM, np.stack([Q, -Q]), np.stack([V, V]), duration=0.1, dt=DT, wrenches=w)
        for w in (damper, {frame: in_python})
    )
    np.testing.assert_allclose(states(one), states(other), atol=1e-13)
    np.testing.assert_allclose(one.wrenches[frame], other.wrenches[frame], atol=1e-13)
    assert one.wrenches[frame].shape == (2, 11, 6) and calls and one.audit().residual < 1e-7


# Ctrl-C and divergence


@BOTH
@pytest.mark.parametrize("when", [0, 1, 37])
def test_ctrl_c_returns_what_there_is(compiled, when):
    calls = 0

    def law(t, q, v):
        nonlocal calls
        calls += 1
        if calls > when:
            raise KeyboardInterrupt
        return pd(t, q, v)

    run = torsor.simulate(ARM, Q, V, duration=1.0, dt=DT, controller=law)
    assert run.interrupted and len(run) == when + 1
    whole = torsor.simulate(ARM, Q, V, duration=1.0, dt=DT, controller=pd)
    np.testing.assert_allclose(states(run), states(whole)[: when + 1], atol=1e-13)
    assert np.all(np.isfinite(run.a)) and "interrupted" in repr(run)


@BOTH
def test_an_unstable_law_says_where_and_keeps_what_there_is(compiled):
    def wild(t, q, v):
        return 500.0 * v

    with pytest.raises(SimulationDiverged) as caught:
        torsor.simulate(ARM, Q, V, duration=0.5, dt=DT, controller=wild)
    run, text = caught.value.trajectory, str(caught.value)
    assert 1 < len(run) < 50 and np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.v)) and run.interrupted
    assert f"after {run.time[-1]:.6g} s, first in joint" in text and "smaller `dt`" in text and "gains" in text
    # Velocities are finite a step longer than accelerations, which are of their squares: such samples are left out.
    with pytest.raises(SimulationDiverged) as caught:
        torsor.simulate(ARM, Q, 1e120 * V, duration=0.5, dt=DT, controller=wild)
    run = caught.value.trajectory
    assert all(np.all(np.isfinite(x)) for x in (run.v, run.a, run.tau))
    batch = np.stack([0 * V, V])
    with pytest.raises(SimulationDiverged, match="trajectory 1 grew"):
        torsor.simulate(ARM.with_gravity((0, 0, 0)), np.stack([Q, Q]), batch, duration=0.5, dt=DT, controller=wild)


@BOTH
def test_a_law_that_gives_no_number_is_told_so(compiled):
    def law(t, q, v):
        return np.array([0.0, np.nan]) if t > 0.05 else pd(t, q, v)

    asked = r"joint forces .* at 0.06 s are not finite, first in joint .joint_2."
    with pytest.raises(SimulationDiverged, match=asked) as caught:
        torsor.simulate(ARM, Q, V, duration=0.2, dt=DT, controller=law)
    run = caught.value.trajectory
    assert 0.04 < run.time[-1] <= 0.06 and np.all(np.isfinite(run.a)) and np.all(np.isfinite(run.tau))
