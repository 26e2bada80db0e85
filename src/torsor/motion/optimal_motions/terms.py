"""What is computed at every node: parts of the cost, and quantities that have limits. Here those without programs of their own.

A term has m numbers at a node, functions of q, v, a, perhaps jerk, and τ. Its gradients have one slot (n,) for each of these, in
this order; those by q are along the axes of v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.optimal_motions.nodes import TAU, States

VELOCITY, ACCELERATION, JERK = 1, 2, 3  # slots


class Term(ABC):
    """m numbers at each node."""

    kind: str
    """What they are, as "velocity"."""
    names: tuple[str, ...]
    """To what each of them belongs, as a joint."""
    units: tuple[str, ...]
    lower: Array
    upper: Array
    """Limits (m,), infinite where there is none."""
    scale: Array
    """What a number is divided by (m,), so that all are of one size."""
    places: Array | None = None
    """The only s (k,) at which it counts; None for all."""

    @property
    def size(self) -> int:
        """How many numbers it has at a node, m."""
        return len(self.names)

    @abstractmethod
    def values(self, x: States) -> Array:
        """The numbers at all nodes (N, m)."""

    @abstractmethod
    def changes(self, x: States, dx: Array) -> Array:
        """How the numbers change (N, m), to first order, when q, v, a, … and τ change by ``dx`` (N, slots, n)."""

    @abstractmethod
    def rows(self, x: States, node: Array, which: Array) -> Array:
        """The gradients (k, slots, n) of the numbers ``which`` (k,) at the nodes ``node`` (k,), one for each pair."""

    @abstractmethod
    def add(self, x: States, weights: Array, G: Array, H: Array | None) -> None:
        """Add the derivatives of Σ weights · values, weights (N, m), to G (N, slots, n) and H (N, slots n, slots n).

        H may be None, where first derivatives are enough.
        """


@dataclass(eq=False)
class Bound(Term):
    """Limits of numbers of q, or of v, a, jerk or τ: ``which`` freedoms of a ``slot``, for q numbers ``entries`` of it."""

    kind: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    slot: int
    which: Array
    entries: Array
    lower: Array
    upper: Array
    scale: Array
    places: Array | None = None

    def values(self, x: States) -> Array:
        """What of the slot is limited, at all nodes (N, m)."""
        if self.slot == 0:
            return x.q[:, self.entries]
        return x.tau[:, self.which] if self.slot == TAU else x.rates[:, self.slot - 1, self.which]

    def changes(self, x: States, dx: Array) -> Array:
        """The changes of the same entries of the slot."""
        return dx[:, self.slot, self.which]

    def rows(self, x: States, node: Array, which: Array) -> Array:
        """Unit vectors: each number is an entry of its slot. Those of q are, to first order, the freedoms that move them."""
        found = np.zeros((len(node), x.orders + 1, x.robot.nv))
        found[np.arange(len(node)), self.slot, self.which[which]] = 1.0
        return found

    def add(self, x: States, weights: Array, G: Array, H: Array | None) -> None:
        """Weights go to the slot as they are; the numbers are linear, so there is no second derivative."""
        G[:, self.slot, self.which] += weights


@dataclass(eq=False)
class Power(Term):
    """The mechanical power τ_i v_i of freedoms."""

    names: tuple[str, ...]
    which: Array
    lower: Array
    upper: Array
    scale: Array
    kind: str = "power"
    places: Array | None = None

    @property
    def units(self) -> tuple[str, ...]:  # type: ignore[override]
        """Powers are in watts."""
        return ("W",) * len(self.names)

    def values(self, x: States) -> Array:
        """The powers τ_i v_i at all nodes (N, m)."""
        return x.tau[:, self.which] * x.v[:, self.which]

    def changes(self, x: States, dx: Array) -> Array:
        """By the product rule, τ_i δv_i + v_i δτ_i."""
        i = self.which
        return x.tau[:, i] * dx[:, VELOCITY, i] + x.v[:, i] * dx[:, TAU, i]

    def rows(self, x: States, node: Array, which: Array) -> Array:
        """By velocities the gradient is τ_i, by joint forces v_i, by all else zero."""
        found, i, k = np.zeros((len(node), x.orders + 1, x.robot.nv)), self.which[which], np.arange(len(node))
        found[k, VELOCITY, i], found[k, TAU, i] = x.tau[node, i], x.v[node, i]
        return found

    def add(self, x: States, weights: Array, G: Array, H: Array | None) -> None:
        """A power is bilinear in v and τ: of the second derivatives those by v_i and τ_i are 1."""
        i, n = self.which, x.robot.nv
        G[:, VELOCITY, i] += weights * x.tau[:, i]
        G[:, TAU, i] += weights * x.v[:, i]
        if H is not None:
            H[:, VELOCITY * n + i, x.orders * n + i] += weights
            H[:, x.orders * n + i, VELOCITY * n + i] += weights


@dataclass(eq=False)
class Squares(Term):
    """Σ_i w_i x_i² of a slot: part of a cost."""

    kind: str
    slot: int
    factors: Array
    names: tuple[str, ...] = ("",)
    units: tuple[str, ...] = ("",)

    def _values(self, x: States) -> Array:
        return x.tau if self.slot == TAU else x.rates[:, self.slot - 1]

    def values(self, x: States) -> Array:
        """The sum of squares at all nodes (N, 1)."""
        found = self._values(x)
        return ((found * found) @ self.factors)[:, None]

    def changes(self, x: States, dx: Array) -> Array:
        """The change of the sum, 2 Σ w_i x_i δx_i."""
        return 2.0 * ((self._values(x) * dx[:, self.slot]) @ self.factors)[:, None]

    def rows(self, x: States, node: Array, which: Array) -> Array:
        """The gradient by the slot, 2 w_i x_i."""
        found = np.zeros((len(node), x.orders + 1, x.robot.nv))
        found[:, self.slot] = 2.0 * self.factors * self._values(x)[node]
        return found

    def add(self, x: States, weights: Array, G: Array, H: Array | None) -> None:
        """The gradient 2 w_i x_i, and a Hessian that is diagonal, 2 w_i."""
        n = x.robot.nv
        G[:, self.slot] += 2.0 * weights * self.factors * self._values(x)
        if H is not None:
            place = (self.slot % (x.orders + 1)) * n + np.arange(n)
            H[:, place, place] += 2.0 * weights * self.factors


class Constant(Term):
    """1: the integral is the duration."""

    kind, names, units = "time", ("",), ("s",)

    def values(self, x: States) -> Array:
        """Ones at all nodes (N, 1)."""
        return np.ones((len(x.q), 1))

    def changes(self, x: States, dx: Array) -> Array:
        """It does not depend on the state: nothing changes it."""
        return np.zeros((len(x.q), 1))

    def rows(self, x: States, node: Array, which: Array) -> Array:
        """Its gradients are zero."""
        return np.zeros((len(node), x.orders + 1, x.robot.nv))

    def add(self, x: States, weights: Array, G: Array, H: Array | None) -> None:
        """It has no derivatives, so there is nothing to add."""


def units_of(robot_units: Sequence[str], rate: str) -> tuple[str, ...]:
    """The units of freedoms in rad or m, with what follows: "/s"."""
    return tuple(unit + rate for unit in robot_units)
