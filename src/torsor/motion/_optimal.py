"""Optimal motions: least torque, energy, time and more within all limits of a robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torsor.arrays.typing import GivenConfiguration, GivenJointVector, GivenNumbers
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_strangers
from torsor.model import Robot
from torsor.motion.optimal_motions.many import solve_many
from torsor.motion.optimal_motions.search import Search, search
from torsor.motion.optimal_motions.setting import Setting
from torsor.motion.tangent_motion import common_batch, configurations_of

Cost = str | Callable[..., Any] | Mapping[Any, float]
SOLVERS = ("sqp", "ipopt")


@explained
def optimal(
    robot: Robot,
    q0: GivenConfiguration | None,
    q1: GivenConfiguration | None,
    *,
    duration: float | None,
    cost: Cost = "torque",
    within_limits: bool = True,
    acceleration: Any = None,
    jerk: Any = None,
    power: Any = None,
    motor_constants: Any = None,
    v0: GivenJointVector | str | None = None,
    v1: GivenJointVector | str | None = None,
    a0: GivenJointVector | str | None = None,
    a1: GivenJointVector | str | None = None,
    through: Mapping[float, Any] | None = None,
    along: Mapping[Any, Any] | None = None,
    along_within: float = 1e-3,
    obstacles: GivenNumbers | None = None,
    capsules: Sequence[Any] | None = None,
    pieces: int = 11,
    starts: int = 1,
    seed: int | np.random.Generator = 0,
    iterations: int = 100,
    tolerance: float = 1e-9,
    solver: str = "sqp",
) -> Any:  # of which of two classes, the shapes of q0 and q1 say
    """Motion from q0 to q1 with the least torque, energy, work, jerk, time or other cost within limits.

    Sequential quadratic programming with the exact Hessian [LKPKB05; NW06, ch. 18]. The motion is a spline of degree 5 in tangent
    coordinates, q0 ⊕ u(t), continuous to its fourth derivative. Limits are kept at nodes and, where they are passed between these
    by more than a twentieth of a percent, there too. The search begins at the straight line and ends at a minimum near it, which
    need not be the least of all: see ``starts``.

    Parameters
    ----------
    robot : Robot
        Any joint kind. Payloads (`Robot.with_payload`), friction, armature and springs count.
    q0, q1 : (..., nq) arrays
        Start and end, rad or m; None is free, one of the two. Several are as many problems, dealt out to processes on all cores
        (`torsor.set_threads`), unless the cost is a function that cannot be pickled.
    duration : float or None
        How long it takes, s; None leaves it free.
    cost : str, function or mapping
        The integral over time of

        * "torque": Σ τ_i², N²·m²;
        * "energy": vᵀ M v, twice the kinetic energy, J;
        * "work": Σ |τ_i v_i|, the mechanical power of all joints, W, rounded off below 1 W;
        * "losses": Σ (τ_i/k_i)², the heat of electric drives, W, with ``motor_constants`` k_i;
        * "acceleration", "jerk": the sum of their squares;
        * "time": 1;
        * a function of (q, v, a, tau) that returns one number, built of torsor's and NumPy's functions: it is traced and
          differentiated exactly;
        * a mapping of such to weights: the weighted sum, ``{"time": 1.0, "torque": 1e-3}``.
    within_limits : bool
        Keep the position, velocity and effort limits of the robot.
    acceleration, jerk, power : float or (nv,) array, optional
        More limits: of |a_i|, rad/s² or m/s², of the jerk, rad/s³ or m/s³, of |τ_i v_i|, W.
    motor_constants : float or (nv,) array, optional
        k_i of the cost "losses", N·m/√W or N/√W.
    v0, v1 : (nv,) array or "free", optional
        Velocities at the ends, rad/s or m/s; zero if not given.
    a0, a1 : (nv,) array or "free", optional
        Accelerations there, rad/s² or m/s²; free if not given.
    through : mapping, optional
        What is passed, by parts of the duration, 0 to 1: a configuration (nq,), or a mapping of tasks (`torsor.pose_task`,
        `position_task`, `function_task`, …) to targets, ``{0.5: q, 1.0: {torsor.position_task("tool"): point}}``.
    along : mapping, optional
        Tasks to targets that are kept all along: an orientation, rows of a position, a function.
    along_within : float
        How large each row of their errors may be, rad or m, the same at the ends.
    obstacles : (k, 4) array, optional
        Balls that the robot must not touch: x, y, z and radius in base axes, m.
    capsules : list of (frame, a, b, radius), optional
        What of the robot must not touch them: what is within a radius of segments from a to b (3,) in a frame, m. If not
        given, capsules around the boxes, cylinders and balls that the robot is drawn with.
    pieces : int
        Of the spline: it has that many control points and five more.
    starts : int
        How many searches, the first from the straight line, others from random ones about it; the best is kept.
    seed : int or Generator
        Of the others.
    iterations : int
        At most so many steps of each search.
    solver : {"sqp", "ipopt"}
        "ipopt": the same finite problem by IPOPT through CasADi (``pip install torsor[casadi]``), as a second opinion.
    tolerance : float
        Of the conditions of an optimum and of limits, as `OptimalMotion.residual` and ``violation`` have them.

    Returns
    -------
    OptimalMotion, or OptimalMotions of several
        With the ``motion``, its ``cost``, and what limits it. Ctrl-C returns the best so far.
    """
    refuse_strangers(robot, q0, q1, duration, instead="Its result has a `motion`, whose `at(t)` may be traced.")
    if duration is not None:
        refuse_bad_numbers(duration=duration)
    refuse_unknown_word("solver", solver, SOLVERS)
    refuse_bad_numbers(tolerance=tolerance, along_within=along_within)
    refuse_bad_count("pieces", pieces, 2, "`pieces` must be at least 2")
    refuse_bad_count("iterations", iterations, 1, "`iterations` must be at least 1")
    refuse_bad_count("starts", starts, 1, "`starts` must be at least 1")
    setting = Setting(
        robot,
        duration,
        cost,
        within_limits,
        {"acceleration": acceleration, "jerk": jerk, "power": power},
        motor_constants,
        {"v0": v0, "v1": v1, "a0": a0, "a1": a1},
        int(pieces),
        through,
        along,
        along_within,
        obstacles,
        capsules,
    )
    begin, goal = (
        None if q is None else configurations_of(robot, **{name: q})[0] for name, q in (("q0", q0), ("q1", q1))
    )
    task = Search(setting, int(starts), seed, int(iterations), tolerance, solver)
    given = {name: q for name, q in (("q0", begin), ("q1", goal)) if q is not None}
    if common_batch(given) == ():
        return replace(search(task, begin, goal), asked=(task, begin, goal))
    return solve_many(task, search, robot, begin, goal)
