"""A table of a motion as text, of any length, read in blocks: its columns by name, its numbers checked, mistakes by line."""

from __future__ import annotations

import csv
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import IO, Any, NamedTuple

import numpy as np

from torsor.errors import FileError, printable
from torsor.model import Robot
from torsor.motion.sample_windows import Measured
from torsor.motion.trajectory_files import column_title, columns_of

Array = Any
BLOCK = 2**20  # bytes that are read at a time
LONGEST_LINE = 2**24
TIME = ("time", "t")
_UNIT = re.compile(r"(.*?) \[([^\[\]]*)\]\Z", re.DOTALL)


class Piece(NamedTuple):
    """Some lines: time (N,), q (N, nq), and the measured entries of v and a (N, ·)."""

    time: Array
    q: Array
    v: Array
    a: Array


@contextmanager
def opened(path: str, robot: Robot) -> Iterator[MotionTable]:
    """The table in a file, or on standard input (``-``), which is kept in a temporary file to be read twice."""
    if path == "-":
        with tempfile.TemporaryFile() as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.seek(0)
            yield MotionTable("standard input", file, robot)
    else:
        with open(path, "rb") as file:
            yield MotionTable(printable(path), file, robot)


class MotionTable:
    """The table in an open file, which is read twice; ``name`` is what messages call it."""

    def __init__(self, name: str, file: IO[bytes], robot: Robot) -> None:
        self.name, self.file, self.robot = name, file, robot
        self.names, self.delimiter, self.lines = self._header()
        self.begin = self.file.tell()
        self._find_columns()

    @property
    def size(self) -> int:
        """Bytes of numbers, if that can be known."""
        here = self.file.tell()
        end = self.file.seek(0, 2)
        self.file.seek(here)
        return max(0, end - self.begin)

    # Columns

    def _header(self) -> tuple[list[str], str, int]:
        """Names of the columns, what separates them, and how many lines that took."""
        lines, text = 0, ""
        while True:
            line = self.file.readline(LONGEST_LINE)
            lines += 1
            text += line.decode("utf-8-sig" if lines == 1 else "utf-8", "replace")
            if not line and not text.strip():
                raise self._error(None, "the table is empty; its first line names the columns: time, then joints")
            if not text.strip() or text.startswith("#"):
                text = ""
            elif text.count('"') % 2 == 0 or not line:
                break
            if len(text) > LONGEST_LINE:
                raise self._error(lines, "the line that names the columns does not end")
        delimiter = next((mark for mark in (",", ";", "\t") if mark in text), ",")
        names = [name.strip() for name in next(csv.reader([text], delimiter=delimiter, skipinitialspace=True))]
        if all(_is_number(name) for name in names):
            few = ", ".join(["time", *self.robot.structure.freedoms[:3]])
            raise self._error(lines, f"the first line must name the columns: {few}, …; here it has numbers")
        return names, delimiter, lines

    def _find_columns(self) -> None:
        wanted, freedoms = columns_of(self.robot), range(self.robot.nv)
        self.used: list[int] = []
        time = [k for k in (self._place(f"{word} [s]") for word in TIME) if k is not None]
        if not time:
            raise self._error(self.lines, f"there is no column 'time'; there are {self._all()}")
        q = [self._place(name) for name in wanted["q"]]
        missing = [name for name, k in zip(wanted["q"], q, strict=True) if k is None]
        if missing:
            bare = _UNIT.sub(r"\1", missing[0])
            near = get_close_matches(bare, [_UNIT.sub(r"\1", name) for name in self.names], n=1)
            meant = f"; did you mean {near[0]!r:.60}?" if near else f"; there are {self._all()}"
            raise self._error(self.lines, f"there is no column {bare!r:.60} of robot {self.robot.name!r:.60}{meant}")
        v, a = ([self._place(name) for name in wanted[key]] for key in ("v", "a"))
        self.measured = Measured(*(tuple(k for k in freedoms if found[k] is not None) for found in (v, a)))
        self.used = [time[0], *(k for k in (*q, *v, *a) if k is not None)]
        self.counts = np.cumsum([1, self.robot.nq, len(self.measured.v)])
        # A position beside forces of the same name is what simulations write
        known = {column_title(name) for name in wanted["tau"]}
        self.unused = [
            name for k, name in enumerate(self.names) if k not in self.used and column_title(name) not in known
        ]

    def _place(self, wanted: str) -> int | None:
        """The column of a name with its unit, or without; another unit is refused."""
        titles = [column_title(name) for name in self.names]
        bare, unit = match.groups() if (match := _UNIT.match(wanted)) else (wanted, "")
        for title in (column_title(wanted), column_title(bare)):
            if titles.count(title) > 1:
                raise self._error(self.lines, f"there are two columns {title!r:.60}")
            if title in titles:
                return titles.index(title)
        for name in self.names:
            if (found := _UNIT.match(name)) and column_title(found[1]) == column_title(bare):
                raise self._error(self.lines, f"column {name!r:.60} is in {found[2]!r:.20}; {unit!r} is expected")
        return None

    def _all(self) -> str:
        return ", ".join(repr(name)[:40] for name in self.names[:12]) + (", …" if len(self.names) > 12 else "")

    # Numbers

    def times(self, read: Callable[[float], Any]) -> Iterator[Array]:
        """The times alone, piece by piece; ``read`` is told how many bytes were read."""
        for block in self._numbers(self.used[:1], read):
            yield block[:, 0]

    def pieces(self, read: Callable[[float], Any]) -> Iterator[Piece]:
        """All that is used, piece by piece."""
        for block in self._numbers(self.used, read):
            time, q, v, a = np.split(block, self.counts, axis=-1)
            yield Piece(time[:, 0], q, v, a)

    def _numbers(self, columns: Sequence[int], read: Callable[[float], Any]) -> Iterator[Array]:
        line, last = self.lines, -np.inf
        for lines, size in _blocks(self.file, self.begin, self._error):
            if any(text.strip() for text in lines):
                block = self._parsed(lines, columns, line)
                self._check(block, columns, lines, line, last)
                last = block[-1, 0]
                yield block
            line += len(lines)
            read(size)

    def _parsed(self, lines: list[str], columns: Sequence[int], before: int) -> Array:
        try:
            return np.loadtxt(lines, delimiter=self.delimiter, usecols=columns, ndmin=2, comments=None, quotechar='"')
        except ValueError:
            pass
        for k, text in enumerate(lines):
            cells = next(csv.reader([text], delimiter=self.delimiter), [])
            if text.strip() and len(cells) <= max(columns):
                message = f"{len(cells)} columns, the first line names {len(self.names)}"
                raise self._error(before + k + 1, message)
            for column in columns if text.strip() else ():
                if not _is_number(cells[column]):
                    what = f"{cells[column]!r:.40} is no number" if cells[column].strip() else "there is no number"
                    hint = " (decimal comma?)" if "," in cells[column] else ""
                    raise self._error(before + k + 1, f"column {self.names[column]!r:.60}: {what}{hint}")
        raise self._error(before + 1, "these lines cannot be read as numbers")

    def _check(self, block: Array, columns: Sequence[int], lines: list[str], before: int, last: float) -> None:
        """Refuse numbers that are not finite and times that do not grow."""
        finite, grows = np.isfinite(block), np.diff(block[:, 0], prepend=last) > 0.0
        if finite.all() and grows.all():
            return
        row = int(np.argmin(finite.all(axis=-1) & grows))
        number = before + 1 + [k for k, text in enumerate(lines) if text.strip()][row]
        if not finite[row].all():
            column = int(np.argmin(finite[row]))
            message = f"column {self.names[columns[column]]!r:.60} is {block[row, column]}; leave such lines out"
            raise self._error(number, message)
        earlier = block[row - 1, 0] if row else last
        raise self._error(
            number, f"time must grow, but {block[row, 0]:.9g} s comes after {earlier:.9g} s; leave doubled lines out"
        )

    def _error(self, line: int | None, message: str) -> FileError:
        place = "" if line is None else f", line {line}"
        return FileError(f"{self.name}{place}: {message}{'' if message.endswith('?') else '.'}")


def _blocks(
    file: IO[bytes], begin: int, error: Callable[[int | None, str], FileError]
) -> Iterator[tuple[list[str], int]]:
    """Whole lines of a file from ``begin`` on, some at a time, and how many bytes were read for them."""
    file.seek(begin)
    rest = b""
    while block := file.read(BLOCK):
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if len(rest) > LONGEST_LINE:
            raise error(None, "a line does not end")
        if newline:
            yield whole.decode("utf-8", "replace").split("\n"), len(block)
    if rest:
        yield [rest.decode("utf-8", "replace")], 0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
