"""Functions in a simulation: whatever may differ from call to call is called, and what is compiled gives what a call gives."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

import torsor
from torsor.errors import ArgumentError, ShapeError
from torsor.simulation import Event

ARM = torsor.robots.planar2r()
Q, V, DT, STEPS = np.array([0.3, -0.2]), np.array([0.1, 0.4]), 0.01, 8
ROWS = np.zeros(2)


def pd(t, q, v):
    return 4.0 * (0.5 - q) - v


def run(controller=None, q=Q, **given):
    return torsor.simulate(ARM, q, V, **{"duration": STEPS * DT, "dt": DT, "controller": controller, **given})


def same(one: torsor.Trajectory, other: torsor.Trajectory, atol: float = 1e-12) -> bool:
    return all(np.allclose(getattr(one, x), getattr(other, x), rtol=0.0, atol=atol) for x in ("q", "v", "tau"))


# Each makes a controller that is another one at every call, or when it is traced


def default_argument():
    def law(t, q, v, rows=np.zeros(2)):  # noqa: B008 that is what is tried
        rows += 1.0
        return pd(t, q, v) + rows

    return law


def global_array():
    ROWS[:] = 0.0

    def law(t, q, v):
        rows = ROWS
        rows += 1.0
        return pd(t, q, v) + rows

    return law


def view():
    rows = np.ones((2, 2))

    def law(t, q, v):
        row = rows[0]
        row *= 1.1
        return pd(t, q, v) * row

    return law


def by_ufunc():
    rows = np.zeros(2)

    def law(t, q, v):
        np.add.at(rows, 0, 1.0)
        return pd(t, q, v) + rows

    return law


def by_position():
    rows = np.zeros(2)

    def law(t, q, v):
        np.add(rows, 1.0, rows)
        return pd(t, q, v) + rows

    return law


def by_operator():
    rows = np.zeros(2)

    def law(t, q, v):
        operator.setitem(rows, 0, rows[0] + 1.0)
        return pd(t, q, v) + operator.iadd(rows, 1.0)

    return law


def by_method():
    rows = np.zeros(2)

    def law(t, q, v):
        rows.__setitem__(0, rows[0] + 1.0)
        return pd(t, q, v) + rows

    return law


def partial_keyword():
    def law(t, q, v, *, rows):
        rows += 1.0
        return pd(t, q, v) + rows

    return functools.partial(law, rows=np.zeros(2))


def random_under_another_name():
    from numpy import random as draws

    draws.seed(0)

    def law(t, q, v):
        return pd(t, q, v) + draws.normal(size=2)

    return law


def random_by_attribute():
    np.random.seed(0)

    def law(t, q, v):
        return pd(t, q, v) + getattr(np, "ran" + "dom").normal(size=2)

    return law


def random_by_dict():
    np.random.seed(0)

    def law(t, q, v):
        return pd(t, q, v) + vars(np)["random"].normal(size=2)

    return law


def by_globals():
    globals()["COUNTED"] = 0

    def law(t, q, v):
        globals()["COUNTED"] += 1
        return pd(t, q, v) * globals()["COUNTED"]

    return law


def asks_for_a_type():
    def law(t, q, v):
        return pd(t, q, v) * (1.0 if type(t) is float else 3.0)

    return law


def asks_for_an_array():
    """As with numbers in the beginning, and not later."""

    def law(t, q, v):
        if isinstance(q, np.ndarray) and q[0] > 0.31:
            return -50.0 * v
        return 10.0 * pd(t, q, v)

    return law


def catches_what_cannot_be_traced():
    def law(t, q, v):
        try:
            low = bool(q[0] < 0.31)
        except Exception:
            low = True
        return 10.0 * pd(t, q, v) if low else -50.0 * v

    return law


def prints_what_it_is():
    def law(t, q, v):
        return pd(t, q, v) * len(repr(q))

    return law


def reads_a_file(tmp_path):
    np.savetxt(tmp_path / "gain.txt", [2.0])
    path = str(tmp_path / "gain.txt")

    def law(t, q, v):
        gain = np.loadtxt(path)
        np.savetxt(path, [gain + 1.0])
        return pd(t, q, v) * gain

    return law


HOSTILE = [
    default_argument,
    global_array,
    view,
    by_ufunc,
    by_position,
    by_operator,
    by_method,
    partial_keyword,
    by_globals,
]
HOSTILE += [random_under_another_name, random_by_attribute, random_by_dict, asks_for_a_type, asks_for_an_array]
HOSTILE += [catches_what_cannot_be_traced, prints_what_it_is]


@pytest.mark.compiled
@pytest.mark.parametrize("make", HOSTILE)
def test_what_differs_from_call_to_call_is_called(make):
    assert same(run(make()), run(make(), compile_controller=False))


@pytest.mark.compiled
def test_files_are_read_at_every_call(tmp_path):
    assert same(run(reads_a_file(tmp_path)), run(reads_a_file(tmp_path), compile_controller=False))


@pytest.mark.compiled
def test_plain_functions_are_compiled():
    from torsor.simulation.drives import asked_forces

    gains, goal = np.array([4.0, 3.0]), 0.5

    def law(t, q, v):
        tau = gains * (goal - q)
        tau -= v  # an array of its own
        return tau + sum(x for x in (0.1 * q, 0.2 * v)) * np.where(t > 0.03, 1.0, 0.5)

    for each in (law, pd):
        drive = asked_forces(ARM, each, None, (), (Q, V), continuous=False, compile_it=None)
        assert drive.asked is not None and drive.asked.program is not None
        assert same(run(each), run(each, compile_controller=False))


# What other functions of the same run change


@pytest.mark.compiled
def test_what_an_action_changes_is_seen_by_the_controller():
    found = []
    for choice in (None, False):
        target, gain = np.zeros(2), 1.0

        def moves(t, q, v, target=target):
            target[:] = 3.0
            return q, v

        def turns(t, q, v):
            nonlocal gain
            gain = 5.0
            return q, v

        def law(t, q, v, target=target):
            return gain * (target - q) - v  # noqa: B023 it is to change

        events = [Event(lambda t, q, v: t - 0.035, action=turns), Event(lambda t, q, v: t - 0.055, action=moves)]
        found.append(run(law, events=events, compile_controller=choice))
    assert same(*found)
    assert abs(found[0].tau[5, 0] / found[0].tau[3, 0]) > 3.0 and found[0].tau[6, 0] > 10.0


@pytest.mark.compiled
def test_what_a_controller_writes_is_seen_by_a_wrench():
    push = np.zeros(6)

    class Law:
        def __call__(self, t, q, v):
            push[4] = 30.0 * t
            return pd(t, q, v)

    seen = run(Law(), wrenches={"tip": lambda t, q, v: push})
    # The controller is asked at the start of each step
    expected = run(Law(), wrenches={"tip": lambda t, q, v: push.copy() if q[0] < 100.0 else push})
    assert same(seen, expected) and not same(seen, run(pd))


# Memory


@pytest.mark.compiled
def test_a_controller_that_writes_into_its_memory_leaves_the_first_one_as_it_was():
    def law(t, q, v, integral):
        integral += DT * (0.5 - q)
        return 4.0 * integral + pd(t, q, v), integral

    first = np.zeros(2)
    runs = [run(law, controller_state=first, compile_controller=choice) for choice in (False, False, None)]
    assert np.array_equal(first, np.zeros(2))
    assert same(runs[0], runs[1]) and same(runs[0], runs[2])


def test_of_a_batch_each_trajectory_has_its_own_memory_also_with_adaptive_steps():
    def law(t, q, v, kept):
        return 4.0 * kept["sum"] + pd(t, q, v), {"sum": kept["sum"] + DT * (0.5 - q)}

    q = np.array([Q, 2.0 * Q, -Q])
    given = {"dt": None, "times": [0.0, 0.04, 0.08], "control_dt": DT, "controller_state": {"sum": np.zeros(2)}}
    together = run(law, q=q, **given)
    for k in range(3):
        assert same(together.of(k), run(law, q=q[k], **given))


def test_forces_of_one_trajectory_for_a_batch_are_refused_where_a_controller_is_called():
    class Law:
        def __call__(self, t, q, v):
            return -q[0]  # of the first trajectory, not of the first joint

    with pytest.raises(ShapeError, match=r"must return joint forces of shape \(3, 2\), got \(2,\).*q\[\.\.\., 0\]"):
        run(Law(), q=np.array([Q, Q, Q]))


# Adaptive steps under functions that are called


class Called:
    """A function that nobody can look into."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *given):
        return self.function(*given)


