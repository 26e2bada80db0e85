"""The page of the demonstration: one file, with everything in it."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torsor
from torsor._html import plain, words
from torsor._text_files import write_text

if TYPE_CHECKING:
    from torsor._demo.controlled_motion import Followed
    from torsor._demo.race import Race
    from torsor._demo.terms import Terms

STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { font-variant-numeric: tabular-nums }
section > div { overflow-x: auto }
img { background: white; max-width: 100%; border-radius: .4rem }
iframe { width: 100%; height: 34rem; border: 1px solid rgba(128,128,128,.35); border-radius: .4rem }
pre { overflow-x: auto; padding: .8rem; border: 1px solid rgba(128,128,128,.35); border-radius: .4rem }
"""


def write_report(
    place: Path,
    arm: torsor.Robot,
    terms: Terms,
    checks: torsor.verification.Verification,
    motion: Followed,
    times: Race,
) -> None:
    """Write the page."""
    from torsor._demo import WHAT_NEXT

    parts = [
        _section(
            "The motion", f"<p>{plain(motion.text.partition(': ')[2].replace(chr(10), ' '), 2000)}</p>", replay(motion)
        ),
        _section("In plots", *pictures(motion)),
        _section("The robot", arm._repr_html_()),
        _section("Every term at one state", "<p>In N·m: τ = M a + C v + g − JᵀF.</p>", f"<div>{terms.html()}</div>"),
        _section("The theory, checked on this robot", checks._repr_html_()),
        _section("Compiled against NumPy", f"<div>{times.html()}</div>"),
        _section("What to type next", words(WHAT_NEXT)),
    ]
    title = f"torsor {torsor.__version__}: a Panda arm"
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{plain(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{plain(title)}</h1>\n{''.join(parts)}</body></html>\n"
    )
    write_text("demo", place, page)


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{plain(title)}</h2>{''.join(parts)}</section>\n"


def replay(motion: Followed) -> str:
    """The motion to look at, in three dimensions: a frame with a page of the viewer in it."""
    viewer = torsor.view(motion.run.robot, motion.run, ghost=motion.planned, serve=False)
    return f"{viewer._repr_html_()}<p>The ghost is the motion as it was planned.</p>"


def pictures(motion: Followed) -> list[str]:
    """Plots of the motion."""
    run = motion.run[::8]  # 1 kHz is more than a page of this size can show
    return [
        _drawn(lambda _: torsor.plot.joints(run), motion, "position of each joint with its limits"),
        _drawn(lambda _: torsor.plot.torque_limits(run).figure, motion, "torques as parts of their limits"),
        _drawn(lambda _: torsor.plot.energies(run).figure, motion, "energies"),
        _drawn(lambda _: torsor.plot.phase(run).figure, motion, "velocity over position"),
    ]


def _drawn(draw: Any, motion: Followed, said: str) -> str:
    """A figure as an image that is part of the page; words where matplotlib is missing."""
    try:
        figure = draw(motion)
    except torsor.MissingDependency as missing:
        return f"<p>{plain(said)}: {plain(missing, 300)}</p>"
    import matplotlib.pyplot as plt

    file = io.BytesIO()
    figure.savefig(file, format="svg")
    plt.close(figure)
    source = base64.b64encode(file.getvalue()).decode()
    return f'<p><img alt="{plain(said, 120)}" src="data:image/svg+xml;base64,{source}"></p>'
