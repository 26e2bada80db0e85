"""What the documentation shows is what happens: README, examples, conventions."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from test_urdf_rules import BROKEN, GOOD

import torsor
from torsor._lazy import everywhere
from torsor.cli import main as command_line
from torsor.compiler.traced_array import FUNCTIONS, MAKERS

NAMES = everywhere()  # public ones, of all namespaces
pytestmark = pytest.mark.compiled  # as users run them
ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOT_IN_PYTHON = {"ComputeRNEASecondOrderDerivatives", "data"}  # of Pinocchio


def test_every_line_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "README.md", "exec"), seen)
    np.testing.assert_allclose(seen["a_again"], seen["a"], rtol=1e-10)
    assert seen["taus"].shape == (1000, 7)
    assert seen["tau"].shape == (1000, 7)
    assert seen["report"]
    assert (ROOT / "README.md").read_text().count("\n") <= 150


def test_every_line_of_the_tour_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tour.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "tour.md", "exec"), seen)
    assert seen["dtau_dv"].shape == (7, 7)
    assert np.isfinite(seen["dT_dm"])
    assert seen["path"]["q"].shape == (1000, 10, 7)


def test_every_line_of_the_page_on_geometry_runs():
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "geometry.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "geometry.md", "exec"), seen)
    assert seen["there"].v[0] == pytest.approx(seen["v"], rel=1e-5)
    assert seen["best"].energy <= seen["best"].straight_energy


def test_every_line_of_the_page_on_compiling_runs_and_it_names_every_function():
    page = (ROOT / "docs" / "compiling.md").read_text()
    seen = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "compiling.md", "exec"), seen)
    assert seen["found"]["tau"].shape == (1000, 7)
    q, v, target = np.linspace(-4.0, 4.0, 7), np.linspace(0.1, 0.7, 7), np.full(7, 0.3)
    for name, want in seen["controller"](seen["arm"], q, v, target, 30.0).items():  # the same lines run in NumPy
        np.testing.assert_allclose(seen["kernel"](q, v, target, 30.0)[name], want, rtol=1e-10, atol=1e-10)
    named = set(re.findall(r"`(\w+)`", page))
    assert {name.split(".")[-1] for name in FUNCTIONS} | MAKERS <= named


def test_every_python_block_of_the_viewer_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("viser")
    pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    seen = {}
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "viewer.md").read_text(), re.DOTALL))
    exec(compile(code, "viewer.md", "exec"), seen)
    assert {path.name for path in tmp_path.iterdir()} == {"both.html", "both.png", "run.html", "run.gif"}
    assert not seen["viewer"].is_open


@pytest.mark.compiled
def test_every_line_of_the_page_on_optimal_motions_runs(capsys):
    pytest.importorskip("matplotlib").use("Agg")
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "optimal_motion.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "optimal_motion.md", "exec"), seen)
    for name in ("best", "fast", "calm", "to_a_point", "around", "sure", "many"):
        assert seen[name], name
    assert seen["ax"].get_xlabel() == "duration (s)"
    assert seen["quick"].duration < 5.0
    assert seen["found"].obstacles[0].joint == "panda_joint2"
    assert "gravity alone takes more of panda_joint2" in str(seen["found"])
    assert "rad/s more would save" in (printed := capsys.readouterr().out) and "where 4 is allowed" in printed


def test_every_line_of_the_page_on_optimal_control_runs(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "optimal_control.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "optimal_control.md", "exec"), seen)
    plan, hold, track, follow = (seen[name] for name in ("plan", "hold", "track", "follow"))
    assert plan.converged and hold.is_stable and track.gains.shape == (100, 2, 4)
    printed = capsys.readouterr().out
    assert "the force of slide is at its limit" in printed and "the force of swing" not in printed  # that has no drive
    assert (
        np.abs(seen["run"].q[-1] - plan.motion.q[-1]).max()
        < 1e-3
        < 0.5
        < np.abs(seen["left"].q[-1] - plan.motion.q[-1]).max()
    )
    assert np.abs(seen["both"].q[-1] - seen["up"]).max() < 1e-4
    assert np.abs(seen["kept"].q[-1] - seen["path"].q[-1]).max() < 2e-3
    tip = torsor.frame_pose(seen["arm"], follow.q[-1], "tip")[:2, 3]
    np.testing.assert_allclose(tip, [1.2 + 0.2 * np.cos(4.0), 0.3 + 0.2 * np.sin(4.0)], atol=1e-3)
    assert np.abs(follow.tau).max() <= 40.0


def test_every_line_of_the_page_on_motions_runs():
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "motions.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "motions.md", "exec"), seen)
    assert seen["many"].q.shape == (100, 7)
    assert seen["table"].twist.shape == (201, 6)
    assert seen["run"].tau.shape == (151, 7)
    assert seen["move"].check()
    assert str(seen["broken"]).startswith("panda_joint1: velocity 4.6875 is beyond 2.175 by 2.51 at 0.2 s, ")
    assert np.abs(seen["torques"] - seen["via"].sample(times=seen["time"]).tau).max() < 0.5  # of 60 N·m, with noise
    np.testing.assert_allclose(seen["path"].q, seen["via"].at(seen["path"].time).q, atol=2e-3)
    np.testing.assert_allclose(seen["same"], seen["track"](0.5, seen["q0"], np.zeros(7)), rtol=1e-10)


def test_every_line_of_the_page_on_pictures_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "pictures.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "pictures.md", "exec"), seen)
    assert (tmp_path / "joints.png").stat().st_size > 10_000
    assert len(seen["speeds"].axes) == 2
    assert len(seen["one"].axes) == 4
    plt.close("all")


def test_every_line_of_the_page_on_derivatives_runs():
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "derivatives.md").read_text(), re.DOTALL))
    seen = {}
    exec(compile(code, "derivatives.md", "exec"), seen)
    assert seen["slope"].shape == (7, 7, 10)
    assert seen["near"].A.shape == (100, 4, 4)
    np.testing.assert_allclose(seen["out"].a, torsor.mass_matrix(seen["arm"], seen["Q"]), rtol=1e-10, atol=1e-12)
    assert seen["found"]["tau_by_gain"].shape == (7,)


def test_every_line_of_the_page_on_simulation_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "simulation.md").read_text()
    seen = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), "simulation.md", "exec"), seen)
    printed = capsys.readouterr().out
    for shown in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert shown in printed
    np.testing.assert_array_equal(seen["again"].q, seen["run"].q)
    assert len(seen["whole"]) == 2501


def test_every_line_of_the_page_on_identification_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "identification.md").read_text()
    seen = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), "identification.md", "exec"), seen)
    printed = capsys.readouterr().out.splitlines()
    for line in re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].splitlines():
        assert line.strip() == "…" or line in printed
    arm, real = seen["arm"], seen["real"]
    state = torsor.random_state(arm, seed=2, batch=(200,))
    before, after = (
        np.sqrt(np.mean((torsor.inverse_dynamics(robot, *state) - torsor.inverse_dynamics(real, *state)) ** 2))
        for robot in (arm, torsor.load("fitted.urdf"))
    )
    assert before == pytest.approx(0.65, abs=0.005)
    assert after == pytest.approx(0.008, abs=0.0005)


def test_every_line_of_the_page_on_task_space_runs(capsys):
    text = (ROOT / "docs" / "task_space.md").read_text()
    seen = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), "task_space.md", "exec"), seen)
    printed = capsys.readouterr().out.splitlines()
    for shown in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert all(line in printed for line in shown.splitlines())
    assert seen["near"].success and seen["point"].success
    assert torsor.position_task("hand_tcp").jacobian(seen["arm"], seen["q"])[2] @ seen["chosen"].v == pytest.approx(0.5)


def test_every_line_of_the_page_on_the_command_line_runs(tmp_path, monkeypatch, capfd):
    """In this process, but for pipes, which are left to a shell."""
    pytest.importorskip("shtab")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "command_line.md").read_text()
    printed = ""
    for line in "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines():
        if "|" in line:
            shell = f'torsor() {{ "{sys.executable}" -m torsor "$@"; }}; {line}'
            subprocess.run(["sh", "-c", shell], env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=True)
        else:
            assert command_line.main(shlex.split(line)[1:]) == 0, line
        captured = capfd.readouterr()
        printed += captured.out
        assert captured.out or "-o" in line or "convert" in line, line
    assert re.search(r"```text\n(.*?)```", text, re.DOTALL)[1] in printed
    assert set(re.findall(r"^\| `(\w+)", text, re.MULTILINE)) == set(command_line.COMMANDS)
    if shutil.which("cc"):
        for name in ("controller", "jacobian"):
            command = re.search(r"^cc .*$", text, re.MULTILINE)[0].replace("controller", name)
            subprocess.run(command.replace("CONTROLLER", name.upper()), shell=True, check=True)


@pytest.mark.parametrize(
    "paper", ["brockett_stokes_park_1993", "park_bobrow_ploen_1995", "lynch_park_chapter_9", "altafini_2004"]
)
def test_every_line_of_the_page_on_a_paper_runs(paper, capsys):
    text = (ROOT / "docs" / "papers" / f"{paper}.md").read_text()
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), f"{paper}.md", "exec"), {})
    printed = capsys.readouterr().out
    for shown in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert shown in printed
    for name in re.findall(r"`(?:torsor\.)?(\w+)`", text):
        assert name in NAMES, name


@pytest.mark.parametrize("page", ["geometry.md", "derivatives.md", "identification.md", "task_space.md"])
def test_every_function_in_the_tables_of_a_page_exists(page):
    ours = (ROOT / "docs" / page).read_text().split("## From Pinocchio")[0]
    names = [name for row in re.findall(r"^\| (`\w+.*?) \|", ours, re.MULTILINE) for name in re.findall(r"`(\w+)", row)]
    assert names
    for name in names:
        assert name in NAMES, name


@pytest.mark.parametrize("page", ["derivatives.md", "identification.md"])
def test_every_function_in_the_translations_from_pinocchio_exists(page):
    pin = pytest.importorskip("pinocchio")
    translations = (ROOT / "docs" / page).read_text().split("## From Pinocchio")[1]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|", translations, re.MULTILINE)[1:]
    for theirs, ours in rows:
        for name in re.findall(r"`(\w+)", theirs):
            assert hasattr(pin, name) or name in NOT_IN_PYTHON, name
        for name in re.findall(r"`([a-zA-Z]\w+[a-zA-Z])`", ours):
            assert name in NAMES, name


def test_the_errors_of_a_file_shown_in_the_readme_are_the_errors_raised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GOOD
    for rule in ("mass-negative", "limits-inverted"):
        text = text.replace(*BROKEN[rule][:2], 1)
    Path("arm.urdf").write_text(text)
    with pytest.raises(torsor.FileError) as caught:
        torsor.load("arm.urdf")
    first, *others = str(caught.value).splitlines()
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert first in readme
    assert all(line.strip() in readme for line in others)


def test_the_errors_shown_in_the_readme_are_the_errors_raised():
    readme = " ".join((ROOT / "README.md").read_text().split())
    arm = torsor.robots.panda()
    for call in (
        lambda: torsor.inverse_dynamics(arm, np.zeros(7), np.zeros((7, 1000)), np.zeros(7)),
        lambda: torsor.frame_pose(arm, np.zeros(7), "hand_tpc"),
    ):
        with pytest.raises(torsor.TorsorError) as caught:
            call()
        assert str(caught.value) in readme


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs_and_starts_with_what_it_shows(path, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(path), str(tmp_path)])  # where pictures go
    monkeypatch.setenv("MPLBACKEND", "Agg")
    assert path.read_text().startswith('"""')
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        assert not end.code
    out = capsys.readouterr().out
    assert out
    assert "BAD" not in out


def test_every_public_function_named_in_the_documentation_exists():
    pages = (
        "conventions",
        "design",
        "derivatives",
        "identification",
        "optimal_control",
        "pictures",
        "simulation",
        "task_space",
    )
    for page in (*(f"docs/{name}.md" for name in pages), "README.md"):
        for dotted in re.findall(r"`(torsor\.[\w.]*\w)", (ROOT / page).read_text()):
            assert attrgetter(dotted.removeprefix("torsor."))(torsor), (page, dotted)


def test_the_documentation_speaks_of_the_project_alone():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "src").rglob("*.py")]:
        assert not re.search(r"(?<![\w.])/(work|root|home|tmp)/", path.read_text()), path
