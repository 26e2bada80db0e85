"""What the fast entry takes: numbers of any shape, and several kinds of call in turn; as the general path in every bit."""

import contextlib
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import torsor
from torsor.arrays import stack

pytestmark = pytest.mark.compiled
ARM, OTHER, SMALL = torsor.robots.ur5(), torsor.robots.puma560(), torsor.robots.planar2r()
PORTS = [
    ([(), ()], [()]),
    ([(3,), (), (2, 2)], [(3,), ()]),
    ([(4, 4), (7,), ()], [(2, 3)]),
    ([(1,), (1, 1), (5,)], [(5,), (1, 1), ()]),
    ([(2, 3, 2), (1, 4)], [(2, 2, 2)]),
]


def indices(shape):
    return itertools.product(*map(range, shape))


def mixing(inputs, outputs):
    """A kernel with ports of these shapes, in which every result depends on many inputs and on their order."""

    def mix(*arrays):
        total, sums = 0.5, []
        for k, x in enumerate(x[(..., *i)] for x, shape in zip(arrays, inputs, strict=True) for i in indices(shape)):
            total = 0.75 * total + (1.0 + 0.125 * k) * x
            sums.append(total)
        return {f"y{k}": filled(shape, itertools.cycle(sums[::-1])) for k, shape in enumerate(outputs)}

    names = ", ".join(f"x{k}" for k in range(len(inputs)))
    function = eval(f"lambda robot, {names}: mix({names})", {"mix": mix})
    return torsor.compile(function, SMALL, {f"x{k}": shape for k, shape in enumerate(inputs)})


def filled(shape, values):
    if not shape:
        return 2.0 * next(values)
    return stack([filled(shape[:-1], values) for _ in range(shape[-1])])


@contextlib.contextmanager
def forwarded(entry):
    """The calls that take the general path."""
    seen, general = [], entry.general
    entry.general = lambda *args, **named: seen.append(args) or general(*args, **named)
    try:
        yield seen
    finally:
        entry.general = general


def parts(result):
    return tuple(result.values()) if isinstance(result, dict) else (result,)


@pytest.fixture(scope="module")
def kernels():
    made = [mixing(*ports) for ports in PORTS]
    for kernel in made:
        kernel(*(np.ones((5, *shape)) for shape in kernel.inputs.values()))  # is remembered
    return made


@pytest.mark.parametrize("which", range(len(PORTS)))
@pytest.mark.parametrize("batch", [(), (1,), (2,), (17,)])
def test_ports_of_any_shape_go_through_the_door(kernels, which, batch):
    kernel, rng = kernels[which], np.random.default_rng(0)
    given = [rng.normal(size=(*batch, *shape)) for shape in kernel.inputs.values()]
    with forwarded(kernel._entry) as seen:
        found = parts(kernel(*given))
    assert not seen
    for x, y, shape in zip(found, parts(kernel._general(*given)), kernel.outputs.values(), strict=True):
        np.testing.assert_array_equal(x, y)
        assert type(x) is np.ndarray
        assert x.shape == (*batch, *shape)
        assert x.flags.owndata


@pytest.mark.parametrize("kind", [float, int, np.float64, np.array])
def test_a_single_number_is_a_float_an_int_or_an_array(kernels, kind):
    kernel, rng = kernels[1], np.random.default_rng(0)
    for batch in ((), (6,)):
        vector, matrix, number = rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 2, 2)), kind(-7.0)
        with forwarded(kernel._entry) as seen:
            found = kernel(vector, number, matrix), kernel(x0=vector, x2=matrix, x1=number)
        assert not seen
        expected = kernel._general(vector, np.full(batch, -7.0), matrix)
        for result in found:
            for name in kernel.outputs:
                np.testing.assert_array_equal(result[name], expected[name])


