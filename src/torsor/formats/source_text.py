"""A robot file, or its text: its bytes, what messages call it, and its format, judged by what it contains."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import stat
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from torsor._lazy import everywhere
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ModelError
from torsor.formats import safe_xml
from torsor.formats.findings import Findings, unreadable

FORMATS = ("urdf", "mjcf", "json", "yaml")
UNKNOWN = "unknown"  # the format of what is no robot file
TEXT = "<text>"  # what messages call a robot that was given as text
_DESCRIPTION = re.compile(r"[A-Za-z0-9_]+_description\Z")
_BYTE_ORDERS = (b"\xff\xfe", b"\xfe\xff")
_XML_NAMES = (".urdf", ".xml", ".xacro")
_OWN_KEY = re.compile(r"(?:\A|[\r\n])[\"']?(?:torsor|joints|dh)[\"']?[ \t]*:")
_DECLARED = re.compile(r"\ufeff?<\?xml[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
# What other files begin with.
_BEGINNINGS = (
    (b"version https://git-lfs", "a pointer of Git LFS (`git lfs pull` fetches the file)"),
    (b"solid", "an STL mesh"),
    (b"ply\n", "a PLY mesh"),
    (b"glTF", "a glTF mesh"),
    (b"#usda", "a USD file"),
    (b"PXR-USDC", "a USD file"),
    (b"\x89PNG", "a picture"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a compressed file"),
)


class SourceText(NamedTuple):
    """The bytes of a file or text, what messages call it, and its format: one of `FORMATS`, or `UNKNOWN`."""

    content: bytes
    file: str
    format: str


def read_source(source: str | os.PathLike[str], format: str | None) -> SourceText:
    """What a path leads to, or a text is; ``format`` if it is not to be judged by the content."""
    if format is not None:
        refuse_unknown_word("format", format, FORMATS)
    if isinstance(source, str) and (source.lstrip("\ufeff \t\r\n")[:1] in ("<", "{") or "\n" in source):
        content = _encoded(source)
        return SourceText(content, TEXT, format or format_of(content))
    path = _path(source)
    if isinstance(source, str) and _DESCRIPTION.match(source) and not os.path.lexists(path):
        path = _path_of_description(source)
    content = _read(path)
    return SourceText(content, str(path), format or format_of(content, path.suffix.lower()))


def format_of(content: bytes, suffix: str = "") -> str:
    """The format of a file: of .json and .yaml by their names, of XML by its outermost element, else by its keys."""
    if suffix in (".json", ".yaml", ".yml"):
        return "json" if suffix == ".json" else "yaml"
    text = _decoded(content)
    if text.startswith("<") or (suffix in _XML_NAMES and "<" in text):
        return "mjcf" if safe_xml.root_tag(content) == "mujoco" else "urdf"
    if text.startswith("{"):
        return "json"
    return "yaml" if _OWN_KEY.search(text) else UNKNOWN


def report_unknown(content: bytes, report: Findings) -> None:
    """Say that a file is no robot, and what it seems to be."""
    if not content.strip():
        report.add("not-a-robot", None, "", "the file is empty")
        return
    what = next((what for start, what in _BEGINNINGS if content.startswith(start)), "") or _guess(content)
    seems = f"; it seems to be {what}" if what else ""
    report.add("not-a-robot", None, "", f"the file is neither XML nor JSON, and has no `torsor: 1`{seems}")


def _guess(content: bytes) -> str:
    """What a file is that does not say so in its first bytes; "" if that is not clear."""
    if len(content) >= 84 and len(content) == 84 + 50 * int.from_bytes(content[80:84], "little"):
        return "an STL mesh"
    if b"\0" in content:
        return "a binary file"
    if re.search(rb"(?m)^v +[-0-9.]+ +[-0-9.]+ +[-0-9.]+", content):
        return "an OBJ mesh"
    commas = [line.count(b",") for line in content.split(b"\n", 20)[:20] if line.strip()]
    return "a table of numbers (CSV)" if len(commas) > 1 and commas[0] > 0 and len(set(commas)) == 1 else ""


def _decoded(content: bytes) -> str:
    """The text as XML parsers find its encoding, without what stands before its first character."""
    if content[:2] in _BYTE_ORDERS:
        encoding = "utf-16"
    elif content[:2] == b"<\0":
        encoding = "utf-16-le"
    else:
        encoding = "utf-16-be" if content[:2] == b"\0<" else "utf-8-sig"
    return content.decode(encoding, "replace").lstrip()


def _encoded(text: str) -> bytes:
    """A text as the file it was, in the encoding that it declares."""
    declared = _DECLARED.match(text)
    encoding = "utf-8" if declared is None else declared[1]
    try:
        return text.encode(encoding)
    except LookupError:  # the parser says that there is no such encoding
        return text.encode("utf-8", "replace")
    except UnicodeEncodeError as error:
        character = text[error.start]
        if "\ud800" <= character <= "\udfff":
            message = f"the text holds half of a character ({character!r}, a lone surrogate) at place {error.start}"
            raise unreadable(TEXT, message, "Read the file in its own encoding, or pass its path.") from None
        message = f"the text declares the encoding {encoding!r}, which has no {character!r}"
        raise unreadable(TEXT, message, 'Declare encoding="utf-8", or none.') from None
    except UnicodeError as error:
        raise unreadable(
            TEXT, f"the text has no form in its encoding {encoding!r}: {error}", safe_xml.SAVE_AS_UTF_8
        ) from None


def _path(source: str | os.PathLike[str]) -> Path:
    try:
        if isinstance(source, (str, os.PathLike)) and (name := os.fsdecode(source)):
            return Path(name)
    except (TypeError, ValueError):
        pass  # a path that gives neither a text nor bytes
    got = "an empty one" if source == "" else f"{type(source).__name__} {source!r:.60}"
    raise ModelError(f"takes a path, or the text of a robot file, got {got}.")


def _path_of_description(name: str) -> Path:
    """The file of a robot of the package robot_descriptions, which clones its repository on first use, and says so."""
    try:
        package = importlib.import_module("robot_descriptions")
    except ImportError:
        message = (
            "no such file; robots of robot_descriptions are known by such names, but that package is not installed"
        )
        raise unreadable(name, message, "Check the path, or install it: pip install robot_descriptions.") from None
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"robot_descriptions.{name}":
            raise unreadable(name, f"robot_descriptions needs {error.name!r}", "Install it, too.") from None
        known = sorted(found.name for found in pkgutil.iter_modules(getattr(package, "__path__", [])))
        near = get_close_matches(name, [word for word in known if word.endswith("_description")], n=3)
        meant = f"; nearest: {', '.join(map(repr, near))}" if near else ""
        message = f"no such file, and the installed robot_descriptions has no robot of this name{meant}"
        raise unreadable(name, message, "Check the name: `robot_descriptions list` shows all.") from None
    except Exception as error:  # whatever fetching a repository fails with: no network, no git, a full disk
        message = f"robot_descriptions cannot fetch it: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise unreadable(
            name, message, "It clones a repository on first use, which takes git and a network."
        ) from error
    found = getattr(module, "URDF_PATH", None) or getattr(module, "MJCF_PATH", None)
    if found is None:
        message = "robot_descriptions has it as a template (xacro), not as a URDF or MJCF"
        raise unreadable(name, message, "Expand it: xacro robot.urdf.xacro > robot.urdf, and load that.", "xacro")
    return Path(found)


def _read(path: Path) -> bytes:
    check, content = "Check the path.", b""
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                content = file.read(safe_xml.MOST_BYTES + 1)
    except OSError as error:
        found = error.strerror or str(error)
        if isinstance(error, FileNotFoundError) and path.is_symlink():
            found, check = f"it is a link to {os.readlink(path)!r}, which does not exist", "Correct the link."
        elif isinstance(error, FileNotFoundError) and f"torsor.robots.{path}" in everywhere().get(str(path), ()):
            check = f"torsor's own robot of this name is torsor.robots.{path}()."
        raise unreadable(str(path), f"cannot be read: {found}", check) from None
    except ValueError as error:  # a null character
        raise unreadable(str(path), f"is not a path: {error}", check) from None
    if not stat.S_ISREG(mode):
        found = "is a directory" if stat.S_ISDIR(mode) else "is not a file"
        raise unreadable(str(path), f"cannot be read: {found}", "Pass the path of a file.")
    if len(content) > safe_xml.MOST_BYTES:
        message = f"the file is larger than {safe_xml.MOST_BYTES:,} bytes, which no robot needs"
        raise unreadable(str(path), message, "Pass the robot's own file.", "file-too-large")
    return content
