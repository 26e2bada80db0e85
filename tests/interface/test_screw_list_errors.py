# ruff: noqa: E501 - one mistake a line
"""Mistakes in torsor's own files: each is told with rule, line, element and value, all of them together; no file does harm.

The mistakes are single edits of one good file. The page docs/format.md is read here too.
"""

import contextlib
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import torsor

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
GOOD = """torsor: 1
name: arm
base: world
gravity: [0, 0, -9.81]
coulomb_width: 0.01
order: [elbow, shoulder, wrist]
base_inertia: {mass: 2, rotational: [0.1, 0, 0, 0.1, 0, 0.1]}
joints:
  - name: shoulder
    kind: revolute
    parent: world
    link: upper
    axis: [0, 0, 1]
    inertia:
      mass: 2
      com: [0, 0, 0.2]
      rotational: [0.03, 0, 0, 0.03, 0, 0.004]
    lower: -2
    upper: 2
    velocity_limit: 3
    viscous_friction: 0.1
  - name: elbow
    kind: prismatic
    parent: upper
    link: lower
    pose: {xyz: [0, 0, 0.4], rpy: [1.5707963267948966, 0, 0]}
    screw: [0, 0, 0, 0, 0, 1]
    ratio: 2
    inertia: {parameters: [1, 0.1, 0, 0, 0.002, 0, 0, 0.02, 0, 0.021]}
    armature: 0.5
  - name: wrist
    kind: spherical
    parent: lower
    link: hand
    inertia: {mass: 1, rotational: [0.1, 0, 0, 0.1, 0, 0.1]}
    lower: [-1, null, null, 0]
    effort_limit: [1, 2, 3]
  - name: finger
    kind: helical
    parent: hand
    link: finger
    axis: [1, 0, 0]
    pitch: 0.1
    mimic: {joint: elbow, ratio: -1.5, offset: 0.25}
    inertia: {mass: 0.1}
  - name: weld
    kind: fixed
    parent: hand
    link: plate
    pose: [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]]
    inertia: {mass: 0.1}
frames:
  - name: tool
    link: hand
    pose: {rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], translation: [0, 0, 0.1]}
"""
SHOULDER_AXIS = "    link: upper\n    axis: [0, 0, 1]"

