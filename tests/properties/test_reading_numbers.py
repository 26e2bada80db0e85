"""What reading a file does with plain numbers at once is what it does with each number by itself, to the bit."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import torsor
from torsor.arrays import exact_constants
from torsor.formats.build import build, inertia_of
from torsor.formats.description import LARGEST, Description, JointPart, LinkPart
from torsor.formats.findings import Findings
from torsor.formats.safe_xml import Element, Fields, as_number
from torsor.model.poses import check_pose, check_poses

moderate = st.floats(-10, 10)
three = st.lists(moderate, min_size=3, max_size=3)


@settings(max_examples=300)
@given(st.text("0123456789.eE+-_ \tnaif٣\xa0", max_size=12))
@example("1_0")
@example("١")
@example("\xa01")
@example(" 1e3\t")
@example("infinity")
@example("1e51")
@example("")
def test_an_attribute_is_a_number_as_its_word_is(text):
    """Python's own numbers have more forms than those of files."""
    value = as_number(text.strip(" \t"))
    want = value if value is not None and abs(value) <= LARGEST else None
    element = Element("mass", {"value": text, "other": "2"}, 1, 0)
    for fields in (
        lambda f: f.number(element, "value"),
        lambda f: f.numbers(element, {"value": None, "other": 1.0})[0],
    ):
        report = Findings("")
        assert fields(Fields(report, "link 'a'")) == want
        assert report.errors == (want is None)


@settings(max_examples=100)
@given(st.lists(st.tuples(three, three), min_size=1, max_size=4), st.sampled_from([0.0, 1e-17, 1e-9, 1e-7, 0.1]))
def test_poses_are_checked_together_as_each_by_itself(pairs, off):
    poses = [torsor.pose_from(xyz, rpy) for xyz, rpy in pairs]
    poses[-1][0, 1] += off
    found = []
    for checked in (lambda: check_poses("pose {}".format, poses), lambda: [check_pose("pose", T) for T in poses]):
        try:
            found.append(np.array(checked()).tobytes())
        except torsor.errors.ModelError as error:
            found.append(str(error)[-30:])
    assert found[0] == found[1]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 2.0, 1e10])
@pytest.mark.parametrize("place", [(0, 0), (3, 0), (3, 3)])
def test_of_several_poses_the_wrong_one_is_named(place, wrong):
    poses = [np.eye(4) for _ in range(3)]
    poses[1][place] = wrong
    with pytest.raises(torsor.errors.ModelError, match="pose 1"):
        check_poses("pose {}".format, poses)


def test_a_reflection_among_poses_is_refused():
    with pytest.raises(torsor.errors.ModelError, match="reflection"):
        check_poses("pose {}".format, [np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])])


@settings(max_examples=80)
@given(st.floats(0.1, 1e3), three, st.lists(st.floats(0.1, 2.0), min_size=3, max_size=3), three)
def test_an_inertia_that_was_found_sound_is_built_as_any_other(mass, com, extents, rpy):
    a, b, c = extents
    R = torsor.pose_from(rpy=rpy)[:3, :3]
    matrix = R @ np.diag([b + c, c + a, a + b]) @ R.T
    link = LinkPart("body", mass=mass, com=np.array(com), moments=matrix[np.triu_indices(3)], sound=True)
    joint = JointPart("turn", "revolute", "base", "body", axis=np.array([0.0, 0.0, 1.0]))
    robot = build(Description("one", [LinkPart("base"), link], [joint], base="base"))
    with exact_constants():
        assert robot.parameters.inertias[0].tobytes() == inertia_of(link).row.tobytes()
