"""Flat robots and curved ones: who is flat, the coordinates in which flat ones move straight, curvature along a motion."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close, dot, times, transposed
from property_strategies import any_robots, seeds, solid_bodies

import torsor
from torsor.motion import (
    curvature_along,
    flat_coordinates,
    is_flat,
    transport_factor,
)
from torsor.motion.curvature import _is_regular, _relative_curvature

DATA = Path(__file__).parents[1] / "data"
FLAT = ("constant_M", "flat_nonconstant_M")
INTEGRATED = 1e-9  # tolerance 1e-10 of the integration, summed over its steps


def chain_of(data: dict) -> torsor.Robot:
    screws = data["screws"] if "screws" in data else [joint["screw"] for joint in data["joints"]]
    inertias = [torsor.Inertia(link["mass"], link["com"], link["inertia_com"]) for link in data["links"]]
    homes = [link["home"] for link in data["links"]]
    return torsor.serial_chain(screws, homes, inertias, tip=data["tip_home"], name=data["name"])


EXAMPLES = json.loads((DATA / "examples.json").read_text())
GOLDEN = json.loads((DATA / "golden.json").read_text())["robots"]
CHAINS = {data["name"]: chain_of(data) for data in (*EXAMPLES, *GOLDEN)}
# Of the golden robots, those not said to be flat are ordinary ones.
EXPECTED = {data["name"]: (data.get("expect") or "curved").split(" ")[0] for data in (*GOLDEN, *EXAMPLES)}
TWO_R, TWO_MASSES = CHAINS["planar2R_massless_pointmass"], CHAINS["flat6R_two_pointmasses"]
NOT_CONSTANT = ["PR_cartpole", "PPR_gantry_pendulum", "planar2R_massless_pointmass", "flat6R_two_pointmasses"]


def regular(robot: torsor.Robot, seed: int = 2) -> np.ndarray:
    """Of some configurations, the one at which M is the farthest from singular."""
    some = torsor.random_configuration(robot, seed=seed, batch=(30,))
    return some[np.linalg.cond(torsor.mass_matrix(robot, some)).argmin()]


def around(q0: np.ndarray, count: int, size: float = 0.2) -> np.ndarray:
    return q0 + size * np.random.default_rng(7).normal(size=(count, len(q0)))


def loop_from(q0: np.ndarray, size: float = 0.3) -> np.ndarray:
    a, b = size * np.eye(len(q0))[:2]
    return np.array([q0, q0 + a, q0 + a + b, q0 + b, q0])


# Who is flat


@pytest.mark.parametrize("name", sorted(CHAINS))
def test_every_example_is_flat_or_curved_as_it_is_known_to_be(name):
    report = is_flat(CHAINS[name])
    assert bool(report) == (EXPECTED[name] in FLAT)
    # Nothing in between: rounding, multiplied by the condition of M, or curvature of the size of its terms.
    assert report.largest < 1e-9 or report.largest > 1e-2
    if EXPECTED[name] == "constant_M":
        q = torsor.random_configuration(CHAINS[name], seed=1, batch=(5,))
        assert_close(np.ptp(torsor.mass_matrix(CHAINS[name], q), axis=0), np.zeros((CHAINS[name].nv,) * 2))


@pytest.mark.parametrize("robot", [torsor.robots.panda(), torsor.robots.ur5(), torsor.robots.chain(8)], ids=str)
def test_real_arms_are_curved(robot):
    assert not is_flat(robot)


def test_one_configuration_is_not_enough():
    """A curved planar 2R has no curvature at q2 = π/2."""
    robot = CHAINS["curved_planar2R"]
    at = torsor.geometry.riemann_curvature(robot, [[0.3, np.pi / 2], [0.3, 0.5]])
    assert_close(at[0], np.zeros((2,) * 4))
    assert np.abs(at[1]).max() > 0.05
    _, relative = _relative_curvature(robot, np.array([[0.3, np.pi / 2]]))
    assert relative.max() < 1e-15
    assert not is_flat(robot)


@st.composite
def gantries(draw: st.DrawFn) -> torsor.Robot:
    """Prismatic joints in any directions, then one revolute or helical joint with any body: always flat."""
    rng = np.random.default_rng(draw(seeds))
    kinds = ["prismatic"] * draw(st.integers(0, 3)) + [draw(st.sampled_from(["revolute", "helical"]))]
    joints, parent = [], "base"
    for k, kind in enumerate(kinds):
        link = f"link_{k}"
        joints.append(
            torsor.Joint(
                name=f"joint_{k}",
                kind=kind,
                parent=parent,
                link=link,
                pose=torsor.pose_from(rng.normal(size=3)),
                axis=rng.normal(size=3),
                pitch=0.3 if kind == "helical" else 0.0,
                inertia=draw(solid_bodies),
            )
        )
        parent = link
    return torsor.assemble(joints, name="gantry", gravity=rng.normal(size=3))


@given(gantries())
def test_one_turning_joint_behind_sliding_ones_is_always_flat(robot):
    report = is_flat(robot, configurations=3)
    assert report
    assert report.largest < 1e-12


@given(any_robots, seeds)
@settings(max_examples=10)
def test_the_relative_curvature_is_a_number_between_nothing_and_a_few(robot, seed):
    """R is a sum of five terms of at most the size it is measured by."""
    q = torsor.random_configuration(robot, seed=seed, batch=(3,))
    q = q[_is_regular(torsor.mass_matrix(robot, q))]
    _, relative = _relative_curvature(robot, q)
    assert relative.max(initial=0.0) <= 5.0 + 1e-9


@pytest.mark.parametrize("kinds", ["RRP", "PRR", "HRP"])
def test_the_relative_curvature_does_not_depend_on_units(kinds):
    """In millimetres and grams, prismatic coordinates and all inertias change by powers of ten; the ratio does not."""

    def chain(length: float, mass: float) -> torsor.Robot:
        rng, joints, parent = np.random.default_rng(3), [], "base"
        for k, kind in enumerate(kinds):
            body = torsor.Inertia(mass, length * rng.normal(size=3), mass * length**2 * np.diag([1.0, 0.8, 0.5]))
            pose, axis = torsor.pose_from(length * rng.normal(size=3)), rng.normal(size=3)
            word = {"R": "revolute", "P": "prismatic", "H": "helical"}[kind]
            pitch = 0.2 * length if kind == "H" else 0.0
            place = {"name": f"j{k}", "kind": word, "parent": parent, "link": f"l{k}", "pose": pose}
            joints.append(torsor.Joint(**place, axis=axis, pitch=pitch, inertia=body))
            parent = f"l{k}"
        return torsor.assemble(joints)

    q = np.array([[0.4, -0.7, 0.9]])
    scaled = q * np.where(np.array(list(kinds)) == "P", 1000.0, 1.0)
    _, expected = _relative_curvature(chain(1.0, 1.0), q)
    _, relative = _relative_curvature(chain(1000.0, 1000.0), scaled)
    assert expected.max() > 1e-2
    np.testing.assert_allclose(relative, expected, atol=1e-12)


def one_body(kind: str) -> torsor.Robot:
    body = torsor.Inertia(2.0, (0.1, 0.2, -0.3), np.diag([0.3, 0.4, 0.5]))
    return torsor.assemble([torsor.Joint(name="joint", kind=kind, parent="base", link="body", inertia=body)])


@pytest.mark.parametrize(("kind", "flat"), [("planar", True), ("spherical", False), ("free", False)])
def test_a_body_is_flat_in_the_plane_and_curved_where_it_turns_in_space(kind, flat):
    report = is_flat(one_body(kind))
    assert bool(report) == flat
    if kind == "free":  # components are named by the numbers of v
        assert report.components[0].freedoms[0].startswith("joint[")


def test_one_degree_of_freedom_is_always_flat():
    report = is_flat(torsor.robots.pendulum())
    assert report
    assert "one degree of freedom" in str(report)


def test_armature_counts_as_inertia():
    """A heavy rotor on the second joint of a massless 2R makes it curved, one on the swing of a cart-pole does not."""
    armature = np.array([0.0, 0.3])
    assert not is_flat(TWO_R.with_parameters(armature=armature))
    assert is_flat(torsor.robots.cart_pole().with_parameters(armature=armature))


def test_a_report_says_why():
    curved, flat = is_flat(torsor.robots.planar2r()), is_flat(torsor.robots.cart_pole())
    assert "'planar2r' is curved" in str(curved)
    assert "R(joint_1, joint_2, joint_1, joint_2) = " in str(curved)
    assert "'cart_pole' is flat: at 12 random configurations" in str(flat)
    assert curved.where.shape == (2,)
    R = torsor.geometry.riemann_curvature(torsor.robots.planar2r(), curved.where)
    assert_close(curved.components[0].value, R[0, 1, 0, 1])
    assert is_flat(torsor.robots.planar2r(), configurations=3, seed=5).configurations == 3


def massless_within(elbow: float) -> torsor.Robot:
    """A massless 2R whose elbow stays within an angle of stretched, where it is singular."""
    robot = torsor.robots.planar_chain([0.5, 0.4], [0.0, 1.0])
    limits = robot.limits._replace(lower=(-np.pi, -elbow), upper=(np.pi, elbow))
    return replace(robot, structure=replace(robot.structure, limits=limits))


def test_singular_configurations_are_replaced_by_others():
    with pytest.raises(torsor.ModelError, match=r"is singular at \d+ of \d+ random configurations.*mass_matrix_report"):
        is_flat(massless_within(1e-6))
    report = is_flat(massless_within(0.02))
    assert report
    assert report.skipped > 0
    assert f"({report.skipped} more were singular)" in str(report)


def test_a_robot_that_is_singular_everywhere_has_no_metric():
    robot = torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.0])
    with pytest.raises(torsor.ModelError, match="there is no metric to measure"):
        is_flat(robot)


def test_senseless_questions_are_refused():
    for wrong in ({"tolerance": 0.0}, {"configurations": 0}):
        with pytest.raises(torsor.TorsorError, match=r"must be (finite and )?positive"):
            is_flat(torsor.robots.planar2r(), **wrong)


# Flat coordinates


@pytest.mark.compiled
@pytest.mark.parametrize("name", [*NOT_CONSTANT, "planar3R_balanced"])
def test_the_jacobian_of_phi_is_a_factor_of_the_mass_matrix(name):
    robot = CHAINS[name]
    flat = flat_coordinates(robot, regular(robot))
    q = around(flat.q0, 4)
    N, M = flat.jacobian(q), torsor.mass_matrix(robot, q)
    assert_close(transposed(N) @ N, M, INTEGRATED)
    assert_close(flat.jacobian(flat.q0), np.triu(flat.factor))
    assert_close(flat.phi(flat.q0), np.zeros(robot.nv))
    h, e = 1e-3, np.eye(robot.nv)  # fourth order: h⁴ times a fifth derivative, and tolerance/h
    far, near, back, behind = (flat.phi(q[:, None] + k * h * e) for k in (2, 1, -1, -2))
    assert_close(transposed((8 * (near - back) - (far - behind)) / (12 * h)), N, 1e-7)


@pytest.mark.compiled
@pytest.mark.parametrize("name", NOT_CONSTANT)
def test_the_inverse_finds_the_configuration_again(name):
    robot = CHAINS[name]
    flat = flat_coordinates(robot, regular(robot))
    q = around(flat.q0, 3)
    assert_close(flat.inverse(flat.phi(q)), q, 1e-8)
    assert_close(flat.inverse(flat.phi(q), start=q + 0.01), q, 1e-8)


@pytest.mark.compiled
def test_states_are_mapped_together_and_power_is_kept():
    robot = torsor.robots.cart_pole()
    flat = flat_coordinates(robot, [0.2, 0.5])
    q, v, tau = np.random.default_rng(1).normal(size=(3, 6, 2))
    state = flat.state(q, v, tau)
    assert_close(state.q, flat.phi(q))
    assert_close(state.v, flat.velocity(q, v))
    assert_close(state.tau, flat.force(q, tau))
    assert_close(dot(state.tau, state.v), dot(tau, v), INTEGRATED)
    assert_close(0.5 * dot(state.v, state.v), torsor.kinetic_energy(robot, q, v), INTEGRATED)
    assert flat.phi(np.zeros((0, 2))).shape == (0, 2)
    assert flat.jacobian(np.zeros((2, 3, 2))).shape == (2, 3, 2, 2)


@pytest.mark.compiled
def test_many_paths_are_as_exact_as_one():
    robot = torsor.robots.cart_pole()
    flat = flat_coordinates(robot, [0.0, 0.1])
    q = np.random.default_rng(0).normal(size=(300, 2))
    one_by_one = np.array([flat.phi(x) for x in q[::100]])
    assert_close(flat.phi(q)[::100], one_by_one, INTEGRATED)


@pytest.mark.compiled
def test_flat_coordinates_of_a_massless_2r_are_the_place_of_its_mass():
    """φ is √m times the Cartesian position of the mass, turned and shifted."""
    flat = flat_coordinates(TWO_R, [0.3, 0.9])
    q = flat.q0 + np.random.default_rng(0).uniform(-0.6, 0.6, size=(8, 2))
    place = torsor.dynamics.centre_of_mass(TWO_R, q)[:, :2] - torsor.dynamics.centre_of_mass(TWO_R, flat.q0)[:2]
    h = 1e-5
    J = np.transpose([torsor.dynamics.centre_of_mass(TWO_R, flat.q0 + h * e)[:2] for e in np.eye(2)])
    J = (J - np.transpose([torsor.dynamics.centre_of_mass(TWO_R, flat.q0 - h * e)[:2] for e in np.eye(2)])) / (2 * h)
    turn = flat.factor @ np.linalg.inv(J)  # √m times an orthogonal matrix; m = 1
    assert_close(turn @ turn.T, np.eye(2), 1e-8)
    assert_close(flat.phi(q), place @ turn.T, 1e-8)


@pytest.mark.compiled
def test_flat_coordinates_of_two_masses_on_a_6r_are_their_places():
    """|φ(a) − φ(b)|² = Σ m |p(a) − p(b)|² for all pairs: an isometry, without knowing which."""
    flat = flat_coordinates(TWO_MASSES, regular(TWO_MASSES))
    q = around(flat.q0, 5, 0.15)
    T = torsor.link_poses(TWO_MASSES, q)
    bodies = [TWO_MASSES.inertia(link) for link in TWO_MASSES.links]
    places = [np.sqrt(b.mass) * (T[:, i, :3, :3] @ b.com + T[:, i, :3, 3]) for i, b in enumerate(bodies) if b.mass > 0]
    places = np.concatenate(places, axis=-1)
    phi = flat.phi(q)
    apart = [np.sum((x[:, None] - x[None]) ** 2, axis=-1) for x in (phi, places)]
    assert_close(apart[0], apart[1], 1e-8)


@pytest.mark.compiled
@pytest.mark.parametrize("name", NOT_CONSTANT)
def test_a_simulated_motion_obeys_the_linear_equation(name):
    """q̃̈ = τ̃ with gravity among the forces, by differencing φ along a simulated motion."""
    robot = CHAINS[name].with_gravity([0.3, -9.81, 1.0])
    q0 = regular(robot)
    flat = flat_coordinates(robot, q0)
    step, tau = 2e-3, np.random.default_rng(4).normal(size=robot.nv)
    v0 = 0.3 * np.random.default_rng(5).normal(size=robot.nv)
    run = torsor.simulate(robot, q0, v0, duration=8 * step, dt=step, tau=tau, method="rk4")
    phi, middle = flat.phi(run.q), slice(2, -2)
    # Fourth-order second differences: h⁴ of a sixth derivative, and 1e-11/h² of integration.
    second = (-phi[4:] + 16 * phi[3:-1] - 30 * phi[2:-2] + 16 * phi[1:-3] - phi[:-4]) / (12 * step**2)
    forced = flat.linearised_force(run.q, run.v, np.broadcast_to(tau, run.v.shape))
    assert_close(second, forced[middle], 1e-4)
    assert (
        np.abs(second - flat.force(run.q, np.broadcast_to(tau, run.v.shape))[middle]).max() > 0.1
    )  # gravity is needed


@pytest.mark.compiled
@pytest.mark.parametrize("name", NOT_CONSTANT)
def test_motion_without_force_is_a_straight_line(name):
    robot = CHAINS[name].with_gravity([0.0, 0.0, 0.0])
    q0 = regular(CHAINS[name])
    flat = flat_coordinates(CHAINS[name], q0)  # gravity is a force, not a part of the metric
    v0 = 0.3 * np.random.default_rng(6).normal(size=robot.nv)
    run = torsor.simulate(robot, q0, v0, duration=0.4, dt=1e-2, method="rk4")
    straight = run.time[:, None] * flat.velocity(q0, v0)
    assert_close(flat.phi(run.q)[::10], straight[::10], 1e-6)  # the simulation's error
    assert np.abs(run.q - q0 - run.time[:, None] * v0).max() > 1e-3  # in q it is curved


@given(gantries(), seeds)
@settings(max_examples=8)
def test_acceleration_in_flat_coordinates_is_force(robot, seed):
    """N a + Ṅ v = N⁻ᵀ (τ − g), with Ṅ_aj = N_ar Γ^r_kj v_k: identity of every flat robot, at any state."""
    q, v, a = torsor.random_state(robot, seed=seed)
    flat = flat_coordinates(robot, q + 0.3)
    N, tau = flat.jacobian(q), torsor.inverse_dynamics(robot, q, v, a)
    N_rate = np.einsum("ar,kjr,k->aj", N, torsor.geometry.christoffel_symbols_second_kind(robot, q), v)
    forced = flat.linearised_force(q, v, tau)
    condition = np.linalg.cond(torsor.mass_matrix(robot, q))
    assert_close(N @ a + N_rate @ v, forced, 1e-10 * condition, scale=N)


def test_curved_robots_are_refused_with_the_reason():
    with pytest.raises(torsor.ModelError, match=r"(?s)'planar2r' is curved.*R\(joint_1, joint_2.*flat robots only"):
        flat_coordinates(torsor.robots.planar2r(), [0.1, 0.2])


@pytest.mark.parametrize("kind", ["planar", "spherical", "free"])
def test_joints_whose_velocities_are_twists_are_refused(kind):
    with pytest.raises(
        torsor.ModelError, match=rf"joint 'joint' of robot .* is {kind}: its velocities are body twists"
    ):
        flat_coordinates(one_body(kind), one_body(kind).neutral)


@pytest.mark.compiled
def test_paths_through_singular_configurations_are_refused():
    flat = flat_coordinates(TWO_R, [0.1, 0.5])
    for q in ([0.1, 0.0], [0.1, -0.5]):  # at the stretched arm, and on the other side of it
        with pytest.raises(torsor.ModelError, match="singular"):
            flat.phi(q)
    with pytest.raises(torsor.ModelError, match="singular"):
        flat.inverse([30.0, 30.0])  # out of reach
    with pytest.raises(torsor.ModelError, match="singular"):
        flat_coordinates(TWO_R, [0.1, 0.0])
    with pytest.raises(torsor.TorsorError, match="finite"):
        flat.phi([np.nan, 0.5])


def test_shapes_are_checked():
    robot = torsor.robots.cart_pole()
    flat = flat_coordinates(robot, [0.0, 0.0])
    for call in (
        lambda: flat_coordinates(robot, [0.0]),
        lambda: flat.phi([0.0, 0.0, 0.0]),
        lambda: flat.inverse([0.0]),
        lambda: transport_factor(robot, [0.0, 0.0]),
        lambda: curvature_along(robot, [0.0, 0.0]),
        lambda: curvature_along(robot, [[0.0, 0.0]]),
        lambda: curvature_along(robot, np.zeros((3, 2)), velocities=np.zeros((4, 2))),
    ):
        with pytest.raises(torsor.ShapeError):
            call()


@pytest.mark.compiled
def test_a_long_way_is_integrated_finer_and_not_taken_for_a_singular_one():
    """Three turns of the pole: steps added up to more than was allowed, though M is nowhere near singular."""
    cart, pole, length = 1.0, 0.8, 0.6
    robot = torsor.robots.cart_pole(cart=cart, pole=pole, length=length)
    flat = flat_coordinates(robot, [0.2, 0.3])
    far = np.array([100.0, 20.0])
    N = flat.jacobian(far)
    assert_close(N.T @ N, torsor.mass_matrix(robot, far), 2e-8)
    centre = far[0] - 0.2 + pole / (cart + pole) * length * (np.sin(far[1]) - np.sin(0.3))
    assert_close(flat.phi(far)[0], np.sqrt(cart + pole) * centre, 1e-8)


def test_advice_is_what_the_function_can_follow():
    flat = flat_coordinates(TWO_R, [0.1, 0.5])
    with pytest.raises(torsor.ModelError, match=r"phi: .* choose another q0"):
        flat.phi([0.1, -0.5])
    with pytest.raises(torsor.ModelError, match=r"transport_factor: .*corner by corner"):
        transport_factor(TWO_R, [[0.1, 0.5], [0.1, -0.5]])
    with pytest.raises(torsor.ModelError, match=r"inverse: .*out of reach"):
        flat.inverse([30.0, 30.0])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda r, f: is_flat("x"), "is_flat: the first argument must be a torsor.Robot, got str 'x'"),
        (lambda r, f: flat_coordinates(None, [0.0]), "flat_coordinates: the first argument must be a torsor.Robot"),
        (lambda r, f: flat_coordinates(r, [np.nan, 0.0]), "`q0` must be finite"),
        (lambda r, f: flat_coordinates(r, [0.0, 0.0], tolerance=-1.0), "`tolerance` must be finite and positive"),
        (lambda r, f: f.velocity([0.0, 0.0], [1.0]), r"velocity: `v` must have shape \(..., 2\), got \(1,\)"),
        (lambda r, f: f.force([0.0, 0.0], "x"), "force: `tau` must be an array of numbers"),
        (lambda r, f: f.linearised_force([0.0, 0.0], [0.0, 0.0], [1.0]), r"`tau` must have shape \(..., 2\)"),
        (lambda r, f: f.inverse([np.nan, 0.0]), "`q_tilde` must be finite"),
        (
            lambda r, f: transport_factor(r, np.zeros((2, 2)), factor=np.eye(3)),
            r"`factor` must have shape \(..., 2, 2\)",
        ),
        (lambda r, f: transport_factor(r, np.zeros((2, 2)), factor=np.ones((4, 2, 2))), "one for each path"),
        (lambda r, f: transport_factor(r, np.zeros((2, 2)), tolerance=-1.0), "`tolerance` must be finite and positive"),
    ],
)
def test_wrong_arguments_are_named(call, text):
    robot = torsor.robots.cart_pole()
    with pytest.raises(torsor.TorsorError, match=text):
        call(robot, flat_coordinates(robot, [0.0, 0.0]))


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    flat = flat_coordinates(torsor.robots.cart_pole(), [0.0, 0.0])
    with pytest.raises(torsor.TorsorError, match=r"phi: needs SciPy: pip install 'torsor\[motion\]'"):
        flat.phi([0.1, 0.1])


# The factor around closed paths


@pytest.mark.compiled
@pytest.mark.parametrize("name", NOT_CONSTANT)
def test_around_a_closed_path_the_factor_of_a_flat_robot_comes_back(name):
    robot = CHAINS[name]
    passed = transport_factor(robot, loop_from(regular(robot)), tolerance=1e-12)
    assert_close(passed.N[-1], passed.N[0], 3e-12)
    assert_close(passed.phi[-1], np.zeros(robot.nv), 3e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["curved_planar2R", "PUMA-like random 3R", "spatial3R_a"])
def test_around_a_closed_path_the_factor_of_a_curved_robot_comes_back_turned(name):
    robot = CHAINS[name]
    q0 = regular(robot)
    N = transport_factor(robot, loop_from(q0)).N
    M = torsor.mass_matrix(robot, loop_from(q0))
    assert_close(transposed(N) @ N, M, INTEGRATED)  # a factor all along
    assert np.abs(N[-1] - N[0]).max() > 1e-3
    holonomy = N[-1] @ np.linalg.inv(N[0])
    assert_close(holonomy @ holonomy.T, np.eye(robot.nv), INTEGRATED)
    half = transport_factor(robot, loop_from(q0, 0.15)).N
    assert np.linalg.norm(half[-1] - half[0]) < 0.5 * np.linalg.norm(N[-1] - N[0])  # it grows with the area


@pytest.mark.compiled
def test_the_turn_around_a_small_loop_is_the_curvature_times_its_area():
    """A planar 2R: N turns by the sectional curvature times √det M times the area in q, to first order."""
    robot, q0, h = CHAINS["curved_planar2R"], np.array([0.3, 0.6]), 0.02
    N = transport_factor(robot, loop_from(q0, h) - h / 2).N
    turn = N[-1] @ np.linalg.inv(N[0])
    K = torsor.geometry.sectional_curvature(robot, q0, [1.0, 0.0], [0.0, 1.0])
    area = np.sqrt(np.linalg.det(torsor.mass_matrix(robot, q0))) * h**2
    assert_close(abs(turn[0, 1]) / area, abs(K), 1e-3)


@pytest.mark.compiled
def test_a_given_factor_is_carried_as_the_default_one():
    robot = torsor.robots.cart_pole()
    path = around(np.array([0.1, 0.4]), 3)
    own = transport_factor(robot, path)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = transport_factor(robot, path, factor=turn @ own.N[0])
    assert_close(turned.N, turn @ own.N, INTEGRATED)
    assert_close(turned.phi, own.phi @ turn.T, INTEGRATED)
    with pytest.raises(torsor.TorsorError, match="NᵀN = M"):
        transport_factor(robot, path, factor=np.eye(2))


# Curvature along a motion


@pytest.mark.parametrize("name", ["spatial3R_a", "PR_cartpole"])
def test_curvature_along_a_path_is_that_of_its_samples(name):
    robot = CHAINS[name]
    q, v, _ = torsor.random_state(robot, seed=3, batch=(2, 5))
    found = curvature_along(robot, q, velocities=v)
    assert_close(found.scalar, torsor.geometry.scalar_curvature(robot, q))
    assert_close(found.norm, torsor.geometry.curvature_norm(robot, q))
    vv = dot(v, times(torsor.mass_matrix(robot, q), v))
    assert_close(found.ricci, dot(v, times(torsor.geometry.ricci_curvature(robot, q), v)) / vv)
    assert_close(curvature_along(robot, q, velocities=3.0 * v).ricci, found.ricci)
    assert_close(curvature_along(robot, SimpleNamespace(q=q, v=v)).ricci, found.ricci)


def test_ricci_curvature_is_the_sum_over_planes_through_the_motion():
    robot = CHAINS["spatial3R_a"]
    q, v, _ = torsor.random_state(robot, seed=3)
    N = np.linalg.cholesky(torsor.mass_matrix(robot, q)).T
    frame = np.linalg.qr(np.column_stack([N @ v, np.eye(3)]))[0][:, :3]  # orthonormal, the first along v
    others = np.linalg.solve(N, frame[:, 1:]).T
    total = sum(torsor.geometry.sectional_curvature(robot, q, v, u) for u in others)
    assert_close(curvature_along(robot, q[None], velocities=v[None]).ricci[0], total, 1e-11)


def test_a_trajectory_brings_its_velocities_and_a_path_has_directions():
    robot = CHAINS["curved_planar2R"]
    run = torsor.simulate(robot, [0.2, 0.7], [0.5, -0.4], duration=0.05, dt=1e-3, method="rk4")
    along = curvature_along(robot, run)
    assert along.scalar.shape == along.norm.shape == along.ricci.shape == (51,)
    by_differences = curvature_along(robot, run.q)
    assert_close(by_differences.ricci[1:-1], along.ricci[1:-1], 1e-5)
    # In two dimensions all curvature is one number.
    assert_close(along.ricci, along.scalar / 2)
    assert_close(along.norm, np.abs(along.scalar))


def test_at_rest_there_is_no_direction():
    robot = CHAINS["curved_planar2R"]
    found = curvature_along(robot, np.full((2, 2), 0.4), velocities=np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert np.isnan(found.ricci[0])
    assert np.isfinite(found.ricci[1])


def test_curvature_along_the_motion_of_a_free_body():
    robot = one_body("free")
    q = torsor.integrate(robot, robot.neutral, [0.3, 0.2, 0.1, 1.0, 0.0, 0.0], np.linspace(0.0, 1.0, 5))
    found = curvature_along(robot, q)
    assert_close(np.ptp(found.ricci), 0.0, 1e-9)  # the same everywhere along a one-parameter motion
    assert found.ricci[0] != 0
