"""Jacobi fields: how far a motion and its neighbours come apart, to first order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenJointVector
from torsor.border import explained
from torsor.border.numbers import numbers_of, refuse_bad_numbers, refuse_strangers
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.motion.integration import RUN_INSIDE
from torsor.motion.linear_flow import covariant_rates, linear_flow, refuse_no_motion_of, velocity_changes
from torsor.motion.motions import Motion


@dataclass(frozen=True, eq=False, repr=False)
class JacobiField(Report):
    """The displacement ξ from a motion to a neighbour, per unit of what separates them at the start.

    Attributes
    ----------
    robot : Robot
    time : (K,) array
        s.
    q : (..., K, nq) array
        The motion, rad or m.
    v : (..., K, nv) array
        Its velocity, rad/s or m/s.
    displacement : (..., K, nv) array
        ξ, along the tangent coordinates v: the neighbour is at q ⊕ ε ξ.
    rate : (..., K, nv) array
        Covariant derivative Dξ/dt of the displacement along the motion, per s.
    velocity_change : (..., K, nv) array
        By how much the numbers v of the neighbour differ, δv = Dξ/dt − Γ(ξ, v).
    size : (..., K) array
        √(ξᵀ M ξ), how far apart they are.
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    displacement: Array
    rate: Array
    velocity_change: Array
    size: Array

    def __str__(self) -> str:
        many = "" if self.size.ndim == 1 else f", {np.prod(self.size.shape[:-1])} fields"
        if not self.size.size:
            return f"Jacobi field along a motion of robot {self.robot.name!r}: an empty batch."
        field = self.size.reshape(-1, len(self.time)).max(axis=0)
        k = int(np.argmax(field))
        return (
            f"Jacobi field along {self.time[-1] - self.time[0]:g} s of a motion of robot {self.robot.name!r}{many}: its "
            f"size √(ξᵀ M ξ) is {field[0]:.4g} at the start, {field[-1]:.4g} at the end, and at most {field[k]:.4g}, at t = "
            f"{self.time[k]:.4g} s."
        )


@explained
def jacobi_field(
    robot: Robot,
    motion: Motion,
    displacement: GivenJointVector,
    rate: GivenJointVector,
    *,
    time: Array | None = None,
    tolerance: float = 1e-10,
) -> JacobiField:
    """Displacement ξ to the neighbours of a motion: D²ξ/dt² + R(ξ, v) v = ∇_ξ (M⁻¹ F) [PBP95, §5, (66); dC92, ch. 5, (1)].

    Curvature decides: where it is positive, neighbours are drawn together, where it is negative, they part. The neighbours of a
    geodesic are geodesics, and F = 0; those of a natural motion are under gravity and springs; those of any other motion are
    under the same joint forces as functions of time, gravity, springs and friction. Stops are not looked at.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    motion : Motion
        A Geodesic, a NaturalMotion, a Trajectory of `torsor.simulate` (as it is interpolated), or any other motion.
    displacement : (..., nv) array
        ξ at the start, along the tangent coordinates v, in any unit.
    rate : (..., nv) array
        Covariant derivative Dξ/dt at the start, per s; where ξ = 0, the change of v.
    time : (K,) array, optional
        When the field is wanted, s; at the samples of the motion if None.
    tolerance : float
        Relative, of each step of integration.

    Returns
    -------
    JacobiField
        Batch axes of motion and fields broadcast.

    Notes
    -----
    It is integrated as the derivative of the motion by its start, which is the same. R(·, v) v is
    `torsor.geometry.jacobi_operator`.
    """
    refuse_strangers(robot, motion, displacement, rate, instead=RUN_INSIDE)
    refuse_bad_numbers(tolerance=tolerance)
    refuse_no_motion_of(robot, motion)
    xi, D_xi = (numbers_of(name, x, (robot.nv,)) for name, x in (("displacement", displacement), ("rate", rate)))
    flow = linear_flow(robot, motion, tolerance)
    times = times_along(motion, flow.start, time)
    q, v, Phi = flow(times)
    first = flow(np.array([flow.start]))
    try:
        batch = np.broadcast_shapes(xi.shape[:-1], D_xi.shape[:-1], q.shape[:-2])
    except ValueError:
        raise ShapeError(
            f"batch axes do not broadcast: `displacement` {xi.shape}, `rate` {D_xi.shape}, `motion` {q.shape[:-2]}."
        ) from None
    xi, D_xi = (np.broadcast_to(x, (*batch, robot.nv)) for x in (xi, D_xi))
    change = velocity_changes(robot, first.q[..., 0, :], first.v[..., 0, :], xi, D_xi)
    carried = (Phi @ np.concatenate([xi, change], axis=-1)[..., None, :, None])[..., 0]
    qs, vs = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (q, v))
    xi, change = carried[..., : robot.nv], carried[..., robot.nv :]
    size = np.sqrt(np.maximum(np.einsum("...i,...ij,...j->...", xi, mass_matrix(robot, qs), xi), 0.0))
    return JacobiField(robot, times, qs, vs, xi, covariant_rates(robot, qs, vs, xi, change), change, size)


def times_along(motion: Motion, start: float, time: Array | None) -> Array:
    """The times (K,) that are asked for: given ones, the samples of the motion, or 101."""
    end = start + motion.duration
    if time is None:
        own = getattr(motion, "time", None)
        return np.linspace(start, end, 101) if own is None else np.asarray(own, float)
    times, slack = numbers_of("time", np.atleast_1d(time), ()), 1e-12 * motion.duration
    if times.ndim != 1 or not times.size or times.min() < start - slack or times.max() > end + slack:
        raise ArgumentError(f"`time` must be times (K,) from {start:g} to {end:g} s, got {time!r:.60}.")
    return np.clip(times, start, end)
