"""Adaptive integration: order on every joint kind, accuracy, dense output, batches, guards, and what is reported."""

import numpy as np
import pytest

import torsor
from torsor.simulation.adaptive import PAIRS, AdaptiveFlow
from torsor.simulation.adaptive_run import ARRIVED, FIRED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS
from torsor.simulation.embedded_pair import weighted

pytestmark = pytest.mark.compiled
KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")


def freely(robot, t, q, v, c):
    """The robot left to itself, with the power of gravity."""
    return torsor.forward_dynamics(robot, q, v, 0.0 * v), np.stack([-np.sum(torsor.gravity_forces(robot, q) * v)])


def two_links(kind):
    """A joint of a kind with a revolute one beyond it."""
    body = torsor.Inertia.box([0.3, 0.2, 0.5], mass=1.3)
    place = np.eye(4)
    place[:3, 3] = [0.3, 0.1, -0.2]
    given = {"axis": [0.0, 0.6, 0.8]} if kind in ("revolute", "prismatic", "helical") else {}
    if kind == "helical":
        given["pitch"] = 0.2
    beyond = torsor.Joint(
        name="two", kind="revolute", parent="one_link", pose=place, axis=[1.0, 0.0, 0.0], inertia=body.moved(place)
    )
    return torsor.assemble([torsor.Joint(name="one", kind=kind, inertia=body.moved(place), **given), beyond])


def moving(robot, seed=1):
    """A state in motion."""
    q, v = torsor.random_state(robot, seed=seed)[:2]
    return q, 0.7 * v


def test_order_conditions_and_consistency():
    """Rows sum to c; b integrates polynomials up to the order, and errors vanish on constants."""
    for pair in PAIRS.values():
        np.testing.assert_allclose(pair.A.sum(1), pair.c, atol=1e-14)
        np.testing.assert_allclose(pair.A_extra.sum(1), pair.c_extra, atol=1e-14)
        np.testing.assert_allclose(pair.errors.sum(1), 0.0, atol=1e-15)
        for n in range(1, pair.order + 1):
            assert pair.b @ pair.c ** (n - 1) == pytest.approx(1.0 / n, abs=1e-14)
        assert pair.b @ (pair.A @ pair.c) == pytest.approx(1 / 6, abs=1e-14)
        assert pair.b @ (pair.A @ (pair.A @ pair.c)) == pytest.approx(1 / 24, abs=1e-14)


def one_step(flow, q, v, h):
    """State after one step of length h: no estimate refuses it."""
    run = flow.run(0.0, h, q, v, rtol=1e9, atol=1e9, h0=h)
    assert run.accepted == 1
    return run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", PAIRS)
def test_order_and_dense_order_on_every_joint_kind(kind, pair):
    """The error of one step shrinks with h^(order + 1), between its ends with h^(dense order + 1)."""
    robot = two_links(kind)
    flow, fine = (AdaptiveFlow(robot, freely, powers=1, pair=x) for x in (pair, "853"))
    q, v = moving(robot)
    h = 0.1 if pair == "853" else 0.04
    ends, inside = [], []
    for step in (h, h / 2, h / 4):
        run = one_step(flow, q, v, step)
        exact = fine.run(0.0, step, q, v, rtol=1e-14, atol=1e-15)
        half = fine.run(0.0, 0.4 * step, q, v, rtol=1e-14, atol=1e-15)
        sample = run.sample(0.4 * step)
        ends.append(np.linalg.norm([*torsor.difference(robot, exact.q, run.q), *(run.v - exact.v)]))
        inside.append(np.linalg.norm([*torsor.difference(robot, half.q, sample.q[0]), *(sample.v[0] - half.v)]))
        assert run.w == pytest.approx(exact.w, abs=1e-4)
    order, dense = (8, 7) if pair == "853" else (5, 4)
    for errors, expected in ((ends[:2], order), (inside[1:], dense)):  # larger steps than these show no order yet
        assert errors[1] < 1e-12 or np.log2(errors[0] / errors[1]) > expected + 1 - 0.8


@pytest.mark.parametrize("pair", PAIRS)
def test_batch_equals_single_to_the_bit_each_with_its_own_end(pair):
    """Trajectories of a batch do not know of each other."""
    robot = two_links("spherical")
    flow = AdaptiveFlow(robot, freely, powers=1, pair=pair)
    q, v = torsor.random_state(robot, seed=3, batch=(5,))[:2]
    ends = np.array([0.3, 0.0, 0.5, 1e-9, 0.1])
    together = flow.run(0.0, ends, q, v, rtol=1e-7)
    times = 0.7 * ends
    sampled = together.sample(times, np.arange(5))
    assert (together.status == ARRIVED).all()
    for i in range(5):
        alone = flow.run(0.0, ends[i], q[i], v[i], rtol=1e-7)
        for name in ("t", "q", "v", "a", "w", "h", "accepted", "rejected", "evaluations"):
            np.testing.assert_array_equal(getattr(together, name)[i], getattr(alone, name))
        for one, many in zip(alone.sample(times[i]), sampled, strict=True):
            np.testing.assert_array_equal(one[0], many[i])


