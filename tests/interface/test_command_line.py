"""What all commands have in common: help, examples, exit codes, pipes, Ctrl-C, and names that come from anywhere."""

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module

import pytest

import torsor
from torsor.cli.main import COMMANDS, EXIT_CODES, main, parser_of
from torsor.cli.robot_argument import OWN

# What each command that takes a robot needs beside it
WITH_A_ROBOT = {
    "info": [],
    "verify": ["--states", "1"],
    "view": [],
    "torques": ["log.csv", "--cutoff", "10"],
    "simulate": ["--duration", "0.01"],
    "ik": ["tool", "--position", "0,0,0"],
    "convert": ["-", "--to", "json"],
    "codegen": ["gravity_forces"],
    "equations": [],
    "bench": ["--states", "1"],
}
BROKEN = """<robot name="x"><link name="a"/><link name="b"><inertial><mass value="-1"/>
<inertia ixx="0.5" ixy="0" ixz="0" iyy="0.5" iyz="0" izz="0.5"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="0" upper="1" effort="1" velocity="1"/>
</joint></robot>"""
HOSTILE = "\x1b]0;owned\x07\x9b2J\u202e=x,\"y'"


def type_in(monkeypatch, text):
    """Standard input that holds a text."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def is_plain(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples_that_the_command_understands(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    examples = [
        part.split(">")[0].split("(")[0]
        for line in out.split("examples:\n")[1].splitlines()
        for part in line.split("|")
        if part.strip().startswith("torsor ")
    ]
    assert any(example.split()[1] == name for example in examples)
    for example in examples:
        words = shlex.split(example)[1:]
        parser_of([words[0]]).parse_args(words)


def test_help_lists_every_command_and_every_exit_code(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert EXIT_CODES in out and all(f"\n    {name}" in out for name in COMMANDS)
    assert max(map(len, out.splitlines())) <= 100


def test_help_imports_neither_numpy_nor_any_command():
    code = (
        "import sys\nfrom torsor.cli.main import main\nmain([])\n"
        "print([name for name in sys.modules if name == 'numpy' or name.startswith('torsor.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(re.findall(r"'([\w.]+)'", done.stderr)) <= {
        "torsor._lazy", "torsor._unknown_names", "torsor.cli", "torsor.cli.main", "torsor.cli.shell_words",
        "torsor.errors",
    }  # fmt: skip


@pytest.mark.parametrize("name", [*WITH_A_ROBOT, "check"])
def test_one_file_gives_the_same_exit_code_in_every_command(name, tmp_path, monkeypatch, capsys):
    """1 if the robot file has errors, 2 if there is none to be read: there, or on standard input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.urdf").write_text(BROKEN)
    (tmp_path / "log.csv").write_text("time\n")
    more = WITH_A_ROBOT.get(name, [])
    for robot, code in (("broken.urdf", 1), ("missing.urdf", 2), ("../../x", 2), (".", 2), ("pando_description", 2)):
        assert main([name, robot, *more]) == code, robot
        captured = capsys.readouterr()
        assert captured.out + captured.err and "Traceback" not in captured.err
        assert bool(captured.err) == (name != "check")  # whose findings are its result
    for text, code in ((BROKEN, 1), ("", 1), ("missing.urdf", 1)):  # a text is never a path
        type_in(monkeypatch, text)
        assert main([name, "-", *more]) == code
        assert "standard input" in "".join(capsys.readouterr())
    if name != "check":
        assert main([name, "pandaa", *more]) == 2
        assert "Did you mean 'panda'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "demo"])
def test_options_that_do_not_exist_are_refused(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, *({"doctor": [], "compare": [], "completion": ["bash"]}.get(name, ["panda"])), f"--{HOSTILE}"])
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert not captured.out and is_plain(captured.err)


def test_a_command_that_does_not_exist_is_answered_with_the_nearest(capsys):
    with pytest.raises(SystemExit) as end:
        main(["simulat"])
    assert end.value.code == 2
    assert "there is no command 'simulat'; did you mean 'simulate'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["doctor", "info", "torques"])
