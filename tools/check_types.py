"""Check torsor's types as its users see them: with mypy, and with pyright where it is installed.

    python tools/check_types.py

All code of README.md, of the pages in docs and of the examples must pass: mypy's strict mode, except that functions of one's own
may have no annotations, and pyright's standard mode. In ``planted_mistakes.py`` exactly the lines marked as mistakes must be
found. Last, mypy's strict mode looks at the sources behind generated stubs, in whose place it reads the stubs otherwise.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PLANTED = ROOT / "tools" / "planted_mistakes.py"
MISTAKE = "# mistake"
# Libraries whose types are missing or not those of their functions
WITHOUT_TYPES = {"modern_robotics", "mujoco", "pinocchio", "pydrake", "roboticstoolbox", "spatialmath"}
ELSEWHERE = {"casadi", "dask", "pint", "torch", "unyt", "xarray"}  # libraries that `make test-bridges` installs
LENIENT = ("--allow-untyped-defs", "--allow-incomplete-defs", "--allow-untyped-calls", "--allow-untyped-decorators")


class Found(NamedTuple):
    """What a type checker says of a line of a file."""

    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


def pages() -> dict[str, str]:
    """The code of each page, every line where it is on the page, and the examples: all by their place."""
    texts = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        lines, fence = [], ""
        for line in path.read_text(encoding="utf-8").splitlines():
            is_fence = line.startswith("```")
            lines.append(line if fence == "```python" and not is_fence else "")
            fence = "" if is_fence and fence else line if is_fence else fence
        if any(lines):
            texts[str(path.relative_to(ROOT))] = "\n".join([*lines, ""])
    for path in [*sorted((ROOT / "examples").glob("*.py")), PLANTED]:
        texts[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    return texts


def write_modules(texts: dict[str, str], folder: Path) -> dict[str, str]:
    """A module for each text, and empty types of libraries without; gives the places by the names of the modules' files."""
    places = {}
    for place, text in texts.items():
        name = "page_" + re.sub(r"\W", "_", place.rpartition(".")[0]) + ".py"
        (folder / name).write_text(text, encoding="utf-8")
        places[name] = place
        for module in _imported(text):
            if module.partition(".")[0] in WITHOUT_TYPES | ELSEWHERE:
                package = folder.joinpath("typings", *module.split("."))
                for part in (package, *package.parents):
                    if folder / "typings" not in part.parents:
                        break
                    part.mkdir(parents=True, exist_ok=True)
                    (part / "__init__.pyi").write_text(
                        "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n", encoding="utf-8"
                    )
    return places


def _imported(text: str) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return modules


def by_mypy(folder: Path, places: dict[str, str]) -> list[Found]:
    """What mypy says of the modules in a folder; errors within torsor are not shown, as if it were installed."""
    cache = ROOT / ".mypy_cache" / "users"
    options = ["--strict", *LENIENT, "--follow-imports=silent", "--config-file=", f"--cache-dir={cache}"]
    return _mypy([*options, "--no-error-summary", *places], folder, [folder / "typings", ROOT / "src"], places)


def behind_stubs() -> list[Found]:
    """What mypy says of the sources beside which there are stubs with types, not lists of names."""
    stubs = [path for path in (ROOT / "src").rglob("*.pyi") if "tools/write_stubs.py" in path.read_text("utf-8")]
    sources = [str(path.with_suffix(".py").relative_to(ROOT)) for path in stubs]
    options = ["--follow-imports=silent", f"--cache-dir={ROOT / '.mypy_cache' / 'sources'}", "--no-error-summary"]
    return _mypy([*options, "--config-file=pyproject.toml", *sources], ROOT, [], {})


def _mypy(arguments: list[str], folder: Path, path: list[Path], places: dict[str, str]) -> list[Found]:
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, path))}
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if run.returncode not in (0, 1) or run.stderr:
        sys.exit(f"mypy did not run:\n{run.stdout}{run.stderr}")
    lines = re.findall(r"^(.+?):(\d+): error: (.*)$", run.stdout, re.MULTILINE)
    return [Found(places.get(file, file), int(line), words) for file, line, words in lines]


def by_pyright(folder: Path, places: dict[str, str]) -> list[Found] | None:
    """What pyright says of the modules in a folder; None if it is not installed."""
    if find_spec("pyright") is None:
        return None
    settings = {"include": sorted(places), "extraPaths": [str(ROOT / "src")], "stubPath": "typings"}
    (folder / "pyrightconfig.json").write_text(json.dumps({**settings, "typeCheckingMode": "standard"}), "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=folder,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        capture_output=True,
        text=True,
    )
    if run.returncode not in (0, 1):
        sys.exit(f"pyright did not run:\n{run.stdout}{run.stderr}")
    return [
        Found(places[Path(said["file"]).name], said["range"]["start"]["line"] + 1, said["message"].replace("\n", " "))
        for said in json.loads(run.stdout)["generalDiagnostics"]
        if said["severity"] == "error"
    ]


def report(checker: str, found: list[Found], texts: dict[str, str]) -> bool:
    """Print what is wrong with what was found; whether nothing is."""
    planted = str(PLANTED.relative_to(ROOT))
    marked = {k for k, line in enumerate(texts[planted].splitlines(), 1) if MISTAKE in line}
    missed = marked - {said.line for said in found if said.file == planted}
    false = [said for said in found if not (said.file == planted and said.line in marked)]
    for said in false:
        print(f"{checker}: {said}")
    for line in sorted(missed):
        print(
            f"{checker}: {planted}:{line}: this mistake is not found: {texts[planted].splitlines()[line - 1].strip()}"
        )
    print(
        f"{checker}: {len(texts) - 1} pages and examples, {len(false)} errors; {len(marked) - len(missed)} of ", end=""
    )
    print(f"{len(marked)} planted mistakes found")
    return not false and not missed


def main() -> int:
    """All three; 0 if nothing is wrong."""
    texts = pages()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        places = write_modules(texts, folder)
        good = report("mypy", by_mypy(folder, places), texts)
        if (found := by_pyright(folder, places)) is None:
            print("pyright: SKIPPED, it is not installed: pip install 'pyright[nodejs]'")
        else:
            good &= report("pyright", found, texts)
    behind = behind_stubs()
    print(*(f"mypy: {said}" for said in behind), f"mypy: {len(behind)} errors in the sources behind stubs", sep="\n")
    return 0 if good and not behind else 1


if __name__ == "__main__":
    sys.exit(main())
