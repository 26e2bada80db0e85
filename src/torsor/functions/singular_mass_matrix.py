"""Why is a mass matrix singular? Joints that move no inertia, and motions that meet none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import ModelError, ShapeError
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.model import Robot, random_configuration
from torsor.model.link_inertias import ROUNDING, definiteness, has_degenerate_links
from torsor.model.remembered import remembered


def refuse_idle_joints(robot: Robot, what: str = "forward dynamics", undefined: str = "its acceleration is") -> None:
    """Raise, naming the joints, if one or several of them move no inertia at all, or a negative one, wherever the robot is.

    Not known while parameters are being traced.
    """
    if not has_degenerate_links(robot):
        return
    if negative := negative_joints(robot):
        raise ModelError(
            f"{what} of robot {robot.name!r}: joint {negative[0]!r} moves a negative inertia, so {undefined} not that of any "
            f"body: {_negative_links(robot)}. robot.inertia(link).violations() tells what is wrong with one."
        )
    if idle := idle_joints(robot):
        raise ModelError(
            f"{what} of robot {robot.name!r}: joint {idle[0]!r} moves no inertia, so {undefined} undefined. "
            f"Give a link beyond it a mass (robot.with_inertia), the joint an armature, or hold it: {_hold(robot, idle[0])}."
        )
    together, negative_motion = idle_together(robot)
    if negative_motion:
        raise ModelError(
            f"{what} of robot {robot.name!r}: joints {_listed(together)} together move a negative inertia, so {undefined} not "
            f"that of any body: {_negative_links(robot)}. robot.inertia(link).violations() tells what is wrong with one."
        )
    if together:
        light = _light_links(robot, together)
        raise ModelError(
            f"{what} of robot {robot.name!r}: joints {_listed(together)} can move together without moving any inertia, wherever "
            f"the robot is, so {undefined} undefined. Give {light} mass and moments of inertia (robot.with_inertia), one of the "
            f"joints an armature, or hold one: {_hold(robot, together[-1])}."
        )


@remembered(1024)
def idle_joints(robot: Robot) -> tuple[str, ...]:
    """Names of the coordinates whose diagonal entry of M vanishes at every configuration."""
    return _of_diagonal(robot, lambda diagonal, rounding: np.abs(diagonal) <= rounding)


@remembered(1024)
def negative_joints(robot: Robot) -> tuple[str, ...]:
    """Names of the coordinates whose diagonal entry of M is negative at every configuration."""
    return _of_diagonal(robot, lambda diagonal, rounding: diagonal < -rounding)


class IdleMotion(NamedTuple):
    """The coordinates that some motion without inertia moves, at every configuration; whether its inertia is even negative."""

    joints: tuple[str, ...] = ()
    negative: bool = False


@remembered(1024)
def idle_together(robot: Robot) -> IdleMotion:
    """Which coordinates can move together without moving any inertia, wherever the robot is: none for a sound robot."""
    _, M, sizes = _samples(robot)
    values, vectors = np.linalg.eigh(_scaled(M, sizes))
    if np.any(values[:, 0] > robot.n * ROUNDING):
        return IdleMotion()
    weakest = np.abs(vectors[..., 0]).max(axis=0)  # each freedom by its own size, so that all can be compared
    moves = weakest > 1e-3 * weakest.max()
    joints = tuple(c.name for c in robot.structure.coordinates if np.any(moves[c.v]))
    return IdleMotion(joints, bool(np.all(values[..., 0] < -robot.n * ROUNDING)))


class _Samples(NamedTuple):
    """Mass matrices ``M`` (4, nv, nv) at random configurations ``q`` (4, nq), and the ``sizes`` (4, nv) of their diagonals."""

    q: Array
    M: Array
    sizes: Array


@remembered(8)
def _samples(robot: Robot) -> _Samples:
    q = _configurations(robot)
    M = np.broadcast_to(mass_matrix(robot, q), (len(q), robot.nv, robot.nv))
    return _Samples(q, M, _sizes(robot, q))


def _of_diagonal(robot: Robot, test: Callable[[Array, Array], Array]) -> tuple[str, ...]:
    """Names of the coordinates of which an entry of the diagonal of M, ± rounding, passes a test at random configurations."""
    _, M, sizes = _samples(robot)
    passed = np.all(test(np.einsum("...ii->...i", M), robot.n * ROUNDING * sizes), axis=0)
    return tuple(c.name for c in robot.structure.coordinates if np.any(passed[c.v]))


def _configurations(robot: Robot) -> Array:
    """Random configurations (4, nq) whose lengths are of the robot's own size, so that no unit of length is preferred."""
    s, p = robot.structure, robot.parameters
    q = random_configuration(robot, seed=0, batch=(4,))
    shares = np.random.default_rng(1).uniform(-1.0, 1.0, q.shape)
    with np.errstate(all="ignore"):
        bodies = np.abs([np.linalg.norm(p.inertias[:, 1:4], axis=-1) / p.inertias[:, 0], _gyration(p.inertias)])
    lengths = np.maximum(
        np.linalg.norm(p.poses[:, :3, 3], axis=-1), np.where(np.isfinite(bodies), bodies, 0.0).max(axis=0)
    )
    for i in range(s.n):
        c, lengths_of = s.coordinate_of(i), s.kind_of(i).lengths
        if c.name == s.joints[i]:
            size = (lengths[i] or lengths.max() or 1.0) / s.couplings[i].ratio
            q[:, c.q][:, lengths_of] = size * shares[:, c.q][:, lengths_of]
    return q


