"""How a simulated motion depends on its start, its joint forces and its robot: derivatives through the steps taken.

Displacements of a state are x = (δq, δv), with q ⊕ δq on the body side, as in `torsor.linearise`; p are numbers of the robot.
Step k is x_k+1 = A_k x_k + B_k δτ_k + C_k δp::

    x_k+1 = A_k x_k + B_k δτ_k + C_k δp                                    forward, along a direction
    λ_k = w_k + A_kᵀ λ_k+1,   ∂/∂τ_k = B_kᵀ λ_k+1,   ∂/∂p = Σ C_kᵀ λ_k+1   of Σ w_k · x_k, backward: one sweep for all

The matrices are not formed: a loop in machine code goes through the derivative of each step (`step_derivatives.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor._reports import in_one_line
from torsor.arrays import as_numbers
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError, unknown_name
from torsor.model.parameters import meant_by
from torsor.motion.trajectory import Trajectory
from torsor.simulation.linear_recurrence import recurrence
from torsor.simulation.linear_steps import LinearSteps
from torsor.simulation.step_relation import GROUPS, group_shape

_NOTHING: Mapping[str, Any] = MappingProxyType({})
WHOLE_STEP = 12  # joints: the derivative of a variational step of more takes too long to compile


@in_one_line
class Pullback(NamedTuple):
    """The gradient of Σ w_k · x_k.

    Attributes
    ----------
    start : (..., 2 nv) array
        By the initial state (δq, δv).
    tau : (..., N − 1, nv) array
        By the joint forces of each step; their sum over the steps is that by a constant force.
    parameters : dict of arrays
        By the robot's numbers, (..., *shape) for each group that was named.
    """

    start: Array
    tau: Array
    parameters: dict[str, Array]


@in_one_line
class ModeChange(NamedTuple):
    """A moment at which a joint began or ended to be held, to slide or to touch a stop.

    Attributes
    ----------
    time : float
        s.
    joints : tuple of str
        Who changed.
    trajectory : tuple of int
        Which one of a batch.
    """

    time: float
    joints: tuple[str, ...]
    trajectory: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities:
    """Derivatives of a motion of N samples through its N − 1 steps.

    Parameters
    ----------
    run : Trajectory
        The motion.
    wrt : tuple of str
        Groups of the robot's numbers.
    """

    run: Trajectory
    wrt: tuple[str, ...]

    @once
    def _steps(self) -> LinearSteps:
        return LinearSteps(self.run, self.wrt)

    def __repr__(self) -> str:
        """How many steps there are, of how many numbers."""
        nv, by = self.run.robot.nv, "".join(f", {group}" for group in self.wrt)
        changes = f"; changes of mode: {len(self.mode_changes)}" if self.mode_changes else ""
        return f"Sensitivities of {len(self.run) - 1} steps by {2 * nv} numbers of the state, {nv} forces{by}{changes}"

    @once
    def mode_changes(self) -> tuple[ModeChange, ...]:
        """When joints came to be held or free, turned round, or touched a stop: derivatives to one side end there."""
        names, found = self.run.robot.structure.freedoms, list[ModeChange]()
        for _, step in self.run.steps.careful_steps():
            modes = [*(part.mode for part in step.parts), step.after]
            for k, part in enumerate(step.parts):
                after = step.parts[k + 1] if k + 1 < len(step.parts) else None
                jumped = np.zeros(len(names), bool) if after is None else after.v != part.v_end
                differ = np.any([x != y for x, y in zip(modes[k], modes[k + 1], strict=True)], axis=0) | jumped
                if after is not None and np.any(differ):
                    place = np.unravel_index(step.which, self.run.batch) if self.run.batch else ()
                    who = tuple(names[i] for i in np.flatnonzero(differ))
                    found.append(ModeChange(part.t + part.h, who, tuple(int(x) for x in place)))
        return tuple(sorted(found, key=lambda change: (change.trajectory, change.time)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about these derivatives, in words."""
        changes, words = self.mode_changes, list[str]()
        if changes:
            shown = [f"{c.time:.6g} s ({', '.join(c.joints)})" for c in changes[:5]]
            often = f"{len(changes)} times" if len(changes) > 1 else "once"
            words.append(
                f"the mode changes {often}: {', '.join(shown)}{' …' if len(changes) > 5 else ''}; the derivatives follow these "
                "moments as they move, and hold as long as their order stays."
            )
        return (*words, *self._steps.words)

    @once
    def A(self) -> Array:
        """(..., N − 1, 2 nv, 2 nv): the state after each step by that before."""
        return self._matrices[..., : 2 * self.run.robot.nv]

    @once
    def B(self) -> Array:
        """(..., N − 1, 2 nv, nv): the state after each step by its joint forces."""
        return self._matrices[..., 2 * self.run.robot.nv :]

    @property
    def _matrices(self) -> Array:
        found = self._steps.matrices
        return found.reshape(*self.run.batch, *found.shape[1:])

    def by_start(self) -> Array:
        """(..., N, 2 nv, 2 nv): every sample's state by the initial state."""
        n = 2 * self.run.robot.nv
        return self._chain(np.broadcast_to(np.eye(n), (self._steps.B, n, n)), None)

    def by_constant_force(self) -> Array:
        """(..., N, 2 nv, nv): every sample's state by a change of all joint forces alike."""
        nv = self.run.robot.nv
        return self._chain(np.zeros((self._steps.B, 2 * nv, nv)), self._steps.matrices[..., 2 * nv :])

    def _chain(self, start: Array, more: Array | None) -> Array:
        """All samples (..., N, 2 nv, m) from a start (B, 2 nv, m) and what each step adds."""
        after = recurrence(self._steps.matrices[..., : start.shape[-2]], start, more)
        found = np.concatenate([start[:, None], after], axis=1)
        return found.reshape(*self.run.batch, *found.shape[1:])

    def by_parameters(self) -> dict[str, Array]:
        """(..., N, 2 nv, *shape) for each group of ``wrt``: every sample's state by the robot's numbers."""
        robot, found = self.run.robot, {}
        for group in self.wrt:
            shape = group_shape(robot, group)
            size = int(np.prod(shape))
            pushed = _last(self._push(size, own={group: np.eye(size).reshape(size, 1, *shape)}))
            found[group] = pushed.reshape(*pushed.shape[:-1], *shape)
        return found

    def of_end_by_forces(self) -> Array:
        """(..., N − 1, 2 nv, nv): the last state by the joint forces of each step."""
        n, steps = 2 * self.run.robot.nv, self._steps
        backward = np.swapaxes(steps.matrices[:, :0:-1, :, :n], -1, -2)  # not through the first step
        one = np.broadcast_to(np.eye(n), (steps.B, 1, n, n))
        after = np.concatenate([one, recurrence(backward, one[:, 0])], axis=1) if steps.N > 1 else one
        found = np.swapaxes(after[:, ::-1], -1, -2) @ steps.matrices[..., n:]
        return found.reshape(*self.run.batch, *found.shape[1:])

    def pushforward(self, start: Any = 0.0, tau: Any = 0.0, parameters: Mapping[str, Any] | None = None) -> Array:
        """How every sample moves along a direction.

        Parameters
        ----------
        start : (..., 2 nv) array
            Change of the initial state (δq, δv).
        tau : (..., N − 1, nv) array
            Change of the joint forces of each step, N·m or N.
        parameters : mapping of names to (..., *shape) arrays, optional
            Changes of the robot's numbers, of groups that are in ``wrt``.

        Returns
        -------
        (..., N, 2 nv) array
        """
        robot, batch, steps = self.run.robot, self.run.batch, len(self.run) - 1
        moves = dict(parameters or {})
        for group in moves:
            if group not in self.wrt:
                raise ArgumentError(f"pushforward: {group!r} is not in wrt={self.wrt!r} of these sensitivities.")
        x = _shaped("start", start, (*batch, 2 * robot.nv))
        forces = _shaped("tau", tau, (*batch, steps, robot.nv))
        B, shapes = math.prod(batch), {group: group_shape(robot, group) for group in moves}
        own = {
            group: _shaped(group, x, (*batch, *shapes[group])).reshape(1, B, *shapes[group])
            for group, x in moves.items()
        }
        return self._push(1, x.reshape(1, B, 2 * robot.nv), forces.reshape(1, B, steps, robot.nv), own)[0]

    def pullback(self, weights: Any) -> Pullback:
        """The gradient of Σ w_k · x_k, in one sweep back.

        Parameters
        ----------
        weights : (..., N, 2 nv) array
            Of all samples; or (..., 1, 2 nv), of the last.

        Returns
        -------
        Pullback
            By the initial state, by the joint forces of each step, and by the robot's numbers.
        """
        n, batch, N = 2 * self.run.robot.nv, self.run.batch, len(self.run)
        w = np.asarray(as_numbers(weights), float)
        if w.ndim < 2 or w.shape[-1] != n or w.shape[-2] not in (1, N):
            raise ShapeError(
                f"pullback: `weights` must have shape (..., {N}, {n}) for all samples or (..., 1, {n}) for the last, got "
                f"{w.shape}."
            )
        given = np.zeros((*batch, N, n))
        given[..., N - w.shape[-2] :, :] = w
        start, tau, by = self._steps.pulled(given.reshape(1, math.prod(batch), N, n))
        found = {group: x[0].reshape(*batch, *x.shape[2:]) for group, x in by.items()}
        return Pullback(start[0].reshape(*batch, n), tau[0].reshape(*batch, N - 1, n // 2), found)

    def _push(self, rows: int, start: Any = 0.0, tau: Any = 0.0, own: Mapping[str, Any] = _NOTHING) -> Array:
        """(rows, ..., N, 2 nv) along several directions, (rows, B, …) each or what broadcasts to it."""
        robot, batch, N = self.run.robot, self.run.batch, len(self.run)
        lead = (rows, math.prod(batch))
        groups = {x: np.broadcast_to(own.get(x, 0.0), (*lead, *group_shape(robot, x))) for x in self.wrt}
        x = np.broadcast_to(start, (*lead, 2 * robot.nv))
        found = self._steps.pushed(x, np.broadcast_to(tau, (*lead, N - 1, robot.nv)), groups)
        return found.reshape(rows, *batch, N, 2 * robot.nv)


@explained
def sensitivities(run: Trajectory, *, wrt: str | Sequence[str] = ()) -> Sensitivities:
    """Derivatives of a simulated motion by its initial state, its joint forces and its robot, through the steps taken.

    Parameters
    ----------
    run : Trajectory
        What `torsor.simulate` has given with ``dt`` and all its steps (``every=1``), or a part of it, ``run[:100]``. It knows its
        method, its stops and the mode of each step.
    wrt : str or sequence of str
        Groups of the robot's numbers, as in `torsor.derivative`: "inertias", "gravity", "armature", "viscous_friction",
        "coulomb_friction", "stiffness", "rest", "screws", "pitches", "poses", "frame_poses".

    Returns
    -------
    Sensitivities
        Of N samples, in rad or m and rad/s or m/s of the state: ``by_start()`` (..., N, 2 nv, 2 nv), ``by_constant_force()``
        (..., N, 2 nv, nv), ``by_parameters()`` (..., N, 2 nv, *shape), ``of_end_by_forces()`` (..., N − 1, 2 nv, nv); forward
        along a direction ``pushforward(start, tau, parameters)``, and backward ``pullback(weights)``; ``mode_changes``.

    Notes
    -----
    They are the derivatives of the numbers that `simulate` gives. A joint that is held by friction or a stop stays where it is; a
    drive at its effort limit gives no more. In a step in which that changes, the moment is located, and it moves with the start
    and the forces; that is part of the derivative [KPZJ24], and ``mode_changes`` says when it was. Of a controller whose
    answer is held, the forces that it gave are taken as numbers; a law that acts at every stage (``control_dt=0``) belongs to
    the step.

    Each step is taken once more, and where it does not lead to the next sample, because samples were changed by hand, the times
    are said and nothing is returned.
    """
    if not isinstance(run, Trajectory):
        raise ArgumentTypeError(f"`run` must be a torsor.Trajectory, got {run!r:.60}.")
    groups = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for group in groups:
        if group not in GROUPS:
            both, plural = "group of parameters", "groups of parameters"
            raise unknown_name("a robot", both, group, GROUPS, ", ".join(GROUPS), plural=plural, meant=meant_by(group))
        if not np.prod(group_shape(run.robot, group)):
            raise ArgumentError(f"robot {run.robot.name!r} has no {group} to differentiate by.")
    if len(run) < 2:
        raise ArgumentError("`run` has one sample, and no step.")
    _refuse_other_steps(run)
    return Sensitivities(run, tuple(dict.fromkeys(groups)))


def _refuse_other_steps(run: Trajectory) -> None:
    """Raise where the steps between the samples are not known, or not to be differentiated."""
    steps = run.steps
    if steps is None:
        raise ArgumentError(
            "`run` does not know the steps that made it: pass what torsor.simulate gave with `dt`, not what was loaded, "
            "joined or copied. Variational steps of more than 12 joints are not kept either."
        )
    if run.robot != steps.stepping.robot:
        raise ArgumentError("the robot of `run` is not the one that was simulated.")
    odd = np.flatnonzero((np.diff(steps.numbers) != 1) | (steps.numbers[1:] < 0))
    if len(odd):
        when = f"after {run.time[odd[0]]:.6g} s"
        raise ArgumentError(
            f"the samples of `run` are not one step apart, first {when}: simulate with every=1; if an event ended the motion, "
            "pass run[:-1]."
        )
    if not (np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.v))):
        raise ArgumentError("`run` has samples that are not finite, where trajectories of a batch had ended.")
    if not steps.stepping.is_traceable:
        raise ArgumentError(
            "a wrench, a law or a motion of the base was called from Python at every stage, and its derivative is not known: "
            "write it with functions that can be traced (`torsor.compile`), or hold it over steps."
        )
    if steps.stepping.is_variational and run.robot.n > WHOLE_STEP:
        raise ArgumentError(
            f"derivatives of variational steps are for robots of up to {WHOLE_STEP} joints, and {run.robot.name!r} has "
            f'{run.robot.n}: simulate with method="implicit_midpoint".'
        )
    acted = [part.t + part.h for _, step in steps.careful_steps() for part in step.parts if part.acted]
    if acted:
        raise ArgumentError(
            f"an event acted at {acted[0]:.6g} s, and the derivative of its action is not known: differentiate the motion "
            "before and after it, as parts run[:k] and run[k:]."
        )


def _shaped(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Numbers of one trajectory each, or the same for all of them."""
    found = np.asarray(as_numbers(value), float)
    try:
        return np.broadcast_to(found, shape)
    except ValueError:
        raise ShapeError(f"pushforward: `{name}` must have shape {shape}, got {found.shape}.") from None


def _last(x: Array) -> Array:
    """Directions (rows, ...) as the last axis."""
    return np.moveaxis(x, 0, -1)
