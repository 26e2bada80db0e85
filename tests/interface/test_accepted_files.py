"""Files of the real world: what may be wrong is kept with the file's own numbers, told once per rule, or all of it mended."""

import json
import warnings

import numpy as np
import pytest
from test_urdf_rules import BROKEN, ELBOW_LIMIT, GOOD, LOWER, broken

import torsor
from torsor.cli.main import main
from torsor.formats import RULES, Severity
from torsor.formats.rules import ACCEPTS, NEVER, why_never

ERRORS = [rule for rule in RULES if RULES[rule].severity is Severity.ERROR]
SEVERAL = GOOD.replace('izz="0.004"', 'izz="0.08"').replace(
    LOWER, LOWER.replace("0.011", "0.03")
)  # two links of no body


def loaded(text, **options):
    """The robot of a file, and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        robot = torsor.load(text, **options)
    return robot, [str(warning.message) for warning in told]


# Accepting


@pytest.mark.parametrize("rule", ACCEPTS)
def test_an_accepted_rule_is_told_once_and_loaded(rule):
    robot, told = loaded(broken(rule), accept=[rule])
    (warning,) = [text for text in told if f"[{rule}]" in text]
    assert f"Accepting it {ACCEPTS[rule]}." in warning
    (finding,) = [finding for finding in robot.source.findings if finding.rule == rule]
    assert finding.accepted
    assert not finding.repaired
    assert finding.severity is Severity.WARNING
    q, v, a = torsor.random_state(robot, seed=0)
    assert np.all(np.isfinite(torsor.inverse_dynamics(robot, q, v, a)))


def test_the_file_s_own_numbers_are_kept():
    def inertia(rule, link):
        return loaded(broken(rule), accept=[rule])[0].inertia(link)

    np.testing.assert_allclose(inertia("inertia-triangle", "upper").rotational, np.diag([0.03, 0.03, 0.08]), atol=1e-15)
    assert inertia("massless-with-inertia", "upper").mass == 0
    assert np.array_equal(inertia("massless-with-inertia", "upper").rotational, np.diag([0.03, 0.03, 0.004]))
    assert inertia("inertia-units", "lower").rotational[0, 0] == 2000
    own = [[0.002, 0.02, 0], [0.02, 0.01, 0], [0, 0, 0.011]]
    np.testing.assert_allclose(inertia("inertia-not-positive", "lower").rotational, own, atol=1e-16)
    own = [[0.002, 0.01, 0.011], [0.01, 0.0001, 0], [0.011, 0, 0]]
    np.testing.assert_allclose(inertia("inertia-rows-swapped", "lower").rotational, own, atol=1e-16)
    assert loaded(broken("limits-missing"), accept=["limits-missing"])[0].limits.upper == (2.0, np.inf)
    assert "finger" in loaded(broken("idle-joint"), accept=["idle-joint"])[0].joints


def test_the_base_keeps_its_own_numbers_too():
    text = broken("inertia-of-base")
    assert not np.array_equal(loaded(text)[0].parameters.base_inertia[4:], [1, 0, 0, 0.2, 0, 0.2])
    robot, told = loaded(text, accept=["inertia-triangle"])
    assert np.array_equal(robot.parameters.base_inertia[4:], [1, 0, 0, 0.2, 0, 0.2])
    assert ["[inertia-triangle]" in text for text in told] == [True]


def test_every_rule_that_is_accepted_is_told_once_with_a_count():
    text = SEVERAL.replace(ELBOW_LIMIT, "")
    robot, told = loaded(text, accept=["inertia-triangle", "limits-missing"])
    assert len(told) == 2
    (triangles,) = [text for text in told if "[inertia-triangle]" in text]
    assert "link 'upper'" in triangles
    assert triangles.endswith("… and 1 more, in robot.source.findings.")
    assert [finding.rule for finding in robot.source.findings].count("inertia-triangle") == 2
    with pytest.raises(torsor.FileError, match="1 error\n") as caught:  # the others are still errors
        torsor.load(text, accept=["inertia-triangle"])
    assert [finding.rule for finding in caught.value.findings] == ["limits-missing"]


def test_a_flood_of_one_warning_is_one_warning():
    body = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='3'/></inertial>"
    links = "".join(f'<link name="l{k}">{body if k else ""}</link>' for k in range(131))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        for k in range(130)
    )
    text = f'<robot name="r">{links}{joints}</robot>'
    assert [told.split("… and ")[1] for told in loaded(text, accept="inertia-triangle")[1]] == [
        "129 more, in robot.source.findings."
    ]


@pytest.mark.parametrize("rule", [rule for rule in ERRORS if rule not in ACCEPTS])
def test_what_cannot_be_accepted_says_why(rule):
    with pytest.raises(torsor.FileError, match=f"'{rule}' cannot be accepted: ") as caught:
        torsor.load(GOOD, accept=[rule])
    assert why_never(rule) in str(caught.value)
    if RULES[rule].repair:
        assert f"repair=['{rule}'] {RULES[rule].repair}." in str(caught.value)


def test_the_tables_of_what_can_be_accepted_name_errors():
    assert set(ACCEPTS) | set(NEVER) <= set(ERRORS)
    assert not set(ACCEPTS) & set(NEVER)


def test_names_of_no_rule_are_refused_with_the_nearest():
    with pytest.raises(torsor.UnknownName, match="has no rule 'inertia-triangel'; nearest: 'inertia-triangle'"):
        torsor.load(GOOD, accept=["inertia-triangel"])
    with pytest.raises(torsor.ModelError, match="'inertia-triangle' is named in `repair` and in `accept`"):
        torsor.load(GOOD, accept=["inertia-triangle"], repair=["inertia-triangle"])
    with pytest.raises(torsor.ModelError, match="`accept` takes names of rules"):
        torsor.load(GOOD, accept=[3])


def test_warnings_are_accepted_as_they_are():
    text = broken("massless-connector")
    assert loaded(text, accept=["massless-connector"])[1] == loaded(text)[1]


def test_check_takes_an_accepted_error_for_a_warning(tmp_path, capsys):
    found = torsor.check(SEVERAL, accept=["inertia-triangle"])
    assert [(finding.severity, finding.accepted) for finding in found] == [("warning", True)] * 2
    file = tmp_path / "arm.urdf"
    file.write_text(SEVERAL)
    assert main(["check", str(file)]) == 1
    assert "2 errors" in capsys.readouterr().out
    assert main(["check", "--accept", "inertia-triangle", str(file)]) == 0
    assert "1 file: 2 warnings" in capsys.readouterr().out
    assert main(["check", "--accept", "inertia-triangle", "--json", str(file)]) == 0
    assert all(finding["accepted"] for finding in json.loads(capsys.readouterr().out))


def test_an_accepted_robot_is_written_and_comes_back():
    for rule in ("inertia-triangle", "massless-with-inertia", "idle-joint"):
        robot, _ = loaded(broken(rule), accept=[rule])
        assert robot.to_urdf() == broken(rule)  # its own file
        assert loaded(robot.to_json())[0] == robot  # which says itself what it breaks
    robot, _ = loaded(broken("inertia-not-positive"), accept=["inertia-not-positive"])
    with pytest.raises(torsor.ModelError, match="link 'lower' has an inertia that no body has"):
        robot.to_json()


def test_other_inertias_go_into_the_file_of_an_accepted_robot():
    robot, _ = loaded(broken("inertia-triangle"), accept=["inertia-triangle"])
    changed = robot.with_inertia("upper", torsor.Inertia.box((0.1, 0.1, 0.4), mass=2.0))
    text = changed.to_urdf()
    assert '<box size="0.1 0.1 0.5"/>' in text
    again = torsor.load(text)
    np.testing.assert_allclose(again.parameters.inertias, changed.parameters.inertias, atol=1e-15)


def test_what_mujoco_refuses_cannot_be_accepted():
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body><joint/>
    <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.5"/></body></worldbody></mujoco>"""
    with pytest.raises(torsor.FileError, match="MuJoCo itself refuses it, so that it cannot be accepted"):
        torsor.load(text, accept=["inertia-triangle"])


