"""Serial chains from every description give the same robot: products of exponentials, screws and homes, DH tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from property_checks import assert_close, largest
from property_strategies import ONE_NUMBER, Case, cases, poses, robots, seeds, solid_bodies, twists

import torsor
from torsor import lie
from torsor.lie import se3

chains = robots(kinds=ONE_NUMBER, mimic=False)


def on_the_way(case: Case, frame: str) -> np.ndarray:
    """The coordinates (..., k) of the joints between the base and a frame."""
    robot = case.robot
    path = robot.structure.path_from_base(robot.structure.frame(frame).link)
    return np.stack([case.q[..., robot.q_slice(robot.joints[i]).start] for i in path], axis=-1)


def some_steps(rng: np.random.Generator, home: np.ndarray, count: int) -> np.ndarray:
    """Poses (count, 4, 4) whose product is ``home``."""
    steps = [se3.exp(rng.normal(size=6)) for _ in range(count - 1)]
    product = np.eye(4)
    for step in steps:
        product = product @ step
    return np.array([*steps, se3.inverse(product) @ home])


# Products of exponentials


@given(cases(chains))
def test_every_product_of_exponentials_is_the_frame_pose(case):
    frame = str(case.rng.choice([name for name in case.robot.frames if name != "base"]))
    q, expected = on_the_way(case, frame), torsor.frame_pose(case.robot, case.q, frame)
    link = torsor.kinematics.link_form(case.robot, frame)
    space = link.to_space()
    local = space.to_local(some_steps(case.rng, space.home, len(space.screws)))
    forms = [link, space, space.to_body(), space.to_body().to_space(), local, local.to_space()]
    homes = np.array([se3.exp(case.rng.normal(size=6)) for _ in space.screws])
    forms += [space.to_link(homes), space.to_link(homes).to_space()]
    scale = largest(space.screws) + largest(local.screws) + largest(forms[6].screws)
    for form in forms:
        assert_close(form.pose(q), expected, scale=scale)


@given(cases(chains, batches=((),)))
def test_screws_of_the_space_form_are_the_joint_axes_at_home(case):
    robot = case.robot
    frame = robot.links[-1]
    path = robot.structure.path_from_base(robot.n - 1)
    axes = torsor.kinematics.joint_axes(robot, robot.neutral)
    rows = [robot.v_slice(robot.joints[i]).start for i in path]
    assert_close(torsor.kinematics.link_form(robot, frame).to_space().screws, axes[rows])


@given(cases(chains, batches=((),)))
def test_a_frame_on_the_base_has_an_empty_product_or_is_refused_in_words(case):
    try:
        form = torsor.kinematics.link_form(case.robot, "base")
    except torsor.TorsorError as refusal:
        assert "base" in str(refusal)
    else:
        assert form.screws.shape == (0, 6)
        assert_close(form.pose(np.zeros(0)), np.eye(4), 0.0)


@given(cases(robots(kinds=("planar", "spherical", "free")), batches=((),)))
def test_joints_without_one_screw_have_no_product_of_exponentials(case):
    with pytest.raises(torsor.ModelError, match="revolute, prismatic or helical"):
        torsor.kinematics.link_form(case.robot, case.robot.links[-1])


@given(cases(chains, batches=((),)))
def test_steps_that_miss_the_home_pose_are_refused(case):
    space = torsor.kinematics.link_form(case.robot, case.robot.links[-1]).to_space()
    steps = some_steps(case.rng, space.home, len(space.screws))
    steps[0, 0, 3] += 1.0
    with pytest.raises(torsor.ModelError, match="home pose"):
        space.to_local(steps)


# Screws and homes


@st.composite
def described_chains(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[torsor.Inertia]]:
    n = draw(st.integers(1, 4))
    sizes = st.floats(0.1, 3.0)
    screws = [draw(twists(sizes, sizes)) for _ in range(n)]  # of any length: q scales with it
    return np.array(screws), np.array([draw(poses()) for _ in range(n)]), [draw(solid_bodies) for _ in range(n)]


@given(described_chains(), seeds)
def test_a_serial_chain_moves_by_the_exponentials_of_its_screws(chain, seed):
    screws, homes, inertias = chain
    robot = torsor.serial_chain(screws, homes, inertias)
    q = np.random.default_rng(seed).normal(size=len(screws))
    T = np.eye(4)
    for i, (S, home) in enumerate(zip(screws, homes, strict=True)):
        T = T @ se3.exp(S * q[i])
        assert_close(torsor.frame_pose(robot, q, f"link_{i + 1}"), T @ home, 1e-11)
    assert_close(torsor.frame_pose(robot, q, "tip"), T @ homes[-1], 1e-11)


@given(described_chains(), poses(), seeds)
def test_link_frames_of_a_chain_do_not_change_its_dynamics(chain, T, seed):
    screws, homes, inertias = chain
    # The same bodies, described in link frames moved by T.
    moved = [body.moved(se3.inverse(T)) for body in inertias]
    one, other = torsor.serial_chain(screws, homes, inertias), torsor.serial_chain(screws, homes @ T, moved)
    q, v, a = torsor.random_state(one, seed=seed)
    tau = torsor.inverse_dynamics(one, q, v, a)
    # Terms as large as mass · distance² · speed² cancel: rods of some kilograms, up to ten metres from their frames.
    scale = 10 * largest(torsor.mass_matrix(one, q))
    assert_close(torsor.inverse_dynamics(other, q, v, a), tau, 1e-11, scale=scale)


@given(described_chains(), st.floats(0.2, 5.0), seeds)
def test_a_longer_screw_is_a_faster_joint(chain, factor, seed):
    screws, homes, inertias = chain
    robot, faster = (torsor.serial_chain(k * screws, homes, inertias) for k in (1.0, factor))
    q = torsor.random_configuration(robot, seed=seed)
    slow = torsor.frame_pose(faster, q / factor, "tip")
    assert_close(slow, torsor.frame_pose(robot, q, "tip"), 1e-11)
    M = torsor.mass_matrix(robot, q)
    assert_close(torsor.mass_matrix(faster, q / factor), factor**2 * M, 1e-11)


# Denavit–Hartenberg tables


def about(axis: str, angle: float) -> np.ndarray:
    T, c, s = np.eye(4), np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def along(axis: str, distance: float) -> np.ndarray:
    T = np.eye(4)
    T["xyz".index(axis), 3] = distance
    return T


@pytest.mark.parametrize("convention", ["standard", "modified"])
@given(st.integers(1, 7), seeds, st.booleans())
def test_dh_tables_are_products_of_elementary_motions(convention, n, seed, with_tip):
    rng = np.random.default_rng(seed)
    table = [torsor.DHRow(*rng.normal(size=4), prismatic=bool(rng.random() < 0.4)) for _ in range(n)]
    q = rng.normal(size=n)
    tip = se3.exp(rng.normal(size=6)) if with_tip else np.eye(4)
    inertias = [torsor.Inertia.sphere(0.1, mass=1.0)] * n
    robot = torsor.dh_chain(table, inertias, convention=convention, tip=tip if with_tip else None)
    T = np.eye(4)
    for i, row in enumerate(table):
        theta, d = (row.theta, row.d + q[i]) if row.prismatic else (row.theta + q[i], row.d)
        turn, link = about("z", theta) @ along("z", d), along("x", row.a) @ about("x", row.alpha)
        T = T @ turn @ link if convention == "standard" else T @ about("x", row.alpha) @ along("x", row.a) @ turn
        assert_close(torsor.frame_pose(robot, q, f"link_{i + 1}"), T)
    assert_close(torsor.frame_pose(robot, q, "tip"), T @ tip)


@given(st.integers(1, 6), seeds)
def test_both_dh_conventions_describe_one_robot(n, seed):
    """A standard table is a modified one with a and α moved one row up; the links differ by the last x motion."""
    rng = np.random.default_rng(seed)
    a, alpha, d, theta = rng.normal(size=(4, n))
    bodies = [torsor.Inertia.box((0.1, 0.2, 0.3), mass=1.0, com=rng.normal(scale=0.3, size=3)) for _ in range(n)]
    standard = torsor.dh_chain(np.column_stack([a, alpha, d, theta]), bodies, convention="standard")
    rows = np.column_stack([np.append(0, a[:-1]), np.append(0, alpha[:-1]), d, theta])
    ends = [along("x", a[i]) @ about("x", alpha[i]) for i in range(n)]
    seen_from_joints = [body.moved(end) for body, end in zip(bodies, ends, strict=True)]
    modified = torsor.dh_chain(rows, seen_from_joints, convention="modified", tip=ends[-1])
    q, v, acceleration = torsor.random_state(standard, seed=seed)
    assert_close(torsor.frame_pose(modified, q, "tip"), torsor.frame_pose(standard, q, "tip"))
    there = torsor.inverse_dynamics(modified, q, v, acceleration)
    assert_close(there, torsor.inverse_dynamics(standard, q, v, acceleration), 1e-11)


@given(st.floats(-3, 3), st.floats(-1, 1), seeds)
def test_a_helical_joint_climbs_its_pitch_per_radian(q, pitch, seed):
    rng = np.random.default_rng(seed)
    axis, point = rng.normal(size=3), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    S = lie.screw(axis, point, pitch)
    robot = torsor.serial_chain([S], [np.eye(4)], [torsor.Inertia.point(1.0)])
    moved = torsor.frame_pose(robot, [q], "tip") @ np.append(point, 1.0)
    assert_close(moved[:3], point + q * pitch * axis)