# what: (what is replaced, by what, rule, line of the finding, element, what the message says)
BROKEN = {
    "no version": ("torsor: 1\n", "", "missing-attribute", 1, "", "'torsor' is missing: write `torsor: 1`"),
    "future version": ("torsor: 1", "torsor: 2", "not-a-robot", 1, "", "version 2 of torsor's format; this torsor reads version 1"),
    "version of another kind": ("torsor: 1", "torsor: true", "not-a-robot", 1, "", "version true of torsor's format"),
    "no robot": (GOOD, "[1,\n2]", "not-a-robot", 1, "", "the outermost value is not a mapping"),
    "another mapping": (GOOD, "a: 1\nb: 2\n", "not-a-robot", 1, "", "the outermost value is not a mapping with `torsor: 1`"),
    "unknown key": ("coulomb_width:", "coulomb_with:", "misspelt-key", 5, "robot 'arm'", "unknown key 'coulomb_with' (did you mean 'coulomb_width'?)"),
    "unknown key of a joint": ("    velocity_limit: 3", "    colour: red", "unknown-key", 20, "joint 'shoulder'", "unknown key 'colour'"),
    "unknown key of an inertia": ("      com: [0", "      centre: [0", "misspelt-key", 16, "link 'upper'", "unknown key 'inertia.centre' (did you mean 'com'?)"),
    "misspelt limit": ("    lower: -2", "    lowr: -2", "misspelt-key", 18, "joint 'shoulder'", "unknown key 'lowr' (did you mean 'lower'?)"),
    "misspelt friction": ("viscous_friction", "viscos_friction", "misspelt-key", 21, "joint 'shoulder'", "(did you mean 'viscous_friction'?)"),
    "friction as URDF has it": ("viscous_friction", "damping", "misspelt-key", 21, "joint 'shoulder'", "unknown key 'damping' (did you mean 'viscous_friction'?)"),
    "pose with a matrix": ("{xyz: [0, 0, 0.4], rpy: [1.5707963267948966, 0, 0]}", "{matrix: [[1, 0], [0, 1]]}", "misspelt-key", 26, "joint 'elbow'", "unknown key 'pose.matrix'"),
    "pose with a quaternion": ("rpy: [1.5707963267948966, 0, 0]}", "quaternion: [0, 0, 0, 1]}", "misspelt-key", 26, "joint 'elbow'", "unknown key 'pose.quaternion'"),
    "ratio beside an axis": (SHOULDER_AXIS, SHOULDER_AXIS + "\n    ratio: -1", "unknown-key", 14, "joint 'shoulder'", "'ratio' means nothing for an axis: give a screw"),
    "merge key": ("    axis: [1, 0, 0]\n", "    axis: [1, 0, 0]\n    <<: {armature: 1}\n", "text-malformed", 43, "", "the merge key << is refused"),
    "accepting what is no rule": ("base: world", "base: world\naccept: [inertia-triangel]", "unknown-key", 4, "robot 'arm'", "'accept' takes massless-with-inertia, inertia-triangle, inertia-units, idle-joint; found 'inertia-triangel'"),
    "unknown key of a mimic": ("offset:", "ofset:", "misspelt-key", 44, "joint 'finger'", "unknown key 'mimic.ofset' (did you mean 'offset'?)"),
    "unknown key of a frame": ("    link: hand\n    pose: {rot", "    link: hand\n    pos: 1\n    pose: {rot", "unknown-key", 55, "frame 'tool'", "unknown key 'pos'"),
    "unknown key of a pose": ("rpy:", "rpj:", "misspelt-key", 26, "joint 'elbow'", "unknown key 'pose.rpj' (did you mean 'rpy'?)"),
    "key twice": ("name: arm", "name: arm\nname: leg", "repeated-tag", 3, "", "the key 'name' stands twice (first on line 2)"),
    "robot name a number": ("name: arm", "name: 7", "value-malformed", 2, "", "'name' must be a text, found 7"),
    "gravity short": ("[0, 0, -9.81]", "[0, -9.81]", "number-malformed", 4, "robot 'arm'", "'gravity' must be a list of 3 numbers, found a list of 2"),
    "gravity with a word": ("[0, 0, -9.81]", "[0, 0, down]", "number-malformed", 4, "robot 'arm'", "'gravity' must be a list of 3 numbers, found 'down'"),
    "gravity infinite": ("[0, 0, -9.81]", "[0, 0, -.inf]", "number-malformed", 4, "", "-.inf is not a finite number"),
    "gravity too large": ("[0, 0, -9.81]", "[0, 0, -1e999]", "number-malformed", 4, "", "-1e999 is too large for a number"),
    "gravity beyond reason": ("[0, 0, -9.81]", "[0, 0, -1e60]", "number-malformed", 4, "robot 'arm'", "'gravity' holds -1e+60; nothing in SI units exceeds 1e+50"),
    "width negative": ("0.01", "-0.01", "value-malformed", 5, "robot 'arm'", "'coulomb_width' must not be negative, found -0.01"),
    "order incomplete": ("[elbow, shoulder, wrist]", "[elbow, wrist]", "value-malformed", 6, "robot 'arm'", "'order' must name every joint that moves on its own once: 'shoulder' is left out"),
    "order with a follower": ("[elbow, shoulder, wrist]", "[elbow, shoulder, finger, wrist]", "value-malformed", 6, "robot 'arm'", "'finger' is no joint that moves on its own"),
    "order with one twice": ("[elbow, shoulder, wrist]", "[elbow, shoulder, wrist, elbow]", "value-malformed", 6, "robot 'arm'", "'elbow' stands 2 times"),
    "order no list": ("[elbow, shoulder, wrist]", "elbow", "value-malformed", 6, "robot 'arm'", "'order' must be a list of names"),
    "frame order incomplete": ("order: [", "frame_order: [world, upper]\norder: [", "value-malformed", 6, "robot 'arm'", "'frame_order' must name every link or frame once: 'lower' is left out"),
    "no joints": (GOOD, "torsor: 1\n", "missing-attribute", 1, "robot 'robot'", "'joints' is missing: a list of joints, or 'dh' with a table"),
    "joints no list": (GOOD[GOOD.index("joints:") :], "joints: 5\n", "value-malformed", 8, "robot 'arm'", "'joints' must be a list, found 5"),
    "joints a mapping": (GOOD[GOOD.index("joints:") :], "joints: {a: 1}\n", "value-malformed", 8, "robot 'arm'", "'joints' must be a list, found a mapping"),
    "joint null": ("  - name: weld", "  - null\n  - name: weld", "value-malformed", 46, "robot 'arm'", "'joints[4]' must be a mapping, found null"),
    "joints and table": ("base: world", "base: world\ndh: {}", "repeated-tag", 4, "robot 'arm'", "both 'joints' and 'dh' are given"),
    "joint no mapping": ("  - name: weld", "  - weld\n  - name: weld", "value-malformed", 46, "robot 'arm'", "'joints[4]' must be a mapping, found 'weld'"),
    "joint without name": ("  - name: elbow\n    kind", "  - kind", "missing-attribute", 22, "robot 'arm'", "'joints[1].name' is missing"),
    "joint name a list": ("name: elbow", "name: [elbow]", "value-malformed", 22, "robot 'arm'", "'joints[1].name' must be a text, found a list of 1"),
    "joint name empty": ("name: elbow", 'name: ""', "value-malformed", 22, "robot 'arm'", "'joints[1].name' must be a text, found ''"),
    "kind missing": ("    kind: spherical\n", "", "missing-attribute", 31, "joint 'wrist'", "'kind' is missing"),
    "kind unknown": ("kind: spherical", "kind: ball", "unknown-joint-type", 32, "joint 'wrist'", "unknown kind 'ball'"),
    "joint twice": ("name: finger", "name: wrist", "duplicate-joint", 38, "joint 'wrist'", "described 2 times (lines 31, 38)"),
    "parent unknown": ("parent: upper", "parent: uper", "missing-link", 22, "joint 'elbow'", "its parent link 'uper' does not exist (did you mean 'upper'?)"),
    "two parents": ("    link: plate", "    link: finger", "two-parents", 46, "link 'finger'", "it is the child of 2 joints: 'finger', 'weld'"),
    "cycle": ("parent: world", "parent: lower", "cycle", 9, "joint 'shoulder'", "links form a cycle"),
    "no axis": (SHOULDER_AXIS, "    link: upper", "missing-attribute", 9, "joint 'shoulder'", "'axis' is missing: give 'axis' or 'screw'"),
    "axis and screw": (SHOULDER_AXIS, SHOULDER_AXIS + "\n    screw: [0, 0, 1, 0, 0, 0]", "repeated-tag", 14, "joint 'shoulder'", "both 'axis' and 'screw' are given"),
    "axis zero": (SHOULDER_AXIS, "    link: upper\n    axis: [0, 0, 0]", "axis-zero", 9, "joint 'shoulder'", "the axis is zero"),
    "axis short": (SHOULDER_AXIS, "    link: upper\n    axis: [0, 1]", "number-malformed", 13, "joint 'shoulder'", "'axis' must be a list of 3 numbers, found a list of 2"),
    "axis of a ball": ("    kind: spherical", "    kind: spherical\n    axis: [0, 0, 1]", "unknown-key", 33, "joint 'wrist'", "'axis' means nothing for a spherical joint: turn its pose"),
    "axis of a weld": ("    kind: fixed", "    kind: fixed\n    axis: [0, 0, 1]", "unknown-key", 48, "joint 'weld'", "'axis' means nothing for a fixed joint"),
    "screw zero": ("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 0, 0]", "axis-zero", 27, "joint 'elbow'", "the screw is zero"),
    "screw of another kind": ("[0, 0, 0, 0, 0, 1]", "[0, 0, 1, 0, 0, 1]", "unknown-joint-type", 27, "joint 'elbow'", "it is prismatic, but its screw [0.0, 0.0, 1.0, 0.0, 0.0, 1.0] is helical"),
    "ratio not positive": ("    ratio: 2", "    ratio: 0", "value-malformed", 28, "joint 'elbow'", "'ratio' must be positive, found 0"),
    "ratio of an axis": ("    upper: 2\n", "    upper: 2\n    ratio: 3\n", "unknown-key", 20, "joint 'shoulder'", "'ratio' means nothing for an axis: give a screw"),
    "pitch missing": ("    pitch: 0.1\n", "", "missing-attribute", 38, "joint 'finger'", "'pitch' is missing"),
    "pitch of a revolute joint": ("    upper: 2\n", "    upper: 2\n    pitch: 3\n", "unknown-key", 20, "joint 'shoulder'", "'pitch' means nothing for a revolute joint"),
    "pose no rotation": ("[0, 1, 0], [0, 0, 1]]", "[0, 2, 0], [0, 0, 1]]", "value-malformed", 55, "frame 'tool'", "pose: its 3×3 block is not a rotation: R Rᵀ differs from 1 by up to 3"),
    "pose a reflection": ("[[1, 0, 0], [0, 1, 0]", "[[-1, 0, 0], [0, 1, 0]", "value-malformed", 55, "frame 'tool'", "is a reflection"),
    "pose of two forms": ("rpy: [1.5", "translation: [0, 0, 0], rpy: [1.5", "repeated-tag", 26, "joint 'elbow'", "'pose' mixes xyz and rpy with rotation and translation"),
    "pose with few rows": ("[0, 0, 1, 0.1], [0, 0, 0, 1]]", "[0, 0, 1, 0.1]]", "number-malformed", 50, "joint 'weld'", "'pose' must be 4 rows of 4 numbers, found a list of 3"),
    "pose a number": ("pose: {xyz: [0, 0, 0.4], rpy: [1.5707963267948966, 0, 0]}", "pose: 3", "value-malformed", 26, "joint 'elbow'", "'pose' must be a mapping, found 3"),
    "bottom row": ("[0, 0, 0, 1]]", "[0, 0, 0, 2]]", "value-malformed", 50, "joint 'weld'", "bottom row must be (0, 0, 0, 1)"),
    "inertia a number": ("    inertia: {mass: 0.1}\n  - name: weld", "    inertia: 0.1\n  - name: weld", "value-malformed", 45, "joint 'finger'", "'inertia' must be a mapping, found 0.1"),
    "mass missing": ("      mass: 2\n", "", "missing-attribute", 15, "link 'upper'", "'inertia.mass' is missing"),
    "mass a word": ("      mass: 2", "      mass: heavy", "number-malformed", 15, "link 'upper'", "'inertia.mass' must be a number, found 'heavy'"),
    "mass negative": ("      mass: 2", "      mass: -2", "mass-negative", 15, "link 'upper'", "its mass is -2 kg"),
    "moments nine": ("[0.03, 0, 0, 0.03, 0, 0.004]", "[0.03, 0, 0, 0, 0.03, 0, 0, 0, 0.004]", "number-malformed", 17, "link 'upper'", "'inertia.rotational' must be a list of 6 numbers, found a list of 9"),
    "triangle": ("[0.03, 0, 0, 0.03, 0, 0.004]", "[0.03, 0, 0, 0.01, 0, 0.004]", "inertia-triangle", 15, "link 'upper'", "the largest principal moment 0.03 exceeds"),
    "two inertias": ("{parameters:", "{mass: 1, parameters:", "repeated-tag", 29, "link 'lower'", "both 'parameters' and 'mass', 'com' or 'rotational' are given"),
    "parameters nine": ("[1, 0.1, 0, 0, 0.002,", "[1, 0.1, 0, 0,", "number-malformed", 29, "link 'lower'", "'inertia.parameters' must be a list of 10 numbers, found a list of 9"),
    "parameters of no mass": ("[1, 0.1, 0, 0, 0.002,", "[0, 0.1, 0, 0, 0.002,", "massless-with-inertia", 29, "link 'lower'", "no mass, but a moment of 0.1 kg·m"),
    "parameters of hardly a mass": ("[1, 0.1, 0, 0, 0.002,", "[1e-300, 0.1, 0, 0, 0.002,", "number-malformed", 29, "link 'lower'", "a mass of 1e-300 kg and these moments have no centre of mass"),
    "parameters of no body": ("0.002, 0, 0, 0.02, 0, 0.021]", "0.002, 0, 0, -0.02, 0, 0.021]", "inertia-not-positive", 29, "link 'lower'", "its principal moments are"),
    "base inertia": ("{mass: 2, rot", "{mass: -2, rot", "mass-negative", 7, "link 'world'", "its mass is -2 kg"),
    "limits inverted": ("    lower: -2", "    lower: 3", "limits-inverted", 18, "joint 'shoulder'", "lower 3 exceeds upper 2"),
    "limit a word": ("    lower: -2", "    lower: none", "number-malformed", 18, "joint 'shoulder'", "'lower' must be a number, found 'none'"),
    "limits of another size": ("effort_limit: [1, 2, 3]", "effort_limit: [1, 2]", "number-malformed", 37, "joint 'wrist'", "'effort_limit' must be a number or a list of 3 numbers, found a list of 2"),
    "limits of a continuous joint": ("kind: revolute", "kind: continuous", "unknown-key", 18, "joint 'shoulder'", "'lower' means nothing for a continuous joint"),
    "stiffness negative": ("viscous_friction: 0.1", "stiffness: -0.1", "stiffness-negative", 9, "joint 'shoulder'", "stiffness is -0.1"),
    "spring of a ball": ("    lower: [-1", "    stiffness: 3\n    lower: [-1", "value-malformed", 36, "joint 'wrist'", "'stiffness' is for joints with one number, and this one is spherical"),
    "friction negative": ("viscous_friction: 0.1", "viscous_friction: -0.1", "friction-negative", 9, "joint 'shoulder'", "damping is -0.1"),
    "mimic of nobody": ("{joint: elbow,", "{joint: elbov,", "mimic-unknown", 38, "joint 'finger'", "it mimics 'elbov', which does not exist"),
    "mimic unnamed": ("{joint: elbow,", "{", "missing-attribute", 44, "joint 'finger'", "'mimic.joint' is missing"),
    "mimic of a ball": ("    lower: [-1", "    mimic: {joint: elbow}\n    lower: [-1", "mimic-unknown", 36, "joint 'wrist'", "a spherical joint cannot follow another"),
    "mimic a word": ("{joint: elbow, ratio: -1.5, offset: 0.25}", "elbow", "value-malformed", 44, "joint 'finger'", "'mimic' must be a mapping, found 'elbow'"),
    "frame on nothing": ("    link: hand\n    pose: {rot", "    link: hnad\n    pose: {rot", "missing-link", 54, "frame 'tool'", "its link 'hnad' does not exist"),
    "frame without link": ("    link: hand\n    pose: {rot", "    pose: {rot", "missing-attribute", 53, "robot 'arm'", "'frames[0].link' is missing"),
    "frame named like a link": ("- name: tool", "- name: hand", "duplicate-link", 53, "frame 'hand'", "the name is that of another frame or link (line 31)"),
    "frames no list": (GOOD[GOOD.index("frames:") :], "frames: {}\n", "value-malformed", 52, "robot 'arm'", "'frames' must be a list, found a mapping"),
    "not YAML": ("joints:\n", "joints: [\n", "text-malformed", 9, "", "not well-formed YAML"),
    "an alias": ("[0, 0, -9.81]", "&down [0, 0, -9.81]", "text-malformed", 4, "", "anchors and aliases (&name, *name) are refused"),
    "a tag": ("name: arm", "name: !!str arm", "text-malformed", 2, "", "the tag 'tag:yaml.org,2002:str' is refused"),
    "two documents": ("torsor: 1\n", "torsor: 1\n---\n", "text-malformed", 2, "", "the file holds more than one document"),
    "key a list": ("name: arm", "? [name]\n: arm", "text-malformed", 2, "", "a key must be a word"),
}  # fmt: skip


