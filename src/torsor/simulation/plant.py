"""The robot as a plant: what its drives can do, how friction holds, where its joints stop.

Friction and stops make forces that jump. Between two jumps the plant is in one *mode*, in which its equations are smooth: each
joint slides one way or is held, each soft stop is touched or not. A mode is left where one of its *margins* becomes negative.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays import absolute, dot, factor, identity, matvec, solve, stack, where
from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import forward_dynamics, friction_forces, inverse_dynamics, mass_matrix
from torsor.functions.public.kinematics import body_twist
from torsor.mechanics.dynamics.friction import coulomb_direction
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.simulation.complementarity import ROUNDING
from torsor.simulation.steps.rate import Rate
from torsor.simulation.stops import Stops

WORKS = ("drives", "wrenches", "friction", "stops")
# Of the forces at a joint: more than what `complementarity` allows, so that who is held by it stays so
SLACK = 4 * ROUNDING
FASTEST = 1e150  # a velocity that nothing has; its square is still finite


class Mode(NamedTuple):
    """Which forces act in which way, for each number of v, (..., nv) each.

    ``slip``: direction in which a joint with Coulomb friction slides, ±1, or 0. ``held``: 1 where the joint is at rest and stays
    so. ``least``, ``most``: between which forces holding it is possible. ``touch``: +1 where the upper soft stop pushes, −1 for
    the lower one. ``lower``, ``upper``: where the stops are.
    """

    slip: Array
    held: Array
    least: Array
    most: Array
    touch: Array
    lower: Array
    upper: Array


class Held(NamedTuple):
    """Acceleration, the forces that hold joints, and by how much these may pass their bounds in rounding; (..., nv) each."""

    a: Array
    force: Array
    slack: Array


class Surroundings(NamedTuple):
    """What acts beside the drives, at one time and state: wrenches by frame, and the motion of the base."""

    wrenches: Mapping[str, Array]
    base_motion: BaseMotion | None


SurroundingsOf = Callable[[Array, Array, Array], Surroundings]


@dataclass(frozen=True, eq=False)
class Plant:
    """A robot with its limits: ``stops`` is None where it has none, ``clamps`` says whether effort limits hold."""

    robot: Robot
    stops: Stops | None
    clamps: bool

    def with_numbers_of(self, robot: Robot) -> Plant:
        """The same with a robot of other numbers, which may be traced: who has friction or stops is not asked again."""
        other = Plant(robot, self.stops, self.clamps)
        gliding = robot
        if self.sticks:
            none = np.zeros(robot.nv)
            gliding = Robot(robot.structure, robot.parameters._replace(coulomb_friction=none))
        other.__dict__.update(sticks=self.sticks, rubbing=self.rubbing, gliding=gliding)
        return other

    @once
    def sticks(self) -> bool:
        """Whether Coulomb friction is set-valued: it holds a joint up to its full force."""
        return not self.robot.structure.coulomb_width > 0.0 and bool(np.any(self.robot.parameters.coulomb_friction))

    @once
    def gliding(self) -> Robot:
        """The robot without the friction that the mode stands for."""
        if not self.sticks:
            return self.robot
        return self.robot.with_parameters(coulomb_friction=np.zeros(self.robot.nv))

    @once
    def effort(self) -> Array | None:
        """The largest joint forces (nv,), if there are any."""
        limit = np.array(self.robot.structure.limits.effort)
        return limit if self.clamps and np.any(np.isfinite(limit)) else None

    @once
    def velocity_limit(self) -> Array:
        """The largest velocities (nv,), which nothing keeps."""
        return np.array(self.robot.structure.limits.velocity)

    @once
    def places(self) -> Array:
        """For each number of v that stops can limit, where it is in q; −1 for the others."""
        places = np.full(self.robot.nv, -1)
        for c, kind in self.robot.structure.blocks:
            if kind.nq == kind.nv == 1:
                places[c.v_start] = c.q_start
        return places

    @once
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper stop for each number of v (nv,); infinite where there is none."""
        limits, places = self.robot.structure.limits, self.places
        lower, upper = np.array(limits.lower), np.array(limits.upper)
        none = np.full(self.robot.nv, np.inf)
        if self.stops is None:
            return -none, none
        return np.where(places < 0, -none, lower[places]), np.where(places < 0, none, upper[places])

    @once
    def stopped(self) -> Array:
        """The numbers of v that have a stop, as indices."""
        return np.flatnonzero(np.isfinite(self.bounds[0]) | np.isfinite(self.bounds[1]))

    @once
    def rubbing(self) -> Array:
        """The numbers of v with friction that sticks, as indices."""
        return np.flatnonzero(self.robot.parameters.coulomb_friction) if self.sticks else np.array([], int)

    @once
    def has_friction(self) -> bool:
        """Whether friction of any kind takes energy."""
        p = self.robot.parameters
        return bool(np.any(p.viscous_friction) or np.any(p.coulomb_friction))

    @once
    def has_modes(self) -> bool:
        """Whether there is anything but one mode."""
        return bool(len(self.stopped) or len(self.rubbing))

    @once
    def _bounds_of_q(self) -> tuple[Array, Array]:
        """Lower and upper stop for each number of q (nq,); infinite where there is none."""
        lower, upper = np.full(self.robot.nq, -np.inf), np.full(self.robot.nq, np.inf)
        places = self.places[self.stopped]
        lower[places], upper[places] = (bound[self.stopped] for bound in self.bounds)
        return lower, upper

    def reaches_stops(self, q: Array) -> bool:
        """Whether a joint is at its stop or beyond it in some of the states (m, nq)."""
        if not len(self.stopped):
            return False
        lower, upper = self._bounds_of_q
        return bool(((q <= lower) | (q >= upper)).any())

    def clamped(self, tau: Array) -> Array:
        """The joint forces that the drives give when they are asked for ``tau``."""
        if self.effort is None:
            return tau
        return where(tau > self.effort, self.effort, where(tau < -self.effort, -self.effort, tau))

    def positions(self, q: Array) -> Array:
        """The position (..., nv) of each number of v that can have a stop, 0 for the others."""
        return stack([q[..., k] if k >= 0 else 0.0 * q[..., 0] for k in self.places.tolist()])

    def load(self, q: Array, v: Array, tau: Array, mode: Mode) -> Array:
        """Joint forces (..., nv) of drives, soft stops and sliding friction."""
        if self.sticks:
            tau = tau - self.robot.parameters.coulomb_friction * mode.slip
        if self.stops is not None and not self.stops.are_hard:
            tau = tau + self.stop_force(q, v, mode)
        return tau

    def smooth_friction(self, v: Array) -> Array:
        """What Coulomb friction with a width takes (..., nv); where it sticks, the mode has it."""
        if not self.robot.structure.coulomb_width > 0.0:
            return 0.0 * v
        return self.robot.parameters.coulomb_friction * coulomb_direction(self.robot, v)

    def stop_force(self, q: Array, v: Array, mode: Mode) -> Array:
        """Force (..., nv) of the soft stops that are touched: −k (q − bound) − d v."""
        assert self.stops is not None and self.stops.stiffness is not None
        beyond = where(mode.touch != 0.0, self._beyond(q, mode), 0.0)
        return -self.stops.stiffness * beyond - self.stops.damping * absolute(mode.touch) * v

    def _beyond(self, q: Array, mode: Mode) -> Array:
        """How far (..., nv) a joint is beyond the stop that it touches, with its sign."""
        x = self.positions(q)
        up, low = where(mode.touch > 0.0, mode.upper, 0.0), where(mode.touch < 0.0, mode.lower, 0.0)
        return x - up - low

    def rate(self, q: Array, v: Array, tau: Array, around: Surroundings, mode: Mode, *, holds: bool) -> Rate:
        """Acceleration and powers. ``holds``: some joints may be held; without, the mode's ``held`` is not looked at."""
        a = self.acceleration(q, v, tau, around, mode, holds=holds)
        return Rate(a, self._power(q, v, tau, around, mode))

    def acceleration(self, q: Array, v: Array, tau: Array, around: Surroundings, mode: Mode, *, holds: bool) -> Array:
        """Acceleration (..., nv) alone; arguments as in `rate`."""
        load = self.load(q, v, tau, mode)
        if holds:
            return self.held_dynamics(q, v, load, around, mode).a
        return forward_dynamics(self.gliding, q, v, load, **given_to_dynamics(around))

    def held_dynamics(self, q: Array, v: Array, load: Array, around: Surroundings, mode: Mode) -> Held:
        """Acceleration with the held joints at rest, and the forces λ that hold them: M a = f + λ, a = 0 where held."""
        M = mass_matrix(self.gliding, q)
        f = load - inverse_dynamics(self.gliding, q, v, 0.0 * v, **given_to_dynamics(around))
        free = 1.0 - mode.held
        eye = identity(self.robot.nv)
        cut = free[..., :, None] * M * free[..., None, :] + mode.held[..., :, None] * eye
        a = solve(factor(cut, guarded=may_be_singular(self.robot)), free * f)
        slack = SLACK * (matvec(absolute(M), absolute(a)) + absolute(f) + 2.0 * absolute(load))
        return Held(a, mode.held * (matvec(M, a) - f), slack)

    def _power(self, q: Array, v: Array, tau: Array, around: Surroundings, mode: Mode) -> Array:
        """Power (..., 4) of drives, of wrenches and a base that is moved, the loss by friction, the power of soft stops, W."""
        nothing = 0.0 * dot(v, v)
        wrenches = [dot(F, body_twist(self.robot, q, v, frame)) for frame, F in around.wrenches.items()]
        if around.base_motion is not None:  # what the robot feels of it, as a force from outside
            moved = inverse_dynamics(self.gliding, q, v, 0.0 * v, base_motion=around.base_motion)
            wrenches.append(dot(inverse_dynamics(self.gliding, q, v, 0.0 * v) - moved, v))
        p = self.robot.parameters
        if self.sticks:
            friction = dot(p.viscous_friction * v + p.coulomb_friction * mode.slip, v)
        else:
            friction = dot(friction_forces(self.robot, v), v)
        soft = self.stops is not None and not self.stops.are_hard
        stops = dot(self.stop_force(q, v, mode), v) if soft else nothing
        return stack([dot(tau, v), sum(wrenches, start=nothing), friction, stops])

    def margins(self, q: Array, v: Array, mode: Mode, *, holds: bool) -> list[Array]:
        """What must not become negative for the mode to go on, forces that hold a joint apart; (...) each. ``holds`` as in
        `rate`.
        """
        margins: list[Array] = []
        x = self.positions(q) if len(self.stopped) else q
        for i in self.stopped.tolist():
            above, below = x[..., i] - mode.lower[..., i], mode.upper[..., i] - x[..., i]
            assert self.stops is not None
            if self.stops.stiffness is None:
                held = mode.held[..., i] > 0.0  # a joint that is held at its stop has no way to go, and does not go
                margins += [where(held, FASTEST, above), where(held, FASTEST, below)] if holds else [above, below]
                continue
            # A soft stop pushes while the joint is beyond it and the force does not pull
            d = self.stops.damping / self.stops.stiffness
            pushed_up, pushed_down = _least(-above, -above - d * v[..., i]), _least(-below, -below + d * v[..., i])
            touch = mode.touch[..., i]
            margins.append(where(touch < 0.0, pushed_up, where(touch > 0.0, above, -pushed_up)))
            margins.append(where(touch > 0.0, pushed_down, where(touch < 0.0, below, -pushed_down)))
        for i in self.rubbing.tolist():
            slip = mode.slip[..., i]
            margins.append(where(slip != 0.0, slip * v[..., i], FASTEST) if holds else slip * v[..., i])
        return margins

    def holding_margins(self, held: Held, mode: Mode) -> list[Array]:
        """What must not become negative for held joints to stay at rest, by the forces λ that hold them."""
        which = sorted({*self.stopped.tolist(), *self.rubbing.tolist()})
        force, slack = held.force, held.slack
        low = [force[..., i] - mode.least[..., i] + slack[..., i] for i in which]
        return low + [mode.most[..., i] - force[..., i] + slack[..., i] for i in which]

    def anew(self, q: Array, mode: Mode) -> Mode:
        """The mode (..., nv) in which states q (..., nq) that something has put there begin: a hard stop that a joint is beyond
        is where the joint is.
        """
        free, x = self.free_mode(q.shape[:-1]), self.positions(q)
        lower, upper = mode.lower.copy(), mode.upper.copy()
        if self.stops is not None and self.stops.are_hard:
            i = self.stopped
            lower[..., i], upper[..., i] = np.minimum(lower, x)[..., i], np.maximum(upper, x)[..., i]
        return free._replace(lower=lower, upper=upper)

    def free_mode(self, batch: tuple[int, ...]) -> Mode:
        """No joint held, no stop touched; arrays that can be written to."""
        rows = np.empty((len(Mode._fields), *batch, self.robot.nv))
        rows[...] = self._free.reshape(len(rows), *[1] * len(batch), -1)
        return Mode(*rows)

    @once
    def _free(self) -> Array:
        """The mode of one robot in which nothing is held or touched, its fields in a row (7, nv)."""
        nothing, endless = np.zeros(self.robot.nv), np.full(self.robot.nv, np.inf)
        return np.array(Mode(nothing, nothing, -endless, endless, nothing, *self.bounds))


def wrench_name(k: int) -> str:
    """The input that has the k-th wrench; the very string that fast calls know it by."""
    return sys.intern(f"wrench_{k}")


def smallest(margins: list[Array], v: Array) -> Array:
    """The least of the margins (...); less than 0 also where a velocity is not finite."""
    least = FASTEST - _sum_of_sizes(v)
    for margin in margins:
        least = _least(least, margin)
    return least


def _sum_of_sizes(v: Array) -> Array:
    total = absolute(v[..., 0])
    for k in range(1, v.shape[-1]):
        total = total + absolute(v[..., k])
    return total


def _least(one: Array, other: Array) -> Array:
    """The lesser of two; NaN if the first is NaN."""
    return where(other < one, other, one)


def given_to_dynamics(around: Surroundings) -> dict[str, Any]:
    """The optional arguments of dynamics that there are."""
    given: dict[str, Any] = {}
    if around.wrenches:
        given["wrenches"] = around.wrenches
    if around.base_motion is not None:
        given["base_motion"] = around.base_motion
    return given
