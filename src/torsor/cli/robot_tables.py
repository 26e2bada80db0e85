"""A robot as tables for people, and as a dict for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import torsor
from torsor._reports import table
from torsor.errors import printable


def as_dict(robot: torsor.Robot) -> dict[str, Any]:
    """What programs ask for; limits that there are none of are None."""
    s, p = robot.structure, robot.parameters
    joints = []
    for c in s.coordinates:
        bounds = {name: getattr(s.limits, name)[c.q] for name in ("lower", "upper")}
        bounds |= {name: getattr(s.limits, name)[c.v] for name in ("velocity", "effort")}
        limits = {name: [x if np.isfinite(x) else None for x in map(float, values)] for name, values in bounds.items()}
        place = {"q": c.q_start, "nq": c.nq, "v": c.v_start, "nv": c.nv}
        joints.append({"name": c.name, "kind": s.kinds[s.joints.index(c.name)], **place, **limits})
    return {
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "base": s.base,
        "gravity": [float(x) for x in p.gravity],
        "effects": list(robot.effects),
        "joints": joints,
        "links": [{"name": name, "mass": float(robot.inertia(name).mass)} for name in robot.links],
        "frames": list(robot.frames),
        "digest": robot.digest,
    }


def describe(robot: torsor.Robot) -> str:
    """The tables as text."""
    s, p = robot.structure, robot.parameters
    carried, base = float(p.inertias[:, 0].sum()), float(p.base_inertia[0])
    lines = [
        f"{printable(robot.name)}: {robot.n} moving links, {robot.nv} degrees of freedom (nq {robot.nq}, nv {robot.nv})",
        f"mass {carried:.6g} kg moving" + (f", {base:.6g} kg on the base" if base else ""),
        f"gravity ({', '.join(f'{x:g}' for x in p.gravity)}) m/s²; effects: {', '.join(robot.effects) or 'none'}",
    ]
    if robot.source is not None:
        lines.append(
            f"read from {printable(robot.source.file)} ({robot.source.format}), findings: {len(robot.source.findings)}"
        )
    lines += ["", "Tree", *_tree(robot), "", "Joints", *_joints(robot), "", "Links", *_links(robot)]
    frames = [frame for frame in s.frames if frame.pose_row is not None]
    if frames:
        lines += ["", "Frames", *_frames(robot)]
    return "\n".join(lines) + "\n"


def _tree(robot: torsor.Robot) -> list[str]:
    s = robot.structure
    lines = [printable(s.base)]

    def add(parent: int, indent: str) -> None:
        children = [i for i in range(s.n) if s.parents[i] == parent]
        for k, i in enumerate(children):
            last = k == len(children) - 1
            joint = f"{printable(s.links[i])}  [{printable(s.joints[i])}: {s.kinds[i]}]"
            lines.append(f"{indent}{'└─' if last else '├─'} {joint}")
            add(i, indent + ("   " if last else "│  "))

    if max((len(s.path_from_base(i)) for i in range(s.n)), default=0) < 200:
        add(-1, "")
    else:
        lines.append("(a chain too long to draw)")
    return lines


def _joints(robot: torsor.Robot) -> list[str]:
    s, p = robot.structure, robot.parameters
    rows: list[Sequence[str]] = [
        (
            "joint",
            "kind",
            "q",
            "lower",
            "upper",
            "velocity",
            "effort",
            "armature",
            "viscous",
            "Coulomb",
            "stiffness",
            "rest",
            "",
        )
    ]
    reductions = {} if robot.source is None else robot.source.reductions
    for i, name in enumerate(s.joints):
        c, coupling = s.coordinate_of(i), s.couplings[i]
        remark = ""
        if c.name != name:
            remark = f"= {coupling.ratio:g} · {c.name}" + (f" + {coupling.offset:g}" if coupling.offset else "")
            rows.append((name, s.kinds[i], *[""] * 10, remark))
            continue
        if name in reductions:
            remark = f"reduction {reductions[name]:g}"
        q = f"{c.q_start}" if c.nq == 1 else f"{c.q_start}…{c.q_start + c.nq - 1}"
        bounds = [_range(s.limits.lower[c.q], -1), _range(s.limits.upper[c.q], 1)]
        bounds += [_range(s.limits.velocity[c.v], 1), _range(s.limits.effort[c.v], 1)]
        friction = [_range(leaf[c.v], 0) for leaf in (p.armature, p.viscous_friction, p.coulomb_friction)]
        spring = [_range(p.stiffness[c.v], 0), f"{p.rest[c.v_start]:.5g}" if np.any(p.stiffness[c.v]) else "–"]
        rows.append((name, s.kinds[i], q, *bounds, *friction, *spring, remark))
    if not np.any(p.stiffness):
        rows = [(*row[:-3], row[-1]) for row in rows]  # few robots have springs
    return table(rows, indent="  ")


def _range(values: Sequence[float], sign: int) -> str:
    """One number, or the narrowest of several; "–" where there is none."""
    value = float(max(values)) if sign < 0 else float(min(values)) if sign > 0 else float(max(values))
    return "–" if np.isinf(value) or (sign == 0 and value == 0) else f"{value:.5g}"


def _links(robot: torsor.Robot) -> list[str]:
    rows: list[Sequence[str]] = [("link", "mass kg", "centre of mass m", "principal moments kg·m²")]
    for name in robot.links:
        body = robot.inertia(name)
        rows.append((name, f"{float(body.mass):.5g}", _numbers(body.com), _numbers(body.principal().moments)))
    return table(rows, indent="  ")


def _frames(robot: torsor.Robot) -> list[str]:
    s, p = robot.structure, robot.parameters
    rows: list[Sequence[str]] = [("frame", "on", "position m")]
    for frame in s.frames:
        if frame.pose_row is not None:
            link = s.base if frame.link < 0 else s.links[frame.link]
            rows.append((frame.name, link, _numbers(p.frame_poses[frame.pose_row][:3, 3])))
    return table(rows, indent="  ")


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{x:9.4g}" for x in np.asarray(values) + 0.0)