def findings(text, format="yaml"):
    return torsor.check(text, format=format)


def test_the_good_file_is_good():
    assert [f for f in findings(GOOD) if f.severity != "warning"] == []
    robot = torsor.load(GOOD, format="yaml")
    assert robot.coordinates == ("elbow", "shoulder", "wrist")
    assert robot.structure.couplings[1].ratio == 2.0
    assert robot.limits.lower[2:] == (-1.0, -np.inf, -np.inf, 0.0)


@pytest.mark.parametrize("what", BROKEN)
def test_a_mistake_is_told_with_rule_line_element_and_value(what):
    old, new, rule, line, element, message = BROKEN[what]
    assert GOOD.count(old) >= 1
    found = [f for f in findings(GOOD.replace(old, new, 1)) if f.rule == rule and message in f.message]
    assert found, "\n".join(map(str, findings(GOOD.replace(old, new, 1))))
    assert (found[0].line, found[0].element) == (line, element)
    assert found[0].advice != "Add it." or message.endswith(("is missing", "or 'screw'", "with a table", "`torsor: 1`"))
    assert "URDF" not in found[0].advice or rule == "not-a-robot"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", torsor.ModelWarning)
        if found[0].severity == "error":
            with pytest.raises(torsor.FileError, match=re.escape(message)):
                torsor.load(GOOD.replace(old, new, 1), format="yaml")
        else:
            torsor.load(GOOD.replace(old, new, 1), format="yaml")
            assert any(message in str(warning.message) for warning in told) == (found[0].severity == "warning")


