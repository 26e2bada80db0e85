"""Machine code on disk: private to the user, verified before use, bounded in size, safe for several processes.

A file is a digest followed by what it is the digest of. Anything that does not verify (cut off, changed, of another kind)
is treated as absent and compiled anew; it is never run. `machine_code` loads it, or compiles and keeps it: first what is compiled
soon, which the final code replaces in memory and on disk (`tiers`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import itertools
import json
import os
import stat
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torsor.compiler.print.llvm import Module
from torsor.compiler.run import engine, tiers
from torsor.compiler.run.apart import Wanted, apart, behind

MAGIC = b"torsor-kernel-3\n"
LIMIT = 512 * 2**20  # bytes on disk before the longest unused files go
BETWEEN_TRIMS = 32  # files: to look at thousands of them takes as long as to compile one
PATIENCE = 1.0  # s, before a word on the terminal says that something is being compiled
_stored = itertools.count()


class Entry(NamedTuple):
    """The machine code of modules that belong together, and what is known about it.

    ``texts`` is what the final code is to be made of, packed, if this is a first tier.
    """

    about: dict[str, Any]
    objects: tuple[bytes, ...]
    texts: bytes = b""

    @property
    def is_whole(self) -> bool:
        """Whether there is machine code, and all of it."""
        return bool(self.objects) and all(self.objects)


def directory() -> Path | None:
    """The private cache directory, made if needed; None if there is no place that only this user can write."""
    common = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    path = Path(os.path.expanduser(os.environ.get("TORSOR_CACHE_DIR") or os.path.join(common, "torsor")))
    if path.parts[:1] and path.parts[0].startswith("~"):  # this user has no home
        return None
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return path if why_refused(path) is None else None


def why_refused(path: Path) -> str | None:
    """Why a directory cannot be trusted with machine code, or None if it can."""
    try:
        status = path.lstat()
    except OSError as error:
        return str(error)
    if not stat.S_ISDIR(status.st_mode):
        return f"{path} is not a directory"
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            return f"{path} belongs to another user"
        if status.st_mode & 0o022:
            return f"{path} can be written by others: chmod go-w {path}"
    return None if os.access(path, os.W_OK) else f"{path} cannot be written"


def load(key: str) -> Entry | None:
    """What was stored under a key, if it is there and whole."""
    path = _path(key)
    if path is None:
        return None
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    head = len(MAGIC) + 32
    if len(content) < head + 4 or content[: len(MAGIC)] != MAGIC:
        return None
    payload = content[head:]
    if not hmac.compare_digest(content[len(MAGIC) : head], _digest(key, payload)):
        return None
    size = int.from_bytes(payload[:4], "little")
    known, code = json.loads(payload[4 : 4 + size]), payload[4 + size :]
    ends = list(itertools.accumulate(known["sizes"], initial=0))
    entry = Entry(known["about"], tuple(code[a:b] for a, b in itertools.pairwise(ends)), code[ends[-1] :])
    return entry if entry.is_whole else None


def store(key: str, entry: Entry) -> None:
    """Keep an entry; without a private place, or on any disk trouble, nothing happens. To be called `apart`."""
    if not entry.is_whole:
        raise ValueError("an entry without machine code must not be kept: it would be run")
    path = _path(key)
    if path is None:
        return
    about = json.dumps({"about": entry.about, "sizes": [len(code) for code in entry.objects]}).encode()
    payload = len(about).to_bytes(4, "little") + about + b"".join(entry.objects) + entry.texts
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _digest(key, payload) + payload)
            os.replace(temporary, path)  # another process sees the old file or the new one, never half of one
        except BaseException:
            os.unlink(temporary)
            raise
        if next(_stored) % BETWEEN_TRIMS == 0:
            _trim(path.parent)


def size() -> tuple[int, int]:
    """Number of files and bytes in the cache."""
    place = directory()
    files = [] if place is None else list(place.glob("*.kernel"))
    return len(files), sum(file.stat().st_size for file in files)


def _path(key: str) -> Path | None:
    place = directory()
    return None if place is None else place / f"{hashlib.sha256(key.encode()).hexdigest()}.kernel"


def _digest(key: str, payload: bytes) -> bytes:
    """The digest of key and payload: a file renamed to stand for another kernel does not verify."""
    return hashlib.sha256(key.encode() + b"\0" + payload).digest()


def _trim(place: Path) -> None:
    files = sorted(((file.stat().st_mtime, file.stat().st_size, file) for file in place.glob("*.kernel")), reverse=True)
    total = 0
    for _, bytes_, file in files:
        total += bytes_
        if total > LIMIT:
            with contextlib.suppress(OSError):
                file.unlink()


# Loaded, or compiled and kept: whole or not at all


Source = tuple[Module, dict[str, Any]]  # what is compiled, and what is to be known of it later: its operations, say


def machine_code(key: str, names: Sequence[str], make: Callable[[], Source]) -> engine.Native:
    """The functions ``names`` of what is kept under a key for this kind of machine, or of what ``make`` gives."""
    full_key, setting = "|".join([key, *engine.host(), engine.version()]), tiers.setting()
    entry = load(full_key)
    if entry is not None and not (entry.texts and setting == "final"):
        kept = entry
        try:
            return apart(lambda _: _in_memory(full_key, names, kept))
        except engine.Unusable:
            pass  # as if it were not there
    module, about = make()
    about = {**about, "scratch": module.scratch, "functions": module.functions, "optimised": module.optimised}

    def work(wanted: Wanted) -> engine.Native:
        if setting == "final":
            entry = Entry(about, tuple(engine.objects_of(module.texts, wanted, optimised=module.optimised)))
        else:
            texts = [tiers.passing_on(module.texts[0], names), *module.texts[1:]]
            entry = Entry(about, tuple(engine.objects_of(texts, wanted, level=0)), tiers.packed(module.texts))
        found = _in_memory(full_key, names, entry)
        store(full_key, entry)
        return found

    with notice(f"torsor: compiling {about.get('operations', 0):,} operations, once for this robot"):
        return apart(work)


def code_of_words(name: str, text: str, functions: Sequence[str]) -> engine.Native:
    """The machine code of a module of `words`, whose variables LLVM's passes turn into registers."""
    return machine_code(f"{name}|{text}", functions, lambda: (Module((text,), 0, optimised=True), {}))


