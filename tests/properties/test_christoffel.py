"""What must be true of the derivatives of the mass matrix and of the connection they define, for every robot.

Velocities of planar, spherical and free joints are body twists e_i that do not commute; everywhere else [e_i, e_j] = 0. The
brackets are made here from 4 × 4 matrices, so that the frame formulas are checked against nothing of the library's own.

Tolerances. Identities between tensors hold to rounding, of the size of M: 1e-11 where a recursion through the robot and a
sum over its joints lie between. Differences along `torsor.integrate` are good to DIFFERENTIATED of M and its derivatives.
Where M is inverted, its condition number multiplies.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from property_checks import (
    DIFFERENTIATED,
    STEP,
    assert_close,
    derivative_along,
    dot,
    largest,
    times,
    transposed,
)
from property_strategies import (
    ALL_KINDS,
    BATCHES,
    ONE_NUMBER,
    PI,
    Case,
    cases,
    directions,
    lumped_robots,
    mass_condition,
    poses,
    robots,
    seeds,
    sixty_joints,
    sized,
    whole_turns,
    without_mimics,
)

import torsor
from torsor.functions.dispatch import PUBLIC

BODY_FREEDOMS = {
    "planar": [2, 3, 4],
    "spherical": [0, 1, 2],
    "free": [0, 1, 2, 3, 4, 5],
}  # unit twists (angular, linear)

LOWERED = {
    "mass_matrix_derivative": 3,
    "mass_matrix_second_derivative": 4,
    "christoffel_symbols": 3,
    "christoffel_symbols_derivative": 4,
}  # and their ranks
TENSORS = {**LOWERED, "christoffel_symbols_second_kind": 3}

# Tensors of rank four: few joints, for eight free ones would have five million entries.
small_robots = st.one_of(robots(most=4), robots(most=4), lumped_robots())
states, any_states = cases(), cases(huge_angles=True)
small_states = cases(small_robots)
one_number_states = cases(st.one_of(robots(kinds=ONE_NUMBER, most=5), lumped_robots()), huge_angles=True)


# What the tests are made of


def first_index(dM):
    """∂_k M_ij with k first, as the sums here have it."""
    return np.moveaxis(dM, -1, -3)


def first_indices(d2M):
    """∂_l ∂_k M_ij as [l, k, i, j]."""
    return np.moveaxis(d2M, (-1, -2), (-4, -3))


def derivatives(f: Callable[..., np.ndarray], robot: torsor.Robot, q: np.ndarray) -> np.ndarray:
    """∂_k f(q) along each body velocity, by central differences: (*batch, nv, ...)."""
    batch, n = q.shape[:-1], robot.nv
    directions = np.broadcast_to(np.eye(n).reshape(n, *(1,) * len(batch), n), (n, *batch, n))
    q = np.broadcast_to(q, (n, *q.shape))
    ahead, behind = (f(robot, torsor.integrate(robot, q, directions, step)) for step in (STEP, -STEP))
    return np.moveaxis((ahead - behind) / (2 * STEP), 0, len(batch))


def brackets(robot: torsor.Robot) -> np.ndarray:
    """s[i, j, r] with [e_i, e_j] = Σ_r s_ij^r e_r, from commutators of 4 × 4 matrices."""
    units = np.zeros((6, 4, 4))
    for k, (i, j) in enumerate([(2, 1), (0, 2), (1, 0)]):
        units[k, i, j], units[k, j, i], units[k + 3, k, 3] = 1.0, -1.0, 1.0
    products = np.einsum("aij,bjk->abik", units, units)
    commutators = products - np.swapaxes(products, 0, 1)
    twists = np.concatenate([commutators[..., [2, 0, 1], [1, 2, 0]], commutators[..., :3, 3]], axis=-1)
    s = np.zeros((robot.nv,) * 3)
    for joint, kind in zip(robot.joints, robot.structure.kinds, strict=True):
        if kind in BODY_FREEDOMS:
            v, rows = robot.v_slice(joint), BODY_FREEDOMS[kind]
            s[v, v, v] = twists[np.ix_(rows, rows, rows)]
    return s


def connection_of_constant(s: np.ndarray, M: np.ndarray) -> np.ndarray:
    """½ (⟨[e_i, e_j], e_k⟩ − ⟨[e_i, e_k], e_j⟩ − ⟨[e_j, e_k], e_i⟩): Koszul's formula for a metric that does not change."""
    c = np.einsum("ijr,...rk->...ijk", s, M)
    return 0.5 * (c - np.einsum("...ikj->...ijk", c) - np.einsum("...jki->...ijk", c))


