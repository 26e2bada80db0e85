"""The fast entry for one state: the same bits, every unusual call forwarded, nothing leaked, nothing wrong in threads."""

import gc
import inspect
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import torsor
from torsor.compiler.run import fast_entry
from torsor.functions.dispatch import PUBLIC

pytestmark = pytest.mark.compiled
ARMS = [torsor.robots.ur5(), torsor.robots.puma560(), torsor.robots.ur5().with_gravity((0, 0, 0))]


def state(arm, k=0):
    return torsor.random_state(arm, seed=k)


def test_the_door_is_open_on_this_python():
    assert fast_entry.why_unused() is None


@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy", "body_jacobian"]
)
def test_one_state_has_the_bits_of_a_batch(name):
    arm, function = ARMS[0], PUBLIC[name]
    q, v, a = state(arm)
    given = {"mass_matrix": (q,), "kinetic_energy": (q, v), "body_jacobian": (q, "tool0")}.get(name, (q, v, a))
    batch = [np.stack([x] * 5) if isinstance(x, np.ndarray) else x for x in given]
    expected = function(arm, *batch)[2]
    for _ in range(3):  # general path, then the fast entry
        result = function(arm, *given)
        np.testing.assert_array_equal(result, expected)
        assert result.shape == expected.shape
        assert isinstance(result, np.ndarray)
        assert result.flags.owndata


def test_results_are_new_arrays():
    arm = ARMS[0]
    q, v, a = state(arm)
    one, two = torsor.inverse_dynamics(arm, q, v, a), torsor.inverse_dynamics(arm, q, v, a)
    one[...] = 0.0
    assert (two != 0.0).all()


def test_another_robot_is_never_answered_with_the_last_ones_kernel():
    states = [state(arm, k) for k, arm in enumerate(ARMS)]
    expected = [torsor.inverse_dynamics(arm, *(x[None] for x in s))[0] for arm, s in zip(ARMS, states, strict=True)]
    for k in [0, 1, 2, 2, 0, 1, 1, 0, 2] * 3:
        np.testing.assert_array_equal(torsor.inverse_dynamics(ARMS[k], *states[k]), expected[k])


def test_an_equal_robot_that_is_another_object_gives_the_same():
    q, v, a = state(ARMS[0])
    first = torsor.inverse_dynamics(ARMS[0], q, v, a)
    for _ in range(3):
        np.testing.assert_array_equal(torsor.inverse_dynamics(torsor.robots.ur5(), q, v, a), first)


def test_another_frame_is_never_answered_with_the_last_ones_kernel():
    arm = ARMS[0]
    q, _, _ = state(arm)
    expected = {frame: torsor.body_jacobian(arm, q[None], frame)[0] for frame in ("tool0", "link_3", "link_5")}
    for frame in ["tool0", "link_3", "link_3", "link_5", "tool0", "link_5"] * 3:
        np.testing.assert_array_equal(torsor.body_jacobian(arm, q, frame), expected[frame])
        np.testing.assert_array_equal(torsor.body_jacobian(arm, q, "".join(list(frame))), expected[frame])


def test_unusual_calls_are_forwarded():
    arm = ARMS[0]
    q, v, a = state(arm)
    expected = torsor.inverse_dynamics(arm, q, v, a)
    same = [
        torsor.inverse_dynamics(arm, q.tolist(), v, a),
        torsor.inverse_dynamics(arm, q, v=v, a=a),
        torsor.inverse_dynamics(robot=arm, q=q, v=v, a=a),
        torsor.inverse_dynamics(arm, np.repeat(q, 2)[::2], v, a),
        torsor.inverse_dynamics(arm, q.astype(">f8"), v, a),
        torsor.inverse_dynamics(arm, q.view(np.recarray), v, a),
        torsor.inverse_dynamics(arm, q, v, a, wrenches=None),
        torsor.inverse_dynamics(arm, q[None], v, a)[0],
    ]
    for result in same:
        np.testing.assert_array_equal(result, expected)
    with pytest.raises(torsor.ShapeError, match=r"`a` must have shape \(..., 6\)"):
        torsor.inverse_dynamics(arm, q, v, a[:5])
    with pytest.raises(TypeError):
        torsor.inverse_dynamics(arm, q, v, a, None, None, None)
    with pytest.raises(torsor.TorsorError, match=r"the first argument must be a torsor\.Robot, got str 'panda'"):
        torsor.inverse_dynamics("panda", q, v, a)
    with pytest.raises(torsor.TorsorError, match="got nothing"):
        torsor.inverse_dynamics()


