"""As balanced as a few kilograms allow: one point mass on each link, where it takes most variation out of the mass matrix."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.balancing.conditions import ROUNDING, check_robot, is_number, sampled, variation
from torsor.balancing.counterweights import Balancing, Counterweight, carrying
from torsor.balancing.reports import report_of
from torsor.border import explained
from torsor.errors import ArgumentError, ModelError, needed, unknown_name
from torsor.geometry.freedoms import first_derivative_places
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import derivative_of
from torsor.model import Robot

PATIENCE = 1.0  # s, before a word on the terminal
TOLERANCE = 1e-9  # of the reports, as in `is_balanced`
MOST, FEWEST = 64, 6  # configurations, if not said
NEGLIGIBLE = 1e-6  # of the mass allowed: such a counterweight is left out


@explained
def least_change_balancing(
    robot: Robot,
    *,
    added_mass: float,
    reach: float,
    links: Sequence[str] | None = None,
    configurations: int | None = None,
    seed: int | np.random.Generator = 0,
    weight: float = 1e-4,
) -> Balancing:
    """Robot with counterweights within limits whose mass matrix is as constant as they can make it [BSP93, §5].

    For every robot: one point mass on each link. Minimised is the mean square of ∂M_ij/∂q_k / √(D_i D_j) over the neutral and
    random configurations, D_i the mean of M_ii of the robot as it is: a heavier mass matrix is no excuse. M is linear in the
    links' inertias [PBP95, §4], so that the mechanics is evaluated once and the search runs on a small matrix, from several
    starts, fewer for more than a dozen links (SLSQP with exact gradients; needs SciPy).

    Parameters
    ----------
    robot : Robot
    added_mass : float
        Mass of all counterweights together at most, kg.
    reach : float
        Distance of each from the origin of its link's frame at most, m.
    links : sequence of str, optional
        Links that may carry one; all by default.
    configurations : int, optional
        Number of random configurations; 64 by default, fewer for robots with more than a dozen freedoms, for each has
        thousands of entries then.
    seed : int or numpy.random.Generator
        For the random configurations and starts.
    weight : float
        Share of the mean square that may stay if that saves all of ``added_mass``, no unit.

    Returns
    -------
    Balancing
        The new robot, the counterweights with positions (3,), m, in their links' frames, and the reports before and after, both
        at these configurations and over the same D. It is never worse than the robot given: where nothing helps, it has no
        counterweights.
    """
    chosen = _checked(robot, added_mass, reach, links, weight)
    q = sampled(robot, _enough(robot) if configurations is None else configurations, seed)
    found = variation(robot, q)
    before = report_of(robot, found, TOLERANCE)
    least = np.min(found.diagonal, where=found.diagonal > 0, initial=np.inf)
    D = np.where(found.diagonal > 0, found.diagonal, least)  # a joint that moves nothing yet may do so soon
    weights: tuple[Counterweight, ...] = ()
    if before.entries and added_mass > 0:
        linear = variation_map(robot, q, D, chosen)
        felt = np.linalg.norm(linear.slopes, axis=(0, 2)) > ROUNDING  # first links change no derivative
        problem = Problem(linear._replace(slopes=linear.slopes[:, felt]), added_mass, reach, weight)
        weights = _search(robot, [i for i, yes in zip(chosen, felt, strict=True) if yes], problem, seed)
    heavier = carrying(robot, weights)
    after = report_of(heavier, variation(heavier, q, D), TOLERANCE)
    if after.rms >= before.rms:
        heavier, weights, after = robot, (), before
    return Balancing(heavier, weights, before, after)


def _enough(robot: Robot) -> int:
    """How many configurations tell one design from another in seconds: time grows with the cube of the freedoms, or more."""
    return max(FEWEST, int(MOST * min(1.0, (LARGE / robot.nv) ** 3)))


def _search(
    robot: Robot, chosen: list[int], problem: Problem, seed: int | np.random.Generator
) -> tuple[Counterweight, ...]:
    """The best of several starts; negligible counterweights are left out."""
    optimize = needed("scipy.optimize", "the search needs SciPy: pip install 'torsor[motion]'.")
    begun, told = time.monotonic(), ""
    best, least = np.zeros(4 * problem.size), 1.0
    tried = starts(problem, seed) if problem.size else []
    iterations = max(ITERATIONS // 4, int(effort(problem) * ITERATIONS)) if tried else 0
    for k, start in enumerate(tried):
        if sys.stderr.isatty() and time.monotonic() - begun > PATIENCE:
            told = f"\rleast_change_balancing: start {k + 1} of {len(tried)} …"
            sys.stderr.write(told)
            sys.stderr.flush()
        found = optimize.minimize(
            problem.value_and_gradient,
            start,
            jac=True,
            method="SLSQP",
            bounds=problem.bounds(),
            constraints=problem.constraints(),
            options={"maxiter": iterations, "ftol": 1e-13},
        )
        if np.all(np.isfinite(found.x)) and found.fun < least:
            best, least = found.x, float(found.fun)
    if told:
        sys.stderr.write("\r" + " " * len(told) + "\r")
    masses, places = problem.within_limits(best)
    return tuple(
        Counterweight(robot.links[l], float(m), p)
        for l, m, p in zip(chosen, masses, places, strict=True)
        if m > NEGLIGIBLE * problem.added_mass
    )


def _checked(robot: Robot, added_mass: float, reach: float, links: Sequence[str] | None, weight: float) -> list[int]:
    """The links that may carry counterweights, by number."""
    check_robot(robot)
    if not (is_number(added_mass) and is_number(reach) and added_mass >= 0 and reach > 0):
        raise ModelError(
            f"added_mass must not be negative and reach must be positive, got {added_mass} kg and {reach} m."
        )
    if not (is_number(weight) and weight >= 0):
        raise ArgumentError(f"weight must not be negative, got {weight}.")
    if links is not None and (isinstance(links, str) or not len(links)):
        raise ArgumentError(
            f"`links` must be a list of at least one link by name, got {links!r}. Leave it out for all: robot.links."
        )
    for link in robot.links if links is None else links:
        if link not in robot.links:
            raise unknown_name(f"robot {robot.name!r}", "moving link", link, robot.links, "robot.links")
    return [i for i, link in enumerate(robot.links) if links is None or link in links]


# The search for counterweights within limits: what is minimised, under which constraints, and from where it starts.

GREEDY, RANDOM = 5, 5  # starts of each sort
PLACES = 100  # where a greedy start may put a counterweight
SWEEPS = 6  # over all links
ITERATIONS = 300  # of each start
LARGE = 12  # links from which on effort is saved: an iteration takes time that grows with the cube of their number


class Problem(NamedTuple):
    """Masses added_mass · μ_l and places reach · x_l of counterweights on L links, as one vector θ = (μ, x) (4 L,)."""

    map: VariationMap
    added_mass: float
    reach: float
    weight: float

    @property
    def size(self) -> int:
        """Number of links, L."""
        return int(self.map.slopes.shape[1])

    def split(self, theta: Array) -> tuple[Array, Array]:
        """Masses (L,), kg, and places (L, 3), m."""
        return self.added_mass * theta[: self.size], self.reach * theta[self.size :].reshape(self.size, 3)

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Mean square of the variation, 1 without counterweights, and what their mass costs."""
        masses, places = self.split(theta)
        residual = self.map.offset + np.einsum("rlt,lt->r", self.map.slopes, masses[:, None] * point_row(places))
        by_row = 2.0 * np.einsum("r,rlt->lt", residual, self.map.slopes)
        by_mass = self.added_mass * np.sum(by_row * point_row(places), axis=-1) + self.weight
        by_place = self.reach * masses[:, None] * np.einsum("lt,ltx->lx", by_row, point_row_derivatives(places))
        cost = self.weight * theta[: self.size].sum()
        return float(residual @ residual + cost), np.concatenate([by_mass, by_place.ravel()])

    def bounds(self) -> list[tuple[float, float]]:
        """Least and largest value of every number in θ."""
        return [(0.0, 1.0)] * self.size + [(-1.0, 1.0)] * (3 * self.size)

    def constraints(self) -> list[dict[str, Any]]:
        """All masses together, and every place, within the limits: what must not be negative, with its derivatives."""
        L = self.size

        def room(theta: Array) -> Array:
            return np.concatenate([[1.0 - theta[:L].sum()], 1.0 - (theta[L:].reshape(L, 3) ** 2).sum(axis=-1)])

        def slope(theta: Array) -> Array:
            rows = np.zeros((L + 1, 4 * L))
            rows[0, :L] = -1.0
            for l in range(L):
                rows[l + 1, L + 3 * l : L + 3 * l + 3] = -2.0 * theta[L + 3 * l : L + 3 * l + 3]
            return rows

        return [{"type": "ineq", "fun": room, "jac": slope}]

    def within_limits(self, theta: Array) -> tuple[Array, Array]:
        """Masses (L,) and places (L, 3), brought within the limits to the last digit."""
        masses, places = self.split(theta)
        masses = np.maximum(masses, 0.0)
        masses = masses * min(1.0, self.added_mass / max(masses.sum(), 1e-300))
        lengths = np.linalg.norm(places, axis=-1, keepdims=True)
        return masses, places * np.minimum(1.0, self.reach / np.maximum(lengths, 1e-300))