def with_uneven_armature(robot: torsor.Robot, rng: np.random.Generator) -> torsor.Robot:
    """The robot with another armature in every direction of every joint."""
    return robot.with_parameters(armature=rng.uniform(0.1, 1.0, robot.nv))


def without_body_armature(robot: torsor.Robot) -> torsor.Robot:
    """The robot without armature where velocities are body twists."""
    armature = np.array(robot.parameters.armature)
    for joint, kind in zip(robot.joints, robot.structure.kinds, strict=True):
        if kind in BODY_FREEDOMS:
            armature[robot.v_slice(joint)] = 0.0
    return robot.with_parameters(armature=armature)


def size_of(case: Case) -> float:
    """The largest entry of M: derivatives are sums of products of its size, and may cancel."""
    return largest(torsor.mass_matrix(case.robot, case.q))


def loss_of(robot: torsor.Robot, q: np.ndarray) -> dict[str, float]:
    """Digits that each of the tensors loses, and accelerations: solving with M costs its condition number."""
    solving = 1e-13 + 1e-15 * mass_condition(robot, q) * robot.nv
    return {**dict.fromkeys(LOWERED, 1e-13), "christoffel_symbols_second_kind": solving, "acceleration": solving}


def at_corners(test: Callable[..., None]) -> Callable[..., None]:
    """The same test with every joint at zero, at half a turn, and at both in turn, on a tree with every joint kind."""
    robot = torsor.robots.random_tree(6, seed=1394, armature=True, fixed=True)
    assert set(robot.structure.kinds) == set(ALL_KINDS)
    _, v, a = torsor.random_state(robot, seed=1)
    for angles in ((0.0, 0.0), (PI, PI), (0.0, PI)):
        q = robot.neutral
        for k, (joint, kind) in enumerate(zip(robot.joints, robot.structure.kinds, strict=True)):
            angle, part = angles[k % 2], robot.q_slice(joint)
            if kind in ("spherical", "free"):  # half a turn about x: (1, 0, 0, 0), real part last
                q[part.stop - 4 : part.stop] = np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)
            else:
                q[part.stop - 1] = angle
        test = example(Case(robot, q, v, a, np.random.default_rng(0)))(test)
    return test


# The derivatives of M


@given(states)
@at_corners
def test_the_derivative_of_the_mass_matrix_is_its_derivative(case):
    robot, q, _, _, _ = case
    dM = first_index(torsor.geometry.mass_matrix_derivative(robot, q))
    assert_close(dM, derivatives(torsor.mass_matrix, robot, q), DIFFERENTIATED, scale=size_of(case))


@given(small_states)
@at_corners
def test_the_second_derivative_of_the_mass_matrix_is_the_derivative_of_the_first(case):
    """In this order: ∂_l (∂_k M_ij), of which that within one joint matters."""
    robot, q, _, _, _ = case
    d2M = np.moveaxis(torsor.geometry.mass_matrix_second_derivative(robot, q), -1, -4)
    assert_close(
        d2M, derivatives(torsor.geometry.mass_matrix_derivative, robot, q), DIFFERENTIATED, scale=size_of(case)
    )


@given(any_states)
@example(sixty_joints())
@at_corners
def test_the_rate_of_the_mass_matrix_is_its_derivative_along_the_velocity(case):
    robot, q, v, _, _ = case
    rate = np.einsum("...kij,...k->...ij", first_index(torsor.geometry.mass_matrix_derivative(robot, q)), v)
    scale = size_of(case) * (1 + largest(v)) * robot.nv
    assert_close(torsor.dynamics.mass_matrix_rate(robot, q, v), rate, 1e-12, scale=scale)


