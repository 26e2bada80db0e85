"""Curves of a fibre of one dimension through given configurations, each once, and which of them meet.

A curve may end in a singular configuration. In each direction in which others leave it a new start is taken, so that all curves
of a connected piece are found from any of its points.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot
from torsor.redundancy._self_motion import SelfMotion, self_motion
from torsor.redundancy.configurations import angle_difference, is_regular, jacobian_at, room, same_configuration
from torsor.redundancy.fibres import (
    SingularConfiguration,
    is_on_fibre,
    onto_fibre,
    self_motion_direction,
    singular_nearby,
)
from torsor.redundancy.task_places import is_frame, place
from torsor.tasks import Task

BESIDE = 0.1  # of the distance between samples: how far from a singular configuration curves that leave it are started
CHORDS = 3  # of a curve, nearest to a configuration: from there it is looked for along the curve
SLIDES = 8  # along the curve towards it
SHRUNK = 1e-3  # rad or m, and of singular values of J: how near Newton's method comes to a fibre that is one point
ON_IT = 1e-6  # rad or m: how near that must lead


class FibreArcs:
    """Collects the curves of the fibre through q."""

    def __init__(self, robot: Robot, q: Array, task: Task, step: float, *, longest: float, within_limits: bool) -> None:
        self.robot, self.task, self.step, self.longest, self.limits = robot, task, step, longest, within_limits
        self.target = place(robot, q, task)
        self.curves: list[SelfMotion] = []
        self.piece: list[int] = []  # of each curve: the number of the piece that it is part of
        self.singular: list[SingularConfiguration] = []
        self.piece_of_singular: list[int] = []
        self._pieces = 0

    def piece_of(self, q: Array) -> int:
        """The number of the piece through a regular configuration q (nq,); if it is new, all of its curves are traced."""
        q = onto_fibre(self.robot, q, self.task, self.target) if is_frame(self.task) else q
        if (known := self._known(q)) is not None:
            return self.piece[known]
        if (alone := self._isolated(q)) is not None:
            return self.piece_around(alone)
        return self._new_piece([q])

    def piece_around(self, singular: SingularConfiguration) -> int:
        """The number of the piece that contains a singular configuration."""
        for one, piece in zip(self.singular, self.piece_of_singular, strict=True):
            if same_configuration(self.robot, singular.q, one.q):
                return piece
        self.singular.append(singular)
        self.piece_of_singular.append(self._pieces)
        return self._new_piece(self._starts_beside(singular))

    def _isolated(self, q: Array) -> SingularConfiguration | None:
        """The configuration to which the fibre shrinks at q, if it does: Newton's method ends beside it."""
        if not is_frame(self.task) or is_regular(self.robot, q, self.task.jacobian(self.robot, q), 1.0 / SHRUNK):
            return None
        found = singular_nearby(self.robot, q, self.task, self.target)
        if found is None or not found.is_isolated or not is_on_fibre(found, self.robot, self.task):
            return None
        return found if np.linalg.norm(angle_difference(self.robot, q, found.q)) < SHRUNK else None

    def _new_piece(self, waiting: list[Array]) -> int:
        number, self._pieces = self._pieces, self._pieces + 1
        while waiting:
            start = waiting.pop(0)
            if self._known(start) is not None:
                continue
            curve = self_motion(
                self.robot, start, self.task, spacing=self.step, longest=self.longest, within_limits=self.limits
            )
            if self._known(self._most_regular(curve)) is not None:
                continue  # around a sharp bend, where the start was not recognised
            self.curves.append(curve)
            self.piece.append(number)
            for end in curve.singular:
                if not any(same_configuration(self.robot, end.q, known.q) for known in self.singular):
                    self.singular.append(end)
                    self.piece_of_singular.append(number)
                    waiting += self._starts_beside(end)
        return number

    def _starts_beside(self, singular: SingularConfiguration) -> list[Array]:
        """Configurations (nq,) on the curves that leave a singular configuration."""
        if not len(singular.directions):
            return []
        moves = BESIDE * self.step * singular.directions
        beside = integrate(self.robot, np.broadcast_to(singular.q, (len(moves), self.robot.nq)), moves)
        beside = onto_fibre(self.robot, np.asarray(beside), self.task, self.target)
        return [q for q in beside if not self.limits or room(self.robot, q) >= 0.0]

    def _most_regular(self, curve: SelfMotion) -> Array:
        J = jacobian_at(self.robot, curve.q, self.task)
        sigma = np.linalg.svd(J, compute_uv=False)
        return np.asarray(curve.q[int(np.argmax(sigma[:, -1]))])

    def _known(self, q: Array) -> int | None:
        """The number of a curve on which q (nq,) lies, if there is one."""
        for number, curve in enumerate(self.curves):
            if any(self._leads_to(near, q) for near in self._nearest(curve, q)):
                return number
        return None

    def _nearest(self, curve: SelfMotion, q: Array) -> list[Array]:
        """The nearest points (nq,) to q on chords between samples of a curve, where these are nearer than half a step."""
        gaps = angle_difference(self.robot, q, curve.q)  # from q to each sample
        chords = angle_difference(self.robot, curve.q[:-1], curve.q[1:])
        square = np.maximum(np.sum(chords * chords, axis=-1), 1e-300)
        s = np.clip(-np.sum(gaps[:-1] * chords, axis=-1) / square, 0.0, 1.0)
        apart = np.linalg.norm(gaps[:-1] + s[:, None] * chords, axis=-1)
        some = [k for k in np.argsort(apart)[:CHORDS] if apart[k] <= 0.5 * self.step]
        return [np.asarray(integrate(self.robot, curve.q[k], s[k] * chords[k])) for k in some]

    def _leads_to(self, here: Array, q: Array) -> bool:
        """Whether the fibre leads from here to q, both (nq,), by sliding towards it along the fibre.

        Not across a singular configuration: beyond it z points back.
        """
        target = place(self.robot, q, self.task)
        here = onto_fibre(self.robot, here, self.task, target)
        first, last = (self_motion_direction(self.robot, x, self.task) for x in (here, q))
        if not first @ last > 0.0:
            return False
        for _ in range(SLIDES):
            apart = angle_difference(self.robot, here, q)
            if np.linalg.norm(apart) < ON_IT:
                return True
            z = self_motion_direction(self.robot, here, self.task)
            if not np.isfinite(z).all() or np.linalg.norm(apart) > self.step:
                return False
            here = np.asarray(integrate(self.robot, here, (z @ apart) * z))
            here = onto_fibre(self.robot, here, self.task, target)
        return False
