"""Self-motions on fibres that contain singular configurations: the same answer from every start, and what meets there."""

import numpy as np
import pytest

import torsor
from torsor.redundancy._self_motion_components import pieces_met
from torsor.redundancy.configurations import angle_difference, vector
from torsor.redundancy.fibres import singular_nearby
from torsor.redundancy.task_places import place

pytestmark = pytest.mark.compiled  # thousands of calls for one state each
LENGTHS = np.array([0.5, 0.4, 0.3])
ARM = torsor.robots.planar_chain(list(LENGTHS), [1.0, 0.8, 0.5])
XY = torsor.position_task("tip", ["vx", "vy"])
PANDA, HAND = torsor.robots.panda(), torsor.pose_task("hand_tcp")


def reaching(distance, first, elbow):
    """The configuration of ARM with its tip at (distance, 0), its first joint at ``first``, the last bent to one side."""
    to_tip = np.array([distance, 0.0]) - LENGTHS[0] * np.array([np.cos(first), np.sin(first)])
    cosine = (to_tip @ to_tip - LENGTHS[1] ** 2 - LENGTHS[2] ** 2) / (2 * LENGTHS[1] * LENGTHS[2])
    if abs(cosine) > 1.0:
        return None
    bend = elbow * np.arccos(cosine)
    towards = np.arctan2(to_tip[1], to_tip[0])
    inner = np.arctan2(LENGTHS[2] * np.sin(bend), LENGTHS[1] + LENGTHS[2] * np.cos(bend))
    return np.array([first, towards - inner - first, bend])


def starts_at(distance, firsts):
    found = [reaching(distance, first, elbow) for first in firsts for elbow in (1, -1)]
    return [q for q in found if q is not None]


def same(robot, a, b, within=1e-9):
    return np.linalg.norm(angle_difference(robot, np.asarray(a, float), np.asarray(b, float))) < within


# Planar 3R: 0.6 = l1 + l2 − l3, 0.4 = l1 − l2 + l3, 0.2 = l2 + l3 − l1, all with the links in one line


@pytest.mark.parametrize(
    ("distance", "singular", "firsts"),
    [
        (0.6, (0, 0, np.pi), (-0.6, 0.15)),
        (0.4, (0, np.pi, np.pi), (-1.0, 0.3)),
        (0.2, (np.pi, np.pi, 0), (-2.8, 1.1)),
    ],
)
def test_every_start_on_a_fibre_with_a_crossing_gives_the_same_answer(distance, singular, firsts):
    """Two loops that meet in one configuration, mirror images of each other. Open, closed and endless were said before."""
    motions = [torsor.redundancy.self_motion(ARM, q, XY) for q in starts_at(distance, firsts)]
    assert len(motions) >= 4
    for motion in motions:
        assert not motion.closed
        assert float(motion.length) == pytest.approx(float(motions[0].length), rel=1e-9)
        (end,) = motion.singular
        assert end.rank == 1
        assert len(end.directions) == 4
        assert all(same(ARM, end.q, q) for q in (singular, motion.q[0], motion.q[-1]))
        assert motion.task_error < 1e-14
        assert "the singular configuration q = " in str(motion)
        assert "to the same configuration, from another side" in str(motion)


@pytest.mark.parametrize(("distance", "side", "off"), [(0.6, 1, 1e-12), (0.4, -1, 1e-12), (0.2, 1, 1e-9)])
def test_beside_a_crossing_two_loops_become_one_or_part(distance, side, off):
    """The fibre next to it turns from loop to loop: one curve as long as both on one side, two as long as one on the other."""
    loop = float(torsor.redundancy.self_motion(ARM, starts_at(distance, [0.3])[0], XY).length)
    for sign, loops in ((side, 2), (-side, 1)):
        motion = torsor.redundancy.self_motion(ARM, starts_at(distance + sign * off, [0.3])[0], XY)
        assert motion.closed
        assert not motion.singular
        (beside,) = motion.missed
        assert beside.off == pytest.approx(off, rel=1e-3)
        assert f"beside the singular configuration q = {vector(beside.q)} with the task {off:.0g} away" in str(motion)
        # Corners of size √off are cut, on both sides of each of two passes at most.
        assert float(motion.length) == pytest.approx(loops * loop, abs=8 * np.sqrt(off))


def test_a_crossing_joins_its_curves_to_one_piece():
    found = torsor.redundancy.self_motion_components(ARM, reaching(0.6, 0.3, 1), XY, starts=8)
    assert len(found) == 1
    assert len(found.components) == 2
    np.testing.assert_array_equal(found.piece, [0, 0])
    assert same(ARM, found.singular[0].q, [0, 0, np.pi])
    assert found.found.sum() == found.starts
    assert "2 curves that meet in singular configurations" in str(found)
    from_crossing = torsor.redundancy.self_motion_components(ARM, [0, 0, np.pi], XY, starts=8)
    assert len(from_crossing) == 1
    lengths = [sorted(float(curve.length) for curve in one.components) for one in (found, from_crossing)]
    np.testing.assert_allclose(*lengths, rtol=1e-9)


def test_curves_leave_a_crossing_in_the_directions_that_are_told():
    found = torsor.redundancy.self_motion_components(ARM, reaching(0.4, 0.3, 1), XY, starts=2)
    (crossing,) = found.singular
    leaving = []
    for curve in found.components:
        for near, far in ((0, 1), (-1, -2)):
            away = angle_difference(ARM, curve.q[near], curve.q[far])
            leaving.append(away / np.linalg.norm(away))
    cosines = np.array(leaving) @ crossing.directions.T
    assert np.all(np.max(cosines, axis=1) > 0.999)
    assert sorted(np.argmax(cosines, axis=1)) == [0, 1, 2, 3]


