"""The equations of motion of a small robot step by step, as a lecturer derives them: kinematics, energies, Lagrangian, forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torsor.symbolic.geometry import summed
from torsor.symbolic.lagrangian import Lagrangian, lagrangian
from torsor.symbolic.naming import sympy_module
from torsor.symbolic.pen import Pen
from torsor.symbolic.steps import SLOPE, SLOPE_RATE, Entry, Step, Steps, entries_of
from torsor.symbolic.task_space import task_steps

if TYPE_CHECKING:
    from torsor.symbolic._equations import Equations

TIP = "tip"


@dataclass(frozen=True, eq=False, repr=False)
class Derivation(Steps):
    """The way from kinematics to τ = M q̈ + C q̇ + g, in SymPy expressions (rad, m, s, kg, N) [LP, §9.1].

    Loop over its steps, or ask for one: ``derivation["lagrangian"].value``. Entries that vanish are left out in kinematics and Γ.
    ``task("vx", "vy")`` goes on in the coordinates of a task, ``at(frame)`` has the kinematics of another frame.
    """

    frame: str
    equations: Equations
    lagrangian: Lagrangian

    def at(self, frame: str) -> Derivation:
        """The same derivation with the pose and Jacobian of another frame of the robot."""
        return derive(self.equations, frame)

    def task(self, *rows: str) -> Steps:
        """Λ and η of Λ ÿ + η = F for ẏ = J q̇, some rows of the frame's Jacobian [LP, (9.97)–(9.99)].

        Parameters
        ----------
        *rows : str
            As many as there are degrees of freedom, of "wx", "wy", "wz" (angular velocity) and "vx", "vy", "vz" (velocity of
            the frame's origin), all in base axes.

        Returns
        -------
        Steps
            J, det J, the drift J̇ q̇, Λ and η as functions of q and q̇. Friction and springs are not in η, as in
            `torsor.tasks.task_space_dynamics`.
        """
        return task_steps(self.equations, self.lagrangian, self.frame, rows)


def derive(equations: Equations, frame: str | None = None) -> Derivation:
    """The steps to ``equations``, with the kinematics of a frame: by default the tip, or else the last link."""
    robot = equations.source.robot
    if frame is None:
        frame = TIP if TIP in robot.frames else robot.links[-1]
    found = lagrangian(sympy_module(), equations.source, frame, [*equations.q, *equations.v, *equations.a])
    pen = Pen(equations, found)
    steps = (*_kinematics(pen, frame), *_energies(pen), *_slopes(pen), *_terms(pen))
    return Derivation(equations.name, steps, pen.used(steps), pen.order, frame, equations, found)


def _kinematics(pen: Pen, frame: str) -> list[Step]:
    """Where the frame and the links are, and how fast they move."""
    sympy, found, n = pen.sympy, pen.found, len(pen.equations.q)
    R = sympy.ImmutableMatrix(3, 3, [pen.still(x) for x in found.rotation])
    p = [pen.still(x) for x in found.position]
    T = sympy.ImmutableMatrix([[*R.row(i), p[i]] for i in range(3)] + [[0, 0, 0, 1]])
    rows = [row for letter, x in zip("XYZ", p, strict=True) if x != 0 for row in entries_of(letter, [("", x)])]
    rows += entries_of("R", [(f"{i + 1}{j + 1}", R[i, j]) for i in range(3) for j in range(3)])
    steps = [
        pen.step("frame_pose", f"Position X, Y, Z and rotation R of frame {frame} in the base", "LP, §9.1.1", T, rows)
    ]

    links = range(len(found.masses))
    heavy = [i for i in links if found.masses[i]]
    turning = [i for i in links if any(found.moments[i])]
    centres = sympy.ImmutableMatrix([[pen.still(x) for x in found.centres[i]] for i in links])
    names = {s.name for s in pen.order}
    letters = "xyz" if not any(f"{x}_{i + 1}" in names for x in "xyz" for i in links) else "XYZ"
    zero = sympy.Integer(0)
    rows = [row for i in heavy for row in _vector(letters, i, centres.row(i))] or [("p", ("",), zero)]
    steps.append(pen.step("centres_of_mass", "Centre of mass of each link in the base", "LP, §9.1.1", centres, rows))
    velocities = sympy.ImmutableMatrix([[pen.moving(x) for x in found.velocities[i]] for i in links])
    angular = sympy.ImmutableMatrix([[pen.moving(x) for x in found.angular[i]] for i in links])
    dotted = [f"{x}dot" for x in letters]
    rows = [row for i in heavy for row in _vector(dotted, i, velocities.row(i))] or [("pdot", ("",), zero)]
    rows += [
        ("omega", (f"{i + 1}{axis}",), w)
        for i in turning
        for axis, w in zip("xyz", angular.row(i), strict=True)
        if w != 0
    ]
    words = "Velocity of the centre of mass of each link" + ", angular velocity ω in its own axes" * bool(turning)
    steps.append(pen.step("link_velocities", words, "LP, §9.1.1", (velocities, angular), rows))
    J = sympy.ImmutableMatrix(6, n, [pen.still(x) for row in found.jacobian for x in row])
    words = f"Jacobian of frame {frame} in base axes: rows 1 to 3 angular velocity, rows 4 to 6 velocity of its origin"
    rows = entries_of("J", [(f"{i + 1}{j + 1}", J[i, j]) for i in range(6) for j in range(n)])
    return [*steps, pen.step("mixed_jacobian", words, "LP, (9.91)", J, rows)]


def _vector(letters: Any, link: int, values: Any) -> list[Entry]:
    """The entries of a vector of a link that do not vanish."""
    return [(letter, (f"{link + 1}",), x) for letter, x in zip(letters, values, strict=True) if x != 0]


def _energies(pen: Pen) -> list[Step]:
    """K_i, P_i and the Lagrangian."""
    sympy, found, eq = pen.sympy, pen.found, pen.equations
    n, v = len(eq.q), eq.v
    K = [pen.energy(x) for x in found.kinetic]
    rows: list[Entry] = [("K", (f"{i + 1}",), x) for i, x in enumerate(K)]
    words, rotors = "Kinetic energy of each link", pen.energy(found.rotors)
    if rotors != 0:
        rows.append(("K", ("J",), rotors))
        words += ", and of the armature J of the joints"
    value = sympy.ImmutableMatrix([[row[2]] for row in rows])
    steps = [pen.step("kinetic_energy", words, "LP, (9.59)", value, rows)]
    P = [pen.still(x) for x in found.potential]
    rows = [("P", (f"{i + 1}",), x) for i, x in enumerate(P)]
    words, springs = "Potential energy of each link", _spring_energy(sympy, eq)
    if springs != 0:
        rows.append(("P", ("k",), springs))
        words += ", and of the springs k of the joints"
    value = sympy.ImmutableMatrix([[row[2]] for row in rows])
    steps.append(pen.step("potential_energy", words, "LP, §9.1.1", value, rows))
    half = sympy.Rational(1, 2)
    M = pen.mass_matrix
    terms = [sympy.Mul(half, M[i, i], v[i] ** 2) for i in range(n)]
    terms += [sympy.Mul(M[i, j], v[i], v[j]) for i in range(n) for j in range(i + 1, n)]
    L = sympy.Add(*terms, -pen.still(summed(found.potential)), -springs)
    words = "Lagrangian: the kinetic energy minus the potential energy"
    return [*steps, pen.step("lagrangian", words, "LP, (9.7), (9.9)", L, [("L", ("",), L)])]


def _spring_energy(sympy: Any, eq: Equations) -> Any:
    """½ Σ k (q − s)², from the forces k (q − s)."""
    total = sympy.Integer(0)
    for force, q in zip(eq.springs, eq.q, strict=True):
        k = force.diff(q)
        if k != 0:
            total += k / 2 * (q - sympy.expand(q - force / k)) ** 2
    return total


def _slopes(pen: Pen) -> list[Step]:
    """Both sides of the Euler–Lagrange equations: ∂𝓛/∂q̇, its rate, ∂𝓛/∂q."""
    sympy, found, eq, M = pen.sympy, pen.found, pen.equations, pen.mass_matrix
    n, K, P = range(len(eq.q)), found.energy, summed(found.potential)
    by, column = found.ring.derivative, sympy.ImmutableMatrix
    momenta = column([[sympy.Add(*(M[i, j] * eq.v[j] for j in n))] for i in n])
    turned = [pen.moving(found.rate(found.by_velocity(K, i))) for i in n]
    rates = column([[sympy.Add(*(M[i, j] * eq.a[j] for j in n), turned[i])] for i in n])
    slopes = column([[pen.moving(by(K, i)) - pen.still(by(P, i)) - eq.springs[i]] for i in n])

    def step(name: str, words: str, letter: str, along: Any, value: Any) -> Step:
        rows: list[Entry] = [(letter, (along[i].name,), value[i]) for i in n]
        return pen.step(name, words, "LP, (9.11)", value, rows)

    return [
        step("momenta", "Momenta: the slopes of the Lagrangian along the velocities", SLOPE, eq.v, momenta),
        step("momentum_rates", "Rates of the momenta", SLOPE_RATE, eq.v, rates),
        step("lagrangian_slopes", "Slopes of the Lagrangian along the coordinates", SLOPE, eq.q, slopes),
    ]


def _terms(pen: Pen) -> list[Step]:
    """M, Γ, C, g and τ, what the Euler–Lagrange equations are sorted into."""
    eq, printed = pen.equations, list(pen.equations.entries())
    Gamma = eq.geometry.Gamma
    entries = [row for row in eq.geometry.christoffel_entries() if row[2] != 0] or [("Gamma", ("",), Gamma[0, 0, 0])]
    extra = ", and friction" * any(eq.friction)

    def rows(*letters: str) -> list[Entry]:
        return [row for row in printed if row[0] in letters]

    return [
        pen.step("mass_matrix", "Mass matrix: the kinetic energy is half of q̇ᵀ M q̇", "LP, (9.10)", eq.M, rows("M")),
        pen.step(
            "christoffel_symbols",
            "Christoffel symbols of M: c_k = Σ Γ_ijk q̇_i q̇_j",
            "PBP95, (52); LP, (9.13) with its first index last",
            Gamma,
            entries,
        ),
        pen.step("coriolis_matrix", "Coriolis matrix C, and c = C q̇", "LP, (9.87), (9.88)", eq.C, rows("C", "c")),
        pen.step("gravity_forces", "Gravity forces: the slopes of the links' potential energy", "LP, (9.12)", eq.g, rows("g")),
        pen.step(
            "joint_forces",
            f"Joint forces: rates of the momenta minus slopes of the Lagrangian{extra}",
            "LP, (9.11), (9.12)",
            eq.tau,
            rows("tau"),
        ),
    ]  # fmt: skip
