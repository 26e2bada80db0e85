"""Which format a file has is judged by what it contains; what is no robot is called so, and what it seems to be."""

import struct

import pytest
import test_mjcf_rules
import test_screw_list_errors
import test_urdf_rules

import torsor

URDF, MJCF, YAML = test_urdf_rules.GOOD, test_mjcf_rules.ARM, test_screw_list_errors.GOOD
LICENCE = "<!-- " + "You may use, copy and change this file. " * 200 + "-->\n"


def load(tmp_path, content: str | bytes, name: str = "robot") -> torsor.Robot:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return torsor.load(tmp_path / name)


@pytest.mark.parametrize(
    "before", ["", LICENCE, "<!-- not a <robot> -->\n", '<?xml version="1.0"?>\n<?pi <robot?>\n', "\n\n "]
)
def test_an_mjcf_is_one_whatever_stands_before_its_first_element(before, tmp_path):
    assert load(tmp_path, before + MJCF).source.format == "mjcf"
    assert torsor.load(before + MJCF).source.format == "mjcf"


def test_a_urdf_that_speaks_of_mujoco_is_a_urdf(tmp_path):
    text = URDF.replace("<link", '<mujoco><compiler meshdir="x"/></mujoco>\n<link', 1).replace(
        "<robot", "<!-- <mujoco> --><robot", 1
    )
    assert load(tmp_path, text).source.format == "urdf"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
@pytest.mark.parametrize(("text", "format"), [(URDF.partition("\n")[2], "urdf"), (MJCF, "mjcf")])
def test_xml_in_other_encodings_is_recognised(text, format, encoding, tmp_path):
    declared = encoding.removesuffix("-sig").removesuffix("-le").removesuffix("-be")
    text = f'<?xml version="1.0" encoding="{declared}"?>' + text.replace('"elbow"', '"élbow"').replace('"j"', '"élbow"')
    for robot in (load(tmp_path, text.encode(encoding)), torsor.load(text)):
        assert robot.source.format == format
        assert "élbow" in robot.joints


@pytest.mark.parametrize(
    "text", ["<robot name='\ud800'/>", '{"torsor": 1, "name": "\ud800"}', "torsor: 1\nname: \ud800\n"]
)
def test_a_text_with_half_a_character_is_refused_in_words(text):
    with pytest.raises(torsor.FileError, match=r"holds half of a character \('\\ud800', a lone surrogate\) at place"):
        torsor.load(text)
    (found,) = torsor.check(text)
    assert found.rule == "file-unreadable"


def test_a_text_that_its_own_encoding_cannot_hold_is_refused_in_words():
    with pytest.raises(torsor.FileError, match=r"declares the encoding 'iso-8859-1', which has no '→'"):
        torsor.load('<?xml version="1.0" encoding="iso-8859-1"?><robot name="→"/>')


@pytest.mark.parametrize("before", ["", "# an arm\n", "---\n", "\ufeff"])
def test_torsors_own_format_needs_no_file_name(before, tmp_path):
    assert load(tmp_path, before + YAML).source.format == "yaml"
    assert load(tmp_path, YAML.replace("\n", "\r\n")).source.format == "yaml"
    assert load(tmp_path, torsor.robots.pendulum().to_json()).source.format == "json"


STL = b"exported by a program".ljust(80) + struct.pack("<I", 1) + b"\x01" * 50
NO_ROBOTS = {
    "a table": (b"time,q1,q2\n0.0,0.1,0.2\n0.1,0.1,0.2\n", "a table of numbers (CSV)"),
    "a large table": (b"0.123,0.456\n" * 400_000, "a table of numbers (CSV)"),
    "an STL": (STL, "an STL mesh"),
    "an STL as text": (b"solid part\n facet normal 0 0 1\n", "an STL mesh"),
    "an OBJ": (b"# Blender\nmtllib a.mtl\nv 0.1 -0.2 0.3\n", "an OBJ mesh"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture"),
    "a program": (b"\x7fELF\x02\x01\x01\0\0\0", "a binary file"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS"),
    "a letter": (b"Dear Sir,\n\nthe robot: see below.\n", None),
    "another YAML": (b"controller:\n  type: position\n  joints: [a, b]\n", None),
    "nothing": (b"", None),
    "white": (b" \n\t", None),
}


@pytest.mark.parametrize("what", NO_ROBOTS)
@pytest.mark.parametrize("name", ["part.stl", "log.csv", "robot", "arm.urdf"])
def test_what_is_no_robot_is_called_so(what, name, tmp_path, monkeypatch):
    """Whatever it is called, and whether or not PyYAML is there."""
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    content, seems = NO_ROBOTS[what]
    with pytest.raises(torsor.FileError, match="Pass a URDF, an MJCF, or a torsor JSON or YAML file") as caught:
        load(tmp_path, content, name)
    assert [finding.rule for finding in caught.value.findings] == ["not-a-robot"]
    assert (f"it seems to be {seems}" in str(caught.value)) if seems else ("seems" not in str(caught.value))
    assert torsor.check(tmp_path / name) == caught.value.findings


def test_other_languages_of_xml_are_named(tmp_path):
    with pytest.raises(
        torsor.FileError, match="the outermost element is <sdf>, a URDF has <robot> and an MJCF <mujoco>"
    ):
        load(tmp_path, '<sdf version="1.7"/>')


def test_what_is_not_installed_is_named_by_check_too(monkeypatch):
    modules = __import__("sys").modules
    monkeypatch.setitem(modules, "yaml", None)
    monkeypatch.setitem(modules, "mujoco", None)
    for text, extra in ((YAML, "yaml"), (MJCF, "mjcf")):
        (found,) = torsor.check(text)
        assert found.advice == f'Install it: pip install "torsor[{extra}]".'
