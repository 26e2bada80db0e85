"""How many pieces does a self-motion manifold have? Ways of doing one task that no self-motion leads from one to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import TorsorError
from torsor.functions import integrate
from torsor.model import Robot, random_configuration
from torsor.motion.border import refuse_bad_count, refuse_bad_numbers
from torsor.redundancy.angle_difference import angle_difference
from torsor.redundancy.regularity import is_regular
from torsor.redundancy.self_motion import SelfMotion, self_motion
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.task_displacement import displacement, place
from torsor.task_functions import pseudoinverse_lift
from torsor.tasks import Task, as_task

WHO = "self_motion_components"
STEPS = 60  # of Newton's method from each random start
LARGEST = 0.5  # step of it, rad or m: longer ones are shortened


@dataclass(frozen=True, eq=False)
class SelfMotionComponents:
    """The pieces that were found: ``components``, and ``found`` (len,): how many of ``starts`` random starts led to each."""

    robot: str
    components: tuple[SelfMotion, ...]
    found: Array
    starts: int

    def __len__(self) -> int:
        return len(self.components)

    def __str__(self) -> str:
        lines = [f"self-motion of robot {self.robot!r}: {len(self)} components found from {self.starts} solutions"]
        lines += [
            f"  {int(n)} on {str(c).partition(': ')[2]}" for n, c in zip(self.found, self.components, strict=True)
        ]
        return "\n".join(lines)


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
    """The pieces of ρ⁻¹(ρ(q)) for nv − m = 1, sampled: curves that never meet, modulo whole turns of joints [Alt04, §II.B].

    Random configurations are led to where the task is at ``q`` (nq,), rad or m, by Newton's method, and each that lies on no
    curve known so far (within half a ``step``, rad or m, of its samples and their chords) starts a new one. A piece that no
    start was led to is not found; limits are not looked at. A curve cut by a singular configuration counts as several.
    """
    found = as_task(robot, task)
    q = single_configuration(WHO, robot, q)
    refuse_bad_numbers(WHO, step=step, longest=longest)
    refuse_bad_count(WHO, "starts", starts, 1, "`starts` must be positive")
    if robot.nv != found.size + 1:
        raise TorsorError(f"{WHO}: self-motions are curves where nv − m = 1; here it is {robot.nv - found.size}.")
    curves: list[SelfMotion] = []
    counts: list[int] = []
    solutions = _solutions(robot, q, found, starts, seed)
    for solution in solutions:
        for k, curve in enumerate(curves):
            if _distance(robot, solution, curve) < 0.5 * step:
                counts[k] += 1
                break
        else:
            curves.append(self_motion(robot, solution, found, step, longest=longest))
            counts.append(1)
    return SelfMotionComponents(robot.name, tuple(curves), np.array(counts), len(solutions))


def _solutions(robot: Robot, q: Array, task: Task, starts: int, seed: int) -> Array:
    """Configurations (k, nq) that do to the task what q does, q first."""
    some = random_configuration(robot, seed=seed, batch=(starts,))
    target = tuple(np.broadcast_to(part, (starts, *part.shape)) for part in place(robot, q, task))
    for _ in range(STEPS):
        error = displacement(task, place(robot, some, task), target)
        dq = np.nan_to_num(np.einsum("kia,ka->ki", pseudoinverse_lift(robot, some, task), error))
        size = np.linalg.norm(dq, axis=-1, keepdims=True)
        some = integrate(robot, some, dq * np.minimum(1.0, LARGEST / np.maximum(size, 1e-300)))
    arrived = np.linalg.norm(displacement(task, place(robot, some, task), target), axis=-1) < 1e-9
    J = np.broadcast_to(task.jacobian(robot, some), (starts, task.size, robot.nv))
    return np.concatenate([q[None], some[arrived & is_regular(robot, some, J)]])


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
