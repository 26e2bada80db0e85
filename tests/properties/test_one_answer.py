"""Priorities have one answer: it does not depend on which of many equally good motions a solver finds for a level."""

import numpy as np
import pytest

import torsor
from torsor.control.priorities import hierarchy

pytestmark = pytest.mark.compiled  # as users run them
DT = 0.01
PANDA = torsor.robots.panda()
LOWER, UPPER = np.array(PANDA.limits.lower), np.array(PANDA.limits.upper)
TASKS = [torsor.position_task("link_4"), torsor.position_task("hand_tcp")]


def problems(count):
    """States near to limits, and what two tasks want there."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        q = LOWER + (UPPER - LOWER) * rng.uniform(0.0, 1.0, 7)
        near = rng.random(7) < 0.3
        q = np.where(near, np.where(rng.random(7) < 0.5, LOWER, UPPER), q).clip(LOWER + 1e-3, UPPER - 1e-3)
        yield q, rng.normal(size=7), [(task, 10.0 ** rng.uniform(-0.5, 1.5) * rng.normal(size=3)) for task in TASKS]


def elsewhere(seed, changed):
    """`_within_rows` that goes on at random along what leaves the level, and limits in its way, as they are."""
    rng, original = np.random.default_rng(seed), hierarchy._within_rows

    def moved(unlimited, before, rows, damping):
        w, multipliers = original(unlimited, before, rows, damping)
        C = rows.C @ before.Z
        _, sizes, Vt = np.linalg.svd(np.concatenate([unlimited.used, C[np.abs(multipliers) > 1e-9]]))
        free = Vt[np.count_nonzero(sizes > 1e-9) :]
        if not len(free):
            return w, multipliers
        along = rng.normal(size=len(free)) @ free
        values, rates = rows.C @ before.x + C @ w, C @ along
        room = np.where(rates > 0.0, rows.upper - values, rows.lower - values)
        moving = np.abs(rates) > 1e-9
        share = np.clip((room[moving] / rates[moving]).min(initial=1.0), 0.0, 1.0)
        changed.append(share * np.abs(along).max())
        return w + share * along, multipliers

    return moved


@pytest.mark.parametrize("damping", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["velocities", "accelerations"])
def test_the_answer_is_the_same_whichever_optimum_a_level_goes_on_from(kind, damping, monkeypatch):
    def answers():
        for q, v, tasks in problems(30):
            if kind == "velocities":
                yield torsor.control.prioritised_velocities(PANDA, q, tasks, DT, null=v, damping=damping).v
            else:
                yield torsor.control.prioritised_accelerations(PANDA, q, v, tasks, DT, null=-v, damping=damping).a

    usual, changed = list(answers()), []
    monkeypatch.setattr(hierarchy, "_within_rows", elsewhere(7, changed))
    for x, y in zip(usual, answers(), strict=True):
        np.testing.assert_allclose(y, x, atol=1e-7 * max(1.0, np.abs(x).max()))
    assert max(changed) > 0.1
