"""What is looked for in a robot file: every rule by name, with its severity and what to do about it (docs/rules.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """An error stops loading; a warning is probably a mistake; a note is said for the record."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(NamedTuple):
    """``advice`` follows the message of every finding; ``lint`` rules are for `torsor.check` and not asked by loading.

    ``repair`` says what ``repair=[name]`` does, if it can do something.
    """

    severity: Severity
    advice: str
    repair: str = ""
    lint: bool = False


# What ``accept=[rule]`` does about an error: the robot is computed as the file has it, with one warning for all places.
ACCEPTS = {
    "limits-missing": "leaves the joint unbounded",
    "massless-with-inertia": "keeps the inertia",
    "inertia-not-positive": "keeps the moments; no writer takes the robot, and its mass matrix may be indefinite",
    "inertia-triangle": "keeps the moments",
    "inertia-units": "keeps the moments",
    "inertia-rows-swapped": "keeps the numbers in the file's order",
    "idle-joint": "keeps the joint; forward dynamics has no answer for it",
}
# The same, said by a file of torsor's own format of itself.
ACCEPTABLE = ("massless-with-inertia", "inertia-triangle", "inertia-units", "idle-joint")

_NOTHING_READ = "there is nothing that could be read instead"
_NO_TREE = "torsor's equations are those of one tree of links"
_NO_POSITION = "no position is within such limits"
_NOT_THERE = "what would be followed is not there"
_MUJOCO = "MuJoCo, which reads the file, does not take it"
# Why an error can never be accepted.
NEVER = {
    "duplicate-link": _NO_TREE,
    "duplicate-joint": _NO_TREE,
    "missing-link": _NO_TREE,
    "two-parents": _NO_TREE,
    "cycle": _NO_TREE,
    "two-roots": _NO_TREE,
    "unused-link": _NO_TREE,
    "no-links": "without a link there is no robot",
    "no-moving-joint": "without a moving joint there is nothing to compute",
    "unknown-joint-type": "how it moves is not known",
    "axis-zero": "a joint needs a direction to move in",
    "limits-inverted": _NO_POSITION,
    "mimic-limits": _NO_POSITION,
    "friction-negative": "it would give the robot energy, without end",
    "stiffness-negative": "what pushes away from where it rests is no spring",
    "mimic-unknown": _NOT_THERE,
    "mimic-cycle": _NOT_THERE,
    "mimic-zero": _NOT_THERE,
    "mass-negative": "what pushes a body would pull it",
    "misspelt-key": "what it says would be lost",
    "repeated-tag": "which one was meant is not known",
    "mjcf-invalid": _MUJOCO,
    "massless-body": _MUJOCO,
    "external-file": "other files are not opened",
    "plugin": "plugins are not run",
    "deformable": "torsor knows rigid bodies only",
    "mesh-inertia": "meshes are not opened, so that there is no inertia",
}

E, W, N = Severity.ERROR, Severity.WARNING, Severity.NOTE