def test_one_mistake_is_one_error():
    """A value that cannot be used is told once, not again by everything that would have used it."""
    for what, (old, new, rule, *_) in BROKEN.items():
        errors = [f for f in findings(GOOD.replace(old, new, 1)) if f.severity == "error"]
        cascades = (
            "no joints",
            "joints no list",
            "joints a mapping",
            "joints and table",
            "joint without name",
            "joint name a list",
            "joint name empty",
        )
        cascades += ("joint twice", "parent unknown", "two parents", "cycle", "frames no list", "no version")
        if what not in cascades:
            assert [f.rule for f in errors] in ([], [rule]), (what, errors)


def test_all_mistakes_are_told_together():
    text = GOOD
    several = (
        "gravity short",
        "kind unknown",
        "screw zero",
        "mass a word",
        "pose no rotation",
        "limit a word",
        "frame on nothing",
    )
    for what in several:
        text = text.replace(*BROKEN[what][:2], 1)
    with pytest.raises(torsor.FileError) as caught:
        torsor.load(text, format="yaml")
    told = {(f.rule, f.line) for f in caught.value.findings}
    assert {(BROKEN[what][2], BROKEN[what][3]) for what in several} <= told
    assert str(caught.value).startswith(
        f"<text>: {len(several)} errors\n  <text>:4: error: robot 'arm': 'gravity' must be"
    )