def swings(t):
    none = 0.0 * t
    return np.stack([none, none, np.sin(3.0 * t), none, none + 0.1, none]), np.stack(
        [none, none, 3.0 * np.cos(3.0 * t), none, none, none]
    )


def pushes(t, q, v):
    return np.stack([0.0 * t, 0.0 * t, np.sin(5.0 * t), q[..., 0], v[..., 1], 0.0 * t], axis=-1)


FUNCTIONS = {
    "law": lambda wrapped: {"controller": wrapped(pd), "control_dt": 0},
    "tau": lambda wrapped: {"tau": wrapped(lambda t: np.stack([np.sin(4.0 * t), 1.0 + t]))},
    "wrench": lambda wrapped: {"wrenches": {"tip": wrapped(pushes)}},
    "base": lambda wrapped: {"base_motion": wrapped(swings)},
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_give_the_same_called_or_compiled(name):
    called, compiled = (FUNCTIONS[name](wrapped) for wrapped in (Called, lambda f: f))
    assert same(run(**called), run(**compiled))
    # Steps are chosen by errors that are small differences of large numbers: they agree to the tolerance
    adaptive = {"dt": None, "duration": 0.5, "rtol": 1e-9, "atol": 1e-11, "times": [0.0, 0.2, 0.5]}
    one, other = run(**called, **adaptive), run(**compiled, **adaptive)
    assert same(one, other, 1e-8) and one.audit().residual < 1e-9


@pytest.mark.compiled
def test_stops_friction_and_events_of_adaptive_steps_under_a_law_that_is_called():
    robot = ARM.with_parameters(coulomb_friction=np.array([0.5, 0.2]))
    event = Event(lambda t, q, v: q[1] - 0.1, name="there", action=lambda t, q, v: (q, 0.5 * v))
    ends = []
    for law in (pd, Called(pd)):
        ends.append(
            torsor.simulate(
                robot, Q, V, duration=0.6, controller=law, control_dt=0, events=event, times=[0.0, 0.3, 0.6]
            )
        )
    assert same(*ends, 1e-7) and len(ends[0].events) == len(ends[1].events) > 0
    assert ends[0].audit().residual < 1e-8


def test_a_held_controller_of_adaptive_steps_is_not_compiled():
    with pytest.raises(ArgumentError, match="adaptive steps stop where a controller is asked, and call it from Python"):
        run(pd, dt=None, control_dt=DT, compile_controller=True)
    calls = []
    run(lambda t, q, v: calls.append(t) or pd(t, q, v), dt=None, control_dt=DT)
    np.testing.assert_allclose(calls, DT * np.arange(STEPS), atol=1e-15)


# A base that is moved


@pytest.mark.compiled
def test_a_base_that_is_moved_is_a_floating_base_that_moves_so():
    still = np.zeros(6)
    twist = np.array([0.0, 0.0, 1.0, 0.0, 0.1, 0.0])
    constant = run(base_motion=(twist, still))
    assert same(constant, run(base_motion=lambda t: (twist, still)))
    assert same(constant, run(q=np.array([Q, -Q]), base_motion=Called(lambda t: (twist, still))).of(0))
    moved = run(base_motion=swings, dt=1e-3)
    assert moved.audit().residual < 1e-9 and np.abs(moved.work.wrenches[-1]) > 1e-3
    assert run(q=np.zeros((0, 2)), base_motion=Called(swings)).q.shape == (0, STEPS + 1, 2)


@pytest.mark.parametrize("wrong", [lambda t: np.zeros(6), lambda t: (np.zeros(3), np.zeros(6)), lambda t: None])
def test_a_base_motion_of_another_form_is_refused(wrong):
    with pytest.raises(ShapeError, match=r"`base_motion` must give a pair of \(6,\) arrays"):
        run(base_motion=wrong)