def test_nothing_is_leaked():
    arm = ARMS[0]
    q, v, a = state(arm)
    torsor.inverse_dynamics(arm, q, v, a)
    for _ in range(4):  # what earlier tests have left: finalisers of one round leave objects for the next
        gc.collect()
    before = [sys.getrefcount(x) for x in (arm, q, v, a, np.ndarray, np.dtype(np.float64))]
    kept = [torsor.inverse_dynamics(arm, q, v, a) for _ in range(1000)]
    references = [sys.getrefcount(x) for x in kept]
    assert max(references[2:]) == 3  # the list's, the loop's, and the argument's
    assert max(references[:2]) <= 4  # and that of the remembered call, whose own array it may be
    del kept
    gc.collect()
    after = [sys.getrefcount(x) for x in (arm, q, v, a, np.ndarray, np.dtype(np.float64))]
    assert max(abs(x - y) for x, y in zip(before, after, strict=True)) < 50


def test_threads_that_change_robots_all_the_time():
    states = [state(arm, k) for k, arm in enumerate(ARMS)]
    expected = [torsor.inverse_dynamics(arm, *(x[None] for x in s))[0] for arm, s in zip(ARMS, states, strict=True)]

    def work(start):
        for k in range(2000):
            j = (start + k // 7) % 3
            if not np.array_equal(torsor.inverse_dynamics(ARMS[j], *states[j]), expected[j]):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_the_numpy_backend_is_not_bypassed():
    arm = ARMS[0]
    q, v, a = state(arm)
    torsor.inverse_dynamics(arm, q, v, a)
    with torsor.backend("numpy"):
        entry = torsor.inverse_dynamics
        seen = []
        general, entry.general = entry.general, lambda *args, **kwargs: seen.append(args) or general(*args, **kwargs)
        try:
            torsor.inverse_dynamics(arm, q, v, a)
            torsor.inverse_dynamics(arm, q, v, a)
        finally:
            entry.general = general
    assert len(seen) == 2
    with pytest.raises(torsor.TorsorError, match="backend: `name` must be 'compiled' or 'numpy', got 'cuda'"):
        torsor.backend("cuda").__enter__()


def test_a_public_function_can_be_pickled_and_inspected():
    assert pickle.loads(pickle.dumps(torsor.mass_matrix)) is torsor.mass_matrix
    assert list(inspect.signature(torsor.mass_matrix).parameters) == ["robot", "q", "out"]
    assert torsor.mass_matrix.__module__ == "torsor.functions.public.dynamics"


def test_several_results_come_as_their_named_tuple():
    arm = ARMS[0]
    q, v, a = state(arm)
    batch = torsor.inverse_dynamics_derivatives(arm, *(np.stack([x] * 3) for x in (q, v, a)))
    kind = type(batch)
    assert kind._fields == ("q", "v", "a")
    torsor.inverse_dynamics_derivatives(arm, q, v, a)  # is remembered
    gc.collect()
    before = sys.getrefcount(kind)
    for _ in range(100):
        one = torsor.inverse_dynamics_derivatives(arm, q, v, a)
        assert type(one) is kind
        assert gc.is_tracked(one)
    for field in kind._fields:
        np.testing.assert_array_equal(getattr(one, field), getattr(batch, field)[1])
    ordinary = kind(*(np.empty(3) for _ in range(3)))
    for x, y in zip(one, ordinary, strict=True):  # a remembered call may have one more, of an array of its own
        assert 0 <= sys.getrefcount(x) - sys.getrefcount(y) <= 1
    assert one._replace(q=0.0).q == 0.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    del one, ordinary, x, y
    assert sys.getrefcount(kind) == before


def test_several_results_are_written_where_asked():
    arm = ARMS[0]
    q, v, a = (np.stack([x] * 3) for x in state(arm))
    want = torsor.inverse_dynamics_derivatives(arm, q, v, a)
    mine = type(want)(*(np.full((3, 6, 6), np.nan) for _ in range(3)))
    result = torsor.inverse_dynamics_derivatives(arm, q, v, a, out=mine)
    assert type(result) is type(want)
    for x, y, z in zip(mine, want, result, strict=True):
        assert z is x
        np.testing.assert_array_equal(x, y)
    with pytest.raises(torsor.ShapeError, match=r"the arrays of InverseDynamicsDerivatives \(q, v, a\), got ndarray"):
        torsor.inverse_dynamics_derivatives(arm, q, v, a, out=mine.q)
    with pytest.raises(torsor.ShapeError, match=r"`v` must be an array of shape \(3, 6, 6\)"):
        torsor.inverse_dynamics_derivatives(arm, q, v, a, out=mine._replace(v=np.empty((3, 6))))


def test_kernels_that_live_until_the_process_ends_end_with_it():
    """CPython takes builtin functions apart after the modules that made them."""
    script = """
import torsor
for arm in (torsor.robots.pendulum(), torsor.robots.planar2r(), torsor.robots.ur5(), torsor.robots.puma560()):
    inverse = torsor.compile(torsor.inverse_dynamics, arm)
    slopes = inverse.jacobian("tau", "q", "v", "a")
    forward = torsor.compile(torsor.forward_dynamics, arm)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def general(function, *args):
    """The same call by the general path, which any keyword takes."""
    return function.general(*args)


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "kinetic_energy", "body_jacobian"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 17, 100])
def test_a_small_batch_goes_through_the_door_too(name, count):
    arm, function = ARMS[0], PUBLIC[name]
    q, v, a = torsor.random_state(arm, seed=1, batch=(count,))
    given = {"mass_matrix": (q,), "kinetic_energy": (q, v), "body_jacobian": (q, "tool0")}.get(name, (q, v, a))
    function(arm, *given)  # is remembered
    result, expected = function(arm, *given), general(function, arm, *given)
    np.testing.assert_array_equal(result, expected)
    assert result.shape == expected.shape
    assert result.flags.owndata
    again = function(arm, *given)
    assert not np.may_share_memory(result, again)


def test_batches_of_every_kind_are_answered_rightly_while_the_door_is_open():
    """Other numbers of states, none, one, rows of a larger array, mixed ranks, more axes, another order, work for threads."""
    arm, function = ARMS[0], torsor.inverse_dynamics
    q, v, a = torsor.random_state(arm, seed=1, batch=(64,))
    want = general(function, arm, q, v, a)
    function(arm, q, v, a)
    for rows in (slice(0, 7), slice(5, 6), slice(0, 0), slice(0, 64, 2), slice(None, None, -1)):
        np.testing.assert_array_equal(function(arm, q[rows], v[rows], a[rows]), want[rows])
    np.testing.assert_array_equal(function(arm, q, v[3], a[3])[3], want[3])
    np.testing.assert_array_equal(function(arm, q[3], v, a[3])[3], want[3])
    np.testing.assert_array_equal(function(arm, *(x.reshape(8, 8, 6) for x in (q, v, a))), want.reshape(8, 8, 6))
    np.testing.assert_array_equal(function(arm, *(np.asfortranarray(x) for x in (q, v, a))), want)
    np.testing.assert_array_equal(function(arm, q[3], v[3], a[3]), want[3])
    wide = np.zeros((64, 9))
    wide[:, 1:7] = q
    np.testing.assert_array_equal(function(arm, wide[:, 1:7], v, a), want)
    for wrong in ((q[:5], v[:6], a[:5]), (q[:, :5], v, a), (q, v, a[:, :1])):
        with pytest.raises(torsor.ShapeError):
            function(arm, *wrong)
    many = torsor.random_state(arm, seed=1, batch=(60_000,))
    np.testing.assert_array_equal(function(arm, *many)[:50], function(arm, *(x[:50] for x in many)))


def test_a_batch_of_several_results_and_kernels_of_ones_own():
    arm = ARMS[0]
    state_ = torsor.random_state(arm, seed=1, batch=(9,))
    torsor.inverse_dynamics_derivatives(arm, *state_)
    found = torsor.inverse_dynamics_derivatives(arm, *state_)
    for x, y in zip(found, general(torsor.inverse_dynamics_derivatives, arm, *state_), strict=True):
        np.testing.assert_array_equal(x, y)
    kernel = torsor.compile(torsor.inverse_dynamics, arm)
    first = kernel(*state_)
    np.testing.assert_array_equal(kernel(*state_), first)
    np.testing.assert_array_equal(kernel(*(x[2] for x in state_)), first[2])


def test_batches_leak_nothing():
    arm = ARMS[0]
    q, v, a = torsor.random_state(arm, seed=1, batch=(10,))
    torsor.inverse_dynamics(arm, q, v, a)
    gc.collect()
    before = [sys.getrefcount(x) for x in (arm, q, v, a)]
    for _ in range(1000):
        result = torsor.inverse_dynamics(arm, q, v, a)
    assert [sys.getrefcount(x) for x in (arm, q, v, a)] == before
    ordinary = np.empty(3)
    assert sys.getrefcount(result) == sys.getrefcount(ordinary)
