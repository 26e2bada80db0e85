"""The search for counterweights within limits: what is minimised, under which constraints, and from where it starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.balancing.linear_variation import VariationMap, point_row, point_row_derivatives

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
        """Of every number."""
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


def starts(problem: Problem, seed: int) -> list[Array]:
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
