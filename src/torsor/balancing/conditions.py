"""What each joint needs for the mass matrix to be constant, or why nothing can make it so; and how much it does change.

G_c is the inertia of everything beyond joint c, J_a the screw of joint a. The mass matrix is constant if and only if
J_aᵀ Ġ_c J_b (a ≤ b < c) and [J_a, J_b]ᵀ G_c J_c (a < b ≤ c) vanish [PBP95, (53)]. For a joint c that turns:

"nothing"        no joint before it moves its axis, except along itself
"first moment"   all axes before it are parallel to its own: the centre of mass of what lies beyond is on its axis, so that no
                 turn of c moves mass; moments about other directions never meet [BSP93, §5, E000-13]. The same for a spherical
                 joint about its centre, if all joints before it slide
"revolution"     axes before it are not all parallel to its own: what lies beyond is an inertial solid of revolution about the
                 axis, so that Ġ_c = 0

What is left are the terms ∂_b M_ac = I_c (z_a × z_b)·z_c, a < b < c. No counterweight removes them: their mean over a turn of c
is the same for every distribution of mass with the same I_c. See `skew_axes`.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border.numbers import refuse_no_robot
from torsor.errors import ArgumentError, ModelError
from torsor.geometry.freedoms import gathering
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import derivative_of
from torsor.lie import unchecked as lie
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.model import Robot, random_configuration

PARALLEL = 1e-5  # rad: files print π/2 as 1.5708; whether the result is good enough, the report after says
SAMPLES = 4


class Axes(NamedTuple):
    """Unit vectors in base axes at a few configurations: ``turning[i]`` (c, k, 3) of joint i, ``sliding[i]`` (c, k, 3)."""

    turning: list[Array]
    sliding: list[Array]


def axes_of(robot: Robot) -> Axes:
    """The directions in which every joint turns its link, and those in which it slides it without turning."""
    q = sampled(robot, SAMPLES, 0)
    turning, sliding = [], []
    for i, T in enumerate(poses_in_base(robot, q)):
        S = lie.transform_twist(np.broadcast_to(T, (len(q), 4, 4))[:, None], joint_screws(robot, i))
        turns, moves = (np.linalg.norm(S[0, :, part], axis=-1) > 0 for part in (slice(0, 3), slice(0, 6)))
        turning.append(_unit(S[:, turns, :3]))
        sliding.append(_unit(S[:, moves & ~turns, 3:]))  # a mimic joint of ratio 0 does not move at all
    return Axes(turning, sliding)


def all_parallel(some: Array, others: Array) -> bool:
    """Whether each of some vectors (c, k, 3) is always parallel to each of others (c, l, 3)."""
    across = np.cross(some[:, :, None], others[:, None, :])
    return bool(np.all(np.abs(across) <= PARALLEL))


def needs_of(robot: Robot, axes: Axes) -> list[str]:
    """For each joint "nothing", "first moment" or "revolution"; a ModelError for one that can never be balanced."""
    loaded = {
        a for i, row in enumerate(robot.parameters.inertias) if row.any() for a in robot.structure.path_from_base(i)
    }
    return [_need(robot, axes, i) if i in loaded else "nothing" for i in range(robot.n)]


def _need(robot: Robot, axes: Axes, i: int) -> str:
    kind, before = robot.structure.kind_of(i), robot.structure.path_from_base(i)[:-1]
    if not before or not (axes.turning[i].size or axes.sliding[i].size):
        return "nothing"
    turning = np.concatenate([axes.turning[a] for a in before], axis=1)
    sliding = np.concatenate([axes.sliding[a] for a in before], axis=1)
    if not kind.has_screw:
        if turning.size or not kind.has_fixed_point:
            raise _refusal(robot, i, f"is {kind.name}, with joints before it that move its axes")
        return "first moment"
    if not kind.turns_about_axis:
        if not all_parallel(axes.sliding[i], turning):
            raise _refusal(robot, i, "slides mass across an axis that carries it")
        return "nothing"
    if not all_parallel(axes.turning[i], turning):
        if not kind.has_fixed_point:
            raise _refusal(robot, i, f"is {kind.name}: it moves mass along an axis that others turn")
        return "revolution"
    return "first moment" if turning.size or not all_parallel(axes.turning[i], sliding) else "nothing"


def _refusal(robot: Robot, i: int, trouble: str) -> ModelError:
    name = robot.joints[i]
    return ModelError(
        f"joint {name!r} of robot {robot.name!r} {trouble}: no counterweights make the mass matrix constant. Hold it "
        f"(robot.lock), or make the variation small with least_change_balancing."
    )


def not_parallel(robot: Robot, axes: Axes, i: int) -> str:
    """The name of a joint before joint i whose axis is not parallel to its own."""
    before = robot.structure.path_from_base(i)[:-1]
    return next(robot.joints[a] for a in before if not all_parallel(axes.turning[i], axes.turning[a]))


def skew_axes(robot: Robot, axes: Axes) -> tuple[str, str, str] | None:
    """Three joints a, b, c, one beyond the other, with (z_a × z_b)·z_c ≠ 0 somewhere, by name; None if there are none."""
    for c in range(robot.n):
        for a, b in combinations(robot.structure.path_from_base(c)[:-1], 2):
            za, zb, zc = (
                axes.turning[a][:, :, None, None],
                axes.turning[b][:, None, :, None],
                axes.turning[c][:, None, None],
            )
            if np.any(np.abs(np.sum(np.cross(za, zb) * zc, axis=-1)) > PARALLEL):
                return robot.joints[a], robot.joints[b], robot.joints[c]
    return None


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# How much the mass matrix changes with the configuration, entry by entry, and what of that is only rounding.

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


def sampled(robot: Robot, configurations: int, seed: int | np.random.Generator, tolerance: float = 1.0) -> Array:
    """The neutral configuration and ``configurations`` random ones (1 + configurations, nq)."""
    check_robot(robot)
    if not (is_number(configurations) and int(configurations) == configurations and is_number(tolerance)):
        raise ArgumentError(
            f"takes a whole number of configurations and a tolerance, got {configurations!r}, {tolerance!r}."
        )
    if not (configurations >= 1 and tolerance >= 0):
        raise ArgumentError(
            f"at least one configuration and a tolerance that is not negative, got {configurations}, {tolerance}."
        )
    return np.concatenate([robot.neutral[None], random_configuration(robot, seed=seed, batch=(int(configurations),))])


def check_robot(robot: Robot) -> None:
    """Refuse what is no robot, or one whose numbers are not known."""
    refuse_no_robot(robot)
    if not robot.is_concrete:
        raise ArgumentError(f"robot {robot.name!r} holds traced parameters; ask it of a robot of plain numbers.")


def is_real(value: Any) -> bool:
    """Whether this is one real number, NaN among them."""
    return (isinstance(value, (int, float)) or getattr(value, "ndim", None) == 0) and np.asarray(
        value
    ).dtype.kind in "fiu"


def is_number(value: Any) -> bool:
    """Whether this is one real, finite number."""
    return is_real(value) and bool(np.isfinite(value))


def printed(q: Array) -> str:
    """A configuration as it stands in a sentence."""
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
