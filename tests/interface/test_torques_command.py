"""`torsor torques`: the numbers of `motion.from_samples`, tables as people have them, mistakes by line, bounded memory."""

import csv
import io
import sys
import tracemalloc

import numpy as np
import pytest

import torsor
from torsor.cli import motion_table
from torsor.cli.main import main
from torsor.motion import from_samples, sample_windows
from torsor.motion.sample_windows import Sampling
from torsor.motion.trajectory_files import column_title, columns_of

ARM = torsor.robots.planar2r()
TIME = 1e-2 * np.arange(300)
Q = np.stack([np.sin(TIME), 0.3 * np.cos(2.0 * TIME)], axis=-1)
V = np.stack([np.cos(TIME), -0.6 * np.sin(2.0 * TIME)], axis=-1)
A = np.stack([-np.sin(TIME), -1.2 * np.cos(2.0 * TIME)], axis=-1)


def table(names, *columns, separator=",", end="\n"):
    rows = [separator.join(names)]
    rows += [separator.join(map(repr, row)) for row in np.column_stack(columns).tolist()]
    return end.join(rows) + end


def written(path):
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return names, np.array(rows, dtype=float)


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(table(["time", "joint_1", "joint_2"], TIME, Q))
    return tmp_path


@pytest.mark.parametrize("jitter", [0.0, 0.2])
def test_a_table_in_windows_gives_the_numbers_of_the_whole_log(jitter, tmp_path, monkeypatch):
    """Every joint kind, names that nobody would choose, and blocks that cut lines in two."""
    monkeypatch.setattr(motion_table, "BLOCK", 4001)
    robot = torsor.robots.random_tree(4, seed=3, kinds=("free", "spherical", "planar", "revolute"))
    hostile = ['=1+2,"x"', "\x1b[31m\n@y", "-z", "ü [w]"]
    robot = robot.rename(dict(zip(robot.joints, hostile, strict=True)))
    robot.to_json(tmp_path / "arm.json")
    rng = np.random.default_rng(1)
    time = 100.0 + 1e-2 * (np.arange(300) + jitter * rng.uniform(-1.0, 1.0, 300))
    u = np.sin(np.outer(time, 1.0 + np.arange(robot.nv)))
    q = torsor.integrate(robot, np.broadcast_to(robot.neutral, (300, robot.nq)), u)
    names = [column_title(name) for name in columns_of(robot)["q"]]
    with open(tmp_path / "log.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["time", *names], *np.column_stack([time, q]).tolist()])
    arguments = [str(tmp_path / "arm.json"), str(tmp_path / "log.csv"), "--cutoff", "4", "--states"]
    assert main(["torques", *arguments, "-o", str(tmp_path / "out.csv")]) == 0
    titles, found = written(tmp_path / "out.csv")
    assert all(title.isprintable() and title[0] not in "=+-@" for title in titles)
    run = from_samples(time, q, robot=robot, cutoff=4.0).trajectory
    whole = np.concatenate([time[:, None], run.q, run.v, run.a, run.tau], axis=-1)
    np.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max())
    again = torsor.Trajectory.load(robot, tmp_path / "out.csv")
    np.testing.assert_array_equal(again.tau, found[:, -robot.nv :])


def test_what_is_measured_is_used(log, capsys):
    """All of it: then nothing is smoothed. Velocities alone: smoothed as q is, and differentiated."""
    names = [f"joint_{k}{kind}" for kind in ("", ".v", ".a") for k in (1, 2)]
    (log / "all.csv").write_text(table(["time", *names, "temperature"], TIME, Q, V, A, TIME))
    assert main(["torques", "planar2r", "all.csv", "-o", "out.csv"]) == 0
    err = capsys.readouterr().err
    assert "nothing was smoothed" in err and "Columns that were not used: 'temperature'." in err
    titles, found = written("out.csv")
    assert titles == ["time [s]", "joint_1.tau [N·m]", "joint_2.tau [N·m]"]
    np.testing.assert_allclose(found[:, 1:], torsor.inverse_dynamics(ARM, Q, V, A), rtol=1e-14)
    (log / "some.csv").write_text(table(["joint_2.v", "t [s]", "joint_1", "joint_2"], 2.0 * V[:, 1], TIME, Q))
    assert main(["torques", "planar2r", "some.csv", "--cutoff", "5", "--states", "-o", "out.csv"]) == 0
    assert "v of 1 joints is measured and smoothed" in capsys.readouterr().err
    _, found = written("out.csv")
    np.testing.assert_allclose(found[:, 4], 2.0 * V[:, 1], atol=1e-4)
    np.testing.assert_allclose(found[:, 6], 2.0 * A[:, 1], atol=2e-3)


