"""Trajectories in files: npz with everything, tables (csv, parquet, pandas) of one trajectory with names and units."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Sequence
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
PARQUET = "parquet files need pyarrow: pip install pyarrow."
TIME = "time [s]"
WRENCH_UNITS = ("N·m", "N·m", "N·m", "N", "N", "N")
_WRENCH = re.compile(r"(.*)\.wrench\[\d\] \[[^\]]*\]", re.DOTALL)
_FORMULA = ("=", "+", "-", "@")  # what spreadsheets evaluate; an apostrophe before it makes it text
TOGETHER = 10_000  # rows of a table that are written at a time


def save(run: Trajectory, path: str | PathLike[str]) -> None:
    """Write in the format that the ending says."""
    target = path_to_write("Trajectory.save", path)
    writers = {".npz": _save_npz, ".csv": _save_csv, ".parquet": _save_parquet}
    if target.suffix.lower() not in writers:
        raise ArgumentError(f"`path` must end in .npz, .csv or .parquet, got {str(path)!r:.80}.")
    try:
        writers[target.suffix.lower()](run, target)
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror or error}.") from None


def load(robot: Robot, path: str | PathLike[str]) -> Trajectory:
    """Read what `save` wrote."""
    readers = {".npz": _load_npz, ".csv": _load_csv, ".parquet": _load_parquet}
    ending = Path(path).suffix.lower()
    if ending not in readers:
        raise ArgumentError(f"`path` must end in .npz, .csv or .parquet, got {str(path)!r:.80}.")
    return readers[ending](Path(path), robot)


def to_dataframe(run: Trajectory) -> Any:
    """See `torsor.Trajectory.to_dataframe`."""
    pandas = needed("pandas", "to_dataframe needs pandas: pip install pandas.")
    names, columns = _table(run)
    return pandas.DataFrame(columns, columns=names)


# Everything, in one file of NumPy


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
    path.write_bytes(buffer.getbuffer())


def _load_npz(path: Path, robot: Robot) -> Trajectory:
    try:
        with open(path, "rb") as content, np.load(content, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (ValueError, OSError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FileError(f"{path} is no file of a trajectory: {error}.") from None
    if str(found.get("format")) != FORMAT:
        raise FileError(f"{path} is no file of a trajectory: it has no format {FORMAT!r}.")
    try:
        return _of_arrays(path, robot, found)
    except KeyError as error:
        raise FileError(f"{path} is no whole file of a trajectory: {error} is missing.") from None


def _of_arrays(path: Path, robot: Robot, found: dict[str, Array]) -> Trajectory:
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
    return Trajectory(
        robot,
        **{name: found[name] for name in ("time", "q", "v", "a", "tau")},
        wrenches={frame: found[f"wrench_{k}"] for k, frame in enumerate(found["frames"].tolist())},
        work=Work(*np.moveaxis(found["work"], -1, 0)) if "work" in found else None,
        notes=tuple(found["notes"].tolist()),
        interrupted=bool(found["interrupted"]),
    )


# Tables


def columns_of(robot: Robot) -> dict[str, list[str]]:
    """Names of the columns of q, v, a and tau, with units; as in a log, q has the joint's name alone."""
    columns: dict[str, list[str]] = {"q": [], "v": [], "a": [], "tau": []}
    force = {"rad": "N·m", "m": "N"}
    for c, kind in robot.structure.blocks:
        for name, units in (
            ("", kind.q_units),
            (".v", [f"{unit}/s" for unit in kind.v_units]),
            (".a", [f"{unit}/s²" for unit in kind.v_units]),
            (".tau", [force[unit] for unit in kind.v_units]),
        ):
            places = [""] if c.nq == 1 else [f"[{k}]" for k in range(len(units))]
            columns[name[1:] or "q"] += [f"{c.name}{name}{k} [{unit}]" for k, unit in zip(places, units, strict=True)]
    return columns


def column_title(name: str) -> str:
    """A column's name in a table that others open: nothing that a terminal obeys or a spreadsheet takes for a formula."""
    plain = printable(name.strip())
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def _wrench_columns(frame: str) -> list[str]:
    return [f"{frame}.wrench[{k}] [{unit}]" for k, unit in enumerate(WRENCH_UNITS)]


