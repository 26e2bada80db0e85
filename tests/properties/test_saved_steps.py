"""Which steps are saved changes no motion: every k-th step is that of the run which saves all, and late trajectories catch up."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor.simulation import Event, Stops

pytestmark = pytest.mark.compiled

ARM = torsor.robots.planar2r()
LIMITS = torsor.robots.planar2r().with_limits(([-1.5, -0.9], [1.2, 0.9]), effort=[25.0, 20.0])
STARTS = np.array([[0.0, 0.5], [0.9, 0.2], [-1.0, -0.6], [0.3, 0.0], [1.0, -0.7]])


def law(t, q, v):
    return 5.0 * np.sin(3.0 * t) - 4.0 * q - 0.5 * v


def pid(t, q, v, total):
    total = total + 0.01 * q
    return -4.0 * q - 2.0 * total - 0.5 * v, total


WAYS = {
    "held longer": {"controller": law, "control_dt": 0.03},
    "memory": {"controller": pid, "controller_state": np.zeros(2)},
    "in Python": {"controller": law, "compile_controller": False},
    "bouncing": {"stops": Stops(restitution=0.5)},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_kth_step_is_that_of_all_steps(way):
    start = STARTS[1], np.array([0.5, -1.0])
    whole = torsor.simulate(LIMITS, *start, duration=1.01, dt=0.01, **WAYS[way])
    for every in (7, 1000):
        some = torsor.simulate(LIMITS, *start, duration=1.01, dt=0.01, every=every, **WAYS[way])
        kept = np.unique([*range(0, 102, every), 101])
        np.testing.assert_allclose(some.time, whole.time[kept], rtol=1e-15)
        for name in ("q", "v", "a", "tau"):
            np.testing.assert_allclose(getattr(some, name), getattr(whole, name)[kept], rtol=1e-9, atol=1e-9)
        for mine, its in zip(some.work, whole.work, strict=True):
            np.testing.assert_allclose(mine, its[kept], rtol=1e-9, atol=1e-9)
        assert some.notes == whole.notes or way == "held longer"  # drives are at their limits between samples, too


def test_a_batch_in_which_some_meet_their_stops_is_what_each_is_alone():
    options = {"duration": 1.0, "dt": 0.01, "every": 4, "stops": Stops(restitution=0.5)}
    batch = torsor.simulate(LIMITS, STARTS, np.zeros(2), **options)
    assert any("stop" in note for note in batch.notes)
    for k, q in enumerate(STARTS):
        alone = torsor.simulate(LIMITS, q, np.zeros(2), **options)
        for name in ("q", "v", "a", "tau"):
            np.testing.assert_allclose(getattr(batch, name)[k], getattr(alone, name), rtol=1e-9, atol=1e-9)


def test_events_are_found_whatever_is_saved():
    event = Event(lambda t, q, v: q[0] - 0.2, name="there")
    runs = [
        torsor.simulate(ARM, STARTS[1], np.zeros(2), duration=1.0, dt=0.01, every=every, events=event)
        for every in (1, 10)
    ]
    assert runs[0].events and [e.time for e in runs[0].events] == [e.time for e in runs[1].events]
    np.testing.assert_allclose(runs[1].q, runs[0].q[::10], rtol=1e-12)
