"""A controller made of a control law and a motion: at each time the law is given where the motion is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np

from torsor._once import once
from torsor._reports import Report
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.numbers import refuse_no_robot
from torsor.compiler.backend import backend
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.model import Robot

JOINTS = {"q_ref": "q", "v_ref": "v", "a_ref": "a", "jerk_ref": "jerk"}
POSES = {"target": "pose", "velocity": "twist", "acceleration": "acceleration"}


@dataclass(frozen=True, eq=False, repr=False)
class Follower(Report):
    """A controller t, q, v → τ that follows a motion with a law; made by `follow`.

    It has no memory, and may be called with numbers or traced.

    Attributes
    ----------
    law : function
    motion : motion of a robot or of a pose
    robot : Robot
        Whose dynamics the law uses.
    gains : mapping
        What else the law is given.
    """

    law: Callable[..., Any]
    motion: Any
    robot: Robot
    gains: Mapping[str, Any]

    def __call__(self, t: Any, q: Any, v: Any) -> Array:
        """Joint forces (..., nv), N·m or N, at time t, s, for the state q (..., nq), v (..., nv)."""
        state = self.motion.at(t)
        given = {name: getattr(state, part) for name, part in self._references.items()}
        if self._knows_time:
            given["t"] = t
        return self.law(robot=self.robot, q=q, v=v, **given, **self.gains)

    @once
    def _references(self) -> dict[str, str]:
        return _references(self.law, self.motion)

    @once
    def _knows_time(self) -> bool:
        return "t" in inspect.signature(self.law).parameters

    def __str__(self) -> str:
        gains = ", ".join(self.gains)
        return f"{_name(self.law)} of {self.robot.name!r} along {self.motion}, with {gains or 'no gains'}"


@explained
def follow(law: Callable[..., Any], motion: Any, *, robot: Robot | None = None, **gains: Any) -> Follower:
    """Controller that follows a motion with a control law: t, q, v → τ, for `torsor.simulate` or a loop of your own.

    At each time the law is given where the motion is: ``q_ref``, ``v_ref``, ``a_ref`` of a motion of a robot, those of them that
    it takes; ``target``, ``velocity``, ``acceleration`` of a motion of a pose.

    Parameters
    ----------
    law : function
        One of `torsor.control`, or your own with these names of arguments: robot, q, v, and those above.
    motion : motion
        Of a robot, or of a pose (`torsor.motion.screw`, `torsor.motion.smooth_pose`) for laws that lead a task.
    robot : Robot, optional
        Whose dynamics the law uses, if it is not the motion's own; a motion of a pose has none.
    **gains
        Everything else that the law takes: gains, the task. A law with the option ``nearest`` is given False unless you say
        otherwise, since a traced controller cannot look for a nearest target: so both do the same.

    Returns
    -------
    Follower
    """
    if not callable(law):
        raise ArgumentTypeError(f"`law` must be a function, such as torsor.control.computed_torque, got {law!r:.60}.")
    if not callable(getattr(motion, "at", None)):
        raise ArgumentTypeError(
            f"`motion` must be a motion, as torsor.motion makes them, got {type(motion).__name__} {motion!r:.60}."
        )
    parameters = inspect.signature(law).parameters
    own = robot if robot is not None else getattr(motion, "robot", None)
    if own is None:
        raise ArgumentError("`robot` is missing: a motion of a pose has none. Pass robot=.")
    refuse_no_robot(own)
    given = dict(gains)
    if "nearest" in parameters:
        given.setdefault("nearest", False)
    _refuse_misfits(law, motion, parameters, given)
    controller = Follower(law, motion, own, MappingProxyType(given))
    _try_out(controller)
    return controller


def _name(law: Callable[..., Any]) -> str:
    return getattr(law, "__name__", type(law).__name__)


def _is_pose_motion(motion: Any) -> bool:
    return not hasattr(motion, "robot")


def _references(law: Callable[..., Any], motion: Any) -> dict[str, str]:
    """What of the motion's state the law takes, by the names of its arguments."""
    parts = POSES if _is_pose_motion(motion) else JOINTS
    return {name: part for name, part in parts.items() if name in inspect.signature(law).parameters}


def _refuse_misfits(law: Callable[..., Any], motion: Any, parameters: Mapping[str, Any], gains: dict[str, Any]) -> None:
    name, pose = _name(law), _is_pose_motion(motion)
    first, what = ("target", "a pose") if pose else ("q_ref", "a robot's joints")
    if first not in parameters:
        if pose and "q_ref" in parameters:
            advice = "Laws that take `q_ref` are for motions of joints."
        elif "target" in parameters:
            advice = "Laws that take `target` lead a task: pass a motion of a pose."
        else:
            advice = f"Its arguments must be robot, q, v, {first} and what else it needs."
        raise ArgumentError(f"`law` {name} takes no `{first}`, and this is a motion of {what}. {advice}")
    taken = {"robot", "q", "v", "t", *_references(law, motion)}
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        unknown: list[str] = []
    else:
        unknown = [key for key in gains if key not in parameters]
    for key in [*unknown, *(key for key in gains if key in taken)]:
        if key in taken:
            raise ArgumentError(f"`{key}` comes from the motion and the state: do not pass it to follow.")
        near = get_close_matches(key, [p for p in parameters if p not in taken], n=1, cutoff=0.5)
        raise ArgumentTypeError(f"{name} takes no `{key}`{f'; did you mean `{near[0]}`?' if near else '.'}")
    variable = ("VAR_KEYWORD", "VAR_POSITIONAL")
    missing = [
        key
        for key, p in parameters.items()
        if p.default is p.empty and p.kind.name not in variable and key not in taken and key not in gains
    ]
    if missing:
        listed = ", ".join(f"{key}=…" for key in missing)
        raise ArgumentTypeError(
            f"{name} also needs {', '.join(f'`{key}`' for key in missing)}: follow({name}, motion, {listed})."
        )


def _try_out(controller: Follower) -> None:
    """Call it once, at the beginning of the motion, so that gains and shapes that are wrong are told of here."""
    robot, state = controller.robot, controller.motion.at(0.0)
    home = np.concatenate([kind.home for _, kind in robot.structure.blocks]) if robot.nq else np.zeros(0)
    q = home if _is_pose_motion(controller.motion) else state.q
    if np.shape(q)[-1:] != (robot.nq,):
        raise ArgumentError(f"`motion` has {np.shape(q)[-1]} numbers in q, and robot {robot.name!r} has {robot.nq}.")
    with backend("numpy"):
        tau = controller(0.0, q, np.zeros((*np.shape(q)[:-1], robot.nv)))
    if isinstance(tau, tuple) or np.shape(tau)[-1:] != (robot.nv,):
        what = f"{type(tau).__name__}({', '.join(tau._fields)})" if hasattr(tau, "_fields") else f"{type(tau).__name__}"
        raise ArgumentError(
            f"`law` {_name(controller.law)} must return joint forces (..., {robot.nv}), got {what}. One with an estimate that "
            "changes has a memory: write a controller (t, q, v, state) → tau, state."
        )
