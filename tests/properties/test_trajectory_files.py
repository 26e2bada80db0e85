"""Trajectories in files and tables: what was saved is what is read, whatever joints are called; damage is told of in words."""

import csv

import numpy as np
import pytest

import torsor
from torsor.motion import Trajectory

HOSTILE = (
    "a,b",
    'the "elbow"',
    "two\nlines",
    "Ellenbogen ü°",
    " spaces ",
    "semi;colon",
    "a.v",
    "a",
    "time [s]",
    "=1+1",
)
EVERY = torsor.robots.random_tree(6, seed=4)


def chain(names):
    """A robot with joints of these names."""
    body = torsor.Inertia.sphere(0.1, mass=1.0)
    return torsor.assemble(
        [
            torsor.Joint(name=name, kind=kind, axis=(0, 1, 0), inertia=body, parent=parent, link=f"link {k}")
            for k, (name, kind, parent) in enumerate(
                zip(
                    names,
                    ["revolute", "prismatic"] * 9,
                    ["base", *(f"link {k}" for k in range(len(names)))],
                    strict=False,
                )
            )
        ]
    )


def run_of(robot, count=4, **more):
    time = 0.1 * np.arange(count) + 0.3
    q0, v, a = torsor.random_state(robot, seed=2)
    speeds = v + a * (time - 0.3)[:, None]
    q = torsor.integrate(robot, q0, (time - 0.3)[:, None] * v)
    return Trajectory(robot, time, q, speeds, np.broadcast_to(a, speeds.shape), **more)


def pushed(robot, count=4):
    wrench = np.random.default_rng(0).normal(size=(count, 6))
    return run_of(robot, count, wrenches={robot.frames[-1]: wrench, robot.frames[0]: -wrench})


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
@pytest.mark.parametrize(
    "robot", [chain(HOSTILE), EVERY, torsor.robots.panda()], ids=["hostile", "every kind", "panda"]
)
def test_what_is_saved_is_what_is_read(robot, ending, tmp_path):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    run, path = pushed(robot), tmp_path / f"run ü.{ending}"
    run.save(path)
    again = Trajectory.load(robot, path)
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    assert list(again.wrenches) == list(run.wrenches)
    for frame, wrench in run.wrenches.items():
        np.testing.assert_array_equal(again.wrenches[frame], wrench)


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_one_sample_and_values_that_are_none(ending, tmp_path):
    run = run_of(EVERY, 1)
    broken = Trajectory(EVERY, run.time, run.q, np.full_like(run.v, np.nan), run.a, np.full_like(run.v, -np.inf))
    broken.save(tmp_path / f"run.{ending}")
    again = Trajectory.load(EVERY, tmp_path / f"run.{ending}")
    np.testing.assert_array_equal(again.v, broken.v)
    np.testing.assert_array_equal(again.tau, broken.tau)


def test_every_column_of_a_table_has_its_unit(tmp_path):
    kinds = ("free", "spherical", "planar", "prismatic", "revolute")
    robot = torsor.robots.random_tree(5, seed=3, kinds=kinds)
    pushed(robot).save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", encoding="utf-8", newline="") as file:
        names = next(csv.reader(file))
    assert all(name.endswith("]") and " [" in name for name in names)
    units = [name.rsplit(" [", 1)[1][:-1] for name in names]
    assert units[0] == "s" and units[-6:] == ["N·m"] * 3 + ["N"] * 3
    for c, kind in robot.structure.blocks:
        start = 1 + c.q.start
        assert units[start : start + c.nq] == list(kind.q_units)
        start = 1 + robot.nq + 2 * robot.nv + c.v.start
        assert units[start : start + c.nv] == [{"rad": "N·m", "m": "N"}[unit] for unit in kind.v_units]


def test_a_table_of_pandas_has_the_same_columns():
    pandas = pytest.importorskip("pandas")
    run = pushed(EVERY)
    table = run.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(run) and table.columns[0] == "time [s]"
    np.testing.assert_array_equal(table.to_numpy()[:, 1 : 1 + EVERY.nq], run.q)


def test_what_is_missing_is_said_in_words(monkeypatch, tmp_path):
    run = run_of(EVERY)
    for module in ("pandas", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(torsor.MissingDependency, match="pip install pandas"):
        run.to_dataframe()
    for call in (lambda: run.save(tmp_path / "a.parquet"), lambda: Trajectory.load(EVERY, tmp_path / "a.parquet")):
        with pytest.raises(torsor.MissingDependency, match="pip install pyarrow"):
            call()


def edited(tmp_path, robot, change):
    """A file that was changed by hand: ``change`` gets its rows of text."""
    path = tmp_path / "edited.csv"
    pushed(robot).save(path)
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    rows = change(rows)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def without(*endings):
    def change(rows):
        keep = [k for k, name in enumerate(rows[0]) if not any(part in name for part in endings)]
        return [[row[k] for k in keep] for row in rows]

    return change


def with_cell(line, column, text):
    def change(rows):
        rows[line][column] = text
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without("time"), r"there is no column 'time \[s\]'"),
        (without(".v"), r"there is no column '.*\.v \[rad/s\]' for robot"),
        (without(".a", ".tau"), r"there is no column '.*\.a \[rad/s²\]'"),
        (without("wrench[3]"), r"there is no column '.*wrench\[3\] \[N\]'"),
        (lambda rows: [rows[0] + rows[0][1:2], *([*row, "0"] for row in rows[1:])], "there are two columns"),
        (lambda rows: rows[:1], "at least one of numbers"),
        (lambda rows: [], "at least one of numbers"),
        (lambda rows: [*rows[:2], rows[2][:-1], *rows[3:]], r"line 3: there are \d+ numbers for \d+ columns"),
        (with_cell(2, 3, "1,5"), "line 3: could not convert string to float: '1,5'"),
        (with_cell(2, 0, "0.0"), "`time` must grow, but 0 s comes after 0.3 s"),
        (with_cell(2, 0, ""), "`time` must be finite, but time 1 is not"),
    ],
)
def test_a_table_that_was_broken_by_hand_says_where(change, words, tmp_path):
    robot = torsor.robots.planar2r()
    with pytest.raises(torsor.FileError, match=words):
        Trajectory.load(robot, edited(tmp_path, robot, change))


