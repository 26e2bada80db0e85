"""Robots with other limits, and joints that follow others held by name."""

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Mimic
from torsor.errors import ModelError, ShapeError, UnknownName

PANDA = torsor.robots.panda()


def gripper(ratio=-0.5, offset=0.01):
    """An arm joint, a finger, and a finger that follows it."""
    body = Inertia.box((0.1, 0.1, 0.1), mass=0.3)
    return torsor.assemble(
        [
            Joint(name="arm", kind="revolute", link="palm", axis=(0, 0, 1), inertia=body, lower=-2.0, upper=2.0),
            Joint(
                name="left", kind="prismatic", parent="palm", axis=(0, 1, 0), inertia=body,
                lower=0.0, upper=0.04, velocity_limit=0.2, effort_limit=20.0,
            ),
            Joint(
                name="right", kind="prismatic", parent="palm", axis=(0, 1, 0), inertia=body, mimic=Mimic("left", ratio, offset)
            ),
        ],
        name="gripper",
    )  # fmt: skip


def of_every_kind():
    """One joint of each kind, in a chain."""
    body, previous, joints = Inertia.box((0.1, 0.2, 0.3), mass=1.0), "base", []
    for kind in ("revolute", "prismatic", "helical", "planar", "spherical", "free"):
        screw = {"axis": (0, 0, 1)} if kind in ("revolute", "prismatic", "helical") else {}
        pitch = {"pitch": 0.1} if kind == "helical" else {}
        joints.append(Joint(name=kind, kind=kind, parent=previous, link=f"{kind}_link", inertia=body, **screw, **pitch))
        previous = f"{kind}_link"
    return torsor.assemble(joints)


# Limits


def test_limits_change_by_name_and_nothing_else_does():
    changed = PANDA.with_limits(
        {"panda_joint2": (-1.0, 0.5)}, velocity={"panda_joint2": 0.3}, effort={"panda_joint7": 5.0}
    )
    expected = {field: list(values) for field, values in PANDA.limits._asdict().items()}
    expected["lower"][1], expected["upper"][1], expected["velocity"][1], expected["effort"][6] = -1.0, 0.5, 0.3, 5.0
    assert {field: list(values) for field, values in changed.limits._asdict().items()} == expected
    assert changed.parameters is PANDA.parameters
    assert changed != PANDA
    assert changed.with_limits(PANDA.limits[:2], velocity=PANDA.limits.velocity, effort=PANDA.limits.effort) == PANDA


def test_limits_of_all_joints_and_none():
    freed = PANDA.with_limits((-np.inf, np.inf), velocity=np.inf, effort=np.inf)
    assert not np.isfinite([x for values in freed.limits for x in values]).any()
    assert freed.with_limits() == freed
    assert PANDA.with_limits((-1.0, 1.0), velocity=2.0).limits.lower == (-1.0,) * 7
    assert PANDA.with_limits({"panda_joint1": None}).limits.upper[0] == np.inf
    one_sided = PANDA.with_limits({"panda_joint1": (None, 1.0)})
    assert (one_sided.limits.lower[0], one_sided.limits.upper[0]) == (-np.inf, 1.0)


def test_limits_of_every_kind_of_joint():
    robot = of_every_kind()
    inner = {kind: (-1.0, 1.0) for kind in ("revolute", "prismatic", "helical", "planar", "free")}
    limited = robot.with_limits(
        {**inner, "planar": ([-1, -2, -3], [1, 2, 3])}, velocity=3.0, effort={"free": np.arange(6.0)}
    )
    assert limited.limits.lower[robot.q_slice("planar")] == (-1.0, -2.0, -3.0)
    assert limited.limits.upper[robot.q_slice("spherical")] == (np.inf,) * 4
    assert limited.limits.upper[robot.q_slice("free")] == (1.0,) * 3 + (np.inf,) * 4
    assert limited.limits.velocity == (3.0,) * robot.nv
    assert limited.limits.effort[robot.v_slice("free")] == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    q = torsor.random_configuration(limited, seed=0, batch=(50,))
    assert np.all((q >= limited.limits.lower) & (q <= limited.limits.upper))
    with pytest.raises(ModelError, match="cannot bound a spherical joint"):
        robot.with_limits({"spherical": (-1.0, 1.0)})


