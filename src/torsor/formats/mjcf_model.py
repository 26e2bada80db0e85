"""A compiled MuJoCo model as a description of bodies, joints and frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import cross, dot, exact_constants, matvec
from torsor.arrays.exact import ROUNDING, norm
from torsor.arrays.typing import Array, Pose, Twist, Vector3
from torsor.formats.description import Description, FramePart, JointPart, LinkPart, Shape, unused
from torsor.formats.findings import Findings
from torsor.lie import quaternion, se3
from torsor.model import Mimic, Visual
from torsor.model.poses import composed

# Older releases of MuJoCo diagonalise an inertia to six digits only; what differs by more was changed on purpose.
DIAGONALISED = 1e-5
# MuJoCo wants some mass in every moving body; less than this stands for none, in files that torsor writes too.
NO_MASS = 1e-13
LARGEST = 1e75  # the fourth power of a number is still one
GROUPS_DRAWN = 3  # geoms of these first groups are seen in MuJoCo's viewer; others are for contacts
UNPAINTED = (0.5, 0.5, 0.5, 1.0)  # the colour of a geom that was given none


class Written(NamedTuple):
    """An <inertial> as the file gives it: mass, centre of mass (3,), and the inertia (3, 3); in which axes, if ``full``."""

    mass: float
    com: Vector3
    matrix: Array
    full: bool


class MeshFile(NamedTuple):
    """The file of a mesh, as written, and its scale."""

    file: str
    scale: tuple[float, ...]


@dataclass
class Notes:
    """What was known of the file before it was compiled; lines by kind of element and name."""

    fused: bool
    lines: dict[tuple[str, str], int | None] = field(default_factory=dict)
    written: dict[str, Written] = field(default_factory=dict)
    without_inertia: set[str] = field(default_factory=set)
    inverted: dict[str, tuple[float, float]] = field(default_factory=dict)
    mesh_files: Mapping[str, MeshFile] = field(default_factory=dict)
    meshes: dict[str, list[Visual]] = field(default_factory=dict)

    def add_mesh(self, mujoco: Any, body: str, geom: Any) -> None:
        """Note a mesh that is seen, where its place is plain: not in a <frame>, nor turned by other than a quaternion."""
        mesh = self.mesh_files.get(geom.meshname)
        plain = geom.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT and getattr(geom, "frame", None) is None
        if mesh is None or len(mesh.scale) != 3 or not plain or geom.group >= GROUPS_DRAWN:
            return
        if np.all(np.isfinite([*geom.pos, *geom.quat])) and np.any(geom.quat):
            wxyz = np.array(geom.quat, float) / np.linalg.norm(geom.quat)
            visual = Visual(body, "mesh", mesh.scale, _pose(geom.pos, wxyz), _paint(geom.rgba), mesh.file)
            self.meshes.setdefault(body, []).append(visual)


@exact_constants()
def describe(mujoco: Any, model: Any, name: str, notes: Notes, report: Findings) -> Description | None:
    """The description of a compiled model; None if its numbers are too large to compute with."""
    reader = _Reader(mujoco, model, notes, report)
    robot = Description(name, gravity=reader.gravity())
    with np.errstate(all="ignore"):  # what overflows is refused below
        for body in range(model.nbody):
            robot.links.append(reader.link(body))
            robot.visuals += (visual for visual in reader.visuals(body) if visual.is_bounded)
            if body:
                reader.add_joints(body, robot)
        reader.add_mimics(robot)
        reader.add_frames(robot)
    reader.report_forces()
    _refuse_unbounded(robot, report)
    return None if report.failed else robot


class _Reader:
    def __init__(self, mujoco: Any, model: Any, notes: Notes, report: Findings) -> None:
        self.mujoco, self.model, self.notes, self.report = mujoco, model, notes, report
        self.bodies = [self._name("BODY", k) for k in range(model.nbody)]
        self.joints = [self._name("JOINT", k) for k in range(model.njnt)]
        self._fixed_names: set[str] = set(self.joints)
        self._links = set(self.bodies)

    def gravity(self) -> Vector3:
        """Acceleration of gravity (3,), m/s²: zero where the file switches it off."""
        return np.zeros(3) if self._off("GRAVITY") else np.array(self.model.opt.gravity)

    # Bodies

    def link(self, b: int) -> LinkPart:
        """A body: its inertia as MuJoCo has it, and its primitives."""
        m, name = self.model, self.bodies[b]
        link = LinkPart(name, self._line("body", name), shapes=list(self._shapes(b)))
        mass, moments = float(m.body_mass[b]), np.array(m.body_inertia[b])
        if b == 0 or name in self.notes.without_inertia or (mass < NO_MASS and moments.max() < NO_MASS):
            return link
        link.mass, link.com, link.turn = mass, np.array(m.body_ipos[b]), _rotation(m.body_iquat[b])
        link.set_matrix(np.diag(moments))
        if name in self.notes.written and not self.notes.fused:
            self._compare(b, link, self.notes.written[name])
        return link

    def _compare(self, b: int, link: LinkPart, written: Written) -> None:
        """Findings it, if the file's own settings (balanceinertia, boundmass, settotalmass, …) changed an <inertial>."""
        assert link.mass is not None
        if not _is_bounded([link.matrix, written.matrix]):
            return
        before, moments = np.linalg.eigvalsh(written.matrix), np.linalg.eigvalsh(link.matrix)
        changed, size = [], float(np.abs(before).max())
        if abs(link.mass - written.mass) > DIAGONALISED * abs(written.mass):
            changed.append(f"the mass from {written.mass:.6g} to {link.mass:.6g} kg")
        if np.abs(moments - before).max() > DIAGONALISED * size:
            changed.append(f"the moments from {_listed(before)} to {_listed(moments)} kg·m²")
        # The frame of a free body may have been moved to its centre of mass (alignfree).
        if not changed and self.model.body_dofnum[b] != 6:
            if np.abs(link.com - written.com).max() > DIAGONALISED * np.abs(written.com).max():
                changed.append(f"the centre of mass from {_listed(written.com)} to {_listed(link.com)} m")
            whole = link.turn @ link.matrix @ link.turn.T
            if written.full and np.abs(whole - written.matrix).max() > DIAGONALISED * size:
                changed.append("its products of inertia")
        if changed:
            message = f"MuJoCo's compiler changes {' and '.join(changed)}"
            self.report.add("inertia-changed", link.line, f"body {link.name!r}", message)

    def _shapes(self, b: int) -> Iterator[Shape]:
        m, kinds = self.model, self.mujoco.mjtGeom
        for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
            kind, (x, y, z) = kinds(m.geom_type[g]), map(float, m.geom_size[g])
            pose = _pose(m.geom_pos[g], m.geom_quat[g])
            if kind in (kinds.mjGEOM_BOX, kinds.mjGEOM_ELLIPSOID):
                yield Shape("box", (2 * x, 2 * y, 2 * z), pose)
            elif kind == kinds.mjGEOM_SPHERE:
                yield Shape("sphere", (x,), pose)
            elif kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
                yield Shape("capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder", (x, 2 * y), pose)

    def visuals(self, b: int) -> Iterator[Visual]:
        """What a body looks like: geoms of the groups that MuJoCo draws, and the names of its meshes."""
        m, kinds, name = self.model, self.mujoco.mjtGeom, self.bodies[b]
        for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
            kind, pose = kinds(m.geom_type[g]), _pose(m.geom_pos[g], m.geom_quat[g])
            x, y, z = map(float, m.geom_size[g])
            sizes = {
                kinds.mjGEOM_BOX: ("box", (2 * x, 2 * y, 2 * z)),
                kinds.mjGEOM_ELLIPSOID: ("ellipsoid", (x, y, z)),
                kinds.mjGEOM_SPHERE: ("sphere", (x,)),
                kinds.mjGEOM_CAPSULE: ("capsule", (x, 2 * y)),
                kinds.mjGEOM_CYLINDER: ("cylinder", (x, 2 * y)),
            }
            if kind in sizes and m.geom_group[g] < GROUPS_DRAWN:
                yield Visual(name, *sizes[kind], pose, _paint(m.geom_rgba[g]))
        yield from self.notes.meshes.get(name, [])

    # Joints

    def add_joints(self, b: int, robot: Description) -> None:
        """The joints of a body, one after the other with massless links between; fixed if it has none."""
        m, name = self.model, self.bodies[b]
        parent, pose = self.bodies[m.body_parentid[b]], _pose(m.body_pos[b], m.body_quat[b])
        joints = range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]) if m.body_jntnum[b] else range(0)
        if m.body_mocapid[b] >= 0:
            message = "it is a mocap body, which MuJoCo lets you move at will; here it stays where it is"
            self.report.add("unsupported", self._line("body", name), f"body {name!r}", message)
        X, places = self._home(joints)
        pose = composed(pose, X)
        for j, (axis, anchor) in zip(joints, places, strict=True):
            moving = self._joint(j, parent, pose, axis, anchor)
            off_centre = moving.kind == "spherical" and bool(np.any(anchor))
            if j == joints[-1] and not off_centre:
                moving.child = name
            else:
                moving.child = unused(f"{name}__{moving.name}", self._links)
                robot.links.append(LinkPart(moving.child, self._line("body", name), virtual=True))
            robot.joints.append(moving)
            parent, pose = moving.child, se3.pose(np.eye(3), -anchor) if off_centre else np.eye(4)
        if not joints or parent != name:
            fixed = unused(f"{name}_fixed", self._fixed_names)
            robot.joints.append(JointPart(fixed, "fixed", parent, name, self._line("body", name), pose))

    def _home(self, joints: range) -> tuple[Pose, list[tuple[Vector3, Vector3]]]:
        """Where the body is, from where the file draws it, when every qpos is zero; and there, each joint's axis and anchor.

        MuJoCo moves a body by exp(S₁ (q₁ − ref₁)) exp(S₂ (q₂ − ref₂)) …, which is X exp(S₁′ q₁) exp(S₂′ q₂) … with
        X = exp(−S₁ ref₁) exp(−S₂ ref₂) … and every screw seen from where the later factors of X lead.
        """
        m, kinds, X, places = self.model, self.mujoco.mjtJoint, np.eye(4), []
        for j in reversed(joints):
            axis, anchor = np.array(m.jnt_axis[j]), np.array(m.jnt_pos[j])
            places.append((matvec(X[:3, :3].T, axis), matvec(X[:3, :3].T, anchor - X[:3, 3])))
            if m.jnt_type[j] in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE)):
                kind = "revolute" if m.jnt_type[j] == kinds.mjJNT_HINGE else "prismatic"
                X = composed(se3.exp(-float(m.qpos0[m.jnt_qposadr[j]]) * _screw(kind, axis, anchor)), X)
        return X, places[::-1]

    def _joint(self, j: int, parent: str, pose: Pose, axis: Vector3, anchor: Vector3) -> JointPart:
        m, kinds, name = self.model, self.mujoco.mjtJoint, self.joints[j]
        joint = JointPart(name, "revolute", parent, "", self._line("joint", name), pose)
        if m.jnt_type[j] == kinds.mjJNT_FREE:
            joint.kind, joint.pose = "free", np.eye(4)  # its numbers are from the world, wherever the body is drawn
        elif m.jnt_type[j] == kinds.mjJNT_BALL:
            joint.kind, joint.pose = "spherical", composed(pose, se3.pose(np.eye(3), anchor))
        else:
            joint.kind = "prismatic" if m.jnt_type[j] == kinds.mjJNT_SLIDE else "revolute"
            joint.screw = _screw(joint.kind, axis, anchor)
        self._read_limits(j, joint)
        self._read_effects(j, joint)
        return joint

    def _read_limits(self, j: int, joint: JointPart) -> None:
        m = self.model
        low, high = self.notes.inverted.get(joint.name, tuple(map(float, m.jnt_range[j])))
        if joint.kind == "spherical" and m.jnt_limited[j]:
            self._unsupported(joint, f"its range, {high:.6g} rad from its home, is left out")
        elif (m.jnt_limited[j] or joint.name in self.notes.inverted) and self._holds("LIMIT"):
            joint.lower, joint.upper = low, high
        if joint.kind in ("revolute", "prismatic") and m.jnt_actfrclimited[j]:
            weak, strong = map(float, m.jnt_actfrcrange[j])
            joint.effort = max(abs(weak), abs(strong))
            if weak != -strong:
                message = f"its actuators give {weak:.6g} … {strong:.6g}: of that, |tau| ≤ {joint.effort:.6g} is kept"
                self._unsupported(joint, message)

    def _read_effects(self, j: int, joint: JointPart) -> None:
        m, dof = self.model, self.model.jnt_dofadr[j]
        joint.armature = float(m.dof_armature[dof]) + self._from_actuators(j, "actuator_armature")
        if not self._off("DAMPER") and not self._off("PASSIVE"):  # the second is what older releases have
            joint.damping = float(m.dof_damping[dof]) + self._from_actuators(j, "actuator_damping")
            if np.any(getattr(m, "dof_dampingpoly", np.zeros((m.nv, 1)))[dof]):
                self._unsupported(joint, "of its damping, the terms in v² and v³ are left out")
        if not self._off("SPRING") and not self._off("PASSIVE"):
            if joint.kind in ("revolute", "prismatic") and m.jnt_stiffness[j]:
                joint.stiffness, joint.rest = float(m.jnt_stiffness[j]), float(m.qpos_spring[m.jnt_qposadr[j]])
            elif m.jnt_stiffness[j]:
                self.report.add("spring", joint.line, joint.where, f"it is {joint.kind} and has a stiffness")
            if np.any(getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 1)))[j]):
                self._unsupported(
                    joint, "of its spring, the terms in (q − springref)² and (q − springref)³ are left out"
                )
        if self._holds("FRICTIONLOSS"):
            joint.friction = float(m.dof_frictionloss[dof])
        if joint.kind == "free" and (joint.armature or joint.friction):
            what = "armature" if joint.armature else "frictionloss"
            message = f"{what} {float(joint.armature or joint.friction):.6g} on a free joint"
            self.report.add("effects-on-free-joint", joint.line, joint.where, message)

    def _from_actuators(self, j: int, field_name: str) -> float:
        """What actuators add to a joint's armature or damping: their own, by the gear ratio squared."""
        m, kinds = self.model, self.mujoco.mjtTrn
        values = getattr(m, field_name, ())  # older releases have no such thing
        on_joints = (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT)
        return float(
            sum(
                value * m.actuator_gear[k, 0] ** 2
                for k, value in enumerate(values)
                if kinds(m.actuator_trntype[k]) in on_joints and m.actuator_trnid[k, 0] == j
            )
        )

    def add_mimics(self, robot: Description) -> None:
        """Joints that a constraint ties to another: y − y₀ = a₀ + a₁ (x − x₀), in MuJoCo's numbers."""
        m = self.model
        if not self._holds("EQUALITY"):
            return
        parts = {joint.name: joint for joint in robot.joints}
        for e in range(m.neq):
            follower, leader = parts[self.joints[m.eq_obj1id[e]]], m.eq_obj2id[e]
            coefficients = np.array(m.eq_data[e, :5])
            if not m.eq_active0[e]:
                self._unsupported(follower, "its equality constraint is not active, and left out")
            elif leader < 0:
                self._unsupported(follower, "the constraint that holds it in place is left out: robot.lock does that")
            elif np.any(coefficients[2:]) or coefficients[1] == 0 or follower.mimic is not None:
                what = "a second one" if follower.mimic is not None else f"a polynomial, {_listed(coefficients)}"
                self._unsupported(follower, f"its equality constraint is {what}, and left out")
            else:
                offset, ratio = map(float, coefficients[:2])
                home, leaders = (float(m.qpos0[m.jnt_qposadr[k]]) for k in (m.eq_obj1id[e], leader))
                follower.mimic = Mimic(self.joints[leader], ratio, home + offset - ratio * leaders)

    # Frames and forces

    def add_frames(self, robot: Description) -> None:
        """Named sites, and named cameras that are fixed to a body, as frames."""
        m, taken = self.model, set(self._links)
        fixed = self.mujoco.mjtCamLight.mjCAMLIGHT_FIXED
        places = [("site", k, m.site_bodyid[k], _pose(m.site_pos[k], m.site_quat[k])) for k in range(m.nsite)]
        places += [
            ("camera", k, m.cam_bodyid[k], _pose(m.cam_pos[k], m.cam_quat[k]))
            for k in range(m.ncam)
            if m.cam_mode[k] == fixed
        ]
        for kind, k, body, pose in places:
            name = self._name(kind.upper(), k)
            if not name:
                continue
            line, frame = self._line(kind, name), name if name not in taken else unused(f"{name}_{kind}", taken)
            if frame != name:
                message = f"another frame has this name: it is called {frame!r}"
                self.report.add("renamed", line, f"{kind} {name!r}", message)
            taken.add(frame)
            robot.frames.append(FramePart(frame, self.bodies[body], pose, line))

    def report_forces(self) -> None:
        """Compensated weight and fluids: forces of MuJoCo's that torsor's equations do not have."""
        m = self.model
        raised = np.flatnonzero(np.array(m.body_gravcomp) != 0)
        if len(raised):
            self._report_named("gravity-compensation", "body", [self.bodies[b] for b in raised], "has a gravcomp")
        if m.opt.density or m.opt.viscosity:
            message = f"density {m.opt.density:.6g} kg/m³, viscosity {m.opt.viscosity:.6g} Pa·s"
            self.report.add("fluid", None, "<option>", message)

    def _report_named(self, rule: str, kind: str, names: list[str], what: str) -> None:
        others = f" ({len(names)} have one: {', '.join(names[:5])}{', …' * (len(names) > 5)})" if len(names) > 1 else ""
        self.report.add(rule, self._line(kind, names[0]), f"{kind} {names[0]!r}", f"it {what}{others}")

    def _unsupported(self, joint: JointPart, message: str) -> None:
        self.report.add("unsupported", joint.line, joint.where, message)

    def _name(self, kind: str, k: int) -> str:
        return self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), k) or ""

    def _line(self, kind: str, name: str) -> int | None:
        return self.notes.lines.get((kind, name))

    def _holds(self, constraint: str) -> bool:
        return not self._off(constraint) and not self._off("CONSTRAINT")

    def _off(self, effect: str) -> bool:
        bit = getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{effect}", 0)
        return bool(self.model.opt.disableflags & int(bit))


