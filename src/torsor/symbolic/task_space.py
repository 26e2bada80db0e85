"""Dynamics of a small robot in the coordinates of a square task in closed form: Λ ÿ + η = F [LP, (9.91)–(9.99)]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.errors import ArgumentError, unknown_name
from torsor.symbolic.fourier import Element
from torsor.symbolic.geometry import Products, summed
from torsor.symbolic.lagrangian import Lagrangian
from torsor.symbolic.pen import Pen
from torsor.symbolic.steps import Entry, Steps, entries_of

if TYPE_CHECKING:
    from torsor.symbolic._equations import Equations

ROWS = ("wx", "wy", "wz", "vx", "vy", "vz")  # of the Jacobian: those of a pose or position task of `torsor.tasks`


def task_steps(eq: Equations, found: Lagrangian, frame: str, names: tuple[str, ...]) -> Steps:
    """J, det J, the drift J̇ q̇, Λ and η of as many rows of a frame's Jacobian as there are degrees of freedom."""
    for name in names:
        if name not in ROWS:
            raise unknown_name("the Jacobian of a frame", "row", name, ROWS, ", ".join(ROWS))
    n = len(eq.q)
    if len(names) != n or len(set(names)) != n:
        raise ArgumentError(
            f"task: robot {eq.name!r} has {n} degrees of freedom, so Λ and η in closed form need {n} different rows of "
            f"{', '.join(ROWS)}, got {', '.join(names) or 'none'}. For other tasks use torsor.tasks.task_space_dynamics."
        )
    J = [found.jacobian[ROWS.index(name)] for name in names]
    products = Products(
        f"the task-space dynamics of robot {eq.name!r}", J, "torsor.tasks.task_space_dynamics(robot, q, v, task)"
    )
    det = products.determinant()
    if not det:
        raise ArgumentError(
            f"task: {', '.join(names)} of {frame!r} are dependent wherever robot {eq.name!r} is: det J = 0. Choose "
            "rows that its joints move independently."
        )
    pen, felt = Pen(eq, found), _task_elements(found, products, J)
    sympy, m, quotients = pen.sympy, range(n), found.metric.quotients
    Lambda = sympy.ImmutableMatrix(n, n, quotients(sympy, [x for row in felt.inertia for x in row], det, 2))
    coriolis = quotients(sympy, felt.coriolis, det, 2, rates=True)
    gravity = quotients(sympy, felt.gravity, det)
    eta = sympy.ImmutableMatrix(n, 1, [x + y for x, y in zip(coriolis, gravity, strict=True)])
    jacobian = sympy.ImmutableMatrix(n, n, [pen.still(x) for row in J for x in row])
    drift, determinant = sympy.ImmutableMatrix([[pen.moving(x)] for x in felt.drift]), pen.still(det)
    square = [(f"{i + 1}{j + 1}", jacobian[i, j]) for i in m for j in m]
    upper: list[Entry] = [
        ("Lambda", tuple(dict.fromkeys((f"{i + 1}{j + 1}", f"{j + 1}{i + 1}"))), Lambda[i, j]) for i in m for j in range(i, n)
    ]  # fmt: skip
    words = (
        f"Jacobian J of the task {', '.join(names)} of frame {frame}, in base axes",
        "Determinant D of J, zero where the task is singular",
        "Drift d of the task: its acceleration when the joints have none",
        "Inertia of the task",
        "Coriolis and gravity forces of the task",
    )
    steps = (
        pen.step("task_jacobian", words[0], "LP, (9.91)", jacobian, entries_of("J", square)),
        pen.step("determinant", words[1], "LP, (9.93)", determinant, [("D", ("",), determinant)]),
        pen.step("task_drift", words[2], "LP, (9.92)", drift, _numbered("d", drift)),
        pen.step("task_inertia", words[3], "LP, (9.98)", Lambda, upper),
        pen.step("task_bias", words[4], "LP, (9.99)", eta, _numbered("eta", eta)),
    )
    return Steps(f"{eq.name} in task space", steps, pen.used(steps), pen.order)


class _Felt(NamedTuple):
    """What a task feels, D = det J: D² Λ, the part D² (J⁻ᵀ c − Λ d) of η, its part D J⁻ᵀ g, and d = J̇ q̇."""

    inertia: list[list[Element]]
    coriolis: list[Element]
    gravity: list[Element]
    drift: list[Element]


def _task_elements(found: Lagrangian, products: Products, J: list[list[Element]]) -> _Felt:
    """Λ = J⁻ᵀ M J⁻¹ and η = J⁻ᵀ (c + g) − Λ J̇ q̇ without a division, by J⁻¹ = adj J / det J."""
    n, ring = range(len(J)), found.ring
    M, det, P = found.metric.M, products.determinant(), summed(found.potential)
    adjugate = [[products.cofactor(k, i) for k in n] for i in n]
    lifted = [[summed([products.of(M[i][j], adjugate[j][k]) for j in n]) for k in n] for i in n]
    inertia = [[summed([products.of(adjugate[j][i], lifted[j][k]) for j in n]) for k in n] for i in n]
    drift = [summed([found.rate(x) * found.velocity(j) for j, x in enumerate(row)]) for row in J]
    c = [summed([found.rate(found.by_velocity(found.energy, i)), -ring.derivative(found.energy, i)]) for i in n]
    g = [ring.derivative(P, i) for i in n]
    coriolis = []
    for i in n:
        pushed = products.of(det, summed([products.of(adjugate[j][i], c[j]) for j in n]))
        coriolis.append(summed([pushed, *(-products.of(inertia[i][k], drift[k]) for k in n)]))
    gravity = [summed([products.of(adjugate[j][i], g[j]) for j in n]) for i in n]
    return _Felt(inertia, coriolis, gravity, drift)


def _numbered(letter: str, column: Any) -> list[Entry]:
    return [(letter, (f"{i + 1}",), x) for i, x in enumerate(column)]
