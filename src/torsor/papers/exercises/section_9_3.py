"""Exercises on the recursive inverse dynamics [LP, §9.3]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.functions.public import dynamics, kinematics
from torsor.lie import Ad, ad, bracket, se3
from torsor.modern_robotics.book_arguments import chain
from torsor.papers.exercises.checking import Draw, Problem, recipe


def _translation(x: float) -> np.ndarray:
    T = np.eye(4)
    T[0, 3] = x
    return T


def draw_rods(draw: Draw) -> dict[str, Any]:
    """Two links with frames at their centres, in the book's lists; joints about z, gravity along −y."""
    (l1, l2), masses = draw.numbers(2, 0.4, 1.2), draw.numbers(2, 1, 4)
    moments = draw.numbers(2, 0.02, 0.2)
    Mlist = np.array([_translation(l1 / 2), _translation((l1 + l2) / 2), _translation(l2 / 2)])
    Glist = np.array([np.diag([0, I, I, m, m, m]) for I, m in zip(moments, masses, strict=True)])
    Slist = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -l1, 0]], float).T
    g = np.array([0, -9.81, 0])
    return {
        "lengths": np.array([l1, l2]),
        "Mlist": Mlist,
        "Glist": Glist,
        "Slist": Slist,
        "g": g,
        "robot": chain(Mlist, Glist, Slist, g),
    }


IN_WORDS = (
    "`given` has a planar chain of two rods in the book's lists: Mlist, Glist, Slist, g, and as a robot of torsor with the "
    "frame 'tip'. The link frames are at the centres of mass; z is the axis of both joints. "
)


def newton_euler(
    given: dict[str, Any],
    theta: np.ndarray,
    rate: np.ndarray,
    acceleration: np.ndarray,
    *,
    gravity: float = -1.0,
    bracket_frame: str = "own",
    products: float = 1.0,
) -> np.ndarray:
    """Recursion (9.53)–(9.57) with switches: the sign of gravity in V̇_0, the bracket of (9.58), the term ad_Vᵀ G V."""
    home, V, V_dot = np.eye(4), np.zeros(6), np.concatenate([np.zeros(3), gravity * given["g"]])
    steps: list[np.ndarray] = []
    screws: list[np.ndarray] = []
    forces: list[np.ndarray] = []
    for i in range(2):
        home = home @ given["Mlist"][i]
        A = Ad(se3.inverse(home)) @ given["Slist"][:, i]
        T = se3.inverse(given["Mlist"][i] @ se3.exp(A * theta[i]))  # T_{i,i−1}
        before = {"own": Ad(T) @ V, "printed": Ad(se3.inverse(T)) @ V, "none": np.zeros(6)}[bracket_frame]
        V_dot = Ad(T) @ V_dot + bracket(before, A) * rate[i] + A * acceleration[i]
        V = Ad(T) @ V + A * rate[i]
        G = given["Glist"][i]
        steps.append(T)
        screws.append(A)
        forces.append(G @ V_dot - products * ad(V).T @ G @ V)
    first = forces[0] + Ad(steps[1]).T @ forces[1]
    return np.array([screws[0] @ first, screws[1] @ forces[1]])


@recipe(
    "9.3/screw",
    "screw of joint 2 in the frame of link 2",
    expected="an array (6,), (angular, linear)",
    hints=(
        "(9.40): A_i = Ad(M_i⁻¹) S_i, with M_i the pose of frame {i} at home, a product of Mlist.",
        "The draft says “in frame {i−1}” after (9.35) and in (9.51). That is erratum E002-4: it is frame {i}.",
    ),
)
def _ask_screw(draw: Draw) -> Problem:
    given = draw_rods(draw)
    M1, M2 = given["Mlist"][0], given["Mlist"][0] @ given["Mlist"][1]
    S2 = given["Slist"][:, 1]
    return Problem(
        IN_WORDS + "What is the screw A_2 of the second joint, in the frame of link 2?",
        given,
        lambda: Ad(se3.inverse(M2)) @ S2,
        {
            "This is the screw in the frame of link 1, as the draft has it (E002-4).": lambda: Ad(se3.inverse(M1)) @ S2,
            "This is Ad(M_2) S_2; the inverse of M_2 is needed.": lambda: Ad(M2) @ S2,
            "This is S_2 itself, in the space frame.": lambda: S2,
        },
    )


