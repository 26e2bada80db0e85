"""Robots, precisions, keywords, out=, lists, strides and mappings in any order: always the numbers of the NumPy path."""

import copy
import inspect
import pickle
import pydoc
import sys
import typing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import torsor
from torsor.compiler.run import fast_entry
from torsor.functions.dispatch import PUBLIC, about_of

pytestmark = pytest.mark.compiled
ARM = torsor.robots.ur5()
ROBOTS = [ARM, torsor.robots.puma560(), *(ARM.with_gravity((0.0, 0.1 * k, -9.0)) for k in range(4))]
WRENCH = np.arange(1.0, 7.0)
WAYS = (
    "array", "float32", "list", "tuple", "strided", "backwards", "fortran", "integers", "integer array", "broadcast",
)  # fmt: skip


def as_given(x, way):
    """The same numbers, or (float32, integers) nearly, as something else."""
    if x.size == 0 and way in ("list", "tuple", "integers"):
        return x  # of an empty list nobody knows the axes
    return {
        "array": lambda: x,
        "float32": lambda: x.astype(np.float32),
        "list": x.tolist,
        "tuple": lambda: tuple(x.tolist()),
        "strided": lambda: np.repeat(x, 2, axis=-1)[..., ::2],
        "backwards": lambda: x[..., ::-1].copy()[..., ::-1],
        "fortran": lambda: np.asfortranarray(x),
        "integers": lambda: np.rint(x).astype(int).tolist(),
        "integer array": lambda: np.rint(x).astype(int),
        "broadcast": lambda: np.broadcast_to(x, x.shape),  # read-only, too
    }[way]()


def parts(result):
    return result if isinstance(result, tuple) else (result,)


class EveryWayOfCalling(RuleBasedStateMachine):
    """A user who calls in no order at all."""

    def check(self, function, robot, args, kwargs, found, single):
        with torsor.backend("numpy"):
            kwargs = {name: x for name, x in kwargs.items() if name != "out"}
            want = function(robot, *args, **kwargs)
        rtol = 2e-3 if single else 1e-9
        for x, y in zip(
            found if isinstance(found, tuple) else (found,), want if isinstance(want, tuple) else (want,), strict=True
        ):
            assert x.shape == y.shape
            assert x.dtype == (np.float32 if single else np.float64)
            scale = max(1.0, float(np.abs(y).max(initial=0.0)))
            np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * scale)

    @rule(
        robot=st.sampled_from(ROBOTS),
        way=st.sampled_from(WAYS),
        batch=st.sampled_from([(), (), (), (1,), (3,), (2, 2), (0,), (40,)]),
        named=st.integers(0, 3),
        out=st.booleans(),
        wrench=st.booleans(),
        seed=st.integers(0, 99),
        function=st.sampled_from(["inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives"]),
    )
    def call(self, robot, way, batch, named, out, wrench, seed, function):
        f = getattr(torsor, function)
        state = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, *batch, 6))
        names = ["q", "v", "tau" if function == "forward_dynamics" else "a"]
        given = {name: as_given(x, way) for name, x in zip(names, state, strict=True)}
        args = list(given.values())[: 3 - named]
        kwargs = {name: given[name] for name in reversed(names[3 - named :])}
        if wrench:
            F = WRENCH.astype(np.float32) if way == "float32" else WRENCH
            kwargs["wrenches"] = {robot.frames[-1]: F, robot.links[2]: F}
        single = way == "float32"
        if out:
            dtype = np.float32 if single else np.float64
            shape = [(6, 6)] * 3 if function.endswith("derivatives") else [(6,)]
            targets = tuple(np.full((*batch, *s), np.nan, dtype) for s in shape)
            kwargs["out"] = targets if len(targets) > 1 else targets[0]
        found = f(robot, *args, **kwargs)
        if out:
            assert all(x is y for x, y in zip(parts(found), targets, strict=True))
        self.check(f, robot, args, kwargs, found, single)

    @rule(robot=st.sampled_from(ROBOTS), frame=st.integers(-4, -1), fresh=st.booleans(), seed=st.integers(0, 9))
    def frames(self, robot, frame, fresh, seed):
        q, name = np.random.default_rng(seed).uniform(-2.0, 2.0, 6), robot.frames[frame]
        name = "".join(list(name)) if fresh else name
        self.check(torsor.frame_pose, robot, (q, name), {}, torsor.frame_pose(robot, q, name), False)

    @rule(seed=st.integers(0, 9), own=st.booleans())
    def in_place(self, seed, own):
        """Results may be written over an input."""
        q, v = np.random.default_rng(seed).uniform(-1.0, 1.0, (2, 6))
        want, place = torsor.integrate(ARM, q, v, 0.1), q.copy()
        found = torsor.integrate(ARM, place if own else q, v, 0.1, out=place)
        assert found is place
        np.testing.assert_array_equal(found, want)

    @rule(seed=st.integers(0, 9))
    def with_numpy(self, seed):
        """What somebody chose for a moment stays a choice of that moment."""
        q = np.random.default_rng(seed).uniform(-2.0, 2.0, 6)
        with torsor.backend("numpy"):
            some = torsor.gravity_forces(ARM, q)
        np.testing.assert_allclose(torsor.gravity_forces(ARM, q), some, rtol=1e-12, atol=1e-12)

    @rule(wrong=st.sampled_from(["shape", "name", "twice", "too many", "read-only out", "out shape", "frame"]))
    def mistakes(self, wrong):
        """An error, and nothing is lost by it."""
        q, v, a = np.ones((3, 6))
        fixed = np.zeros(6)
        fixed.flags.writeable = False
        calls = {
            "shape": lambda: torsor.inverse_dynamics(ARM, q, v, a[:5]),
            "name": lambda: torsor.inverse_dynamics(ARM, q, v, b=a),
            "twice": lambda: torsor.inverse_dynamics(ARM, q, v, a, q=q),
            "too many": lambda: torsor.inverse_dynamics(ARM, q, v, a, None, None, None, None),
            "read-only out": lambda: torsor.inverse_dynamics(ARM, q, v, a, out=fixed),
            "out shape": lambda: torsor.inverse_dynamics(ARM, q, v, a, out=np.zeros(5)),
            "frame": lambda: torsor.frame_pose(ARM, q, "nowhere"),
        }
        with pytest.raises((torsor.TorsorError, TypeError)):
            calls[wrong]()
        assert not fixed.any()

    @invariant()
    def the_entry_is_in_use(self):
        assert fast_entry.why_unused() is None


