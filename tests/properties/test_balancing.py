"""Balanced mechanisms: the conditions are sufficient, necessary, and found to be so; what cannot be balanced is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close, largest
from property_strategies import bodies, directions, pose_of, robots, seeds, solid_bodies

import torsor
from torsor import Inertia, Joint, balancing, errors, lie
from torsor.balancing import (
    axisymmetric_counterweights,
    balanced_planar_chain,
    balanced_spatial_chain,
    design_scan,
    gravity_counterweights,
    is_balanced,
    is_gravity_balanced,
    least_change_balancing,
    planar_centres_of_mass,
    planar_counterweights,
)
from torsor.balancing.conditions import variation
from torsor.balancing.least_change import Problem, VariationMap, starts, variation_map

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = json.loads((DATA / "examples.json").read_text())
GOLDEN = json.loads((DATA / "golden.json").read_text())["robots"]
CONSTANT = 1e-10  # of √(M_ii M_jj): rounding through six links whose counterweights may be fifty times as heavy


# Mechanisms to try


def tree(specification, *, parents, gravity=(0.0, 0.0, -9.81), seed=0):
    """A robot from (kind, direction, body) for each link, with frames, axes' places and pitches at random.

    Directions are those at q = 0, in base axes; the axis of a joint does not pass through the origin of its link's frame.
    """
    rng = np.random.default_rng(seed)
    homes, joints = [], []
    for k, (kind, direction, body) in enumerate(specification):
        home = pose_of(rng.normal(size=3), rng.normal(scale=0.5, size=3))
        parent = np.eye(4) if parents[k] < 0 else homes[parents[k]]
        homes.append(home)
        screw = None
        if kind in ("revolute", "helical"):
            pitch = rng.normal(scale=0.2) if kind == "helical" else 0.0
            screw = lie.screw(home[:3, :3].T @ direction, rng.normal(scale=0.3, size=3), pitch)
        elif kind == "prismatic":
            screw = np.concatenate([np.zeros(3), home[:3, :3].T @ direction])
        joints.append(
            Joint(
                name=f"joint_{k}",
                kind=kind,
                parent="base" if parents[k] < 0 else f"link_{parents[k]}",
                link=f"link_{k}",
                pose=np.linalg.inv(parent) @ home,
                screw=screw,
                inertia=body,
            )
        )
    return torsor.assemble(joints, name="tree", gravity=gravity)


@st.composite
def planar_trees(draw, kinds=("revolute", "revolute", "revolute", "helical", "prismatic")):
    """One to six links with parallel axes of any direction, gravity across them."""
    n, axis = draw(st.integers(1, 6)), draw(directions)
    serial = draw(st.booleans())
    rng = np.random.default_rng(draw(seeds))
    parents = [k - 1 if serial else int(rng.integers(-1, k)) for k in range(n)]
    parts = [(draw(st.sampled_from(kinds)), axis, draw(bodies)) for _ in range(n)]
    return tree(parts, parents=parents, gravity=np.cross(axis, rng.normal(size=3)), seed=draw(seeds))


@st.composite
def spatial_trees(draw):
    """A first joint of any direction, then branches whose axes are parallel to each other but not to it."""
    first, then = draw(directions), draw(directions)
    branches = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    parts, parents = [("revolute", first, draw(solid_bodies))], [-1]
    for length in branches:
        for k in range(length):
            parents.append(0 if k == 0 else len(parts) - 1)
            parts.append(("revolute", then, draw(solid_bodies)))
    return tree(parts, parents=parents, seed=draw(seeds))


def spread_of_mass_matrix(robot):
    """The largest change of M over configurations, over the largest entry."""
    q = torsor.random_configuration(robot, seed=5, batch=(12,))
    M = torsor.mass_matrix(robot, q)
    return largest(M - M[0]) / max(largest(M), 1e-300)


def of_file(chain):
    """A chain of examples.json or golden.json."""
    screws = chain["screws"] if "screws" in chain else [joint["screw"] for joint in chain["joints"]]
    inertias = [Inertia(link["mass"], link["com"], link["inertia_com"]) for link in chain["links"]]
    return torsor.serial_chain(screws, [link["home"] for link in chain["links"]], inertias, name=chain["name"])


# is_balanced


@pytest.mark.parametrize("chain", EXAMPLES, ids=lambda chain: chain["name"])
def test_every_example_is_what_it_is_expected_to_be(chain):
    report = is_balanced(of_file(chain))
    assert bool(report) == (chain["expect"] == "constant_M")
    assert (report.largest < 1e-12) if report else (report.largest > 1e-2)


@pytest.mark.parametrize("chain", GOLDEN, ids=lambda chain: chain["name"])
def test_golden_robots_are_balanced_if_their_coriolis_terms_vanish(chain):
    coriolis = max(largest(state["C"]) for state in chain["states"])
    assert bool(is_balanced(of_file(chain))) == (coriolis < 1e-10)


@given(robots(most=6))
def test_the_report_names_the_largest_derivative_and_where_it_is(robot):
    report = is_balanced(robot)
    assert (report.largest <= report.tolerance) == (not report.entries)
    assert bool(report) == report.balanced == (not report.entries and not report.gyroscopic)
    if report:
        assert "is balanced" in str(report)
        return
    if report.gyroscopic:
        assert "M is constant in the frame of body velocities, but" in str(report)
        return
    worst = report.entries[0]
    names = [c.name if c.nv == 1 else f"{c.name}[{k}]" for c in robot.structure.coordinates for k in range(c.nv)]
    k, i, j = (names.index(name) for name in worst[:3])
    dM = np.moveaxis(torsor.geometry.mass_matrix_derivative(robot, report.where), -1, -3)
    assert_close(worst.value, dM[k, i, j], 1e-11)
    assert worst.relative == report.largest
    assert list(report.entries) == sorted(report.entries, key=lambda entry: -entry.relative)
    assert "not balanced" in str(report)
    assert worst.k in str(report)


def test_one_configuration_is_not_enough():
    """The mass matrix of a planar 2R does not change at q2 = 0, where all configurations tried at first are."""
    robot = torsor.robots.planar2r()
    assert largest(np.moveaxis(torsor.geometry.mass_matrix_derivative(robot, np.zeros(2)), -1, -3)) < 1e-15
    assert not is_balanced(robot, configurations=1)


@given(robots(kinds=("revolute", "prismatic", "helical"), least=2, most=5), st.integers(-3, 3))
def test_the_answer_does_not_depend_on_the_unit_of_mass(robot, exponent):
    """A power of two scales without rounding: the relative variation is the same to the last digit."""
    heavier = robot.with_parameters(
        inertias=4.0**exponent * robot.parameters.inertias, armature=4.0**exponent * robot.parameters.armature
    )
    assert is_balanced(heavier).largest == is_balanced(robot).largest


def test_massless_robots_are_balanced():
    """Nothing is left to vary; joints that move nothing cause no division by zero."""
    robot = torsor.robots.planar_chain([0.5, 0.4, 0.3], [0.0, 0.0, 0.0])
    assert is_balanced(robot)
    assert is_gravity_balanced(robot)
    assert is_balanced(torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.0]))
    on_the_axes = torsor.robots.planar_chain([0.0, 0.0], [1.0, 1.0])
    assert is_balanced(on_the_axes)


def test_a_mimic_joint_counts_with_its_leader():
    """Two arms in a row that fold together: M of the one coordinate changes."""
    joints = [
        Joint(name="a", kind="revolute", axis=(0, 0, 1), link="A", inertia=Inertia.point(1.0, (0.5, 0, 0))),
        Joint(
            name="b",
            kind="revolute",
            axis=(0, 0, 1),
            parent="A",
            link="B",
            pose=torsor.pose_from((0.5, 0, 0)),
            inertia=Inertia.point(1.0, (0.4, 0, 0)),
            mimic=torsor.Mimic("a", -2.0),
        ),
    ]
    robot = torsor.assemble(joints)
    assert [entry[:3] for entry in is_balanced(robot).entries] == [("a", "a", "a")]
    assert planar_counterweights(robot, distances=0.2)


def on_one_joint(kind, body):
    return torsor.assemble([Joint(name="a", kind=kind, link="A", inertia=body)], name=kind)


@pytest.mark.parametrize("kind", ["spherical", "planar", "free"])
def test_a_constant_mass_matrix_of_body_velocities_is_not_balanced_if_forces_are_left(kind):
    robot = on_one_joint(kind, Inertia.box((0.3, 0.1, 0.4), mass=1.0))
    report = is_balanced(robot)
    assert not report
    assert report.largest == 0.0
    assert not report.entries
    assert "M is constant in the frame of body velocities, but" in str(report)
    names = robot.structure.freedoms
    _, v, _ = torsor.random_state(robot, seed=3)
    forces = np.zeros(robot.nv)
    for term in report.gyroscopic:
        i, j, k = (names.index(name) for name in term[:3])
        forces[k] += term.value * v[i] * v[j]
    assert_close(forces, torsor.dynamics.coriolis_forces(robot, robot.neutral, v))


def test_a_sphere_on_a_spherical_joint_is_balanced():
    robot = on_one_joint("spherical", Inertia.sphere(0.2, mass=1.0))
    assert is_balanced(robot)
    assert largest(torsor.dynamics.coriolis_forces(robot, robot.neutral, [1.0, 2.0, 3.0])) < 1e-15


def test_least_change_has_nothing_to_do_where_only_gyroscopic_forces_are_left():
    found = least_change_balancing(
        on_one_joint("spherical", Inertia.box((0.3, 0.1, 0.4), mass=1.0)), added_mass=1.0, reach=0.1
    )
    assert not found
    assert found.counterweights == ()


@given(robots(most=5))
def test_balanced_robots_have_no_coriolis_forces(robot):
    q, v, _ = torsor.random_state(robot, seed=4)
    M, forces = torsor.mass_matrix(robot, q), torsor.dynamics.coriolis_forces(robot, q, v)
    if is_balanced(robot):
        assert largest(forces) <= 1e-9 * largest(M) * largest(v) ** 2 * robot.nv**2


def test_reports_compare_as_objects_and_print_changes():
    arm = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 1.0, 1.0])
    report, found = is_balanced(arm), gravity_counterweights(arm, distances=0.25)
    assert report == report
    assert report != is_balanced(arm)
    assert is_gravity_balanced(arm) != is_gravity_balanced(arm)
    assert found != gravity_counterweights(arm, distances=0.25)
    assert "forces of gravity, as a share of what all weights would give one way: largest 1 → 0 (-100 %)" in str(found)
    small = least_change_balancing(arm, added_mass=0.01, reach=0.1, configurations=4)
    shares = [100 * (getattr(small.after, which) / getattr(small.before, which) - 1) for which in ("largest", "rms")]
    for share in shares:
        assert f"({share:+.3g} %)" in str(small)
    assert "change of the mass matrix per rad or m" in str(small)


# Planar mechanisms


@given(planar_trees(), st.floats(0.5, 4.0))
def test_counterweights_make_the_mass_matrix_of_a_planar_tree_constant(robot, mass):
    found = planar_counterweights(robot, masses=mass)
    assert found.after
    assert found.after.largest <= CONSTANT
    assert spread_of_mass_matrix(found.robot) <= 1e-11
    assert all(weight.mass == mass for weight in found.counterweights)
    assert_close(found.added_mass, mass * len(found.counterweights))
    assert_close(found.robot.parameters.inertias[:, 0].sum(), robot.parameters.inertias[:, 0].sum() + found.added_mass)
    roots = {robot.links[i] for i, parent in enumerate(robot.structure.parents) if parent < 0}
    assert not roots & {weight.link for weight in found.counterweights}


@given(planar_trees(), st.floats(0.1, 0.6))
def test_counterweights_sit_at_the_distance_asked_for(robot, distance):
    found = gravity_counterweights(robot, distances=distance)
    assert is_balanced(found.robot)
    planar = planar_counterweights(robot, distances=distance).counterweights
    assert {weight.link for weight in planar} <= {weight.link for weight in found.counterweights}
    assert is_gravity_balanced(found.robot, tolerance=CONSTANT)
    for link, mass, position in found.counterweights:
        S = robot.parameters.screws[robot.links.index(link)]
        arm = position - np.cross(S[:3], S[3:])
        assert_close(np.linalg.norm(arm - (arm @ S[:3]) * S[:3]), distance)
        assert mass > 0
    q = torsor.random_configuration(robot, seed=2, batch=(8,))
    weight = found.robot.parameters.inertias[:, 0].sum() * np.linalg.norm(robot.gravity)
    assert largest(torsor.gravity_forces(found.robot, q)) <= 1e-11 * max(weight, 1.0)


@given(planar_trees(kinds=("revolute",)))
def test_masses_and_distances_are_two_ways_to_say_the_same(robot):
    by_mass = planar_counterweights(robot, masses=1.5)
    distances = {}
    for link, _, position in by_mass.counterweights:
        S = robot.parameters.screws[robot.links.index(link)]
        arm = position - np.cross(S[:3], S[3:])
        distances[link] = float(np.linalg.norm(arm - (arm @ S[:3]) * S[:3]))
    by_distance = planar_counterweights(robot, distances=distances)
    for one, other in zip(by_mass.counterweights, by_distance.counterweights, strict=True):
        assert one.link == other.link
        assert_close(other.mass, one.mass, 1e-11)
        assert_close(other.position, one.position, 1e-11)


@given(st.integers(2, 5), seeds)
def test_the_condition_is_necessary(n, seed):
    """Moving one counterweight across the axis by a tenth of a millimetre is noticed, and the joint is named."""
    rng = np.random.default_rng(seed)
    robot = torsor.robots.planar_chain(rng.uniform(0.2, 0.6, n), rng.uniform(0.5, 2.0, n))
    found = planar_counterweights(robot, distances=0.2)
    k = int(rng.integers(len(found.counterweights)))
    weights = list(found.counterweights)
    weights[k] = weights[k]._replace(position=weights[k].position + np.array([0.0, 1e-4, 0.0]))
    moved = balancing.counterweights.carrying(robot, weights)
    report = is_balanced(moved)
    link = robot.links.index(weights[k].link)
    assert not report
    assert (robot.joints[link], robot.joints[0], robot.joints[0]) in [entry[:3] for entry in report.entries]
    assert all(entry.k in robot.joints[: link + 1] for entry in report.entries)  # what lies beyond is still balanced


def test_joints_that_slide_before_all_others_are_fine():
    """A gantry with a pendulum, and one whose slides are parallel to the axis, which needs nothing."""
    gantry = of_file(next(chain for chain in EXAMPLES if chain["name"] == "PPR_gantry_pendulum"))
    assert planar_counterweights(gantry, distances=0.1)
    z, body = np.array([0.0, 0.0, 1.0]), Inertia.point(1.0, (0.3, 0.1, 0.2))
    lift = tree([("prismatic", z, body), ("revolute", z, body)], parents=[-1, 0])
    assert not planar_counterweights(lift, masses=1.0).counterweights


def test_design_of_centres_of_mass():
    p = planar_centres_of_mass([2.0, 1.0, 0.5], [[0.5, 0.0], [0.4, 0.1]], first=[0.1, 0.2])
    assert_close(p, [[0.1, 0.2], [-0.2, -0.05], [0.0, 0.0]])
    assert planar_centres_of_mass([1.0], []).shape == (1, 2)
    assert planar_centres_of_mass([1.0, 1.0], [[0.1, 0.2, 0.3]]).shape == (2, 3)
    with pytest.raises(torsor.ModelError, match=r"link 2 must hold a moment of 0\.2062 kg·m and has no mass"):
        planar_centres_of_mass([2.0, 0.0, 0.5], [[0.5, 0.0], [0.4, 0.1]])
    with pytest.raises(torsor.ShapeError, match="joint_vectors"):
        planar_centres_of_mass([2.0, 0.0], [[0.5, 0.0], [0.4, 0.1]])
    with pytest.raises(torsor.ModelError, match="negative"):
        planar_centres_of_mass([-2.0, 1.0], [[0.5, 0.0]])


# Gravity


@given(robots(kinds=("revolute", "spherical"), most=6), st.floats(0.5, 3.0))
def test_gravity_counterweights_hold_every_robot_whose_joints_turn(robot, mass):
    found = gravity_counterweights(robot, masses=mass)
    assert found.after
    assert found.after.largest <= CONSTANT
    q = torsor.random_configuration(robot, seed=3, batch=(6,))
    size = found.robot.parameters.inertias[:, 0].sum() * np.linalg.norm(robot.gravity)
    without_springs = found.robot.with_parameters(stiffness=np.zeros(robot.nv))
    assert np.ptp(torsor.potential_energy(without_springs, q)) <= 1e-11 * size


@given(robots(most=6))
def test_forces_of_gravity_are_reported(robot):
    report = is_gravity_balanced(robot)
    assert report.largest <= 1.0 + 1e-12
    assert bool(report) == (not report.entries)
    if not report:
        forces = torsor.gravity_forces(robot, report.where)
        assert_close(np.min(np.abs(np.abs(forces) - abs(report.entries[0].force))), 0.0, 1e-11, scale=forces)
        assert report.entries[0].joint in str(report)
    assert is_gravity_balanced(robot.with_gravity(np.zeros(3)))


def test_joints_about_the_vertical_and_horizontal_slides_need_nothing():
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    body = Inertia.point(1.0, (0.3, 0.1, 0.2))
    scara = tree([("revolute", z, body), ("revolute", z, body)], parents=[-1, 0])
    assert not gravity_counterweights(scara, masses=1.0).counterweights
    sliding = tree([("prismatic", x, body), ("revolute", x, body), ("prismatic", x, body)], parents=[-1, 0, 1])
    assert [w.link for w in gravity_counterweights(sliding, masses=1.0).counterweights] == ["link_1"]


@pytest.mark.parametrize("kind", ["prismatic", "helical", "planar", "free"])
def test_what_moves_up_and_down_cannot_be_held_by_a_weight(kind):
    robot = tree([(kind, np.array([0.0, 0.6, 0.8]), Inertia.point(1.0, (0.3, 0.1, 0.2)))], parents=[-1])
    with pytest.raises(torsor.ModelError, match="'joint_0' of robot 'tree' moves its link up and down"):
        gravity_counterweights(robot, masses=1.0)


# Spatial mechanisms


@given(spatial_trees(), st.floats(0.3, 3.0))
def test_solids_of_revolution_make_a_spatial_mass_matrix_constant(robot, mass):
    found = axisymmetric_counterweights(robot, masses=mass)
    assert found.after.largest <= CONSTANT
    assert spread_of_mass_matrix(found.robot) <= 1e-10
    for link in {weight.link for weight in found.counterweights}:
        masses = [weight.mass for weight in found.counterweights if weight.link == link]
        assert 1 <= len(masses) <= 3
        assert_close(masses, np.full(len(masses), mass / len(masses)))


@given(seeds, st.floats(0.05, 1.0))
def test_the_heights_of_the_weights_spread_as_asked(seed, spread):
    rng = np.random.default_rng(seed)
    body = Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3)))
    axes = rng.normal(size=(2, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    robot = tree([("revolute", axis, body) for axis in axes], parents=[-1, 0], seed=seed)
    found = axisymmetric_counterweights(robot, masses=1.0, spreads=spread)
    assert found.after
    heights = [weight.position @ robot.parameters.screws[1, :3] for weight in found.counterweights]
    assert_close(np.std(heights), spread, 1e-10)


@pytest.mark.parametrize("name", ["spatial3R_balanced_alpha1.57", "PPPRR_balanced", "RH_parallel_balanced"])
def test_balanced_examples_need_nothing_and_are_balanced_again_with_other_links(name):
    robot = of_file(next(chain for chain in EXAMPLES if chain["name"] == name))
    assert not axisymmetric_counterweights(robot, masses=1.0).counterweights
    rng = np.random.default_rng(1)
    for link in robot.links:
        body = Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3)))
        robot = robot.with_inertia(link, body)
    assert not is_balanced(robot)
    assert axisymmetric_counterweights(robot, masses=1.0).after.largest < CONSTANT


def test_rotors_leave_the_mass_matrix_of_a_floating_base_constant():
    """Rotors on a free body: its mass matrix in body velocities does not change as they spin, yet there are forces."""
    rng = np.random.default_rng(8)
    axes = rng.normal(size=(4, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    bodies = [Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3))) for _ in axes]
    kinds = ["free", "revolute", "revolute", "revolute"]
    robot = tree(list(zip(kinds, axes, bodies, strict=True)), parents=[-1, 0, 0, 0])
    assert not is_balanced(robot)
    after = axisymmetric_counterweights(robot, masses=0.5).after
    assert after.largest < CONSTANT
    assert not after
    assert "M is constant in the frame of body velocities, but" in str(after)


def test_an_axisymmetric_link_needs_nothing_and_an_uneven_one_two_weights():
    """Moments about the axis that differ, with nothing else amiss, take a pair of weights."""
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    shapes = {0: Inertia.cylinder(0.1, 0.4, mass=1.0), 2: Inertia.box((0.3, 0.1, 0.4), mass=1.0)}
    for count, body in shapes.items():
        joints = [
            Joint(name="a", kind="revolute", axis=x, link="A"),
            Joint(name="b", kind="revolute", axis=z, parent="A", link="B", inertia=body),
        ]
        found = axisymmetric_counterweights(torsor.assemble(joints), masses=0.5)
        assert len(found.counterweights) == count
        assert found.after


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        (
            torsor.robots.panda(),
            "'panda_joint1', 'panda_joint2' and 'panda_joint3' .* do not stay parallel to one plane",
        ),
        (of_file(next(c for c in GOLDEN if c["name"] == "RRP_a")), "slides mass across an axis that carries it"),
        (of_file(next(c for c in GOLDEN if c["name"] == "HRP_a")), "no counterweights make the mass matrix constant"),
        (
            torsor.robots.random_tree(2, seed=1, kinds=("spherical",), serial=True),
            "is spherical, with joints before it",
        ),
    ],
    ids=["panda", "RRP", "HRP", "spherical"],
)
def test_what_no_counterweight_can_balance_is_refused(robot, message):
    with pytest.raises(torsor.ModelError, match=message):
        axisymmetric_counterweights(robot, masses=2.0)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_ready_made_balanced_chains(n):
    planar, spatial = balanced_planar_chain(n), balanced_spatial_chain(n)
    assert is_balanced(planar)
    assert is_gravity_balanced(planar)
    assert is_balanced(spatial)
    q = torsor.random_configuration(spatial, seed=1)
    assert largest(torsor.geometry.christoffel_symbols(spatial, q)) < 1e-12 * largest(torsor.mass_matrix(spatial, q))


def test_gravity_counterweights_on_the_first_link_leave_a_balanced_robot_balanced():
    robot = axisymmetric_counterweights(balanced_spatial_chain(3).with_gravity((0.0, -9.81, 0.0)), masses=1.0).robot
    found = gravity_counterweights(robot, masses=1.0)
    assert [weight.link for weight in found.counterweights] == ["link_1"]
    assert is_balanced(found.robot)


# Least change


@settings(max_examples=4)
@given(robots(least=2, most=4, kinds=("revolute", "prismatic", "helical", "spherical")), st.floats(0.5, 5.0))
def test_least_change_is_never_worse_and_within_its_limits(robot, mass):
    found = least_change_balancing(robot, added_mass=mass, reach=0.4, configurations=12)
    assert found.after.rms <= found.before.rms
    assert found.added_mass <= mass * (1 + 1e-12)
    assert all(np.linalg.norm(weight.position) <= 0.4 * (1 + 1e-12) for weight in found.counterweights)
    again = balancing.counterweights.carrying(robot, found.counterweights)
    assert_close(again.parameters.inertias, found.robot.parameters.inertias)


@settings(max_examples=5)
@given(robots(least=2, most=4), seeds)
def test_the_search_minimises_the_variation_of_the_robot_itself(robot, seed):
    """The linear map in small is the mean square over all entries and configurations; its gradient is exact."""
    rng, links = np.random.default_rng(seed), list(range(robot.n))
    q = torsor.random_configuration(robot, seed=seed, batch=(5,))
    before = variation(robot, q)
    if not before.relative.any() or np.any(before.diagonal == 0):
        return
    problem = Problem(variation_map(robot, q, before.diagonal, links), 2.0, 0.5, 0.1)
    theta = rng.uniform(-0.5, 0.5, 4 * robot.n)
    theta[: robot.n] = rng.uniform(0.0, 1.0 / robot.n, robot.n)
    weights = [
        balancing.Counterweight(*weight) for weight in zip(robot.links, *problem.within_limits(theta), strict=True)
    ]
    after = variation(balancing.counterweights.carrying(robot, weights), q, before.diagonal)
    share = np.sum(after.relative**2) / np.sum(before.relative**2)
    value, gradient = problem.value_and_gradient(theta)
    assert_close(value - 0.1 * theta[: robot.n].sum(), share, 1e-10)
    steps = 1e-6 * np.eye(len(theta))
    difference = [problem.value_and_gradient(theta + d)[0] - problem.value_and_gradient(theta - d)[0] for d in steps]
    assert_close(gradient, np.array(difference) / 2e-6, 1e-7)


def test_least_change_finds_the_balanced_planar_arm():
    """2.68 kg half a metre behind the joints balance this arm; the search finds them, but for what it pays to save mass."""
    robot = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 1.0, 1.0])
    found = least_change_balancing(robot, added_mass=5.0, reach=0.5)
    assert found.after.rms < 1e-3 * found.before.rms
    exact = planar_counterweights(robot, distances=0.5)
    assert_close(found.added_mass, exact.added_mass, 1e-3)
    assert "added mass" in str(found)


def test_least_change_leaves_what_it_cannot_better():
    balanced = balanced_planar_chain(3)
    assert least_change_balancing(balanced, added_mass=1.0, reach=0.2).counterweights == ()
    robot = torsor.robots.planar_chain([0.5, 0.4], [1.0, 1.0])
    nothing = least_change_balancing(robot, added_mass=0.0, reach=0.2)
    assert nothing.counterweights == ()
    assert nothing.robot is robot
    first = least_change_balancing(robot, added_mass=1.0, reach=0.2, links=["link_1"])
    assert first.counterweights == ()  # mass on the first link changes no derivative


def test_least_change_betters_a_seven_joint_arm(monkeypatch):
    monkeypatch.setattr("torsor.balancing.least_change.GREEDY", 2)  # on busy cores, threads of the solver's BLAS
    monkeypatch.setattr("torsor.balancing.least_change.RANDOM", 0)  # wait for each other: a few starts will do
    found = least_change_balancing(torsor.robots.panda(), added_mass=10.0, reach=0.5, configurations=12)
    assert found.after.rms < 0.97 * found.before.rms
    assert not found.after


def test_least_change_takes_less_effort_for_each_link_of_a_large_robot():
    """From a dozen links on: thirty take seconds, where all starts at all configurations took a minute."""
    rng = np.random.default_rng(3)

    def number_of_starts(links):
        return len(starts(Problem(VariationMap(rng.normal(size=5), rng.normal(size=(5, links, 10))), 1.0, 0.3, 0.0), 0))

    assert [number_of_starts(links) for links in (3, 12, 20, 36)] == [10, 10, 3, 2]
    robot = torsor.robots.random_tree(16, seed=1, kinds=("revolute",))
    found = least_change_balancing(robot, added_mass=10.0, reach=0.3)
    assert 6 < found.before.configurations < 65
    assert found.after.rms < found.before.rms


def test_least_change_says_what_it_needs(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(errors, "import_module", missing)
    with pytest.raises(torsor.TorsorError, match=r"pip install 'torsor\[motion\]'"):
        least_change_balancing(torsor.robots.planar2r(), added_mass=1.0, reach=0.2)


# Design scans


def two_links(first):
    return torsor.robots.planar_chain([first, 1.0 - first], [1.0, 1.0])


def test_a_design_scan_is_the_measure_of_each_robot():
    values = np.linspace(0.2, 0.8, 40)  # more than the number of variants that the compiler warns of
    scan = design_scan(two_links, values, configurations=16, seed=4)
    for k in (0, 17, 39):
        robot = two_links(values[k])
        q = torsor.random_configuration(robot, seed=4, batch=(16,))
        size = np.trace(torsor.mass_matrix(robot, q), axis1=-2, axis2=-1).mean() / 2
        measured = torsor.geometry.curvature_norm(robot, q) * size
        assert_close(scan.mean[k], measured.mean())
        assert_close(scan.rms[k], np.sqrt(np.mean(measured**2)))
        assert_close(scan.worst[k], measured.max())
        assert_close(scan.worst_q[k], q[measured.argmax()])
    assert scan.values == tuple(values)
    assert scan.best in values
    assert len(str(scan).splitlines()) == 41


@pytest.mark.compiled
def test_one_kernel_for_all_variants_gives_the_same(monkeypatch):
    values = np.linspace(0.2, 0.8, 40)
    plain = design_scan(two_links, values)
    monkeypatch.setattr("torsor.balancing.design.WORTH_COMPILING", 1)
    compiled = design_scan(two_links, values)
    assert_close(compiled.rms, plain.rms, 1e-11)
    assert_close(compiled.worst_q, plain.worst_q)


def test_the_scaled_curvature_has_no_unit():
    """Neither the density of the material nor the size of an arm without slides changes the measure."""
    scan = design_scan(lambda s: torsor.robots.planar_chain([0.5 * s, 0.3 * s], [1.0, 2.0]), [0.1, 1.0, 7.0])
    assert_close(scan.rms, np.full(3, scan.rms[0]), 1e-11)
    scan = design_scan(lambda m: torsor.robots.planar_chain([0.5, 0.3], [m, 2.0 * m]), [0.1, 1.0, 7.0])
    assert_close(scan.rms, np.full(3, scan.rms[0]), 1e-11)


@pytest.mark.compiled
def test_other_measures_of_a_design():
    def height(robot, q):
        return torsor.dynamics.centre_of_mass(robot, q)[..., 1]

    values = list(np.linspace(0.2, 0.8, 40))
    scan = design_scan(two_links, values, measure=height)  # no kernel for each: that would warn, which fails the test
    q = torsor.random_configuration(two_links(0.5), seed=0, batch=(32,))
    assert_close(scan.mean[7], height(two_links(values[7]), q).mean())
    balance = design_scan(lambda n: balanced_planar_chain(n), [1, 2, 4], measure="balance")
    assert_close(balance.worst, np.zeros(3))
    assert np.all(design_scan(lambda n: balanced_planar_chain(n), [1, 2, 4]).worst < 1e-12)
    singular = design_scan(lambda m: torsor.robots.planar_chain([0.5, 0.3], [m, 0.0]), [1.0])
    assert np.isnan(singular.worst[0])


# What is refused


ARM = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: planar_counterweights(ARM), r"masses=, kg\) or .*distances=, m"),
        (lambda: planar_counterweights(ARM, masses=0.0), r"'link_3' needs .* moment of 0\.3 kg·m .* no mass has none"),
        (lambda: planar_counterweights(ARM, masses={"link_2": 1.0}), r"'link_3' needs .* 0\.3 kg·m .*masses={'link_3'"),
        (lambda: planar_counterweights(ARM, masses=-1.0), "must not be negative"),
        (lambda: planar_counterweights(ARM, masses=np.nan), "finite"),
        (lambda: planar_counterweights(ARM, distances=0.0), "must be positive"),
        (lambda: planar_counterweights(ARM, distances={"link_3": -0.1}), "'link_3' must be positive"),
        (lambda: planar_counterweights(ARM, masses={"link_4": 1.0}), "no link 'link_4'; nearest: 'link_3'"),
        (lambda: planar_counterweights(ARM, masses={"base": 1.0}), "the base, which does not move"),
        (lambda: planar_counterweights(ARM, masses={"link_1": 1.0}), "'link_1' needs no .*gravity_counterweights"),
        (lambda: planar_counterweights(ARM, masses=1.0, distances=0.1), "both a mass and a distance"),
        (lambda: planar_counterweights(torsor.robots.panda(), masses=1.0), "not parallel.*axisymmetric_counterweights"),
        (lambda: gravity_counterweights(ARM, masses=0.0), "no mass has none"),
        (lambda: axisymmetric_counterweights(torsor.robots.panda(), masses=0.0), "needs counterweights: .* kg·m²"),
        (lambda: axisymmetric_counterweights(ARM, masses=0.0), r"masses={'link_3': …} \(kg\)\.$"),
        (lambda: axisymmetric_counterweights(ARM, masses=1.0, spreads=0.0), "`spreads` must be positive"),
        (lambda: is_balanced(ARM, configurations=0), "at least one configuration"),
        (lambda: is_balanced("arm"), "must be a torsor.Robot, got str"),
        (lambda: least_change_balancing(ARM, added_mass=-1.0, reach=0.1), "added_mass must not be negative"),
        (lambda: least_change_balancing(ARM, added_mass=1.0, reach=0.0), "reach must be positive"),
        (lambda: least_change_balancing(ARM, added_mass=1.0, reach=0.1, links=["link_9"]), "no moving link 'link_9'"),
        (lambda: design_scan(two_links, []), "at least one value"),
        (
            lambda: design_scan(two_links, [0.5], measure="beauty"),
            "`measure` must be 'curvature', 'balance' or a function",
        ),
        (lambda: design_scan(lambda x: x, [0.5]), r"make_robot\(0.5\) must give a torsor.Robot, got float"),
        (lambda: design_scan(two_links, [0.5], measure=lambda robot, q: 1.0), r"shape \(32,\)"),
        (lambda: balanced_planar_chain(0), "at least 1 link"),
        (lambda: balanced_planar_chain(2.5), r"a whole number of them, got 2\.5"),
        (lambda: balanced_spatial_chain("2"), "a whole number of them, got '2'"),
        (lambda: least_change_balancing("x", added_mass=1.0, reach=0.1), "must be a torsor.Robot, got str"),
        (lambda: planar_counterweights("x", masses=1.0), "must be a torsor.Robot, got str"),
        (lambda: gravity_counterweights(None, masses=1.0), "must be a torsor.Robot, got nothing"),
        (lambda: axisymmetric_counterweights("x", masses=1.0), "must be a torsor.Robot, got str"),
        (lambda: is_gravity_balanced("x"), "must be a torsor.Robot, got str"),
        (lambda: planar_counterweights(ARM, masses=[1, 2]), r"one number for all links, or a dict .*got \[1, 2\]"),
        (lambda: planar_counterweights(ARM, masses="2"), "one number for all links, or a dict .*got '2'"),
        (lambda: axisymmetric_counterweights(ARM, masses={"link_2": "2"}), "a number for each link by name"),
        (lambda: planar_centres_of_mass([1, 1], [[0.5, 0.0]], first=[1, 2, 3]), r"`first` must have shape \(2,\)"),
        (lambda: planar_centres_of_mass("ab", [[0.5, 0.0]]), "`masses` must be numbers"),
        (lambda: least_change_balancing(ARM, added_mass=1.0, reach=0.1, links=[]), "at least one link by name"),
        (lambda: least_change_balancing(ARM, added_mass=1.0, reach=0.1, links="link_1"), "list of at least one link"),
        (lambda: least_change_balancing(ARM, added_mass="1", reach=0.1), "added_mass must not be negative"),
        (lambda: is_balanced(ARM, configurations=2.5), "a whole number of configurations"),
        (lambda: design_scan(two_links, [0.5], configurations=2.5), "a whole number of configurations"),
        (
            lambda: design_scan(lambda m: torsor.robots.planar_chain([0.5, 0.3], [m, 0.0]), [1.0, 2.0]).best,
            "no value is best.*mass_matrix_report",
        ),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(torsor.TorsorError, match=message):
        call()


def test_a_generator_is_as_good_a_seed_as_a_number():
    arm = torsor.robots.planar2r()
    for found in (is_balanced, is_gravity_balanced):
        one, other = (found(arm, seed=np.random.default_rng(3)) for _ in range(2))
        assert one.largest == other.largest == found(arm, seed=3).largest
    source = np.random.default_rng(3)  # every robot of a scan is asked at the same configurations
    assert np.ptp(design_scan(lambda _: arm, [1, 2, 3], seed=source).rms) == 0.0
    one, other = (
        least_change_balancing(arm, added_mass=1.0, reach=0.2, configurations=4, seed=np.random.default_rng(3))
        for _ in range(2)
    )
    assert one.after.rms == other.after.rms


def test_reports_hold_the_robot_and_show_themselves_on_one_line():
    arm = torsor.robots.planar2r()
    balanced = planar_counterweights(arm, masses=1.0)
    for report in (is_balanced(arm), is_gravity_balanced(arm), balanced, design_scan(two_links, [0.4, 0.5])):
        assert "\n" not in repr(report) and "array([" not in repr(report)
        assert report._repr_html_().startswith("<pre>")
    assert balanced.before.robot is arm and balanced.after.robot is balanced.robot
    assert is_gravity_balanced(arm).robot is arm