# Rounding


@pytest.mark.parametrize(
    ("izz", "rules"),
    [
        ("0.06", []),
        ("0.06000000000000001", []),  # the rounding of double precision
        ("0.06000000006", ["inertia-rounded"]),
        ("0.06005", ["inertia-rounded"]),  # three digits, however they are written
        ("0.0605", ["inertia-rounded"]),  # 0.03 may be 0.0349
        ("0.0610", ["inertia-triangle"]),  # more than 1 %
    ],
)
def test_what_the_digits_written_explain_is_a_warning_that_check_counts(izz, rules):
    text = GOOD.replace('izz="0.004"', f'izz="{izz}"')
    assert [finding.rule for finding in torsor.check(text)] == rules
    if rules != ["inertia-triangle"]:
        robot, told = loaded(text)
        assert [f"[{rule}]" in text for rule, text in zip(rules, told, strict=True)] == [True] * len(rules)
        np.testing.assert_allclose(robot.inertia("upper").rotational[2, 2], float(izz), rtol=1e-15)  # its own number


def test_more_digits_leave_less_to_rounding():
    text = GOOD.replace('ixx="0.03" ixy="0" ixz="0" iyy="0.03"', 'ixx="0.030000" ixy="0" ixz="0" iyy="0.030000"')
    assert [f.rule for f in torsor.check(text.replace('izz="0.004"', 'izz="0.0602"'))] == ["inertia-triangle"]
    assert [f.rule for f in torsor.check(text.replace('izz="0.004"', 'izz="0.060001"'))] == ["inertia-rounded"]


