"""Which symbol stands for which number: automatic names, and the names and expressions that a user wants instead."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from torsor.errors import ArgumentError, ShapeError, needed, unknown_name
from torsor.model import Robot
from torsor.symbolic.notation import parts_of
from torsor.symbolic.parameters import INERTIAL, Letter, force_letters
from torsor.symbolic.printed import Quantity

AGREEMENT = 1e-9  # relative: how well a user's expression must give the robot's number
ORDER = ("m", "I", "J", "g", "L", "r", "h", "b", "f", "k", "s")
_NAME = re.compile(r"[^\W\d_][^\W_]*(_[^\W_]+)*")
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Naming:
    """The symbols of the equations (numbered), and each letter as a polynomial in them (exponents → coefficient)."""

    symbols: list[Any]
    images: list[dict[tuple[int, ...], float]]
    quantities: dict[str, Quantity]
    inertial: set[int]  # numbers of the symbols that stand for masses and inertias
    ordered: list[Any]  # the symbols, as they are to be printed in products
    forces: dict[str, Any]  # expressions for b_1, f_1, k_1, s_1, …
    changed: bool  # whether letters and symbols differ


def sympy_module() -> Any:
    """The module sympy, or an error that says how to get it."""
    return needed("sympy", "equations are SymPy expressions, and sympy is missing: pip install 'torsor[sympy]'.")


def joint_symbols(sympy: Any, robot: Robot, coordinates: str | Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Symbols of q, q̇ and q̈: "q_1", "qdot_1", "qddot_1", or after the names given."""
    n = robot.nv
    if isinstance(coordinates, str):
        given: list[Any] = [f"{coordinates}_{k + 1}" for k in range(n)]
    elif isinstance(coordinates, sympy.Symbol) and n == 1:
        given = [coordinates]
    elif isinstance(coordinates, Iterable):
        given = list(coordinates)
    else:
        raise ArgumentError(f'`coordinates` must be a name, "theta", or one for each, got {coordinates!r}.')
    symbols = [_symbol(sympy, name) for name in given]
    names = [symbol.name for symbol in symbols]
    if len(names) != n or len(set(names)) != n:
        raise ShapeError(f"`coordinates` must be {n} different names for robot {robot.name!r}, got {names}.")
    dotted = [symbols]
    for accent in ("dot", "ddot"):
        parts = [name.partition("_") for name in names]
        dotted.append([sympy.Symbol(f"{letter}{accent}{mark}{index}") for letter, mark, index in parts])
        for name, rate in zip(names, dotted[-1], strict=True):
            if parts_of(rate.name)[1] != accent:
                raise ArgumentError(f"the rate of {name!r} would read as another's; choose another name.")
    return dotted[0], dotted[1], dotted[2]


def choose(
    sympy: Any,
    robot: Robot,
    letters: list[Letter],
    names: dict[int, str],
    wanted: Mapping[Any, Any] | None,
    taken: list[Any],
    *,
    numbers: bool,
) -> Naming:
    """The symbols for the letters that are used (``names``) and for friction and springs, with ``wanted`` instead of some."""
    wishes = _wishes(sympy, wanted)
    if numbers:
        if wishes:
            raise ArgumentError("`symbols` and numbers=True contradict each other; give one of them.")
        return Naming([], [], {}, set(), [], {}, False)
    count, letters = len(letters), letters + force_letters(robot)
    names = names | {k: letters[k].name(alone=True) for k in range(count, len(letters))}
    for name in wishes:
        if name not in names.values():
            raise unknown_name(f"robot {robot.name!r}", "symbol", name, names.values(), ", ".join(names.values()))
    numbered = sorted(names, key=lambda k: (ORDER.index(letters[k].stem), names[k]))
    images = _one_symbol_per_name(
        sympy, {k: _expression(sympy, names[k], wishes.get(names[k], names[k])) for k in numbered}
    )
    values: dict[Any, float] = {}
    units: dict[Any, str] = {}
    owners: dict[Any, int] = {}
    for k, image in sorted(images.items(), key=lambda item: not item[1].is_Symbol):  # plain names first, they are known
        other = owners.setdefault(image, k)
        if image.is_Symbol and letters[other].unit != letters[k].unit:
            raise ArgumentError(
                f"the name {image} would stand for {names[other]} ({letters[other].unit}) and for {names[k]} "
                f"({letters[k].unit}); choose another name."
            )
        _learn(sympy, names[k], letters[k], image, values)
        if len(image.free_symbols) == 1 and _is_linear(image):
            units.setdefault(next(iter(image.free_symbols)), letters[k].unit)
    found = [s for k in numbered for s in sorted(images[k].free_symbols, key=str)]
    ordered = list(dict.fromkeys(found))
    occupied = {symbol.name for symbol in taken}
    for symbol in ordered:
        if symbol.name in occupied:
            raise ArgumentError(
                f"the name {symbol} is already that of a coordinate or of its rate; "
                "choose others by `symbols` or `coordinates`."
            )
    if not wishes:
        symbols = [images[k] if k in images else sympy.Dummy() for k in range(count)]
        polynomials = []
    else:
        symbols = ordered
        polynomials = [_polynomial(sympy, names, k, images, ordered) for k in range(count)]
    first = {images[k] for k in numbered if letters[k].stem in INERTIAL}
    quantities = {s.name: Quantity(s, float(values[s]), units.get(s, "")) for s in ordered}
    inertial = {k for k, s in enumerate(symbols) if s in first}
    forces = {names[k]: images[k] for k in numbered if k >= count}
    return Naming(symbols, polynomials, quantities, inertial, ordered, forces, bool(wishes))