@given(small_states)
@settings(max_examples=12)
def test_derivatives_of_the_mass_matrix_are_symmetric(case):
    robot, q, _, _, _ = case
    # Both halves are one number, added up in another order where joints share coordinates.
    tolerance = 1e-14 if robot.structure.has_couplings else 0.0
    for dM in (
        first_index(torsor.geometry.mass_matrix_derivative(robot, q)),
        first_indices(torsor.geometry.mass_matrix_second_derivative(robot, q)),
    ):
        assert_close(dM, transposed(dM), tolerance)


@given(small_states)
@at_corners
def test_two_derivatives_differ_by_the_one_along_their_bracket(case):
    """∂_l ∂_k − ∂_k ∂_l = Σ_r s_lk^r ∂_r, which is nothing for joints with a coordinate each."""
    robot, q, _, _, _ = case
    dM, d2M = (
        first_index(torsor.geometry.mass_matrix_derivative(robot, q)),
        first_indices(torsor.geometry.mass_matrix_second_derivative(robot, q)),
    )
    difference = d2M - np.swapaxes(d2M, -4, -3)
    along = np.einsum("lkr,...rij->...lkij", brackets(robot), dM)
    assert_close(difference, along, 1e-12, scale=size_of(case))
    assert any(kind in BODY_FREEDOMS for kind in robot.structure.kinds) or largest(along) == 0.0


# The connection: no torsion, and the metric is constant along it. No other connection has both.


@given(any_states)
@example(sixty_joints())
@at_corners
def test_lengths_are_kept_by_the_connection(case):
    """∂_k M_ij = Γ_kij + Γ_kji."""
    robot, q, _, _, _ = case
    Gamma = torsor.geometry.christoffel_symbols(robot, q)
    assert_close(
        Gamma + transposed(Gamma),
        first_index(torsor.geometry.mass_matrix_derivative(robot, q)),
        1e-13,
        scale=size_of(case),
    )


@given(any_states)
@example(sixty_joints())
@at_corners
def test_the_connection_has_no_torsion(case):
    """Γ_ijk − Γ_jik = ⟨[e_i, e_j], e_k⟩, zero unless i and j belong to one planar, spherical or free joint."""
    robot, q, _, _, _ = case
    Gamma, M = torsor.geometry.christoffel_symbols(robot, q), torsor.mass_matrix(robot, q)
    bracket = np.einsum("ijr,...rk->...ijk", brackets(robot), M)
    assert_close(Gamma - np.swapaxes(Gamma, -3, -2), bracket, 1e-13, scale=size_of(case))


@given(one_number_states)
@settings(max_examples=12)
@example(sixty_joints())
def test_symbols_of_joints_with_a_coordinate_each_are_symmetric(case):
    Gamma = torsor.geometry.christoffel_symbols(case.robot, case.q)
    assert_close(Gamma, np.swapaxes(Gamma, -3, -2), 1e-14, scale=size_of(case))


@given(states)
@settings(max_examples=12)
@at_corners
def test_the_symbols_by_brackets_are_the_symbols(case):
    """The papers' sum over links of brackets of twists, and the derivatives of M: two roads."""
    robot, q, _, _, rng = case
    robot = with_uneven_armature(robot, rng)
    by_brackets = torsor.papers.christoffel_symbols_by_brackets(robot, q)
    assert_close(by_brackets, torsor.geometry.christoffel_symbols(robot, q), 1e-13, scale=size_of(case))


@given(small_states)
@at_corners
def test_the_derivative_of_the_symbols_is_their_derivative(case):
    robot, q, _, _, _ = case
    dGamma = np.moveaxis(torsor.geometry.christoffel_symbols_derivative(robot, q), -1, -4)
    assert_close(
        dGamma, derivatives(torsor.geometry.christoffel_symbols, robot, q), DIFFERENTIATED, scale=size_of(case)
    )