def test_ctrl_c_ends_a_command_without_a_traceback(name, monkeypatch, capsys):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module(f"torsor.cli.{name}"), "run", interrupted)
    assert main([name, *({"info": ["panda"], "torques": ["panda", "x.csv"]}.get(name, []))]) == 130
    assert capsys.readouterr().err == "torsor: interrupted\n"


def test_a_reader_that_closes_early_gets_no_traceback():
    command = [sys.executable, "-m", "torsor", "info", "panda"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_full_disk_is_said(monkeypatch, capsys):
    def full(options):
        raise OSError(28, "No space left on device", "out\x1b.csv")

    monkeypatch.setattr(import_module("torsor.cli.doctor"), "run", full)
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == "torsor doctor: out\\x1b.csv: No space left on device.\n"


def test_a_full_disk_behind_standard_output_is_said(monkeypatch, capsys):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["ik", "planar2r", "tip", "--position", "1,1,0"]) == 2
    assert capsys.readouterr().err == "torsor: standard output: No space left on device.\n"


def test_too_little_memory_is_said(capsys):
    assert main(["simulate", "pendulum", "--duration", "1e12"]) == 2
    assert "torsor simulate: this takes more memory than there is." in capsys.readouterr().err


def test_every_own_robot_can_be_named(capsys):
    for name in OWN:
        assert main(["info", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["name"] == name
    assert {name for name in dir(torsor.robots) if name not in ("chain", "planar_chain", "random_tree")} <= set(OWN)


def test_a_file_comes_before_a_robot_of_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    torsor.robots.planar2r().to_json("panda")
    assert main(["info", "panda", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "planar2r"


def test_joints_can_be_locked(capsys):
    assert main(["info", "panda", "--json", "--lock", "panda_joint1=0.3", "--lock", "panda_joint7=0"]) == 0
    assert json.loads(capsys.readouterr().out)["nq"] == 5
    for wrong in ("panda_joint1", "panda_joint1=x", "=1"):
        assert main(["info", "panda", "--lock", wrong]) == 2
        assert "--lock takes JOINT=VALUE" in capsys.readouterr().err
    assert main(["info", "panda", "--base", "floating"]) == 2
    assert "--base floating is for robot files" in capsys.readouterr().err


def test_messages_say_what_to_type_in_a_shell(tmp_path, monkeypatch, capsys):
    path = tmp_path / "arm.urdf"
    text = torsor.robots.ur5().to_urdf()
    lower = re.search(r'lower="([^"]+)" upper="([^"]+)"', text)
    path.write_text(text.replace(lower[0], f'lower="{lower[2]}" upper="{lower[1]}"', 1))
    assert main(["info", str(path)]) == 1
    assert "load it with --repair limits-inverted" in " ".join(capsys.readouterr().err.split())
    assert main(["info", str(path), "--repair", "limits-inverted"]) == 0
    screw = torsor.Joint(name="j", kind="helical", axis=(0, 0, 1), pitch=0.1, inertia=torsor.Inertia.point(1.0))
    torsor.assemble([screw]).to_json(tmp_path / "screw.json")

    def no_such_folder(*args, **options):
        raise torsor.ArgumentError("view: `mesh_roots` must be folders that exist.")

    monkeypatch.setattr(torsor, "view", no_such_folder, raising=False)
    for command, words in (
        ("simulate planar2r --start elbow=1 --duration 1", "`torsor info` lists all coordinates."),
        ("convert puma560 - --to urdf", "Give it a mass, or write JSON."),
        (f"convert {tmp_path}/screw.json - --to urdf", "which URDF cannot say; write JSON."),
        ("equations ur5", "Lock joints first, --lock wrist_1_joint=0 --lock wrist_2_joint=0"),
        ("equations ur5", "or pass --force; `torsor codegen` gives"),
        ("view panda", "view: --meshes must be folders that exist."),
    ):
        assert main(command.split()) == 2
        assert words in capsys.readouterr().err


# Completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_commands_and_options(shell, capsys):
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)
    assert ("--cutoff" in out and "files" in out) or shell == "tcsh"  # which completes commands alone
    if shell != "tcsh" and shutil.which(shell):
        subprocess.run([shell, "-n"], input=out, text=True, check=True)


def test_without_shtab_completion_says_what_to_type(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'torsor[completion]'" in capsys.readouterr().err
