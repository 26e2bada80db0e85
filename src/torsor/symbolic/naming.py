"""Which symbol stands for which number: automatic names, and the names and expressions that a user wants instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torsor.errors import ShapeError, TorsorError, unknown_name
from torsor.model import Robot
from torsor.symbolic.parameters import INERTIAL, Letter
from torsor.symbolic.result import Quantity

AGREEMENT = 1e-9  # relative: how well a user's expression must give the robot's number
_ORDER = ("m", "I", "J", "g", "L", "r", "h")


@dataclass(frozen=True)
class Naming:
    """The symbols of the equations (numbered), and each letter as a polynomial in them (exponents → coefficient)."""

    symbols: list[Any]
    images: list[dict[tuple[int, ...], float]]
    quantities: dict[str, Quantity]
    inertial: set[int]  # numbers of the symbols that stand for masses and inertias
    ordered: list[Any]  # the symbols, as they are to be printed in products
    changed: bool  # whether letters and symbols differ


def sympy_module() -> Any:
    """The module sympy, or an error that says how to get it."""
    try:
        import sympy
    except ImportError as error:
        raise TorsorError(
            "equations are SymPy expressions, and sympy is missing: pip install 'torsor[sympy]'."
        ) from error
    return sympy


def joint_symbols(sympy: Any, robot: Robot, coordinates: str | Sequence[str]) -> tuple[list[Any], list[Any], list[Any]]:
    """Symbols of q, q̇ and q̈: "q_1", "qdot_1", "qddot_1", or after the names given."""
    n = robot.nv
    names = [f"{coordinates}_{k + 1}" for k in range(n)] if isinstance(coordinates, str) else list(coordinates)
    if len(names) != n or len(set(names)) != n:
        raise ShapeError(f"equations: `coordinates` must be {n} different names for robot {robot.name!r}, got {names}.")
    dotted = []
    for accent in ("", "dot", "ddot"):
        parts = [name.partition("_") for name in names]
        dotted.append([sympy.Symbol(f"{letter}{accent}{mark}{index}") for letter, mark, index in parts])
    return dotted[0], dotted[1], dotted[2]


def choose(
    sympy: Any,
    robot: Robot,
    letters: list[Letter],
    names: dict[int, str],
    wanted: Mapping[str, Any],
    taken: list[Any],
    *,
    numbers: bool,
) -> Naming:
    """The symbols for the letters that are used (``names``), with ``wanted`` instead of some."""
    if numbers:
        if wanted:
            raise TorsorError("equations: `symbols` and numbers=True contradict each other; give one of them.")
        return Naming([], [], {}, set(), [], False)
    for name in wanted:
        if name not in names.values():
            raise unknown_name(
                f"equations: robot {robot.name!r}", "symbol", name, names.values(), ", ".join(names.values())
            )
    numbered = sorted(names, key=lambda k: (_ORDER.index(letters[k].stem), names[k]))
    images = {k: _expression(sympy, wanted.get(names[k], names[k])) for k in numbered}
    values: dict[Any, float] = {}
    units: dict[Any, str] = {}
    for k, image in sorted(images.items(), key=lambda item: not item[1].is_Symbol):  # plain names first, they are known
        _learn(sympy, names[k], letters[k], image, values)
        if image.is_Symbol:
            units.setdefault(image, letters[k].unit)
    found = [s for k in numbered for s in sorted(images[k].free_symbols, key=str)]
    ordered = list(dict.fromkeys(found))
    for symbol in ordered:
        if symbol in taken:
            raise TorsorError(f"equations: the name {symbol} is already that of a coordinate or of its rate.")
    if not wanted:
        symbols = [images[k] if k in images else sympy.Dummy() for k in range(len(letters))]
        polynomials = []
    else:
        symbols = ordered
        polynomials = [_polynomial(sympy, names, k, images, ordered) for k in range(len(letters))]
    first = {images[k] for k in numbered if letters[k].stem in INERTIAL}
    quantities = {s.name: Quantity(s, values[s], units.get(s, "")) for s in ordered}
    inertial = {k for k, s in enumerate(symbols) if s in first}
    return Naming(symbols, polynomials, quantities, inertial, ordered, bool(wanted))


def _expression(sympy: Any, wanted: Any) -> Any:
    """A name as a symbol; SymPy's expressions and numbers as they are."""
    if not isinstance(wanted, str):
        return sympy.sympify(wanted)
    if not wanted.isidentifier():
        raise TorsorError(
            f"equations: {wanted!r} is not a name. An expression is given as SymPy's, for instance sympy.Symbol('L_1') / 2."
        )
    return sympy.Symbol(wanted)


def _learn(sympy: Any, name: str, letter: Letter, image: Any, values: dict[Any, float]) -> None:
    """The value of the one unknown symbol of an image, or a check that the image has the letter's value."""
    unknown = [s for s in image.free_symbols if s not in values]
    known = image.subs({s: values[s] for s in image.free_symbols if s in values})
    if len(unknown) > 1:
        raise TorsorError(
            f"equations: {name} = {image} has more than one symbol without a value: {', '.join(sorted(map(str, unknown)))}."
        )
    if unknown:
        roots = [image] if image.is_Symbol else sympy.solve(known - letter.value, unknown[0])
        numbers = [letter.value] if image.is_Symbol else [float(x) for x in roots if x.is_real]
        if not numbers:
            raise TorsorError(
                f"equations: no {unknown[0]} makes {image} the robot's {name} = {letter.value:g} {letter.unit}."
            )
        values[unknown[0]] = max(numbers)
    elif abs(float(known) - letter.value) > AGREEMENT * abs(letter.value):
        raise TorsorError(
            f"equations: {name} is {letter.value:g} {letter.unit} for this robot, but {image} is {float(known):g}."
        )


def _polynomial(
    sympy: Any, names: dict[int, str], k: int, images: dict[int, Any], symbols: list[Any]
) -> dict[tuple[int, ...], float]:
    """The image of a letter, as exponents → coefficient. What cancels from the equations may be any number."""
    if k not in images:
        return {(): 1.0}
    if not images[k].free_symbols:
        return {(): float(images[k])}
    try:
        polynomial = sympy.Poly(images[k], *symbols)
    except sympy.PolynomialError as error:
        raise TorsorError(f"equations: {names[k]} = {images[k]} is not a polynomial in its symbols.") from error
    return {tuple(int(e) for e in exponents): float(c) for exponents, c in polynomial.terms()}
