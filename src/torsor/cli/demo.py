"""A first look: the terms of one state, the identities that tie them together, a motion, and how fast it all is."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from torsor.cli.main import DONE, NO

if TYPE_CHECKING:
    from torsor.model import Robot

EXAMPLES = """\
  torsor demo
"""
NEXT = """\
What to type next:
  torsor check arm.urdf                                    what is wrong with a robot file of yours
  torsor info arm.urdf                                     its joints, limits and masses
  torsor torques arm.urdf log.csv --cutoff 10 -o out.csv   joint forces of a log
  torsor codegen arm.urdf control.computed_torque          a controller in C
  torsor --help                                            everything else
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes no options."""


def run(options: argparse.Namespace) -> int:
    """Print all parts; 1 if an identity does not hold."""
    import torsor

    arm = torsor.robots.panda()
    sys.stdout.write(f"1. The terms of one state of a {arm.name}: τ = M a + C v + g, N·m\n\n{_terms(arm)}\n")
    report = torsor.verify(arm)
    sys.stdout.write(f"2. Identities of the theory, on this robot\n\n{report}\n\n")
    sys.stdout.write(f"3. A motion, driven by computed torque\n\n{_motion(arm)}\n")
    sys.stdout.write(f"4. Compiled for this robot, and as NumPy\n\n{_race(arm)}\n")
    sys.stdout.write(NEXT)
    return DONE if report else NO


def _terms(arm: Robot) -> str:
    import torsor
    from torsor._reports import table

    q, v, a = torsor.random_state(arm, seed=0)
    columns = {
        "q": q,
        "v": v,
        "a": a,
        "M a": torsor.mass_matrix(arm, q) @ a,
        "C v": torsor.coriolis_matrix(arm, q, v) @ v,
        "g": torsor.gravity_forces(arm, q),
        "τ": torsor.inverse_dynamics(arm, q, v, a),
    }
    rows = [["", *columns], *([name, *(f"{x[k]:z.4f}" for x in columns.values())] for k, name in enumerate(arm.joints))]
    return "\n".join(table(rows, "<>", indent="  ")) + "\n"


def _motion(arm: Robot) -> str:
    import numpy as np

    import torsor

    lower, upper, still = np.array(arm.limits.lower), np.array(arm.limits.upper), np.zeros(arm.nv)
    start, goal = lower + 0.5 * (upper - lower), lower + 0.6 * (upper - lower)
    run = torsor.simulate(
        arm,
        start,
        still,
        duration=2.0,
        dt=1e-3,
        controller=lambda t, q, v: torsor.control.computed_torque(arm, q, v, goal, still, still, 30.0, 11.0),
    )
    left = np.abs(run.q[-1] - goal).max()
    notes = "".join(f"  {note}\n" for note in run.notes)
    audit = run.audit()
    return (
        f"  {len(run) - 1} steps of 1 ms; after 2 s the largest error is {left:.1e} rad.\n{notes}"
        f"  Energy and work agree to {audit.residual:.0e} of the energy exchanged.\n"
    )


def _race(arm: Robot) -> str:
    from torsor._reports import table
    from torsor.cli.bench import heading, measured, row

    found = measured(arm, 1000, ("inverse_dynamics", "forward_dynamics", "mass_matrix"))
    rows = [heading(1000), *(row(name, times, 1000) for name, times in found.items())]
    return "\n".join(table(rows, "<>", indent="  ")) + "\n"