@given(small_states)
@settings(max_examples=12)
@at_corners
def test_the_derivative_of_the_symbols_keeps_lengths_and_torsion(case):
    robot, q, _, _, _ = case
    dGamma, d2M = (
        np.moveaxis(torsor.geometry.christoffel_symbols_derivative(robot, q), -1, -4),
        first_indices(torsor.geometry.mass_matrix_second_derivative(robot, q)),
    )
    scale = size_of(case)
    assert_close(dGamma + transposed(dGamma), d2M, 1e-13, scale=scale)
    bracket = np.einsum(
        "ijr,...lrk->...lijk", brackets(robot), first_index(torsor.geometry.mass_matrix_derivative(robot, q))
    )
    assert_close(dGamma - np.swapaxes(dGamma, -3, -2), bracket, 1e-13, scale=scale)


@given(any_states)
@settings(max_examples=12)
@at_corners
def test_symbols_of_the_second_kind_are_those_of_the_first_raised(case):
    robot, q, _, _, _ = case
    M, Gamma = torsor.mass_matrix(robot, q), torsor.geometry.christoffel_symbols(robot, q)
    raised = torsor.geometry.christoffel_symbols_second_kind(robot, q)
    expected = np.einsum("...kh,...ijh->...ijk", np.linalg.inv(M), Gamma)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv  # digits lost in solving with M
    assert_close(raised, expected, 1e-13 + loss)


# The connection and the equations of motion


@given(any_states, st.booleans())
@example(sixty_joints(), False)
def test_the_coriolis_matrix_is_the_connection_along_the_velocity(case, uneven):
    """C_kj = Σ_i Γ_ijk v_i; the armature of joints with body velocities turns with them, which C leaves out."""
    robot, q, v, _, rng = case
    robot = with_uneven_armature(robot, rng) if uneven else robot
    along = np.einsum("...ijk,...i->...kj", torsor.geometry.christoffel_symbols(robot, q), v)
    turning = connection_of_constant(brackets(robot), np.diag(robot.parameters.armature))
    C = torsor.coriolis_matrix(robot, q, v) + np.einsum("ijk,...i->...kj", turning, v)
    scale = size_of(case) * (1 + largest(v)) * robot.nv
    assert_close(along, C, 1e-12, scale=scale)
    forces = torsor.dynamics.coriolis_forces(robot, q, v) + np.einsum("ijk,...i,...j->...k", turning, v, v)
    assert_close(times(along, v), forces, 1e-11, scale=scale * (1 + largest(v)))


@given(any_states)
@settings(max_examples=12)
def test_without_such_armature_the_coriolis_matrix_is_the_connection_itself(case):
    robot, q, v, _, _ = case
    robot = without_body_armature(robot)
    Gamma = torsor.geometry.christoffel_symbols(robot, q)
    along = np.einsum("...ijk,...i->...kj", Gamma, v)
    scale = size_of(case) * (1 + largest(v)) * robot.nv
    assert_close(along, torsor.coriolis_matrix(robot, q, v), 1e-12, scale=scale)
    forces = np.einsum("...ijk,...i,...j->...k", Gamma, v, v)
    assert_close(forces, torsor.dynamics.coriolis_forces(robot, q, v), 1e-11, scale=scale * (1 + largest(v)))


@given(seeds)
@settings(max_examples=12)
def test_armature_of_a_spherical_joint_turns_with_it(seed):
    """Alone it is a body with these moments: ⟨∇_v v, e_k⟩ = (v × A v)_k of Euler, where Coriolis forces are zero."""
    rng = np.random.default_rng(seed)
    joint = torsor.Joint(name="ball", kind="spherical", inertia=torsor.Inertia.sphere(0.3, mass=2.0))
    A = rng.uniform(0.1, 1.0, 3)
    robot = torsor.assemble([joint]).with_parameters(armature=A)
    q, v, _ = torsor.random_state(robot, seed=rng)
    forces = np.einsum("ijk,i,j->k", torsor.geometry.christoffel_symbols(robot, q), v, v)
    assert_close(forces, np.cross(v, A * v))
    assert_close(torsor.dynamics.coriolis_forces(robot, q, v), np.zeros(3))
    M = np.diag(A) + torsor.Inertia.sphere(0.3, mass=2.0).matrix[:3, :3]
    assert_close(torsor.geometry.geodesic_acceleration(robot, q, v), -np.linalg.solve(M, np.cross(v, A * v)))


