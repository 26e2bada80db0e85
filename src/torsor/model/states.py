"""Configurations and states to start from: random ones, within the limits."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from torsor.arrays.typing import Result
from torsor.border import explained
from torsor.errors import ArgumentTypeError
from torsor.model.robot import Robot

State = tuple[Result, Result, Result]


@explained
def random_configuration(robot: Robot, *, seed: int | np.random.Generator, batch: int | tuple[int, ...] = ()) -> Result:
    """Random configurations, uniform within the limits.

    Where there is no limit: uniform in (−π, π) for angles and (−1, 1) m for lengths; rotations of spherical and free
    joints uniform over SO(3).

    Parameters
    ----------
    robot : Robot
    seed : int or numpy Generator
    batch : int or tuple of int, optional
        Shape of the batch.

    Returns
    -------
    (*batch, nq) array
        rad or m.
    """
    generator, shape = generator_of(seed), _shape(batch)
    s = robot.structure
    q = np.empty((*shape, robot.nq))
    for i in range(s.n):
        c = s.coordinate_of(i)
        if c.name == s.joints[i]:
            lower, upper = np.array(s.limits.lower[c.q]), np.array(s.limits.upper[c.q])
            q[..., c.q] = s.kind_of(i).sample(generator, shape, lower, upper)
    return q


@explained
def random_state(robot: Robot, *, seed: int | np.random.Generator, batch: int | tuple[int, ...] = ()) -> State:
    """A random configuration within the limits, and standard normal velocity and acceleration.

    Parameters
    ----------
    robot : Robot
    seed : int or numpy Generator
    batch : int or tuple of int, optional
        Shape of the batch.

    Returns
    -------
    q : (*batch, nq) array
        rad or m.
    v, a : (*batch, nv) arrays
        rad, m, s.
    """
    generator, shape = generator_of(seed), _shape(batch)
    q = random_configuration(robot, seed=generator, batch=shape)
    v, a = generator.normal(size=(2, *shape, robot.nv))
    return q, v, a


def _shape(batch: int | tuple[int, ...]) -> tuple[int, ...]:
    return (int(batch),) if isinstance(batch, (int, Integral)) else tuple(batch)


def generator_of(seed: int | np.random.Generator) -> np.random.Generator:
    """The generator of a seed, or the generator itself."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        wanted = "a whole number, not negative, or a numpy.random.Generator"
        raise ArgumentTypeError(f"`seed` must be {wanted}, got {seed!r:.60}.") from error