def _gyration(rows: Array) -> Array:
    """Radii of gyration about the link frames, of a kind: √(tr I / m)."""
    return np.sqrt(np.abs(rows[:, 4] + rows[:, 7] + rows[:, 9]) / np.abs(rows[:, 0]))


def _sizes(robot: Robot, q: Array) -> Array:
    """What the diagonal entries of M are made of, as sums of absolute values (..., nv): rounding leaves ε of this, not of M_ii.

    Composite bodies as in `mass_matrix`, with the sizes of mass, first moment and rotational inertia, and of every lever.
    """
    s, p = robot.structure, robot.parameters
    m, h = np.abs(p.inertias[:, 0]), np.linalg.norm(p.inertias[:, 1:4], axis=-1)
    I = np.abs(p.inertias[:, 4:]).sum(axis=-1)
    sizes = [(m[i], h[i], I[i]) for i in range(robot.n)]
    roots = np.zeros((*q.shape[:-1], robot.nv))
    for i in range(robot.n - 1, -1, -1):
        m_i, h_i, I_i = sizes[i]
        S = joint_screws(robot, i)
        w, v = np.linalg.norm(S[:, :3], axis=-1), np.linalg.norm(S[:, 3:], axis=-1)
        of_joint = np.multiply.outer(I_i, w * w) + np.multiply.outer(h_i, 2 * w * v) + np.multiply.outer(m_i, v * v)
        roots[..., s.coordinate_of(i).v] += np.sqrt(of_joint)
        if (parent := s.parents[i]) >= 0:
            d = _lever(robot, i, q)
            m_p, h_p, I_p = sizes[parent]
            sizes[parent] = m_p + m_i, h_p + h_i + m_i * d, I_p + I_i + 2 * h_i * d + m_i * d * d
    return np.asarray(roots * roots + p.armature)


def _lever(robot: Robot, i: int, q: Array) -> Array:
    """How far (...) link i's frame is from its parent's at most, for what its joint may add or take away."""
    s, S = robot.structure, robot.parameters.screws[i]
    kind, c, (_, ratio, offset) = s.kind_of(i), s.coordinate_of(i), s.couplings[i]
    moved = 2 * np.linalg.norm(S[3:])
    if kind.has_screw and not kind.has_fixed_point:
        moved = np.linalg.norm(S[3:]) * (2 + np.abs(ratio * q[..., c.q_start] + offset))
    elif not kind.has_fixed_point:
        moved = np.linalg.norm(q[..., c.q][..., kind.lengths], axis=-1)
    return np.asarray(np.linalg.norm(robot.parameters.poses[i, :3, 3]) + moved)


