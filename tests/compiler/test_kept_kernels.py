"""What is kept between calls: kernels within a bound, robots not at all; and no call depends on the one before."""

import gc
import threading
import weakref
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest

import torsor
from torsor.functions import dispatch as compiled
from torsor.functions.describe import Public
from torsor.functions.kept import Kept

pytestmark = pytest.mark.compiled


def fresh(gravity=(0.0, -9.81, 0.0)):
    """A robot that nobody else has."""
    return torsor.robots.planar2r().with_gravity(gravity)


@pytest.fixture
def general_calls(monkeypatch):
    """The calls of inverse dynamics that took the general path."""
    seen, entry = [], torsor.inverse_dynamics
    general = entry.general
    monkeypatch.setattr(entry, "general", lambda *args, **kwargs: seen.append(args) or general(*args, **kwargs))
    return seen


# The order of calls


def with_out(robot, x):
    torsor.inverse_dynamics(robot, x, x, x, out=np.empty_like(x))


def with_a_wrong_out(robot, x):
    with pytest.raises(torsor.ShapeError):
        torsor.inverse_dynamics(robot, x, x, x, out=np.empty(7))


def by_name(robot, x):
    torsor.inverse_dynamics(robot, q=x, v=x, a=x)


@pytest.mark.parametrize("first", [with_out, with_a_wrong_out, by_name])
@pytest.mark.parametrize("shape", [(2,), (5, 2)])
def test_calls_become_fast_whatever_came_first(general_calls, first, shape):
    robot, x = fresh((0.0, -9.0, float(len(shape)))), np.ones(shape)
    first(robot, x)
    first(robot, x)
    torsor.inverse_dynamics(robot, x, x, x)
    before = len(general_calls)
    torsor.inverse_dynamics(robot, x, x, x)
    assert len(general_calls) == before


# The backend


def test_numpy_is_chosen_for_a_thread_whatever_others_call(general_calls):
    robot, x = fresh(), np.ones(2)
    torsor.inverse_dynamics(robot, x, x, x)

    def elsewhere():
        torsor.inverse_dynamics(robot, x, x, x)

    with torsor.backend("numpy"):
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
        before = len(general_calls)
        torsor.inverse_dynamics(robot, x, x, x)
        assert len(general_calls) == before + 1
    torsor.inverse_dynamics(robot, x, x, x)
    assert len(general_calls) == before + 1


def test_a_choice_within_a_choice(general_calls):
    robot, x = fresh(), np.ones(2)
    torsor.inverse_dynamics(robot, x, x, x)
    before = len(general_calls)
    with torsor.backend("numpy"):
        with torsor.backend("compiled"):
            torsor.inverse_dynamics(robot, x, x, x)
            assert len(general_calls) == before
        torsor.inverse_dynamics(robot, x, x, x)
        assert len(general_calls) == before + 1


def test_kernels_and_scans_obey_the_backend():
    kernel = torsor.compile(torsor.inverse_dynamics, fresh())
    loop = torsor.scan(lambda robot, x: {"x": 0.5 * x}, fresh(), {"x": 2})
    x = np.ones(2)
    with torsor.backend("numpy"):
        in_numpy = kernel(x, x, x), loop(steps=3, x=x)["x"]
        assert not kernel._natives
        assert not loop._natives
    np.testing.assert_allclose(kernel(x, x, x), in_numpy[0], rtol=1e-14)
    np.testing.assert_array_equal(loop(steps=3, x=x)["x"], in_numpy[1])
    general, seen = kernel._entry.general, []
    kernel._entry.general = lambda *args: seen.append(args) or general(*args)
    kernel(x, x, x)
    assert not seen
    with torsor.backend("numpy"):
        kernel(x, x, x)
    assert len(seen) == 1


def test_a_kernel_given_jax_arrays_obeys_the_backend():
    jnp = pytest.importorskip("jax.numpy")
    kernel = torsor.compile(torsor.inverse_dynamics, fresh())
    x = jnp.ones((3, 2))
    with torsor.backend("numpy"):
        found = kernel(x, x, x)
        assert not kernel._natives
    assert type(found) is type(x)
    np.testing.assert_allclose(found, kernel(*np.ones((3, 3, 2))), rtol=1e-5)  # JAX has single precision here


# Robots


def test_a_robot_is_freed_with_its_last_reference():
    robot, x = fresh((0.0, -1.0, 0.0)), np.ones((3, 2))
    torsor.inverse_dynamics(robot, x[0], x[0], x[0])
    torsor.inverse_dynamics(robot, x, x, x, out=x.copy())
    torsor.forward_dynamics(robot, x, v=x, tau=x)
    torsor.dynamics.mass_matrix_report(robot, x[0])
    torsor.frame_pose(robot, x, robot.frames[-1])
    torsor.inverse_kinematics(robot, robot.frames[-1], torsor.frame_pose(robot, x, robot.frames[-1]))
    torsor.tasks.task_space_dynamics(robot, x, x, torsor.function_task(lambda robot, q: q[:1], 1))
    torsor.compile(torsor.mass_matrix, robot)(x)
    with torsor.backend("numpy"):
        torsor.inverse_dynamics(robot, x, x, x)
    seen = weakref.ref(robot)
    del robot
    gc.collect()
    assert seen() is None