def test_repairs_work_as_for_other_formats():
    for rule, what in (("inertia-triangle", "triangle"), ("limits-inverted", "limits inverted"), ("friction-negative", "friction negative"), ("inertia-not-positive", "parameters of no body")):  # fmt: skip
        robot = torsor.load(GOOD.replace(*BROKEN[what][:2], 1), format="yaml", repair=[rule])
        assert [f.rule for f in robot.source.findings if f.repaired] == [rule]
    assert not robot.inertia("lower").violations()  # the ten numbers of the file are not taken back


def as_json(**changes):
    good = {
        "torsor": 1,
        "joints": [{"name": "a", "kind": "revolute", "axis": [0, 0, 1], "inertia": {"mass": 1, "com": [1, 0, 0]}}],
    }
    return json.dumps(good | changes, indent=2)


def test_json_knows_its_lines():
    text = as_json(
        joints=[
            {"name": "a", "kind": "revolute", "axis": [0, 0, 1], "inertia": {"mass": "x"}},
            {"name": "b", "kind": "x"},
        ]
    )
    lines = text.splitlines()
    mass, kind = (f.line for f in findings(text, "json") if f.severity == "error")
    assert '"x"' in lines[mass - 1] and "mass" in lines[mass - 1]
    assert '"kind": "x"' in lines[kind - 1]