def test_what_does_no_harm_to_a_table_is_read(tmp_path):
    """A mark before the first name, empty lines, spaces around names, columns of others, forces or accelerations left out."""
    robot = torsor.robots.planar2r()
    run = pushed(robot)
    path = edited(tmp_path, robot, lambda rows: [[f" {name} " for name in rows[0]], *rows[1:], [], [""] * len(rows[0])])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    np.testing.assert_array_equal(Trajectory.load(robot, path).tau, run.tau)
    path = edited(tmp_path, robot, lambda rows: [[*row, "remark" if k == 0 else "7"] for k, row in enumerate(rows)])
    np.testing.assert_array_equal(Trajectory.load(robot, path).q, run.q)
    for group, other in ((".tau", "tau"), (".a ", "a")):
        again = Trajectory.load(robot, edited(tmp_path, robot, without(group)))
        np.testing.assert_allclose(getattr(again, other), getattr(run, other), rtol=1e-10, atol=1e-10)


def test_a_file_of_another_robot_is_told_of(tmp_path):
    robot, other = torsor.robots.planar2r(), torsor.robots.panda()
    run = run_of(robot)
    for ending, words in (("npz", "with joints"), ("csv", "there is no column 'panda_joint1")):
        run.save(tmp_path / f"run.{ending}")
        with pytest.raises(torsor.FileError, match=words):
            Trajectory.load(other, tmp_path / f"run.{ending}")
    with pytest.warns(UserWarning, match="other numbers of robot"):
        Trajectory.load(robot.with_gravity((0.0, 0.0, -1.6)), tmp_path / "run.npz")


def test_damaged_and_impossible_files(tmp_path):
    robot = torsor.robots.planar2r()
    run_of(robot).save(tmp_path / "run.npz")
    whole = (tmp_path / "run.npz").read_bytes()
    for k, content in enumerate((b"", b"no archive", whole[:-40], whole[: len(whole) // 2])):
        path = tmp_path / f"{k}.npz"
        path.write_bytes(content)
        with pytest.raises(torsor.FileError, match="is no file of a trajectory"):
            Trajectory.load(robot, path)
    np.savez(tmp_path / "other.npz", x=1)
    with pytest.raises(torsor.FileError, match="it has no format"):
        Trajectory.load(robot, tmp_path / "other.npz")
    np.savez(tmp_path / "part.npz", format=np.array("torsor trajectory 1"))
    with pytest.raises(torsor.FileError, match="'joints' is missing"):
        Trajectory.load(robot, tmp_path / "part.npz")
    (tmp_path / "latin.csv").write_bytes("Ellb\u00f6gen".encode("latin-1"))
    with pytest.raises(torsor.FileError, match="is no table of a trajectory"):
        Trajectory.load(robot, tmp_path / "latin.csv")
    with pytest.raises(FileNotFoundError):
        Trajectory.load(robot, tmp_path / "nothing.csv")
    with pytest.raises(torsor.FileError, match=r"Trajectory\.save: cannot write"):
        run_of(robot).save(tmp_path / "no folder" / "run.csv")
    with pytest.raises(torsor.ArgumentError, match=r"must end in \.npz, \.csv or \.parquet"):
        run_of(robot).save(tmp_path / "run.txt")
    batch = Trajectory(robot, [0.0, 1.0], np.zeros((3, 2, 2)), np.zeros((3, 2, 2)))
    with pytest.raises(torsor.ArgumentError, match=r"run\.of\(0\)"):
        batch.save(tmp_path / "batch.csv")
    batch.save(tmp_path / "batch.npz")
    assert Trajectory.load(robot, tmp_path / "batch.npz").batch == (3,)


def test_two_columns_of_one_name_are_refused(tmp_path):
    robot = chain(("a", " a"))
    wheels = Trajectory(robot, [0.0], np.zeros((1, 2)), np.zeros((1, 2)))
    wheels.save(tmp_path / "wheels.csv")  # a is in rad, the other in m
    same = chain(("a", "b", " a"))
    with pytest.raises(torsor.ArgumentError, match=r"two columns would be called ' a \[rad\]': rename"):
        Trajectory(same, [0.0], np.zeros((1, 3)), np.zeros((1, 3))).save(tmp_path / "same.csv")