def test_a_moment_that_is_negative_by_its_last_digit_is_taken_for_zero():
    text = GOOD.replace(LOWER, 'ixx="1e-3" ixy="1.001e-3" ixz="0" iyy="1e-3" iyz="0" izz="2e-3"')
    (finding,) = torsor.check(text)
    assert finding.rule == "inertia-rounded"
    assert "-1e-06 kg·m² is not positive, and taken for 0" in finding.message
    robot, _ = loaded(text)
    assert robot.inertia("lower").violations() == []
    np.testing.assert_allclose(robot.inertia("lower").rotational[0, 1], 1.001e-3, rtol=1e-3)


def test_an_axis_with_six_digits_is_noted():
    (finding,) = torsor.check(GOOD.replace('<axis xyz="0 0 1"/>', '<axis xyz="0.707107 0 0.707107"/>', 1))
    assert (finding.rule, finding.severity) == ("axis-not-unit", "note")
    assert "by the rounding of its digits" in finding.message


# Repairing


def test_all_repairs_at_once_are_told_once_per_rule():
    text = SEVERAL.replace('damping="0.1"', 'damping="-0.1"').replace(
        'lower="-1" upper="1.5"', 'lower="1.5" upper="-1"'
    )
    robot, told = loaded(text, repair="all")
    assert sorted(warning.split("[")[1].split("]")[0] for warning in told) == [
        "friction-negative", "inertia-triangle", "limits-inverted",
    ]  # fmt: skip
    for warning in told:
        rule = warning.split("[")[1].split("]")[0]
        assert f"The repair {RULES[rule].repair}." in warning
        assert warning.endswith("… and 1 more, in robot.source.findings.") == (rule == "inertia-triangle")
    assert all(finding.repaired for finding in robot.source.findings)
    assert robot == loaded(text, repair=["friction-negative", "inertia-triangle", "limits-inverted"])[0]
    assert loaded(text, repair=["friction-negative", "inertia-triangle", "limits-inverted"])[1] == []


@pytest.mark.parametrize("rule", [rule for rule in BROKEN if RULES[rule].repair])
def test_all_repairs_hold_each_of_them(rule):
    one, _ = loaded(broken(rule), repair=[rule])
    assert loaded(broken(rule), repair="all")[0] == loaded(broken(rule), repair=["all"])[0] == one


def test_what_is_accepted_is_not_repaired_with_all():
    text = SEVERAL.replace('damping="0.1"', 'damping="-0.1"')
    robot, _ = loaded(text, repair="all", accept=["inertia-triangle"])
    np.testing.assert_allclose(robot.inertia("upper").rotational[2, 2], 0.08, rtol=1e-15)
    assert robot.parameters.viscous_friction[0] == 0.1
