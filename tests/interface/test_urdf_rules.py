# ruff: noqa: E501 - one mistake a line
"""Every rule for robot files: a file that breaks it is refused (or noted) with line, element, value and what to do, and the
same file without the mistake is not. The mistakes are single edits of one good file.
"""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import test_mjcf_rules

import torsor
from torsor.formats import RULES, Severity
from torsor.formats.rules import ACCEPTS

GOOD = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.2" rpy="0 0 0"/>
      <mass value="2.0"/>
      <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.004"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.2"/>
      <geometry><box size="0.1 0.1 0.5"/></geometry>
    </visual>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0.1 0 0"/>
      <mass value="1.0"/>
      <inertia ixx="0.002" ixy="0.0001" ixz="0" iyy="0.01" iyz="0" izz="0.011"/>
    </inertial>
    <collision>
      <origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.05" length="0.4"/></geometry>
    </collision>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 0.4" rpy="1.5707963267948966 0 0"/>
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1.5" effort="20" velocity="3"/>
  </joint>
  <joint name="flange" type="fixed">
    <origin xyz="0.3 0 0"/>
    <parent link="lower"/>
    <child link="tool"/>
  </joint>
</robot>
"""
LOWER = 'ixx="0.002" ixy="0.0001" ixz="0" iyy="0.01" iyz="0" izz="0.011"'
ELBOW_LIMIT = '<limit lower="-1" upper="1.5" effort="20" velocity="3"/>'
FINGERS = """<link name="f1"><inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/>
</inertial></link>
  <joint name="finger" type="prismatic"><parent link="tool"/><child link="f1"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="5" velocity="1"/>{}</joint>