BAD_JSON = {
    "nothing": ("", None, "the file is empty"),
    "space": (" \n", None, "the file is empty"),
    "truncated": (as_json()[:-3], 21, "expected ',' or ']', but the file ends"),
    "truncated in a text": ('{"torsor', 1, "a text that does not end, or holds an unknown escape, column 2"),
    "truncated after a key": ('{"torsor":', 1, "expected a value, but the file ends"),
    "a comment": ('{\n  // x\n}', 2, 'expected ", column 3'),
    "a trailing comma": ('{"torsor": 1,\n}', 2, 'expected ", column 1'),
    "no colon": ('{"torsor" 1}', 1, "expected ':'"),
    "single quotes": ("{'torsor': 1}", 1, 'expected "'),
    "two values": ("{}\n{}", 2, "something follows after the end"),
    "a leading zero": ('{"torsor": 01}', 1, "unexpected '01'"),
    "a plus": ('{"torsor": +1}', 1, "unexpected '+1'"),
    "a Python constant": ('{"torsor": None}', 1, "unexpected 'None'"),
    "an unknown escape": (r'{"a": "\x41"}', 1, "unknown escape"),
    "a line break in a text": ('{"a": "\n"}', 1, "a text that does not end"),
    "half a character": (r'{"torsor": 1, "name": "\ud800"}', 1, "a lone surrogate"),
    "deep lists": ("[" * 10**6, 1, "values nested deeper than 50"),
    "deep mappings": ('{"a":' * 10**6, 1, "values nested deeper than 50"),
    "many values": ("[" + "0," * 600_000 + "0]", 1, "more than 500,000 values"),
    "a long text": ('{"torsor": "' + "x" * 10**6 + '"}', 1, "a text of 1,000,000 characters"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD_JSON)
def test_json_that_is_none_is_refused_at_its_line(what):
    text, line, message = BAD_JSON[what]
    (found,) = findings_of_bytes(text.encode(), "json")
    assert message in found.message
    assert found.line == line


def findings_of_bytes(content, format):
    from torsor.formats import screw_list
    from torsor.formats.findings import Findings

    report = Findings("file")
    read = screw_list.read_json if format == "json" else screw_list.read_yaml
    read(content, report)
    return report.findings


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("NaN", "NaN is not a number (leave out what has no limit)"),
        ("-Infinity", "-Infinity is not a number"),
        ("1e999", "1e999 is too large for a number"),
        ("1" * 10**6, "a number of 1,000,000 characters"),
        ("0." + "1" * 10**6, "a number of 1,000,002 characters"),
        ("1e" + "9" * 10**5, "a number of 100,002 characters"),
    ],
)
def test_numbers_that_are_none_are_told_once(number, message):
    text = as_json().replace('"torsor": 1', '"torsor": 1,\n  "gravity": [0, 0, NUMBER]').replace("NUMBER", number)
    (found,) = (f for f in findings(text, "json") if f.severity == "error")
    assert (found.rule, found.line) == ("number-malformed", 3)
    assert message in found.message
    in_yaml = GOOD.replace("-9.81", number if number[0] == "1" else "-.inf", 1)
    (found,) = (f for f in findings(in_yaml) if f.severity == "error")
    assert (found.rule, found.line) == ("number-malformed", 4)


def test_repeated_keys_are_refused_and_counted():
    (found,) = (f for f in findings(as_json().replace('"torsor": 1', '"torsor": 1,\n"torsor": 1'), "json") if f.severity == "error")  # fmt: skip
    assert (found.rule, found.line) == ("repeated-tag", 3)
    assert "the key 'torsor' stands twice (first on line 2)" in found.message
    flood = findings_of_bytes(b"{" + b'"a":1,' * 100_000 + b'"b":1}', "json")
    assert len(flood) <= 101
    flood = findings_of_bytes(as_json(**{f"key{k}": 1 for k in range(10_000)}).encode(), "json")
    assert len(flood) <= 101


HOSTILE_YAML = {
    "billion laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "merge key": "torsor: 1\njoints: []\n<<: *x\n",
    "python object": "!!python/object/apply:os.system ['true']\n",
    "python name": "torsor: !!python/name:os.system\n",
    "own tag": "%TAG ! tag:example.org,2000:\n---\ntorsor: !robot 1\n",
    "deep flow": "[" * 10**6,
    "deep blocks": "- " * 10**5,
    "deep keys": "? " * 10**5,
    "deep mappings": "{a: " * 10**5,
    "too many bytes": "# " + "x" * (4 * 2**20),
    "control characters": "torsor: 1\x01\n",
    "a character beyond Unicode": 'torsor: "\\UFFFFFFFF"\n',
    "half a character": 'torsor: 1\njoints: []\nname: "\\ud800"\n',
    "a long version": "%YAML " + "1" * 10_000 + ".1\n---\ntorsor: 1\n",
    "unfinished text": 'torsor: "1\n',
    "tabs": "torsor:\n\t- 1\n",
    "only a comment": "# nothing\n",
}


