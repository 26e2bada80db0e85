"""What is refused in an MJCF, what is said about it, and that no file can do harm."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import pytest

import torsor

JOINT = '<joint name="j" axis="1 0 0"/>'
INERTIAL = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.11 0.12 0.13"/>'
BODY = f'<body name="a">{JOINT}{INERTIAL}</body>'
ARM = f"<mujoco>\n<worldbody>\n{BODY}\n</worldbody>\n</mujoco>"


def arm(joint: str = JOINT, inertial: str = INERTIAL, more: str = "", before: str = "", after: str = "") -> str:
    """One body, its joint on line 4, its inertia on line 5, more of it on line 6."""
    return f'<mujoco>{before}\n<worldbody>\n<body name="a">\n{joint}\n{inertial}\n{more}\n</body>\n</worldbody>{after}</mujoco>'


def findings(text: str, *, severity: str | None = None) -> list[torsor.Finding]:
    found = torsor.check(text, format="mjcf")
    return [finding for finding in found if severity is None or finding.severity == severity]


def test_a_plain_arm_has_no_findings():
    assert findings(ARM) == []
    assert torsor.load(ARM).joints == ("j",)


# Errors: (text, rule, line)

LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))
REFUSED = {
    "billion laughs": (f'<!DOCTYPE mujoco [<!ENTITY l0 "ha">{LAUGHS}]><mujoco model="&l9;"/>', "xml-doctype", 1),
    "external entity": ('<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]><mujoco>&e;</mujoco>', "xml-doctype", 1),
    "include": ('<mujoco>\n<include file="/etc/passwd"/>\n</mujoco>', "external-file", 2),
    "include in a body": (arm(more='<include file="/etc/passwd"/>'), "external-file", 6),
    "include in assets": ('<mujoco><asset>\n<include file="a.xml"/></asset></mujoco>', "external-file", 2),
    "include in actuators": ('<mujoco><actuator>\n<include file="a.xml"/></actuator></mujoco>', "external-file", 2),
    "attach": (
        arm(more='<attach model="m" prefix="x"/>', before='<asset><model name="m" file="/etc/passwd"/></asset>'),
        "external-file",
        6,
    ),
    "plugin": (arm(more='<plugin plugin="mujoco.pid"/>'), "plugin", 6),
    "composite": (arm(more='<composite type="cable" count="1000000 1000000 1"/>'), "deformable", 6),
    "flexcomp": (arm(more='<flexcomp type="mesh" file="/etc/passwd" name="f"/>'), "deformable", 6),
    "flex": ("<mujoco><deformable>\n<flex name='f'/></deformable></mujoco>", "deformable", 2),
    "inertia of a mesh": (
        arm(
            inertial="",
            more='<geom type="mesh" mesh="m"/>',
            before='<asset><mesh name="m" file="/etc/passwd"/></asset>',
        ),
        "mesh-inertia",
        6,
    ),
    "shape fitted to a mesh": (arm(inertial="", more='<geom type="box" mesh="m"/>'), "mesh-inertia", 6),
    "mesh by class": (
        arm(
            inertial="",
            more='<geom class="c"/>',
            before='<default><default class="c"><geom type="mesh" mesh="m"/></default></default>',
        ),
        "mesh-inertia",
        6,
    ),
    "copies without end": (arm(more='<replicate count="2000000000"><site/></replicate>'), "file-too-large", 1),
    "copies of copies": (
        arm(more='<replicate count="1000">' * 30 + "<site/>" + "</replicate>" * 30),
        "file-too-large",
        1,
    ),
    "infinitely many copies": (arm(more='<replicate count="1e999"><site/></replicate>'), "number-malformed", 6),
    "many small copies": (arm(more='<replicate count="2"><site/></replicate>' * 2000), "file-too-large", 1),
    "many elements": (arm(more="<site/>" * 30_000), "file-too-large", 1),
    "deep nesting": ("<mujoco><worldbody>" + "<body>" * 5000 + "</body>" * 5000, "file-too-large", 1),
    "not a number": (arm('<joint axis="1 o 0"/>'), "number-malformed", 4),
    "too few numbers": (arm('<joint axis="1 0"/>'), "number-malformed", 4),
    "too many numbers": (arm('<joint axis="1 0 0 0"/>'), "number-malformed", 4),
    "NaN": (arm('<joint axis="1 nan 0"/>'), "number-malformed", 4),
    "NaN in a range": (arm('<joint range="nan 1"/>'), "number-malformed", 4),
    "NaN by class": (
        arm(before='<default><default class="c"><joint damping="-NaN(1)"/></default></default>'),
        "number-malformed",
        1,
    ),
    "infinite": (arm('<joint damping="inf"/>'), "number-malformed", 4),
    "too large": (arm('<joint pos="1e400 0 0"/>'), "number-malformed", 4),
    "too large to add": (
        f'<mujoco><worldbody>\n<body name="a">{JOINT}<geom size="1" pos="1e200 0 0"/></body></worldbody></mujoco>',
        "number-malformed",
        2,
    ),
    "empty": ("", "not-a-robot", None),
    "white": ("  \n ", "not-a-robot", None),
    "truncated": (ARM[:-20], "xml-malformed", 4),
    "no world": ("<mujoco/>", "no-moving-joint", None),
    "nothing moves": ("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>", "no-moving-joint", None),
    "another language": ('<robot name="r"/>', "not-a-robot", 1),
    "unknown attribute": (arm('<joint name="j" speed="3"/>'), "mjcf-invalid", 4),
    "unknown tag": (arm(more="<wheel/>"), "mjcf-invalid", 6),
    "unknown class": (arm('<joint class="fast"/>'), "mjcf-invalid", 4),
    "two of a name": (arm('<joint name="j"/><joint name="j" axis="1 0 0"/>'), "mjcf-invalid", 4),
    "free in a chain": (arm(more='<body><freejoint/><geom size="1"/></body>'), "mjcf-invalid", 6),
    "zero axis": (arm('<joint axis="0 0 0"/>'), "axis-zero", 4),
    "no mass": (arm(inertial=""), "massless-body", 3),
    "moments": (arm(inertial='<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'), "inertia-triangle", 3),
    "negative moment": (
        arm(inertial='<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 2"/>'),
        "inertia-not-positive",
        3,
    ),
    "limits": (arm('<joint name="j" range="2 1"/>', before='<compiler angle="radian"/>'), "limits-inverted", 4),
    "negative stiffness": (arm('<joint name="j" stiffness="-1"/>'), "stiffness-negative", 4),
    "negative damping": (arm('<joint name="j" damping="-1"/>'), "friction-negative", 4),
    "two followers in a ring": (
        arm(
            '<joint name="j"/><joint name="k" axis="1 0 0"/>',
            after='<equality><joint joint1="j" joint2="k"/><joint joint1="k" joint2="j"/></equality>',
        ),
        "mimic-cycle",
        4,
    ),
}


# What would open a file or fill the memory is refused before MuJoCo sees it, however long it would take.
BEFORE_MUJOCO = {"xml-doctype", "external-file", "deformable", "file-too-large"}
PARSE = mujoco.MjSpec.from_string


def refuse_to_parse(text):
    raise AssertionError("MuJoCo was given a file that is to be refused before")


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_the_rule_at_its_line(name, tmp_path, monkeypatch):
    text, rule, line = REFUSED[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mujoco.MjSpec, "from_string", refuse_to_parse if rule in BEFORE_MUJOCO else PARSE)
    with pytest.raises(torsor.TorsorError) as raised, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torsor.load(_file(tmp_path, text), format="mjcf")
    assert rule in [finding.rule for finding in raised.value.findings], raised.value
    assert line in [finding.line for finding in raised.value.findings if finding.rule == rule]
    assert os.listdir(tmp_path) == ["robot.xml"]  # MuJoCo has left no log


def _file(folder: Path, text: str) -> Path:
    (folder / "robot.xml").write_text(text)
    return folder / "robot.xml"


def test_hostile_text_raises_nothing_but_our_errors():
    """Any cut and many changes of a file: a robot, or one of our own errors."""
    import random

    text = arm(more='<site name="s"/><geom type="box" size=".1 .2 .3"/>', before='<compiler angle="radian"/>')
    source = random.Random(1)
    for _ in range(300):
        kind = source.randrange(3)
        at, other = source.randrange(len(text)), source.randrange(len(text))
        if kind == 0:
            changed = text[:at]
        elif kind == 1:
            changed = text[:at] + source.choice('<>"/=0 -ex\x00é\n') + text[at + 1 :]
        else:
            changed = text[: min(at, other)] + text[max(at, other) :]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                torsor.load("\n" + changed, format="mjcf")
            except torsor.TorsorError:
                continue


# Warnings and notes: (text, rule, line)

SAID = {
    "spring": (arm('<joint name="j" type="ball" stiffness="3"/>'), "spring", 4),
    "gravity compensation": (ARM.replace('name="a"', 'name="a" gravcomp="1"'), "gravity-compensation", 3),
    "fluid": (arm(before='<option density="1.2"/>'), "fluid", None),
    "tendon": (
        arm(after='<tendon>\n<fixed><joint joint="j" coef="1"/></fixed></tendon>'), "unsupported", 9
    ),
    "weld": (arm(after='<equality>\n<weld body1="a"/></equality>'), "unsupported", 9),
    "connect": (arm(after='<equality>\n<connect body1="a" anchor="0 0 0"/></equality>'), "unsupported", 9),
    "contact pair": (arm(after='<contact>\n<pair geom1="g" geom2="h"/></contact>'), "unsupported", 9),
    "mocap": (ARM.replace("</worldbody>", '<body name="m" mocap="true"/></worldbody>'), "unsupported", 4),
    "joint held": (arm(after='<equality><joint joint1="j"/></equality>'), "unsupported", 4),
    "curve": (
        arm(
            '<joint name="j" axis="1 0 0"/><joint name="k" axis="0 1 0"/>',
            after='<equality><joint joint1="j" joint2="k" polycoef="0 1 2 0 0"/></equality>',
        ),
        "unsupported",
        4,
    ),
    "constraint that sleeps": (
        arm(
            '<joint name="j" axis="1 0 0"/><joint name="k" axis="0 1 0"/>',
            after='<equality><joint joint1="j" joint2="k" active="false"/></equality>',
        ),
        "unsupported",
        4,
    ),
    "range of a ball": (arm('<joint name="j" type="ball" range="0 90"/>'), "unsupported", 4),
    "lopsided effort": (arm('<joint name="j" actuatorfrcrange="-1 2"/>'), "unsupported", 4),
    "changed inertia": (
        arm(inertial='<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>', before='<compiler balanceinertia="true"/>'),
        "inertia-changed",
        3,
    ),
    "MuJoCo's own warnings": (arm(before='<compiler settotalmass="3"/>'), "mjcf-warning", None),
    "bounded mass": (arm(before='<compiler boundmass="7"/>'), "inertia-changed", 3),
    "armature on a free joint": (arm('<joint name="j" type="free" armature="1"/>'), "effects-on-free-joint", 4),
    "path outside": (arm(before='<asset><mesh name="m" file="../../etc/passwd"/></asset>'), "path-outside", 1),
    "actuators": (arm(after='<actuator>\n<motor joint="j"/></actuator>'), "actuators", 9),
    "mesh on the base": (
        ARM.replace("<worldbody>", '<worldbody><body><geom type="mesh" mesh="m"/></body>'), "mesh-inertia-of-base", 2
    ),
    "site with the name of a body": (arm(more='<site name="a"/>'), "renamed", 6),
}  # fmt: skip


def warnings_of_mujoco(text):
    """What this release of MuJoCo itself warns of."""
    import mujoco

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mujoco.MjSpec.from_string(text).compile()
    return told


@pytest.mark.parametrize("name", SAID)
def test_it_is_accepted_and_said(name):
    text, rule, line = SAID[name]
    if rule == "mjcf-warning" and not warnings_of_mujoco(text):
        pytest.skip("this release of MuJoCo does not warn")
    found = findings(text)
    assert (rule, line) in [(finding.rule, finding.line) for finding in found]
    assert not any(finding.severity == "error" for finding in found)
    severity = next(finding.severity for finding in found if finding.rule == rule)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        robot = torsor.load(text)
    assert rule in [finding.rule for finding in robot.source.findings]
    assert any(f"[{rule}]" in str(warning.message) for warning in told) == (severity == "warning")
    if severity == "warning":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torsor.load(text, ignore=[rule, "mjcf-warning", "inertia-changed"])


def test_things_of_one_kind_are_said_once():
    text = arm(after='<equality><weld body1="a" name="p"/><weld body1="a" name="q"/></equality>')
    (finding,) = findings(text, severity="warning")
    assert finding.message == "2 weld constraints are left out ('p', 'q')"


def test_joints_of_one_body_do_not_warn_of_the_massless_links_between_them():
    assert findings(arm('<joint name="j" axis="1 0 0"/><joint name="k" axis="0 1 0"/>')) == []


def test_inverted_limits_are_exchanged_when_asked():
    text = REFUSED["limits"][0]
    robot = torsor.load(text, repair=["limits-inverted"])
    assert (robot.limits.lower, robot.limits.upper) == ((1.0,), (2.0,))
    robot = torsor.load(text.replace('angle="radian"', 'angle="degree"'), repair=["limits-inverted"])
    assert robot.limits.upper == (math.radians(2.0),)


def test_names_that_look_like_numbers_that_are_none():
    robot = torsor.load(arm('<joint name="nan" axis="1 0 0"/>', more='<site name="inf"/>'))
    assert robot.joints == ("nan",) and "inf" in robot.frames


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "utf-8"])
def test_another_encoding_is_read_as_our_parser_reads_it(encoding, tmp_path):
    """What MuJoCo sees is what was checked, written anew: two parsers cannot disagree."""
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + ARM.replace('"j"', '"jé"')
    (tmp_path / "robot.xml").write_bytes(text.encode(encoding))
    assert torsor.load(tmp_path / "robot.xml", format="mjcf").joints == ("jé",)


def test_without_mujoco_it_says_what_to_install():
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        f"import torsor\ntry:\n    torsor.load({ARM!r})\nexcept torsor.FileError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "torsor[mjcf]"' in done.stdout


def test_the_work_for_a_large_model_grows_with_its_size(calls):
    """In calls of functions, which are as many on every machine; and copies up to what is allowed are loaded."""

    def load(count):
        text = f'<mujoco><worldbody><replicate count="{count}" offset="1 0 0">{BODY}</replicate></worldbody></mujoco>'
        return torsor.load(text)

    load(2)  # what is done once
    few, many = (calls(lambda count=count: load(count))[0] for count in (50, 200))
    assert many < 5 * few
    assert load(900).nv == 900