def _scaled(M: Array, sizes: Array) -> Array:
    """M with every freedom in units of its own size, so that its entries are pure numbers."""
    scale = 1.0 / np.sqrt(np.where(sizes > 0, sizes, 1.0))
    return np.asarray(scale[..., :, None] * M * scale[..., None, :])


def _hold(robot: Robot, joint: str) -> str:
    """What to type to hold a joint at home."""
    home = robot.neutral[robot.q_slice(joint)].tolist()
    return f"robot.lock({{{joint!r}: {home[0] if len(home) == 1 else home}}})"


def _light_links(robot: Robot, joints: tuple[str, ...]) -> str:
    """The links that these coordinates move and that lack inertia in some direction, in words."""
    s = robot.structure
    moved = [i for i in range(s.n) if s.coordinate_of(i).name in joints]
    return (
        _listed([s.links[i] for i in moved if definiteness(robot.parameters.inertias[i]) <= 0]) or "the links between"
    )


def _negative_links(robot: Robot) -> str:
    """Which links have a negative inertia in some direction, in words."""
    wrong = [link for link, row in zip(robot.links, robot.parameters.inertias, strict=True) if definiteness(row) < 0]
    if not wrong:
        return "its armature is negative"
    return f"the inertia of {_listed(wrong)} is negative in some direction (mass or moments)"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


@dataclass(frozen=True)
class MassMatrixReport:
    """How far the mass matrix at one configuration is from singular, and along which motion.

    ``always_singular``: the mass matrix is singular at random configurations too.
    """

    rank: int
    condition: float
    weakest_motion: dict[str, float]
    idle_joints: tuple[str, ...]
    always_singular: bool = False

    def __str__(self) -> str:
        motion = ", ".join(f"{name} {value:+.3g}" for name, value in self.weakest_motion.items())
        full = self.rank == len(self.weakest_motion)
        lines = [
            f"mass matrix: rank {self.rank} of {len(self.weakest_motion)}, condition number {self.condition:.3g}",
            f"the motion that meets the least inertia: {motion}",
        ]
        if self.idle_joints:
            lines.append(f"joints that move no inertia at any configuration: {', '.join(self.idle_joints)}")
        elif not full and self.always_singular:
            lines.append(
                "singular at every configuration tried: some joints move the same inertia alone in the same way, such as "
                "two axes that coincide with no mass between"
            )
        elif not full:
            lines.append("singular here, though not everywhere: links that are point masses or massless line up")
        return "\n".join(lines)


def mass_matrix_report(robot: Robot, q: ConfigurationVector) -> MassMatrixReport:
    """Why forward dynamics is singular or ill-conditioned, one state only: rank, condition and weakest motion of M [LP, (9.1)].

    The weakest motion is the unit vector v (per degree of freedom) with the least kinetic energy ½ vᵀ M v, in rad/s or m/s.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array
        Configuration, rad or m.

    Returns
    -------
    MassMatrixReport
    """
    if np.ndim(q) != 1:
        raise ShapeError(f"mass_matrix_report: takes one configuration of shape ({robot.nq},), got {np.shape(q)}.")
    M = np.asarray(mass_matrix(robot, q))
    values, vectors = np.linalg.eigh(M)
    scaled = _scaled(M, _sizes(robot, np.asarray(q)))
    rank = int(np.sum(np.linalg.eigvalsh(scaled) > robot.n * ROUNDING))
    weakest = dict(zip(robot.structure.freedoms, map(float, vectors[:, 0]), strict=True))
    condition = float(values[-1] / values[0]) if values[0] > 0 else float("inf")
    always = rank < robot.nv and bool(idle_joints(robot) or idle_together(robot).joints)
    return MassMatrixReport(rank, condition, weakest, idle_joints(robot), always)