def test_the_guard_stops_at_the_first_step_beyond_it():
    """It is not negative at all starts of steps, negative at the end, and zero within the last step."""
    robot = torsor.robots.pendulum()
    flow = AdaptiveFlow(robot, freely, lambda robot, t, q, v, a, c: c["until"] - t, {"until": ()}, 1)
    run = flow.run(0.0, 2.0, [0.4], [0.0], constants={"until": 0.731})
    assert run.status == FIRED
    assert run.steps.t[-1] <= 0.731 < run.t
    assert run.sample(0.731).guard == pytest.approx(0.0, abs=1e-15)
    never = AdaptiveFlow(robot, freely, lambda robot, t, q, v, a, c: np.sqrt(-1.0 - t), powers=1)
    assert never.run(0.0, 1.0, [0.4], [0.0]).status == FIRED


def test_what_cannot_be_integrated_is_reported():
    """Accelerations that are not finite, a singularity, stiff equations, and no steps."""
    robot = torsor.robots.pendulum()

    def run(acceleration, **options):
        flow = AdaptiveFlow(robot, lambda robot, t, q, v, c: (acceleration(t, q, v), None))
        return flow.run(0.0, 1.0, [0.4], [0.1], **options)

    assert run(lambda t, q, v: np.sqrt(-1.0 + 0.0 * v)).status == NOT_FINITE
    ended = run(lambda t, q, v: np.sqrt(0.5 - t) + 0.0 * v)
    assert ended.status == NOT_FINITE and ended.t == pytest.approx(0.5, abs=1e-6)
    assert run(lambda t, q, v: v * v * 100.0 + 1.0).status in (STEP_TOO_SMALL, NOT_FINITE)
    stiff = run(lambda t, q, v: -1e7 * (v - np.cos(t)), max_steps=200)
    assert stiff.status == TOO_MANY_STEPS and stiff.accepted + stiff.rejected == 200
    assert np.isfinite(stiff.v).all()


def test_accuracy_follows_the_tolerance():
    """Energy of a Panda is kept ever better, at 1e-13 to rounding; the integral is the work of gravity."""
    robot = torsor.robots.panda()
    flow = AdaptiveFlow(robot, freely, powers=1)
    q, v = np.full(7, 0.3), np.zeros(7)
    before = torsor.kinetic_energy(robot, q, v)
    drifts = []
    for rtol in (1e-5, 1e-9, 1e-13):
        run = flow.run(0.0, 0.5, q, v, rtol=rtol, atol=rtol)
        gained = torsor.kinetic_energy(robot, run.q, run.v) - before
        lost = torsor.potential_energy(robot, run.q) - torsor.potential_energy(robot, q)
        drifts.append(abs(gained + lost))
        assert run.w[0] == pytest.approx(-lost, abs=1e3 * rtol + 1e-10)
    assert drifts[0] < 1e-2 and drifts[1] < 1e-6 and drifts[2] < 1e-10


def test_a_run_goes_on_where_another_stopped():
    """With the step it left, also if the end of the interval had cut the last one."""
    robot = torsor.robots.planar2r()
    flow = AdaptiveFlow(robot, freely, powers=1)
    first = flow.run(0.0, 0.5001, [0.3, 0.2], [0.0, 0.0])
    second = flow.run(first.t, 1.0, first.q, first.v, first.w, h0=first.h)
    whole = flow.run(0.0, 1.0, [0.3, 0.2], [0.0, 0.0])
    np.testing.assert_allclose(second.q, whole.q, atol=1e-7)
    assert first.h >= 0.3 * np.median(first.steps.h)
    assert weighted(np.zeros(2), np.ones((1, 2, 3))).tolist() == [[0.0] * 3]


def test_sixty_joints():
    """A long chain takes a step."""
    robot = torsor.robots.chain(60)
    flow = AdaptiveFlow(robot, freely, powers=1, pair="54")
    run = flow.run(0.0, 1e-3, np.full(60, 0.01), np.zeros(60), rtol=1e-6)
    assert run.status == ARRIVED and np.isfinite(run.v).all()
