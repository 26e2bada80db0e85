"""Each joint of a robot as the joints that MuJoCo has: hinge, slide, ball and free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from torsor.arrays import cross, matvec
from torsor.arrays.typing import Array, Pose, Vector3
from torsor.errors import ModelError
from torsor.lie import quaternion, se3
from torsor.model import Robot


@dataclass
class JointLine:
    """One of MuJoCo's joints, in the frame of its link; a follower moves by ratio · leader + offset."""

    name: str
    kind: str
    axis: Vector3 | None = None
    pos: Vector3 = field(default_factory=lambda: np.zeros(3))
    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    armature: float = 0.0
    damping: float = 0.0
    frictionloss: float = 0.0
    leader: str = ""
    ratio: float = 1.0
    offset: float = 0.0
    warning: str = ""

    def seen_from(self, T_lb: Pose) -> str:
        """The element, in the frame b of a body that sits at ``T_lb`` (4, 4) in the link's frame."""
        R = T_lb[:3, :3]
        words = [f"<joint name={quoteattr(self.name)}", f'type="{self.kind}"']
        if self.kind != "free":
            pos = matvec(R.T, self.pos - T_lb[:3, 3])
            words += [f'pos="{numbers(pos)}"'] if np.any(pos) else []
        if self.axis is not None:
            words.append(f'axis="{numbers(matvec(R.T, self.axis))}"')
        if np.isfinite(self.lower) or np.isfinite(self.upper):
            words.append(f'range="{numbers([self.lower, self.upper])}"')
        if np.isfinite(self.effort):
            words.append(f'actuatorfrcrange="{numbers([-self.effort, self.effort])}"')
        for key in ("armature", "damping", "frictionloss"):
            if getattr(self, key):
                words.append(f'{key}="{numbers([getattr(self, key)])}"')
        return " ".join(words) + "/>"


def joint_lines(robot: Robot, i: int) -> list[JointLine]:
    """Joint i of a robot, as one to four joints of MuJoCo's."""
    s, name, kind = robot.structure, robot.joints[i], robot.structure.kinds[i]
    if kind == "helical":
        raise ModelError(
            f"to_mjcf: joint {name!r} of robot {robot.name!r} is helical, and MuJoCo has no such joint. "
            f"Lock it, robot.lock({{{name!r}: 0.0}}), or write robot.to_json()."
        )
    if kind in ("revolute", "prismatic"):
        return [_one_number(robot, i)]
    axes: Array = np.eye(3)
    if kind == "planar":
        numbers_of = [(f"{name}_x", "slide", axes[0]), (f"{name}_y", "slide", axes[1]), (name, "hinge", axes[2])]
        return _several(robot, i, numbers_of, [1, 2, 0])
    if kind == "spherical" or s.parents[i] < 0:
        return [_rotating(robot, i, "ball" if kind == "spherical" else "free", _effects(robot, i))]
    slides = [(f"{name}_{letter}", "slide", axis) for letter, axis in zip("xyz", axes, strict=True)]
    angular = {key: value[:3] for key, value in _effects(robot, i).items()}
    return [*_several(robot, i, slides, [3, 4, 5]), _rotating(robot, i, "ball", angular)]


def _one_number(robot: Robot, i: int) -> JointLine:
    """A hinge or slide: of a unit screw, so that its position is ratio · q, and forces along it tau / ratio."""
    s, coupling, (w, v) = robot.structure, robot.structure.couplings[i], np.split(robot.parameters.screws[i], 2)
    c, name = s.coordinate_of(i), robot.joints[i]
    leader = next(k for k, joint in enumerate(s.joints) if joint == c.name)
    scale = s.couplings[leader].ratio
    if s.kinds[i] == "revolute":
        line = JointLine(name, "hinge", w, cross(w, v))  # the point of the axis next to the link's origin
    else:
        line = JointLine(name, "slide", v)
    if c.name != name:
        line.leader, line.ratio, line.offset = c.name, coupling.ratio / scale, coupling.offset
        return line
    lower, upper = s.limits.lower[c.q_start] * scale, s.limits.upper[c.q_start] * scale
    _set_range(robot, line, lower, upper)
    line.effort = s.limits.effort[c.v_start] / scale
    effects = {key: float(value[0]) for key, value in _effects(robot, i).items()}
    line.armature, line.damping = effects["armature"] / scale**2, effects["damping"] / scale**2
    line.frictionloss = effects["frictionloss"] / scale
    return line