def test_what_a_simulation_writes_can_be_read(log, monkeypatch, capsys):
    assert main(["simulate", "planar2r", "--start", "0.1,0.2", "--duration", "0.01", "-o", "-"]) == 0
    text = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["torques", "planar2r", "-", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "" and captured.out.count("\n") == 12
    assert np.abs(np.genfromtxt(io.StringIO(captured.out), delimiter=",", skip_header=1)[:, 1:]).max() < 1e-12


def test_tables_as_people_have_them(log, capsys):
    plain = (log / "log.csv").read_text()
    body = plain.split("\n", 1)[1]
    forms = {
        "semicolons": plain.replace(",", ";"),
        "tabs": plain.replace(",", "\t"),
        "lines of Windows, and a mark at the start": "\ufeff" + plain.replace("\n", "\r\n"),
        "comments and empty lines": "# made by hand\n\n" + plain.replace("\n", "\n\n", 40) + "\n\n",
        "quotes, spaces and units": '"time [s]", "joint_1 [rad]" ,joint_2\n' + body,
        "no newline at the end": plain.rstrip("\n"),
    }
    assert main(["torques", "planar2r", "log.csv", "--cutoff", "5"]) == 0
    wanted = capsys.readouterr().out
    for what, text in forms.items():
        (log / "form.csv").write_text(text, encoding="utf-8", newline="")
        assert main(["torques", "planar2r", "form.csv", "--cutoff", "5"]) == 0, what
        assert capsys.readouterr().out == wanted, what


LINES = table(["time", "joint_1", "joint_2"], TIME, Q).split("\n")


def changed(line, text):
    """The table with another line, counted from 1."""
    return "\n".join([*LINES[: line - 1], text, *LINES[line:]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table is empty"),
        ("\n".join(LINES[1:]), "line 1: the first line must name the columns: time, joint_1, joint_2, …"),
        (
            changed(1, "zeit,joint_1,joint_2"),
            "line 1: there is no column 'time'; there are 'zeit', 'joint_1', 'joint_2'",
        ),
        (changed(1, "time,joint_1,jiont_2"), "there is no column 'joint_2' of robot 'planar2r'; did you mean"),
        (changed(1, "time,joint_1,joint_1"), "there are two columns 'joint_1'"),
        (changed(1, "time,joint_1 [deg],joint_2"), "column 'joint_1 [deg]' is in 'deg'; 'rad' is expected"),
        (changed(1, "time [ms],joint_1,joint_2"), "column 'time [ms]' is in 'ms'; 's' is expected"),
        (changed(30, "0.28,\x1b[31m,1"), "line 30: column 'joint_1': '\\x1b[31m' is no number"),
        (changed(30, "0.28,,1"), "line 30: column 'joint_1': there is no number"),
        (changed(30, '0.28,"1,5",1'), "line 30: column 'joint_1': '1,5' is no number (decimal comma?)"),
        (changed(30, "0.28,1_0,1"), "line 30: column 'joint_1': '1_0' is no number"),
        (changed(30, "0.28,1"), "line 30: 2 columns, the first line names 3"),
        (changed(30, "0.28,nan,1"), "line 30: column 'joint_1' is nan; leave such lines out"),
        (changed(30, "inf,0,1"), "line 30: column 'time' is inf"),
        (changed(30, "0.27,0,1"), "line 30: time must grow, but 0.27 s comes after 0.27 s"),
        ("\n".join([*LINES[:50], *LINES[200:]]), "a gap of 1.51 s in time after sample 48"),
        ("\n".join(LINES[:9]), "a --cutoff of 5 Hz takes windows of 0.5239 s with 8 samples or more, got 8 samples"),
        (LINES[0], "got 0 samples over 0 s: pass a longer log"),
    ],
)
def test_mistakes_are_told_by_line_and_leave_no_file(text, message, log, capsys):
    (log / "bad.csv").write_text(text)
    assert main(["torques", "planar2r", "bad.csv", "--cutoff", "5", "-o", "out.csv"]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.startswith("bad.csv") and captured.err.count("\n") == 1
    assert captured.out == "" and sorted(path.name for path in log.iterdir()) == ["bad.csv", "log.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["log.csv"], "so q is differentiated, which takes --cutoff HZ"),
        (["log.csv", "--cutoff", "-1"], "--cutoff must be a positive frequency, Hz, got -1"),
        (["log.csv", "--cutoff", "nan"], "--cutoff must be a positive frequency, Hz, got nan"),
        (["log.csv", "--cutoff", "99"], "a window of 0.02646 s holds 2 samples only, and 8 are needed"),
        (["missing.csv", "--cutoff", "5"], "torsor torques: missing.csv: No such file or directory."),
        (["log.csv", "--cutoff", "5", "-o", "no/out.csv"], "torsor torques: no/out.csv: No such file or directory."),
    ],
)
def test_what_else_is_refused(arguments, message, log, capsys):
    assert main(["torques", "planar2r", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""


def test_robot_and_table_cannot_both_be_piped_in(capsys):
    assert main(["torques", "-", "-"]) == 2
    assert "only one of robot and motion" in capsys.readouterr().err


def test_forces_beyond_what_drives_can_give_are_told(log, capsys):
    weak = ARM.with_limits(effort=1.0)
    weak.to_json("weak.json")
    assert main(["torques", "weak.json", "log.csv", "--cutoff", "5", "-o", "log.csv"]) == 0  # in place, too
    assert "joint_1: up to " in (err := capsys.readouterr().err) and "beyond its limit of 1 in " in err
    assert len(written("log.csv")[1]) == 300


# Memory


def long_table(path, rows, piece=50_000):
    with open(path, "w") as file:
        file.write("time,joint_1\n")
        for start in range(0, rows, piece):
            time = 1e-3 * np.arange(start, min(rows, start + piece))
            angle = np.round(np.sin(time) + 0.1 * np.sin(40.0 * time), 6)
            file.write("\n".join(f"{t:.3f},{x:.6f}" for t, x in zip(time.tolist(), angle.tolist(), strict=True)) + "\n")


def test_a_long_table_takes_as_little_memory_as_a_short_one(tmp_path, monkeypatch):
    """What is held is a few blocks, and the work on them: the longer table alone has more numbers than the bound allows."""
    monkeypatch.setattr(motion_table, "BLOCK", 2**16)
    monkeypatch.setattr(sample_windows, "TOGETHER", 2**16)
    peaks = []
    for rows in (8_000, 40_000):
        long_table(tmp_path / "log.csv", rows)
        tracemalloc.start()
        try:
            run_long(tmp_path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 40_000 * 8 < 2**22, peaks


def test_a_million_rows(tmp_path):
    long_table(tmp_path / "log.csv", 1_000_000)
    with open(run_long(tmp_path), encoding="utf-8") as file:
        assert sum(1 for _ in file) == 1_000_001


def run_long(folder):
    arguments = [str(folder / "log.csv"), "--cutoff", "100", "-o", str(folder / "out.csv"), "--quiet"]
    assert main(["torques", "pendulum", *arguments]) == 0
    return folder / "out.csv"


def test_a_line_that_does_not_end_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(motion_table, "LONGEST_LINE", 2**21)
    (tmp_path / "log.csv").write_text("time,joint_1\n" + "1" * 2**22)
    assert main(["torques", "pendulum", str(tmp_path / "log.csv"), "--cutoff", "5"]) == 2
    assert "a line does not end" in capsys.readouterr().err


def test_a_sampling_knows_what_its_times_are():
    sampling = Sampling(5.0)
    for piece in np.array_split(TIME, 7):
        sampling.add(piece)
    sampling.add(np.zeros(0))
    assert sampling.count == 300 and sampling.is_even and sampling.step == pytest.approx(1e-2, rel=1e-12)
