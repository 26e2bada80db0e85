"""Numbers of the state that is shown: mass matrix, eigenvalues, gravity, energies, as HTML. Names are escaped."""

from __future__ import annotations

from html import escape

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import gravity_forces, kinetic_energy, mass_matrix, potential_energy
from torsor.model import Robot
from torsor.viewer.dragging import at_limits

MOST = 8  # rows of a mass matrix that fit beside the robot
STYLE = "border-collapse:collapse;font-size:10px;font-variant-numeric:tabular-nums;text-align:right"
CELL = 'style="padding:1px 3px"'


def panel(robot: Robot, q: Array, v: Array) -> str:
    """The panel of a robot at ``q`` (nq,) and ``v`` (nv,)."""
    M, g = np.asarray(mass_matrix(robot, q)), np.asarray(gravity_forces(robot, q))
    eigenvalues = np.linalg.eigvalsh(M)
    freedoms = robot.structure.freedoms
    kinetic, potential = float(kinetic_energy(robot, q, v)), float(potential_energy(robot, q))
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    ratio = f"{largest / smallest:.3g}" if smallest > 0 else "∞"
    lines = [
        '<div style="padding:0 1em;font-size:12px;overflow-x:auto">',
        f"<p><b>Energy</b> kinetic {kinetic:.4g} J, potential {potential:.4g} J, sum {kinetic + potential:.4g} J</p>",
        f"<p><b>Mass matrix M(q)</b> ({robot.nv} × {robot.nv})</p>",
    ]
    if robot.nv <= MOST:
        rows = "".join(f"<tr>{''.join(f'<td {CELL}>{_short(x)}</td>' for x in row)}</tr>" for row in M)
        lines.append(f'<table style="{STYLE}">{rows}</table>')
    else:
        lines.append(f"<p>too large to be shown; its trace is {np.trace(M):.4g}</p>")
    few = eigenvalues if len(eigenvalues) <= MOST else [*eigenvalues[:4], *eigenvalues[-4:]]
    lines.append(f"<p><b>Eigenvalues</b> {' '.join(_short(x) for x in few)}, ratio {ratio}</p>")
    lines.append("<p><b>Gravity torque</b></p>")
    rows = "".join(
        f'<tr><td {CELL} align="left">{escape(name)}</td><td {CELL}>{_short(x)}</td></tr>'
        for name, x in zip(freedoms, g, strict=True)
    )
    lines.append(f'<table style="{STYLE}">{rows}</table>')
    pressed = at_limits(robot, q)
    lines.append(f"<p><b>At a limit</b> {escape(', '.join(pressed)) if pressed else 'none'}</p></div>")
    return "".join(lines)


def _short(x: float) -> str:
    return f"{x:.3g}" if abs(x) >= 5e-4 else "0"
