"""Units of length and mass are a choice: no verdict about a robot, and no acceleration, depends on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close
from property_strategies import ALL_KINDS, joints_of, lumped_robots, pose_of, robots, seeds, sized

import torsor
from torsor import Inertia, Joint
from torsor.functions.singular_mass_matrix import idle_joints, idle_together, negative_joints
from torsor.model.link_inertias import definiteness, has_degenerate_links

TURNING = {"revolute", "helical", "spherical"}


def freedom_units(robot: torsor.Robot, length: float) -> np.ndarray:
    """By what each number of v grows (nv,) when lengths grow by ``length``."""
    units = np.ones(robot.nv)
    for c, kind in zip(robot.structure.coordinates, robot.structure.coordinate_kinds, strict=True):
        lengths = {"prismatic": slice(0, 1), "planar": slice(1, 3), "free": slice(3, 6)}.get(kind, slice(0, 0))
        units[c.v][lengths] = length
    return units


def in_units(robot: torsor.Robot, length: float, mass: float) -> torsor.Robot:
    """The same robot with all lengths ``length`` times and all masses ``mass`` times as large."""
    s, p = robot.structure, robot.parameters
    poses, frame_poses, screws = p.poses.copy(), p.frame_poses.copy(), p.screws.copy()
    poses[:, :3, 3] *= length
    frame_poses[:, :3, 3] *= length
    turning = np.array([kind in TURNING for kind in s.kinds])
    screws[turning, 3:] *= length
    of_joint = [length if kind == "prismatic" else 1.0 for kind in s.kinds]
    of_leader = [length if kind == "prismatic" else 1.0 for kind in s.coordinate_kinds]
    couplings = tuple(
        c._replace(ratio=c.ratio * of_joint[i] / of_leader[c.coordinate], offset=c.offset * of_joint[i])
        for i, c in enumerate(s.couplings)
    )
    changed = robot.with_parameters(
        poses=poses,
        frame_poses=frame_poses,
        screws=screws,
        inertias=p.inertias * (mass * length ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])),
        gravity=p.gravity * length,
        armature=p.armature * mass * length**2 / freedom_units(robot, length) ** 2,
    )
    return replace(changed, structure=replace(s, couplings=couplings))


def verdicts(robot: torsor.Robot) -> tuple[object, ...]:
    return has_degenerate_links(robot), idle_joints(robot), negative_joints(robot), idle_together(robot)


@st.composite
def spoilt_robots(draw: st.DrawFn) -> torsor.Robot:
    """Random trees some of whose links are massless, point masses, rods, or negative."""
    robot = draw(st.one_of(robots(most=5), lumped_robots()))
    for link in robot.links:
        kind = draw(st.sampled_from(["sound", "sound", "massless", "point", "rod", "negative"]))
        body = {
            "massless": Inertia.zero(),
            "point": Inertia.point(0.7, (0.1, -0.2, 0.3)),
            "rod": Inertia.particles([0.3, 0.4], [(0.0, 0.2, 0.1), (0.3, 0.0, 0.0)]),
        }.get(kind)
        row = robot.inertia(link).row if body is None else body.row
        rows = np.array(robot.parameters.inertias)
        rows[robot.links.index(link)] = -row if kind == "negative" else row
        robot = robot.with_parameters(inertias=rows)
    return robot


@settings(max_examples=60)
@given(spoilt_robots(), sized(-9, 6), sized(-18, 9))
def test_no_verdict_about_a_robot_depends_on_units(robot, length, mass):
    assert verdicts(in_units(robot, length, mass)) == verdicts(robot)


@settings(max_examples=30)
@given(st.one_of(robots(most=5), lumped_robots()), seeds, sized(-7, 5), sized(-18, 9))
def test_accelerations_are_the_same_in_any_units(robot, seed, length, mass):
    other = in_units(robot, length, mass)
    units = freedom_units(robot, length)
    q, v, tau = torsor.random_state(robot, seed=seed)
    q_units = np.ones(robot.nq)
    for c, kind in zip(robot.structure.coordinates, robot.structure.coordinate_kinds, strict=True):
        q_units[c.q][{"prismatic": slice(0, 1), "planar": slice(0, 2), "free": slice(0, 3)}.get(kind, slice(0, 0))] = (
            length
        )
    frictionless, others = (
        r.with_parameters(**dict.fromkeys(("viscous_friction", "coulomb_friction", "stiffness"), np.zeros(r.nv)))
        for r in (robot, other)
    )
    a = torsor.forward_dynamics(frictionless, q, v, tau)
    in_other = torsor.forward_dynamics(others, q * q_units, v * units, tau * mass * length**2 / units)
    error = np.linalg.cond(torsor.mass_matrix(robot, q)) * 1e-13  # what rounding does to a solution of M a = τ
    assert_close(in_other / units, a, max(error, 1e-11))


# Robots of unusual sizes that are sound


def chain(sizes: list[tuple[float, float]], axes: str = "zyyx") -> torsor.Robot:
    """A serial arm of boxes, each given by its length (m) and mass (kg); massless ones have no body."""
    joints, parent, before = [], "base", 0.0
    for k, (length, mass) in enumerate(sizes):
        body = (
            Inertia.box((length, length / 5, length / 5), mass=mass, com=(length / 2, 0, 0)) if mass else Inertia.zero()
        )
        pose = pose_of(np.zeros(3), np.array([before, 0.0, 0.0]))
        axis = np.eye(3)["xyz".index(axes[k])]
        joints.append(
            Joint(name=f"j{k}", kind="revolute", axis=axis, parent=parent, link=f"l{k}", pose=pose, inertia=body)
        )
        parent, before = f"l{k}", length
    return torsor.assemble(joints, name="arm")


def station(wrist: Inertia) -> torsor.Robot:
    """A space station with an arm, and a finger of 5 g beyond its wrist."""
    arm = chain([(8.0, 200.0), (8.0, 200.0), (0.01, 0.0), (0.02, 0.005)], "zyxz")
    base = Joint(name="base", kind="free", link="station", inertia=Inertia.box((100, 20, 20), mass=4.2e5))
    joints = [
        replace(joint, parent="station" if joint.parent == "base" else joint.parent, axis=None)
        for joint in joints_of(arm)
    ]
    return torsor.assemble([base, *joints], name="station").with_inertia("l2", wrist)


def test_a_small_finger_on_a_large_station_is_not_taken_for_nothing():
    light, massless = station(Inertia.box((0.001,) * 3, mass=1e-9)), station(Inertia.zero())
    q, v, tau = torsor.random_state(massless, seed=3)
    tau = 1e-3 * tau
    assert verdicts(massless) == (True, (), (), ((), False))
    # 1e-9 kg beside 5e-3 kg changes accelerations by no more than about that fraction
    a = torsor.forward_dynamics(massless, q, v, tau)
    assert_close(a, torsor.forward_dynamics(light, q, v, tau), 1e-5)
    assert_close(torsor.inverse_dynamics(massless, q, v, a)[6:], tau[6:], 1e-9)
    assert torsor.dynamics.mass_matrix_report(massless, q).rank == massless.nv


@pytest.mark.parametrize("length", [1e-9, 1e-7, 1e3, 1e6])
def test_an_arm_of_any_size_has_an_acceleration(length):
    small, usual = chain([(length, 1e-18)] * 4), chain([(1.0, 1.0)] * 4)
    assert verdicts(small) == (False, (), (), ((), False))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 4))
    rest = np.zeros(3)
    a = torsor.forward_dynamics(usual.with_gravity(rest), q, v, tau)
    assert_close(torsor.forward_dynamics(small.with_gravity(rest), q, v, tau * 1e-18 * length**2), a, 1e-10)
    assert torsor.dynamics.mass_matrix_report(small, q).rank == 4


@given(st.sampled_from([(1.0, 1.0), (1e-7, 1e-18), (1e4, 1e9)]), st.sampled_from([10, 60]))
@settings(max_examples=6)
def test_a_long_chain_of_point_masses_is_sound_in_any_units(units, n):
    length, mass = units
    robot = in_units(torsor.robots.planar_chain([0.3] * n, [0.5] * n), length, mass)
    assert verdicts(robot) == (True, (), (), ((), False))


# What is singular stays refused, in any unit


def on_massless_base(kind: str) -> torsor.Robot:
    arm = Inertia.box((0.3, 0.1, 0.1), mass=1.0, com=(0.2, 0.0, 0.0))
    base = Joint(name="base", kind=kind, link="hull")
    pose = pose_of(np.array([0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.0]))
    return torsor.assemble(
        [
            base,
            Joint(name="pan", kind="revolute", axis=(0, 0, 1), parent="hull", link="arm", pose=pose, inertia=arm),
        ],
        name="raft",
    )


UNITS = [(1.0, 1.0), (1e-7, 1e-18), (1e5, 1e9)]


@pytest.mark.parametrize("length, mass", UNITS)
@pytest.mark.parametrize("kind", ["free", "planar"])
def test_a_floating_base_without_mass_is_named(kind, length, mass):
    robot = on_massless_base(kind)
    if kind == "planar":  # the arm turns in the plane of its base
        robot = robot.with_parameters(poses=np.array([np.eye(4), pose_of(np.zeros(3), np.array([0.1, 0.2, 0.0]))]))
    robot = in_units(robot, length, mass)
    q, v, tau = torsor.random_state(robot, seed=0)
    for function in (
        torsor.forward_dynamics,
        torsor.papers.factorised_acceleration,
        torsor.papers.articulated_body_acceleration,
        torsor.forward_dynamics_derivatives,
    ):
        with pytest.raises(torsor.ModelError, match=r"joints 'base', 'pan' can move together .* Give 'hull' mass"):
            function(robot, q, v, tau)
    with pytest.raises(torsor.ModelError, match="joints 'base', 'pan' can move together"):
        torsor.dynamics.inverse_mass_matrix(robot, q)
    report = torsor.dynamics.mass_matrix_report(robot, q)
    assert report.rank == robot.nv - 1 and report.always_singular
    # what the refusal advises works
    body = Inertia.box((0.1 * length,) * 3, mass=mass)
    for mended in (robot.lock({"pan": 0.0}), robot.with_inertia("hull", body)):
        assert np.all(np.isfinite(torsor.forward_dynamics(mended, q[: mended.nq], v[: mended.nv], tau[: mended.nv])))


def test_a_massless_ball_joint_that_carries_an_arm_is_sound():
    robot = on_massless_base("spherical")  # four freedoms, and a body that all of them move
    q, v, tau = torsor.random_state(robot, seed=0)
    a = torsor.forward_dynamics(robot, q, v, tau)
    assert_close(torsor.inverse_dynamics(robot, q, v, a), tau, 1e-10)


@pytest.mark.parametrize("length, mass", UNITS)
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_joints_along_one_axis_without_mass_between_are_named(kind, length, mass):
    pitch, axis = 0.1 * (kind == "helical"), np.array([0.36, 0.48, 0.8])
    body = Inertia.box((0.2, 0.1, 0.3), mass=1.0, com=(0.1, 0.0, 0.2))
    joints = [
        Joint(name="first", kind=kind, axis=axis, pitch=pitch, link="between"),
        Joint(name="second", kind=kind, axis=axis, pitch=pitch, parent="between", link="body", inertia=body),
        Joint(name="third", kind="revolute", axis=(1, 0, 0), parent="body", link="hand", inertia=body),
    ]
    robot = in_units(torsor.assemble(joints), length, mass)
    q, v, tau = torsor.random_state(robot, seed=0)
    with pytest.raises(torsor.ModelError, match=r"joints 'first', 'second' can move together .* Give 'between' mass"):
        torsor.forward_dynamics(robot, q, v, tau)


@pytest.mark.parametrize("length, mass", UNITS)
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_joint_of_any_kind_that_moves_nothing_is_named_in_any_units(kind, length, mass):
    arm = Joint(name="arm", kind="revolute", axis=(0, 0, 1), link="arm", inertia=Inertia.sphere(0.2, mass=1.0))
    axis = (0.0, 0.6, 0.8) if kind in ("revolute", "prismatic", "helical") else None
    idle = Joint(name="idle", kind=kind, axis=axis, pitch=0.1 * (kind == "helical"), parent="arm", link="nothing")
    robot = in_units(torsor.assemble([arm, idle]), length, mass)
    q, v, tau = torsor.random_state(robot, seed=0)
    with pytest.raises(torsor.ModelError, match=r"joint 'idle' moves no inertia.*robot\.lock\(\{'idle': "):
        torsor.forward_dynamics(robot, q, v, tau)
    home = robot.neutral[robot.q_slice("idle")]
    held = robot.lock({"idle": home})
    assert np.all(np.isfinite(torsor.forward_dynamics(held, q[:1], v[:1], tau[:1])))


@given(seeds, sized(-6, 6))
def test_a_point_mass_on_its_axis_is_no_inertia_however_far_along_it(seed, far):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    arm = Joint(name="arm", kind="revolute", axis=(0, 0, 1), link="arm", inertia=Inertia.sphere(0.2, mass=1.0))
    pose = pose_of(np.random.default_rng(seed).normal(size=3), np.array([0.3, -0.1, 0.2]))
    drill = Joint(
        name="drill",
        kind="revolute",
        axis=axis,
        parent="arm",
        link="bit",
        pose=pose,
        inertia=Inertia.point(0.5, far * axis),
    )
    assert idle_joints(torsor.assemble([arm, drill])) == ("drill",)


# Ten numbers


@given(sized(-9, 9), sized(-30, 30), seeds)
def test_the_sign_of_an_inertia_does_not_depend_on_units(length, mass, seed):
    rng = np.random.default_rng(seed)
    units = mass * length ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    where = rng.normal(size=(6, 3))
    expected = {
        1: [Inertia.particles(rng.uniform(0.1, 1.0, 6), where).row],
        0: [
            Inertia.zero().row,
            Inertia.point(0.7).row,
            Inertia.point(0.7, where[0]).row,
            Inertia.particles([0.3, 0.4], where[:2]).row,
            np.array([0.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]),
        ],
        -1: [
            -Inertia.particles(rng.uniform(0.1, 1.0, 6), where).row,
            np.array([0.0, 1, 0, 0, 1, 0, 0, 1, 0, 1]),
            np.array([1.0, 9, 0, 0, 1, 0, 0, 1, 0, 1]),
        ],
    }
    for sign, rows in expected.items():
        assert [definiteness(row * units) for row in rows] == [sign] * len(rows)