EveryWayOfCalling.TestCase.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestEveryWayOfCalling = EveryWayOfCalling.TestCase


def counted(function, times=1000):
    """Blocks of Python's memory that calls leave behind or take."""
    for _ in range(5):
        function()
    before = sys.getallocatedblocks()
    for _ in range(times):
        function()
    return sys.getallocatedblocks() - before


def test_nothing_is_allocated_with_out():
    q, v, a = torsor.random_state(ARM, seed=0)
    out = np.empty(6)
    several = torsor.inverse_dynamics_derivatives(ARM, q, v, a)
    kernel = torsor.compile(torsor.inverse_dynamics_derivatives, ARM)
    by_name = kernel(q, v, a)
    assert torsor.inverse_dynamics(ARM, q, v, a, out=out) is out
    assert torsor.inverse_dynamics_derivatives(ARM, q, v, a, out=several) is several
    assert kernel(q, v, a, out=by_name) is by_name
    for call in (
        lambda: torsor.inverse_dynamics(ARM, q, v, a, out=out),
        lambda: torsor.inverse_dynamics(ARM, a=a, v=v, q=q, out=out),
        lambda: torsor.inverse_dynamics_derivatives(ARM, q, v, a, out=several),
        lambda: kernel(q, v, a, out=by_name),
    ):
        assert abs(counted(call)) < 20  # the interpreter's own


def test_no_reference_is_lost_or_kept_by_any_way_of_calling():
    q, v, a = torsor.random_state(ARM, seed=0)
    out, listed, wrench = np.empty(6), q.tolist(), {"tool0": WRENCH}
    several = torsor.inverse_dynamics_derivatives(ARM, q, v, a)
    watched = [ARM, q, v, a, out, listed, wrench, WRENCH, several, *several, "tool0", wrench["tool0"]]
    strided = np.repeat(v, 2)[::2]

    def calls():
        torsor.inverse_dynamics(ARM, q, v, a)
        torsor.inverse_dynamics(ARM, a=a, q=listed, v=strided, out=out)
        torsor.inverse_dynamics(ARM, q, v, a, wrenches=wrench)
        torsor.inverse_dynamics_derivatives(ARM, q, v, a, out=several)
        torsor.inverse_dynamics_derivatives(ARM, q, v, a, out=tuple(several))
        torsor.frame_pose(ARM, q, "tool0")

    for _ in range(5):
        calls()
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(500):
        calls()
    assert [sys.getrefcount(x) for x in watched] == before