def parsed(sympy: Any, text: str) -> Any:
    """A name, or an expression of names, numbers, +, −, *, / and whole powers, as SymPy's; nothing is executed."""

    def value(node: ast.AST) -> Any:
        match node:
            case ast.Name():
                return _symbol(sympy, node.id)
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return sympy.sympify(number)
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int() as power)) if 0 < power < 10:
                return value(node.left) ** power
            case ast.BinOp(op=op) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](value(node.left), value(node.right))
        raise ValueError

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError(
            f"equations: {text!r} is neither a name, nor a number, nor an expression such as L_1/2 or m_1*k**2."
        ) from error


def _wishes(sympy: Any, wanted: Any) -> dict[str, Any]:
    """What the user wants instead of each name; a SymPy symbol does as a name."""
    if wanted is None:
        return {}
    if not isinstance(wanted, Mapping):
        raise ArgumentError(f'`symbols` must be a dict from old to new, {{"m_1": "M"}}, got {wanted!r}.')
    names = [key.name if isinstance(key, sympy.Symbol) else key for key in wanted]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"`symbols` says twice what {name} is to be.")
    return dict(zip(names, wanted.values(), strict=True))


def _symbol(sympy: Any, wanted: Any) -> Any:
    """A name, or a symbol with a name, that can be printed."""
    name = wanted.name if isinstance(wanted, sympy.Symbol) else wanted
    if not isinstance(name, str) or not (name.isidentifier() and _NAME.fullmatch(name)):
        raise ArgumentError(
            f"{name!r} is not a name: letters, digits and single underscores, a letter first, as in m_1 or l_c2. "
            "An expression is given as SymPy's, for instance sympy.Symbol('L_1') / 2 (on the command line, L_1/2)."
        )
    if parts_of(name)[1]:
        raise ArgumentError(f"{name!r} would be printed as a rate; names must not end in 'dot' or 'ddot'.")
    return wanted if isinstance(wanted, sympy.Symbol) and wanted.is_commutative else sympy.Symbol(name)


def _expression(sympy: Any, name: str, wanted: Any) -> Any:
    """A name as a symbol; SymPy's expressions and numbers as they are."""
    if isinstance(wanted, str):
        return _symbol(sympy, wanted)
    if isinstance(wanted, Real) and not isinstance(wanted, bool):
        wanted = sympy.sympify(wanted)
    if not isinstance(wanted, sympy.Expr):
        raise ArgumentError(f"{name} can be a name, a SymPy expression or the robot's own number, not {wanted!r}.")
    return wanted.xreplace({s: _symbol(sympy, s) for s in wanted.free_symbols})


def _one_symbol_per_name(sympy: Any, images: dict[int, Any]) -> dict[int, Any]:
    """Symbols of one name, whatever they assume, as one: the first that assumes anything."""
    known: dict[str, Any] = {}
    for image in images.values():
        for s in sorted(image.free_symbols, key=str):
            if s.name not in known or known[s.name] == sympy.Symbol(s.name):
                known[s.name] = s
    return {k: image.xreplace({s: known[s.name] for s in image.free_symbols}) for k, image in images.items()}


def _is_linear(image: Any) -> bool:
    """Whether an expression of one symbol is a multiple of it."""
    (s,) = image.free_symbols
    return not (image / s).free_symbols


def _learn(sympy: Any, name: str, letter: Letter, image: Any, values: dict[Any, float]) -> None:
    """The value of the one unknown symbol of an image, or a check that the image has the letter's value."""
    unknown = [s for s in image.free_symbols if s not in values]
    known = image.subs({s: values[s] for s in image.free_symbols if s in values})
    if len(unknown) > 1:
        raise ArgumentError(
            f"{name} = {image} has more than one symbol without a value: {', '.join(sorted(map(str, unknown)))}."
        )
    if unknown:
        roots = [letter.value] if image.is_Symbol else _roots(sympy, known - letter.value, unknown[0])
        numbers = [float(x) for x in roots]
        if not numbers:
            raise ArgumentError(f"no {unknown[0]} makes {image} the robot's {name} = {letter.value:g} {letter.unit}.")
        values[unknown[0]] = max(numbers)
        return
    number = known.evalf()
    if not number.is_Number or not number.is_finite:
        raise ArgumentError(f"{name} is {letter.value:g} {letter.unit} for this robot, {image} is no such number.")
    if not abs(float(number) - letter.value) <= AGREEMENT * abs(letter.value):
        raise ArgumentError(
            f"{name} is {letter.value:g} {letter.unit} for this robot, but {image} is {float(number):g}."
        )


def _roots(sympy: Any, equation: Any, unknown: Any) -> list[Any]:
    try:
        return [x for x in sympy.solve(equation, unknown) if x.is_real and x.is_finite]
    except (NotImplementedError, TypeError, ValueError):  # what SymPy raises for what it cannot solve, and for nan
        return []


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
        raise ArgumentError(f"{names[k]} = {images[k]} is not a polynomial in its symbols.") from error
    return {tuple(int(e) for e in exponents): float(c) for exponents, c in polynomial.terms()}
