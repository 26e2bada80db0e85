"""From harmonics to the expression a textbook prints: the shortest of a few ways to group the same terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from torsor.symbolic.fourier import Exponents, Harmonic

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

    def energy(self, harmonics: dict[Exponents, dict[Harmonic, float]]) -> Any:
        """Grouped by mass and inertia, and within these by velocities: ½ m ((…) v_1² + 2 (…) v_1 v_2 + (…) v_2²)."""
        groups = _split(self._terms(harmonics, products=True), self._is_inertial)
        return self.sympy.Add(*(
            min(self._product(head) * self._factored(rest), self._by_velocity(head, rest), key=self.length)
            for head, rest in groups.items()
        ))  # fmt: skip

    def _by_velocity(self, head: Monomial, terms: Terms) -> Any:
        """number · ``head`` · (what all terms share) · Σ number · (coefficient) · (product of velocities)."""
        numbers = {monomial: self._number(c) for monomial, c in terms.items()}
        (number, shared), numbers = _without_common(self.sympy, numbers)
        parts = []
        for rates, group in _split(numbers, self._is_rate).items():
            (own, _), _ = _without_common(self.sympy, group)
            coefficient = self._factored({tail: float(c / own) for tail, c in group.items()}, whole_terms=True)
            parts.append(self.sympy.Mul(own, coefficient, self._product(rates)))
        return self.sympy.Mul(number, self._product(head), self._product(shared), self.sympy.Add(*parts))

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
        if alone and number == -1:
            return whole
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
    """The terms, grouped by those of their factors that are ``chosen``."""
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
            sympy.igcd(0, *(c.p for c in terms.values())), sympy.ilcm(1, *(c.q for c in terms.values()))
        )
        positive = 2 * sum(bool(c > 0) for c in terms.values()) - len(terms)
        if positive < 0 or (positive == 0 and terms[min(terms)] < 0):
            number = -number
    rest = {
        tuple((k, e - least.get(k, 0)) for k, e in monomial if e != least.get(k, 0)): c / number
        for monomial, c in terms.items()
    }
    return (number, shared), rest


# Sums of harmonics as products of sines and cosines: ½ + ½ cos 2q is cos² q.

Product = tuple[tuple[Harmonic, ...], float]
_EQUAL = 1e-12  # relative: amplitudes that are equal up to rounding


def multiplied(parts: dict[Harmonic, float]) -> list[Product]:
    """The same sum as products of functions, each with its coefficient: one product of functions of single coordinates
    if it is that, else with cos A ± cos B and sin A ± sin B as products where that is possible.
    """
    single = _single(parts) if len(parts) > 2 else None
    return list(_paired(parts)) if single is None else [single]


def _paired(parts: dict[Harmonic, float]) -> Iterator[Product]:
    """The same sum with cos A ± cos B and sin A ± sin B as products, simplest first."""
    left = dict(parts)
    pairs = []
    names = list(parts)
    for i, A in enumerate(names):
        for B in names[:i]:
            if A.kind == B.kind and abs(abs(parts[A]) - abs(parts[B])) <= _EQUAL * abs(parts[A]):
                P = tuple((x + y) / 2 for x, y in zip(A.argument, B.argument, strict=True))
                Q = tuple((x - y) / 2 for x, y in zip(A.argument, B.argument, strict=True))
                if all(x == int(x) for x in P):
                    pairs.append((sum(map(abs, P + Q)), A, B, P, Q))
    for _, A, B, P, Q in sorted(pairs, key=lambda pair: pair[0]):
        if A in left and B in left:
            a, same = left.pop(A), parts[A] * parts[B] > 0
            left.pop(B)
            if A.kind == "cos":
                kinds, sign = (("cos", "cos"), 1) if same else (("sin", "sin"), -1)
            else:
                kinds, sign = (("sin", "cos"), 1) if same else (("cos", "sin"), 1)
            yield (Harmonic(kinds[0], P), Harmonic(kinds[1], Q)), 2 * a * sign
    for h, a in left.items():
        if h.kind == "sin" and all(x % 2 == 0 for x in h.argument):
            half = tuple(x / 2 for x in h.argument)
            yield (Harmonic("sin", half), Harmonic("cos", half)), 2 * a
        else:
            yield (h,), a


def _single(parts: dict[Harmonic, float]) -> Product | None:
    """The sum as one product of functions of single coordinates, such as sin² q_2 cos² q_3, if it is one."""
    tensor = _tensor(parts)
    largest = max(tensor, key=lambda key: abs(tensor[key]))
    n = len(largest)
    factors: list[dict[Harmonic, float]] = []
    for j in range(n):
        fibre = {
            key[j]: c for key, c in tensor.items() if all(key[i] == largest[i] for i in range(n) if i != j)
        }  # what the sum is along q_j
        factors.append({_harmonic(h, j, n): c / tensor[largest] for h, c in fibre.items()})
    sizes = prod(len(f) for f in factors)
    if sizes != len(tensor):
        return None
    for combination in product(*(f.items() for f in factors)):
        key = tuple((h.kind, h.argument[j]) for j, (h, _) in enumerate(combination))
        expected = tensor[largest] * prod(c for _, c in combination)
        if abs(tensor.get(key, 0.0) - expected) > _EQUAL * abs(tensor[largest]):
            return None
    functions: list[Harmonic] = []
    total = tensor[largest]
    for factor in factors:
        short = list(_paired(factor))
        if len(short) != 1:
            return None
        functions += short[0][0]
        total *= short[0][1]
    return tuple(functions), total


def _tensor(parts: dict[Harmonic, float]) -> dict[tuple[tuple[str, float], ...], float]:
    """Products of cos or sin of single coordinates: cos(A + B) = cos A cos B − sin A sin B, and so on."""
    total: dict[tuple[tuple[str, float], ...], float] = {}
    for h, c in parts.items():
        choices = [[("cos", 0.0)] if x == 0 else [("cos", abs(x)), ("sin", abs(x))] for x in h.argument]
        for key in product(*choices):
            turns = sum(kind == "sin" for kind, _ in key)  # e^{iΣ} = Π (cos + i sin): i to this power
            if turns % 2 == (h.kind == "sin"):
                sign = prod(-1 if kind == "sin" and x < 0 else 1 for (kind, _), x in zip(key, h.argument, strict=True))
                sign *= -1 if turns % 4 > 1 else 1
                total[key] = total.get(key, 0.0) + sign * c
    scale = max(map(abs, parts.values()))
    return {key: c for key, c in total.items() if abs(c) > _EQUAL * scale}


def _harmonic(h: tuple[str, float], j: int, n: int) -> Harmonic:
    return Harmonic(h[0], tuple(h[1] if i == j else 0.0 for i in range(n)))