def _paint(rgba: Array) -> tuple[float, float, float, float] | None:
    """The colour of a geom, if it was given one."""
    red, green, blue, opacity = map(float, rgba)
    given = (red, green, blue, opacity) != UNPAINTED and all(0.0 <= x <= 1.0 for x in (red, green, blue, opacity))
    return (red, green, blue, opacity) if given else None


def _screw(kind: str, axis: Vector3, pos: Vector3) -> Twist:
    """The screw (6,) in the body's frame: (ω, −ω × r) for a hinge through r, (0, axis) for a slide."""
    axis = np.array(axis)
    if kind == "prismatic":
        return np.concatenate([np.zeros(3), axis])
    r = pos - axis * dot(
        axis, pos
    )  # the point of the axis next to the origin: nothing is left along the axis to cancel
    if norm(r) <= ROUNDING * norm(pos):
        r = np.zeros(3)
    v = -cross(axis, r)
    return np.concatenate([axis, v - axis * dot(axis, v)])


def _pose(position: Array, wxyz: Array) -> Pose:
    return se3.pose(_rotation(wxyz), np.array(position, float))


def _rotation(wxyz: Array) -> Array:
    w, x, y, z = map(float, wxyz)
    return quaternion.to_rotation(np.array([x, y, z, w]))


