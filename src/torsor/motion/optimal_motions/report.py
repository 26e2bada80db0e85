"""What is told of an optimal motion: what it costs, which limits hold it back and what they cost, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor._reports import Report, in_one_line, table
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.motion.tangent_motion import TangentMotion

if TYPE_CHECKING:
    from torsor.motion.optimal_motions.certificate import OptimalityReport
    from torsor.motion.trajectory import Trajectory

SAMPLES = 200  # of the trajectory


@in_one_line
class ActiveLimit(NamedTuple):
    """A limit that holds an optimal motion back; as text, a sentence.

    Attributes
    ----------
    name : str
        The joint, or what else is limited.
    limit : str
        "position", "velocity", "effort", "acceleration", "jerk", "power", or what a task or an obstacle is called.
    bound : float
        The limit, in ``unit``.
    unit : str
    first, last : float
        When it is active first and last, s.
    price : float
        By how much the cost falls, per unit, when the limit is widened a little.
    """

    name: str
    limit: str
    bound: float
    unit: str
    first: float
    last: float
    price: float

    def __str__(self) -> str:
        when = (
            f"at {self.first:.4g} s" if self.first == self.last else f"between {self.first:.4g} and {self.last:.4g} s"
        )
        per = self.unit or "unit"
        return (
            f"{self.name}: {self.limit} is at {self.bound:.5g} {self.unit}".rstrip()
            + f" {when}; each {per} more would save {self.price:.3g}."
        )


@in_one_line
class Relaxation(NamedTuple):
    """A limit that a motion would have to pass; as text, a sentence.

    Attributes
    ----------
    name, limit, unit : str
        As of `ActiveLimit`.
    bound, needed : float
        The limit, and the value in the motion that passes the limits least.
    time : float
        When, s.
    """

    name: str
    limit: str
    bound: float
    needed: float
    unit: str
    time: float

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.limit} {self.needed:.5g} {self.unit}".rstrip()
            + f" at {self.time:.4g} s, where {self.bound:.5g} is allowed."
        )


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotion(Report):
    """A motion that makes a cost least within limits, at least among motions nearby; true if it converged.

    Attributes
    ----------
    robot : Robot
    motion : TangentMotion
        The motion; `trajectory` has samples of it with torques.
    cost : float
        What is least: the integral over time, in the units of the cost (torque: N²·m²·s).
    parts : dict
        The integral of each part of the cost, without its weight.
    converged : bool
        Whether the conditions of an optimum hold to the tolerance, and all limits.
    infeasible : bool
        Whether the limits contradict each other near where it ended: then ``relax`` says which.
    interrupted : bool
        Whether Ctrl-C ended it; this is the best so far.
    iterations : int
        Quadratic programs that were solved.
    residual : float
        Of the conditions of Karush, Kuhn and Tucker, with the cost divided by that of the start: the largest entry of the
        gradient of the Lagrangian, per rad or m, and of multiplier times distance to the limit.
    violation : float
        The largest excess over a limit at the nodes, as a part of the limit.
    overshoot : float
        The same on a grid ten times finer.
    second_order : bool
        Whether the Hessian of the Lagrangian is positive definite along what active limits leave free: a strict minimum of the
        discretised problem.
    active : tuple of ActiveLimit
        The limits that hold it back, the dearest first, by what a wider one would save.
    relax : tuple of Relaxation
        What would have to be relaxed, if it is infeasible.
    notes : tuple of str
        What was done beyond what was asked for.
    history : (iterations + 1, 3) array
        Cost, violation and residual of each iterate.
    asked : tuple or None
        What was asked for, as the search was given it, for `certificate`.
    """

    robot: Robot
    motion: TangentMotion
    cost: float
    parts: dict[str, float]
    converged: bool
    infeasible: bool
    interrupted: bool
    iterations: int
    residual: float
    violation: float
    overshoot: float
    second_order: bool
    active: tuple[ActiveLimit, ...]
    relax: tuple[Relaxation, ...]
    notes: tuple[str, ...]
    history: Array
    asked: tuple[Any, ...] | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.converged

    @property
    def duration(self) -> float:
        """How long it takes, s."""
        return self.motion.duration

    @once
    def trajectory(self) -> Trajectory:
        """Two hundred samples and the end, with joint forces."""
        return self.motion.sample(times=np.linspace(0.0, self.duration, SAMPLES + 1))

    @explained
    def certificate(self) -> OptimalityReport:
        """Whether it is a minimum among all motions near it, and not of its own spline alone.

        The index of the second variation within the limits that hold it back, on this spline and on one of twice as many pieces,
        where the motion is sought once more [Hes51].

        Returns
        -------
        OptimalityReport
            True if it is a minimum, and there is no doubt.
        """
        from torsor.motion.optimal_motions.certificate import certified

        if self.asked is None:
            raise ArgumentError("this report does not know its problem: ask the one that `optimal` has returned.")
        if not self.converged:
            raise ArgumentError(
                "this motion is no optimum, for its search has not converged: pass more `iterations`, or other limits."
            )
        task, q0, q1 = self.asked
        return certified(self.robot, task, q0, q1, self.motion)

    def plot(self, **options: Any) -> Any:
        """Picture of joint forces within their bands (`torsor.plot.torque_limits`).

        Parameters
        ----------
        **options
            As for `torsor.plot.torque_limits`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import torsor

        return torsor.plot.torque_limits(self.motion, **options)

    def __str__(self) -> str:
        how = "converged" if self.converged else "interrupted" if self.interrupted else "NOT converged"
        lines = [
            f"optimal motion of robot {self.robot.name!r}: {self.duration:.4g} s, cost {self.cost:.6g}, {how} after "
            f"{self.iterations} iterations"
        ]
        if len(self.parts) > 1:
            lines += table([["  part", "integral"], *([f"  {k}", f"{x:.6g}"] for k, x in self.parts.items())], "<>")
        lines.append(
            f"  conditions of an optimum to {self.residual:.1e}, limits passed by {self.violation:.1e} of them at most, by "
            f"{self.overshoot:.1e} between nodes"
        )
        if self.converged:
            sure = (
                "a strict minimum" if self.second_order else "not known to be a minimum: directions without curvature"
            )
            lines.append(f"  second-order conditions: {sure}")
        if self.infeasible:
            lines.append("  No motion near this one keeps all limits. The one that passes them least needs:")
            lines += [f"    {one}" for one in self.relax]
            lines.append("  Relax these, allow more time, or start from another motion.")
        elif self.active:
            lines.append("  limits that hold it back:")
            lines += [f"    {one}" for one in self.active]
        elif self.converged:
            lines.append("  no limit holds it back")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])
