"""Classes of generalised inverses of a matrix, and partial isometries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ShapeError

CONDITIONS = ("I", "II", "III", "IV")
MEANINGS = {"I": "A X A = A", "II": "X A X = X", "III": "A X symmetric", "IV": "X A symmetric"}


@dataclass(frozen=True, eq=False, repr=False)
class GeneralisedInverse(Report):
    """Which of Penrose's conditions hold of a matrix and its inverse.

    Attributes
    ----------
    holds : tuple of str
        Those of "I" … "IV" that hold.
    defects : dict
        Of all four, by how much they fail, relative, no unit; they hold up to ``tolerance``.
    """

    holds: tuple[str, ...]
    defects: dict[str, float]
    tolerance: float

    def __contains__(self, condition: str) -> bool:
        return condition in self.holds

    @property
    def is_moore_penrose(self) -> bool:
        """All four hold: X is A⁺, the only matrix of which that is true."""
        return len(self.holds) == 4

    @property
    def name(self) -> str:
        """The class as it is usually written, "{I, II, III}", with its name where it has one."""
        known = {
            CONDITIONS: "the Moore–Penrose inverse",
            ("I", "II", "III"): "reflexive, least squares",
            ("I", "II", "IV"): "reflexive, least norm",
            ("I", "III"): "least squares",
            ("I", "IV"): "least norm",
            ("I", "II"): "reflexive",
            ("I",): "an inner inverse",
            ("II",): "an outer inverse",
        }
        note = known.get(self.holds)
        return f"{{{', '.join(self.holds)}}}" + (f", {note}" if note else "")

    def __str__(self) -> str:
        failed = [f"{MEANINGS[c]} is off by {self.defects[c]:.2g}" for c in CONDITIONS if c not in self.holds]
        return f"X is {self.name}" + (f"; {', '.join(failed)}" if failed else "")


@explained
def generalised_inverse_class(A: Array, X: Array, *, tolerance: float = 1e-9) -> GeneralisedInverse:
    """Which of A X A = A (I), X A X = X (II), A X (III) and X A (IV) symmetric hold of a matrix X [Alt04, App. A].

    A horizontal lift is {I, II, III} of its Jacobian; (IV) is the condition under which it is the pseudoinverse, and it is what
    the proof of [Alt04, Th. III.2] fails to show [E004-10, E004-12].

    Parameters
    ----------
    A : (m, n) array
        In any unit.
    X : (n, m) array
        In any unit.
    tolerance : float
        Of Frobenius norms relative to those of the factors, no unit.

    Returns
    -------
    GeneralisedInverse
        ``"III" in`` it tells whether (III) holds; printed, it names the class.
    """
    refuse_bad_numbers(tolerance=tolerance)
    A, X = _matrix("A", A), _matrix("X", X)
    if X.shape != A.shape[::-1]:
        raise ShapeError(f"an inverse of A {A.shape} has shape {A.shape[::-1]}, got {X.shape}.")
    AX, XA = A @ X, X @ A
    defects = {
        "I": _relative(AX @ A - A, A),
        "II": _relative(XA @ X - X, X),
        "III": _relative(AX - AX.T, AX),
        "IV": _relative(XA - XA.T, XA),
    }
    return GeneralisedInverse(tuple(c for c in CONDITIONS if defects[c] <= tolerance), defects, tolerance)


@dataclass(frozen=True, repr=False)
class PartialIsometry(Report):
    """The answer of `is_partial_isometry`, true if the matrix is one.

    Attributes
    ----------
    defect : float
        ‖A Aᵀ A − A‖ as a fraction of ‖A‖ (Frobenius norms), no unit; it counts as rounding up to ``tolerance``.
    """

    defect: float
    tolerance: float

    def __bool__(self) -> bool:
        return self.defect <= self.tolerance

    def __str__(self) -> str:
        verdict = "a partial isometry" if self else "no partial isometry"
        return f"A is {verdict}: A Aᵀ A is off from A by {self.defect:.2g} of it (tolerance {self.tolerance:.0e})"


@explained
def is_partial_isometry(A: Array, *, tolerance: float = 1e-9) -> PartialIsometry:
    """Report that is true if A keeps lengths on the complement of its kernel: A Aᵀ A = A, A⁺ = Aᵀ [Alt04, Prop. A.1].

    Parameters
    ----------
    A : (m, n) array
        In any unit.
    tolerance : float
        Relative, no unit.

    Returns
    -------
    PartialIsometry
        If it is true, all singular values are 0 or 1. It says by how much A fails when printed.
    """
    refuse_bad_numbers(tolerance=tolerance)
    A = _matrix("A", A)
    return PartialIsometry(_relative(A @ A.T @ A - A, A), tolerance)


def _matrix(name: str, value: Any) -> Array:
    refuse_foreign(value, name)
    matrix = np.asarray(value, float)
    if matrix.ndim != 2:
        raise ShapeError(f"`{name}` must be one matrix, got shape {matrix.shape}.")
    return matrix


def _relative(defect: Array, scale: Array) -> float:
    size = float(np.linalg.norm(scale))
    return float(np.linalg.norm(defect)) / size if size > 0.0 else float(np.linalg.norm(defect))
