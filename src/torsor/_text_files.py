"""Files that torsor writes: where they cannot be written, in words."""

from __future__ import annotations

import os
from pathlib import Path

from torsor.errors import FileError, ModelError, printable


def path_to_write(where: str, path: str | os.PathLike[str]) -> Path:
    """A path as people give it."""
    try:
        return Path(os.fsdecode(path))
    except (TypeError, ValueError):
        raise ModelError(
            f"{where}: takes the path of a file to write, got {type(path).__name__} {path!r:.60}."
        ) from None


def write_text(where: str, path: str | os.PathLike[str], text: str) -> Path:
    """Write ``text`` as UTF-8 to ``path``, which is returned; ``where`` is the function that the user called."""
    place = path_to_write(where, path)
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(printable(f"{where}: cannot write {place}: {error.strerror or error}.")) from None
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise FileError(f"{where}: a name holds {half!r}, half of a character, which no file can hold.") from None
    except ValueError as error:  # a null character
        raise FileError(printable(f"{where}: {place} is not a path: {error}.")) from None
    return place
