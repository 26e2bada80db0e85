"""The record of a joint kind agrees with itself: sizes, units, screws, motion, ⊕, ⊖ and rates belong to one joint."""

import numpy as np
import pytest
from property_checks import assert_close

from torsor.lie import se3
from torsor.model.joint_kinds import KINDS

SCREWS = {
    "revolute": np.array([0.0, 0.6, 0.8, 0.0, 0.4, -0.3]),
    "prismatic": np.array([0.0, 0.0, 0.0, 0.0, 0.6, 0.8]),
    "helical": np.array([0.0, 0.6, 0.8, 0.2, 0.5, -0.1]),
}
STEP = 1e-6
DIFFERENCED = 1e-8  # central differences with that step


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def state(kind):
    """A screw, and q, v drawn for the kind."""
    rng, none = np.random.default_rng(7), np.full(kind.nq, np.inf)
    return SCREWS.get(kind.name, np.zeros(6)), kind.sample(rng, (), -none, none), rng.normal(size=kind.nv)


def test_sizes_belong_together(kind):
    assert kind.has_screw == (kind.name in SCREWS)
    assert (1 if kind.has_screw else len(kind.rows)) == kind.nv
    assert len(kind.moved_by) == kind.nq == len(kind.home) == len(kind.half_ranges)
    assert kind.bounded + (0 if kind.quaternion is None else 4) == kind.nq
    for k, entries in enumerate(kind.moved_by):
        assert {kind.v_units[j] for j in entries} == (set() if kind.q_units[k] == "1" else {kind.q_units[k]})


def test_home_is_no_motion(kind, state):
    assert_close(kind.motion(state[0], kind.home), np.eye(4))


def test_difference_undoes_a_step(kind, state):
    _, q, v = state
    assert_close(kind.lead(q, kind.move(q, v)), v, 1e-12)


def test_velocity_undoes_rate(kind, state):
    _, q, v = state
    assert_close(kind.velocity(q, kind.rate(q, v)), v, 1e-12)


def test_a_step_moves_the_link_by_the_screws(kind, state):
    """T⁻¹ Ṫ of the motion is Sᵀ v."""
    S, q, v = state
    before, after = (kind.motion(S, kind.move(q, sign * STEP * v)) for sign in (-1.0, 1.0))
    twist = se3.log(se3.inverse(before) @ after) / (2 * STEP)
    rows = S[None] if kind.rows is None else kind.rows
    assert_close(twist, v @ rows, DIFFERENCED)


def test_the_rate_is_that_of_a_step(kind, state):
    _, q, v = state
    assert_close(kind.rate(q, v), (kind.move(q, STEP * v) - kind.move(q, -STEP * v)) / (2 * STEP), DIFFERENCED)
    for k, entries in enumerate(kind.moved_by):
        if entries:
            still = v.copy()
            still[list(entries)] = 0.0
            assert kind.rate(q, still)[k] == 0.0


def test_the_increment_rate_is_that_of_the_increment(kind, state):
    _, q, v = state
    u = 0.4 * v[::-1]
    there = kind.move(q, u)
    ahead, behind = (kind.lead(q, kind.move(there, sign * STEP * v)) for sign in (1.0, -1.0))
    assert_close(kind.increment_rate(u, v), (ahead - behind) / (2 * STEP), DIFFERENCED)


def test_whole_turns_change_nothing(kind, state):
    S, q, _ = state
    for k in kind.whole_turns:
        turned = q + 2 * np.pi * np.eye(kind.nq)[k]
        assert_close(kind.motion(S, turned), kind.motion(S, q), 1e-12)


def test_a_point_stays_where_it_is_said(kind, state):
    """T x = x has a solution for every q, or for hardly any."""
    S, q, _ = state
    T = kind.motion(S, q)
    x = np.linalg.lstsq(T[:3, :3] - np.eye(3), -T[:3, 3], rcond=1e-9)[0]
    left = np.abs(T[:3, :3] @ x + T[:3, 3] - x).max()
    planar = kind.name == "planar"  # each motion has a fixed point, but another one for another q
    assert planar or (left < 1e-12) == kind.has_fixed_point
