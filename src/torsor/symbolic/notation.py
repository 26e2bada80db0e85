"""Expressions in print: plain text, LaTeX and MathML, with factors and terms in the order of textbooks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

BREAK, INNER = "\x1f", "\x1e"  # where a line may be broken: between terms, and inside brackets
FRACTION = 120  # letters: longer quotients are written with a slash
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_ACCENTS = {"ddot": "\u0308", "dot": "\u0307"}
_DOTS = {"": 0, "dot": 1, "ddot": 2}
_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
}  # fmt: skip
_SCRIPT = {"calK": "𝓚", "calL": "𝓛", "calP": "𝓟"}  # energies and the Lagrangian: K, L and P are other things
_LATIN = {  # Greek letters that LaTeX has no command for, as they look like these
    "Alpha": "A", "Beta": "B", "Epsilon": "E", "Zeta": "Z", "Eta": "H", "Iota": "I", "Kappa": "K", "Mu": "M", "Nu": "N",
    "omicron": "o", "Omicron": "O", "Rho": "P", "Tau": "T", "Chi": "X",
}  # fmt: skip


def parts_of(name: str) -> tuple[str, str, str]:
    """Letter, accent ("", "dot", "ddot") and subscript of a name such as "thetadot_1"."""
    letter, _, subscript = name.partition("_")
    accent = next((a for a in _ACCENTS if letter.endswith(a) and letter != a), "")
    return letter.removesuffix(accent) if accent else letter, accent, subscript


def greek(letter: str) -> str:
    """The letter itself for a name such as "theta", "Omega" or "calL"; anything else unchanged."""
    if letter in _SCRIPT:
        return _SCRIPT[letter]
    if letter.lower() not in _GREEK:
        return letter
    size = "CAPITAL" if letter[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {'LAMDA' if letter.lower() == 'lambda' else letter.upper()}")


class Text:
    """Plain text: ``m₂ (L₁² + 2 L₁ L₂ cos q₂ + L₂²)``. ``order`` ranks the symbols: factors and terms follow it."""

    plus, minus, space, digits = "+", "−", " ", 6

    def __init__(self, order: list[Any]) -> None:
        self.order = {symbol: k for k, symbol in enumerate(order)}

    def expression(self, e: Any, *, bracketed: bool = False) -> str:
        """An expression, with `BREAK` where lines may be broken; within brackets, a positive term comes first."""
        terms = []
        for term in e.args if e.is_Add else [e]:
            negative = term.could_extract_minus_sign() and not term.is_Add
            text = self._term(-term if negative else term)
            terms.append((self._rank_of_term(term), len(text), text, negative))
        pieces, terms = [], sorted(terms)
        if bracketed:
            terms.insert(0, terms.pop(next((k for k, term in enumerate(terms) if not term[3]), 0)))
        for k, (_, _, text, negative) in enumerate(terms):
            if k == 0:
                pieces.append(f"{self.operator(self.minus)}{text}" if negative else text)
            else:
                sign = self.operator(self.minus if negative else self.plus)
                pieces.append(f"{BREAK}{self.space}{sign}{self.space}{text}")
        return "".join(pieces)

    def _term(self, e: Any) -> str:
        number, rest = e.as_coeff_Mul()
        factors = [] if rest == 1 else rest.args if rest.is_Mul else [rest]
        below = [f for f in factors if f.as_base_exp()[1].is_negative]
        if not below:
            return self._product(number, factors)
        top, bottom = [f for f in factors if f not in below], [1 / f for f in below]
        divisor = self._product(1, bottom)
        slash = self.over(self._product(number, top), self.brackets(divisor) if len(below) > 1 else divisor)
        return self.quotient(self._without_brackets(number, top), self._without_brackets(1, bottom), slash)

    def _without_brackets(self, number: Any, factors: Sequence[Any]) -> str:
        """A product above or below a bar, where a sum that is alone needs no brackets."""
        if number == 1 and len(factors) == 1 and factors[0].is_Add:
            return self.expression(factors[0]).replace(BREAK, INNER)
        return self._product(number, factors)

    def _product(self, number: Any, factors: Sequence[Any]) -> str:
        printed = [text for _, text in sorted((self._rank_of_factor(f), self._factor(f)) for f in factors)]
        if number != 1 or not printed:
            printed.insert(0, self.number(number))
        return self.space.join(printed)

    def _factor(self, f: Any) -> str:
        base, exponent = f.as_base_exp()
        if base.is_Number:  # all that is left of a number here is a square root
            return self.root(self.number(base))
        if base.is_Function:
            return self.function(base.func.__name__, exponent, self._argument(base.args[0], base.func.__name__))
        if base.is_Symbol:
            return self.power(self.symbol(base.name), exponent)
        return self.power(self.brackets(self.expression(base, bracketed=True).replace(BREAK, INNER)), exponent)

    def _argument(self, x: Any, name: str) -> tuple[str, bool]:
        """What a function is taken of, and whether it needs brackets: of sums, fractions and decimal numbers."""
        number = x.as_coeff_Mul()[0]
        plain = number == 1 or (number.is_Integer and name in ("sin", "cos"))
        return self.expression(x).replace(BREAK, ""), bool(x.is_Add or not plain)

    def _rank_of_factor(self, f: Any) -> tuple[int, int, int]:
        """Numbers, symbols and sums of them in their order; sums with functions; velocities, accelerations; functions."""
        base = f.as_base_exp()[0]
        places = [self.order.get(s, len(self.order)) for s in base.free_symbols]
        if _has_function(base):
            return 1 if base.is_Add else 3, min(places), max(places)
        return 2 if _accents(base) else 0, max(places, default=-1), int(base.is_Add)

    def _rank_of_term(self, e: Any) -> tuple[int, list[float]]:
        """Terms with accelerations, with velocities, and others; by degree in the symbols, the first symbol first."""
        degrees: dict[int, float] = {}
        self._degrees(e, degrees, 1)
        accents = _accents(e)
        last = [degrees.get(k, 0) for s, k in self.order.items() if accents == 2 and _accents(s) == 2]
        return -accents, [-x for x in last] + [-degrees.get(k, 0) for k in range(len(self.order))]

    def _degrees(self, e: Any, into: dict[int, float], times: float) -> None:
        if e.is_Mul:
            for f in e.args:
                self._degrees(f, into, times)
        elif e.is_Pow and e.exp.is_number:
            self._degrees(e.base, into, times * float(e.exp))
        elif e.is_Add:
            most: dict[int, float] = {}
            for term in e.args:
                here: dict[int, float] = {}
                self._degrees(term, here, times)
                for k, degree in here.items():
                    most[k] = max(most.get(k, 0), degree)
            for k, degree in most.items():
                into[k] = into.get(k, 0) + degree
        elif e in self.order:
            into[self.order[e]] = into.get(self.order[e], 0) + times

    # How each thing looks

    def slope(self, above: str, below: str, *, in_time: bool = False) -> str:
        """∂above/∂below of two names, or the rate of that."""
        return f"{'d/dt ' * in_time}∂{self.symbol(above)}/∂{self.symbol(below)}"

    def symbol(self, name: str) -> str:
        """A symbol by its name."""
        letter, accent, subscript = parts_of(name)
        subscript = f"_{subscript}" if "_" in subscript else subscript
        accented = unicodedata.normalize("NFC", greek(letter) + _ACCENTS.get(accent, ""))
        return accented + subscript.translate(_SUBSCRIPTS)

    def number(self, x: Any) -> str:
        """A whole number, a fraction, or a decimal number to six digits."""
        return f"{float(x):.{self.digits}g}".replace("-", self.minus) if x.is_Float else str(x)

    def root(self, x: str) -> str:
        """A square root of a number."""
        return f"√{x}"

    def power(self, base: str, exponent: Any) -> str:
        """A power; nothing is written for the exponent 1."""
        return base if exponent == 1 else base + str(exponent).translate(_SUPERSCRIPTS)

    def over(self, above: str, below: str) -> str:
        """A quotient with a slash, so that lines can be broken."""
        return f"{above}{INNER} / {below}"

    def quotient(self, above: str, below: str, slash: str) -> str:
        """A product of powers over another, or the same with a ``slash``."""
        return slash

    def brackets(self, inside: str) -> str:
        """A sum as a factor."""
        return f"({inside})"

    def function(self, name: str, exponent: Any, argument: tuple[str, bool]) -> str:
        """Sine, cosine, …: brackets only where they are needed."""
        head = self.power(name, exponent)
        inside = re.sub(r"(\d+)/(\d+) (\S+)", _quotient, argument[0])  # q/2
        if name.endswith(("sin", "cos")):
            inside = re.sub(r"(?<=\d) (?=[^\W\d])", "", inside)  # cos 2q
        return f"{head}({inside})" if argument[1] else f"{head} {inside}"

    def operator(self, sign: str) -> str:
        """A plus or minus."""
        return sign

    def width(self, printed: str) -> int:
        """About how many letters wide something printed is."""
        return len(printed)


class Latex(Text):
    r"""LaTeX: ``m_{2} (L_{1}^{2} + 2 L_{1} L_{2} \cos q_{2} + L_{2}^{2})``."""

    minus = "-"

    def slope(self, above: str, below: str, *, in_time: bool = False) -> str:
        """A partial derivative, or the rate of one."""
        fraction = f"\\frac{{\\partial {self.symbol(above)}}}{{\\partial {self.symbol(below)}}}"
        return f"\\frac{{d}}{{dt}} {fraction}" if in_time else fraction

    def symbol(self, name: str) -> str:
        """A symbol by its name."""
        letter, accent, subscript = parts_of(name)
        if letter.lower() in _GREEK:
            word = letter.capitalize() if letter[0].isupper() else letter.lower()
            letter = f"\\mathrm{{{_LATIN[word]}}}" if word in _LATIN else f"\\{word}"
        elif letter in _SCRIPT:
            letter = f"\\mathcal{{{letter[-1]}}}"
        elif len(letter) > 1:
            letter = f"\\mathrm{{{letter}}}"
        letter = f"\\{accent}{{{letter}}}" if accent else letter
        return f"{letter}_{{{subscript.replace('_', ',')}}}" if subscript else letter

    def number(self, x: Any) -> str:
        """A whole number, a fraction, or a decimal number."""
        if x.is_Rational and x.q != 1:
            return f"\\frac{{{x.p}}}{{{x.q}}}"
        text = super().number(x)
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else text

    def root(self, x: str) -> str:
        """A square root."""
        return f"\\sqrt{{{x}}}"

    def power(self, base: str, exponent: Any) -> str:
        """A power."""
        return base if exponent == 1 else f"{base}^{{{exponent}}}"

    def quotient(self, above: str, below: str, slash: str) -> str:
        """A fraction, which is on one line; a long one with a slash."""
        if self.width(above) + self.width(below) > FRACTION:
            return slash
        return f"\\frac{{{above}}}{{{below}}}".replace(INNER, "")

    def function(self, name: str, exponent: Any, argument: tuple[str, bool]) -> str:
        """Sine, cosine, …"""
        known = name in ("sin", "cos", "tanh")
        return super().function(f"\\{name}" if known else f"\\mathrm{{{name}}}", exponent, argument)

    def width(self, printed: str) -> int:
        """About how many letters wide it is when typeset."""
        return len(re.sub(r"\\[a-z]*dot|\\frac|\\mathrm|\\(?=[a-z])|[{}_^ ]", "", printed))


class MathML(Text):
    """MathML, which browsers show without any script."""

    space = "<mspace width='0.17em'/>"

    def slope(self, above: str, below: str, *, in_time: bool = False) -> str:
        """A partial derivative, or the rate of one."""
        parts = (f"<mrow><mo>∂</mo>{self.symbol(name)}</mrow>" for name in (above, below))
        fraction = f"<mfrac>{''.join(parts)}</mfrac>"
        return f"<mfrac><mi>d</mi><mrow><mi>d</mi><mi>t</mi></mrow></mfrac>{fraction}" if in_time else fraction

    def symbol(self, name: str) -> str:
        """A symbol by its name."""
        letter, accent, subscript = parts_of(name)
        text = f"<mi>{greek(letter)}</mi>"
        if accent:
            dots = "." * _DOTS[accent]  # full stops: what is meant as an accent, browsers put into the letter
            text = f"<mover>{text}<mo>{dots}</mo></mover>"
        return f"<msub>{text}<mn>{subscript.replace('_', ',')}</mn></msub>" if subscript else text

    def number(self, x: Any) -> str:
        """A whole number, a fraction, or a decimal number."""
        if x.is_Rational and x.q != 1:
            return f"<mfrac><mn>{x.p}</mn><mn>{x.q}</mn></mfrac>"
        return f"<mn>{super().number(x)}</mn>"

    def root(self, x: str) -> str:
        """A square root."""
        return f"<msqrt>{x}</msqrt>"

    def power(self, base: str, exponent: Any) -> str:
        """A power; of a bracket, whose closing half may be on another line, the exponent hangs on that half."""
        if exponent == 1:
            return base
        closing = "<mo stretchy='false'>)</mo>"
        if base.endswith(closing):
            return f"{base.removesuffix(closing)}<msup>{closing}<mn>{exponent}</mn></msup>"
        return f"<msup>{base}<mn>{exponent}</mn></msup>"

    def over(self, above: str, below: str) -> str:
        """A quotient with a slash."""
        return f"{above}{INNER}<mo>/</mo>{below}"

    def quotient(self, above: str, below: str, slash: str) -> str:
        """A fraction; a long one with a slash."""
        if self.width(above) + self.width(below) > FRACTION:
            return slash
        return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>".replace(INNER, "")

    def brackets(self, inside: str) -> str:
        """A sum as a factor."""
        return f"<mo stretchy='false'>(</mo>{inside}<mo stretchy='false'>)</mo>"

    def function(self, name: str, exponent: Any, argument: tuple[str, bool]) -> str:
        """Sine, cosine, …"""
        head = self.power(f"<mi>{name}</mi>", exponent)
        return head + (self.brackets(argument[0]) if argument[1] else self.space + argument[0])

    def operator(self, sign: str) -> str:
        """A plus or minus."""
        return f"<mo>{sign}</mo>"

    def width(self, printed: str) -> int:
        """About how many letters wide it is."""
        return len(re.sub(r"<[^>]*>", "", printed)) + printed.count(self.space) // 2


def lines(notation: Text, printed: str, width: int) -> list[str]:
    """What was printed, broken into lines of at most ``width`` letters where that is possible, outside brackets first."""
    rows = [""]
    for piece in printed.split(BREAK):
        parts = piece.split(INNER)
        if notation.width("".join(parts)) <= width:
            parts = ["".join(parts)]
        for part in parts:
            if rows[-1] and notation.width(rows[-1]) + notation.width(part) > width:
                rows.append("")
            rows[-1] += part
    return [row.strip().removeprefix(notation.space) for row in rows]


def _quotient(match: re.Match[str]) -> str:
    above, below, symbol = match.groups()
    return f"{symbol if above == '1' else f'{above} {symbol}'}/{below}"


def _accents(e: Any) -> int:
    """2 if an acceleration is in an expression, 1 if a velocity, else 0."""
    return max((_DOTS[parts_of(s.name)[1]] for s in e.free_symbols), default=0)


def _has_function(e: Any) -> bool:
    return bool(e.is_Function) or any(_has_function(x) for x in e.args)
