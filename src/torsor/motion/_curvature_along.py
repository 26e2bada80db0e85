"""How curved the inertia metric is where a motion goes, and in the direction in which it goes."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import explained
from torsor.errors import ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import curvature_norm, ricci_curvature, scalar_curvature
from torsor.functions.public.kinematics import difference
from torsor.model import Robot


class CurvatureAlong(NamedTuple):
    """Curvature at the K samples of a path, each (..., K), 1/(kg·m²); NaN where M is singular.

    ``scalar`` is the scalar curvature, ``norm`` is √(R_ijkl R^ijkl), zero only where all curvature is, and ``ricci`` is
    Ric(v, v)/|v|² in the direction of motion: the sum of the curvatures of all planes through it, NaN where v = 0.
    """

    scalar: Array
    norm: Array
    ricci: Array


@runtime_checkable
class Motion(Protocol):
    """Anything with configurations ``q`` (..., K, nq) and velocities ``v`` (..., K, nv), such as `torsor.Trajectory`."""

    @property
    def q(self) -> Array:
        """Configurations (..., K, nq), rad or m."""

    @property
    def v(self) -> Array:
        """Velocities (..., K, nv), rad/s or m/s."""


@explained
def curvature_along(
    robot: Robot, path: ConfigurationVector | Motion, velocities: JointVector | None = None
) -> CurvatureAlong:
    """Scalar curvature, norm of the curvature and Ricci curvature in the direction of motion, along a path [PBP95, (66)].

    ``path`` (..., K, nq), rad or m, or a `torsor.Trajectory`, whose velocities are taken; ``velocities`` (..., K, nv), any
    unit, for only their directions matter. Without them the directions are those from the sample before to the one after.
    A positive Ricci curvature draws motions that start side by side together, a negative one drives them apart.

    Returns (..., K) each, 1/(kg·m²).
    """
    if isinstance(path, Motion):
        path, velocities = path.q, path.v if velocities is None else velocities
    q = np.asarray(path, float)
    if q.ndim < 2 or q.shape[-1] != robot.nq:
        raise ShapeError(f"`path` must have shape (..., K, {robot.nq}) for robot {robot.name!r}, got {q.shape}.")
    v = _directions(robot, q) if velocities is None else np.asarray(velocities, float)
    if v.shape[-1:] != (robot.nv,) or v.shape[:-1] != q.shape[:-1]:
        raise ShapeError(
            f"`velocities` must have shape {(*q.shape[:-1], robot.nv)}, one for each sample, got {v.shape}."
        )
    bent = np.einsum("...i,...ij,...j->...", v, ricci_curvature(robot, q), v)
    with np.errstate(invalid="ignore", divide="ignore"):  # at rest there is no direction: NaN
        ricci = bent / np.einsum("...i,...ij,...j->...", v, mass_matrix(robot, q), v)
    return CurvatureAlong(scalar_curvature(robot, q), curvature_norm(robot, q), ricci)


def _directions(robot: Robot, q: Array) -> Array:
    """From the sample before to the one after; at the ends, to or from the neighbour."""
    if q.shape[-2] < 2:
        raise ShapeError("one sample has no direction; pass `velocities`.")
    before = np.concatenate([q[..., :1, :], q[..., :-1, :]], axis=-2)
    after = np.concatenate([q[..., 1:, :], q[..., -1:, :]], axis=-2)
    return np.asarray(difference(robot, before, after))