# Covariant derivatives and geodesics


@given(any_states)
@at_corners
def test_the_covariant_derivative_is_the_rate_and_the_connection(case):
    """(∇_u w)_k = ẇ_k + Σ Γ^k_ij u_i w_j, armature that turns included."""
    robot, q, u, w, rng = case
    robot = with_uneven_armature(robot, rng)
    w_rate = rng.normal(size=w.shape)
    second = torsor.geometry.christoffel_symbols_second_kind(robot, q)
    expected = w_rate + np.einsum("...ijk,...i,...j->...k", second, u, w)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv**2
    scale = largest(second) * largest(u) * largest(w)
    assert_close(torsor.geometry.covariant_derivative(robot, q, u, w, w_rate), expected, 1e-12 + loss, scale=scale)


@given(states)
@settings(max_examples=12)
@at_corners
def test_covariant_derivatives_keep_lengths_and_have_no_torsion(case):
    """∂_u ⟨w, z⟩ = ⟨∇_u w, z⟩ + ⟨w, ∇_u z⟩ and ∇_u w − ∇_w u = [u, w], for fields of constant components."""
    robot, q, u, w, rng = case
    robot = with_uneven_armature(robot, rng)
    z, zero = rng.normal(size=w.shape), np.zeros_like(w)
    M = torsor.mass_matrix(robot, q)
    along = torsor.geometry.covariant_derivative(robot, q, u, w, zero)
    also = torsor.geometry.covariant_derivative(robot, q, u, z, zero)
    rate = derivative_along(lambda robot, q: dot(w, times(torsor.mass_matrix(robot, q), z)), robot, q, u)
    scale = largest(M) * (1 + largest(u)) * (1 + largest(w)) * (1 + largest(z)) * robot.nv
    assert_close(dot(along, times(M, z)) + dot(w, times(M, also)), rate, DIFFERENTIATED, scale=scale)
    back = torsor.geometry.covariant_derivative(robot, q, w, u, zero)
    bracket = np.einsum("ijr,...i,...j->...r", brackets(robot), u, w)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv**2
    assert_close(along - back, bracket, 1e-12 + loss, scale=largest(along) + largest(back))


@given(any_states)
@settings(max_examples=12)
@at_corners
def test_a_geodesic_has_no_covariant_acceleration_and_keeps_its_energy(case):
    robot, q, v, _, rng = case
    robot = with_uneven_armature(robot, rng)
    a = torsor.geometry.geodesic_acceleration(robot, q, v)
    second = torsor.geometry.christoffel_symbols_second_kind(robot, q)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv**2
    scale = largest(second) * largest(v) ** 2
    assert_close(a, -np.einsum("...ijk,...i,...j->...k", second, v, v), 1e-12 + loss, scale=scale)
    rest = torsor.geometry.covariant_derivative(robot, q, v, v, a)
    assert_close(rest, np.zeros_like(v), 1e-12 + loss, scale=scale)
    assert_close(a, -torsor.geometry.covariant_derivative(robot, q, v, v, np.zeros_like(v)), 1e-12 + loss, scale=scale)
    # d/dt ½ vᵀ M v = vᵀ M a + ½ vᵀ Ṁ v
    M, M_dot = torsor.mass_matrix(robot, q), torsor.dynamics.mass_matrix_rate(robot, q, v)
    power, change = dot(v, times(M, a)), 0.5 * dot(v, times(M_dot, v))
    assert_close(power, -change, 1e-12 + loss, scale=largest(M) * largest(v) * (scale + largest(v) ** 2) * robot.nv)


