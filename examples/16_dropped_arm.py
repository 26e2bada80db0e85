"""A Panda whose motors are switched off falls onto its joint stops: what acted, what became of its energy, and a picture.

Needs torsor alone; its picture torsor[plot].

python examples/16_dropped_arm.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor

START = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.9, 0.8])


def main() -> None:
    arm = torsor.robots.panda()
    run = torsor.simulate(arm, START, np.zeros(7), duration=1.5, dt=1e-3)
    print(run)
    for note in run.notes:
        if "stop" in note:
            print(f"  {note}")
    inside = np.all((run.q >= np.array(arm.limits.lower)) & (run.q <= np.array(arm.limits.upper)))
    print(f"all joints stayed within their limits{'' if inside else '  BAD'}\n")
    audit = run.audit()
    print(audit, "" if audit.residual < 1e-6 else "  BAD")

    bare = torsor.simulate(arm, START, np.zeros(7), duration=1.5, dt=1e-3, within_limits=False)
    beyond = np.degrees(np.maximum(bare.q - arm.limits.upper, np.array(arm.limits.lower) - bare.q).max())
    print(f"\nwithout stops (within_limits=False) a joint would go {beyond:.0f}° beyond its limit")
    draw(run)


def draw(run: torsor.Trajectory) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure = run.plot()
    figure.savefig(folder / "dropped_arm.png", dpi=100)
    plt.close(figure)
    print(f"\npicture: {folder / 'dropped_arm.png'}")


if __name__ == "__main__":
    main()
