"""`simulate`, `ik`, `convert`, `codegen`, `bench`, `view` and `demo`: what they print and write, and what they refuse."""

import json
import shutil
import subprocess
import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import torsor
from torsor import _demo
from torsor.cli import bench
from torsor.cli.main import main

HOSTILE = "\x1b]0;owned\x07*/ x, \"y' ??/ /*"


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def hostile_arm():
    joint = torsor.Joint(name=f"joint {HOSTILE}", kind="revolute", axis=(0, 1, 0), inertia=torsor.Inertia.point(1.0))
    return torsor.assemble(
        [joint], name=f"robot {HOSTILE}", frames={f"tip {HOSTILE}": (f"joint {HOSTILE}_link", np.eye(4))}
    )


def refused(capsys, arguments, message, code=2):
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert message in captured.err, captured.err
    assert all(line.isprintable() for line in captured.err.split("\n"))
    return captured


# simulate


@pytest.mark.compiled
def test_a_simulation_is_what_simulate_gives(capsys):
    arguments = ["--start", "0.3,-1", "--velocity", "joint_2=2", "--forces", "[1, 0.5]", "--duration", "0.05"]
    assert main(["simulate", "planar2r", *arguments, "--dt", "0.005", "-o", "run.npz"]) == 0
    out = capsys.readouterr().out
    robot = torsor.robots.planar2r()
    wanted = torsor.simulate(robot, [0.3, -1.0], [0.0, 2.0], tau=[1.0, 0.5], duration=0.05, dt=0.005)
    found = torsor.Trajectory.load(robot, "run.npz")
    np.testing.assert_array_equal(found.q, wanted.q)
    assert "11 samples over 0.05 s" in out and f"joint_2  {wanted.q[-1, 1]:.6g}" in out and "residual" in out
    assert main(["simulate", "planar2r", *arguments, "--dt", "0.005", "-o", "run.csv"]) == 0
    np.testing.assert_array_equal(torsor.Trajectory.load(robot, "run.csv").q, wanted.q)
    capsys.readouterr()
    assert main(["simulate", "planar2r", *arguments, "--dt", "0.005", "-o", "-"]) == 0
    captured = capsys.readouterr()
    with open("run.csv", encoding="utf-8") as file:
        assert captured.out == file.read() and captured.err == out


@pytest.mark.compiled
def test_a_target_is_reached_and_notes_are_told(capsys):
    arm = torsor.robots.pendulum().with_limits((-1.0, 0.2), effort=50.0)
    arm.to_json("arm.json")
    arguments = ["--start", "neutral", "--target", "0.1", "--kp", "400", "--kd", "40", "--duration", "1"]
    assert main(["simulate", "arm.json", *arguments]) == 0
    assert "joint_1  0.1\n" in capsys.readouterr().out
    assert main(["simulate", "arm.json", "--velocity", "5", "--duration", "0.1"]) == 0
    assert "note: joint_1 hit its upper stop" in (out := capsys.readouterr().out) or "upper stop" in out
    assert main(["simulate", "arm.json", "--velocity", "5", "--duration", "0.1", "--without-limits"]) == 0
    assert "note:" not in capsys.readouterr().out


