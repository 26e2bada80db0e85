"""The Newton–Euler recursion on the Lie group: the wrench through every joint, for any motion.

With all quantities of link i in frame i, p its parent, c its children, G_i its inertia [PBP95, (22)–(27), E001-1…3]::

    V_i = Ad(T_ip) V_p + S_i v_i                                              root to leaves   (24)
    A_i = Ad(T_ip) A_p + S_i a_i + [V_i, S_i v_i]                                              (25)
    F_i = G_i A_i − ad(V_i)ᵀ G_i V_i − F_ext,i + Σ_c Ad(T_ci)ᵀ F_c            leaves to root   (26)

Gravity enters as an upward acceleration of the base, A_0 = (0, −g) [LP, E002-7].

External wrenches are what the environment does to the robot, on named frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torsor.arrays import concat, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Pose, Twist, Wrench
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_twist
from torsor.model import Robot

BaseMotion = tuple[Twist, Twist]  # twist V_0 and acceleration A_0 of the base, (..., 6) each, in base axes


def newton_euler(
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
    T_pi = joint_poses(robot, q)
    V, A = link_motion(robot, T_pi, v, a, gravity=gravity, base_motion=base_motion)
    external = wrenches_on_links(robot, wrenches)
    F: list[Wrench] = []
    for i, G in enumerate(robot.parameters.inertias):
        F_i = zeros(6) if A[i] is None else lie.apply_inertia(G, A[i])
        if V[i] is not None:
            F_i = F_i - lie.bracket_dual(V[i], lie.apply_inertia(G, V[i]))
        F.append(F_i - external[i] if i in external else F_i)
    return accumulate(robot, T_pi, F)


def link_motion(
    robot: Robot,
    T_pi: Sequence[Pose],
    v: JointVector | None,
    a: JointVector | None,
    *,
    gravity: bool,
    base_motion: BaseMotion | None,
) -> tuple[list[Twist | None], list[Twist | None]]:
    """Twists V_i and accelerations A_i (less gravity) of all links, (24) and (25); None where they vanish."""
    V_0, A_0 = base_motion if base_motion is not None else (None, None)
    if gravity:
        # Accelerating the base upwards gives every link its weight: no per-link gravity term is needed.
        lift = concat([zeros(3), -robot.parameters.gravity])
        A_0 = lift if A_0 is None else A_0 + lift
    V: list[Twist | None] = []
    A: list[Twist | None] = []
    for i, p in enumerate(robot.structure.parents):
        V_p, A_p = (V_0, A_0) if p < 0 else (V[p], A[p])
        V_i = None if V_p is None else lie.transform_twist_inverse(T_pi[i], V_p)
        A_i = None if A_p is None else lie.transform_twist_inverse(T_pi[i], A_p)
        if v is not None:
            S_v = joint_twist(robot, i, v)
            V_i = S_v if V_i is None else V_i + S_v
            A_i = _sum(A_i, lie.bracket(V_i, S_v))
        if a is not None:
            A_i = _sum(A_i, joint_twist(robot, i, a))
        V.append(V_i)
        A.append(A_i)
    return V, A


def accumulate(robot: Robot, T_pi: Sequence[Pose], F: Sequence[Wrench]) -> list[Wrench]:
    """Add to each link's wrench those of all links beyond it, (26): leaves to root."""
    total = list(F)
    for i in range(robot.n - 1, -1, -1):
        p = robot.structure.parents[i]
        if p >= 0:
            total[p] = total[p] + lie.transform_wrench_inverse(T_pi[i], total[i])
    return total


def _sum(x: Twist | None, y: Twist) -> Twist:
    return y if x is None else x + y


Wrenches = Mapping[str, Wrench]  # frame name → (..., 6): moment and force in that frame's axes, about its origin


def wrenches_on_links(robot: Robot, wrenches: Wrenches | None) -> dict[int, Wrench]:
    """The external wrench on each link, in the link's frame; links without any are absent, the base is ignored."""
    on_links: dict[int, Wrench] = {}
    for name, F in (wrenches or {}).items():
        frame = robot.structure.frame(name)
        if frame.pose_row is not None:
            F = lie.transform_wrench_inverse(robot.parameters.frame_poses[frame.pose_row], F)
        if frame.link >= 0:
            on_links[frame.link] = on_links[frame.link] + F if frame.link in on_links else F
    return on_links
