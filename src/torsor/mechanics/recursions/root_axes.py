"""Links seen from the root link they hang on, taken at rest: for joint-space quantities, as good as the base, and with one
joint less in every pose. Each root has axes of its own; links on different roots never meet in joint space.
"""

from __future__ import annotations

from torsor.arrays import identity, matmul, matvec, transpose
from torsor.arrays.typing import Pose, Twist, Vector3
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation
from torsor.model import Robot


def roots(robot: Robot) -> list[int]:
    """The links that hang on the base."""
    return [i for i, parent in enumerate(robot.structure.parents) if parent < 0]


def poses_in_root(robot: Robot, T_pi: list[Pose]) -> list[Pose]:
    """T_ri of every link in its root link r, from its pose in its parent."""
    T: list[Pose] = []
    for i, parent in enumerate(robot.structure.parents):
        T.append(identity(4) if parent < 0 else matmul(T[parent], T_pi[i]))
    return T


def turned_to_root(robot: Robot, T_pi: list[Pose], x: Vector3) -> list[Vector3]:
    """A vector (..., 3) of the base, in the axes of every link's root."""
    turned: list[Vector3] = []
    for i, parent in enumerate(robot.structure.parents):
        turned.append(matvec(transpose(rotation(T_pi[i])), x) if parent < 0 else turned[parent])
    return turned


def moved_to_root(robot: Robot, T_pi: list[Pose], V: Twist) -> list[Twist]:
    """A twist (..., 6) in base axes about the base origin, in the axes of every link's root about that root's origin."""
    moved: list[Twist] = []
    for i, parent in enumerate(robot.structure.parents):
        moved.append(lie.transform_twist_inverse(T_pi[i], V) if parent < 0 else moved[parent])
    return moved