@pytest.mark.compiled
def test_adaptive_steps(capsys):
    for chosen in (["--adaptive", "--rtol", "1e-6"], ["--method", "dopri5"]):
        assert main(["simulate", "pendulum", "--start", "1", "--duration", "0.2", *chosen]) == 0
        assert "samples over 0.2 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "start", ["neutral", "middle", "random", "random:3", '{"joint_1": 0.1}', "joint_1=90deg", "-0.3"]
)
def test_ways_of_saying_a_state(start, capsys):
    assert main(["simulate", "pendulum", "--start", start, "--duration", "0.002"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--start", "1,2,3"], "--start takes 2 numbers (joint_1, joint_2), or some by name (elbow=0.3), got 3."),
        (["--start", "elbow=1"], "--start: robot 'planar2r' has no coordinate 'elbow'"),
        (["--start", "1,x"], "--start: 'x' is no number. Type 0,0.3,-1 or elbow=0.3,wrist=90deg or JSON."),
        (["--start", "[1,"], "--start: '[1,' is no JSON"),
        (["--start", '["a", 2]'], "--start takes numbers"),
        (["--start", "nan,0"], "--start must be finite, got 'nan'"),
        (["--velocity", "[NaN, 0]"], "--velocity takes 2 numbers (joint_1, joint_2)"),
        (["--forces", HOSTILE], "is no number"),
        (["-o", "x.txt"], "simulate: --output must end in .npz, .csv or .parquet, or be - for CSV, got 'x.txt'."),
        (["-o", "no/x.npz"], "cannot write no/x.npz: No such file or directory."),
        (["-o", "no/x.csv"], "torsor simulate: no/x.csv: No such file or directory."),
        (["--dt", "0.3"], "is not a whole number of steps"),
        (["--every", "0"], "`every` must be a whole number of at least 1"),
    ],
)
def test_what_simulate_refuses(arguments, message, capsys):
    assert refused(capsys, ["simulate", "planar2r", "--duration", "0.01", *arguments], message).out == ""


@pytest.mark.compiled
def test_a_motion_that_diverges_is_kept_until_then(capsys):
    arguments = ["--velocity", "1e200,1e200", "--duration", "0.005", "--without-limits", "-o", "run.npz"]
    captured = refused(capsys, ["simulate", "planar2r", *arguments], "or --adaptive for steps", code=1)
    assert "samples over" in captured.out and torsor.Trajectory.load(torsor.robots.planar2r(), "run.npz").interrupted


def test_an_interrupted_motion_is_written_and_told_by_the_exit_code(monkeypatch, capsys):
    whole = torsor.simulate(torsor.robots.pendulum(), [0.1], [0.0], duration=0.01, dt=1e-3)
    cut = torsor.Trajectory(whole.robot, whole.time, whole.q, whole.v, interrupted=True)
    monkeypatch.setattr(torsor, "simulate", lambda *args, **options: cut, raising=False)
    assert main(["simulate", "pendulum", "--duration", "1", "-o", "run.npz"]) == 130
    assert "interrupted" in capsys.readouterr().out
    assert torsor.Trajectory.load(whole.robot, "run.npz").interrupted


# ik


