"""What people install: the wheel in an empty environment, the source distribution, the index page, extras, citation."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml

from torsor.cli import doctor

pytestmark = pytest.mark.compiled  # as users run it
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {name: set(lines) for name, lines in PROJECT["optional-dependencies"].items()}
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "docs" / "tour.md").read_text()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the source distribution, by the build system itself: no package index is asked."""
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(place.glob("*.whl")), next(place.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """An environment with the wheel, NumPy and llvmlite alone, the last two linked from the one that runs the tests."""
    place = tmp_path_factory.mktemp("empty")
    venv.create(place, with_pip=False, symlinks=True)
    packages = next(place.glob("lib/python*/site-packages"))
    for name in ("numpy", "llvmlite"):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files} - {".."}:
            (packages / top).symlink_to(found.locate_file(top), target_is_directory=True)
    # It fails if the wheel needs anything that is not linked: no index is asked.
    command = [sys.executable, "-m", "pip", "--python", str(place), "install", "-q", "--no-index", str(built[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / "bin"


def core_of_the_readme():
    """The Python code of the README and of the tour, without what they say to need an extra."""
    blocks = re.findall(r"```python\n(.*?)```", README + TOUR, re.DOTALL)
    extras = ("import jax", "torsor.symbolic")  # blocks of these need torsor[jax] and torsor[sympy]
    lines = "\n".join(block for block in blocks if not any(word in block for word in extras)).splitlines()
    return [line for line in lines if not re.search(r"\(torsor\[\w+\]\)$", line)]


def test_the_core_of_the_readme_runs_in_an_empty_environment(installed, tmp_path):
    code = core_of_the_readme()
    assert len(code) > 60
    code += [
        "import json, sys",
        "tops = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names",
        "print(json.dumps([torsor.__file__, sorted(tops), bool(np.allclose(a_again, a)), list(path['q'].shape)]))",
    ]
    (tmp_path / "readme.py").write_text("\n".join(code))
    command = [str(installed / "python"), "-I", "-W", "error", "readme.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    where, modules, inverse, shape = json.loads(done.stdout.splitlines()[-1])
    assert Path(where).is_relative_to(installed.parent)
    modules = {name for name in modules if not name.startswith("_")} - {"cython_runtime"}  # made by NumPy's own code
    assert modules == {"llvmlite", "numpy", "torsor"}
    assert inverse
    assert shape == [1000, 10, 7]


def test_the_command_tells_what_an_empty_environment_lacks(installed):
    done = subprocess.run([str(installed / "torsor"), "doctor"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for _, _, _, package in doctor.OPTIONAL:
        assert f"pip install '{package}')" in done.stdout


def test_the_wheel_is_pure_python_and_light(built):
    wheel, _ = built
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < 2 * 2**20  # two megabytes
    names = zipfile.ZipFile(wheel).namelist()
    assert "torsor/py.typed" in names
    assert {Path(name).suffix for name in names if name.startswith("torsor/")} <= {
        ".py",
        ".pyi",
        ".typed",
        ".html",
        ".js",
    }
    assert {"torsor/viewer/player.html", "torsor/viewer/player.js"} <= set(names)


def test_the_source_distribution_has_all_that_the_project_has(built):
    _, archive = built
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and (ROOT / ".git").exists():
        tracked = set(done.stdout.splitlines())
    else:  # in an unpacked source distribution: that it gives itself again
        here = [path.relative_to(ROOT) for name in os.listdir(ROOT) for path in every_file(ROOT / name)]
        tracked = {path.as_posix() for path in here}
    assert len(tracked) > 500
    assert names - {"PKG-INFO"} >= tracked - {"PKG-INFO"}


def every_file(place):
    """But what commands leave behind."""
    left = re.findall(r"^(.+)/$", (ROOT / ".gitignore").read_text(), re.MULTILINE)
    if any(place.match(pattern) for pattern in left):
        return []
    return [place] if place.is_file() else [file for inner in place.iterdir() for file in every_file(inner)]


def test_the_index_page_has_absolute_links_and_the_code_of_the_readme(built):
    metadata = message_from_bytes(
        zipfile.ZipFile(built[0]).read(f"{'-'.join(built[0].name.split('-')[:2])}.dist-info/METADATA")
    )
    page, here = metadata.get_payload(decode=True).decode(), PROJECT["urls"]["Repository"]
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]*)\)", re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    assert len(links) > 15
    for picture, link in links:
        assert link.startswith(f"{here}/{'raw' if picture else 'blob'}/main/")
        assert (ROOT / link.split("/main/")[1]).exists(), link
    assert re.findall(r"```.*?```", page, re.DOTALL) == re.findall(r"```.*?```", README, re.DOTALL)


def test_the_address_of_the_repository_is_written_once():
    address = PROJECT["urls"]["Repository"].removeprefix("https://")
    folders = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
    files = [*ROOT.glob("*.*"), ROOT / "Makefile", *(file for name in folders for file in every_file(ROOT / name))]
    texts = [file for file in files if file.suffix in {"", ".py", ".md", ".toml", ".cff"} and file.is_file()]
    assert [file.name for file in texts if address in file.read_text()] == ["pyproject.toml"]


# Large libraries that are of no use without their arrays: who has these has installed them
BROUGHT_ALONG = {"casadi", "dask", "torch", "xarray", "video"}


def test_every_extra_is_in_all_in_the_readme_and_known_to_the_doctor():
    names = set(EXTRAS) - {"all", "docs", "test"}
    assert EXTRAS["all"] == {f"torsor[{','.join(sorted(names - BROUGHT_ALONG))}]"}
    assert "torsor[all,dask,video]" in EXTRAS["test"]
    assert set(re.findall(r"^\| `(\w+)` \|", TOUR, re.MULTILINE)) == names
    known = {(package, name) for name, _, _, package in doctor.OPTIONAL if package.startswith("torsor[")}
    assert {package for package, _ in known} == {f"torsor[{name}]" for name in names}
    for package, library in known:
        assert any(line.startswith(f"{library}>=") for line in EXTRAS[package[7:-1]])


def test_the_extras_that_messages_and_examples_name_exist():
    texts = [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").glob("*.py"), *(ROOT / "docs").rglob("*.md")]
    for path in [*texts, ROOT / "README.md"]:
        for given in re.findall(r"torsor\[([a-z,]+)\]", path.read_text()):
            assert set(given.split(",")) <= set(EXTRAS), path


def test_every_requirement_has_a_minimum_that_make_minimum_can_install():
    command = [sys.executable, str(ROOT / ".ci" / "minimum_versions.py")]
    lowest = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    asked = {
        *PROJECT["dependencies"],
        *(line for name in EXTRAS for line in EXTRAS[name] if name not in ("all", "docs", "test")),
    }
    assert set(lowest) == {line.replace(">=", "==") for line in asked}
    assert all(re.fullmatch(r"[a-z-]+==[0-9.]+", line) for line in lowest)


def test_the_citation_names_the_project_and_papers_of_the_list_of_references():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == PROJECT["license"]
    listed = (ROOT / "docs" / "references.md").read_text()
    assert len(citation["references"]) == 5
    for paper in citation["references"]:
        row = next(row for row in listed.splitlines() if f'"{paper["title"]}"' in row)
        assert str(paper["year"]) in row
        assert all(f"{author['given-names']} {author['family-names']}" in row for author in paper["authors"])