RULES: dict[str, Rule] = {
    # The file
    "file-unreadable": Rule(E, "Check the path, and that the file is text."),
    "file-too-large": Rule(E, "No robot needs so much: this is not a robot file, or it is a trap."),
    "xml-malformed": Rule(E, "Correct it there; an XML editor shows more."),
    "text-malformed": Rule(E, "An editor that knows JSON or YAML shows where; see docs/format.md."),
    "xml-doctype": Rule(E, "Remove the <!DOCTYPE …> declaration: entities are not needed and can be abused."),
    "not-a-robot": Rule(E, "Pass a URDF, an MJCF, or a torsor JSON or YAML file."),
    "xacro": Rule(E, "Expand it first: `xacro robot.urdf.xacro > robot.urdf`."),
    "unknown-tag": Rule(W, "It is ignored. If it is a misspelling, correct it."),
    "unknown-attribute": Rule(N, "It is ignored. If it is a misspelling, correct it."),
    "misspelt-attribute": Rule(W, "It is ignored. If it is a misspelling, correct it."),
    "unknown-key": Rule(W, "It is ignored: correct it, or leave it out."),
    "misspelt-key": Rule(E, "Correct it, or leave it out: what it says would be lost."),
    "repeated-tag": Rule(E, "Keep one of them; which one was meant is not ours to guess."),
    "missing-tag": Rule(E, "Add it."),
    "missing-attribute": Rule(E, "Add it."),
    "value-malformed": Rule(E, "Write what it takes: docs/format.md."),
    "number-malformed": Rule(E, "Write plain finite numbers, as many as are asked for."),
    "transmission-malformed": Rule(W, "It is ignored; dynamics does not need it."),
    "path-outside": Rule(W, "Keep files below the robot's own directory or its package; the path is not followed."),
    # The tree
    "duplicate-link": Rule(E, "Rename or remove one of them."),
    "duplicate-joint": Rule(E, "Rename or remove one of them."),
    "missing-link": Rule(E, "Correct the name or describe the link."),
    "two-parents": Rule(E, "A link hangs on one joint: remove one, or close the loop with a constraint elsewhere."),
    "cycle": Rule(E, "Links must form a tree: remove one joint of the cycle."),
    "two-roots": Rule(E, "Connect them by a joint (fixed, if need be), or split the file."),
    "unused-link": Rule(E, "Attach it with a joint, or remove it.", "leaves the link out"),
    "no-links": Rule(E, "A robot has at least one link and one moving joint."),
    "no-moving-joint": Rule(E, 'If it is a body that moves freely, load it with base="floating".'),
    # Joints
    "unknown-joint-type": Rule(E, "URDF has revolute, continuous, prismatic, fixed, floating and planar."),
    "axis-zero": Rule(E, "Give the direction of the joint's axis, for instance 0 0 1."),
    "axis-not-unit": Rule(N, "It is normalised; the joint still turns by q radians (slides by q metres)."),
    "axis-missing": Rule(N, "URDF then means 1 0 0. Write the axis down to be understood."),
    "limits-missing": Rule(
        E, 'Add <limit lower= upper= effort= velocity=/>, or make it type="continuous".', "leaves the joint unbounded"
    ),
    "limits-inverted": Rule(E, "Exchange lower and upper.", "exchanges them"),
    "limits-empty": Rule(W, "The joint cannot move. If that is meant, make it fixed.", lint=True),
    "limit-not-positive": Rule(
        W, "Zero or less means the joint can do nothing; if it is unknown, leave it out.", lint=True
    ),
    "limits-wider-than-turn": Rule(
        W, "If the joint has no stops, make it continuous; if degrees were meant, convert them.", lint=True
    ),
    "angles-in-degrees": Rule(W, "Angles are in radians: divide by 57.2958.", lint=True),
    "rotation-in-degrees": Rule(W, "Angles are in radians: divide by 57.2958."),
    "friction-negative": Rule(
        E,
        "Damping and friction take energy away, armature is an inertia: none is negative.",
        "takes its absolute value",
    ),
    "stiffness-negative": Rule(E, "A spring pulls its joint back to where it rests: its stiffness is not negative."),
    "mimic-unknown": Rule(E, "Joints with one degree of freedom follow, and are followed: name one of this robot."),
    "mimic-cycle": Rule(E, "Let one of the joints move on its own."),
    "mimic-zero": Rule(E, "Give the multiplier it moves by, or make the joint fixed."),
    "mimic-limits": Rule(
        E, "The follower's range and its leader's exclude each other: correct ratio, offset or limits."
    ),
    # Inertia
    "mimic-empty": Rule(
        W, "The follower's limits leave its leader no range at all: check multiplier, offset and limits."
    ),
    "mass-negative": Rule(E, "A mass is positive, or zero for a frame that carries nothing."),
    "massless-with-inertia": Rule(E, "Give the link its mass, or no inertia.", "drops the inertia"),
    "inertia-not-positive": Rule(
        E,
        "Principal moments cannot be negative. The products ixy, ixz, iyz are often given with the wrong sign.",
        "replaces negative principal moments by the least that a body can have",
    ),
    "inertia-triangle": Rule(
        E,
        "No distribution of mass has such moments: export the inertia again.",
        "raises the two smaller principal moments until a body can have them",
    ),
    "inertia-rounded": Rule(
        W, "It is within the rounding of the numbers written, and accepted: export them with more digits."
    ),
    "inertia-units": Rule(E, "Inertia is in kg·m². From kg·mm² divide by 1e6, from g·mm² by 1e9."),
    "inertia-rows-swapped": Rule(
        E,
        "In the order ixx, iyy, izz, ixy, ixz, iyz these numbers are a possible body: they were mixed up.",
        "reads them in that order",
    ),
    "idle-joint": Rule(
        E,
        "Its acceleration would be undefined. Give a link beyond it a mass, or make the joint fixed.",
        "makes the joint fixed",
    ),
    "massless-connector": Rule(
        W, "It is accepted, for there is mass further out; give the link its inertia if it has one."
    ),
    "inertia-of-base": Rule(
        W,
        "It enters no equation while the base is fixed, and the nearest possible one is kept; for a floating base, mend it.",
    ),
    "inertia-default": Rule(W, "Exporters write such numbers when they do not know: put in the real ones.", lint=True),
    "inertia-zero": Rule(W, "The link is a point mass. If it has a size, give its inertia.", lint=True),
    "inertia-inconsistent": Rule(
        W, "Mass, size and inertia do not fit each other: check units and the origin.", lint=True
    ),
    "com-outside": Rule(W, "Check the centre of mass: it is given in the link's frame, in metres.", lint=True),
    "mass-ratio": Rule(W, "Forward dynamics loses as many digits. Is a mass in grams?", lint=True),
    "millimetres": Rule(W, "Lengths are in metres: divide by 1000.", lint=True),
    "names-collide": Rule(
        W, "Names that differ in case alone, or mean both a link and a joint, are easily mistaken.", lint=True
    ),
    # MJCF
    "mjcf-invalid": Rule(E, "MuJoCo itself refuses the file: correct what it names."),
    "mjcf-warning": Rule(W, "MuJoCo itself says so when it compiles the model."),
    "external-file": Rule(
        E, "Other files are not opened. Let MuJoCo write one that has everything: MjSpec.from_file(path).to_xml()."
    ),
    "plugin": Rule(E, "Plugins are programs of their own, which are not run: remove it."),
    "deformable": Rule(E, "torsor knows rigid bodies only: remove it."),
    "mesh-inertia": Rule(
        E, 'Meshes are not opened. Give <inertial>: MuJoCo writes it, with <compiler saveinertial="true"/>.'
    ),
    "mesh-inertia-of-base": Rule(N, "Meshes are not opened. The body does not move, so that no equation needs it."),
    "massless-body": Rule(E, "In MuJoCo every body that moves has mass and inertia: give <inertial>, or a geom."),
    "inertia-changed": Rule(W, "The changed numbers are used, as MuJoCo does. Write them down to be understood."),
    "unsupported": Rule(W, "MuJoCo would act on it; torsor's equations do not have it."),
    "actuators": Rule(N, "tau is what they give at the joints."),
    "spring": Rule(
        W, "torsor has springs on hinges and slides only: for forward dynamics, add the force of this one to tau."
    ),
    "gravity-compensation": Rule(W, "torsor gives every body its whole weight."),
    "fluid": Rule(W, "torsor's robots move in a vacuum."),
    "effects-on-free-joint": Rule(
        W, "MuJoCo counts it along the world's axes, torsor along the body's. A <freejoint/> has none: use that."
    ),
    "renamed": Rule(N, "Links and frames share their names here: call it something else to choose the name."),
}


def why_never(rule: str) -> str:
    """Why an error cannot be accepted; "" if it can."""
    return "" if rule in ACCEPTS else NEVER.get(rule, _NOTHING_READ)
