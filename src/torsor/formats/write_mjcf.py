"""A robot as MJCF, MuJoCo's format: the same mass matrix, inverse dynamics and poses there."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from os import PathLike
from xml.sax.saxutils import quoteattr

import numpy as np

from torsor._text_files import write_text
from torsor.arrays import exact_constants
from torsor.arrays.typing import Pose
from torsor.errors import ModelError, warn_of_model
from torsor.formats.check_inertia import WRITTEN_DIGITS
from torsor.formats.mjcf_model import NO_MASS
from torsor.formats.write_mjcf_joints import at, joint_lines, numbers
from torsor.formats.xml_names import check_names
from torsor.lie import se3
from torsor.model import Inertia, Robot
from torsor.model.poses import composed

WORLD = "world"  # what MuJoCo calls its base
LEAST = 0.1 * NO_MASS  # kg, kg·m²: MuJoCo takes nothing below 1e-15 in a body that moves
ROUNDING = 1e-12
_UPRIGHT = 1e-14  # a turn that rounding could have made


@exact_constants()
def to_mjcf(robot: Robot, path: str | PathLike[str] | None = None) -> str:
    """The robot as MJCF text, also written to ``path``; compiled once, if MuJoCo is installed, to be sure of it.

    Joints keep their names and q its numbers, up to the order of quaternions. What MuJoCo writes in another way (see
    `torsor.adapters.MuJoCo`, which converts states):

    - A planar joint becomes two slides, ``joint_x`` and ``joint_y``, and a hinge with its name; a free joint that does not
      hang on the base three slides and a ball with its name. MuJoCo's velocities are the rates of these numbers.
    - The numbers of a free joint on the base are the pose of its link in the base: its home is where MuJoCo starts.
    - A mimic joint moves on its own, held by an equality constraint, which MuJoCo keeps softly.
    - A joint that moves by a ratio of q (a screw that is not of unit length) has qpos = ratio · q.
    - Every moving body has a mass: links without one get 1e-14 kg, which `torsor.load` takes for none.

    Coulomb friction becomes frictionloss, effort limits actuatorfrcrange, frames sites, and the base the world. A
    changed order of q is refused; velocity limits, limits of spherical and free joints and the width of Coulomb friction are
    not written. Helical joints are refused: MuJoCo has none.
    """
    owners = [name for name in robot.joints if name in robot.coordinates]
    if list(robot.coordinates) != owners:
        raise ModelError(
            f"to_mjcf: the order of q of robot {robot.name!r} was changed, which MJCF cannot say. "
            "Write robot.to_json(), or robot.reorder([name for name in robot.joints if name in robot.coordinates]).to_mjcf()."
        )
    text = "\n".join(_Writer(robot).lines()) + "\n"
    if importlib.util.find_spec("mujoco") is not None:
        _compile(robot, text)
    if path is not None:
        write_text("to_mjcf", path, text)
    return text


def _compile(robot: Robot, text: str) -> None:
    import mujoco

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mujoco.MjSpec.from_string(text).compile()
    except ValueError as error:
        said = " ".join(str(error).split())
        raise ModelError(f"to_mjcf: MuJoCo does not take robot {robot.name!r}. It says: {said.rstrip('.')}.") from None


class _Writer:
    def __init__(self, robot: Robot) -> None:
        s = robot.structure
        if not robot.parameters.is_concrete:
            raise ModelError(f"to_mjcf: robot {robot.name!r} holds traced parameters, which have no numbers to write.")
        check_names("to_mjcf", robot)
        if WORLD in s.links:
            raise ModelError(
                f"to_mjcf: {WORLD!r} is the name of MuJoCo's base, but a moving link of robot {robot.name!r} is called so. "
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
        self.joints = [joint_lines(robot, i) for i in range(s.n)]
        for message in dict.fromkeys(line.warning for lines in self.joints for line in lines if line.warning):
            warn_of_model(f"to_mjcf: {message}")

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        yield f"<mujoco model={quoteattr(self.robot.name)}>"
        yield '  <compiler angle="radian" autolimits="true"/>'
        yield f'  <option gravity="{numbers(self.p.gravity)}"/>'
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
                names = f"joint1={quoteattr(line.name)} joint2={quoteattr(line.leader)}"
                yield f'    <joint {names} polycoef="{numbers([line.offset, line.ratio, 0, 0, 0])}"/>'
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
            yield f"    <body name={quoteattr(name)}{at(pose)}>"
            yield f"      {_inertial(name, Inertia.from_row(row).moved(se3.inverse(pose)))}"
            yield "    </body>"
        for name, pose in frames:
            yield f"    <site name={quoteattr(name)}{at(pose)}/>"

    def _body(self, i: int, chain: list[int], indent: str) -> Iterator[str]:
        """The body of link i, up to its children, with the joints of a chain of links that ends in i."""
        pose = np.eye(4)
        for k in chain:
            pose = composed(pose, self.p.poses[k])
        yield f"{indent}<body name={quoteattr(self.s.links[i])}{at(pose)}>"
        yield f"{indent}  {_inertial(self.s.links[i], Inertia.from_row(self.p.inertias[i]))}"
        for k in chain:
            for line in self.joints[k]:
                yield f"{indent}  {line.seen_from(self._to_last(k, chain))}"
        for name, place in self.sites.get(i, []):
            yield f"{indent}  <site name={quoteattr(name)}{at(place)}/>"

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
        return name and massless and not self.sites.get(i) and len(self.children.get(i, [])) == 1


def _inertial(name: str, inertia: Inertia) -> str:
    moments, axes = inertia.principal()
    low, middle, high = np.maximum(moments, LEAST)
    if high > low + middle:  # MuJoCo allows no rounding
        if high - low - middle > WRITTEN_DIGITS * high:
            problem = "; ".join(inertia.violations())
            raise ModelError(
                f"to_mjcf: MuJoCo refuses the inertia of link {name!r}, which no body can have: {problem}."
            )
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
    mass = numbers([max(float(inertia.mass), LEAST)])
    pose = se3.pose(axes, inertia.com)
    return f'<inertial{at(pose, always=True)} mass="{mass}" diaginertia="{numbers([low, middle, high])}"/>'
