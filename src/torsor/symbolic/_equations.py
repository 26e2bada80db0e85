"""The equations of motion of a small robot in closed form, M, C, g and τ as SymPy expressions: to read, print, evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import explained
from torsor.compiler.graph import Program
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError, ArgumentTypeError, ModelError, ShapeError, printable
from torsor.mechanics.dynamics.inverse_dynamics import gravity_forces
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.model import Robot
from torsor.symbolic.derivation import Derivation, derive
from torsor.symbolic.fourier import Element, Ring, evaluate
from torsor.symbolic.geometry import Geometry, Metric
from torsor.symbolic.lagrangian import Source
from torsor.symbolic.naming import Naming, choose, joint_symbols, sympy_module
from torsor.symbolic.parameters import Anatomy, names_of, unsuitable
from torsor.symbolic.printed import Printed, Quantity
from torsor.symbolic.readable import Writer

MOST_FREEDOMS, MOST_SYMBOLS = 4, 48


@dataclass(frozen=True, eq=False)
class Equations(Printed):
    """τ = M(q) q̈ + C(q, q̇) q̇ + g(q) + friction + springs, in SymPy expressions (rad, m, s, kg, N) [LP, (9.12)].

    ``M`` and ``C`` (nv, nv), ``c`` = C q̇, ``g``, ``friction``, ``springs`` and ``tau`` (nv, 1) are SymPy matrices; ``q``, ``v``,
    ``a`` the symbols of q, q̇ and q̈; ``symbols`` maps each other name to (symbol, value, unit). ``print(equations)`` for text.
    ``derivation`` has the way to them step by step, ``geometry`` the Christoffel symbols and the curvature of M; both are worked
    out when asked for.
    """

    name: str
    M: Any
    C: Any
    c: Any
    g: Any
    friction: Any
    springs: Any
    tau: Any
    symbols: dict[str, Quantity]
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]
    order: tuple[Any, ...]
    metric: Metric
    source: Source

    @once
    def derivation(self) -> Derivation:
        """These equations step by step, from the kinematics by the Lagrangian to the joint forces [LP, §9.1]."""
        return derive(self)

    @once
    def geometry(self) -> Geometry:
        """Γ_ijk and R_ijkl of the inertia metric, and of two joints the curvature K, in closed form [PBP95, (52), (66)]."""
        met = {s.name for s in self.M.free_symbols}
        used = {name: x for name, x in self.symbols.items() if name in met}
        return Geometry(self.name, self.metric, used, self.q, self.order)

    def evaluate(self, q: ConfigurationVector, v: JointVector, a: JointVector) -> JointVector:
        """Joint forces τ for the robot's own numbers, which is `torsor.inverse_dynamics` again [LP, (9.12)].

        Parameters
        ----------
        q : (..., nv) array
            Configuration, rad or m.
        v : (..., nv) array
            Velocity, rad/s or m/s.
        a : (..., nv) array
            Acceleration, rad/s² or m/s².

        Returns
        -------
        (..., nv) array
            Joint forces, N·m or N.
        """
        state = []
        for name, given in zip("qva", (q, v, a), strict=True):
            try:
                x = np.asarray(given, float)
            except (TypeError, ValueError) as error:
                raise ShapeError(
                    f"evaluate: `{name}` must be numbers of shape (..., {len(self.q)}), got {given!r}."
                ) from error
            if x.shape[-1:] != (len(self.q),):
                raise ShapeError(f"evaluate: `{name}` must have shape (..., {len(self.q)}), got {x.shape}.")
            state.append(x)
        try:
            batch = np.broadcast_shapes(*(x.shape[:-1] for x in state))
        except ValueError as error:
            shapes = ", ".join(str(x.shape) for x in state)
            raise ShapeError(f"evaluate: `q`, `v` and `a` must have the same leading shape, got {shapes}.") from error
        entries = self._function(*(np.moveaxis(x, -1, 0) for x in state), [s.value for s in self.symbols.values()])
        return np.stack([np.broadcast_to(entry, batch) for entry in entries], axis=-1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in self.__dict__.items() if name != "_function"}  # it is made again when needed

    @once
    def _function(self) -> Callable[..., Any]:
        import sympy

        given = [s.symbol for s in self.symbols.values()]
        function: Callable[..., Any] = sympy.lambdify(
            [self.q, self.v, self.a, given], list(self.tau), "numpy", cse=True
        )
        return function

    def entries(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Every entry: the letter of its matrix, its indices (two where a symmetric one has two), the expression."""
        n = len(self.q)
        for i in range(n):
            for j in range(i, n):
                yield "M", tuple(dict.fromkeys((f"{i + 1}{j + 1}", f"{j + 1}{i + 1}"))), self.M[i, j]
        for i in range(n):
            for j in range(n):
                yield "C", (f"{i + 1}{j + 1}",), self.C[i, j]
        for letter, vector in (("c", self.c), ("g", self.g), ("tau", self.tau)):
            for i in range(n):
                yield letter, (f"{i + 1}",), vector[i]

    def title(self) -> str:
        """The equation that the letters stand in."""
        extra = " + friction" * any(self.friction) + " + springs" * any(self.springs)
        return f"{printable(self.name)}: τ = M(q) q̈ + C(q, q̇) q̇ + g(q){extra}, c = C q̇"

    def heading(self) -> str:
        """The title of a page."""
        return f"Equations of motion of {self.name}"

    def __repr__(self) -> str:
        return f"<Equations of {self.name!r}: {len(self.q)} degrees of freedom, {len(self.symbols)} symbols; print() shows them>"


