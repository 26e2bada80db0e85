"""A step as a relation that can be differentiated: state, forces and robot in, state out, and an equation if it is implicit.

An implicit step finds numbers u (..., nv) by iterations. Their derivative is that of the equation they solve: with G(x, u) = 0
and the new state H(x, u), it is H_x − H_u G_u⁻¹ G_x. So the iterations themselves are not differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from torsor import lie
from torsor.arrays import concat, factor, identity, matmul, matvec, solve, zeros
from torsor.arrays.typing import Array
from torsor.functions.derivative import PITCHES, tangent_map
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.kinematics import integrate
from torsor.mechanics.dynamics.wrench_forces import body_wrench_forces
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.model import Parameters, Robot
from torsor.model.link_inertias import may_be_singular
from torsor.simulation.plant import smallest
from torsor.simulation.stepping import CONSTANT, CONTINUOUS, Stepping
from torsor.simulation.steps.discrete_momentum import displacement, momentum
from torsor.simulation.steps.implicit_midpoint import damped_implicit_midpoint, implicit_midpoint
from torsor.simulation.steps.rate import Rate
from torsor.simulation.steps.variational import arrived, begun, early, ended, largest, left_over

POSES = ("poses", "frame_poses")
GROUPS = (*(name for name in Parameters._fields if name != "base_inertia"), PITCHES)


class Related(NamedTuple):
    """State after a step, its equation (..., nv) if it is implicit, and the least margin (...) if that was asked for."""

    q: Array
    v: Array
    equation: Array | None
    least: Array | None


MIDPOINTS = (implicit_midpoint, damped_implicit_midpoint)


def is_implicit(stepping: Stepping, holds: bool) -> bool:
    """Whether a step has an equation; where joints are held, steps of the variational method are RK4's."""
    return stepping.method in MIDPOINTS or (stepping.is_variational and not holds)


def group_shape(robot: Robot, group: str) -> tuple[int, ...]:
    """The shape of a change of a group of the robot's numbers: poses change by twists."""
    if group == PITCHES:
        return (robot.n,)
    shape = tuple(getattr(robot.parameters, group).shape)
    return (*shape[:1], 6) if group in POSES else shape


def changed_robot(robot: Robot, changes: Mapping[str, Array]) -> Robot:
    """The robot with changes of groups of its numbers, as in `torsor.derivative`."""
    if not changes:
        return robot
    p, found = robot.parameters, dict[str, Array]()
    for group, change in changes.items():
        if group == PITCHES:
            screws = found.get("screws", p.screws)
            found["screws"] = screws + change[:, None] * concat([zeros(robot.n, 3), p.screws[:, :3]])
        elif group in POSES:
            T = getattr(p, group)
            found[group] = T + matmul(T, lie.se3.hat(change))
        else:
            found[group] = found.get(group, getattr(p, group)) + change
    return Robot(robot.structure, p._replace(**found))


def related(
    stepping: Stepping, given: Mapping[str, Array], moves: Mapping[str, Any], *, holds: bool, margins: bool = False
) -> Related:
    """A step of the robot with moved numbers, from a moved state, in the mode that is given.

    ``given``: inputs of the step as in `Stepping`, ``tau`` as the drives gave it, ``u`` if it is implicit. ``moves``: changes of
    "q" (in tangent coordinates), "v", "tau", "t", "h", "u" and groups of the robot's numbers, as far as there are any. A small
    velocity of a joint that is held is taken from it at once, by an impulse that the others feel.
    """
    robot = changed_robot(stepping.robot, {name: x for name, x in moves.items() if name in GROUPS})
    of_law = stepping.drive == CONTINUOUS
    stepping = replace(
        stepping, plant=stepping.plant.with_numbers_of(robot), drive=CONTINUOUS if of_law else CONSTANT, memory=()
    )
    now = dict(given)
    for name, move in moves.items():
        if name in now:
            now[name] = now[name] + (matvec(tangent_map(robot, now["q"]), move) if name == "q" else move)
    if of_law:
        now["added"] = moves["tau"]
    if holds:
        now["v"] = after_impact(robot, now["q"], now["v"], now["held"], 0.0 * now["held"])
        if "coulomb_friction" in moves:
            now |= {"least": now["least"] - moves["coulomb_friction"], "most": now["most"] + moves["coulomb_friction"]}
    tau = now.get("tau", 0.0 * now["v"])
    if stepping.method in MIDPOINTS:
        return _midpoint(stepping, now, tau, holds=holds, margins=margins)
    if stepping.is_variational and not holds:
        return _variational(stepping, now, tau)
    taken = stepping.stepped(now, tau, holds=holds)
    return Related(taken.new.q, taken.new.v, None, taken.least if margins else None)


def after_impact(robot: Robot, q: Array, v: Array, pushed: Array, back: Array) -> Array:
    """Velocities after impacts: those ``pushed`` (nv,) come ``back`` at so much of their speed, M (v₁ − v) = 0 for others."""
    M, free = mass_matrix(robot, q), 1.0 - pushed
    jump = -pushed * (1.0 + back) * v
    cut = free[:, None] * M * free[None, :] + pushed[:, None] * identity(robot.nv)
    carried = solve(factor(cut, guarded=may_be_singular(robot)), free * matvec(M, jump))
    return v + jump - carried


def _midpoint(stepping: Stepping, now: Mapping[str, Array], tau: Array, *, holds: bool, margins: bool) -> Related:
    """`implicit_midpoint`, or the damped one, with its equation for u = w."""
    t, q, v, h, w = (now[name] for name in ("t", "q", "v", "h", "u"))
    plant, mode, then = stepping.plant, stepping.mode(now), 0.5 * h
    if stepping.method is damped_implicit_midpoint:
        then = largest(early(plant.robot, h)) * h
    half = then[..., None]

    def rate(t: Array, q: Array, v: Array) -> Rate:
        force, around = stepping.force(t, q, v, tau, now), stepping.around(t, q, v, now)
        return plant.rate(q, v, force, around, mode, holds=holds)

    a = rate(t + then, integrate(plant.robot, q, half * w), w).a
    q_new, v_new = integrate(plant.robot, q, h[..., None] * w), v + h[..., None] * a
    least = None
    if margins:
        all_of_them = plant.margins(q_new, v_new, mode, holds=holds)
        if holds:
            all_of_them += stepping.holding_margins(t + h, q_new, v_new, tau, now)
        least = smallest(all_of_them, v_new)
    return Related(q_new, v_new, w - v - half * a, least)


def _variational(stepping: Stepping, now: Mapping[str, Array], tau: Array) -> Related:
    """A variational step with its equation for the motion u; the momentum at its start is that of the velocity."""
    t, q, v, h, u = (now[name] for name in ("t", "q", "v", "h", "u"))
    robot, plant, mode = stepping.plant.gliding, stepping.plant, stepping.mode(now)

    def load(t: Array, q: Array, v: Array) -> Array:
        pushed = plant.load(q, v, stepping.force(t, q, v, tau, now), mode) - plant.smooth_friction(v)
        wrenches = stepping.around(t, q, v, now).wrenches
        return pushed + body_wrench_forces(robot, q, wrenches) if wrenches else pushed

    before = load(t, q, v)
    p = begun(robot, before, q, momentum(robot, q, v), h)
    starts = joint_poses(robot, q)
    moved = displacement(robot, starts, u, h)
    left = left_over(robot, starts, moved, u, p, h)
    q_new = integrate(robot, q, u)
    v_new, _ = ended(robot, load, t, q_new, before, arrived(robot, moved, u, left, h), h)
    return Related(q_new, v_new, left, None)