def _in_memory(key: str, names: Sequence[str], entry: Entry) -> engine.Native:
    """An entry in memory; if it is a first tier, the final code will be made behind it. To be called apart."""
    native = engine.loaded(entry.objects, names, entry.about["functions"], is_first_tier=bool(entry.texts))
    native.about = entry.about
    if entry.texts and tiers.setting() == "soon":
        behind(functools.partial(_finished, key, names, entry.about, entry.texts, weakref.ref(native)))
    return native


def _finished(
    key: str, names: Sequence[str], about: dict[str, Any], texts: bytes, first: weakref.ref[engine.Native]
) -> Iterator[None]:
    """Make the final code of a first tier that is still in memory, step by step, and let it take the calls over."""
    entry = load(key)  # another process may have made it
    if entry is None or entry.texts:
        objects: list[bytes] = []
        for text in tiers.unpacked(texts):
            if first() is None:
                return
            objects += engine.objects_of([text], lambda: True, optimised=about["optimised"])
            yield
        entry = Entry(about, tuple(objects))
        store(key, entry)
    if (native := first()) is not None:
        native.pass_on_to(engine.loaded(entry.objects, names, about["functions"]))
    yield


def about_kept(key: str) -> dict[str, Any] | None:
    """What is known about the machine code that is kept under a key, if there is some."""
    entry = load("|".join([key, *engine.host(), engine.version()]))
    return None if entry is None else entry.about


@contextlib.contextmanager
def notice(text: str) -> Iterator[None]:
    """Write ``text`` to the terminal if what follows is not done within a second, and wipe it out afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    shown = threading.Event()

    def show() -> None:
        shown.set()
        sys.stderr.write(f"{text} …")
        sys.stderr.flush()

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown.is_set():
            sys.stderr.write("\r" + " " * (len(text) + 2) + "\r")
            sys.stderr.flush()