@given(cases(robots(friction=False)))
@settings(max_examples=12)
def test_a_geodesic_is_the_motion_under_no_force_or_gravity(case):
    robot, q, v, _, _ = case
    robot = without_body_armature(robot).with_gravity((0, 0, 0))
    a = torsor.geometry.geodesic_acceleration(robot, q, v)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv**2
    assert_close(torsor.forward_dynamics(robot, q, v, np.zeros_like(v)), a, 1e-11 + loss)


# Where they vanish, and what they do not depend on


def ways_of(robot: torsor.Robot) -> np.ndarray:
    """Whether the joints of two velocities lie on one way from the base (nv, nv); no joint shares a coordinate."""
    meet = np.zeros((robot.nv, robot.nv), bool)
    for i, joint in enumerate(robot.joints):
        for k in robot.structure.path_from_base(i):
            one, other = robot.v_slice(joint), robot.v_slice(robot.joints[k])
            meet[one, other] = meet[other, one] = True
    return meet


@given(cases(robots(mimic=False), huge_angles=True))
@settings(max_examples=12)
def test_nothing_depends_on_joints_at_the_base_nor_on_other_branches(case):
    robot, q, _, _, _ = case
    dM, meet = first_index(torsor.geometry.mass_matrix_derivative(robot, q)), ways_of(robot)
    for joint, parent in zip(robot.joints, robot.structure.parents, strict=True):
        if parent < 0:
            assert not dM[..., robot.v_slice(joint), :, :].any()
    together = meet[:, :, None] & meet[:, None, :] & meet[None, :, :]
    assert not dM[..., ~together].any()
    assert not torsor.geometry.christoffel_symbols(robot, q)[..., ~together].any()


@pytest.mark.parametrize("kind", ONE_NUMBER)
@given(axis=directions, seed=seeds, batch=st.sampled_from(BATCHES))
@settings(max_examples=5)
def test_one_joint_with_one_coordinate_has_no_derivative(kind, axis, seed, batch):
    body = torsor.Inertia.box((0.1, 0.2, 0.3), mass=2.0, com=(0.3, 0.2, 0.1))
    pitch = 0.2 if kind == "helical" else 0.0
    robot = torsor.assemble([torsor.Joint(name="only", kind=kind, axis=axis, pitch=pitch, inertia=body)])
    q, v, _ = torsor.random_state(robot, seed=seed, batch=batch)
    for function, rank in TENSORS.items():
        assert_close(PUBLIC[function](robot, q), np.zeros((*batch, *(1,) * rank)), 0.0)
    assert_close(torsor.geometry.geodesic_acceleration(robot, q, v), np.zeros_like(v), 1e-15, scale=largest(v) ** 2)


@given(small_states, poses(), directions)
@settings(max_examples=12)
def test_where_the_robot_stands_and_how_it_is_pulled_change_nothing(case, T, gravity):
    robot, q, v, _, _ = case
    places = np.array(robot.parameters.poses)
    for i, parent in enumerate(robot.structure.parents):
        if parent < 0:
            places[i] = T @ places[i]
    moved = robot.with_parameters(poses=places).with_gravity(gravity)
    loss, scale = loss_of(robot, q), size_of(case)
    for name in TENSORS:
        tensor = PUBLIC[name](robot, q)
        assert_close(PUBLIC[name](moved, q), tensor, loss[name], scale=scale)
    a = torsor.geometry.geodesic_acceleration(robot, q, v)
    assert_close(torsor.geometry.geodesic_acceleration(moved, q, v), a, loss["acceleration"])


