"""Is a motion a minimum among those near it? Told in two ways that know nothing of each other.

The index of a motion is the number of independent variations, between the same ends, that lessen its integral to second order.
Morse's theorem [Mil63, §15] says that it is the number of conjugate points before the end: the first way follows neighbours with
derivatives of accelerations (`conjugate_points`), the second counts negative eigenvalues of the second variation of a sampled
path, which knows M, V and their first derivatives only (`second_variation`). A motion is a minimum if both find none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_bad_count, refuse_strangers
from torsor.errors import ArgumentTypeError, TorsorError
from torsor.functions.public.dynamics import kinetic_energy
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion._conjugate_points import ConjugatePoints, conjugate_points
from torsor.motion._geodesic import Geodesic
from torsor.motion._geodesic_between import geodesic_between
from torsor.motion._minimum_energy_path import PathResult
from torsor.motion._natural_motion import NaturalMotion
from torsor.motion.integration import RUN_INSIDE
from torsor.motion.motions import Motion
from torsor.motion.second_variation import Integral, eigenvalues
from torsor.motion.trajectory import Trajectory

QUICK = 0.5  # λ of a variation that cannot turn negative by what samples leave out
REFINEMENTS, MOST_NUMBERS = 2, 1200  # of samples, where they leave doubt; of numbers that vary
NEWTON_STEPS = 8  # on a table of 1001 actions; each doubles the digits


@dataclass(frozen=True, eq=False, repr=False)
class MinimalityReport(Report):
    """The answer of `is_minimal`, true if the motion is a minimum among those near it and there is no doubt.

    Attributes
    ----------
    robot : Robot
    what : str
        What is least, and of what.
    minimal : bool
    certain : bool
        Whether both ways agree, and no eigenvalue could have another sign.
    conjugate : ConjugatePoints or None
        Conjugate points of the start; None for a path that limits or given points hold back.
    negative : int
        How many independent variations lessen the integral: negative eigenvalues λ of its second variation.
    lowest : float
        The lowest λ, no unit: positive for a minimum, 1 where nothing bends.
    margin : float
        The |λ| nearest to zero.
    uncertainty : float
        Of that λ: by how much samples have been found to falsify it, which is taken out. NaN if that cannot be told.
    """

    robot: Robot
    what: str
    minimal: bool
    certain: bool
    conjugate: ConjugatePoints | None
    negative: int
    lowest: float
    margin: float
    uncertainty: float

    def __bool__(self) -> bool:
        return self.minimal and self.certain

    def __str__(self) -> str:
        lines = [f"{self.what} of robot {self.robot.name!r}: {self._answer()}"]
        if self.conjugate is None:
            lines.append("  it is held back by limits or given points: conjugate points do not apply to it.")
        else:
            first = f", the first at t = {self.conjugate[0].time:.6g} s" if len(self.conjugate) else ""
            end = "; the end itself is one, as far as can be told" if self.conjugate.end_is_conjugate else ""
            lines.append(f"  conjugate points before the end: {self.conjugate.inside}{first}{end}.")
        doubt = (
            "no estimate of its error: pass an odd number of samples"
            if np.isnan(self.uncertainty)
            else f"± {self.uncertainty:.1e}"
        )
        lines.append(
            f"  negative eigenvalues of the second variation: {self.negative}; the lowest is {self.lowest:.4g}, the one "
            f"nearest to zero has the size {self.margin:.4g} ({doubt})."
        )
        return "\n".join(lines)

    def _answer(self) -> str:
        many = f"{self.negative} independent variation{'' if self.negative == 1 else 's'} between the same ends"
        if self.certain:
            least = "a minimum among all paths near it between the same ends. Others, farther away, may have less."
            return least if self.minimal else f"NOT a minimum: {many} lessen it."
        if self.conjugate is not None and self.conjugate.end_is_conjugate:
            return (
                "undecided: its end is conjugate to its start, as far as can be told; a little longer it is no minimum."
            )
        if self.conjugate is not None and self.conjugate.inside != self.negative:
            return (
                "undecided: the two ways below differ, so the samples do not show all of the motion. Take more samples."
            )
        return "undecided: an eigenvalue may have the other sign. Take more samples."


@explained
def is_minimal(
    robot: Robot, motion: Motion | PathResult, *, fixed: str = "duration", samples: int = 61
) -> MinimalityReport:
    """Report that is true if one motion is a minimum among those near it with the same ends [PBP95, §5; Mil63, §15].

    Of geodesics the length, and the energy ∫ vᵀ M v dt; of `minimum_energy_path` its energy, within what limits and given points
    leave free; of natural motions (and others of robots without friction) Hamilton's action ∫ (T − V) dt among paths of the same
    duration, or with ``fixed="energy"`` Maupertuis' action ∫ 2 T dt among paths of the same energy.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    motion : Motion or PathResult
        As for `conjugate_points`, or what `minimum_energy_path` has found.
    fixed : str
        "duration" or "energy", as for `conjugate_points`.
    samples : int
        How many configurations the second variation looks at, both ends included; up to four times as many where these leave
        doubt. Those of a path are its own.

    Returns
    -------
    MinimalityReport
    """
    refuse_strangers(robot, motion, instead=RUN_INSIDE)
    refuse_bad_count("samples", samples, 7, "needs at least 7 samples")
    refuse_unknown_word("fixed", fixed, ("duration", "energy"))
    if isinstance(motion, PathResult):
        return _of_path(robot, motion, samples)
    if not isinstance(motion, Motion):
        own = (
            " Whether it is a minimum of its own cost says its `certificate()`."
            if hasattr(motion, "certificate")
            else ""
        )
        raise ArgumentTypeError(
            f"`motion` must be a motion or a PathResult, got {type(motion).__name__} {motion!r:.60}.{own}"
        )
    points = conjugate_points(robot, motion, fixed=fixed)
    if isinstance(motion, Geodesic):
        integral, what = Integral(), f"length of the geodesic ({motion.duration:g} s)"
    elif fixed == "energy" and isinstance(motion, NaturalMotion):
        integral, what = (
            Integral(energy=float(motion.energy)),
            f"action ∫ 2 T dt at the energy {float(motion.energy):g} J",
        )
    else:
        integral, what = Integral(duration=motion.duration), f"action ∫ (T − V) dt over {motion.duration:g} s"

    def table(count: int) -> Array:
        path = _sampled(motion, count, integral)
        free = np.ones((count, robot.nv), bool)
        free[[0, -1]] = False
        return eigenvalues(robot, path, free, integral)

    coarse, fine = table((samples + 1) // 2), table(samples)
    report = _judged(robot, what, points, fine, coarse)
    for _ in range(REFINEMENTS):
        if report.certain or points.end_is_conjugate or 2 * samples * robot.nv > MOST_NUMBERS:
            break
        samples = 2 * samples - 1
        coarse, fine = fine, table(samples)
        report = _judged(robot, what, points, fine, coarse)
    return report


def _of_path(robot: Robot, path: PathResult, samples: int) -> MinimalityReport:
    """The geodesic that a path comes near to, or the path itself if something holds it back."""
    what = f"energy of the path ({path.time[-1]:g} s, {len(path.path)} samples)"
    if not path.active_limits and not path.through:
        try:
            near = geodesic_between(robot, path.path[0], path.path[-1], duration=float(path.time[-1]), start=path.path)
        except TorsorError:
            near = None
        if near is not None and _next_to(robot, near, path):
            report = is_minimal(robot, near, samples=samples)
            return MinimalityReport(**{**report.__dict__, "what": what})
    free = np.ones((len(path.path), robot.nv), bool)
    free[[0, -1, *path.through]] = False
    for joint, where in path.active_limits.items():
        free[np.ix_(where, range(*robot.v_slice(joint).indices(robot.nv)))] = False
    fine = eigenvalues(robot, path.path, free, Integral())
    even = len(path.path) % 2 == 1 and all(k % 2 == 0 for k in path.through)
    coarse = eigenvalues(robot, path.path[::2], free[::2], Integral()) if even else np.full(len(fine), np.nan)
    return _judged(robot, what, None, fine, coarse)


def _next_to(robot: Robot, near: Geodesic, path: PathResult) -> bool:
    """Whether the geodesic found from a path is the one beside it, to the accuracy of its samples."""
    off = np.abs(difference(robot, path.path, near(path.time)[0])).max()
    return bool(off <= 0.1 * np.abs(difference(robot, path.path[:1], path.path)).max(initial=0.0))


def _judged(robot: Robot, what: str, points: ConjugatePoints | None, fine: Array, coarse: Array) -> MinimalityReport:
    """The answer from eigenvalues with all samples and with half as many: errors fall with the square of their number.

    So a third of the difference is the error; it is taken out, and counts as the uncertainty of what is left.
    """
    count = min(len(fine), len(coarse))
    slow = int(np.sum(fine[:count] < QUICK))
    looked = max(slow, 1)
    errors = (fine[:looked] - coarse[:looked]) / 3.0
    values = fine[:looked] + np.where(np.isnan(errors), 0.0, errors)
    # False where errors are not known, or where there may be more that are slow.
    sure = (slow < count or count == len(fine)) and bool(np.all(np.abs(values) > np.abs(errors)))
    negative, nearest = int(np.sum(values < 0.0)), int(np.argmin(np.abs(values)))
    agree = points is None or (points.inside == negative and not points.end_is_conjugate)
    return MinimalityReport(
        robot=robot,
        what=what,
        minimal=negative == 0,
        certain=sure and agree,
        conjugate=points,
        negative=negative,
        lowest=float(values.min()),
        margin=float(np.abs(values[nearest])),
        uncertainty=float(np.abs(errors[nearest])),
    )


def _sampled(motion: Motion, count: int, integral: Integral) -> Array:
    """Configurations (count, nq) at even times, or at even actions, for which the energy in Jacobi's metric is stationary."""
    start = float(motion.time[0]) if isinstance(motion, Trajectory) else 0.0
    if integral.energy is None or not isinstance(motion, NaturalMotion):
        times = start + np.linspace(0.0, motion.duration, count)
        return np.asarray(motion(times)[0] if isinstance(motion, (Geodesic, NaturalMotion)) else motion.at(times).q)
    table = np.linspace(0.0, motion.duration, 1001)
    wanted = np.linspace(0.0, float(motion.action[-1]), count)
    times = np.interp(wanted, motion.action_at(table), table)
    for _ in range(NEWTON_STEPS):
        speed = 2.0 * kinetic_energy(motion.robot, *motion(times))
        times = np.clip(times - (motion.action_at(times) - wanted) / speed, 0.0, motion.duration)
    return np.asarray(motion(times)[0])