def test_starts_in_singular_configurations_are_answered_in_words():
    with pytest.raises(
        torsor.TorsorError, match=r"rank 1 of 2.*Two curves of the self-motion cross here: .*components"
    ):
        torsor.redundancy.self_motion(ARM, [0, 0, np.pi], XY)
    with pytest.raises(torsor.TorsorError, match=r"rank 1 of 2.*this configuration alone"):
        torsor.redundancy.self_motion(ARM, [0.3, 0, 0], XY)
    alone = torsor.redundancy.self_motion_components(ARM, [0.3, 0, 0], XY, starts=5)
    assert len(alone) == 1
    assert not alone.components
    assert alone.singular[0].is_isolated
    assert "this point alone" in str(alone)


@pytest.mark.parametrize("off", [1e-9, 1e-12])
def test_fibres_beside_an_isolated_configuration_are_small_ellipses(off):
    lengths = []
    for factor in (1.0, 4.0):
        motion = torsor.redundancy.self_motion(ARM, starts_at(1.2 - factor * off, [0.0])[0], XY)
        assert motion.closed
        lengths.append(float(motion.length))
    # The tip itself is known to 1e-16, a fraction 1e-4 of the smaller offset.
    assert lengths[1] / lengths[0] == pytest.approx(2.0, rel=1e-3)


def test_a_curve_ends_in_a_crossing_or_at_a_limit_whichever_is_first():
    arm = ARM.with_limits({"joint_1": (-0.4, 0.4)})
    q = reaching(0.6, 0.3, 1)
    free = torsor.redundancy.self_motion(arm, q, XY)
    motion = torsor.redundancy.self_motion(arm, q, XY, within_limits=True)
    assert sum("limit of 'joint_1', 0.4" in end for end in motion.ends) == 1
    assert len(motion.singular) == 1
    assert float(motion.length) < float(free.length)
    found = torsor.redundancy.self_motion_components(arm, q, XY, starts=8, within_limits=True)
    assert len(found) >= 1
    for curve in found.components:
        assert np.all(np.abs(curve.q[:, 0]) < 0.4 + 1e-9)


# In space


def test_arcs_of_the_panda_meet_four_at_each_crossing():
    """A curve ends in two crossings, and four curves end in each: there are twice as many curves as crossings in a piece."""
    beside = np.array([-0.0288, 0.0, 1.5488, -2.6329, 1.8574, 2.5256, 1.6785])
    crossing = singular_nearby(PANDA, beside, HAND, place(PANDA, beside, HAND))
    assert np.linalg.svd(HAND.jacobian(PANDA, crossing.q), compute_uv=False)[-1] < 1e-12
    found = torsor.redundancy.self_motion_components(PANDA, crossing.q, HAND, spacing=0.1, starts=1)
    arcs = [curve for curve, piece in zip(found.components, found.piece, strict=True) if piece == 0]
    crossings = np.sum(found.piece_of_singular == 0)
    assert crossings >= 1
    assert len(arcs) == 2 * crossings
    again = torsor.redundancy.self_motion(PANDA, arcs[1].q[len(arcs[1].q) // 3], HAND, spacing=0.1)
    assert float(again.length) == pytest.approx(float(arcs[1].length), rel=1e-8)
    assert len(again.singular) == len(arcs[1].singular)


def test_flows_end_in_singular_configurations_and_the_others_go_on():
    """From beside one of four links in a line, towards it: before, one flow that came there ended all of them."""
    chain = torsor.robots.planar_chain([1.0] * 4, [1.0] * 4)
    motion = torsor.redundancy.self_motion(chain, [0, 0, 0.02, np.pi], XY, flows=64)
    stopped = np.array(["singular configuration near q = " in end for end in motion.ends])
    assert 0 < stopped.sum() < 64
    assert np.abs(motion.q[stopped, -1] - [0, 0, 0, np.pi]).max() < 1e-4
    assert f"{stopped.sum()} of them to a singular configuration" in str(motion)
    assert motion.task_error < 1e-7


# How many there are


def test_the_number_of_pieces_is_a_lower_bound_and_says_how_it_grew():
    met = pieces_met(np.array([0, 0, 1, 0, 0, 1, 0, 2, 0, 0, 0, 3]))
    assert met.growth == ((10, 3), (12, 4))
    assert (met.once, met.twice) == (2, 1)
    assert met.chance_of_new == pytest.approx(2 / 12)
    assert met.expected_more == pytest.approx(2 * 1 / (2 * 2))
    assert (1 - met.hidden_share) ** 12 == pytest.approx(0.05)
    assert "3 by 10, 4 by 12; 2 by one start only" in str(met)
    assert pieces_met(np.zeros(0, int)).chance_of_new == 1.0


def test_estimates_of_what_is_missing_are_right_on_average():
    """Drawn from twenty pieces of known shares: the chance of a new one is right on average, and the number a lower bound."""
    generator = np.random.default_rng(0)
    shares = np.arange(1, 21) / 210
    chances, truths, numbers = [], [], []
    for _ in range(400):
        drawn = generator.choice(20, size=40, p=shares)
        met = pieces_met(drawn)
        chances.append(met.chance_of_new)
        truths.append(shares[~np.isin(np.arange(20), drawn)].sum())
        numbers.append(met.growth[-1][1] + met.expected_more)
    assert np.mean(chances) == pytest.approx(np.mean(truths), abs=0.01)
    assert 17.0 < np.mean(numbers) < 20.5