def test_one_of_something_serves_all_states_of_a_batch(kernels):
    kernel, rng = kernels[2], np.random.default_rng(0)
    pose, vector = rng.normal(size=(9, 4, 4)), rng.normal(size=(9, 7))
    for given in (
        (pose, vector[0], 0.5),
        (pose[0], vector, 2),
        (pose[:1], vector, 0.5),
        (pose[0], vector[:1], np.ones(9)),
    ):
        with forwarded(kernel._entry) as seen:
            found = kernel(*given)
        assert not seen
        np.testing.assert_array_equal(found, kernel._general(*given))
        assert found.shape == (9, 2, 3)


class Own(float):
    """A float of another type."""


def number(rng):
    x = rng.normal()
    some = (
        x,
        x,
        np.float64(x),
        np.array(x),
        int(9 * x),
        2**62 + 1,
        2**63,
        2**70,
        -(2**63),
        True,
        np.float32(x),
        np.int64(7),
    )
    odd = (np.array(3), Own(x), float("nan"), -0.0, "1.5", "x", None, 1j)
    return (some + odd)[rng.integers(len(some) + len(odd))]


def unusual(rng, x):
    """The same array, or nearly, as something else."""
    raw = np.zeros(8 * x.size + 1, np.uint8)
    crooked = raw[1:].view(np.float64).reshape(x.shape)
    crooked[...] = x
    fixed = x.copy()
    fixed.flags.writeable = False
    wide = np.stack([x, x], axis=-1)
    ways = (
        x.astype(np.float32), x.astype(">f8"), x.astype(int), x.astype(complex), x.tolist(), x.view(np.recarray), x[None],
        np.asfortranarray(x), x.T, wide[..., 0], crooked, fixed, np.ma.array(x), x[..., :-1] if x.ndim else x,
        x[::-1] if x.ndim else x, np.repeat(x, 2, axis=0)[::2] if x.ndim else x,
    )  # fmt: skip
    return ways[rng.integers(len(ways))]


def outcome(function, args):
    with np.errstate(all="ignore"):
        try:
            return [(x.shape, x.dtype, x.tobytes()) for x in parts(function(*args))]
        except Exception as error:
            return type(error), str(error)


@pytest.mark.filterwarnings("ignore")  # of complex numbers, by NumPy, on both roads
def test_any_call_at_all_has_the_outcome_of_the_general_path(kernels):
    """Shapes, strides, types, alignment, byte orders, numbers of arguments: the same bits or the same error."""
    rng, direct, errors = np.random.default_rng(0), 0, 0
    batches = [(), (), (3,), (20,), (2, 3), (0,)]
    for _ in range(1500):
        kernel = kernels[rng.integers(len(kernels))]
        common, oddness = batches[rng.integers(len(batches))], rng.choice([0.0, 0.2, 0.6])
        given = []
        for shape in kernel.inputs.values():
            batch = common if rng.random() < 0.7 else [(), (1,), (4,)][rng.integers(3)]
            x = rng.normal(size=(*batch, *shape))
            odd = rng.random() < oddness
            given.append(number(rng) if odd and not x.ndim else unusual(rng, x) if odd else x)
        given = given[:-1] if rng.random() < 0.02 else [*given, 1.0] if rng.random() < 0.02 else given
        with forwarded(kernel._entry) as seen:
            found = outcome(kernel, given)
        assert found == outcome(kernel._general, given)
        direct, errors = direct + (not seen), errors + isinstance(found, tuple)
    assert direct > 300
    assert errors > 100


def test_numbers_and_matrices_are_not_leaked(kernels):
    kernel = kernels[2]
    given = [np.ones((4, 4)), np.ones(7), 12345.678]
    whole = [np.ones((4, 4)), np.ones(7), 10**12]
    before = [sys.getrefcount(x) for x in (*given, *whole)]
    with forwarded(kernel._entry) as seen:
        for _ in range(1000):
            result = kernel(*given)
            kernel(*whole)
    assert not seen
    assert [sys.getrefcount(x) for x in (*given, *whole)] == before
    ordinary = np.empty(3)
    assert 0 <= sys.getrefcount(result) - sys.getrefcount(ordinary) <= 1  # the kernel's own, for its next result


