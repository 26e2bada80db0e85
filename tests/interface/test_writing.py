"""Writing files: bad places, names that a format cannot hold, and numbers that it cannot say are refused in words."""

import re
import sys

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint

BODY = Inertia.box((0.1, 0.2, 0.3), mass=1.5)
WRITERS = ("to_urdf", "to_mjcf", "to_json", "to_yaml")


def robot(*, name="arm", joint="shoulder", link="upper", frame="tool", inertia=BODY) -> torsor.Robot:
    joints = [Joint(name=joint, kind="revolute", axis=(0, 0, 1), link=link, inertia=inertia)]
    joints.append(Joint(name="elbow", kind="revolute", axis=(0, 1, 0), parent=link, link="lower", inertia=BODY))
    return torsor.assemble(joints, name=name, frames={frame: (link, torsor.pose_from((0, 0, 0.1)))})


@pytest.fixture(scope="module")
def kernel():
    return torsor.compile(torsor.gravity_forces, torsor.robots.pendulum())


@pytest.fixture(scope="module")
def equations():
    return torsor.symbolic.equations(torsor.robots.pendulum())


@pytest.mark.parametrize("writer", [*WRITERS, "to_c", "to_html", "to_png"])
def test_bad_places_are_refused_in_words(writer, tmp_path, kernel, equations):
    owner = {"to_c": kernel, "to_html": equations, "to_png": equations}.get(writer, robot())
    write = getattr(owner, writer)
    ending = ".png" if writer == "to_png" else ""
    (tmp_path / f"folder{ending}").mkdir()
    if writer == "to_c":
        (tmp_path / "folder.h").mkdir()
    for place in (tmp_path / "nowhere" / f"x{ending}", tmp_path / f"folder{ending}"):
        with pytest.raises(torsor.TorsorError, match=f"{writer}: cannot write .*: (No such file|Is a directory)"):
            write(place)
    with pytest.raises(torsor.TorsorError, match=f"{writer}"):
        write(f"a\0b{ending}")
    for place in (3, 1.5, [tmp_path / "x"]):
        with pytest.raises(torsor.ModelError, match=f"{writer}: takes the path of a file to write, got "):
            write(place)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        {f"folder{ending}"} | ({"folder.h"} if writer == "to_c" else set())
    )


@pytest.mark.parametrize("writer", WRITERS)
def test_paths_may_be_bytes(writer, tmp_path):
    text = getattr(robot(), writer)(bytes(tmp_path / "arm"))
    assert (tmp_path / "arm").read_text(encoding="utf-8") == text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is a device of Linux")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_told(writer):
    with pytest.raises(torsor.FileError, match=f"{writer}: cannot write /dev/full: No space left"):
        getattr(robot(), writer)("/dev/full")


# Names


@pytest.mark.parametrize(
    "name", [" a ", "a\nb", "a\tb", "\u2028", "\x85", "\x7f", "\x9b2J", "é<>&\"'", "]]>", "&amp;", "\u00a0"]
)
@pytest.mark.parametrize("of", ["name", "joint", "link", "frame"])
def test_odd_names_come_back_from_every_format(of, name):
    made = robot(**{of: name})
    for writer in WRITERS:
        read = torsor.load(getattr(made, writer)(), format=writer.removeprefix("to_"))
        assert (read.name, read.joints, read.links) == (made.name, made.joints, made.links)
        assert {"tool" if of != "frame" else name} <= set(read.frames)


@pytest.mark.parametrize("name", [" ", "\x1b[31m", "\x00", "\ud800", "\ufffe"])
@pytest.mark.parametrize("of", ["name", "joint", "link", "frame"])
def test_names_that_xml_cannot_hold_are_refused_by_name(of, name):
    for writer in ("to_urdf", "to_mjcf"):
        message = f" is called {name!r}, which XML cannot hold. Use robot.rename("
        with pytest.raises(torsor.ModelError, match=re.escape(message)):
            getattr(robot(**{of: name}), writer)()


@pytest.mark.parametrize("writer", ["to_json", "to_yaml"])
def test_half_a_character_is_refused_by_our_own_format_too(writer):
    with pytest.raises(torsor.ModelError, match="half of a character"):
        getattr(robot(joint="a\ud800"), writer)()


@pytest.mark.parametrize("name", ["", None, 3])
def test_everything_has_a_name(name):
    for of in ("name", "joint", "frame"):
        with pytest.raises(torsor.ModelError, match="needs a name, which is a text and not empty"):
            robot(**{of: name})
    with pytest.raises(torsor.ModelError, match="needs a name, which is a text and not empty"):
        robot().rename({"shoulder": name})


# Inertias


def test_an_inertia_without_mass_is_not_lost():
    spinning = robot(inertia=Inertia(0.0, (0, 0, 0), np.diag([0.1, 0.2, 0.2])))
    with pytest.raises(torsor.ModelError, match=r"link 'upper' .* has a rotational inertia of 0\.2 kg·m² and no mass"):
        spinning.to_urdf()
    with pytest.warns(torsor.ModelWarning, match="link 'upper' has inertia and no mass: written with 1e-14 kg"):
        spinning.to_mjcf()
    with pytest.warns(torsor.ModelWarning, match="massless"):
        again = torsor.load(spinning.to_json())
    assert again.digest == spinning.digest


def test_moments_that_files_round_are_written_in_every_format():
    """Exporters give three digits, and readers take moments that are off by as much; MuJoCo allows no rounding."""
    rounded = robot(inertia=Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.2001])))
    for writer in ("to_urdf", "to_json"):
        with pytest.warns(torsor.ModelWarning, match="inertia-rounded"):
            again = torsor.load(getattr(rounded, writer)())
        assert np.array_equal(again.parameters.inertias, rounded.parameters.inertias)
    with pytest.warns(torsor.ModelWarning, match=r"moment of link 'upper', 0\.2001 kg·m², is written as 0\.2") as told:
        read = torsor.load(rounded.to_mjcf())
    assert told[0].filename == __file__
    np.testing.assert_allclose(read.parameters.inertias, rounded.parameters.inertias, atol=1.1e-4)


def test_moments_of_no_body_are_written_to_urdf_with_a_warning():
    thin = robot(inertia=Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.5])))
    with pytest.warns(
        torsor.ModelWarning, match=r"link 'upper' are those of no body, so that torsor\.load refuses"
    ) as told:
        text = thin.to_urdf()
    assert told[0].filename == __file__
    with pytest.raises(torsor.FileError, match="inertia-triangle"):
        torsor.load(text)


def test_warnings_name_the_line_of_the_caller(tmp_path):
    urdf = robot().to_urdf().replace("<link", "<!-- seen --><sticker/><link", 1)
    with pytest.warns(torsor.ModelWarning, match="unknown tag") as told:
        read = torsor.load(urdf)
    assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(torsor.ModelWarning, match="is written anew") as told:
        read.rename({"elbow": "other"}).to_urdf()
    assert [warning.filename for warning in told] == [__file__]


def test_no_angle_is_written_as_minus_zero():
    text = torsor.robots.ur5().to_urdf()
    assert re.search(r'rpy="[^"]*-0\.0[ "]', text) is None and 'rpy="0.0 0.0 0.0"' in text