def _several(robot: Robot, i: int, parts: list[tuple[str, str, Vector3]], places: list[int]) -> list[JointLine]:
    """Slides and hinges for a joint with several freedoms; ``places`` says where each is in our v."""
    c, limits = robot.structure.coordinate_of(i), robot.structure.limits
    effects = _effects(robot, i)
    name, lines = robot.joints[i], []
    for k, ((own, kind, axis), place) in enumerate(zip(parts, places, strict=True)):
        if own != name and own in robot.joints:
            raise ModelError(
                f"to_mjcf: MuJoCo needs the name {own!r} for a part of joint {name!r}: rename the other joint."
            )
        line = JointLine(own, kind, axis, effort=limits.effort[c.v_start + place])
        line.armature, line.damping, line.frictionloss = (float(value[place]) for value in effects.values())
        _set_range(robot, line, limits.lower[c.q_start + k], limits.upper[c.q_start + k])
        lines.append(line)
    slides = [line for line in lines if line.kind == "slide"]
    for key in ("armature", "damping", "frictionloss"):
        if len({getattr(line, key) for line in slides}) > 1:
            raise ModelError(
                f"to_mjcf: the {key} of joint {name!r} differs between directions that turn with its link; "
                "in MuJoCo they stand still. Make it the same in all of them."
            )
    lines[0].warning = _drifting(name, slides[0])
    return lines


def _rotating(robot: Robot, i: int, kind: str, effects: dict[str, Array]) -> JointLine:
    line = JointLine(robot.joints[i], kind)
    for key, value in effects.items():
        if np.any(value != value[0]):
            raise ModelError(
                f"to_mjcf: joint {line.name!r} has {key} {value.tolist()}; a {kind} joint of MuJoCo's has one number for all."
            )
        setattr(line, key, float(value[0]))
    if kind == "free":
        line.warning = _drifting(line.name, line)
    return line


def _drifting(name: str, line: JointLine) -> str:
    """Armature and friction of a translation: MuJoCo counts them along axes that stand still, torsor along the link's."""
    if not line.armature and not line.frictionloss:
        return ""
    what = "armature" if line.armature else "Coulomb friction"
    return (
        f"the {what} of joint {name!r} acts along the axes of its link, in MuJoCo along those of its parent. "
        "Forces differ where it turns and moves at once."
    )


def _effects(robot: Robot, i: int) -> dict[str, Array]:
    v, p = robot.structure.coordinate_of(i).v, robot.parameters
    return {
        "armature": p.armature[v],
        "damping": p.viscous_friction[v],
        "frictionloss": p.coulomb_friction[v],
    }


def _set_range(robot: Robot, line: JointLine, lower: float, upper: float) -> None:
    if lower == upper:
        raise ModelError(
            f"to_mjcf: joint {line.name!r} cannot leave {lower:g}, and MuJoCo wants a range that is not empty. "
            f"Lock it: robot.lock({{{line.name!r}: {lower:g}}})."
        )
    line.lower, line.upper = lower, upper


def at(pose: Pose, *, always: bool = False) -> str:
    """The attributes pos and quat of a pose (4, 4), each left out where it says nothing (unless ``always``)."""
    x, y, z, w = quaternion.from_rotation(se3.rotation(pose))
    position, turn = se3.translation(pose), [w, x, y, z]
    words = f' pos="{numbers(position)}"' if always or np.any(position) else ""
    return words + (f' quat="{numbers(turn)}"' if np.any(np.array(turn) != (1, 0, 0, 0)) else "")


def numbers(values: Sequence[Any] | Array) -> str:
    """Numbers as MJCF has them, to the last digit."""
    return " ".join(repr(float(value)).removesuffix(".0") for value in values)