def starts(problem: Problem, seed: int | np.random.Generator) -> list[Array]:
    """Vectors θ from which to search: many, for there are many local minima; fewer for large robots. Greedy ones first."""
    generator, share = np.random.default_rng(seed), effort(problem)
    greedy, scattered = max(min(GREEDY, 2), int(share * GREEDY)), int(share * RANDOM)
    return [_greedy(problem, generator) for _ in range(greedy)] + [
        _random(problem, generator) for _ in range(scattered)
    ]


def effort(problem: Problem) -> float:
    """How much of the effort for a small robot one of many links gets, at most 1, so that thirty links take seconds."""
    return min(1.0, (LARGE / problem.size) ** 2)


def _greedy(problem: Problem, generator: np.random.Generator) -> Array:
    """Link after link, in random order and several times over: the best of many places, with the best mass for it."""
    L, offset = problem.size, problem.map.offset
    places = generator.normal(size=(PLACES, 3))
    places /= np.linalg.norm(places, axis=-1, keepdims=True)
    places[PLACES // 2 :] *= generator.uniform(
        0.0, 1.0, (PLACES - PLACES // 2, 1)
    )  # one half at full reach, one within
    effects = problem.added_mass * np.einsum("rlt,kt->lrk", problem.map.slopes, point_row(problem.reach * places))
    squares = np.maximum((effects**2).sum(axis=1), 1e-300)
    masses, chosen, parts = np.zeros(L), np.zeros(L, int), np.zeros((L, len(offset)))
    for _ in range(SWEEPS):
        for l in generator.permutation(L):
            others = offset + parts.sum(axis=0) - parts[l]
            room = 1.0 - (masses.sum() - masses[l])
            best = np.clip(-(others @ effects[l] + 0.5 * problem.weight) / squares[l], 0.0, max(room, 0.0))
            value = 2.0 * best * (others @ effects[l]) + best**2 * squares[l] + problem.weight * best
            k = int(value.argmin())
            masses[l], chosen[l], parts[l] = best[k], k, best[k] * effects[l][:, k]
    return np.concatenate([masses, places[chosen].ravel()])


def _random(problem: Problem, generator: np.random.Generator) -> Array:
    """Any masses within the limit, anywhere within reach."""
    places = generator.uniform(-1.0, 1.0, (problem.size, 3)) / np.sqrt(3.0)
    return np.concatenate([generator.dirichlet(np.ones(problem.size + 1))[:-1], places.ravel()])


# The variation of the mass matrix as a linear function of the inertia that is added to links.
#
# M and its derivatives are sums over links of products that hold the link's inertia once [PBP95, (40), (53)]: row ↦ ∂_k M_ij is
# linear in the ten numbers (m, m c, I) of each link. Its matrix has a row for each entry at each configuration, thousands of
# them, of which only lengths and products matter: the triangular factor of its QR decomposition has them all.

AT_ONCE = 4_000_000  # numbers: how many configurations are evaluated together


class VariationMap(NamedTuple):
    """Residuals ``offset`` (r,) + ``slopes`` (r, L, 10) · rows (L, 10) added to L links; |residual|² = 1 with nothing added."""

    offset: Array
    slopes: Array


def variation_map(robot: Robot, q: ConfigurationVector, diagonal: Array, links: list[int]) -> VariationMap:
    """The map at ``q`` (c, nq), for derivatives over √(D_i D_j), D the ``diagonal`` (nv,), positive."""
    L = len(links)
    rows = np.zeros((10 * L + 1, robot.n, 10))
    for l, link in enumerate(links):
        rows[10 * l : 10 * l + 10, link] = np.eye(10)
    rows[-1] = robot.parameters.inertias
    # Inertias with batch axes, (n, 10 L + 1, 1, 10): one evaluation for all of them at all configurations.
    varied = Robot(robot.structure, robot.parameters._replace(inertias=np.moveaxis(rows, 1, 0)[:, :, None]))
    entry = k, i, j = _entries(robot)
    scale = np.sqrt(
        np.where(i == j, 1.0, 2.0) / (diagonal[i] * diagonal[j])
    )  # entries above the diagonal stand for two
    triangle: Array = np.zeros((0, 10 * L + 1))
    step = max(1, AT_ONCE // (len(rows) * len(k)))
    for start in range(0, len(q), step):
        some = q[start : start + step]
        dM = _upper(inertia_metric(varied, some), entry)
        entries = np.broadcast_to(scale * dM, (len(rows), len(some), len(scale))).reshape(len(rows), -1)
        entries = entries[:, np.any(entries != 0.0, axis=0)]  # joints on different branches never meet
        triangle = np.linalg.qr(np.concatenate([triangle, entries.T]), mode="r")
    size = np.linalg.norm(triangle[:, -1])
    return VariationMap(triangle[:, -1] / size, (triangle[:, :-1] / size).reshape(-1, L, 10))


def _entries(robot: Robot) -> tuple[Array, Array, Array]:
    """The k, i ≤ j of all ∂_k M_ij that can differ from zero: of a tree, a small part."""
    n = robot.nv
    if robot.structure.has_couplings:
        some = np.ones((n, n, n), bool)
    else:
        some = first_derivative_places(robot.structure).index > 0
    k, i, j = np.nonzero(some & np.triu(np.ones((n, n), bool)))
    return k, i, j


def _upper(metric: InertiaMetric, entry: tuple[Array, Array, Array]) -> Array:
    """∂_k M_ij (..., K) at these k, i, j (K,), as in `derivative_of`; without filling the whole tensor where it can be spared."""
    structure = metric.robot.structure
    if structure.has_couplings:
        return derivative_of(metric)[(..., *entry)]
    places, number = first_derivative_places(structure), metric.pairs.number
    a, b, c = places.sorts[0]
    inner = np.sum(metric.J[..., a, :] * metric.rate_momenta()[..., number[b, c], :], axis=-1)
    a, b, c = places.sorts[1]
    outer = np.sum(metric.J[..., a, :] * metric.turned_momenta()[..., number[b, c], :], axis=-1)
    shape = np.broadcast_shapes(inner.shape[:-1], outer.shape[:-1])
    values = [np.broadcast_to(x, (*shape, x.shape[-1])) for x in (inner, outer)]
    return np.concatenate(values, axis=-1)[..., places.index[entry] - 1]


def point_row(p: Array) -> Array:
    """The ten numbers (L, 10) of a unit mass at ``p`` (L, 3), m: 1, p, |p|² 1 − p pᵀ [Sil81, (2.9)]."""
    x, y, z = p.T
    return np.stack(
        [np.ones_like(x), x, y, z, y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=-1
    )


def point_row_derivatives(p: Array) -> Array:
    """∂ of `point_row` by x, y, z (L, 10, 3)."""
    x, y, z = p.T
    o, e = np.zeros_like(x), np.ones_like(x)
    by_x = [o, e, o, o, o, -y, -z, 2 * x, o, 2 * x]
    by_y = [o, o, e, o, 2 * y, -x, o, o, -z, 2 * y]
    by_z = [o, o, o, e, 2 * z, o, -x, 2 * z, -y, o]
    return np.stack([np.stack(column, axis=-1) for column in (by_x, by_y, by_z)], axis=-1)