@explained
def equations(
    robot: Robot,
    *,
    symbols: Mapping[Any, Any] | None = None,
    coordinates: str | Sequence[Any] = "q",
    numbers: bool = False,
    force: bool = False,
) -> Equations:
    """Equations of motion τ = M(q) q̈ + C(q, q̇) q̇ + g(q) of a small robot, as in a textbook [LP, (9.12); PBP95, (60)–(64)].

    Axes, right angles and zeros stay what they are; every other number gets a symbol (SI units): masses ``m_1``, …,
    distances between axes ``L_1``, …, centres of mass ``r_1``, …, rotational inertias about them ``I_1``, …, helical
    pitches ``h_1``, armatures ``J_1``, friction ``b_1``, ``f_1``, springs ``k_1``
    with their rest ``s_1``, and gravity ``g``; ``r_1x``, ``I_1xy``, … where several
    occur, in axes of the link's frame. ``L_0`` is measured on the base. ``I_1xy`` is the entry of the inertia matrix.

    C is the Christoffel matrix [LP, (9.13), (9.87)], differentiated from M. Needs sympy: ``pip install 'torsor[sympy]'``.

    Parameters
    ----------
    robot : Robot
    symbols : mapping, optional
        Renames symbols: ``{"r_2": "l_c2"}``, or a SymPy expression, ``{"r_1": L_1 / 2}``, or the robot's own
        number; what does not agree with the robot's numbers is refused. Symbols of SymPy do as names; those of one
        name are one symbol, whatever they assume.
    coordinates : str or sequence
        "theta" for θ_1, …, or a name for each.
    numbers : bool
        Whether the robot's numbers stay, instead of symbols.
    force : bool
        Whether robots of more than 4 degrees of freedom are written out too.

    Returns
    -------
    Equations
        M, C, g and τ (nv,) in SymPy expressions; ``derivation`` has the way to them step by step, ``geometry`` the Christoffel
        symbols Γ_ijk and the curvature of M, both worked out when they are asked for.
    """
    sympy = sympy_module()
    _refuse(robot)
    anatomy = Anatomy(robot)
    if not force:
        _refuse_large(robot, 0 if numbers else len(anatomy.letters))
    program = _program(anatomy, numbers=numbers)
    n, count = robot.nv, 0 if numbers else len(anatomy.letters)
    ring = Ring(2 * n + count, n)
    motion = [ring.symbol(k) for k in range(n)]
    found = evaluate(program, ring, motion + [ring.symbol(2 * n + k) for k in range(count)])
    found = _without_noise(robot, found, numbers=numbers)
    used = {
        k - 2 * n
        for x in found["M"] + found["g"]
        for e in ring.harmonics(x)
        for k, p in enumerate(e)
        if p and k >= 2 * n
    }
    q, v, a = joint_symbols(sympy, robot, coordinates)
    names = names_of(anatomy.letters, used)
    naming = choose(sympy, robot, anatomy.letters, names, symbols, [*q, *v, *a], numbers=numbers)
    if naming.changed:
        named = Ring(2 * n + len(naming.symbols), n)
        named.angles = ring.angles
        images = [named.polynomial(2 * n, image) for image in naming.images]
        found = {name: [ring.substituted(x, 2 * n, images, named) for x in entries] for name, entries in found.items()}
        ring = named
    return _written(sympy, ring, found, Source(robot, naming, names, numbers), (q, v, a))


