"""The equations of motion of a planar arm, written out as in a textbook and derived as in a lecture, with the names one likes.

Needs torsor[sympy]; its picture torsor[plot].

python examples/10_equations.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor.symbolic import equations


def main() -> None:
    arm = torsor.robots.planar2r(masses=(1.3, 0.8), lengths=(0.9, 0.6))
    found = equations(arm, coordinates="theta")
    print(found, "\n")

    q, v, a = torsor.random_state(arm, seed=1)
    difference = found.evaluate(q, v, a) - torsor.inverse_dynamics(arm, q, v, a)
    print(f"difference to inverse dynamics: {np.abs(difference).max():.1e} N·m\n")

    print("How a lecturer gets there, some of the steps:\n")
    steps = found.derivation  # print(steps) shows them all
    for name in ("centres_of_mass", "kinetic_energy", "lagrangian", "momenta"):
        print(steps[name], "\n")
    print(steps.task("vx", "vy"), "\n")

    print("The same arm with its own numbers:\n")
    print(equations(arm, numbers=True).M, "\n")

    print("Another with names of its own: a pole on a cart.\n")
    cart = torsor.robots.cart_pole()
    print(equations(cart, symbols={"m_1": "M", "m_2": "m", "L_2": "l"}, coordinates=["x", "theta"]))

    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        print(f"\npage: {steps.to_html(folder / 'steps.html')}")
        print(f"picture: {found.to_png(folder / 'equations.png')}")
    except torsor.TorsorError as hint:  # matplotlib is missing
        print(f"\nno picture: {hint}")


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SymPy is missing
        sys.exit(str(hint))
