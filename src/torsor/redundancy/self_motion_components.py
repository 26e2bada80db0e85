"""How many pieces does a self-motion manifold have? Ways of doing one task that no self-motion leads from one to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.arguments import explained
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import TorsorError
from torsor.model import Robot
from torsor.motion.border import refuse_bad_count, refuse_bad_numbers
from torsor.redundancy.angle_difference import angle_difference
from torsor.redundancy.joined_solutions import joined_groups
from torsor.redundancy.same_task import solutions
from torsor.redundancy.self_motion import SelfMotion, self_motion
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.task_values import WHY, has_value
from torsor.tasks import Task, as_task

WHO = "self_motion_components"


@dataclass(frozen=True, eq=False)
class SelfMotionComponents:
    """The pieces that were found, of ``dimension`` nv − m.

    ``solutions``: of each piece the configurations (k, nq) that led to it, rad or m, the first piece that of q; ``found``
    (len,): how many these are, of ``starts`` in all. ``components``: of each piece its curve where ``dimension`` is 1, else none.
    """

    robot: str
    components: tuple[SelfMotion, ...]
    found: Array
    starts: int
    dimension: int
    solutions: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.solutions)

    def __str__(self) -> str:
        pieces = f"{len(self)} component{'' if len(self) == 1 else 's'}"
        head = f"self-motion of robot {self.robot!r}: {pieces} found from {self.starts} solutions"
        if self.dimension > 1:
            counts = ", ".join(str(int(n)) for n in self.found)
            return f"{head}, of {self.dimension} dimensions, with {counts} of them"
        lines = [f"  {int(n)} on {str(c).partition(': ')[2]}" for n, c in zip(self.found, self.components, strict=True)]
        return "\n".join([head, *lines])


@explained
def self_motion_components(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    step: float = 0.05,
    *,
    starts: int = 40,
    seed: int = 0,
    longest: float = 100.0,
) -> SelfMotionComponents:
    """The pieces of ρ⁻¹(ρ(q)), sampled: self-motions that never meet, modulo whole turns of joints [Alt04, §II.B].

    Random configurations are led to where the task is at ``q`` (nq,), rad or m, by Newton's method. Where nv − m = 1, each that
    lies on no curve known so far (within half a ``step``, rad or m, of its samples and their chords) starts a new one. Where it
    is more, those between which a self-motion is found are one piece: from each the null-space flow towards each other one,
    q' = (1 − J⁺J) (q_other − q), is followed. A piece that no start was led to is not found; with more dimensions, two may be
    one, if all flows between them got stuck. Limits are not looked at. A curve cut by a singular configuration counts as several.
    """
    q = single_configuration(WHO, robot, q)
    found = as_task(robot, task)
    refuse_bad_numbers(WHO, step=step, longest=longest)
    refuse_bad_count(WHO, "starts", starts, 1, "`starts` must be positive")
    dimension = robot.nv - found.size
    if dimension < 1:
        raise TorsorError(
            f"{WHO}: robot {robot.name!r} has {robot.nv} degrees of freedom for {found.size} rows, and no self-motion."
        )
    if not has_value(robot, found):
        raise TorsorError(f"{WHO}: which configurations do the same is not known of this task, for {WHY}.")
    led = solutions(robot, q, found, starts, seed)
    curves: list[SelfMotion] = []
    if dimension > 1:
        groups = joined_groups(robot, found, led)
    else:
        groups = []
        for number, solution in enumerate(led):
            near = [k for k, curve in enumerate(curves) if _distance(robot, solution, curve) < 0.5 * step]
            if near:
                groups[near[0]].append(number)
            else:
                curves.append(self_motion(robot, solution, found, step, longest=longest))
                groups.append([number])
    counts = np.array([len(group) for group in groups])
    pieces = tuple(led[group] for group in groups)
    return SelfMotionComponents(robot.name, tuple(curves), counts, len(led), dimension, pieces)


def _distance(robot: Robot, q: Array, curve: SelfMotion) -> float:
    """From q to the chords between the samples of a curve, rad or m, modulo whole turns."""
    gaps = angle_difference(robot, q, curve.q)  # from q to each sample
    a, b = gaps[:-1], gaps[1:]
    chord = b - a
    broken = np.linalg.norm(chord, axis=-1) > np.pi  # a chord across the cut of an angle
    square = np.where(broken, 1.0, np.sum(chord * chord, axis=-1))
    s = np.clip(-np.sum(a * chord, axis=-1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    between = np.linalg.norm(a + s[:, None] * chord, axis=-1)
    return float(min(np.min(np.linalg.norm(gaps, axis=-1)), np.min(np.where(broken, np.inf, between), initial=np.inf)))