@recipe(
    "9.3/newton_euler",
    "your own Newton–Euler recursion",
    expected="an array (2,), N·m",
    signature="tau(theta, dtheta, ddtheta)",
    tolerance=1e-8,
    hints=(
        "Make A_i by (9.40) once. Then run (9.53)–(9.55) for i = 1, 2 and keep V_i, V̇_i, T_{i,i−1}. "
        "Last, run (9.56), (9.57) for i = 2, 1.",
        "torsor.lie has Ad, ad, se3.exp and inverse. A wrench goes back by Ad(T_{i+1,i})ᵀ.",
        "Start from V̇_0 = (0, −g): an accelerated base feels like gravity. The draft prints (0, g), erratum E002-7.",
    ),
)
def _ask_own_newton_euler(draw: Draw) -> Problem:
    given = draw_rods(draw)
    return Problem(
        IN_WORDS + "Write the algorithm of §9.3 yourself, as a function tau(theta, dtheta, ddtheta).",
        given,
        lambda *state: dynamics.inverse_dynamics(given["robot"], *state),
        {
            "Gravity has the wrong sign: start from V̇_0 = (0, −g), not (0, g) (E002-7).": lambda *state: newton_euler(
                given, *state, gravity=1
            ),
            "Gravity is missing: start from V̇_0 = (0, −g).": lambda *state: newton_euler(given, *state, gravity=0),
            "The bracket has the twist in the wrong frame, as printed in (9.47) (E002-6).": lambda *state: newton_euler(
                given, *state, bracket_frame="printed"
            ),
            "The bracket [V_i, A_i] θ̇_i of (9.55) is missing.": lambda *state: newton_euler(
                given, *state, bracket_frame="none"
            ),
            "The term −ad_Vᵀ(G V) of (9.56) is missing.": lambda *state: newton_euler(given, *state, products=0),
            "The term ad_Vᵀ(G V) of (9.56) has the wrong sign.": lambda *state: newton_euler(
                given, *state, products=-1
            ),
        },
        draw.states(4, 2, 2, 2),
    )


@recipe(
    "9.3/tip_force",
    "torques while the tip presses on a wall",
    expected="an array (2,), N·m",
    hints=(
        "F_tip is what the tip does to the environment, so the joints pay for it: τ = … + J_bᵀ F_tip (E002-10).",
        "In torsor a wrench is what the environment does to the robot: wrenches={'tip': −F_tip}.",
    ),
)
def _ask_tip_force(draw: Draw) -> Problem:
    given = draw_rods(draw)
    theta, force = draw.numbers(2, 0.3, 1.4), draw.numbers(2, 5, 30)
    F_tip = np.array([0, 0, 0, *force, 0])
    zero = np.zeros(2)

    def torques(sign: float, jacobian: Any = kinematics.body_jacobian) -> Any:
        held = dynamics.gravity_forces(given["robot"], theta)
        return held + sign * jacobian(given["robot"], theta, "tip").T @ F_tip

    return Problem(
        IN_WORDS
        + f"It is at rest at θ = {theta.tolist()} rad and presses with the force {force.tolist()} N, along x and y of its "
        "tip frame, on a wall. Which torques hold it?",
        given | {"theta": theta, "F_tip": F_tip},
        lambda: dynamics.inverse_dynamics(given["robot"], theta, zero, zero, wrenches={"tip": -F_tip}),
        {
            "The wrench has the wrong sign: the tip presses, the wall presses back.": lambda: torques(-1),
            "Gravity is missing.": lambda: torques(1) - dynamics.gravity_forces(given["robot"], theta),
            "The force was taken in the axes of the base; it is given in those of the tip.": lambda: torques(
                1, kinematics.mixed_jacobian
            ),
            "The space Jacobian belongs to wrenches in the space frame.": lambda: torques(1, kinematics.space_jacobian),
        },
    )
