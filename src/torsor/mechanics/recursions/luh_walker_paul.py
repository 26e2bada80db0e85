"""Newton–Euler by vectors: the wrench through every joint from angular velocities and accelerations of origins alone.

The recursion of Luh, Walker and Paul [LWP80], with what turns in one tensor, U = [ω̇] + [ω][ω] [BPM88]: a point of link i at x has
the acceleration a_i + U_i x, so that no linear velocity is needed. With all quantities of link i in frame i, p its parent, (R, r)
its pose there, (ω_J, u_J) the joint's own twist, and a_i the acceleration of the origin of frame i less gravity::

    ω_i = Rᵀ ω_p + ω_J                                                          root to leaves
    ω̇_i = Rᵀ ω̇_p + ω̇_J + Rᵀ ω_p × ω_J
    a_i = Rᵀ (a_p + U_p r) + u̇_J + (Rᵀ ω_p + ω_i) × u_J
    f_i = m a_i + U_i h − f_ext + Σ_c R_c f_c                                   leaves to root
    n_i = h × a_i + I ω̇_i + ω_i × I ω_i − n_ext + Σ_c (R_c n_c + r_c × R_c f_c)

The results are those of `newton_euler` to rounding, by about a quarter fewer operations where the robot's numbers have zeros, of
which `torsor.model.aligned` makes many.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, cross, matmul, matrix, matvec, stack, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, InertiaRow, JointVector, Matrix3, Rotation, Vector3, Wrench
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.recursions.joint_motion import joint_motion, joint_twist
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches, wrenches_on_links
from torsor.model import Robot
from torsor.model.aligned import two_turns


def luh_walker_paul(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector | None = None,
    a: JointVector | None = None,
    *,
    gravity: bool = True,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> list[Wrench]:
    """F_i (..., 6), the wrench that the parent exerts on link i through joint i, in frame i. None means zero."""
    steps = [_step(robot, i, q) for i in range(robot.n)]
    external = wrenches_on_links(robot, wrenches)
    f: list[Vector3] = []
    n: list[Vector3] = []
    for i, turning in enumerate(_motions(robot, steps, v, a, gravity, base_motion)):
        f_i, n_i = own_wrench(robot.parameters.inertias[i], turning)
        if i in external:
            f_i, n_i = f_i - external[i][..., 3:], n_i - external[i][..., :3]
        f.append(f_i)
        n.append(n_i)
    for i in range(robot.n - 1, -1, -1):
        if (p := robot.structure.parents[i]) >= 0:
            step = steps[i]
            f_p = step.up(f[i])
            f[p] = f[p] + f_p
            n[p] = n[p] + step.up(n[i] + cross(step.slide, f[i])) + cross(step.offset, f_p)
    return [concat([n_i, f_i]) for f_i, n_i in zip(f, n, strict=True)]


class _Step(NamedTuple):
    """From a link to its parent: R = R_1 R_2, and r = ``offset``, a constant, plus R ``slide``, by which the joint has slid."""

    first: Rotation | None
    second: Rotation
    offset: Vector3
    slide: Vector3

    def up(self, x: Vector3) -> Vector3:
        """A vector in the child's axes (..., 3), in the parent's."""
        x = matvec(self.second, x)
        return x if self.first is None else matvec(self.first, x)

    def down(self, x: Vector3) -> Vector3:
        """A vector in the parent's axes (..., 3), in the child's."""
        x = x if self.first is None else matvec(transpose(self.first), x)
        return matvec(transpose(self.second), x)


def _step(robot: Robot, i: int, q: ConfigurationVector) -> _Step:
    home, motion = robot.parameters.poses[i], joint_motion(robot, i, q)
    R_home, R = rotation(home), rotation(motion)
    slide = matvec(transpose(R), translation(motion))
    split = two_turns(robot, i)
    if split is None:
        return _Step(None, matmul(R_home, R), translation(home), slide)
    return _Step(split[0], matmul(split[1], R), translation(home), slide)


class Motion(NamedTuple):
    """Of a link, in its frame: ω, ω̇, and the acceleration of its origin less gravity, (..., 3) each."""

    w: Vector3
    w_rate: Vector3
    a: Vector3

    @property
    def U(self) -> Matrix3:
        """[ω̇] + [ω][ω]: a point of the link at x has the acceleration a + U x."""
        (x, y, z), (dx, dy, dz) = (_entries(u) for u in (self.w, self.w_rate))
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        return matrix([[-(yy + zz), xy - dz, xz + dy], [xy + dz, -(xx + zz), yz - dx], [xz - dy, yz + dx, -(xx + yy)]])


def _entries(x: Array) -> list[Array]:
    return [x[..., k] for k in range(3)]


def _motions(
    robot: Robot,
    steps: list[_Step],
    v: JointVector | None,
    a: JointVector | None,
    gravity: bool,
    base_motion: BaseMotion | None,
) -> list[Motion]:
    base = Motion(zeros(3), zeros(3), zeros(3))
    if base_motion is not None:
        V_0, A_0 = base_motion
        # The linear part of A_0 is the rate of that of V_0 as seen from the moving base.
        base = Motion(V_0[..., :3], A_0[..., :3], A_0[..., 3:] + cross(V_0[..., :3], V_0[..., 3:]))
    if gravity:
        # Accelerating the base upwards gives every link its weight: no per-link gravity term is needed.
        base = base._replace(a=base.a - robot.parameters.gravity)
    motions: list[Motion] = []
    for i, p in enumerate(robot.structure.parents):
        parent, step = base if p < 0 else motions[p], steps[i]
        own = zeros(6) if v is None else joint_twist(robot, i, v)
        own_rate = zeros(6) if a is None else joint_twist(robot, i, a)
        carried = Motion(  # what the link would do if its joint stood still
            step.down(parent.w), step.down(parent.w_rate), step.down(parent.a + matvec(parent.U, step.offset))
        )
        w = carried.w + own[..., :3]
        w_rate = carried.w_rate + own_rate[..., :3] + cross(carried.w, own[..., :3])
        at = carried.a + matvec(carried.U, step.slide) + own_rate[..., 3:] + cross(carried.w + w, own[..., 3:])
        motions.append(Motion(w, w_rate, at))
    return motions


def own_wrench(G: InertiaRow, motion: Motion) -> tuple[Vector3, Vector3]:
    """Force m a + U h and moment h × a + I ω̇ + ω × I ω that move a link with the inertia row G."""
    m, h, U = G[..., 0], G[..., 1:4], motion.U
    turning = stack([_moment(G, motion, U, i) for i in range(3)])
    return m * motion.a + matvec(U, h), cross(h, motion.a) + turning


def _moment(G: InertiaRow, motion: Motion, U: Matrix3, i: int) -> Array:
    """Entry i of I ω̇ + ω × I ω. With the next axes j and k::

    I_ii ω̇_i + (I_kk − I_jj) ω_j ω_k + (ω_j² − ω_k²) I_jk − U_ki I_ij + U_ji I_ik
    """
    j, k = (i + 1) % 3, (i + 2) % 3
    w, inertia = _entries(motion.w), {pair: G[..., entry] for pair, entry in _ENTRIES.items()}
    total = inertia[i, i] * motion.w_rate[..., i] + (inertia[k, k] - inertia[j, j]) * (w[j] * w[k])
    total = total + (w[j] * w[j] - w[k] * w[k]) * inertia[j, k]
    return total - U[..., k, i] * inertia[i, j] + U[..., j, i] * inertia[i, k]


_ENTRIES = {pair: entry for entry, pair in enumerate([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)], 4)}
_ENTRIES |= {(j, i): entry for (i, j), entry in _ENTRIES.items()}