def _refuse_unbounded(robot: Description, report: Findings) -> None:
    """Numbers that overflow, or would when multiplied."""
    for link in robot.links:
        sizes = [size for shape in link.shapes for size in (*shape.size, *shape.pose.ravel())]
        if not _is_bounded([link.mass or 0.0, *link.com, *link.moments, *link.turn.ravel(), *sizes]):
            message = "its inertia or a shape is too large for a number"
            report.add("number-malformed", link.at, link.where, message)
    for joint in robot.joints:
        numbers = [*joint.pose.ravel(), *(() if joint.screw is None else joint.screw)]
        if not _is_bounded([*numbers, joint.armature, joint.damping, joint.friction, joint.stiffness, joint.rest]):
            message = "its pose, axis, friction or spring is too large for a number"
            report.add("number-malformed", joint.line, joint.where, message)
        elif joint.screw is not None and not np.any(joint.screw):
            report.add("number-malformed", joint.line, joint.where, "its axis is too large for a number")
    for frame in robot.frames:
        if not _is_bounded(frame.pose):
            report.add("number-malformed", frame.line, f"frame {frame.name!r}", "its pose is too large for a number")


def _is_bounded(numbers: Any) -> bool:
    return bool(np.all(np.abs(np.asarray(numbers, float)) < LARGEST))


def _listed(numbers: Array) -> str:
    return ", ".join(f"{x:.6g}" for x in numbers)