def test_another_robot_in_the_place_of_one_that_is_gone_is_not_taken_for_it():
    x = np.array([0.3, -0.4])
    want = {g: torsor.gravity_forces(fresh((0.0, g, 0.0)), x) for g in (-3.0, -5.0)}
    places = set()
    for k in range(40):
        robot = fresh((0.0, g := (-3.0, -5.0)[k % 2], 0.0))
        places.add(id(robot))
        np.testing.assert_array_equal(torsor.gravity_forces(robot, x), want[g])
        np.testing.assert_array_equal(torsor.gravity_forces(robot, x), want[g])
        del robot
    assert len(places) < 40  # or nothing was tested
    for nobody in (None, "", 0):
        with pytest.raises(torsor.TorsorError, match="first argument must be"):
            torsor.gravity_forces(nobody, x)


def test_an_equal_robot_finds_the_kernel_of_one_that_is_gone(monkeypatch):
    x = np.ones(2)
    want = torsor.inverse_dynamics(fresh((0.0, -7.0, 0.0)), x, x, x)
    gc.collect()
    monkeypatch.setattr(Public, "codes", None)
    np.testing.assert_array_equal(torsor.inverse_dynamics(fresh((0.0, -7.0, 0.0)), x, x, x), want)


# Memory


def of_size(number):
    return SimpleNamespace(bytes=number)


def test_kernels_are_kept_within_a_bound_the_longest_unused_go_first():
    store = Kept(4, attrgetter("bytes"))
    for k in range(4):
        store.get(k, lambda: of_size(1))
    first = store.get(0, pytest.fail)
    assert (len(store), store.total) == (4, 4)
    store.get(4, lambda: of_size(1))
    assert store.get(0, pytest.fail) is first
    assert store.total == 4
    assert store.get(1, lambda: of_size(1)) is not first  # had gone


def test_a_kernel_that_grows_counts_as_much_as_it_takes():
    store = Kept(4, attrgetter("bytes"))
    kept = [store.get(k, lambda: of_size(1)) for k in range(3)]
    kept[2].bytes = 3
    store.trim()
    assert (len(store), store.total) == (2, 4)
    kept[0].bytes = 2
    store.trim()  # is no longer kept
    assert store.total == 4
    kept[2].bytes = 10
    store.trim()
    assert len(store) == 1  # the one in use, however large


def test_kernels_of_all_functions_share_one_bound(monkeypatch):
    monkeypatch.setattr(compiled, "KERNELS", Kept(400_000, attrgetter("bytes")))
    x, robot = np.ones(2), fresh((0.0, -2.0, 0.0))
    for function in (
        torsor.gravity_forces,
        torsor.mass_matrix,
        torsor.potential_energy,
        torsor.dynamics.inverse_mass_matrix,
    ):
        want = function(robot, x)
        np.testing.assert_array_equal(function(robot, np.stack([x, x]))[1], want)
    assert 1 <= len(compiled.KERNELS) <= 2
    assert compiled.KERNELS.total <= 400_000
    np.testing.assert_array_equal(
        torsor.gravity_forces(robot, np.stack([x, x]))[0], torsor.gravity_forces(fresh((0.0, -2.0, 0.0)), x)
    )


def test_a_program_is_traced_once_for_one_state_and_for_many(monkeypatch):
    traced, real = [], Public.shortest
    monkeypatch.setattr(Public, "shortest", lambda *args: traced.append(args) or real(*args))
    robot, x = fresh((0.0, -4.0, 1.0)), np.ones(2)
    torsor.inverse_dynamics(robot, x, x, x)
    torsor.inverse_dynamics(robot, *np.ones((3, 5, 2)))
    assert len(traced) <= 1  # none, if they are on disk


def test_no_robot_waits_for_what_another_computes():
    """Python 3.11 has one lock for such an attribute of all robots; a child forked while it is taken would wait for ever."""

    class Slow(torsor.Robot):
        pass

    entered, go_on = threading.Event(), threading.Event()
    robot, other = fresh((0.0, -6.0, 0.0)), fresh((0.0, -6.5, 0.0))

    class Waiting:
        def __iter__(self):
            entered.set()
            assert go_on.wait(30)
            return iter(robot.parameters)

        is_concrete = True

    slow = Slow(robot.structure, Waiting())
    thread = threading.Thread(target=lambda: slow.digest)
    thread.start()
    assert entered.wait(30)
    assert len(other.digest) == 64  # while the digest of another is being computed
    go_on.set()
    thread.join()
    assert slow.digest == robot.digest
