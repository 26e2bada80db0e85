"""Trajectories in files: npz with everything, tables (csv, parquet, pandas) of one trajectory with names and units."""

from __future__ import annotations

import csv
import io
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from torsor._text_files import path_to_write
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, FileError, needed, printable, warn_of_model
from torsor.model import Robot
from torsor.motion.trajectory import Trajectory, Work

FORMAT = "torsor trajectory 1"
_FORMULA = ("=", "+", "-", "@")  # what spreadsheets evaluate; an apostrophe before it makes it text


def save(run: Trajectory, path: str | PathLike[str]) -> None:
    """Write in the format that the ending says."""
    target = path_to_write("Trajectory.save", path)
    ending = Path(target).suffix.lower()
    if ending == ".npz":
        _save_npz(run, target)
    elif ending == ".csv":
        _save_csv(run, target)
    elif ending == ".parquet":
        needed("pyarrow", "parquet files need pyarrow: pip install pyarrow.")
        to_dataframe(run).to_parquet(target)
    else:
        raise ArgumentError(f"`path` must end in .npz, .csv or .parquet, got {str(path)!r:.80}.")


def load(robot: Robot, path: str | PathLike[str]) -> Trajectory:
    """Read what `save` wrote."""
    ending = Path(path).suffix.lower()
    if ending == ".npz":
        return _load_npz(path, robot)
    if ending == ".csv":
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        if len(rows) < 2:
            raise FileError(f"{path}: a table of a trajectory has a line of names and at least one of numbers.")
        try:
            numbers = np.array([[float(x) if x else np.nan for x in row] for row in rows[1:]])
        except ValueError as error:
            raise FileError(f"{path}: {error}.") from None
        return _from_table(path, robot, rows[0], numbers)
    if ending == ".parquet":
        pandas = needed("pandas", "parquet files need pandas and pyarrow: pip install pandas pyarrow.")
        table = pandas.read_parquet(path)
        return _from_table(path, robot, list(table.columns), table.to_numpy(float))
    raise ArgumentError(f"`path` must end in .npz, .csv or .parquet, got {str(path)!r:.80}.")


def to_dataframe(run: Trajectory) -> Any:
    """See `torsor.Trajectory.to_dataframe`."""
    pandas = needed("pandas", "to_dataframe needs pandas: pip install pandas.")
    names, columns = _table(run)
    return pandas.DataFrame(columns, columns=names)


def _save_npz(run: Trajectory, path: Path) -> None:
    arrays: dict[str, Array] = {name: getattr(run, name) for name in ("time", "q", "v", "a", "tau")}
    arrays |= {f"wrench_{k}": x for k, x in enumerate(run.wrenches.values())}
    if run.work is not None:
        arrays["work"] = np.stack(list(run.work), axis=-1)
    words = {
        "format": FORMAT,
        "robot": run.robot.name,
        "digest": run.robot.digest,
        "joints": list(run.robot.structure.freedoms),
        "frames": list(run.wrenches),
        "notes": list(run.notes),
    }
    arrays |= {name: np.array(value, dtype=str) for name, value in words.items()}
    arrays["interrupted"] = np.array(run.interrupted)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    Path(path).write_bytes(buffer.getvalue())


def _load_npz(path: str | PathLike[str], robot: Robot) -> Trajectory:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (ValueError, OSError, KeyError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FileError(f"{path} is no file of a trajectory: {error}.") from None
    if str(found.get("format")) != FORMAT:
        raise FileError(f"{path} is no file of a trajectory: it has no format {FORMAT!r}.")
    joints = found["joints"].tolist()
    if joints != list(robot.structure.freedoms):
        raise FileError(
            f"{path} is of robot {str(found['robot'])!r} with joints {', '.join(joints)}; robot {robot.name!r} has "
            f"{', '.join(robot.structure.freedoms)}."
        )
    if str(found["digest"]) != robot.digest:
        warn_of_model(
            f"{path} was saved with other numbers of robot {str(found['robot'])!r} than {robot.name!r} has: energies and "
            f"forces may differ."
        )
    work = Work(*np.moveaxis(found["work"], -1, 0)) if "work" in found else None
    frames = found["frames"].tolist()
    return Trajectory(
        robot,
        found["time"],
        found["q"],
        found["v"],
        found["a"],
        found["tau"],
        {frame: found[f"wrench_{k}"] for k, frame in enumerate(frames)},
        work,
        tuple(found["notes"].tolist()),
        bool(found["interrupted"]),
    )


def columns_of(robot: Robot) -> dict[str, list[str]]:
    """Names of the columns of q, v, a and tau, with units; as in a log, q has the joint's name alone."""
    s, columns = robot.structure, {"q": list[str](), "v": list[str](), "a": list[str](), "tau": list[str]()}
    for c, kind in s.blocks:
        slides = kind.has_screw and not kind.turns_about_axis
        length, force = ("m", "N") if slides else ("rad", "N·m")
        plain = c.nq == c.nv == 1
        columns["q"] += [f"{c.name} [{length}]"] if plain else [f"{c.name}[{k}]" for k in range(c.nq)]
        for name, unit in (("v", f"{length}/s"), ("a", f"{length}/s²"), ("tau", force)):
            columns[name] += [f"{c.name}.{name} [{unit}]"] if plain else [f"{c.name}.{name}[{k}]" for k in range(c.nv)]
    return columns


def column_title(name: str) -> str:
    """A column's name in a table that others open: nothing that a terminal obeys or a spreadsheet takes for a formula."""
    plain = printable(name)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def _table(run: Trajectory) -> tuple[list[str], Array]:
    if run.batch:
        raise ArgumentError(f"a table holds one trajectory; choose one of the batch {run.batch}, such as run.of(0).")
    columns = columns_of(run.robot)
    names = ["time [s]", *(name for group in columns.values() for name in group)]
    numbers = [run.time[:, None], run.q, run.v, run.a, run.tau]
    for frame, wrench in run.wrenches.items():
        names += [f"{frame}.wrench[{k}]" for k in range(6)]
        numbers.append(wrench)
    return names, np.concatenate(numbers, axis=-1)


def _save_csv(run: Trajectory, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_csv(run, file)


def write_csv(run: Trajectory, file: IO[str]) -> None:
    """The table as text."""
    names, numbers = _table(run)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(column_title, names))
    writer.writerows([[repr(x) for x in row] for row in numbers.tolist()])


def _from_table(path: Any, robot: Robot, names: list[str], numbers: Array) -> Trajectory:
    places = {column_title(name.strip()): k for k, name in enumerate(names)}

    def columns(wanted: list[str]) -> Array:
        titles = [column_title(name.strip()) for name in wanted]
        for name, title in zip(wanted, titles, strict=True):
            if title not in places:
                raise FileError(
                    f"{path}: there is no column {name!r} for robot {robot.name!r}; it has {', '.join(names)[:200]}."
                )
        return numbers[:, [places[title] for title in titles]]

    found = {key: columns(group) for key, group in columns_of(robot).items()}
    pushes = {
        frame: columns([f"{frame}.wrench[{k}]" for k in range(6)])
        for frame in robot.frames
        if column_title(f"{frame}.wrench[0]") in places
    }
    return Trajectory(robot, columns(["time [s]"])[:, 0], **found, wrenches=pushes)
