"""A demonstration in a minute, on an embedded robot: `make demo`, or ``run`` for other programs.

It prints what it does and writes ``report.html``, one page that needs no network.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from time import perf_counter


def run(folder: str | PathLike[str] = "demo", write: Callable[[str], object] | None = None) -> int:
    """Run the demonstration: 0 if every check holds, else 1.

    Parameters
    ----------
    folder : str or path
        Where ``report.html`` is written; made if it is not there.
    write : callable, optional
        What the printed text is given to, a piece at a time; the standard output by default.
    """
    import torsor
    from torsor._demo.controlled_motion import follow_a_motion
    from torsor._demo.race import race
    from torsor._demo.report import write_report
    from torsor._demo.terms import terms_of_one_state
    from torsor.errors import printable

    begin = perf_counter()

    def say(text: str) -> None:
        (write or sys.stdout.write)(text + "\n")
        if write is None:
            sys.stdout.flush()

    place = _made(folder) / "report.html"
    arm = torsor.robots.panda()
    say(
        f"torsor {torsor.__version__}: a demonstration with a Panda arm. The first run also compiles; later ones do not.\n"
    )
    terms = terms_of_one_state(arm)
    say(terms.text)
    checks = torsor.verify(arm)
    say(
        f"\nTHE THEORY, CHECKED ON THIS ROBOT at {checks.configurations} random states: the largest difference of two sides\n"
    )
    for row in checks:
        say(f"  {'ok ' if row.holds else 'BAD'} {row.name:<40} {row.residual:8.1e}   (allowed {row.allowed:.0e})")
    motion = follow_a_motion(arm)
    say(f"\n{motion.text}")
    times = race(arm)
    say(f"\n{times.text}")
    write_report(place, arm, terms, checks, motion, times)
    say(f"\nREPORT: {printable(str(place))}   (open it in a browser: the motion, its plots, these tables)\n")
    say(WHAT_NEXT)
    say(f"\nThat took {perf_counter() - begin:.0f} s.")
    return 0 if checks else 1


def _made(folder: str | PathLike[str]) -> Path:
    """The folder, which is there now: an error comes before the work and not after it."""
    from torsor._text_files import path_to_write
    from torsor.errors import FileError, printable

    place = path_to_write("demo", folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise FileError(printable(f"demo: cannot make the folder {place}: {error}.")) from None
    return place


WHAT_NEXT = """WHAT TO TYPE NEXT
  python                                          where torsor is installed, after make demo .venv/bin/python; then
    import torsor
    arm = torsor.load("arm.urdf")                 your own robot, or torsor.robots.ur5(); mistakes in the file are explained
    q, v, a = torsor.random_state(arm, seed=0)
    torsor.inverse_dynamics(arm, q, v, a)         τ = M a + C v + g
    run = torsor.simulate(arm, q, v, duration=1.0, dt=1e-3)
    run.plot().savefig("run.png")
    torsor.view(arm, run)                         look at it in the browser: pip install 'torsor[view]'
  torsor check arm.urdf                           what is wrong with a robot file
  torsor torques arm.urdf log.csv -o tau.csv      the torques of a measured motion
  torsor codegen arm.urdf inverse_dynamics        C for a micro-controller
  README.md, docs/tour.md, examples/              more of it"""