def _program(anatomy: Anatomy, *, numbers: bool) -> Program:
    """M and g as operations on q and, unless ``numbers``, on the letters."""
    values = np.array(anatomy.values() or [0.0])

    def run(q: Any, x: Any = values) -> dict[str, Any]:
        robot = anatomy.robot_of(x)
        return {"M": mass_matrix(robot, q), "g": gravity_forces(robot, q)}

    inputs: dict[str, tuple[int, ...]] = {"q": (anatomy.robot.nq,)}
    if not numbers and anatomy.letters:
        inputs["x"] = (len(anatomy.letters),)
    return trace(run, inputs, Level.FULL)


def _without_noise(robot: Robot, found: dict[str, list[Element]], *, numbers: bool) -> dict[str, list[Element]]:
    """M and g without what is only rounding. What multiplies letters is of size 1; M_ij² ≤ M_ii M_jj and
    g_i² ≤ |gravity|² (Σ m) M_ii bound the rest.
    """
    n, p = robot.nv, robot.parameters
    roots = [found["M"][i * n + i].size ** 0.5 for i in range(n)] if numbers else [1.0] * n
    weight = float(np.linalg.norm(p.gravity) * np.abs(p.inertias[:, 0]).sum() ** 0.5) if numbers else 1.0
    M = [x.without_noise(roots[k // n] * roots[k % n]) for k, x in enumerate(found["M"])]
    return {"M": M, "g": [x.without_noise(weight * root) for x, root in zip(found["g"], roots, strict=True)]}


def _coriolis(ring: Ring, Gamma: list[list[list[Element]]], v: list[Element]) -> list[list[Element]]:
    """C_kj = Σ_i Γ_ijk v_i [LP, (9.13), (9.87)]."""
    n = range(len(Gamma))
    return [[_products(ring, [Gamma[i][j][k] for i in n], v) for j in n] for k in n]


def _products(ring: Ring, entries: list[Element], rates: list[Element]) -> Element:
    """Σ entry · rate, without what is only rounding next to the entries."""
    total = sum((entry * rate for entry, rate in zip(entries, rates, strict=True)), ring.constant(0.0))
    return total.without_noise(max(entry.size for entry in entries))


def _written(
    sympy: Any,
    ring: Ring,
    found: dict[str, list[Element]],
    source: Source,
    motion: tuple[list[Any], list[Any], list[Any]],
) -> Equations:
    """The equations, with elements of the ring written as SymPy expressions."""
    robot, naming, _, numbers = source
    n, (q, v, a) = robot.nv, motion
    M = [found["M"][i * n : (i + 1) * n] for i in range(n)]
    rates = [ring.symbol(n + k) for k in range(n)]
    generators = [*q, *v, *naming.symbols]
    inertial = {2 * n + k for k in naming.inertial}
    metric = Metric(robot.name, ring, M, generators, inertial, numbers)
    C = _coriolis(ring, metric.connection(), rates)
    c = [_products(ring, row, rates) for row in C]
    order = [*naming.ordered, *q, *v, *a]
    still = Writer(sympy, generators, n, inertial, set(), decimals=numbers)
    moving = Writer(sympy, generators, n, inertial, set(range(n, 2 * n)), decimals=numbers)
    upper = {(i, j): still.by_mass(ring.harmonics(M[i][j])) for i in range(n) for j in range(i, n)}
    matrix = sympy.ImmutableMatrix
    mass = matrix(n, n, lambda i, j: upper[min(i, j), max(i, j)])
    coriolis = matrix(n, n, lambda i, j: moving.expression(ring.harmonics(C[i][j])))
    forces = matrix(n, 1, lambda i, _: moving.expression(ring.harmonics(c[i])))
    weight = matrix(n, 1, lambda i, _: still.expression(ring.harmonics(found["g"][i])))
    friction = _friction(sympy, robot, v, naming)
    springs = _springs(sympy, robot, q, naming)
    others = forces + weight + friction + springs
    tau = matrix(n, 1, lambda i, _: sum((mass[i, j] * a[j] for j in range(n)), others[i]))
    return Equations(
        name=robot.name,
        M=mass,
        C=coriolis,
        c=forces,
        g=weight,
        friction=friction,
        springs=springs,
        tau=tau,
        symbols=naming.quantities,
        q=tuple(q),
        v=tuple(v),
        a=tuple(a),
        order=tuple(order),
        metric=metric,
        source=source,
    )


def _friction(sympy: Any, robot: Robot, v: list[Any], naming: Naming) -> Any:
    """b v + f sign(v), or f tanh(v/width) [Sil81, §3.2]."""
    p, width = robot.parameters, robot.structure.coulomb_width

    rows = []
    for i, rate in enumerate(v):
        direction = sympy.tanh(rate / sympy.Float(width)) if width else sympy.sign(rate)
        viscous = _named(sympy, naming, "b", i, p.viscous_friction) * rate
        rows.append([viscous + _named(sympy, naming, "f", i, p.coulomb_friction) * direction])
    return sympy.ImmutableMatrix(rows)


def _springs(sympy: Any, robot: Robot, q: list[Any], naming: Naming) -> Any:
    """k (q − s), what holds the springs."""
    p = robot.parameters
    rest = [_named(sympy, naming, "s", i, p.rest) if p.stiffness[i] else 0 for i in range(robot.nv)]
    return sympy.ImmutableMatrix(
        [[_named(sympy, naming, "k", i, p.stiffness) * (x - rest[i])] for i, x in enumerate(q)]
    )


def _named(sympy: Any, naming: Naming, stem: str, i: int, values: Array) -> Any:
    """The symbol of joint i for a force's number, or the number itself."""
    number = sympy.Float(float(values[i])) if values[i] else sympy.Integer(0)
    return naming.forces.get(f"{stem}_{i + 1}", number)


def _refuse(robot: Any) -> None:
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(
            f"`robot` must be a torsor.Robot, got {robot!r}; for instance torsor.robots.planar2r(), "
            "or torsor.load(path)."
        )
    if not robot.is_concrete:
        raise ArgumentError("the robot's parameters are being traced; call it outside of `jax.jit` and `jax.grad`.")
    if joints := unsuitable(robot):
        raise ModelError(
            f"robot {robot.name!r} has joints whose velocity is not the rate of a coordinate: {', '.join(joints)}. "
            "Closed forms are written for revolute, prismatic and helical joints; a planar joint can be two prismatic and "
            "one revolute joint, a spherical one three revolute joints; `robot.lock` holds joints."
        )


def _refuse_large(robot: Robot, symbols: int) -> None:
    if robot.nv > MOST_FREEDOMS:
        held = ", ".join(f"{name!r}: 0" for name in robot.coordinates[MOST_FREEDOMS - 1 :])
        raise ArgumentError(
            f"robot {robot.name!r} has {robot.nv} degrees of freedom; beyond {MOST_FREEDOMS} equations fill books. "
            f"Lock joints first, robot.lock({{{held}}}), or pass force=True; `torsor.compile` gives fast code for any robot."
        )
    if symbols > MOST_SYMBOLS:
        raise ArgumentError(
            f"robot {robot.name!r} needs {symbols} symbols, more than {MOST_SYMBOLS} make no readable equation. "
            "Keep its numbers, numbers=True (CLI: --numbers), lock joints with robot.lock, or pass force=True."
        )