</robot>"""

# rule: (what is replaced, by what, line of the finding, what the message says)
BROKEN = {
    "xml-malformed": ("</robot>", "", 47, "not well-formed XML: no element found"),
    "xml-doctype": ("<robot name", '<!DOCTYPE robot [<!ENTITY a "b">]>\n<robot name', 2, "document type declaration, which is refused"),
    "not-a-robot": ("robot", "sdf", 2, "the outermost element is <sdf>, a URDF has <robot>"),
    "xacro": ('<link name="base"/>', '<xacro:include filename="x"/>', 3, "a xacro template, not a URDF"),
    "unknown-tag": ('<link name="base"/>', '<link name="base"><vizual/></link>', 3, "unknown tag <vizual>"),
    "unknown-attribute": ('<mass value="2.0"/>', '<mass value="2.0" unit="kg"/>', 7, "unknown attribute 'unit'"),
    "misspelt-attribute": ('lower="-1" upper="1.5"', 'lowr="-1" upper="1.5"', 39, "unknown attribute 'lowr' (did you mean 'lower'?)"),
    "repeated-tag": ('<mass value="2.0"/>', '<mass value="2.0"/><mass value="3.0"/>', 7, "<mass> stands 2 times"),
    "missing-tag": ('<parent link="upper"/>', "", 34, "<parent link=…/> is missing"),
    "missing-attribute": ('<mass value="2.0"/>', "<mass/>", 7, "value= of <mass> is missing"),
    "number-malformed": ('<mass value="2.0"/>', '<mass value="two"/>', 7, "must be a number, found 'two'"),
    "transmission-malformed": ("</robot>", '<transmission name="t"><joint name="elbow"/><actuator name="m"><mechanicalReduction>fifty</mechanicalReduction></actuator></transmission></robot>', 46, "<mechanicalReduction> must be a number, found 'fifty'"),
    "path-outside": ('<box size="0.1 0.1 0.5"/>', '<mesh filename="../../etc/x.stl"/>', 12, "'../../etc/x.stl' lies outside"),
    "duplicate-link": ('<link name="tool"/>', '<link name="tool"/><link name="lower"/>', 26, "described 2 times (lines 15, 26)"),
    "duplicate-joint": ('name="elbow"', 'name="shoulder"', 34, "described 2 times (lines 27, 34)"),
    "missing-link": ('<child link="lower"/>', '<child link="lowr"/>', 34, "its child link 'lowr' does not exist (did you mean 'lower'?)"),
    "two-parents": ('<child link="tool"/>', '<child link="lower"/>', 41, "it is the child of 2 joints: 'elbow', 'flange'"),
    "cycle": ('<parent link="base"/>', '<parent link="lower"/>', 27, "links form a cycle: upper ← lower ← upper"),
    "two-roots": ('<link name="tool"/>', '<link name="tool"/><link name="b2"/><link name="t2"/><joint name="j2" type="fixed"><parent link="b2"/><child link="t2"/></joint>', 26, "2 links have no parent: 'base', 'b2'"),
    "unused-link": ('<link name="tool"/>', '<link name="tool"/><link name="spare"/>', 26, "no joint attaches it"),
    "no-links": (GOOD[GOOD.index("  <link"):GOOD.index("</robot>")], "", None, "the file describes no link"),
    "no-moving-joint": ('type="revolute"', 'type="fixed"', None, "no joint moves"),
    "unknown-joint-type": ('name="elbow" type="revolute"', 'name="elbow" type="hinge"', 34, "unknown joint type 'hinge'"),
    "axis-zero": ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', 27, "the axis is zero"),
    "axis-not-unit": ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 2"/>', 27, "the axis (0, 0, 2) has length 2"),
    "axis-missing": ('<axis xyz="0 0 1"/>', "", 27, "no <axis> is given"),
    "limits-missing": (ELBOW_LIMIT, "", 34, "a revolute joint has no <limit>"),
    "limits-inverted": ('lower="-1" upper="1.5"', 'lower="1.5" upper="-1"', 39, "lower 1.5 exceeds upper -1"),
    "limits-empty": ('lower="-1" upper="1.5"', 'lower="0" upper="0"', 39, "lower and upper are both 0"),
    "limit-not-positive": ('effort="20"', 'effort="0"', 39, "its effort limit is 0"),
    "limits-wider-than-turn": ('lower="-1" upper="1.5"', 'lower="-8.5" upper="8.5"', 39, "its range is 2.71 turns"),
    "angles-in-degrees": ('lower="-1" upper="1.5"', 'lower="-90" upper="120"', 39, "its range is -90 … 120 rad"),
    "rotation-in-degrees": ('<origin xyz="0.3 0 0"/>', '<origin xyz="0.3 0 0" rpy="0 -90 0"/>', 42, "rpy= of <origin> is 0 -90 0 rad"),
    "friction-negative": ('damping="0.1"', 'damping="-0.1"', 27, "damping is -0.1"),
    "mimic-unknown": (ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="sholder"/>', 34, "it mimics 'sholder', which does not exist"),
    "mimic-cycle": ("</robot>", FINGERS.format('<mimic joint="finger"/>'), 48, "it follows 'finger', which follows it"),
    "mimic-zero": (ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="shoulder" multiplier="0"/>', 34, "its multiplier is zero, so that it follows nothing"),
    "mimic-limits": (ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="shoulder" offset="9"/>', 34, "it allows its leader 'shoulder' -10 … -7.5, others -2 … 2"),
    "mimic-empty": (ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="shoulder" offset="3.5"/>', 34, "it leaves its leader 'shoulder' only -2"),
    "inertia-of-base": ('<link name="base"/>', '<link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>', 3, "0.2 + 0.2, by 0.6 kg·m² (60.0%) (inertia-triangle)"),
    "mass-negative": ('<mass value="2.0"/>', '<mass value="-2.0"/>', 8, "its mass is -2 kg"),
    "massless-with-inertia": ('<mass value="2.0"/>', '<mass value="0"/>', 8, "no mass, but a rotational inertia of 0.03 kg·m²"),
    "inertia-not-positive": (LOWER, LOWER.replace('ixy="0.0001"', 'ixy="0.02"'), 19, "its principal moments are -0.0143961, 0.011, 0.0263961"),
    "inertia-triangle": ('izz="0.004"', 'izz="0.08"', 8, "exceeds the sum of the other two, 0.03 + 0.03, by 0.02 kg·m² (25.0%)"),
    "inertia-rounded": ('izz="0.004"', 'izz="0.0602"', 8, "exceeds the sum of the other two by 3.3e-03 of it"),
    "inertia-units": (LOWER, 'ixx="2000" ixy="100" ixz="0" iyy="10000" iyz="0" izz="11000"', 19, "has a radius of gyration of 104.9 m"),
    "inertia-rows-swapped": (LOWER, 'ixx="0.002" ixy="0.01" ixz="0.011" iyy="0.0001" iyz="0" izz="0"', 19, "ixx … izz = 0.002 0.01 0.011 0.0001 0 0 have moments"),
    "idle-joint": ("</robot>", FINGERS.format("").replace("0.1", "0").replace("1e-4", "0"), 48, "it moves no inertia: 'f1' and all beyond are massless"),
    "massless-connector": ('<mass value="2.0"/>\n      <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.004"/>', '<mass value="0"/>\n      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>', 4, "it has no mass, between joint 'shoulder' and what it carries"),
    "inertia-default": ('ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.004"', 'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', 8, "its inertia is 1 times the identity"),
    "inertia-zero": (LOWER, 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"', 19, "1 kg without rotational inertia"),
    "inertia-inconsistent": ('<box size="0.1 0.1 0.5"/>', '<box size="0.01 0.01 0.02"/>', 8, "its radius of gyration is 0.126 m, its shapes reach 0.0122 m"),
    "com-outside": ('<origin xyz="0 0 0.2" rpy="0 0 0"/>', '<origin xyz="0 0 0.9" rpy="0 0 0"/>', 8, "its centre of mass (0, 0, 0.9) lies 0.45 m outside its shapes, along z"),
    "mass-ratio": ('<mass value="2.0"/>', '<mass value="20000.0"/>', 19, "its mass is 1 kg, that of 'upper' 2e+04 kg: a ratio of 2e+04"),
    "millimetres": ('<origin xyz="0.3 0 0"/>', '<origin xyz="300 0 0"/>', 41, "its origin is 300 m from its parent's"),
    "names-collide": ('name="flange"', 'name="tool"', 41, "a link has the same name"),
}  # fmt: skip
ELSEWHERE = {"file-unreadable", "file-too-large"}  # below


def finding_of(rule: str, text: str):
    return [finding for finding in torsor.check(text) if finding.rule == rule]


def broken(rule: str) -> str:
    old, new, _, _ = BROKEN[rule]
    assert old in GOOD, old
    return GOOD.replace(old, new) if rule in ("no-moving-joint", "not-a-robot") else GOOD.replace(old, new, 1)


def test_the_good_file_is_good():
    assert torsor.check(GOOD) == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = torsor.load(GOOD)
    assert robot.joints == ("shoulder", "elbow")
    assert robot.frames == ("base", "upper", "lower", "tool")
    assert robot.source.findings == ()


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_file_is_found_at_its_line_with_the_value_and_what_to_do(rule):
    _, _, line, message = BROKEN[rule]
    found = finding_of(rule, broken(rule))
    assert len(found) == 1, torsor.check(broken(rule))
    assert message in found[0].message
    assert found[0].line == line
    assert str(found[0]).startswith(f"<text>{'' if line is None else f':{line}'}: {RULES[rule].severity}: ")
    error = RULES[rule].severity is Severity.ERROR
    ways = [way for way, offer in (("repair", RULES[rule].repair), ("accept", rule in ACCEPTS)) if offer and error]
    hint = f" Or load it with {' or '.join(f'{way}=[{rule!r}]' for way in ways)}." if ways else ""
    assert str(found[0]).endswith(f"{found[0].advice}{hint} [{rule}]")
    assert found[0].advice == RULES[rule].advice or rule == "xml-malformed"  # each of the parser's errors has its own


@pytest.mark.parametrize("rule", BROKEN)
def test_loading_refuses_errors_and_accepts_the_rest(rule):
    text = broken(rule)
    if RULES[rule].severity is Severity.ERROR:
        with pytest.raises(torsor.FileError, match=re.escape(f"[{rule}]")) as caught:
            torsor.load(text)
        assert rule in [finding.rule for finding in caught.value.findings]
    else:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            robot = torsor.load(text)
        told = rule in [finding.rule for finding in robot.source.findings]
        assert told == (not RULES[rule].lint)
        expected = RULES[rule].severity is Severity.WARNING and not RULES[rule].lint
        assert any(f"[{rule}]" in str(w.message) for w in warned) == expected


@pytest.mark.parametrize("rule", [rule for rule in BROKEN if RULES[rule].severity is not Severity.ERROR])
def test_warnings_and_notes_can_be_silenced_by_rule(rule):
    assert rule not in [finding.rule for finding in torsor.check(broken(rule), ignore=[rule])]


def test_every_rule_is_tested():
    from_mjcf = {rule for _, rule, _ in (*test_mjcf_rules.REFUSED.values(), *test_mjcf_rules.SAID.values())}
    from_lists = {"text-malformed", "value-malformed", "unknown-key", "misspelt-key"}  # test_screw_list_errors
    assert set(BROKEN) | ELSEWHERE | from_mjcf | from_lists >= set(RULES), set(RULES) - set(BROKEN) - from_mjcf


def test_several_problems_are_reported_together():
    text = GOOD
    for rule in ("mass-negative", "limits-inverted", "inertia-not-positive", "axis-zero"):
        old, new, _, _ = BROKEN[rule]
        text = text.replace(old, new, 1)
    with pytest.raises(torsor.FileError) as caught:
        torsor.load(text)
    lines = str(caught.value).splitlines()
    assert lines[0] == "<text>: 4 errors"
    assert [finding.rule for finding in caught.value.findings] == [
        "mass-negative",
        "inertia-not-positive",
        "axis-zero",
        "limits-inverted",
    ]


def test_what_is_read_in_spite_of_a_tree_that_is_none_is_still_checked():
    text = GOOD.replace('<child link="lower"/>', '<child link="lowr"/>').replace(
        '<mass value="2.0"/>', '<mass value="-2"/>'
    )
    rules = {finding.rule for finding in torsor.check(text)}
    assert {"missing-link", "mass-negative"} <= rules


def test_no_limit_at_all_is_not_suspicious():
    """What torsor writes for "none", the largest number there is, is read as none."""
    robot = torsor.load(GOOD).with_source(None)
    free = torsor.load(
        GOOD.replace('type="revolute"', 'type="prismatic"').replace(ELBOW_LIMIT, ""), repair=["limits-missing"]
    )
    text = free.with_source(None).to_urdf()
    assert "1.7976931348623157e+308" in text
    assert torsor.load(text).limits.upper[-1] == np.inf
    assert torsor.check(text) == torsor.check(robot.to_urdf()) == ()


def test_a_misspelt_type_and_tag_are_the_only_ones_blamed():
    with pytest.raises(torsor.FileError) as caught:
        torsor.load(GOOD.replace('type="revolute"', 'type="Revolute"'))
    assert [finding.rule for finding in caught.value.findings] == ["unknown-joint-type"] * 2
    assert "unknown joint type 'Revolute' (did you mean 'revolute'?)" in str(caught.value)
    text = GOOD.replace("<inertial>", "<Inertial>").replace("</inertial>", "</Inertial>")
    with pytest.raises(torsor.FileError, match=r"(?s)idle-joint.*unknown tag <Inertial> \(2 times\)"):
        torsor.load(text)


# what is wrong: (text, line, what the message says, what to do)
NOT_WELL_FORMED = {
    "a tag not closed": (GOOD.replace("</link>", "", 1), 46, "mismatched tag, column 3; <link> of line 4 is still open", "A tag that was opened inside another is closed inside it."),
    "the end is missing": (GOOD.replace("</robot>", ""), 47, "no element found, column 1; <robot> of line 2 is still open", "The file ends early, or a tag is not closed."),
    "cut within a tag": (GOOD[:-4], 46, "unclosed token", "The file ends within a tag or comment, or one is not closed."),
    "an attribute twice": ('<robot name="a" name="b"/>', 1, "duplicate attribute", "Keep one of the two; which one was meant is not ours to guess."),
    "an empty line first": ("\n" + GOOD, 2, "XML or text declaration not at start of entity", "<?xml …?> stands at the very beginning of a file: remove what is before it, empty lines too."),
    "an entity of HTML": ('<robot name="a&nbsp;b"/>', 1, "undefined entity", "Write the character itself. XML knows &lt; &gt; &amp; &quot; &apos; alone."),
    "an ampersand": ('<robot name="a & b"/>', 1, "invalid token", "& is written &amp;"),
    "a number without quotes": ("<robot name=a/>", 1, "invalid token", "Values stand in quotes"),
    "two robots": ("<robot/><robot/>", 1, "junk after document element", "A file has one outermost tag: remove what follows its end."),
    "an encoding that does not exist": (GOOD.replace('"1.0"', '"1.0" encoding="nope"', 1), None, "unknown encoding: nope", "Save the file as UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("what", NOT_WELL_FORMED)
def test_each_error_of_the_parser_has_its_own_advice(what):
    text, line, message, advice = NOT_WELL_FORMED[what]
    (found,) = torsor.check(text)
    assert (found.rule, found.line) == ("xml-malformed", line)
    assert message in found.message
    assert advice in found.advice


def test_an_attribute_beside_the_one_it_resembles_is_no_misspelling():
    (found,) = torsor.check(GOOD.replace('effort="20"', 'effort="20" command_effort="30"'))
    assert (found.rule, found.severity) == ("unknown-attribute", "note")


def test_joints_that_urdf_does_not_have_are_told_what_does_it():
    (screw,) = finding_of(
        "unknown-joint-type", GOOD.replace('name="elbow" type="revolute"', 'name="elbow" type="screw"')
    )
    assert "let a prismatic joint mimic a revolute one, or use kind helical" in screw.advice


def test_a_flood_of_mistakes_is_counted_and_its_beginning_told():
    """Neither the message nor the list of findings grows with the file; other mistakes are told beside the flood."""
    flood = GOOD.replace('<mass value="2.0"/>', '<mass value="-2.0"/>').replace(
        "</robot>", "<link/>" * 20_000 + "</robot>"
    )
    with pytest.raises(torsor.FileError) as caught:
        torsor.load(flood)
    lines = str(caught.value).splitlines()
    assert lines[0] == "<text>: 20,001 errors"
    assert len(lines) == 102 and len(str(caught.value)) < 20_000
    assert "its mass is -2 kg" in lines[1]
    assert lines[-1] == "  … and 19,901 more errors."
    told = torsor.check(flood)
    assert len(told) == 102
    assert [f.message for f in told if f.line is None] == ["19,900 more like these are not listed"]


def test_the_nearest_name_is_not_sought_for_ever():
    """Two thousand joints between links that do not exist, each a little like all the others."""
    links = "".join(f'<link name="some_link_{k}"/>' for k in range(2000))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="some_lynk_{k}"/><child link="some_lonk_{k}"/></joint>'
        for k in range(2000)
    )
    found = finding_of("missing-link", f'<robot name="r">{links}{joints}</robot>')
    assert len(found) == 101
    assert sum("did you mean 'some_link_" in finding.message for finding in found) == 10


def test_repairs_are_done_however_many_there_are():
    limit = '<limit lower="1" upper="-1" effort="1" velocity="1"/>'
    body = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
    links = "".join(f'<link name="l{k}">{body}</link>' for k in range(121))
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/>{limit}</joint>'
        for k in range(120)
    )
    robot = torsor.load(f'<robot name="r">{links}{joints}</robot>', repair=["limits-inverted"])
    assert set(robot.limits.lower) == {-1.0}
    assert len(robot.source.findings) == 120


@pytest.mark.parametrize("path", ["../x.stl", "..\\..\\x.stl", "file:///etc/passwd", "/etc/x.stl"])
def test_paths_that_lead_elsewhere_are_named(path):
    assert finding_of("path-outside", GOOD.replace('<box size="0.1 0.1 0.5"/>', f'<mesh filename="{path}"/>'))
    assert not finding_of(
        "path-outside", GOOD.replace('<box size="0.1 0.1 0.5"/>', '<mesh filename="package://a/b.stl"/>')
    )


def test_a_limit_that_cannot_be_read_is_blamed_once():
    text = GOOD.replace('lower="-1"', 'lower="minus one"')
    assert [finding.rule for finding in torsor.check(text)] == ["number-malformed"]


def test_a_single_body_is_a_robot_when_its_base_floats():
    text = GOOD.replace('type="revolute"', 'type="fixed"')
    drone = torsor.load(text, base="floating")
    assert drone.nv == 6
    assert torsor.load(drone.to_urdf(), base="floating").digest == drone.digest
    heavier = drone.with_payload("tool", torsor.Inertia.point(0.1))
    again = torsor.load(heavier.to_urdf(), base="floating")
    np.testing.assert_allclose(again.parameters.inertias, heavier.parameters.inertias, atol=1e-15)


# Repairs


@pytest.mark.parametrize("rule", [rule for rule in RULES if RULES[rule].repair])
def test_a_repair_is_explicit_does_what_it_says_and_is_logged(rule):
    text = broken(rule)
    with pytest.raises(torsor.FileError):
        torsor.load(text)
    robot = torsor.load(text, repair=[rule], ignore=["massless-connector"])
    (finding,) = [finding for finding in robot.source.findings if finding.rule == rule]
    assert finding.repaired
    assert finding.severity is Severity.NOTE
    assert f"The repair {RULES[rule].repair}." in str(finding)
    q, v, a = torsor.random_state(robot, seed=0)
    assert np.all(np.isfinite(torsor.forward_dynamics(robot, q, v, a)))


def test_what_the_repairs_give():
    def load(rule):
        return torsor.load(broken(rule), repair=[rule])

    assert load("limits-missing").limits.upper == (2.0, np.inf)
    assert load("limits-inverted").limits.lower == (-2.0, -1.0)
    assert load("friction-negative").parameters.viscous_friction[0] == 0.1
    assert load("idle-joint").joints == ("shoulder", "elbow")
    assert "spare" not in load("unused-link").frames
    rows = load("inertia-rows-swapped").inertia("lower").rotational
    np.testing.assert_allclose(rows, [[0.002, 0.0001, 0], [0.0001, 0.01, 0], [0, 0, 0.011]])
    for rule in ("inertia-triangle", "inertia-not-positive"):
        body = load(rule).inertia("upper" if rule == "inertia-triangle" else "lower")
        assert body.violations() == []
    np.testing.assert_allclose(load("inertia-triangle").inertia("upper").principal().moments, [0.04, 0.04, 0.08])


def test_repairs_and_silences_that_do_not_exist_are_named():
    with pytest.raises(torsor.UnknownName, match=r"has no repair 'limits-invert'; nearest: 'limits-inverted'"):
        torsor.load(GOOD, repair=["limits-invert"])
    with pytest.raises(torsor.UnknownName, match="has no rule 'mass-ration'; nearest: 'mass-ratio'"):
        torsor.check(GOOD, ignore=["mass-ration"])
    with pytest.raises(torsor.FileError, match="'limits-inverted' is an error and cannot be silenced; repair="):
        torsor.check(GOOD, ignore=["limits-inverted"])


# Files


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(torsor.FileError, match=r"arm\.urdf: cannot be read: No such file or directory"):
        torsor.load(tmp_path / "arm.urdf")
    (finding,) = torsor.check(tmp_path / "arm.urdf")
    assert finding.rule == "file-unreadable"


def test_links_that_lead_nowhere_are_told_apart(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    (tmp_path / "lost").symlink_to(tmp_path / "gone.urdf")
    with pytest.raises(torsor.FileError, match="one: cannot be read: Too many levels of symbolic links"):
        torsor.load(tmp_path / "one")
    with pytest.raises(torsor.FileError, match=r"lost: .* a link to '.*gone\.urdf', which does not exist"):
        torsor.load(tmp_path / "lost")


def test_paths_of_every_kind(tmp_path, monkeypatch):
    class Bytes(os.PathLike):
        def __fspath__(self):
            return os.fsencode(tmp_path / "arm")

    class Number(os.PathLike):
        def __fspath__(self):
            return 3

    (tmp_path / "arm").write_text(GOOD)
    assert torsor.load(Bytes()).nv == 2
    with pytest.raises(torsor.ModelError, match="takes a path, or the text of a robot file, got Number"):
        torsor.load(Number())
    with pytest.raises(torsor.FileError, match=r"is not a path: .*embedded null"):
        torsor.load("a\0b")
    with pytest.raises(torsor.FileError, match="File name too long"):
        torsor.load("a" * 5000)


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(torsor.FileError, match=re.escape(f"{tmp_path}: cannot be read: is a directory.")):
        torsor.load(tmp_path)
    for device in ("/dev/zero", "/dev/null"):
        if Path(device).exists():
            with pytest.raises(torsor.FileError, match=f"^{device}: cannot be read: is not a file"):
                torsor.load(device)
    for wrong in (None, 3, b"<robot/>", ""):
        with pytest.raises(torsor.ModelError, match="load: takes a path, or the text of a robot file, got"):
            torsor.load(wrong)
        with pytest.raises(torsor.ModelError, match="check: takes a path, or the text of a robot file, got"):
            torsor.check(wrong)


# argument: (values that are none of its, what the message says)
WRONG_ARGUMENTS = {
    "lock": ([["elbow"], 3, {"elbow": "a"}, {"elbow": 1j}, {"elbow": None}, {"elbow": [0.1, [0.2]]}, {"elbow": float("nan")}], "`lock` takes "),
    "gravity": (["down", 9.81, [1, 2, "x"], [1, [2], 3], [0, 0, 1j], [0, 0, float("inf")], ["0", "0", "1"], [None] * 3], "`gravity` takes three numbers"),
    "joint_order": (["elbow", 5, [1], [["elbow"]], []], "`joint_order` takes a list of joint names"),
    "repair": ([3, [3], [["x"]]], "`repair` takes 'all' or names of rules"),
    "ignore": ([3, [3], [["x"]]], "`ignore` takes names of rules"),
    "base": (["free", 3, ["fixed"], np.zeros(2)], "`base` must be 'fixed' or 'floating'"),
    "format": (["sdf", 3, ["urdf"]], "`format` must be 'urdf', 'mjcf', 'json' or 'yaml', got"),
}  # fmt: skip


@pytest.mark.parametrize("argument", WRONG_ARGUMENTS)
def test_arguments_that_are_none_are_refused_in_words(argument):
    values, message = WRONG_ARGUMENTS[argument]
    error = torsor.UnknownName if argument in ("base", "format") else torsor.ModelError
    for value in values:
        with pytest.raises(error, match=re.escape(message)):
            torsor.load(GOOD, **{argument: value})


def test_a_rule_may_be_named_by_itself_and_numbers_be_of_any_kind():
    assert torsor.load(GOOD, ignore="mass-ratio", gravity=np.zeros(3, np.float32)).nv == 2
    assert torsor.load(GOOD, lock={"elbow": np.int8(1)}).nv == 1
    assert torsor.load(GOOD, joint_order=iter(["elbow", "shoulder"])).coordinates == ("elbow", "shoulder")


def test_a_file_too_large(tmp_path, monkeypatch):
    from torsor.formats import safe_xml

    path = tmp_path / "arm.urdf"
    path.write_text(GOOD)
    monkeypatch.setattr(safe_xml, "MOST_BYTES", 100)
    with pytest.raises(torsor.FileError, match="larger than 100 bytes"):
        torsor.load(path)
    monkeypatch.undo()
    monkeypatch.setattr(safe_xml, "MOST_ELEMENTS", 10)
    assert [finding.rule for finding in torsor.check(path)] == ["file-too-large"]


def test_messages_name_the_file(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(broken("mass-negative"))
    with pytest.raises(
        torsor.FileError, match=re.escape(f"{path}:8: error: link 'upper': its mass is -2 kg. A mass is positive")
    ):
        torsor.load(path)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "robot", "<", "<robot", "<robot/>", "{", "[]", "\x00", "<a/>", "{}", "torsor: 1"]
)
def test_what_is_no_robot_is_refused_in_words(text, tmp_path):
    path = tmp_path / "something.urdf"
    path.write_text(text)
    with pytest.raises(torsor.FileError, match=re.escape(str(path))):
        torsor.load(path)


def test_the_page_of_rules_is_up_to_date():
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert list(rows) == list(RULES)
    for name, rule in RULES.items():
        assert rule.advice in rows[name] and f"| {rule.severity} |" in rows[name] and rule.repair in rows[name]
        assert rows[name].endswith(f"| {ACCEPTS.get(name, '–')} |")


# Numbers


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e-310, 1e-155, 1e-20, 1.0, 1e20, 1e160, 1.7e308])
def test_an_axis_is_a_direction_of_whatever_length(size):
    text = GOOD.replace('<axis xyz="0 0 1"/>', f'<axis xyz="{size!r} {-size!r} 0"/>', 1)
    assert not [finding for finding in torsor.check(text) if finding.severity == "error"]
    np.testing.assert_allclose(torsor.load(text).parameters.screws[0], [0.5**0.5, -(0.5**0.5), 0, 0, 0, 0], rtol=1e-13)
    planar = text.replace('name="shoulder" type="revolute"', 'name="shoulder" type="planar"')
    assert np.all(np.isfinite(torsor.load(planar).parameters.poses))


HUGE = {
    'xyz="0 0 0.4"': 'xyz="1e200 0 0.4"',
    'xyz="0 0 0.2" rpy': 'xyz="0 -1e200 0" rpy',
    'rpy="1.5707963267948966': 'rpy="1e200',
    'value="2.0"': 'value="1e200"',
    'ixx="0.03"': 'ixx="1e200"',
    'damping="0.1"': 'damping="1e200"',
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("old", HUGE)
def test_numbers_beyond_reason_are_refused_at_their_line_and_by_nothing_else(old):
    text = GOOD.replace(old, HUGE[old], 1)
    assert text != GOOD
    errors = [finding for finding in torsor.check(text) if finding.severity == "error"]
    assert [finding.rule for finding in errors] == ["number-malformed"]
    assert "1e+200; nothing in SI units exceeds 1e+50" in errors[0].message
    with pytest.raises(torsor.FileError):
        torsor.load(text)


@pytest.mark.parametrize("number", ["٣", "１", "1\u00a0", "1\u2028", "１e٣", "0x1", "1_0", "²"])
def test_digits_and_spaces_are_those_of_xml(number):
    text = GOOD.replace('value="2.0"', f'value="{number}"')
    assert [finding.rule for finding in torsor.check(text)] == ["number-malformed"]


def followers(count: int, multiplier: float, *, backwards: bool = False) -> str:
    """A chain in which every joint follows the one before it."""
    body = "<inertial><mass value='1'/><inertia ixx='2' ixy='0' ixz='0' iyy='2' iyz='0' izz='2'/></inertial>"
    links = "".join(f'<link name="l{k}">{body}</link>' for k in range(count + 1))
    joints = [
        f'\n<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/>'
        + (f'<mimic joint="j{k - 1}" multiplier="{multiplier}"/>' if k else "")
        + "</joint>"
        for k in range(count)
    ]
    return f'<robot name="r">{links}{"".join(joints[::-1] if backwards else joints)}</robot>'


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("multiplier", [10.0, 0.1])
def test_a_chain_of_followers_is_computed_or_refused(multiplier, backwards):
    robot = torsor.load(followers(30, multiplier, backwards=backwards))
    ratios = {name: c.ratio for name, c in zip(robot.joints, robot.structure.couplings, strict=True)}
    np.testing.assert_allclose([ratios[f"j{k}"] for k in range(30)], multiplier ** np.arange(30.0), rtol=1e-13)
    assert np.all(np.isfinite(torsor.mass_matrix(robot, np.zeros(1))))
    (found,) = (f for f in torsor.check(followers(400, multiplier, backwards=backwards)) if f.severity == "error")
    assert (found.rule, found.element) == ("number-malformed", "joint 'j51'")
    assert f"it moves by 1e{'+' if multiplier > 1 else '-'}51 times 'j0'" in found.message


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_joints_with_several_freedoms_neither_follow_nor_lead(kind):
    text = GOOD.replace(ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="shoulder"/>')
    (found,) = finding_of("mimic-unknown", text.replace('name="elbow" type="revolute"', f'name="elbow" type="{kind}"'))
    kinds = {"floating": "free"}
    assert found.message == f"a {kinds.get(kind, kind)} joint cannot follow another"
    (found,) = finding_of(
        "mimic-unknown", text.replace('name="shoulder" type="revolute"', f'name="shoulder" type="{kind}"')
    )
    assert found.message == f"it mimics 'shoulder', which is {kinds.get(kind, kind)}"


def test_a_mistake_in_a_chain_of_followers_is_told_once():
    (found,) = finding_of("mimic-zero", followers(9, 2.0).replace('"j2" multiplier="2.0"', '"j2" multiplier="0"'))
    assert found.element == "joint 'j3'"
    (found,) = finding_of("mimic-unknown", followers(9, 2.0).replace('mimic joint="j2"', 'mimic joint="k2"'))
    assert found.element == "joint 'j3'"
    assert "it mimics 'k2', which does not exist" in found.message
    ring = finding_of("mimic-cycle", followers(9, 2.0).replace('mimic joint="j2"', 'mimic joint="j5"'))
    assert sorted(finding.element for finding in ring) == ["joint 'j3'", "joint 'j4'", "joint 'j5'"]


@pytest.mark.parametrize(("length", "mass"), [(1e-9, 1e-24), (1e-6, 1e-15), (1.0, 1.0)])
def test_inertias_are_kept_whatever_the_size_of_the_robot(length, mass):
    """Moments that a body can have are the file's, small as they are beside the robot; what rounding leaves is nothing."""
    moments = np.array([0.002, 0.0001, 0, 0.01, 0, 0.011]) * mass * length**2
    numbers = " ".join(
        f'{key}="{x!r}"' for key, x in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), moments.tolist(), strict=True)
    )
    text = (
        GOOD.replace(LOWER, numbers)
        .replace('<mass value="1.0"/>', f'<mass value="{mass!r}"/>')
        .replace('xyz="0.1 0 0"', 'xyz="0 0 0"')
    )
    for far in ("0.4", "1e6"):
        body = torsor.load(text.replace("0 0 0.4", f"0 0 {far}")).inertia("lower")
        np.testing.assert_allclose(body.rotational[np.triu_indices(3)], moments, rtol=1e-12)
    noise = GOOD.replace(LOWER, 'ixx="-1e-18" ixy="0" ixz="0" iyy="1e-19" iyz="0" izz="0"')
    assert not np.any(torsor.load(noise).inertia("lower").rotational)