def calls_of(arm):
    """Public functions that take a name, the numbers of a task, or one number."""
    q, v, _ = torsor.random_state(arm, seed=0)
    return {
        "a name": (torsor.redundancy.horizontal_lift, (arm, q, "tool0")),
        "numbers of a task": (torsor.control.resolved_rate, (arm, q, "tool0", np.linspace(-1.0, 1.0, 6))),
        "a number": (torsor.integrate, (arm, q, v, 0.01)),
        "a whole number": (torsor.integrate, (arm, q, v, 2)),
    }


@pytest.mark.parametrize("name", list(calls_of(ARM)))
def test_public_functions_with_names_and_numbers_go_through_the_door(name):
    function, args = calls_of(ARM)[name]
    entry = function
    first = function(*args)
    many = [np.stack([x] * 6) if isinstance(x, np.ndarray) else x for x in args]
    function(*many)
    with forwarded(entry) as seen:
        np.testing.assert_array_equal(function(*args), first)
        np.testing.assert_array_equal(function(*many), np.stack([first] * 6))
    assert not seen
    with pytest.raises(torsor.ShapeError, match=r"`q` must have shape \(\.\.\., 6\)"):
        function(ARM, args[1][:5], *args[2:])


def test_several_robots_frames_and_numbers_of_arguments_in_turn():
    q, v, _ = torsor.random_state(ARM, seed=0)
    calls = [
        *((torsor.body_jacobian, (arm, q, frame)) for arm in (ARM, ARM.with_gravity((0, 0, 0))) for frame in ("tool0", "link_3")),
        (torsor.integrate, (ARM, q, v)),
        (torsor.integrate, (ARM, q, v, 0.01)),
        (torsor.integrate, (OTHER, q, v)),
        (torsor.integrate, (SMALL, q[:2], v[:2])),
    ]  # fmt: skip
    expected = [function(*args) for function, args in calls]
    with forwarded(torsor.body_jacobian) as frames, forwarded(torsor.integrate) as steps:
        for (function, args), result in zip(calls * 3, expected * 3, strict=True):
            np.testing.assert_array_equal(function(*args), result)
    assert not frames
    assert not steps


def test_equal_names_do_not_fill_the_door():
    q, _, _ = torsor.random_state(ARM, seed=0)
    torsor.body_jacobian(ARM, q, "link_3")
    for _ in range(20):
        torsor.body_jacobian(ARM, q[None, None], "".join(["tool", "0"]))
        torsor.body_jacobian(ARM, q.tolist(), "".join(["tool", "0"]))
    with forwarded(torsor.body_jacobian) as seen:
        torsor.body_jacobian(ARM, q, "link_3")
    assert not seen


def test_the_door_opens_again_after_the_numpy_backend():
    q, v, a = torsor.random_state(ARM, seed=0)
    torsor.inverse_dynamics(ARM, q, v, a)
    with torsor.backend("numpy"):
        torsor.inverse_dynamics(ARM, q, v, a)
    torsor.inverse_dynamics(ARM, q, v, a)
    with forwarded(torsor.inverse_dynamics) as seen:
        torsor.inverse_dynamics(ARM, q, v, a)
    assert not seen


def test_threads_with_more_kinds_of_calls_than_the_door_is_open_for():
    """Robots of different sizes, so that a kernel called with another's arrays would not go unnoticed."""
    robots = [
        arm.with_gravity((0.0, 0.0, -float(k))) for k in range(4) for arm in (ARM, SMALL, torsor.robots.pendulum())
    ]
    calls = [(arm, *torsor.random_state(arm, seed=0, batch=batch)) for arm in robots for batch in ((), (5,))]
    expected = [torsor.inverse_dynamics(*args) for args in calls]

    def work(seed):
        rng = np.random.default_rng(seed)
        return all(
            np.array_equal(torsor.inverse_dynamics(*calls[k]), expected[k])
            for k in np.repeat(rng.integers(len(calls), size=1000), 3)
        )

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, range(4)))
    finally:
        sys.setswitchinterval(interval)
