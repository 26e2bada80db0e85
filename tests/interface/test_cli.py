"""The command line: what is printed, and with which exit code."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor import verification
from torsor.cli.main import COMMANDS, main
from torsor.functions.public import dynamics


def test_doctor_says_what_is_here(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert re.search(rf"^torsor +{re.escape(torsor.__version__)}$", out, re.MULTILINE)
    assert re.search(r"^fast entry +in use$", out, re.MULTILINE)
    for word in ("processor", "vectors of", "kernels,", "jax", "sympy"):
        assert word in out
    assert all(
        re.match(r"\S+( \S+)?  ", line) for line in out.splitlines()
    )  # names and what is said of them stand apart


def test_doctor_says_why_the_compiler_is_missing_and_everything_still_works(tmp_path):
    (tmp_path / "llvmlite.py").write_text("raise ImportError('no LLVM here')\n")
    code = (
        "import warnings, numpy as np, torsor\nfrom torsor.cli.main import main\n"
        "arm = torsor.robots.planar2r()\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    tau = [torsor.gravity_forces(arm, np.zeros(2)) for _ in range(3)][0]\n"
        "    kernel = torsor.compile(lambda r, q: {'x': 2 * q, 'y': q}, arm, {'q': 2})\n"
        "    double = kernel(np.ones((3, 2)))['x']\n"
        "    loop = torsor.scan(lambda r, x, u: {'x': x + u}, arm, {'x': 2}, inputs={'u': 2})\n"
        "    path = loop(steps=4, every=2, x=np.zeros((3, 2)), u=np.ones((4, 2)))['x']\n"
        "print(len(caught), caught[0].message)\nprint(tau.tolist())\n"
        "print(double.tolist() == [[2, 2]] * 3, path.tolist() == [[[2, 2], [4, 4]]] * 3)\nprint(main(['doctor']))"
    )
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "1 torsor runs uncompiled, hundreds of times slower: llvmlite cannot be imported (no LLVM here)"
    )
    assert lines[1] == "[29.43, 9.81]"
    assert lines[2] == "True True"  # kernels and loops answer too
    assert re.search(
        r"compiler +missing: llvmlite cannot be imported \(no LLVM here\); pip install llvmlite", done.stdout
    )
    assert lines[-1] == "1"


def test_without_a_command_the_commands_are_shown(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: torsor ")
    assert all(f"\n    {command}" in out for command in COMMANDS)


def test_the_module_is_the_command(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["torsor", "--version"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("torsor", run_name="__main__")
    assert capsys.readouterr().out == f"torsor {torsor.__version__}\n"


def test_an_unknown_command_is_answered_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["docter"])
    assert "doctor" in capsys.readouterr().err


# Robot files

ARM = Path(__file__).parents[1] / "data" / "robots" / "ur5.urdf"
BROKEN = """<robot name="x"><link name="a"/><link name="b"><inertial><mass value="-1"/>
<inertia ixx="0.5" ixy="0" ixz="0" iyy="0.5" iyz="0" izz="0.5"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<limit lower="0" upper="1" effort="1" velocity="0"/></joint></robot>"""


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text(BROKEN)
    return str(path)


def test_check_of_a_good_file(capsys):
    assert main(["check", str(ARM)]) == 0
    assert capsys.readouterr().out == "1 file: nothing to report\n"


def test_check_prints_findings_and_fails(broken, capsys):
    assert main(["check", broken, str(ARM)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{broken}:2: error: link 'b': its mass is -1 kg.")
    assert lines[1].startswith(f"{broken}:4: warning: joint 'j': its velocity limit is 0.")
    assert lines[-1] == "2 files: 1 error, 1 warning, 1 note"


def test_check_as_json_and_with_rules_ignored(broken, capsys):
    assert main(["check", "--json", "--ignore", "limit-not-positive,axis-missing", broken]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert {key: finding[key] for key in ("rule", "severity", "file", "line", "element")} == {
        "rule": "mass-negative", "severity": "error", "file": broken, "line": 2, "element": "link 'b'",
    }  # fmt: skip


def test_check_can_fail_on_warnings(tmp_path, capsys):
    path = tmp_path / "arm.urdf"
    path.write_text(BROKEN.replace('value="-1"', 'value="1"'))
    assert main(["check", str(path)]) == 0
    assert main(["check", "--strict", str(path)]) == 1


def test_check_of_a_rule_that_does_not_exist(capsys):
    assert main(["check", "--ignore", "mass", str(ARM)]) == 2
    assert "has no rule 'mass'; nearest: 'mass-ratio'" in capsys.readouterr().err


def test_info_of_a_file_and_of_an_own_robot(capsys):
    assert main(["info", str(ARM)]) == 0
    out = capsys.readouterr().out
    robot = torsor.load(ARM)
    for word in (
        *robot.joints,
        *robot.links,
        "6 degrees of freedom",
        f"mass {robot.parameters.inertias[:, 0].sum():.6g} kg",
    ):
        assert word in out
    assert main(["info", "panda"]) == 0
    assert "panda_joint7  revolute  6  -2.8973  2.8973   2.61      12" in capsys.readouterr().out


def test_info_shows_mimic_joints_reductions_and_frames(tmp_path, capsys):
    text = ARM.read_text().replace(
        "</robot>",
        '<transmission name="t"><joint name="j00_shoulder_pan_joint"/><actuator name="m">'
        "<mechanicalReduction>101</mechanicalReduction>"
        '</actuator></transmission><link name="cup"/><joint name="grip" type="fixed"><origin xyz="0 0 0.25"/>'
        '<parent link="link_006"/><child link="cup"/></joint></robot>',
    )
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "reduction 101" in out
    assert any(line.split() == ["cup", "link_006", "0", "0", "0.25"] for line in out.splitlines())


def test_info_of_a_file_that_is_refused(broken, capsys):
    assert main(["info", broken]) == 1
    assert "mass-negative" in capsys.readouterr().err


def test_verify_prints_residuals_that_hold(capsys):
    assert main(["verify", str(ARM), "--states", "3"]) == 0
    out = capsys.readouterr().out
    for word in ("Ṁ − 2C skew", "inverse ∘ forward", "pinocchio: inverse dynamics", "mujoco: M a", "all 17 hold"):
        assert word in out
    assert "DOES NOT HOLD" not in out


@pytest.mark.parametrize("seed", range(3))
def test_verify_holds_for_trees_of_every_kind(seed):
    robot = torsor.robots.random_tree(5, seed=seed, friction=True, armature=True, fixed=True)
    assert all(row.holds for row in verification.verify(robot, configurations=4))


def test_verify_would_notice(monkeypatch):
    wrong = dynamics.coriolis_matrix
    monkeypatch.setattr(dynamics, "coriolis_matrix", lambda *args: 1.01 * wrong(*args))
    rows = {row.name: row.holds for row in verification.verify(torsor.robots.ur5(), configurations=3)}
    assert not rows["C v = c"]
    assert not rows["Ṁ − 2C skew"]
    assert rows["M symmetric"]


def test_verify_gives_a_report(monkeypatch):
    arm = torsor.robots.planar2r()
    good = torsor.verify(arm, configurations=2)
    assert good and good.robot is arm and len(repr(good)) < 160
    assert str(good).splitlines()[1:3] == ["2 random states, seed 0", ""]
    assert str(good).endswith(f"\n\nall {len(good.rows)} hold")
    assert "all identities hold" in good._repr_html_()
    drawn = torsor.verify(arm, configurations=2, seed=np.random.default_rng(0))
    assert drawn.rows == good.rows and "2 random states\n" in str(drawn)
    wrong = dynamics.coriolis_matrix
    monkeypatch.setattr(dynamics, "coriolis_matrix", lambda *args: 1.01 * wrong(*args))
    bad = torsor.verify(arm, configurations=2)
    assert not bad and str(bad).endswith(f"2 of {len(bad.rows)} do not hold")
    with pytest.raises(
        torsor.ArgumentError, match=r"^verify: `configurations` must be a whole number of at least 1, got 0"
    ):
        torsor.verify(arm, configurations=0)
    with pytest.raises(torsor.ArgumentTypeError, match=r"^verify: `robot` must be a torsor\.Robot, got str 'arm'"):
        torsor.verify("arm")


# Terminals

HOSTILE = "\x1b]0;owned\x07\x9b2J\u202etxt\n\u2028name"


def hostile_robot():
    body = torsor.Inertia.box((0.1, 0.2, 0.3), mass=1.0)
    joints = [
        torsor.Joint(
            name=f"joint {HOSTILE}", kind="revolute", axis=(0, 0, 1), parent=f"base {HOSTILE}", link=f"link {HOSTILE}",
            inertia=body,
        ),
        torsor.Joint(
            name="follower", kind="revolute", axis=(0, 1, 0), parent=f"link {HOSTILE}", inertia=body,
            mimic=torsor.Mimic(f"joint {HOSTILE}", 2.0),
        ),
    ]  # fmt: skip
    frames = {f"frame {HOSTILE}": (f"base {HOSTILE}", torsor.pose_from((0, 0, 1)))}
    return torsor.assemble(joints, name=f"robot {HOSTILE}", base=f"base {HOSTILE}", frames=frames)


def plain(text):
    """Whether a terminal shows a text as it is, line by line."""
    return all(line.isprintable() for line in text.split("\n")) and "owned" in text


def test_names_of_robots_and_files_do_not_reach_the_terminal(tmp_path, capsys):
    path = tmp_path / f"{HOSTILE}.json"
    hostile_robot().to_json(path)
    assert main(["info", str(path)]) == 0  # on the command line, a text of several lines is a path
    out = capsys.readouterr().out
    assert plain(out)
    for what in ("robot", "joint", "link", "frame", "base"):
        assert f"{what} \\x1b]0;owned" in out
    assert main(["verify", str(path), "--states", "1"]) == 0
    assert plain(capsys.readouterr().out)


def test_names_in_equations_do_not_reach_the_terminal(tmp_path, capsys):
    pytest.importorskip("sympy")
    torsor.robots.pendulum().rename({}, robot=f"robot {HOSTILE}").to_json(tmp_path / "arm.json")
    assert main(["equations", str(tmp_path / "arm.json"), "--html", str(tmp_path / "\x1bowned.html")]) == 0
    assert plain(capsys.readouterr().out)


@pytest.mark.parametrize("command", [["check"], ["info"], ["verify"], ["equations"], [], ["doctor"], ["check", "--"]])
def test_what_people_type_does_not_reach_the_terminal(command, capsys):
    try:
        assert main([*command, HOSTILE.replace("\n", "")]) in (1, 2)
    except SystemExit as stop:
        assert stop.code == 2
    captured = capsys.readouterr()
    assert plain(captured.out + captured.err)


def test_messages_of_files_are_plain_text(tmp_path):
    """A letter that XML allows, and a terminal obeys, in names of which several are listed."""
    csi = "\x9b2J"
    ring = "".join(
        f'<joint name="{csi}{k}" type="fixed"><parent link="{csi}{k}"/><child link="{csi}{1 - k}"/></joint>'
        for k in (0, 1)
    )
    path = tmp_path / "\x1b[31marm\u202e.urdf"
    path.write_text(f'<robot name="r"><link name="{csi}0"/><link name="{csi}1"/>{ring}</robot>', encoding="utf-8")
    with pytest.raises(torsor.FileError) as caught:
        torsor.load(path)
    assert all(line.isprintable() for line in str(caught.value).split("\n"))
    assert {finding.file for finding in torsor.check(path)} == {str(path)}  # the name itself is not changed
    assert json.loads(json.dumps(torsor.check(path)[0].as_dict()))["file"] == str(path)
    for wrong in (tmp_path / "\x1bno", tmp_path / "\udcff"):
        with pytest.raises(torsor.FileError) as caught:
            torsor.load(wrong)
        assert str(caught.value).isprintable()
