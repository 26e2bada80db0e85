"""How the properties are checked: closeness against a stated scale, and derivatives along a motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import torsor

# Rounding errors: 1e-12 for one formula, 1e-11 (written out) where a recursion runs through a whole robot.
ROUNDING = 1e-12
# Central differences with a step of 1e-6: the truncation error is 1e-12 of a third derivative (which may be a few
# hundred for states of unit size), the rounding error 1e-16/1e-6 = 1e-10 of the differentiated values.
STEP = 1e-6
DIFFERENTIATED = 1e-7


def assert_close(actual: object, expected: object, tolerance: float = ROUNDING, *, scale: object = 0.0) -> None:
    """Same shape, and equal within ``tolerance`` of the largest entry of either or of ``scale``, one at least."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"shape {actual.shape} is not {expected.shape}"
    assert np.all(np.isfinite(actual)), f"not finite: {actual}"
    size = max(1.0, largest(actual), largest(expected), largest(scale))
    error = largest(actual - expected)
    assert error <= tolerance * size, f"differs by {error:.3g}, which is {error / size:.3g} of {size:.3g}"


def largest(x: object) -> float:
    """The largest magnitude in an array; 0 for an empty one."""
    return float(np.abs(x).max(initial=0.0))


def derivative(f: Callable[[float], np.ndarray], step: float = STEP) -> np.ndarray:
    """df/dt at t = 0 by central differences."""
    return (np.asarray(f(step)) - np.asarray(f(-step))) / (2 * step)


def derivative_along(f: Callable[..., np.ndarray], robot: torsor.Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """d/dt f(q(t)) for the motion q ⊕ t v."""
    return derivative(lambda t: f(robot, torsor.integrate(robot, q, v, t)))


def rate_along(
    f: Callable[..., np.ndarray], robot: torsor.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> np.ndarray:
    """d/dt f(q(t), v(t)) for a motion with velocity v and acceleration a."""
    return derivative(lambda t: f(robot, torsor.integrate(robot, q, v, t), v + t * a))


def transposed(A: np.ndarray) -> np.ndarray:
    """Aᵀ over the last two axes."""
    return np.swapaxes(A, -1, -2)


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x over batches."""
    return np.einsum("...ij,...j->...i", A, x)


def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """xᵀ y over batches."""
    return np.einsum("...i,...i->...", x, y)


def one_by_one(f: Callable[..., np.ndarray], batch: tuple[int, ...], *arrays: np.ndarray) -> np.ndarray:
    """What ``f`` gives for every element of a batch alone, put together again."""
    results = [f(*(x[index] for x in arrays)) for index in np.ndindex(batch)]
    return np.array(results).reshape(*batch, *np.shape(results[0]))
