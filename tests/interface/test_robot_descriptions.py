"""Robots of the package robot_descriptions by name: where it is installed, and with what to do where it is not. No network."""

import importlib.machinery
import sys
from types import ModuleType

import pytest
from test_urdf_rules import GOOD

import torsor
from torsor.cli.main import main


@pytest.fixture
def descriptions(tmp_path, monkeypatch):
    """A package with one robot, as a file on disk, without the real one's cloning."""
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    (tmp_path / "arm.urdf").write_text(GOOD)
    package = ModuleType("robot_descriptions")
    package.__path__ = [str(folder)]
    package.__spec__ = importlib.machinery.ModuleSpec("robot_descriptions", None, is_package=True)
    monkeypatch.setitem(sys.modules, "robot_descriptions", package)
    monkeypatch.chdir(tmp_path)

    def add(name, text):
        (folder / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, f"robot_descriptions.{name}", raising=False)

    add("arm_description", f"URDF_PATH = {str(tmp_path / 'arm.urdf')!r}\nREPOSITORY_PATH = ''\n")
    yield add
    for name in [name for name in sys.modules if name.startswith("robot_descriptions.")]:
        del sys.modules[name]


def test_a_robot_by_name(descriptions, tmp_path):
    robot = torsor.load("arm_description", base="floating")
    assert robot == torsor.load(GOOD, base="floating")
    assert robot.source.file == str(tmp_path / "arm.urdf")
    assert torsor.check("arm_description") == ()
    assert main(["check", "arm_description"]) == 0


def test_mjcf_descriptions(descriptions, tmp_path):
    pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    file.write_text("<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>")
    descriptions("arm_mj_description", f"MJCF_PATH = {str(file)!r}\n")
    assert torsor.load("arm_mj_description").nv == 1


def test_a_file_of_that_name_comes_first(descriptions, tmp_path):
    (tmp_path / "arm_description").write_text(GOOD.replace('name="arm"', 'name="mine"'))
    assert torsor.load("arm_description").name == "mine"


def test_a_misspelt_name_is_told_with_the_nearest(descriptions):
    message = (
        r"armm_description: no such file, .* has no robot of this name; nearest: 'arm_description'\. Check the name"
    )
    with pytest.raises(torsor.FileError, match=message):
        torsor.load("armm_description")


def test_what_cannot_be_fetched_is_told(descriptions):
    descriptions("far_description", "raise OSError('Could not resolve host')\n")
    with pytest.raises(torsor.FileError, match=r"cannot fetch it: OSError: Could not resolve host\. It clones"):
        torsor.load("far_description")
    descriptions("needy_description", "import no_such_package_at_all\n")
    with pytest.raises(torsor.FileError, match=r"needs 'no_such_package_at_all'"):
        torsor.load("needy_description")
    descriptions("template_description", "XACRO_PATH = 'arm.urdf.xacro'\n")
    with pytest.raises(torsor.FileError, match=r"as a template \(xacro\)"):
        torsor.load("template_description")


def test_without_the_package_it_is_said_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)  # Python's way to say: cannot be imported
    with pytest.raises(torsor.FileError, match=r"not installed\. .*pip install robot_descriptions"):
        torsor.load("panda_description")
    (finding,) = torsor.check("panda_description")
    assert finding.rule == "file-unreadable"


def test_other_names_are_paths_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    for name in ("panda", "panda_description.urdf", "robots/panda_description"):
        with pytest.raises(torsor.FileError, match="cannot be read: No such file"):
            torsor.load(name)