def test_inverse_kinematics_by_position_rotation_and_both(capsys):
    robot = torsor.robots.ur5()
    frame = robot.frames[-1]
    q = torsor.random_configuration(robot, seed=3)
    T = torsor.frame_pose(robot, q, frame)
    place = ",".join(map(repr, T[:3, 3].tolist()))
    turn = ",".join(map(repr, torsor.lie.quaternion.from_rotation(T[:3, :3]).tolist()))
    near = ",".join(map(repr, (q + 0.05).tolist()))
    ways = [
        (["--position", place], slice(0, 3), 3),
        (["--quaternion", turn], slice(0, 3), slice(0, 3)),
        (["--position", place, "--quaternion", turn], slice(0, 4), slice(0, 4)),
        (["--pose", json.dumps(T.tolist())], slice(0, 4), slice(0, 4)),
    ]
    for arguments, rows, columns in ways:
        assert main(["ik", "ur5", frame, *arguments, "--start", near, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["success"] and list(found["joints"].values()) == found["q"]
        reached = torsor.frame_pose(robot, np.array(found["q"]), frame)
        np.testing.assert_allclose(reached[rows, columns], T[rows, columns], atol=1e-7)
    assert main(["ik", "ur5", frame, "--position", place, "--start", near]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(robot.joints)


def test_a_target_out_of_reach_is_no(capsys):
    captured = refused(capsys, ["ik", "planar2r", "link_2", "--position", "9,0,0"], "out of reach", code=1)
    assert captured.out.count("\n") == 2
    assert main(["ik", "planar2r", "link_2", "--position", "9,0,0", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["success"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["link_2"], "ik: say where to: --position X,Y,Z"),
        (["lnik_2", "--position", "1,0,0"], "has no frame 'lnik_2'; nearest: 'link_2'"),
        (["link_2", "--position", "1,0"], "--position takes 3 numbers, x, y, z, m, got '1,0'."),
        (["link_2", "--rpy", "x=1"], "--rpy takes 3 numbers, roll, pitch, yaw, got 'x=1'."),
        (["link_2", "--quaternion", "0,0,0,0"], "ik: --quaternion must not be zero."),
        (["link_2", "--pose", "[[1]]"], "ik: --pose takes a matrix of 4 × 4 numbers as JSON, got '[[1]]'."),
        (["link_2", "--pose", "[[1]]", "--position", "0,0,0"], "ik: --pose has a position already"),
        (["link_2", "--position", "1,0,0", "--nearest"], "ik: --nearest takes --start Q"),
    ],
)
def test_what_ik_refuses(arguments, message, capsys):
    assert refused(capsys, ["ik", "planar2r", *arguments], message).out == ""


# convert


def test_files_go_from_format_to_format_and_what_is_lost_is_told(capsys):
    pytest.importorskip("mujoco")
    pytest.importorskip("yaml")
    robot = torsor.robots.ur5().with_limits(velocity=2.0, effort=30.0)
    robot.to_json("a.json")
    assert main(["convert", "a.json", "a.yaml"]) == 0
    assert main(["convert", "a.yaml", "a.urdf"]) == 0
    assert (
        capsys.readouterr().err == "Read again, the YAML is the same robot.\nRead again, the URDF is the same robot.\n"
    )
    assert main(["convert", "a.urdf", "a.xml"]) == 0
    assert capsys.readouterr().err == "The MJCF does not keep: velocity limits.\n"
    assert main(["convert", "a.xml", "-", "--to", "json"]) == 0
    back = torsor.load(capsys.readouterr().out)
    q, v, a = torsor.random_state(robot, seed=0)
    np.testing.assert_allclose(
        torsor.inverse_dynamics(back, q, v, a), torsor.inverse_dynamics(robot, q, v, a), rtol=1e-9
    )


def test_what_convert_refuses(capsys):
    spring = torsor.robots.pendulum().with_gravity((0.0, 0.0, -1.6))
    spring.to_json("moon.json")
    message = "Leave it out with --drop 'gravity', or write JSON."
    refused(capsys, ["convert", "moon.json", "moon.urdf"], message)
    assert main(["convert", "moon.json", "moon.urdf", "--drop", "gravity"]) == 0
    assert "The URDF does not keep: gravity." in capsys.readouterr().err
    refused(capsys, ["convert", "moon.json", "moon.stl"], "convert: say the format, --to urdf, mjcf, json or yaml")
    refused(capsys, ["convert", "moon.json", "-"], "convert: say the format")
    refused(capsys, ["convert", "moon.json", "x.json", "--drop", "gravity"], "--drop is for URDF")
    refused(capsys, ["convert", "moon.json", "no/x.json"], "torsor convert: no/x.json: No such file or directory.")


def test_names_that_a_terminal_would_obey_are_told_plainly(capsys):
    hostile_arm().to_json("arm.json")
    assert main(["convert", "arm.json", "arm.xml"]) in (0, 2)
    captured = capsys.readouterr()
    assert all(line.isprintable() for line in (captured.out + captured.err).split("\n"))
    for arguments in (["simulate", "arm.json", "--duration", "0.01"], ["ik", "arm.json", "x", "--position", "0,0,0"]):
        main(arguments)
        captured = capsys.readouterr()
        assert all(line.isprintable() for line in (captured.out + captured.err).split("\n"))


# codegen

STRICT = [
    "cc",
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wmissing-prototypes",
    "-pedantic",
    "-Werror",
]
needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine; torsor needs none")


def self_test(name):
    """Compile the one file alone, with every warning an error, and run its test."""
    subprocess.run([*STRICT, "-c", f"{name}.c", "-o", "alone.o"], check=True)
    subprocess.run([*STRICT, f"-D{name.upper()}_TEST", f"{name}.c", "-lm", "-o", "run"], check=True)
    return subprocess.run(["./run"], capture_output=True, text=True, check=True).stdout


@needs_c
@pytest.mark.parametrize(
    ("name", "function", "more"),
    [
        ("torques", "inverse_dynamics", []),
        ("energy", "torsor.kinetic_energy", ["--float"]),
        ("law", "control.computed_torque", ["--clamp", "9,8"]),
        ("hold", "pd_gravity", ["--scalar", "kp,kd", "--clamp", "5", "--float"]),
        ("tracking", "control.adaptive", []),
    ],
)
def test_c_compiles_alone_without_a_warning_and_is_right(name, function, more, capsys):
    assert main(["codegen", "planar2r", function, *more, "-o", f"{name}.c"]) == 0
    assert f"-D{name.upper()}_TEST" in capsys.readouterr().err
    assert self_test(name) == f"{name}: 0 wrong\n"
    with open("use.cpp", "w") as file:
        file.write(f'#include "{name}.h"\n#include "{name}.h"\n')
    subprocess.run(["cc", "-x", "c", "-fsyntax-only", "-Wall", "-Werror", "use.cpp"], check=True)


@needs_c
def test_names_from_anywhere_stay_in_the_comment(capsys):
    hostile_arm().to_json("arm.json")
    assert main(["codegen", "arm.json", "body_jacobian", "--frame", f"tip {HOSTILE}", "-o", "jacobian.c"]) == 0
    assert self_test("jacobian") == "jacobian: 0 wrong\n"


def test_the_comment_says_what_the_numbers_are(capsys):
    limits = torsor.robots.planar2r().with_limits(effort=[3.0, 4.5])
    limits.to_json("arm.json")
    chosen = ["--scalar", "kd", "--set", "kp=[30, 20]", "--clamp"]
    assert main(["codegen", "arm.json", "control.pd_gravity", *chosen]) == 0
    out = capsys.readouterr().out
    comment = out.split("*/")[0]
    for words in (
        f"torsor {torsor.__version__}: torsor.control.pd_gravity of robot planar2r, digest {torsor.load('arm.json').digest[:16]}",
        "in the order of all vectors: joint_1, joint_2",
        "q: Configuration, rad or m.",
        "tau: Joint forces, N·m or N.",
        "kp=[30, 20] is constant.",
        "tau is kept within plus or minus (3, 4.5).",
    ):
        assert words in comment
    assert (
        "void pd_gravity(const double q[2], const double v[2], const double q_ref[2], double kd, double tau[2]);" in out
    )


@pytest.mark.compiled
def test_constants_and_clamps_change_the_numbers_as_they_say():
    from torsor.cli import codegen

    robot = torsor.robots.planar2r()
    options = SimpleNamespace(frame=None, scalar="kd", set=["kp=30"], clamp="5,2")
    kernel = codegen._kernel(robot, torsor.control.pd_gravity, options)
    q, v, goal = np.array([[0.1, 0.2], [2.0, -1.0]]), np.array([[0.3, 0.1], [4.0, 1.0]]), np.array([0.5, 0.6])
    wanted = torsor.control.pd_gravity(robot, q, v, goal, 30.0, 3.0)
    np.testing.assert_allclose(kernel(q, v, goal, 3.0), np.clip(wanted, [-5.0, -2.0], [5.0, 2.0]), rtol=1e-12)
    assert np.any(np.abs(wanted) > [5.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inverse_dynamic"], "codegen has no function 'inverse_dynamic'; nearest: 'inverse_dynamics'"),
        (["kinematics.inverse_dynamics"], "codegen has no function 'kinematics.inverse_dynamics'"),
        (["simulate"], "codegen: simulate is neither a function of a robot's state"),
        (["Robot"], "codegen: Robot is neither a function"),
        (["operational_space"], "codegen: operational_space takes more than vectors of known size"),
        (["body_jacobian"], "body_jacobian also needs frame: --frame tip"),
        (["body_jacobian", "--frame", "x"], "has no frame 'x'"),
        (
            ["gravity_forces", "-o", "float.c"],
            "'float' is a keyword of C or C++. Type another, for instance -o float_kernel.c",
        ),
        (["gravity_forces", "-o", "no/arm.c"], "torsor codegen: no/arm.c: No such file or directory."),
        (["mass_matrix", "--clamp", "1"], "codegen: --clamp is for joint forces; mass_matrix gives M."),
        (["gravity_forces", "--clamp"], "codegen: robot 'planar2r' has no effort limits; type them: --clamp"),
        (["gravity_forces", "--clamp", "1,2,3"], "codegen: --clamp takes one number or 2, got 3."),
        (["gravity_forces", "--set", "kp=1"], "has no input 'kp'"),
        (["gravity_forces", "--scalar", "kp"], "has no input 'kp'"),
        (["gravity_forces", "--set", "q=1,2,3"], "`q` must have shape (..., 2)"),
    ],
)
def test_what_codegen_refuses(arguments, message, capsys):
    assert refused(capsys, ["codegen", "planar2r", *arguments], message).out == ""


# bench, view, demo


def test_bench_measures_compiled_against_numpy(monkeypatch, capsys):
    monkeypatch.setattr(bench, "LEAST", 1e-5)
    assert main(["bench", "pendulum", "--states", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 8 and "inverse_dynamics" in captured.out and "×" in captured.out
    assert "1 degrees of freedom" in captured.err
    assert main(["bench", "pendulum", "--states", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["seconds"]["mass_matrix"]
    assert all(seconds > 0.0 for seconds in found.values())
    refused(capsys, ["bench", "pendulum", "--states", "0"], "bench: --states must be at least 1, got 0.")


class Viewer:
    """Stands for the one of `torsor.view`."""

    url = "http://localhost:8080"
    calls: ClassVar[list] = []

    def __init__(self, robot, motion, **options):
        self.calls.append((robot.name, None if motion is None else len(motion), options))

    def html(self, path):
        self.calls.append("html")
        return path

    def image(self, path):
        self.calls.append("image")
        return path

    def wait(self):
        raise KeyboardInterrupt

    def close(self):
        self.calls.append("closed")


def test_the_viewer_is_shown_until_ctrl_c_or_written(monkeypatch, capsys):
    monkeypatch.setattr(torsor, "view", Viewer, raising=False)
    monkeypatch.setattr(Viewer, "calls", seen := [])
    assert main(["view", "pendulum", "--port", "8081", "--start", "0.3"]) == 0
    assert capsys.readouterr().out == "http://localhost:8080\n"
    name, motion, options = seen[0]
    assert (name, motion, options["serve"], options["port"], options["q"].tolist()) == (
        "pendulum",
        None,
        True,
        8081,
        [0.3],
    )
    assert seen[1:] == ["closed"]
    seen.clear()
    torsor.simulate(torsor.robots.pendulum(), [0.1], [0.0], duration=0.01, dt=1e-3).save("run.npz")
    assert main(["view", "pendulum", "run.npz", "--html", "run.html", "--image", "run.png", "--meshes", "here"]) == 0
    assert seen == [
        ("pendulum", 11, {"ghost": None, "mesh_roots": ["here"], "serve": False}),
        "html",
        "image",
        "closed",
    ]
    assert capsys.readouterr().out == ""
    refused(capsys, ["view", "pendulum", "run.txt"], "view: a motion is a file that ends in .npz, .csv or .parquet")
    refused(capsys, ["view", "pendulum", "no.npz"], "no.npz: No such file or directory")
    refused(capsys, ["view", "planar2r", "run.npz"], "is of robot 'pendulum' with joints joint_1")


def test_the_demo_is_the_one_of_make(monkeypatch, capsys):
    seen = []
    with monkeypatch.context() as patched:
        patched.setattr(_demo, "run", lambda folder: seen.append(folder) or 1)
        assert main(["demo", "--folder", "here"]) == 1 and seen == ["here"]
    open("taken", "w").close()
    refused(capsys, ["demo", "--folder", "taken"], "demo: cannot make the folder")


def test_progress_is_for_terminals_alone(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    from torsor._progress import progress

    with progress(10, "label", "B") as done:
        done(10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress(10, f"label {HOSTILE}", "B") as done:
        assert done.__self__.total == 10 and done.__self__.desc.isprintable()
