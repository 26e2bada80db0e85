"""Robots people really use, from packages on PyPI: each loads and agrees with Pinocchio, or is refused for a reason that is
recorded here (tests/data/refused_robots.json) and that a human would agree with.
"""

import json
import warnings
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor.adapters import Pinocchio
from torsor.verification import compare

PACKAGES = ("example-robot-data", "rtb-data", "drake")
REFUSED = json.loads((Path(__file__).parents[1] / "data" / "refused_robots.json").read_text())


def robot_files() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        try:
            listed = files(package) or []
        except PackageNotFoundError:  # not for every platform; where it is required, a test below says so
            continue
        for file in listed:
            if file.suffix == ".urdf":
                found["/".join((package, *file.parts[-3:]))] = Path(str(file.locate()))
    return found


FILES = robot_files()


def load(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)
        return torsor.load(path)


def test_there_are_many():
    assert len(FILES) > 70
    assert set(REFUSED) <= set(FILES)
    assert len(FILES) - len(REFUSED) > 50


@pytest.mark.parametrize("name", sorted(set(FILES) - set(REFUSED)))
def test_it_loads_and_agrees_with_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    robot = load(FILES[name])
    for row in compare(robot, "pinocchio", configurations=3):
        assert row.residual < 1e-10, row
    text = FILES[name].read_text(encoding="utf-8-sig")
    model = pin.buildModelFromXML(text)
    data = model.createData()
    circles = [n for k, n in enumerate(model.names) if k and model.joints[k].nq == 2 and model.joints[k].nv == 1]
    adapter = Pinocchio(robot, order=model.names, continuous=circles)
    q, v, _ = torsor.random_state(robot, seed=1)
    theirs = adapter.to_q(q), adapter.to_v(q, v)
    pin.forwardKinematics(model, data, *theirs)
    pin.updateFramePlacements(model, data)
    bodies = {frame.name: k for k, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY}
    assert set(robot.frames) <= {*bodies, robot.structure.base}
    reach = 1 + max(np.abs(x.translation).max() for x in data.oMf)
    for frame in robot.frames:
        if frame in bodies:
            T = torsor.frame_pose(robot, q, frame)
            assert np.abs(T - data.oMf[bodies[frame]].homogeneous).max() < 1e-10 * reach
            V = torsor.body_jacobian(robot, q, frame) @ v
            V_pin = pin.getFrameVelocity(model, data, bodies[frame], pin.LOCAL).vector
            assert np.abs(V - adapter.from_twist(V_pin)).max() < 1e-10 * (1 + np.abs(V).max())


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_it_is_refused_for_the_recorded_reason(name):
    with pytest.raises(torsor.FileError) as caught:
        load(FILES[name])
    assert sorted({finding.rule for finding in caught.value.findings}) == REFUSED[name]


@pytest.mark.parametrize("name", sorted(set(FILES) - set(REFUSED)))
def test_it_can_be_written_anew_and_read_again(name):
    robot = load(FILES[name]).with_source(None)
    again = load(robot.to_urdf())
    assert again.coordinates == robot.coordinates
    q, v, a = torsor.random_state(robot, seed=2)
    want = torsor.inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(
        torsor.inverse_dynamics(again, q, v, a), want, rtol=0, atol=1e-11 * (1 + np.abs(want).max())
    )


def test_the_linter_reads_them_all():
    for name, path in FILES.items():
        errors = [finding for finding in torsor.check(path) if finding.severity == "error"]
        assert bool(errors) == (name in REFUSED), name
