"""How a simulated motion depends on its start and its joint forces: products of the derivatives of the steps taken.

Displacements of a state are x = (δq, δv), with q ⊕ δq on the body side, as in `torsor.linearise`. Step k is
x_k+1 = A_k x_k + B_k δτ_k::

    X_k+1 = A_k X_k,   X_0 = 1                              by the initial state, forward
    λ_k = w_k + A_kᵀ λ_k+1,   ∂/∂τ_k = B_kᵀ λ_k+1           of Σ w_k · x_k, backward: one sweep for all forces
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import in_one_line
from torsor.arrays import as_numbers
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics
from torsor.functions.public.kinematics import difference
from torsor.linearisation import DERIVATIVES, linearise
from torsor.motion.trajectory import Trajectory
from torsor.simulation.steps.euler import euler, semi_implicit_euler
from torsor.simulation.steps.rate import Rate
from torsor.simulation.steps.rk4 import rk4

STEPS = {"rk4": rk4, "semi_implicit_euler": semi_implicit_euler, "euler": euler}
SAME = 1e-9  # how far a step taken again may lead elsewhere by rounding, rad or m


@in_one_line
class Pullback(NamedTuple):
    """The gradient of Σ w_k · x_k.

    Attributes
    ----------
    start : (..., 2 nv) array
        By the initial state (δq, δv).
    tau : (..., N − 1, nv) array
        By the joint forces of each step; their sum over the steps is that by a constant force.
    """

    start: Array
    tau: Array


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities:
    """Derivatives of the N − 1 steps of a motion, x_k+1 = A_k x_k + B_k δτ_k in tangent coordinates, and of the whole.

    Parameters
    ----------
    A : (..., N − 1, 2 nv, 2 nv) array
    B : (..., N − 1, 2 nv, nv) array
    """

    A: Array
    B: Array

    def __repr__(self) -> str:
        """How many steps there are, of how many numbers."""
        steps, n, nv = self.B.shape[-3:]
        return f"Sensitivities of {steps} steps by {n} numbers of the state and {nv} forces"

    def by_start(self) -> Array:
        """(..., N, 2 nv, 2 nv): every sample's state by the initial state."""
        one = np.broadcast_to(np.eye(self.A.shape[-1]), (*self.A.shape[:-3], *self.A.shape[-2:]))
        found = [one]
        for k in range(self.A.shape[-3]):
            found.append(self.A[..., k, :, :] @ found[-1])
        return np.stack(found, axis=-3)

    def by_constant_force(self) -> Array:
        """(..., N, 2 nv, nv): every sample's state by a change of all joint forces alike."""
        found = [np.zeros((*self.B.shape[:-3], *self.B.shape[-2:]))]
        for k in range(self.A.shape[-3]):
            found.append(self.A[..., k, :, :] @ found[-1] + self.B[..., k, :, :])
        return np.stack(found, axis=-3)

    def of_end_by_forces(self) -> Array:
        """(..., N − 1, 2 nv, nv): the last state by the joint forces of each step."""
        found, after = [], np.eye(self.A.shape[-1])
        for k in reversed(range(self.A.shape[-3])):
            found.append(after @ self.B[..., k, :, :])
            after = after @ self.A[..., k, :, :]
        return np.stack(found[::-1], axis=-3) if found else np.zeros(self.B.shape)

    def pushforward(self, start: Any = 0.0, tau: Any = 0.0) -> Array:
        """(..., N, 2 nv): how every sample moves with the initial state (..., 2 nv) and the forces (..., N − 1, nv)."""
        *batch, steps, n, nv = self.B.shape
        forces = np.broadcast_to(np.asarray(as_numbers(tau), float), (*batch, steps, nv))
        x = np.array(np.broadcast_to(np.asarray(as_numbers(start), float), (*batch, n)))
        found = [x]
        for k in range(steps):
            x = np.einsum("...ij,...j->...i", self.A[..., k, :, :], x)
            x = x + np.einsum("...ij,...j->...i", self.B[..., k, :, :], forces[..., k, :])
            found.append(x)
        return np.stack(found, axis=-2)

    def pullback(self, weights: Any) -> Pullback:
        """The gradient of Σ w_k · x_k with weights (..., N, 2 nv) of all samples, or (..., 1, 2 nv) of the last, in one sweep."""
        *batch, steps, n, nv = self.B.shape
        w = np.asarray(as_numbers(weights), float)
        if w.ndim < 2 or w.shape[-1] != n or w.shape[-2] not in (1, steps + 1):
            raise ShapeError(
                f"pullback: `weights` must have shape (..., {steps + 1}, {n}) for all samples or (..., 1, {n}) for the last, "
                f"got {w.shape}."
            )
        w = np.broadcast_to(w, (*batch, *w.shape[-2:]))
        all_of_them, back = w.shape[-2] == steps + 1, w[..., -1, :]
        forces = np.zeros((*batch, steps, nv))
        for k in reversed(range(steps)):
            forces[..., k, :] = np.einsum("...ji,...j->...i", self.B[..., k, :, :], back)
            back = np.einsum("...ji,...j->...i", self.A[..., k, :, :], back)
            if all_of_them:
                back = back + w[..., k, :]
        return Pullback(back, forces)


