"""A robot as MJCF, MuJoCo's format: the same mass matrix, inverse dynamics and poses there."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torsor.arrays import cross, exact_constants, matvec
from torsor.arrays.typing import Array, Pose, Vector3
from torsor.border import explained
from torsor.errors import ModelError, warn_of_model
from torsor.formats.check_inertia import WRITTEN_DIGITS
from torsor.formats.mjcf_model import NO_MASS
from torsor.formats.safe_xml import check_names, quoted
from torsor.lie import quaternion, se3
from torsor.model import Inertia, Robot, Visual
from torsor.model.poses import composed

WORLD = "world"  # what MuJoCo calls its base
LEAST = 0.1 * NO_MASS  # kg, kg·m²: MuJoCo takes nothing below 1e-15 in a body that moves
ROUNDING = 1e-12
_UPRIGHT = 1e-14  # a turn that rounding could have made


@explained
@exact_constants()
def to_mjcf(robot: Robot) -> str:
    """The robot as MJCF text; compiled once, if MuJoCo is installed, to be sure of it.

    Joints keep their names and q its numbers, up to the order of quaternions. What MuJoCo writes in another way (see
    `torsor.adapters.MuJoCo`, which converts states):

    - A planar joint becomes two slides, ``joint_x`` and ``joint_y``, and a hinge with its name; a free joint that does not
      hang on the base three slides and a ball with its name. MuJoCo's velocities are the rates of these numbers.
    - The numbers of a free joint on the base are the pose of its link in the base: its home is where MuJoCo starts.
    - A mimic joint moves on its own, held by an equality constraint, which MuJoCo keeps softly.
    - A joint that moves by a ratio of q (a screw that is not of unit length) has qpos = ratio · q.
    - Every moving body has a mass: links without one get 1e-14 kg, which `torsor.load` takes for none.

    Shapes of `Robot.visuals` become geoms that touch nothing; meshes are left out, for MuJoCo would open them. Coulomb friction
    becomes frictionloss, effort limits actuatorfrcrange, frames sites, and the base the world. A
    changed order of q is refused; velocity limits, limits of spherical and free joints and the width of Coulomb friction are
    not written. Helical joints are refused: MuJoCo has none.
    """
    owners = [name for name in robot.joints if name in robot.coordinates]
    if list(robot.coordinates) != owners:
        raise ModelError(
            f"the order of q of robot {robot.name!r} was changed, which MJCF cannot say. "
            "Write robot.to_json(), or robot.reorder([name for name in robot.joints if name in robot.coordinates]).to_mjcf()."
        )
    text = "\n".join(_Writer(robot).lines()) + "\n"
    if importlib.util.find_spec("mujoco") is not None:
        _compile(robot, text)
    return text


def _compile(robot: Robot, text: str) -> None:
    import mujoco

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mujoco.MjSpec.from_string(text).compile()
    except ValueError as error:
        said = " ".join(str(error).split())
        raise ModelError(f"MuJoCo does not take robot {robot.name!r}. It says: {said.rstrip('.')}.") from None


class _Writer:
    def __init__(self, robot: Robot) -> None:
        s = robot.structure
        if not robot.parameters.is_concrete:
            raise ModelError(f"robot {robot.name!r} holds traced parameters, which have no numbers to write.")
        check_names(robot)
        if WORLD in s.links:
            raise ModelError(
                f"{WORLD!r} is the name of MuJoCo's base, but a moving link of robot {robot.name!r} is called so. "
                f"Rename it: robot.rename({{{WORLD!r}: …}})."
            )
        self.robot, self.s, self.p = robot, s, robot.parameters
        self.children: dict[int, list[int]] = {}
        for i, parent in enumerate(s.parents):
            self.children.setdefault(parent, []).append(i)
        self.sites: dict[int, list[tuple[str, Pose]]] = {}
        for frame in s.frames:
            if frame.pose_row is not None:
                self.sites.setdefault(frame.link, []).append((frame.name, self.p.frame_poses[frame.pose_row]))
        self.geoms: dict[int, list[str]] = {}
        for visual in robot.visuals:
            place = s.frame(visual.link)
            pose = visual.pose if place.pose_row is None else composed(self.p.frame_poses[place.pose_row], visual.pose)
            if visual.is_solid:
                self.geoms.setdefault(place.link, []).append(_geom(visual, pose))
        self.joints = [_joint_lines(robot, i) for i in range(s.n)]
        for message in dict.fromkeys(line.warning for lines in self.joints for line in lines if line.warning):
            warn_of_model(f"to_mjcf: {message}")

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        yield f"<mujoco model={quoted(self.robot.name)}>"
        yield '  <compiler angle="radian" autolimits="true"/>'
        yield f'  <option gravity="{_numbers(self.p.gravity)}"/>'
        yield "  <worldbody>"
        yield from self._base()
        waiting: list[tuple[int, str]] = [(i, "    ") for i in reversed(self.children.get(-1, []))]
        while waiting:  # a body is closed when its number comes up again, as its complement
            i, indent = waiting.pop()
            if i < 0:
                yield f"{indent}</body>"
                continue
            last, chain = self._chain(i)
            yield from self._body(last, chain, indent)
            waiting.append((~i, indent))
            waiting += [(child, indent + "  ") for child in reversed(self.children.get(last, []))]
        yield "  </worldbody>"
        followers = [line for lines in self.joints for line in lines if line.leader]
        if followers:
            yield "  <equality>"
            for line in followers:
                names = f"joint1={quoted(line.name)} joint2={quoted(line.leader)}"
                yield f'    <joint {names} polycoef="{_numbers([line.offset, line.ratio, 0, 0, 0])}"/>'
            yield "  </equality>"
        yield "</mujoco>"

    def _base(self) -> Iterator[str]:
        """Frames of the base as sites of the world; where the base has a mass, one of them is a body that holds it."""
        frames = list(self.sites.get(-1, []))
        if self.s.base != WORLD:
            frames.insert(0, (self.s.base, np.eye(4)))
        row = self.p.base_inertia
        if np.any(row != 0):
            name, pose = frames.pop(0) if frames else (f"{WORLD}_body", np.eye(4))
            yield f"    <body name={quoted(name)}{_at(pose)}>"
            yield f"      {_inertial(name, Inertia.from_row(row).moved(se3.inverse(pose)))}"
            yield "    </body>"
        for name, pose in frames:
            yield f"    <site name={quoted(name)}{_at(pose)}/>"
        yield from (f"    {geom}" for geom in self.geoms.get(-1, []))

    def _body(self, i: int, chain: list[int], indent: str) -> Iterator[str]:
        """The body of link i, up to its children, with the joints of a chain of links that ends in i."""
        pose = np.eye(4)
        for k in chain:
            pose = composed(pose, self.p.poses[k])
        yield f"{indent}<body name={quoted(self.s.links[i])}{_at(pose)}>"
        yield f"{indent}  {_inertial(self.s.links[i], Inertia.from_row(self.p.inertias[i]))}"
        for k in chain:
            for line in self.joints[k]:
                yield f"{indent}  {line.seen_from(self._to_last(k, chain))}"
        for name, place in self.sites.get(i, []):
            yield f"{indent}  <site name={quoted(name)}{_at(place)}/>"
        yield from (f"{indent}  {geom}" for geom in self.geoms.get(i, []))

    def _to_last(self, i: int, chain: list[int]) -> Pose:
        """The pose (4, 4) of the last link of a chain in the frame of link i, at home."""
        pose = np.eye(4)
        for k in chain[chain.index(i) + 1 :]:
            pose = composed(pose, self.p.poses[k])
        return pose

    def _chain(self, i: int) -> tuple[int, list[int]]:
        """The links that are one body in MuJoCo: massless ones called ``body__joint``, as `torsor.load` calls them."""
        chain = [i]
        while self._is_virtual(chain[-1]):
            chain.append(self.children[chain[-1]][0])
        body = self.s.links[chain[-1]]
        whole = all(self.s.links[k] == f"{body}__{self.s.joints[k]}" for k in chain[:-1])
        kinds = [line.kind for k in chain for line in self.joints[k]]
        turning = [kind for kind in kinds if kind != "slide"]
        straight = all(  # the axes of a ball are those of its body
            np.abs(self._to_last(k, chain)[:3, :3] - np.eye(3)).max() < _UPRIGHT
            for k in chain
            if self.joints[k][-1].kind == "ball"
        )
        # Nothing turns a body beyond its ball in MuJoCo, and nothing moves one that is free.
        if not whole or not straight or "ball" in turning[:-1] or ("free" in kinds and len(kinds) > 1):
            chain = chain[:1]
        return chain[-1], chain

    def _is_virtual(self, i: int) -> bool:
        name = self.s.links[i].endswith(f"__{self.s.joints[i]}")
        massless = not np.any(self.p.inertias[i] != 0)
        bare = not self.sites.get(i) and not self.geoms.get(i)
        return name and massless and bare and len(self.children.get(i, [])) == 1


def _geom(visual: Visual, pose: Pose) -> str:
    """A shape that is seen and does nothing: it touches nothing and weighs nothing."""
    halves = {"box": (0.5, 0.5, 0.5), "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5)}.get(visual.kind, (1.0, 1.0, 1.0))
    size = _numbers([x * half for x, half in zip(visual.size, halves, strict=False)])
    colour = "" if visual.colour is None else f' rgba="{_numbers(visual.colour)}"'
    return (
        f'<geom type="{visual.kind}" size="{size}"{_at(pose)}{colour} contype="0" conaffinity="0" group="2" mass="0"/>'
    )


def _inertial(name: str, inertia: Inertia) -> str:
    moments, axes = inertia.principal()
    low, middle, high = np.maximum(moments, LEAST)
    if high > low + middle:  # MuJoCo allows no rounding
        if high - low - middle > WRITTEN_DIGITS * high:
            problem = "; ".join(inertia.violations())
            raise ModelError(f"MuJoCo refuses the inertia of link {name!r}, which no body can have: {problem}.")
        if high - low - middle > ROUNDING * high:
            message = (
                f"the largest principal moment of link {name!r}, {high:.6g} kg·m², is written as {low + middle:.6g}"
            )
            warn_of_model(f"to_mjcf: {message}.")
        high = low + middle
    if inertia.mass < LEAST and high > NO_MASS:
        message = (
            f"link {name!r} has inertia and no mass: written with {LEAST:g} kg, which MuJoCo takes and torsor.load not"
        )
        warn_of_model(f"to_mjcf: {message}.")
    mass = _numbers([max(float(inertia.mass), LEAST)])
    pose = se3.pose(axes, inertia.com)
    return f'<inertial{_at(pose, always=True)} mass="{mass}" diaginertia="{_numbers([low, middle, high])}"/>'


@dataclass
class _JointLine:
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
    stiffness: float = 0.0
    springref: float = 0.0
    leader: str = ""
    ratio: float = 1.0
    offset: float = 0.0
    warning: str = ""

    def seen_from(self, T_lb: Pose) -> str:
        """The element, in the frame b of a body that sits at ``T_lb`` (4, 4) in the link's frame."""
        R = T_lb[:3, :3]
        words = [f"<joint name={quoted(self.name)}", f'type="{self.kind}"']
        if self.kind != "free":
            pos = matvec(R.T, self.pos - T_lb[:3, 3])
            words += [f'pos="{_numbers(pos)}"'] if np.any(pos) else []
        if self.axis is not None:
            words.append(f'axis="{_numbers(matvec(R.T, self.axis))}"')
        if np.isfinite(self.lower) or np.isfinite(self.upper):
            words.append(f'range="{_numbers([self.lower, self.upper])}"')
        if np.isfinite(self.effort):
            words.append(f'actuatorfrcrange="{_numbers([-self.effort, self.effort])}"')
        for key in ("armature", "damping", "frictionloss", "stiffness", "springref"):
            if getattr(self, key):
                words.append(f'{key}="{_numbers([getattr(self, key)])}"')
        return " ".join(words) + "/>"


