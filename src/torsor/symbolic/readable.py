"""From harmonics to the expression a textbook prints: the shortest of a few ways to group the same terms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from torsor.symbolic.fourier import Exponents, Harmonic
from torsor.symbolic.harmonic_products import multiplied

Monomial = tuple[tuple[int, int], ...]  # (symbol, exponent), and (trigonometric function, exponent) numbered after them
Terms = dict[Monomial, float]
Chosen = Callable[[int], bool]
FACTORED = 8  # terms: longer sums are grouped, but not searched for factors of every kind
MANY = 60  # terms: longer sums are grouped in one way only
MUCH_SHORTER = 0.75  # than Σ m (…)
_ROOTS = (1, 2, 3, 6)
_DENOMINATOR = 720


class Writer:
    """Makes SymPy expressions of harmonics; symbols that are ``inertial`` and ``rates`` by their numbers."""

    def __init__(
        self,
        sympy: Any,
        symbols: list[Any],
        coordinates: int,
        inertial: set[int],
        rates: set[int],
        *,
        decimals: bool,
    ) -> None:
        self.sympy = sympy
        self.generators = list(symbols)
        self.symbols = len(symbols)
        self.coordinates = coordinates
        self.inertial = inertial
        self.rates = rates
        self._lengths: dict[Any, int] = {}
        self.decimals = decimals
        self._functions: dict[Harmonic, int] = {}
        self._known: dict[frozenset[Any], Any] = {}

    def expression(self, harmonics: dict[Exponents, dict[Harmonic, float]]) -> Any:
        """The shortest form found, of: one product; grouped by mass and inertia, by function, or by velocity."""
        return min(self._candidates(harmonics, whole_terms=False), key=self.length)

    def by_mass(self, harmonics: dict[Exponents, dict[Harmonic, float]]) -> Any:
        """Grouped by mass and inertia, Σ m (lengths squared), unless another form is much shorter."""
        first, *others = self._candidates(harmonics, whole_terms=True)
        shortest = min(others, key=self.length, default=first)
        return shortest if self.length(shortest) < MUCH_SHORTER * self.length(first) else first

    def _candidates(self, harmonics: dict[Exponents, dict[Harmonic, float]], *, whole_terms: bool) -> list[Any]:
        forms = [self._terms(harmonics, products=False), self._terms(harmonics, products=True)]
        if forms[0] == forms[1]:
            forms.pop()
        if not forms[0]:
            return [self.sympy.Integer(0)]
        if len(forms[-1]) > MANY:
            return [self._roughly(forms[-1], self._is_inertial if whole_terms else self._is_function)]
        found = [self._grouped(forms, self._is_inertial, whole_terms=whole_terms)]
        found += [self._factored(terms) for terms in forms]
        found.append(self._grouped(forms, self._is_function))
        return [*found, self._grouped(forms, self._is_rate)] if self.rates else found

    def _roughly(self, terms: Terms, chosen: Chosen) -> Any:
        """Grouped once, for sums that nobody reads to their end."""
        return self.sympy.Add(*(
            self._product(head) * self.sympy.Add(*(self._number(c) * self._product(tail) for tail, c in rest.items()))
            for head, rest in _split(terms, chosen).items()
        ))  # fmt: skip

    def _is_inertial(self, k: int) -> bool:
        return k in self.inertial

    def _is_rate(self, k: int) -> bool:
        return k in self.rates

    def _is_function(self, k: int) -> bool:
        return k >= self.symbols

    def _grouped(self, forms: list[Terms], chosen: Chosen, *, whole_terms: bool = False) -> Any:
        """Σ of (factors that are ``chosen``) × (what they multiply), each in the shorter of the forms."""
        sums = []
        for terms in forms:
            groups = _split(terms, chosen)
            sums.append(
                {head: self._inner(head, rest, chosen, whole_terms=whole_terms) for head, rest in groups.items()}
            )
        if all(set(groups) == set(sums[0]) for groups in sums):  # the shorter form for each group on its own
            return self.sympy.Add(*(min((groups[head] for groups in sums), key=self.length) for head in sums[0]))
        return min((self.sympy.Add(*groups.values()) for groups in sums), key=self.length)

    def _inner(self, head: Monomial, terms: Terms, chosen: Chosen, *, whole_terms: bool) -> Any:
        """``head`` times the rest of its group, which may be a product, or in turn grouped by mass and inertia."""
        found = [self._product(head) * self._factored(terms, whole_terms=whole_terms)]
        if chosen != self._is_inertial and len(terms) > 2:
            found.append(self._product(head) * self._grouped([terms], self._is_inertial))
        return min(found, key=self.length)

    def _factored(self, terms: Terms, *, whole_terms: bool = False) -> Any:
        """A sum as a product if it is one; with ``whole_terms``, not if all that comes out is a common factor."""
        numbers = {monomial: self._number(c) for monomial, c in terms.items()}
        whole = self.sympy.Add(*(number * self._product(monomial) for monomial, number in numbers.items()))
        if len(terms) == 1 or (self.decimals and not all(number.is_Integer for number in numbers.values())):
            return whole
        factors = self._factors(numbers)
        sums = [(base, exponent) for base, exponent in (f.as_base_exp() for f in factors) if base.is_Add]
        if whole_terms and [exponent for _, exponent in sums] == [1] and self._has_symbols(sums[0][0]):
            return whole
        number = self.sympy.Mul(*(f for f in factors if f.is_Number))
        others = [f for f in factors if not f.is_Number]
        alone = len(others) == 1 and others[0].is_Add  # SymPy would multiply it out
        return self.sympy.Mul(number, *others, evaluate=not alone) if number != 1 else self.sympy.Mul(*others)

    def _has_symbols(self, e: Any) -> bool:
        """Whether something is left in a sum besides numbers and functions."""
        factors = (f.as_base_exp()[0] for term in e.args for f in self.sympy.Mul.make_args(term))
        return any(f.is_Symbol for f in factors)

    def _factors(self, numbers: dict[Monomial, Any]) -> list[Any]:
        """Factors of a sum: what all terms share, sums over one class of symbols, and what SymPy finds in short ones."""
        shared, numbers = _without_common(self.sympy, numbers)
        factors = [self._product(shared[1])] if shared[0] == 1 else [shared[0], self._product(shared[1])]
        factors = [x for f in factors for x in self.sympy.Mul.make_args(f) if x != 1]
        if len(numbers) == 1:
            return factors or [self.sympy.Integer(1)]
        for chosen in (self._is_inertial, self._is_rate, self._is_function):
            if (parts := _separated(numbers, chosen)) is not None:
                return factors + self._factors(parts[0]) + self._factors(parts[1])
        key = frozenset(numbers.items())
        if key not in self._known:
            whole = self.sympy.Add(*(number * self._product(monomial) for monomial, number in numbers.items()))
            short = len(numbers) <= FACTORED and all(number.is_Rational for number in numbers.values())
            self._known[key] = self.sympy.factor(whole) if short else whole
        return factors + list(self.sympy.Mul.make_args(self._known[key]))

    def length(self, e: Any) -> int:
        """About how many letters an expression takes in print."""
        if e not in self._lengths:
            parts = [self.length(x) for x in e.args]
            if e.is_Add:
                size = sum(parts) + 3 * len(parts) - 3
            elif e.is_Mul:
                size = sum(parts) + len(parts) - 1 + 2 * sum(x.is_Add for x in e.args) - (e.args[0] == -1)
            elif e.is_Pow:
                size = parts[0] + 1 + 2 * e.base.is_Add
            else:
                size = 4 + sum(parts) if e.is_Function else 2 if e.is_Symbol else len(str(e))
            self._lengths[e] = size
        return self._lengths[e]

    def _product(self, monomial: Monomial) -> Any:
        return self.sympy.Mul(*(self.generators[k] ** exponent for k, exponent in monomial))

    def _number(self, x: float) -> Any:
        """A whole number, a simple fraction, one times √2, √3 or √6, or else the decimal number."""
        if x == int(x):
            return self.sympy.Integer(int(x))
        if not self.decimals:
            for root in _ROOTS:
                ratio = Fraction(x / root**0.5).limit_denominator(_DENOMINATOR)
                if ratio and abs(float(ratio) * root**0.5 - x) <= 1e-12 * abs(x):
                    return self.sympy.Rational(ratio.numerator, ratio.denominator) * self.sympy.sqrt(root)
        return self.sympy.Float(x)

    def _terms(self, harmonics: dict[Exponents, dict[Harmonic, float]], *, products: bool) -> Terms:
        """All terms; with ``products``, sums of two harmonics of one amplitude as products of functions."""
        terms: Terms = {}
        for exponents, parts in harmonics.items():
            head = [(k, e) for k, e in enumerate(exponents) if e]
            for functions, c in multiplied(parts) if products else (((h,), c) for h, c in parts.items()):
                powers: dict[int, int] = {}
                for h in functions:
                    if any(h.argument):
                        number, sign = self._function(h)
                        powers[number] = powers.get(number, 0) + 1
                        c *= sign
                monomial = tuple(head + sorted(powers.items()))
                terms[monomial] = terms.get(monomial, 0.0) + c
        return {monomial: c for monomial, c in terms.items() if c}

    def _function(self, h: Harmonic) -> tuple[int, int]:
        """The number of a function among the generators, and the sign it takes for a positive argument."""
        sign = next(1 if x > 0 else -1 for x in h.argument if x)
        h = Harmonic(h.kind, tuple(sign * x + 0.0 for x in h.argument))
        if h not in self._functions:
            parts = zip(h.argument, self.generators[: self.coordinates], strict=True)
            argument = self.sympy.Add(*(self._number(x) * q for x, q in parts if x))
            self._functions[h] = len(self.generators)
            self.generators.append(getattr(self.sympy, h.kind)(argument, evaluate=False))
        return self._functions[h], sign if h.kind == "sin" else 1


def _split(terms: dict[Monomial, Any], chosen: Chosen) -> dict[Monomial, dict[Monomial, Any]]:
    """Terms by their factors that are ``chosen``."""
    groups: dict[Monomial, dict[Monomial, Any]] = {}
    for monomial, c in terms.items():
        head = tuple(power for power in monomial if chosen(power[0]))
        groups.setdefault(head, {})[tuple(power for power in monomial if not chosen(power[0]))] = c
    return groups


def _separated(terms: dict[Monomial, Any], chosen: Chosen) -> tuple[dict[Monomial, Any], dict[Monomial, Any]] | None:
    """The sum as (sum over what is chosen) × (sum over the rest), if it is that: all groups are multiples of the first."""
    groups = _split(terms, chosen)
    (first, pattern), *others = groups.items()
    if not others or len(pattern) == 1:
        return None
    key, scale = next(iter(pattern.items()))
    heads = {first: scale / scale}
    for head, group in others:
        if set(group) != set(pattern):
            return None
        heads[head] = group[key] / scale
        if any(group[tail] != heads[head] * c for tail, c in pattern.items()):
            return None
    return heads, pattern


def _without_common(sympy: Any, terms: dict[Monomial, Any]) -> tuple[tuple[Any, Monomial], dict[Monomial, Any]]:
    """The number and the powers that all terms share, with the sign of the first, and the terms without them."""
    powers = [dict(monomial) for monomial in terms]
    least = {k: min(p.get(k, 0) for p in powers) for k in powers[0]}
    shared = tuple((k, e) for k, e in least.items() if e)
    number = sympy.Integer(1)
    if all(c.is_Rational for c in terms.values()):
        number = sympy.Rational(
            sympy.igcd(*(c.p for c in terms.values())), sympy.ilcm(1, *(c.q for c in terms.values()))
        )
        positive = 2 * sum(bool(c > 0) for c in terms.values()) - len(terms)
        if positive < 0 or (positive == 0 and terms[min(terms)] < 0):
            number = -number
    rest = {
        tuple((k, e - least.get(k, 0)) for k, e in monomial if e != least.get(k, 0)): c / number
        for monomial, c in terms.items()
    }
    return (number, shared), rest