@given(small_states, sized(-3, 3))
@settings(max_examples=12)
def test_heavier_links_scale_the_symbols_and_leave_geodesics_as_they_are(case, factor):
    robot, q, v, _, _ = case
    p = robot.parameters
    heavy = robot.with_parameters(inertias=factor * p.inertias, armature=factor * p.armature)
    loss, scale = loss_of(robot, q), size_of(case)
    for name in TENSORS:
        tensor = PUBLIC[name](heavy, q) / (factor if name in LOWERED else 1.0)
        assert_close(tensor, PUBLIC[name](robot, q), loss[name], scale=scale)
    a = torsor.geometry.geodesic_acceleration(robot, q, v)
    assert_close(torsor.geometry.geodesic_acceleration(heavy, q, v), a, loss["acceleration"])


def indices(robot: torsor.Robot, names: list[str], which: str) -> list[int]:
    """Where the named joints' numbers are in q or v."""
    part = robot.q_slice if which == "q" else robot.v_slice
    return [k for name in names for k in range(part(name).start, part(name).stop)]


def block(tensor: np.ndarray, chosen: list[int], rank: int) -> np.ndarray:
    """The entries of a tensor whose indices are all among the chosen, in their order."""
    for axis in range(1, rank + 1):
        tensor = np.take(tensor, chosen, axis=-axis)
    return tensor


@given(small_states)
@settings(max_examples=12)
def test_another_order_of_joints_permutes_the_tensors(case):
    robot, q, v, _, rng = case
    names = [str(name) for name in rng.permutation(robot.coordinates)]
    other, in_q, in_v = robot.reorder(names), indices(robot, names, "q"), indices(robot, names, "v")
    loss, scale = loss_of(robot, q), size_of(case)
    for name, rank in TENSORS.items():
        tensor = block(PUBLIC[name](robot, q), in_v, rank)
        assert_close(PUBLIC[name](other, q[..., in_q]), tensor, loss[name], scale=scale)
    a = torsor.geometry.geodesic_acceleration(robot, q, v)[..., in_v]
    assert_close(torsor.geometry.geodesic_acceleration(other, q[..., in_q], v[..., in_v]), a, loss["acceleration"])


@given(cases(robots(least=2, most=4), batches=((),)))
@settings(max_examples=12)
def test_a_locked_robot_has_the_symbols_of_the_joints_left(case):
    """The metric of a part of the coordinates is a block of M, and so are its derivatives and symbols with low indices."""
    robot, q, _, _, rng = case
    names = list(robot.coordinates)
    assume(len(names) >= 2)
    held = {str(name) for name in rng.choice(names, size=int(rng.integers(1, len(names))), replace=False)}
    kept = [name for name in names if name not in held]
    locked = robot.lock({name: q[robot.q_slice(name)] for name in held})
    in_q, in_v, scale = indices(robot, kept, "q"), indices(robot, kept, "v"), size_of(case)
    for name, rank in LOWERED.items():
        tensor = block(PUBLIC[name](robot, q), in_v, rank)
        assert_close(PUBLIC[name](locked, q[in_q]), tensor, 1e-12, scale=scale)


@given(cases(robots(mimic=True, least=3, most=4)))
@settings(max_examples=12)
def test_symbols_of_coupled_joints_are_a_projection_of_those_of_free_ones(case):
    """With q_all = K q + offset, M = Kᵀ M_all K, and every further index brings one more K."""
    robot, q, _, _, _ = case
    free, s = without_mimics(robot), robot.structure
    K, q_all = np.zeros((free.nv, robot.nv)), np.empty((*case.batch, free.nq))
    for i, joint in enumerate(robot.joints):
        c, coupling = s.coordinate_of(i), s.couplings[i]
        K[indices(free, [joint], "v"), range(c.v.start, c.v.stop)] = coupling.ratio
        part = q[..., c.q] if c.name == joint else coupling.ratio * q[..., c.q] + coupling.offset
        q_all[..., indices(free, [joint], "q")] = part
    scale = max(1.0, largest(K)) ** 4 * largest(torsor.mass_matrix(free, q_all)) * robot.n
    three, four = "...abc,ai,bj,ck->...ijk", "...abcd,ai,bj,ck,dl->...ijkl"
    for name, rank in LOWERED.items():
        tensor = np.einsum(three if rank == 3 else four, PUBLIC[name](free, q_all), *[K] * rank, optimize=True)
        assert_close(PUBLIC[name](robot, q), tensor, 1e-12, scale=scale)