def _joint_lines(robot: Robot, i: int) -> list[_JointLine]:
    """Joint i of a robot, as one to four joints of MuJoCo's."""
    s, name, kind = robot.structure, robot.joints[i], robot.structure.kinds[i]
    if kind == "helical":
        raise ModelError(
            f"joint {name!r} of robot {robot.name!r} is helical, and MuJoCo has no such joint. "
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


def _one_number(robot: Robot, i: int) -> _JointLine:
    """A hinge or slide: of a unit screw, so that its position is ratio · q, and forces along it tau / ratio."""
    s, coupling, (w, v) = robot.structure, robot.structure.couplings[i], np.split(robot.parameters.screws[i], 2)
    c, name = s.coordinate_of(i), robot.joints[i]
    leader = next(k for k, joint in enumerate(s.joints) if joint == c.name)
    scale = s.couplings[leader].ratio
    if s.kinds[i] == "revolute":
        line = _JointLine(name, "hinge", w, cross(w, v))  # the point of the axis next to the link's origin
    else:
        line = _JointLine(name, "slide", v)
    if c.name != name:
        line.leader, line.ratio, line.offset = c.name, coupling.ratio / scale, coupling.offset
        return line
    lower, upper = s.limits.lower[c.q_start] * scale, s.limits.upper[c.q_start] * scale
    _set_range(robot, line, lower, upper)
    line.effort = s.limits.effort[c.v_start] / scale
    effects = {key: float(value[0]) for key, value in _effects(robot, i).items()}
    line.armature, line.damping = effects["armature"] / scale**2, effects["damping"] / scale**2
    line.frictionloss = effects["frictionloss"] / scale
    line.stiffness = float(robot.parameters.stiffness[c.v_start]) / scale**2
    line.springref = float(robot.parameters.rest[c.v_start]) * scale if line.stiffness else 0.0
    return line


def _several(robot: Robot, i: int, parts: list[tuple[str, str, Vector3]], places: list[int]) -> list[_JointLine]:
    """Slides and hinges for a joint with several freedoms; ``places`` says where each is in our v."""
    c, limits = robot.structure.coordinate_of(i), robot.structure.limits
    effects = _effects(robot, i)
    name, lines = robot.joints[i], []
    for k, ((own, kind, axis), place) in enumerate(zip(parts, places, strict=True)):
        if own != name and own in robot.joints:
            raise ModelError(f"MuJoCo needs the name {own!r} for a part of joint {name!r}: rename the other joint.")
        line = _JointLine(own, kind, axis, effort=limits.effort[c.v_start + place])
        line.armature, line.damping, line.frictionloss = (float(value[place]) for value in effects.values())
        _set_range(robot, line, limits.lower[c.q_start + k], limits.upper[c.q_start + k])
        lines.append(line)
    slides = [line for line in lines if line.kind == "slide"]
    for key in ("armature", "damping", "frictionloss"):
        if len({getattr(line, key) for line in slides}) > 1:
            raise ModelError(
                f"the {key} of joint {name!r} differs between directions that turn with its link; "
                "in MuJoCo they stand still. Make it the same in all of them."
            )
    lines[0].warning = _drifting(name, slides[0])
    return lines


def _rotating(robot: Robot, i: int, kind: str, effects: dict[str, Array]) -> _JointLine:
    line = _JointLine(robot.joints[i], kind)
    for key, value in effects.items():
        if np.any(value != value[0]):
            raise ModelError(
                f"joint {line.name!r} has {key} {value.tolist()}; a {kind} joint of MuJoCo's has one number for all."
            )
        setattr(line, key, float(value[0]))
    if kind == "free":
        line.warning = _drifting(line.name, line)
    return line


def _drifting(name: str, line: _JointLine) -> str:
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


def _set_range(robot: Robot, line: _JointLine, lower: float, upper: float) -> None:
    if lower == upper:
        raise ModelError(
            f"joint {line.name!r} cannot leave {lower:g}, and MuJoCo wants a range that is not empty. "
            f"Lock it: robot.lock({{{line.name!r}: {lower:g}}})."
        )
    line.lower, line.upper = lower, upper


def _at(pose: Pose, *, always: bool = False) -> str:
    """The attributes pos and quat of a pose (4, 4), each left out where it says nothing (unless ``always``)."""
    x, y, z, w = quaternion.from_rotation(se3.rotation(pose))
    position, turn = se3.translation(pose), [w, x, y, z]
    words = f' pos="{_numbers(position)}"' if always or np.any(position) else ""
    return words + (f' quat="{_numbers(turn)}"' if np.any(np.array(turn) != (1, 0, 0, 0)) else "")


def _numbers(values: Sequence[Any] | Array) -> str:
    """Numbers as MJCF has them, to the last digit."""
    return " ".join(repr(float(value)).removesuffix(".0") for value in values)