def test_threads_that_call_in_every_way_get_their_own_numbers():
    states = [torsor.random_state(robot, seed=k) for k, robot in enumerate(ROBOTS)]
    want = [torsor.inverse_dynamics(robot, *s) for robot, s in zip(ROBOTS, states, strict=True)]

    def work(start):
        out = np.empty(6)
        for k in range(1500):
            j = (start + k // 3) % len(ROBOTS)
            q, v, a = states[j]
            found = [
                torsor.inverse_dynamics(ROBOTS[j], q.tolist(), v, a),
                torsor.inverse_dynamics(ROBOTS[j], a=a, v=np.repeat(v, 2)[::2], q=q, out=out),
                torsor.inverse_dynamics(ROBOTS[j], q, v, a),
            ]
            if not all(np.array_equal(x, want[j]) for x in found):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_more_robots_than_are_remembered_and_robots_that_are_gone():
    q, v, a = torsor.random_state(ARM, seed=0)
    entry = torsor.inverse_dynamics
    for k in range(fast_entry._REMEMBERED + 50):
        robot = ARM.with_gravity((0.0, 0.0, -0.01 * k))
        one = torsor.inverse_dynamics(robot, q, v, a)
        for _ in range(2):
            np.testing.assert_array_equal(torsor.inverse_dynamics(robot, q, v, a), one)
    assert len(entry.remembered) <= fast_entry._REMEMBERED
    np.testing.assert_allclose(one, torsor.inverse_dynamics(robot, q[None], v, a)[0], rtol=1e-12)


def test_out_that_overlaps():
    arm = torsor.robots.ur5()  # what calls with ARM remember was decided beside the robots of other tests
    q, v, a = torsor.random_state(arm, seed=0)
    want = torsor.inverse_dynamics(arm, q, v, a)
    both = np.concatenate([q, np.zeros(3)])
    np.testing.assert_array_equal(torsor.inverse_dynamics(arm, both[:6], v, a, out=both[3:]), want)
    Q = np.stack([q, q, q])
    np.testing.assert_array_equal(torsor.inverse_dynamics(arm, Q, v, a, out=Q), np.stack([want] * 3))
    place = np.zeros((3, 6, 6))
    with pytest.raises(torsor.ShapeError, match="share memory"):
        torsor.inverse_dynamics_derivatives(arm, q, v, a, out=(place[0], place[1], place[0]))
    torsor.inverse_dynamics_derivatives(arm, q, v, a, out=tuple(place))
    with pytest.raises(torsor.ShapeError, match="share memory"):
        torsor.inverse_dynamics_derivatives(arm, q, v, a, out=(place[0], place[1], place[0]))


def test_an_order_of_wrenches_makes_no_difference_to_the_bit():
    arm = torsor.robots.ur5()
    q, v, a = torsor.random_state(arm, seed=0)
    F = {name: np.random.default_rng(k).normal(size=6) for k, name in enumerate(arm.links[1:5])}
    one = torsor.inverse_dynamics(arm, q, v, a, wrenches=F)
    np.testing.assert_array_equal(torsor.inverse_dynamics(arm, q, v, a, wrenches=dict(reversed(F.items()))), one)


def test_python_tools_see_the_algorithm_of_every_public_function():
    for name, function in PUBLIC.items():
        algorithm = about_of(function).algorithm
        signature = inspect.signature(function)
        assert list(signature.parameters) == [*inspect.signature(algorithm).parameters, "out"]
        assert signature.parameters["robot"].annotation == "Robot"
        assert inspect.getsource(function) == inspect.getsource(algorithm)
        assert typing.get_type_hints(function)["robot"] is torsor.Robot
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
        text = pydoc.plain(pydoc.render_doc(function))
        assert f"{name}(robot:'Robot'" in "".join(text.split())  # newer Pythons break lines
        assert "out: " in text
        assert inspect.isroutine(function)
        assert {function: name}[function] == name


def test_ctrl_c_while_a_call_is_remembered_loses_nothing(monkeypatch):
    kernel = torsor.compile(lambda robot, x: 2.0 * x, ARM, {"x": 3})
    entry, real = kernel._entry, fast_entry.RememberedCall
    x, moments = np.arange(3.0), []

    class Interrupted(real):
        """Ctrl-C comes when a field is set for the n-th time."""

        def __setattr__(self, name, value):
            if moments and moments[0] == name and value is not False:
                moments.clear()
                raise KeyboardInterrupt
            super().__setattr__(name, value)

    monkeypatch.setattr(fast_entry, "RememberedCall", Interrupted)
    for name in ("target", "slots", "next", "is_linked"):
        entry.remembered.clear()
        entry._table[:] = [0] * len(entry._table)
        entry.vectorcall = None
        moments.append(name)
        with pytest.raises(KeyboardInterrupt):
            kernel(x)
        for _ in range(3):
            np.testing.assert_array_equal(kernel(x), 2.0 * x)
        (call,) = entry.remembered.values()
        assert call.is_linked
        assert entry._table[call.bucket] != 0