@explained
def sensitivities(run: Trajectory, *, method: str = "rk4") -> Sensitivities:
    """Derivatives of a simulated motion by its initial state and its joint forces, through the steps taken [CM18; MK99].

    Parameters
    ----------
    run : Trajectory
        What `torsor.simulate` has given with ``dt`` and all its steps (``every=1``), under joint forces held over each step. Of
        a controller they are the forces that it gave, not the law.
    method : str
        That of the steps: "rk4", "semi_implicit_euler" or "euler".

    Returns
    -------
    Sensitivities
        Of N samples, in rad or m and rad/s or m/s of the state: ``by_start()`` (..., N, 2 nv, 2 nv), ``by_constant_force()``
        (..., N, 2 nv, nv), ``of_end_by_forces()`` (..., N − 1, 2 nv, nv); forward along a direction ``pushforward(start, tau)``,
        and backward ``pullback(weights)``.

    Notes
    -----
    Each step of the motion is taken once more and compared with the next sample. Where they differ, because of a stop, friction
    that held, an effort limit, other steps or wrenches within a step, the times are said and nothing is returned.
    """
    if not isinstance(run, Trajectory):
        raise ArgumentTypeError(f"`run` must be a torsor.Trajectory, got {run!r:.60}.")
    refuse_unknown_word("method", method, DERIVATIVES)
    steps = np.diff(run.time)
    if not len(steps):
        raise ArgumentError("`run` has one sample, and no step.")
    dt = float(run.duration / len(steps))
    if np.any(np.abs(steps - dt) > 1e-6 * dt):
        odd = float(run.time[int(np.argmax(np.abs(steps - dt)))])
        raise ArgumentError(
            f"the samples of `run` are not one step apart, first after {odd:.6g} s: simulate with `dt` and every=1."
        )
    q, v, tau = run.q[..., :-1, :], run.v[..., :-1, :], run.tau[..., :-1, :]
    pushes = {frame: W[..., :-1, :] for frame, W in run.wrenches.items()} or None
    _refuse_other_steps(run, method, dt, q, v, tau, pushes)
    near = linearise(run.robot, q, v, tau, dt=dt, method=method, wrenches=pushes)
    return Sensitivities(near.A, near.B)


def _refuse_other_steps(
    run: Trajectory, method: str, dt: float, q: Array, v: Array, tau: Array, pushes: dict[str, Array] | None
) -> None:
    """Raise if a smooth step of ``method`` from a sample does not lead to the next one."""
    robot, none = run.robot, np.zeros(0)
    more: dict[str, Any] = {} if pushes is None else {"wrenches": pushes}

    def rate(t: Array, q: Array, v: Array) -> Rate:
        return Rate(forward_dynamics(robot, q, v, tau, **more), none)

    new = STEPS[method](robot, rate, run.time[:-1], q, v, np.asarray(dt))
    apart = np.abs(difference(robot, new.q, run.q[..., 1:, :])) + dt * np.abs(new.v - run.v[..., 1:, :])
    size = 1.0 + dt * np.abs(v).max(axis=-1, initial=0.0)
    other = ~(apart.max(axis=-1, initial=0.0) <= SAME * size)
    if np.any(other):
        times = run.time[:-1][np.any(other.reshape(-1, other.shape[-1]), axis=0)]
        listed = ", ".join(f"{t:.6g}" for t in times[:5]) + (" …" if len(times) > 5 else "")
        said = f" It says: {'; '.join(run.notes[:3])}." if run.notes else ""
        raise ArgumentError(
            f"{len(times)} steps of `run` are not smooth steps of {method!r} under forces that are held: those at {listed} s."
            f"{said} Pass its `method`, simulate with every=1, within_limits=False and robot.with_coulomb_width(1e-3)."
        )
