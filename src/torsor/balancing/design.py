"""One number for every variant of a design: how curved, or how far from balanced, its inertia metric is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array
from torsor.balancing.conditions import is_number, variation
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.compiler.backend import backend, compiles
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.compile import compile
from torsor.geometry.curvature import curvature_norm
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.model import Robot, random_configuration

Measure = Callable[[Robot, Array], Array]
MEASURES = ("curvature", "balance")
# States from which on one kernel for all variants is made sooner than NumPy is done: seven joints take 7 s to compile, and
# 12 ms for 32 configurations without.
WORTH_COMPILING = 20_000
_VARIED = ("poses", "screws", "inertias", "armature")  # all that the inertia metric depends on


@dataclass(frozen=True, eq=False, repr=False)
class DesignScan(Report):
    """What `design_scan` found for each of k values of a design parameter.

    ``values`` as given; ``mean``, ``rms`` and ``worst`` (k,) of the measure over the configurations (worst: the largest
    magnitude), and ``worst_q`` (k, nq), rad or m, the configuration of the worst.
    """

    values: tuple[Any, ...]
    mean: Array
    rms: Array
    worst: Array
    worst_q: Array

    @property
    def best(self) -> Any:
        """The value with the least root mean square; an error if the measure is NaN for all of them."""
        if np.all(np.isnan(self.rms)):
            raise ArgumentError(
                "design_scan: no value is best, for the measure is NaN for all of them: the mass matrices are singular "
                "(torsor.dynamics.mass_matrix_report tells why), or the measure given has no value."
            )
        return self.values[int(np.nanargmin(self.rms))]

    def __str__(self) -> str:
        lines = [f"{'value':>12}  {'rms':>10}  {'worst':>10}"]
        for value, rms, worst in zip(self.values, self.rms, self.worst, strict=True):
            shown = f"{value:.5g}" if isinstance(value, (int, float)) else str(value)
            lines.append(f"{shown:>12}  {rms:>10.4g}  {worst:>10.4g}")
        return "\n".join(lines)


@explained
def design_scan(
    make_robot: Callable[[Any], Robot],
    values: Iterable[Any],
    *,
    measure: str | Measure = "curvature",
    configurations: int = 32,
    seed: int | np.random.Generator = 0,
) -> DesignScan:
    """Measure of the robots ``make_robot(value)`` over random configurations, for each value [PBP95, §5].

    Curvature of the inertia metric tells how far the equations of motion are from being linear in the best of all coordinates;
    "minimum curvature is a useful measure of robot performance" [PBP95, §5]. The measure is one of

    - "curvature": |R| · mean(tr M / nv), no unit. |R| = √(R_ijkl R^ijkl) is in 1/(kg·m²), so it is multiplied by the mean
      diagonal entry of M over the configurations (lengths of sliding joints in m count as angles in rad). Robots that differ
      only in the density of their material, or only in size and have no sliding joints, measure the same.
    - "balance": the largest |∂M_ij/∂q_k| / √(D_i D_j) per rad or m, as in `is_balanced`.
    - a function of a robot and configurations (c, nq), which gives (c,).

    Configurations are the same for all values, as far as their limits are. Variants are evaluated with NumPy, or, where there
    are many, by one kernel that takes their numbers as inputs; never by a kernel for each. NaN where a mass matrix is singular.

    Parameters
    ----------
    make_robot : callable
        Gives the robot of a value.
    values : iterable
        The k values of the design parameter.
    measure : str or callable
        One of the above.
    configurations : int
        Number of random configurations.
    seed : int or numpy.random.Generator
        For the random configurations.

    Returns
    -------
    DesignScan
        Mean, root mean square and worst (k,) over the configurations, and the worst configurations (k, nq), rad or m.
    """
    kept = tuple(values)
    if not kept or not is_number(configurations) or int(configurations) != configurations or configurations < 1:
        raise ArgumentError(
            f"takes at least one value and a whole number of configurations, at least one, got {len(kept)} and "
            f"{configurations!r}."
        )
    if isinstance(measure, str):
        refuse_unknown_word("measure", measure, MEASURES, also="a function")
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**32))  # the same configurations for all robots
    robots = [_robot(make_robot, value) for value in kept]
    q = [random_configuration(robot, seed=seed, batch=(configurations,)) for robot in robots]
    if measure == "curvature" and len(kept) * configurations >= WORTH_COMPILING and compiles() and _alike(robots):
        found = _by_one_kernel(robots, np.array(q))
    else:
        found = np.array([_measured(measure, robot, some) for robot, some in zip(robots, q, strict=True)])
    at = np.abs(found).argmax(axis=1)
    return DesignScan(
        values=kept,
        mean=found.mean(axis=1),
        rms=np.sqrt(np.mean(found**2, axis=1)),
        worst=np.take_along_axis(found, at[:, None], axis=1)[:, 0],
        worst_q=_stacked([some[k] for some, k in zip(q, at, strict=True)]),
    )


def _measured(measure: str | Measure, robot: Robot, q: Array) -> Array:
    """The measure of one robot at configurations (c, nq)."""
    if measure == "balance":
        return np.abs(variation(robot, q).relative).max(axis=(1, 2, 3))
    if measure == "curvature":
        with np.errstate(all="ignore"):  # a singular mass matrix is answered with NaN
            return _scaled(_curvature_and_size(robot, q), len(q))
    assert callable(measure)
    with backend("numpy"):  # a kernel for each robot would take longer than the scan
        found = np.asarray(measure(robot, q), float)
    if found.shape != (len(q),):
        raise ShapeError(f"the measure must give shape ({len(q)},) for q {q.shape}, got {found.shape}.")
    return found


def _curvature_and_size(robot: Robot, q: Array) -> dict[str, Array]:
    """|R| and tr M / nv; what the kernel computes."""
    M = mass_matrix(robot, q)
    size = sum(M[..., i, i] for i in range(robot.nv)) / robot.nv
    return {"curvature": curvature_norm(robot, q) if robot.nv > 1 else 0.0 * size, "size": size}


def _scaled(found: dict[str, Array], configurations: int) -> Array:
    """|R| (..., c) times the mean of tr M / nv over the configurations."""
    curvature, size = found["curvature"], found["size"]
    shape = np.broadcast_shapes(np.shape(curvature), np.shape(size), (configurations,))
    scale = np.mean(np.broadcast_to(size, shape), axis=-1, keepdims=True)
    return np.broadcast_to(curvature, shape) * scale


def _by_one_kernel(robots: list[Robot], q: Array) -> Array:
    """(k, c) for robots of one structure, whose numbers are inputs of the kernel."""
    kernel = compile(_curvature_and_size, robots[0], {"q": robots[0].nq}, parameters=_VARIED)
    numbers = {name: np.array([getattr(robot.parameters, name) for robot in robots])[:, None] for name in _VARIED}
    return _scaled(kernel(q=q, **numbers), q.shape[1])


def _alike(robots: list[Robot]) -> bool:
    """Whether the robots differ in numbers only."""

    def shape(robot: Robot) -> tuple[Any, ...]:
        s = robot.structure
        return s.parents, s.kinds, s.couplings, [c[1:] for c in s.coordinates]

    return all(shape(robot) == shape(robots[0]) for robot in robots)


def _stacked(rows: list[Array]) -> Array:
    """Rows as one array, padded with NaN where robots have fewer numbers in q."""
    width = max(len(row) for row in rows)
    return np.array([np.concatenate([row, np.full(width - len(row), np.nan)]) for row in rows])


def _robot(make_robot: Callable[[Any], Robot], value: Any) -> Robot:
    robot = make_robot(value)
    if not isinstance(robot, Robot):
        raise ArgumentError(f"make_robot({value!r}) must give a torsor.Robot, got {type(robot).__name__}.")
    if not robot.is_concrete:
        raise ArgumentError(f"robot {robot.name!r} holds traced parameters; scan robots of plain numbers.")
    return robot
