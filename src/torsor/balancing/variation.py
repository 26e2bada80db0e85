"""How much the mass matrix changes with the configuration, entry by entry, and what of that is only rounding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.geometry.freedoms import gathering
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import derivative_of
from torsor.model import Robot, random_configuration

ROUNDING = 64 * float(np.finfo(float).eps)  # of the numbers a sum is made of: a few operations for every link


class Variation(NamedTuple):
    """∂_k M_ij at configurations ``q`` (c, nq), as ``derivative`` (c, nv, nv, nv) and divided by √(D_i D_j), ``relative``.

    D_i (``diagonal`` (nv,)) is the mean of M_ii over the configurations. Entries that rounding alone can explain are zero.
    """

    q: Array
    derivative: Array
    diagonal: Array
    relative: Array


def variation(robot: Robot, q: ConfigurationVector, diagonal: Array | None = None) -> Variation:
    """How the mass matrix changes at ``q`` (c, nq), with NumPy; nothing is compiled. ``diagonal``: D of another robot."""
    n, metric = robot.nv, inertia_metric(robot, q)
    dM = np.array(np.broadcast_to(derivative_of(metric), (len(q), n, n, n)))
    u, s = sizes(metric)
    dM[np.abs(dM) <= ROUNDING * np.einsum("k,i,j->kij", u, s, s)] = 0.0
    if diagonal is None:
        diagonal = np.einsum("cii->i", np.broadcast_to(metric.mass_matrix(), (len(q), n, n))) / len(q)
    return Variation(q, dM, diagonal, relative_to(diagonal, dM))


def relative_to(diagonal: Array, dM: Array) -> Array:
    """∂_k M_ij / √(D_i D_j); zero where the derivative is (a joint that moves nothing has D_i = 0)."""
    scale = np.broadcast_to(np.sqrt(np.multiply.outer(diagonal, diagonal)), dM.shape)
    with np.errstate(divide="ignore"):
        return np.divide(dM, scale, out=np.zeros_like(dM), where=dM != 0)


def sampled(who: str, robot: Robot, configurations: int, seed: int, tolerance: float = 1.0) -> Array:
    """The neutral configuration and ``configurations`` random ones (1 + configurations, nq)."""
    check_robot(who, robot)
    if not (is_number(configurations) and int(configurations) == configurations and is_number(tolerance)):
        raise ArgumentError(
            f"{who}: takes a whole number of configurations and a tolerance, got {configurations!r}, {tolerance!r}."
        )
    if not (configurations >= 1 and tolerance >= 0):
        raise ArgumentError(
            f"{who}: at least one configuration and a tolerance that is not negative, got {configurations}, {tolerance}."
        )
    return np.concatenate([robot.neutral[None], random_configuration(robot, seed=seed, batch=(int(configurations),))])


def check_robot(who: str, robot: Robot) -> None:
    """Refuse what is no robot, or one whose numbers are not known."""
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"{who}: the first argument must be a torsor.Robot, got {type(robot).__name__}.")
    if not robot.is_concrete:
        raise ArgumentError(f"{who}: robot {robot.name!r} holds traced parameters; ask it of a robot of plain numbers.")


def is_real(value: Any) -> bool:
    """Whether this is one real number, NaN among them."""
    return (isinstance(value, (int, float)) or getattr(value, "ndim", None) == 0) and np.asarray(
        value
    ).dtype.kind in "fiu"


def is_number(value: Any) -> bool:
    """Whether this is one real, finite number."""
    return is_real(value) and bool(np.isfinite(value))


def printed(q: Array) -> str:
    """A configuration in a sentence."""
    return np.array2string(np.asarray(q), precision=4, separator=", ", suppress_small=True, max_line_width=1000)


def sizes(metric: InertiaMetric) -> tuple[Array, Array]:
    """Numbers u, s (nv,) that bound what ∂_k M_ij is made of: rounding may leave ε u_k s_i s_j where it should vanish.

    ∂_k M_ij is a sum of products of two screws with an inertia, one screw turned by a third. With the lengths ω and v of a
    screw's two halves, and ρ a length that no lever and no radius of gyration exceeds, no term exceeds u_k s_i s_j, where
    u = ω + v/ρ and s² = I ω² + 2 |h| ω (v + ρω) + m (v + ρω)². All in the frame in which the sum is formed.
    """
    w, v = (np.linalg.norm(metric.J[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6)))
    m, h = metric.G[..., 0], np.linalg.norm(metric.G[..., 1:4], axis=-1)
    I = metric.G[..., 4] + metric.G[..., 7] + metric.G[..., 9]
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = [np.where(w > 0, v / w, 0.0).max(), np.sqrt(np.where(m > 0, np.abs(I) / m, 0.0)).max()]
        rho = max(lengths)
        u = w + (v / rho if rho > 0 else 0.0)
    far = v + rho * w
    s = np.sqrt(np.abs(I) * w**2 + 2 * h * w * far + np.abs(m) * far**2)
    if (E := gathering(metric.robot.structure)) is not None:
        u, s = u @ E, s @ E
    u, s = (x.reshape(-1, x.shape[-1]).max(axis=0) for x in np.broadcast_arrays(u, s))
    return u, s