def _table(run: Trajectory) -> tuple[list[str], Array]:
    """Names of columns, and the numbers (N, columns)."""
    if run.batch:
        raise ArgumentError(f"a table holds one trajectory; choose one of the batch {run.batch}, such as run.of(0).")
    names = [TIME, *(name for group in columns_of(run.robot).values() for name in group)]
    numbers = [run.time[:, None], run.q, run.v, run.a, run.tau]
    for frame, wrench in run.wrenches.items():
        names += _wrench_columns(frame)
        numbers.append(wrench)
    if (twice := _twice(names)) is not None:
        raise ArgumentError(f"two columns would be called {twice!r}: rename the joints or frames, or save as .npz.")
    return names, np.concatenate(numbers, axis=-1)


def _twice(names: Sequence[str]) -> str | None:
    """The first name whose title is there twice."""
    seen = set[str]()
    for name in names:
        if column_title(name) in seen:
            return name
        seen.add(column_title(name))
    return None


def _of_table(path: Path, robot: Robot, names: Sequence[str], numbers: Array) -> Trajectory:
    """The trajectory; accelerations or joint forces may be missing as a whole, since each follows from the other."""
    places, wanted = {column_title(name): k for k, name in enumerate(names)}, columns_of(robot)
    if (twice := _twice(names)) is not None:
        raise FileError(f"{path}: there are two columns {twice!r}.")
    absent = {key for key in ("a", "tau") if not any(column_title(name) in places for name in wanted[key])}
    if len(absent) == 2 or not robot.nv:
        absent = set()
    own = {column_title(frame): frame for frame in robot.frames}
    frames = dict.fromkeys(found[1] for name in places if (found := _WRENCH.fullmatch(name)))
    needed_names = [TIME, *(name for key, group in wanted.items() if key not in absent for name in group)]
    needed_names += [name for frame in frames for name in _wrench_columns(frame)]
    missing = [name for name in needed_names if column_title(name) not in places]
    if missing:
        raise FileError(
            f"{path}: there is no column {missing[0]!r} for robot {robot.name!r}; the file has {', '.join(names)[:200]}."
        )

    def columns(group: list[str]) -> Array:
        return numbers[:, [places[column_title(name)] for name in group]]

    try:
        return Trajectory(
            robot,
            numbers[:, places[TIME]],
            **{key: columns(group) for key, group in wanted.items() if key not in absent},
            wrenches={own.get(frame, frame): columns(_wrench_columns(frame)) for frame in frames},
        )
    except ArgumentError as error:
        raise FileError(f"{path}: {error}") from None


def _save_csv(run: Trajectory, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_csv(run, file)


def write_csv(run: Trajectory, file: IO[str]) -> None:
    """The table as text."""
    names, numbers = _table(run)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(column_title, names))
    for start in range(0, len(numbers), TOGETHER):
        writer.writerows([map(repr, row) for row in numbers[start : start + TOGETHER].tolist()])


def _load_csv(path: Path, robot: Robot) -> Trajectory:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # some programs put a mark before the first name
            reader = csv.reader(file)
            names = next(reader, [])
            rows = [_row(path, reader.line_num, row, len(names)) for row in reader if any(x.strip() for x in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} is no table of a trajectory: {error}.") from None
    if not rows:
        raise FileError(f"{path}: a table of a trajectory has a line of names and at least one of numbers.")
    return _of_table(path, robot, names, np.array(rows))


def _row(path: Path, line: int, row: list[str], count: int) -> Array:
    """The numbers of a line; an empty place is NaN."""
    if len(row) != count:
        raise FileError(f"{path}, line {line}: there are {len(row)} numbers for {count} columns.")
    try:
        return np.array([float(x) if x.strip() else np.nan for x in row])
    except ValueError as error:
        raise FileError(f"{path}, line {line}: {error}.") from None


def _save_parquet(run: Trajectory, path: Path) -> None:
    parquet = needed("pyarrow.parquet", PARQUET)
    names, numbers = _table(run)
    table = needed("pyarrow", PARQUET).table([np.ascontiguousarray(column) for column in numbers.T], names=names)
    parquet.write_table(table, path)


def _load_parquet(path: Path, robot: Robot) -> Trajectory:
    parquet = needed("pyarrow.parquet", PARQUET)
    try:
        table = parquet.read_table(path)
        columns = [np.asarray(column.to_numpy(zero_copy_only=False), float) for column in table.columns]
    except FileNotFoundError:
        raise
    except (ValueError, TypeError, OSError) as error:
        raise FileError(f"{path} is no table of a trajectory: {error}.") from None
    if not table.num_rows:
        raise FileError(f"{path}: a table of a trajectory has at least one row of numbers.")
    return _of_table(path, robot, table.column_names, np.stack(columns, axis=-1))
