"""The site without building it, which `make docs` does: who runs the code of each page, and what the check of the site finds."""

import re
import zlib
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"gallery", "api"} & set(path.parts))
TESTED = {  # pages with code in `python` blocks, and the tests that run them; `{code-cell}` blocks are run by the build
    "README.md": "tests/interface/test_documentation.py",
    "docs/adapters.md": "tests/agreement/test_adapters_interface.py",
    "docs/arrays.md": "tests/bridges/test_page.py",
    "docs/command_line.md": "tests/interface/test_documentation.py",
    "docs/compiling.md": "tests/interface/test_documentation.py",
    "docs/derivatives.md": "tests/interface/test_documentation.py",
    "docs/geometry.md": "tests/interface/test_documentation.py",
    "docs/identification.md": "tests/interface/test_documentation.py",
    "docs/index.md": "tests/interface/test_site.py",
    "docs/modern_robotics.md": "tests/agreement/test_modern_robotics.py",
    "docs/motions.md": "tests/interface/test_documentation.py",
    "docs/notebooks/index.md": "tests/interface/test_site.py",
    "docs/optimal_control.md": "tests/interface/test_documentation.py",
    "docs/optimal_motion.md": "tests/interface/test_documentation.py",
    "docs/papers/altafini_2004.md": "tests/interface/test_documentation.py",
    "docs/papers/brockett_stokes_park_1993.md": "tests/interface/test_documentation.py",
    "docs/papers/lynch_park_chapter_9.md": "tests/interface/test_documentation.py",
    "docs/papers/park_bobrow_ploen_1995.md": "tests/interface/test_documentation.py",
    "docs/pictures.md": "tests/interface/test_documentation.py",
    "docs/simulation.md": "tests/interface/test_documentation.py",
    "docs/task_space.md": "tests/interface/test_documentation.py",
    "docs/tour.md": "tests/interface/test_documentation.py",
    "docs/translations/drake.md": "tests/interface/test_translations.py",
    "docs/translations/modern_robotics.md": "tests/interface/test_translations.py",
    "docs/translations/mujoco.md": "tests/interface/test_translations.py",
    "docs/translations/pinocchio.md": "tests/interface/test_translations.py",
    "docs/translations/robotics_toolbox.md": "tests/interface/test_translations.py",
    "docs/viewer.md": "tests/interface/test_documentation.py",
}
INSTALLS = {"README.md", "docs/index.md"}  # their shell commands set things up: `make` and pip
GOOD = '<html id="top"><a href="#top"></a><a href="b.html#here"></a><a href="https://example.org"></a></html>'


def test_every_page_with_code_is_run_by_the_build_or_by_a_test():
    found = set()
    for path in [ROOT / "README.md", *PAGES]:
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        if re.search(r"^```python", text, re.MULTILINE) or (
            re.search(r"^```sh", text, re.MULTILINE) and name not in INSTALLS
        ):
            found.add(name)
        is_notebook = text.startswith("---\nfile_format: mystnb\n")
        assert ("```{code-cell}" in text) == is_notebook, name
    assert found == set(TESTED)
    for name, test in TESTED.items():
        assert Path(name).stem in (ROOT / test).read_text(encoding="utf-8"), (name, test)


@pytest.mark.compiled
@pytest.mark.parametrize(("page", "last"), [("index.md", "J"), ("notebooks/index.md", "task")])
def test_every_line_of_the_first_pages_runs(page, last):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    seen = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), page, "exec"), seen)
    assert last in seen


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for path in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {found.resolve() for name in names for found in path.parent.glob(f"{name}.md")}
    assert {path for path in PAGES if path.resolve() not in listed} == {ROOT / "docs" / "index.md"}


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (GOOD, None),
        ('<a href="c.html"></a>', "c.html does not exist"),
        ('<a href="b.html#there"></a>', "b.html#there names a place that is not on that page"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<img src="none.png">', "none.png does not exist"),
    ],
)
def test_the_check_of_the_site_finds_links_that_lead_nowhere_and_loads_from_elsewhere(tmp_path, page, words, capsys):
    check = run_path(str(ROOT / "tools" / "check_site.py"))
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    assert check["main"](tmp_path) == (words is not None)
    assert words is None or f"a.html: {words}" in capsys.readouterr().out


def test_the_check_of_the_site_weighs_pages_with_their_pictures(tmp_path, capsys):
    check = run_path(str(ROOT / "tools" / "check_site.py"))
    (tmp_path / "a.html").write_text('<img src="a.png">')
    (tmp_path / "a.png").write_bytes(bytes(check["HEAVIEST"]))
    assert check["main"](tmp_path) == 1
    assert "a.html: 2000017 bytes, more than 2000000" in capsys.readouterr().out


def test_names_of_other_libraries_that_pages_link_to_are_in_the_lists(tmp_path):
    lists = run_path(str(ROOT / "docs" / "_extensions" / "inventories.py"))
    known = {name for *_, names in lists["NAMES"].values() for name in names}
    used = {name for path in PAGES for name in re.findall(r"\{py:\w+\}`([\w.]+)`", path.read_text(encoding="utf-8"))}
    assert {name for name in used if not name.startswith("torsor")} <= known
    pytest.importorskip("jax")
    pytest.importorskip("scipy")
    _, path = lists["write"](tmp_path)["jax"]
    head, rest = Path(path).read_bytes().split(b"zlib.\n", 1)
    assert head.startswith(b"# Sphinx inventory version 2\n")
    assert b"jax.jit py:function 1 _autosummary/jax.jit.html#jax.jit -\n" in zlib.decompress(rest)
