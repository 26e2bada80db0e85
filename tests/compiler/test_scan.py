"""Loops over time in machine code: the same numbers as a loop in Python, for any batch, saving what is asked for."""

import copy
import pickle

import numpy as np
import pytest

import torsor
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace

pytestmark = [pytest.mark.compiled, pytest.mark.tier("final")]
ARM = torsor.robots.ur5()


def servo(robot, q, v, target, gain):
    tau = torsor.gravity_forces(robot, q) + gain * (target - q) - 4.0 * v
    v = v + 1e-3 * torsor.forward_dynamics(robot, q, v, tau)
    return {"q": q + 1e-3 * v, "v": v, "tau": tau}


@pytest.fixture(scope="module")
def rollout():
    with torsor.backend("compiled"):
        return torsor.scan(servo, ARM, {"q": 6, "v": 6}, inputs={"target": 6}, constants={"gain": ()})


def python_loop(q, v, targets, gain, steps):
    saved = []
    for t in range(steps):
        state = servo(ARM, q, v, targets[..., t, :], gain)
        q, v = state["q"], state["v"]
        saved.append(state)
    return {name: np.stack([state[name] for state in saved], axis=-2) for name in saved[0]}


@pytest.mark.parametrize("batch", [(), (1,), (4,), (11,), (2, 3)])
def test_a_scan_is_the_loop(rollout, batch):
    q, v, _ = torsor.random_state(ARM, seed=0, batch=batch)
    targets = np.random.default_rng(0).normal(size=(*batch, 12, 6))
    got = rollout(steps=12, q=q, v=v, target=targets, gain=30.0)
    want = python_loop(q, v, targets, 30.0, 12)
    for name in ("q", "v", "tau"):
        assert got[name].shape == (*batch, 12, 6)
        np.testing.assert_allclose(got[name], want[name], rtol=1e-10, atol=1e-10)


def test_every_kth_state_is_saved(rollout):
    q, v, _ = torsor.random_state(ARM, seed=1, batch=(5,))
    given = {"q": q, "v": v, "target": np.zeros((10, 6)), "gain": np.linspace(10, 50, 5)}
    all_states, some = rollout(steps=10, **given), rollout(steps=10, every=3, **given)
    np.testing.assert_array_equal(some["q"], all_states["q"][:, 2::3])
    assert rollout(steps=10, every=11, **given)["q"].shape == (5, 0, 6)
    assert rollout(steps=0, q=q, v=v, target=np.zeros((0, 6)), gain=1.0)["q"].shape == (5, 0, 6)


def test_bits_do_not_depend_on_the_batch(rollout):
    q, v, _ = torsor.random_state(ARM, seed=2, batch=(9,))
    together = rollout(steps=20, q=q, v=v, target=np.zeros((20, 6)), gain=20.0)["q"]
    for k in range(9):
        alone = rollout(steps=20, q=q[k], v=v[k], target=np.zeros((20, 6)), gain=20.0)["q"]
        np.testing.assert_array_equal(alone, together[k])


def test_single_precision(rollout):
    q, v, _ = (x.astype(np.float32) for x in torsor.random_state(ARM, seed=0, batch=(3,)))
    got = rollout(steps=5, q=q, v=v, target=np.zeros((5, 6), np.float32), gain=np.float32(10.0))
    assert got["q"].dtype == np.float32


def test_any_step_function():
    fibonacci = torsor.scan(lambda robot, x, y: {"x": y, "y": x + y}, ARM, {"x": (), "y": ()})
    assert fibonacci(steps=10, every=10, x=0.0, y=1.0)["x"].tolist() == [55.0]
    assert "2 operations" not in repr(fibonacci)
    assert "1 operations a step" in repr(fibonacci)


def test_errors_say_what_to_do(rollout):
    q, v, _ = torsor.random_state(ARM, seed=0)
    with pytest.raises(torsor.ShapeError, match="missing inputs v, target, gain"):
        rollout(steps=3, q=q)
    for args, named in (((), {}), ((q,), {"steps": 3})):
        with pytest.raises(torsor.ArgumentTypeError, match=r"passed by name.* Type loop\(steps=1000, q=q, v=v, "):
            rollout(*args, v=v, **named)
    with pytest.raises(torsor.ShapeError, match=r"`target` must have shape \(..., 3, 6\), got \(6,\)"):
        rollout(steps=3, q=q, v=v, target=np.zeros(6), gain=1.0)
    with pytest.raises(torsor.UnknownName, match="no input 'targets'; nearest: 'target'"):
        rollout(steps=3, q=q, v=v, targets=np.zeros((3, 6)), gain=1.0)
    with pytest.raises(torsor.TorsorError, match="every one of at least 1"):
        rollout(steps=3, every=0, q=q, v=v, target=np.zeros((3, 6)), gain=1.0)
    with pytest.raises(
        torsor.TorsorError, match="must return its state first, in the same order and shape: expected 'q'"
    ):
        torsor.scan(lambda robot, q, v: {"v": v, "q": q}, ARM, {"q": 6, "v": 6})


def test_a_scan_can_be_pickled_and_copied():
    def halve(robot, x):
        return {"x": 0.5 * x}

    loop = torsor.scan(halve, torsor.robots.planar2r(), {"x": 3})
    want = loop(steps=4, x=np.arange(3.0))["x"]
    for other in (pickle.loads(pickle.dumps(loop)), copy.deepcopy(loop)):
        np.testing.assert_array_equal(other(steps=4, x=np.arange(3.0))["x"], want)


@pytest.mark.parametrize("at_once", [None, 20])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 5)])
def test_a_loop_backward_is_the_loop_of_what_is_turned_round(monkeypatch, batch, at_once):
    """Also where it is cut into stretches between which Ctrl-C is heard, and in NumPy."""
    if at_once is not None:
        monkeypatch.setattr("torsor.compiler.scan.AT_ONCE", at_once)

    def step(x, y, a, b):
        return {"x": a * x + y, "y": y - b @ x, "double": 2.0 * x}

    program = trace(step, {"x": (2,), "y": (), "a": (2,), "b": (2,)}, Level.FULL)
    forward, backward = (Scan("steps", program, Roles(2, 1, 1, turned)) for turned in (False, True))
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=(*batch, 2)), "y": 0.5, "b": np.array([0.3, -0.2])}
    a = rng.uniform(0.5, 1.0, (*batch, 7, 2))
    want = forward(steps=7, a=a[..., ::-1, :], **given)
    for backend in ("compiled", "numpy"):
        with torsor.backend(backend):
            found = backward(steps=7, a=a, **given)
            again = backward(steps=7, a=a, **given)
        for name, x in want.items():
            turned = np.flip(x, axis=len(batch))
            if backend == "compiled":
                np.testing.assert_array_equal(found[name], turned)
                np.testing.assert_array_equal(again[name], turned)
            np.testing.assert_allclose(found[name], turned, rtol=1e-13)
    with pytest.raises(torsor.TorsorError, match="goes backward, and saves every step"):
        backward(steps=7, every=2, a=a, **given)