@given(cases(batches=((),)), st.integers(-160_000, 160_000))
@settings(max_examples=12)
def test_whole_turns_change_nothing(case, turns):
    robot, q, _, _, _ = case
    turned = torsor.geometry.christoffel_symbols(robot, q + whole_turns(robot, turns))
    # 2π times the turns is wrong by 1e-16 of itself, up to 1e-10 rad, for every joint on the way to a link.
    assert_close(turned, torsor.geometry.christoffel_symbols(robot, q), 1e-9, scale=size_of(case))


# Batches


@given(small_states)
@settings(max_examples=15)
def test_a_batch_of_states_gives_what_each_state_gives_alone(case):
    robot, q, v, a, _ = case
    loss, scale = loss_of(robot, q), size_of(case)
    for name, rank in TENSORS.items():
        result = PUBLIC[name](robot, q)
        assert result.shape == (*case.batch, *(robot.nv,) * rank)
        for index in np.ndindex(case.batch):
            assert_close(result[index], PUBLIC[name](robot, q[index]), loss[name], scale=scale)
    assert torsor.geometry.geodesic_acceleration(robot, q, v).shape == v.shape
    assert torsor.geometry.covariant_derivative(robot, q, v, a, v - a).shape == v.shape
    # one vector for all states is a batch of the same vector
    shared = torsor.geometry.covariant_derivative(robot, q, v, np.ones(robot.nv), np.zeros(robot.nv))
    spread = torsor.geometry.covariant_derivative(robot, q, v, np.ones_like(v), np.zeros_like(v))
    assert_close(shared, spread, loss["acceleration"])


# Singular mass matrices


@given(st.sampled_from([0.25, 0.5, 1.0, 2.0]), st.sampled_from([0.25, 0.5, 1.0, 2.0]), st.floats(-3, 3))
@settings(max_examples=12)
def test_where_the_mass_matrix_is_singular_symbols_exist_and_raised_ones_do_not(l1, l2, q1):
    # Lengths whose squares are exact: else rounding may leave det M a little above zero, and an inverse of 1e14.
    robot = torsor.robots.planar_chain([l1, l2], [0.0, 1.0])
    q, v = np.array([[q1, 0.0], [q1, 1.0]]), np.array([0.3, -0.2])
    h = l1 * l2 * np.sin(q[:, 1])
    Gamma = torsor.geometry.christoffel_symbols(robot, q)
    assert_close(Gamma[:, 0, 0, 1], h)
    assert_close(Gamma[:, 1, 1, 0], -h)
    second, a = (
        torsor.geometry.christoffel_symbols_second_kind(robot, q),
        torsor.geometry.geodesic_acceleration(robot, q, v),
    )
    field = torsor.geometry.covariant_derivative(robot, q, v, v, v)
    assert np.isnan(second[0]).all() and np.isnan(a[0]).all() and np.isnan(field[0]).all()
    condition = mass_condition(robot, q[1])
    assert_close(
        second[1], np.einsum("kh,ijh->ijk", np.linalg.inv(torsor.mass_matrix(robot, q[1])), Gamma[1]), 1e-15 * condition
    )
    assert_close(a[1], -np.einsum("ijk,i,j->k", second[1], v, v), 1e-15 * condition)
    assert_close(field[1], v - a[1], 1e-15 * condition)


@pytest.mark.parametrize("name", TENSORS)
@settings(max_examples=6)
@given(cases(st.one_of(robots(most=4), lumped_robots()), batches=((3,),)))
def test_a_nan_in_one_state_stays_there(name, case):
    robot, q, _, _, rng = case
    clean, spoilt = PUBLIC[name](robot, q), q.copy()
    spoilt[1, rng.integers(robot.nq)] = np.nan
    assert_close(PUBLIC[name](robot, spoilt)[[0, 2]], clean[[0, 2]])
