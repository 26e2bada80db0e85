"""Solids of uniform density: volume, principal moments about the centre for unit mass; bodies seen from another point. In m."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import NamedTuple

import numpy as np

from torsor.arrays import is_concrete, known_numbers
from torsor.arrays.exact import sum_of_products
from torsor.arrays.typing import Array, InertiaRow, Vector3
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ModelError


class Solid(NamedTuple):
    """Volume (m³) and principal moments per kilogram (3,) (m²) of a solid whose axes are the coordinate axes."""

    volume: Array
    moments: tuple[Array, Array, Array]


def box(size: Vector3) -> Solid:
    """Edges ``size`` (3,): moments (y² + z²)/12, …"""
    x, y, z = _lengths("box", 3, size=size)
    return Solid(x * y * z, ((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12))


def ellipsoid(semi_axes: Vector3) -> Solid:
    """Semi-axes (3,): moments (b² + c²)/5, …"""
    a, b, c = _lengths("ellipsoid", 3, semi_axes=semi_axes)
    return Solid(4 / 3 * pi * a * b * c, ((b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5))


def sphere(radius: float) -> Solid:
    """2 r²/5 about every axis."""
    (r,) = _lengths("sphere", 1, radius=radius)
    return ellipsoid((r, r, r))


def cylinder(radius: float, length: float, axis: str) -> Solid:
    """r²/2 about the axis, (3 r² + l²)/12 across."""
    r, l = _lengths("cylinder", 1, radius=radius, length=length)
    return _round("cylinder", axis, pi * r * r * l, along=r * r / 2, across=(3 * r * r + l * l) / 12)


def capsule(radius: float, length: float, axis: str) -> Solid:
    """A cylinder of ``length`` (without the caps) and a hemisphere of ``radius`` on each end."""
    r, l = _lengths("capsule", 1, radius=radius, length=length)
    tube, caps = pi * r * r * l, 4 / 3 * pi * r**3
    volume = tube + caps
    a, b = tube / volume, caps / volume  # shares of the mass
    # Each half ball has its centre of mass 3r/8 from its flat face, which lies l/2 from the middle.
    across = a * (3 * r * r + l * l) / 12 + b * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r)
    return _round("capsule", axis, volume, along=a * r * r / 2 + b * 0.4 * r * r, across=across)


def tube(radius: float, inner_radius: float, length: float, axis: str) -> Solid:
    """Radii R and r: (R² + r²)/2 about the axis, (3 (R² + r²) + l²)/12 across."""
    R, r, l = _lengths("tube", 1, radius=radius, inner_radius=inner_radius, length=length)
    if is_concrete(R, r) and not r < R:
        raise ModelError(f"tube: `inner_radius` must be less than `radius`, got {inner_radius} and {radius} m.")
    square = R * R + r * r
    return _round("tube", axis, pi * (R * R - r * r) * l, along=square / 2, across=(3 * square + l * l) / 12)


def cone(radius: float, height: float, axis: str) -> Solid:
    """3 r²/10 about the axis, 3 (4 r² + h²)/80 across."""
    r, h = _lengths("cone", 1, radius=radius, height=height)
    return _round("cone", axis, pi * r * r * h / 3, along=0.3 * r * r, across=3 * (4 * r * r + h * h) / 80)


def _lengths(shape: str, count: int, **lengths: Array) -> list[Array]:
    numbers: list[Array] = []
    for name, value in lengths.items():
        given = known_numbers(value)
        if given.size != count:
            raise ModelError(f"{shape}: `{name}` takes {count} number{'s' * (count > 1)} (m), got {value}.")
        if not is_concrete(given):  # being differentiated: what it is worth is not known
            numbers.extend([given.reshape(count)[k] for k in range(count)])
            continue
        if not np.all(np.isfinite(value)) or np.any(np.asarray(value) <= 0):
            raise ModelError(f"{shape}: `{name}` must be finite and positive (m), got {value}.")
        numbers.extend(np.ravel(value).tolist())
    return numbers


def _round(shape: str, axis: str, volume: Array, *, along: Array, across: Array) -> Solid:
    refuse_unknown_word("axis", axis, ("x", "y", "z"))
    x, y, z = (along if letter == axis else across for letter in "xyz")
    return Solid(volume, (x, y, z))


def moved_from_com(mass: float, com: Sequence[float], moments: Sequence[float]) -> InertiaRow:
    """`transform_inertia` by the translation c of a body about its centre of mass: I + m (c·c 1 − c cᵀ), to the same bits.

    ``moments``: Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass.
    """
    (x, y, z), (xx, xy, xz, yy, yz, zz) = com, moments
    u, v, w = mass * x, mass * y, mass * z
    square = sum_of_products((x, y, z), (u, v, w))
    upper = xx + square - u * x, xy + 0.0 - u * y, xz + 0.0 - u * z
    lower = yy + square - v * y, yz + 0.0 - v * z, zz + square - w * z
    return np.array([mass, u + 0.0, v + 0.0, w + 0.0, *upper, *lower])  # + 0.0: no zero has a sign
