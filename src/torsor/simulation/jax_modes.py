"""Motions of JAX arrays with stops and friction that sticks: simulated outside of XLA, differentiated by their sensitivities.

XLA's programs do not locate when a joint meets its stop. So they call `torsor.simulate` itself, and for gradients
`torsor.simulation.sensitivities`, which knows the mode of each step and the moments at which it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import SimulationDiverged
from torsor.mechanics.kinematics.manifold import configuration_rate
from torsor.model import Robot
from torsor.motion.trajectory import Trajectory
from torsor.simulation._sensitivities import sensitivities

Simulated = Callable[[Array, Array, Array], Trajectory]  # of q (..., nq), v (..., nv), tau (..., N, nv)


def motion_with_modes(robot: Robot, simulated: Simulated, steps: int) -> Callable[..., tuple[Array, ...]]:
    """A JAX function of q (..., nq), v (..., nv) and tau (..., N, nv), all of one batch, with gradients.

    It gives q, v, tau (..., N + 1, …) and whether the mode changed in the step from each sample on, (..., N + 1).
    """
    import jax

    def evaluated(q: Array, v: Array, tau: Array) -> tuple[Array, ...]:
        batch, N = q.shape[:-1], steps + 1
        shapes = [(*batch, N, robot.nq), (*batch, N, robot.nv), (*batch, N, robot.nv), (*batch, N)]
        results = tuple(jax.ShapeDtypeStruct(shape, q.dtype) for shape in shapes)
        return jax.pure_callback(_numbers, results, q, v, tau, vmap_method="broadcast_all")  # type: ignore[no-any-return]

    def _numbers(*given: Array) -> tuple[Array, ...]:
        dtype, batch = np.asarray(given[0]).dtype, given[0].shape[:-1]
        try:
            run = simulated(*(np.asarray(x, float) for x in given))
        except SimulationDiverged:
            sizes = ((robot.nq,), (robot.nv,), (robot.nv,), ())
            return tuple(np.full((*batch, steps + 1, *size), np.nan, dtype) for size in sizes)
        return tuple(x.astype(dtype) for x in (run.q, run.v, run.tau, _changed(run)))

    def _gradients(q: Array, v: Array, tau: Array, *weights: Array) -> tuple[Array, ...]:
        given = [np.asarray(x, float) for x in (q, v, tau)]
        by_q, by_v, by_tau = (np.asarray(x, float) for x in weights)
        dtype = np.asarray(q).dtype
        try:
            run = simulated(*given)
        except SimulationDiverged:
            return tuple(np.full(x.shape, np.nan, dtype) for x in given)
        rates = configuration_rate(robot, run.q[..., None, :], np.eye(robot.nv))
        tangent = np.swapaxes(np.broadcast_to(rates, (*run.v.shape, robot.nq)), -1, -2)  # q̇ = R v
        w = np.concatenate([np.einsum("...ij,...i->...j", tangent, by_q), by_v], axis=-1)
        found = sensitivities(run).pullback(w)
        forces = by_tau[..., :-1, :].copy()
        forces[..., -1, :] += by_tau[..., -1, :]  # the last sample shows the forces of the last step
        asked = given[2]
        forces = np.where(run.tau[..., :-1, :] == asked, forces, 0.0) + found.tau
        start, R = found.start[..., : robot.nv], tangent[..., 0, :, :]
        square = np.swapaxes(R, -1, -2) @ R
        numbers = np.einsum("...ij,...j->...i", R, np.linalg.solve(square, start[..., None])[..., 0])
        return tuple(x.astype(dtype) for x in (numbers, found.start[..., robot.nv :], forces))

    motion = jax.custom_vjp(evaluated)

    def forward(*given: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        return evaluated(*given), given

    def backward(given: tuple[Array, ...], weights: tuple[Array, ...]) -> tuple[Array, ...]:
        results = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in given)
        return jax.pure_callback(_gradients, results, *given, *weights[:3], vmap_method="broadcast_all")  # type: ignore[no-any-return]

    motion.defvjp(forward, backward)
    return motion  # type: ignore[no-any-return]


def _changed(run: Trajectory) -> Array:
    """1 (..., N) at samples from which on the mode changed before the next."""
    found = np.zeros((*run.batch, len(run)))
    for change in sensitivities(run).mode_changes if len(run) > 1 else ():
        found[(*change.trajectory, int(np.searchsorted(run.time, change.time, side="right")) - 1)] = 1.0
    return found


def simulated_by(robot: Robot, options: Mapping[str, Any]) -> Simulated:
    """`torsor.simulate` of numbers, with options."""
    from torsor.simulation._simulate import simulate

    def simulated(q: Array, v: Array, tau: Array) -> Trajectory:
        return simulate(robot, q, v, tau=tau, **options)

    return simulated