def test_limits_of_a_follower_bind_its_leader():
    """right = −0.5 left + 0.01, so that right ≥ 0 means left ≤ 0.02."""
    robot = gripper()
    bound = robot.with_limits({"right": (0.0, 0.1)}, velocity={"right": 0.05}, effort={"right": 4.0})
    assert bound.limits.lower == (-2.0, 0.0)
    np.testing.assert_allclose(bound.limits.upper, (2.0, 0.02))
    np.testing.assert_allclose(bound.limits.velocity, (np.inf, 0.1))
    np.testing.assert_allclose(bound.limits.effort, (np.inf, 2.0))
    both = robot.with_limits({"left": (-1.0, 1.0), "right": (0.0, 0.1)})
    np.testing.assert_allclose((both.limits.lower[1], both.limits.upper[1]), (-0.18, 0.02))
    with pytest.raises(ModelError, match=r"follows 'left'.*position=\{'left': None\}"):
        robot.with_limits({"right": None})
    with pytest.raises(ModelError, match="exceeds upper limit"):
        robot.with_limits({"right": (0.5, 0.6)})


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: PANDA.with_limits({"panda_jiont2": (0, 1)}), UnknownName, "nearest: 'panda_joint2'"),
        (
            lambda: PANDA.with_limits({"panda_joint2": (1.0, -1.0)}),
            ModelError,
            "panda_joint2.*lower limit.*exceeds upper",
        ),
        (lambda: PANDA.with_limits({"panda_joint2": (np.nan, 1.0)}), ModelError, "`lower` must not be NaN"),
        (
            lambda: PANDA.with_limits({"panda_joint2": (np.inf, np.inf)}),
            ModelError,
            "no position is within the limit `lower`",
        ),
        (lambda: PANDA.with_limits({"panda_joint2": 1.0}), ShapeError, r"a pair \(lower, upper\).*Got 1.0"),
        (lambda: PANDA.with_limits({"panda_joint2": "ab"}), ShapeError, "a pair"),
        (lambda: PANDA.with_limits({"panda_joint2": (0.0, "far")}), ShapeError, "must be real numbers, got 'far'"),
        (lambda: PANDA.with_limits({"panda_joint2": ([0, 0], [1, 1])}), ModelError, "a number or 1 numbers"),
        (
            lambda: PANDA.with_limits(velocity={"panda_joint2": -1.0}),
            ModelError,
            "`velocity_limit` must not be negative",
        ),
        (lambda: PANDA.with_limits(velocity=np.nan), ModelError, "`velocity_limit` must not be NaN"),
        (lambda: PANDA.with_limits(effort=np.ones(3)), ShapeError, r"one number or 7 of them, got shape \(3,\)"),
        (lambda: torsor.assemble([Joint(name="a", kind="revolute", axis=(0, 0, 1), lower=np.nan)]), ModelError, "NaN"),
        (
            lambda: torsor.assemble([Joint(name="a", kind="revolute", axis=(0, 0, 1), upper=None)]),
            ModelError,
            "`upper` must be real numbers, got None; where there is no limit, it is infinite",
        ),
        (
            lambda: torsor.assemble([Joint(name="a", kind="revolute", axis=(0, 0, 1), velocity_limit=-1.0)]),
            ModelError,
            "must not be negative",
        ),
    ],
)
def test_what_is_no_limit_is_refused_in_words(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_changed_limits_go_into_files_and_come_back():
    position = {"panda_joint1": (-0.5, 0.25), "panda_joint3": None, "panda_joint4": (-1.0, np.inf)}
    robot = PANDA.with_limits(position, velocity={"panda_joint2": 0.7}, effort={"panda_joint2": None})
    assert torsor.load(robot.to_json()) == robot
    from_urdf = torsor.load(robot.to_urdf())
    assert torsor.load(from_urdf.with_limits({"panda_joint1": (-0.1, 0.1)}).to_urdf()).limits.upper[0] == 0.1
    assert from_urdf.limits.lower[:3] == (-0.5, PANDA.limits.lower[1], -np.inf)
    assert from_urdf.limits.velocity[1] == 0.7
    limited = of_every_kind().with_limits({"free": (-1.0, 2.0), "planar": (-1.0, 1.0)}, effort=7.0)
    assert torsor.load(limited.to_json()) == limited


def test_mujocos_format_keeps_changed_positions_and_efforts():
    pytest.importorskip("mujoco")
    robot = PANDA.with_limits({"panda_joint1": (-0.5, 0.25)}, effort={"panda_joint2": 3.0})
    again = torsor.load(robot.to_mjcf())
    np.testing.assert_allclose(again.limits.upper, robot.limits.upper)
    np.testing.assert_allclose(again.limits.effort, robot.limits.effort)


# Locks


@pytest.mark.parametrize(
    "positions", [{"right": 0.0}, {"left": 0.02}, {"left": 0.02, "right": 0.0}, {"right": 0.0, "left": 0.02}]
)
def test_holding_a_follower_holds_its_leader(positions):
    """right = −0.5 left + 0.01: right at 0 is left at 0.02."""
    robot = gripper()
    held = robot.lock(positions)
    assert held.coordinates == ("arm",)
    for frame in robot.frames:
        expected = torsor.frame_pose(robot, [0.3, 0.02], frame)
        np.testing.assert_allclose(torsor.frame_pose(held, [0.3], frame), expected, atol=1e-15)
    np.testing.assert_allclose(
        torsor.mass_matrix(held, [0.3]), torsor.mass_matrix(robot, [0.3, 0.02])[:1, :1], rtol=1e-14
    )


def test_contradictory_positions_of_a_pair_are_refused():
    with pytest.raises(
        ModelError, match=r"'right' follows 'left' \(ratio -0.5, offset 0.01\).*puts it at -0.01.*wants it at 0"
    ):
        gripper().lock({"left": 0.04, "right": 0.0})
    with pytest.raises(ModelError, match=r"ratio 0.*never leaves 0.01; lock 'left'"):
        gripper(ratio=0.0).lock({"right": 0.01})
    assert gripper(ratio=0.0).lock({"right": 0.01, "left": 0.0}).coordinates == ("arm",)
    with pytest.raises(ModelError, match="'right' takes 1 finite number"):
        gripper().lock({"right": np.nan})
    with pytest.raises(UnknownName, match="nearest: 'right'"):
        gripper().lock({"rihgt": 0.0})
