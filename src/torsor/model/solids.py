"""Bodies of known shape, as `Inertia` makes them [LP, §9.2.1]: solids of uniform density, densities, meshes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from torsor.arrays import matrix
from torsor.arrays.typing import Array, Matrix3, Vector3
from torsor.border import explained
from torsor.errors import ModelError
from torsor.model import shapes
from torsor.model.density import moments_of_density
from torsor.model.mesh_moments import moments_of_mesh

_CENTRE = (0.0, 0.0, 0.0)


class Solids:
    """The class methods of `torsor.Inertia` that make bodies of known shape.

    Exactly one of ``mass`` (kg) and ``density`` (kg/m³) is given; ``com`` (3,), m, is where the centre of mass is. Axes are those
    of the link frame: `Inertia.moved` turns them.
    """

    if TYPE_CHECKING:  # what the class that inherits these is made of

        def __init__(self, mass: Array, com: Vector3 = _CENTRE, rotational: Any = ()) -> None: ...

    @classmethod
    @explained
    def box(
        cls, size: Vector3, *, mass: float | None = None, density: float | None = None, com: Vector3 = _CENTRE
    ) -> Self:
        """A box with edges ``size`` (3,), m, along the axes."""
        return cls._solid(shapes.box(size), mass, density, com)

    @classmethod
    @explained
    def sphere(
        cls, radius: float, *, mass: float | None = None, density: float | None = None, com: Vector3 = _CENTRE
    ) -> Self:
        """A solid sphere of ``radius``, m."""
        return cls._solid(shapes.sphere(radius), mass, density, com)

    @classmethod
    @explained
    def ellipsoid(
        cls, semi_axes: Vector3, *, mass: float | None = None, density: float | None = None, com: Vector3 = _CENTRE
    ) -> Self:
        """A solid ellipsoid with ``semi_axes`` (3,), m, along the axes."""
        return cls._solid(shapes.ellipsoid(semi_axes), mass, density, com)

    @classmethod
    @explained
    def cylinder(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: Vector3 = _CENTRE,
        axis: str = "z",
    ) -> Self:
        """A solid cylinder of ``radius`` and ``length``, m, along the axis "x", "y" or "z"."""
        return cls._solid(shapes.cylinder(radius, length, axis), mass, density, com)

    @classmethod
    @explained
    def capsule(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: Vector3 = _CENTRE,
        axis: str = "z",
    ) -> Self:
        """A cylinder of ``length``, m, with a half ball of ``radius``, m, on each end."""
        return cls._solid(shapes.capsule(radius, length, axis), mass, density, com)

    @classmethod
    @explained
    def tube(
        cls,
        radius: float,
        inner_radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: Vector3 = _CENTRE,
        axis: str = "z",
    ) -> Self:
        """A cylinder of ``radius`` and ``length`` with a hole of ``inner_radius`` along it, m."""
        return cls._solid(shapes.tube(radius, inner_radius, length, axis), mass, density, com)

    @classmethod
    @explained
    def cone(
        cls,
        radius: float,
        height: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: Vector3 = _CENTRE,
        axis: str = "z",
    ) -> Self:
        """A solid cone with a base of ``radius``, m; its centre of mass is a quarter of its ``height``, m, above the base."""
        return cls._solid(shapes.cone(radius, height, axis), mass, density, com)

    @classmethod
    @explained
    def from_density(cls, density: Callable[..., Array], lower: Vector3, upper: Vector3, *, rtol: float = 1e-9) -> Self:
        """The body of a density that depends on the place: m = ∫ ρ dV, and so on [LP, §9.2.1].

        Parameters
        ----------
        density : function (x, y, z) → ρ
            Density in kg/m³ at points of the link frame, arrays (k,) in m; 0 where there is nothing.
        lower, upper : (3,) arrays
            Corners of a box that contains the body, m.
        rtol : float
            Accuracy of the integrals, relative to the mass and the box. Where the density jumps within the box, as at the surface
            of a body, about 1e-3 is what can be had.

        Returns
        -------
        Inertia
            Its centre of mass is where the density puts it.
        """
        return cls._of_moments(*moments_of_density(density, lower, upper, rtol))

    @classmethod
    @explained
    def from_mesh(
        cls, mesh: Any, *, mass: float | None = None, density: float | None = None, scale: float | Vector3 = 1.0
    ) -> Self:
        """A solid of uniform density within a closed surface of triangles [Ton05].

        Parameters
        ----------
        mesh : pair of arrays, trimesh.Trimesh, or path
            Corners (k, 3) and triangles (m, 3), which are indices of corners; or what ``trimesh`` can read.
        mass, density : float
            One of them, kg or kg/m³.
        scale : float or (3,) array
            Metres in a unit of the mesh: 0.001 for a mesh in millimetres.

        Returns
        -------
        Inertia
            In the frame of the mesh; its centre of mass is where the shape puts it.
        """
        volume, first, second = moments_of_mesh(mesh, scale)
        rho = _one_of(mass, density, volume) / volume
        return cls._of_moments(rho * volume, rho * first, rho * second)

    @classmethod
    def _solid(cls, solid: shapes.Solid, mass: float | None, density: float | None, com: Vector3) -> Self:
        m = _one_of(mass, density, solid.volume)
        x, y, z = solid.moments
        return cls(m, com, m * matrix([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]))

    @classmethod
    def _of_moments(cls, mass: float, first: Vector3, second: Matrix3) -> Self:
        """By ∫ dm, ∫ r dm and ∫ r rᵀ dm about the origin."""
        com = first / mass
        about_com = second - mass * np.outer(com, com)
        return cls(mass, com, np.trace(about_com) * np.eye(3) - about_com)


def _one_of(mass: float | None, density: float | None, volume: Array) -> Array:
    """The mass, kg, by itself or by the density."""
    if (mass is None) == (density is None):
        raise ModelError("Inertia: pass exactly one of mass= (kg) and density= (kg/m³).")
    return density * volume if mass is None else mass