@pytest.mark.parametrize("what", HOSTILE_YAML)
@pytest.mark.parametrize("parser", ["C", "Python"])
def test_yaml_that_would_do_harm_is_refused(what, parser, monkeypatch):
    yaml = pytest.importorskip("yaml")
    if parser == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    found = findings_of_bytes(HOSTILE_YAML[what].encode(), "yaml")
    assert [f.severity for f in found] == ["error"]


def test_damaged_files_load_or_raise_our_errors(tmp_path):
    """Cut, changed and random bytes, in both formats: a robot, or an error of ours."""
    rng = np.random.default_rng(0)
    arm = torsor.robots.random_tree(3, seed=1, mimic=True, friction=True)
    whole = {"robot.json": arm.to_json().encode(), "robot.yaml": arm.to_yaml().encode()}
    for k in range(300):
        name = "robot.json" if k % 2 else "robot.yaml"
        content = bytearray(whole[name])
        for _ in range(int(rng.integers(1, 6))):
            at = int(rng.integers(len(content)))
            match rng.integers(4):
                case 0:
                    content[at] = int(rng.integers(256))
                case 1:
                    del content[at : at + int(rng.integers(1, 200))]
                case 2:
                    content[at:at] = rng.choice(
                        [b"[", b"{", b'"', b"&a ", b"*a ", b"1e999", b"\n- ", b": ", b"\xff", b"\x00"]
                    )
                case 3:
                    content = content[: max(at, 1)]
        path = tmp_path / name
        path.write_bytes(content)
        torsor.check(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", torsor.ModelWarning)
            with contextlib.suppress(torsor.TorsorError):
                assert isinstance(torsor.load(path), torsor.Robot)
    for content in (b"\x00\x01\x02", bytes(range(256)), b"\x7fELF" * 100, "{}".encode("utf-16"), b""):
        for name in ("robot.json", "robot.yaml"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(torsor.TorsorError):
                torsor.load(tmp_path / name)
            assert torsor.check(tmp_path / name)


def test_yaml_reads_numbers_and_words_as_yaml_1_2_does():
    text = GOOD.replace("velocity_limit: 3", "velocity_limit: 1e-5").replace("name: shoulder", "name: no")
    text = text.replace("[elbow, shoulder, wrist]", "[elbow, no, wrist]").replace("armature: 0.5", "armature: +.5e0")
    robot = torsor.load(text, format="yaml")
    assert robot.joints[0] == "no"
    assert robot.limits.velocity[robot.v_slice("no")] == (1e-5,)
    assert robot.parameters.armature[0] == 0.5


def test_without_pyyaml_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['yaml'] = None\nimport torsor\n"
        "assert torsor.load(torsor.robots.pendulum().to_json()).nv == 1\n"
        "text = torsor.robots.pendulum().to_yaml()\n"
        "try: torsor.load(text, format='yaml')\nexcept torsor.FileError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '<text>: reading YAML takes PyYAML. Install it: pip install "torsor[yaml]".'


# Tables

TABLE = """torsor: 1
name: scara
dh:
  convention: standard
  rows:
    - {a: 0.3, d: 0.1, lower: -2, upper: 2, viscous_friction: 0.1}
    - {a: 0.2, alpha: 3.141592653589793}
    - {d: 0.05, theta: 0.5, prismatic: true, effort_limit: 10}
  inertias:
    - {mass: 2, com: [-0.1, 0, 0], rotational: [0.01, 0, 0, 0.02, 0, 0.02]}
    - {parameters: [1, -0.1, 0, 0, 0.002, 0, 0, 0.02, 0, 0.021]}
    - {mass: 0.5, rotational: [0.001, 0, 0, 0.001, 0, 0.001]}
  names: [shoulder, elbow, quill]
  tip: {xyz: [0, 0, 0.02]}
"""
BROKEN_TABLES = {
    "convention missing": ("  convention: standard\n", "", "missing-attribute", 4, "robot 'scara'", "'dh.convention' is missing"),
    "convention unknown": ("standard", "denavit", "value-malformed", 4, "robot 'scara'", "'dh.convention' must be standard or modified, found 'denavit'"),
    "unknown key": ("alpha:", "alfa:", "misspelt-key", 7, "joint 'elbow'", "unknown key 'alfa' (did you mean 'alpha'?)"),
    "a word": ("d: 0.05", "d: far", "number-malformed", 8, "joint 'quill'", "'d' must be a number, found 'far'"),
    "no flag": ("prismatic: true", "prismatic: 1", "value-malformed", 8, "joint 'quill'", "'prismatic' must be true or false, found 1"),
    "row no mapping": ("    - {a: 0.2, alpha: 3.141592653589793}", "    - 7", "value-malformed", 7, "robot 'scara'", "'dh.rows[1]' must be a mapping, found 7"),
    "no rows": (TABLE[TABLE.index("  rows:") : TABLE.index("  inertias:")], "", "missing-attribute", 4, "robot 'scara'", "'dh.rows' is missing"),
    "few inertias": (TABLE[TABLE.index("    - {mass: 0.5") : TABLE.index("  names")], "", "value-malformed", 10, "robot 'scara'", "'dh.inertias' holds 2 inertias for 3 rows"),
    "bad inertia": ("mass: 0.5", "mass: -0.5", "mass-negative", 12, "link 'link_3'", "its mass is -0.5 kg"),
    "few names": (", quill]", "]", "value-malformed", 13, "robot 'scara'", "'dh.names' holds 2 names for 3 rows"),
    "limits": ("lower: -2", "lower: 3", "limits-inverted", 6, "joint 'shoulder'", "lower 3 exceeds upper 2"),
    "tip": ("{xyz: [0, 0, 0.02]}", "{xyz: [0, 0.02]}", "number-malformed", 14, "robot 'scara'", "'dh.tip.xyz' must be a list of 3 numbers, found a list of 2"),
    "no table": (TABLE[TABLE.index("dh:") :], "dh: 3\n", "value-malformed", 3, "robot 'scara'", "'dh' must be a mapping, found 3"),
}  # fmt: skip


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_table_is_the_chain_of_that_table(convention):
    read = torsor.load(TABLE.replace("standard", convention), format="yaml")
    made = torsor.dh_chain(
        [(0.3, 0, 0.1, 0), (0.2, np.pi, 0, 0), (0, 0, 0.05, 0.5, True)],
        [
            torsor.Inertia(2, (-0.1, 0, 0), np.diag([0.01, 0.02, 0.02])),
            torsor.Inertia.from_row([1, -0.1, 0, 0, 0.002, 0, 0, 0.02, 0, 0.021]),
            torsor.Inertia(0.5, (0, 0, 0), 0.001 * np.eye(3)),
        ],
        convention=convention,
        tip=torsor.pose_from((0, 0, 0.02)),
        names=["shoulder", "elbow", "quill"],
        name="scara",
    )
    assert read.structure.couplings == made.structure.couplings
    assert read.frames == made.frames
    for name in ("poses", "screws", "frame_poses", "gravity"):
        assert np.array_equal(getattr(read.parameters, name), getattr(made.parameters, name)), name
    np.testing.assert_allclose(read.parameters.inertias, made.parameters.inertias, rtol=1e-15, atol=1e-18)
    assert read.limits.lower == (-2.0, -np.inf, -np.inf)
    assert read.limits.effort == (np.inf, np.inf, 10.0)
    assert read.parameters.viscous_friction.tolist() == [0.1, 0, 0]


@pytest.mark.parametrize("what", BROKEN_TABLES)
def test_a_mistake_in_a_table_is_told_with_its_line(what):
    old, new, rule, line, element, message = BROKEN_TABLES[what]
    text = TABLE.replace(old, new, 1)
    assert text != TABLE
    found = [f for f in findings(text) if f.rule == rule and message in f.message]
    assert found, "\n".join(map(str, findings(text)))
    assert (found[0].line, found[0].element) == (line, element)


# The page


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_planar_arm_of_the_page_is_the_one_of_the_zoo():
    (text,) = blocks("json")
    assert [f.rule for f in torsor.check(text) if f.severity == "error"] == []
    read, arm = torsor.load(text), torsor.robots.planar2r()
    q, v, a = torsor.random_state(arm, seed=0)
    np.testing.assert_allclose(
        torsor.inverse_dynamics(read, q, v, a), torsor.inverse_dynamics(arm, q, v, a), rtol=1e-14
    )
    assert read.limits.upper == (3.0, 3.0)


def test_the_table_of_the_page_loads_and_moves():
    (text,) = blocks("yaml")
    assert [f.rule for f in torsor.check(text, format="yaml") if f.severity == "error"] == []
    scara = torsor.load(text, format="yaml")
    assert scara.joints == ("shoulder", "elbow", "quill")
    tip = torsor.frame_pose(scara, np.array([0.0, 0.0, 0.1]), "tip")
    np.testing.assert_allclose(tip[:3, 3], [0.5, 0.0, 0.25 - 0.1], atol=1e-15)


def test_the_page_names_every_key():
    from torsor.formats import screw_list, screw_list_parts

    for key in (
        *screw_list.ROBOT_KEYS,
        *screw_list.JOINT_KEYS,
        *screw_list_parts.TABLE_KEYS,
        *screw_list_parts.ROW_KEYS,
    ):
        assert f"`{key}`" in PAGE, key
