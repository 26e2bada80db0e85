"""Priorities for a batch of states: what each of them alone would be given, and reports that say so by state."""

import pickle

import numpy as np
import pytest

import torsor

DT = 0.01
PANDA = torsor.robots.panda()
LOWER, UPPER = np.array(PANDA.limits.lower), np.array(PANDA.limits.upper)
HAND, ELBOW = torsor.position_task("hand_tcp"), torsor.orientation_task("link_4")


def states(batch, seed=0):
    rng = np.random.default_rng(seed)
    q = LOWER + (UPPER - LOWER) * rng.uniform(0.05, 0.95, (*batch, 7))
    return q, 0.5 * rng.normal(size=(*batch, 7)), rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 3)), rng


@pytest.mark.parametrize("batch", [(4,), (2, 3)])
def test_a_batch_of_velocities_is_one_state_after_the_other(batch):
    q, previous, y, turn, _ = states(batch)
    null, W = 0.3 * previous, torsor.mass_matrix(PANDA, q)
    options = {"acceleration_limits": 20.0, "recovery": 0.2, "damping": 0.01}
    found = torsor.control.prioritised_velocities(
        PANDA, q, [(HAND, y), (ELBOW, 4.0 * turn)], DT, null=null, metric=W, previous=previous, **options
    )
    assert found.v.shape == (*batch, 7)
    assert found.feasible.shape == batch and len(found) == batch[0]
    assert [x.shape for x in found.residuals] == [(*batch, 3), (*batch, 3)]
    for k in np.ndindex(batch):
        tasks = [(HAND, y[k]), (ELBOW, 4.0 * turn[k])]
        alone = torsor.control.prioritised_velocities(
            PANDA, q[k], tasks, DT, null=null[k], metric=W[k], previous=previous[k], **options
        )
        np.testing.assert_allclose(found.v[k], alone.v, atol=1e-9)
        np.testing.assert_allclose(found.residuals[1][k], alone.residuals[1], atol=1e-9)
        assert str(found[k]) == str(alone) and found[k].active_limits == alone.active_limits
        assert bool(found.feasible[k]) is alone.feasible


def test_a_batch_of_accelerations_is_one_state_after_the_other():
    q, v, y, turn, _ = states((5,))
    found = torsor.control.prioritised_accelerations(PANDA, q, v, [(HAND, 20.0 * y), (ELBOW, 40.0 * turn)], DT, null=-v)
    assert found.a.shape == found.tau.shape == (5, 7)
    for k in range(5):
        tasks = [(HAND, 20.0 * y[k]), (ELBOW, 40.0 * turn[k])]
        alone = torsor.control.prioritised_accelerations(PANDA, q[k], v[k], tasks, DT, null=-v[k])
        np.testing.assert_allclose(found.a[k], alone.a, atol=1e-7)
        np.testing.assert_allclose(found.tau[k], alone.tau, atol=1e-7)
        assert str(found[k].tasks[1])[:40] == str(alone.tasks[1])[:40]


@pytest.mark.parametrize("kind", ["planar", "free"])
def test_bases_in_a_batch_keep_to_their_places_each(kind):
    numbers = {"planar": 3, "free": 7}[kind]
    limit = np.where(np.arange(numbers) < 2, 1.0, np.inf)
    body = torsor.Inertia(1.0, np.zeros(3), np.eye(3))
    base = torsor.Joint(name="base", kind=kind, link="body", lower=-limit, upper=limit, inertia=body)
    robot = torsor.assemble([base], name="rover")
    q, rng = torsor.random_configuration(robot, seed=1, batch=(3,)), np.random.default_rng(2)
    q[:, :2] = [[0.999, -0.3], [0.2, 0.1], [-0.5, -0.9999]]
    v, y = rng.normal(size=(3, robot.nv)), np.array([[3.0, -3.0, 0.0]])
    tasks = [(torsor.position_task("body"), y)]
    by_v = torsor.control.prioritised_velocities(robot, q, tasks, DT)
    by_a = torsor.control.prioritised_accelerations(robot, q, v, tasks, DT, acceleration_limits=20.0)
    for k in range(3):
        tasks = [(torsor.position_task("body"), y[0])]
        np.testing.assert_allclose(
            by_v.v[k], torsor.control.prioritised_velocities(robot, q[k], tasks, DT).v, atol=1e-9
        )
        alone = torsor.control.prioritised_accelerations(robot, q[k], v[k], tasks, DT, acceleration_limits=20.0)
        np.testing.assert_allclose(by_a.a[k], alone.a, atol=1e-9)


def test_arguments_share_their_batch_axes():
    q, _, y, _, _ = states((3,))
    together = torsor.control.prioritised_velocities(PANDA, q[0], [(HAND, y)], DT, null=np.zeros((2, 1, 7)))
    assert together.v.shape == (2, 3, 7)
    np.testing.assert_allclose(
        together.v[1, 2], torsor.control.prioritised_velocities(PANDA, q[0], [(HAND, y[2])], DT).v, atol=1e-12
    )
    assert together[1].v.shape == (3, 7) and together[1, 2].tasks[0].name == "hand_tcp position"
    with pytest.raises(torsor.ShapeError, match=r"batch axes must agree, or be 1; got q \(3,\), velocity of .* \(2,\)"):
        torsor.control.prioritised_velocities(PANDA, q, [(HAND, y[:2])], DT)


def test_a_batch_of_nothing_is_one():
    none = np.zeros((0, 7))
    found = torsor.control.prioritised_velocities(PANDA, none, [(HAND, np.zeros(3))], DT)
    assert found.v.shape == (0, 7) and len(found) == 0 and found.feasible.shape == (0,)
    assert str(found).startswith("0 states")
    pushed = torsor.control.prioritised_accelerations(PANDA, none, none, [(HAND, np.zeros(3))], DT)
    assert pushed.a.shape == pushed.tau.shape == (0, 7)


def test_reports_of_batches_say_how_many_and_which():
    q, _, y, _, _ = states((4,))
    q[:] = 0.5 * (LOWER + UPPER)
    q[2, 3] = UPPER[3] + 0.5
    y = np.array([[0.01, 0, 0], [30.0, 0, 0], [0, 0, 0], [0, 0, 0.01]])
    found = torsor.control.prioritised_velocities(PANDA, q, [(HAND, y)], DT)
    text = str(found)
    assert "4 states" in text and "1. hand_tcp position: done in " in text and "limits in conflict: 2" in text
    assert list(found.feasible) == [True, True, False, True]
    with pytest.raises(torsor.TorsorError, match=r"`tasks` belongs to one state.*result\[0\]\.tasks"):
        _ = found.tasks
    with pytest.raises(torsor.TorsorError, match=r"there is no \[7\] of a batch of \(4,\)"):
        _ = found[7]
    with pytest.raises(torsor.TorsorError, match="there is one state"):
        _ = found[0][0]
    assert found.robot is PANDA and found[0].robot is PANDA
    assert repr(found) == "PrioritisedVelocities(robot=<Robot 'panda'>, batch of (4,))"


def test_results_can_be_pickled():
    q, _, y, _, _ = states((2,))
    task = torsor.function_task(lambda robot, q: q[:3], 3)  # which cannot
    for found in (
        torsor.control.prioritised_velocities(PANDA, q, [(task, y)], DT),
        torsor.control.prioritised_velocities(PANDA, q[0], [(task, 30.0 * y[0])], DT),
    ):
        again = pickle.loads(pickle.dumps(found))
        assert np.array_equal(again.v, found.v) and str(again) == str(found)
