"""What must be true of the curvature of the inertia metric, for every robot: symmetries, Bianchi, invariance.

Tolerances. R is ∂Γ + ΓM⁻¹Γ, whose terms cancel: rounding is measured against the largest of them and of M, and the
condition number of M multiplies it. Contractions with M⁻¹ carry |M⁻¹| once for each. Differences along `torsor.integrate`
are good to DIFFERENTIATED of the same terms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative_along, dot, largest, times
from property_strategies import (
    BATCHES,
    ONE_NUMBER,
    cases,
    joints_of,
    lumped_robots,
    mass_condition,
    pose_of,
    rebuilt,
    robots,
    seeds,
    sized,
    solid_bodies,
)
from scipy.spatial.transform import Rotation
from test_christoffel import at_corners, block, brackets, derivatives, indices

import torsor
from torsor import lie
from torsor.functions.dispatch import PUBLIC
from torsor.geometry import left_invariant

# Four free joints are 24 velocities and a tensor of 330 thousand entries: enough.
small_robots = st.one_of(robots(most=4), robots(most=4), lumped_robots())
states = cases(small_robots)
any_states = cases(small_robots, huge_angles=True)
one_number_states = cases(st.one_of(robots(kinds=ONE_NUMBER, least=2, most=5), lumped_robots()), huge_angles=True)

BY_Q = {"riemann_curvature": 4, "ricci_curvature": 2, "scalar_curvature": 0, "curvature_norm": 0}  # and rank
GROUPS = {
    "free": (range(6), left_invariant.SE3),
    "spherical": (range(3), left_invariant.SO3),
    "planar": (range(2, 5), left_invariant.SE2),
}  # joint kind: which unit twists, and their brackets


class Terms(NamedTuple):
    """What errors are measured with, of a robot at q: M, the absolute values of M⁻¹ and of the terms of R_ijkl, summed; and the
    digits lost, in which solving with M costs its condition number.
    """

    M: np.ndarray
    inverse: np.ndarray
    R: np.ndarray
    loss: float

    def of(self, rank: int) -> float:
        """The size of the terms of R and its contractions with M⁻¹: of rank 4, 2 or 0."""
        T = self.R
        if rank < 4:
            T = np.einsum("...ik,...ijkl->...jl", self.inverse, T)
        if rank < 2:
            T = np.einsum("...jl,...jl->...", self.inverse, T)
        return largest(T)

    def of_plane(self, u: np.ndarray, w: np.ndarray) -> float:
        """Of R(u, w, u, w) over the area of u and w, which is what is left of two squares."""
        area = areas(self.M, u, w)
        lengths = dot(u, times(self.M, u)) * dot(w, times(self.M, w))
        return largest(contracted(self.R, np.abs(u), np.abs(w)) / area * (lengths / area))

    @property
    def loss_of_differences(self) -> float:
        """The same where a difference along the motion lies between: rounding is divided by its step."""
        return DIFFERENTIATED + 100 * self.loss


def terms_of(robot: torsor.Robot, q: np.ndarray) -> Terms:
    M, n = torsor.mass_matrix(robot, q), robot.nv
    inverse, Gamma = np.abs(np.linalg.inv(M)), np.abs(torsor.geometry.christoffel_symbols(robot, q))
    fields = Gamma.reshape(*q.shape[:-1], n**2, n)  # |∇_i e_j|
    products = (fields @ inverse @ np.swapaxes(fields, -1, -2)).reshape(*q.shape[:-1], n, n, n, n)
    dGamma = np.abs(np.moveaxis(torsor.geometry.christoffel_symbols_derivative(robot, q), -1, -4))
    R = np.einsum("...klji->...ijkl", dGamma) + np.einsum("...kjli->...ijkl", products)
    R = R + np.einsum("...ijkl->...ijlk", R)
    return Terms(M, inverse, R, 1e-13 + 1e-15 * mass_condition(robot, q))


def contracted(R: np.ndarray, u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """R(u, w, u, w)."""
    for x in (w, u, w, u):
        R = np.einsum("...l,...l->...", R, x[(..., *(None,) * (R.ndim - x.ndim), slice(None))])
    return R


def areas(M: np.ndarray, u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """|u|² |w|² − ⟨u, w⟩²."""
    return dot(u, times(M, u)) * dot(w, times(M, w)) - dot(u, times(M, w)) ** 2


# Symmetries


@given(any_states)
@settings(max_examples=15)
@at_corners
def test_the_tensor_has_the_symmetries_of_a_curvature_exactly(case):
    """R_ijkl = −R_jikl = −R_ijlk = R_klij are one number and its negative."""
    R = torsor.geometry.riemann_curvature(case.robot, case.q)
    assert R.shape == (*case.batch, *(case.robot.nv,) * 4)
    for order, sign in (("jikl", -1.0), ("ijlk", -1.0), ("klij", 1.0)):
        np.testing.assert_array_equal(R, sign * np.einsum(f"...ijkl->...{order}", R))


@given(any_states)
@settings(max_examples=15)
@at_corners
def test_the_first_identity_of_bianchi_holds(case):
    """R_ijkl + R_iklj + R_iljk = 0, which is not built in."""
    R, terms = torsor.geometry.riemann_curvature(case.robot, case.q), terms_of(case.robot, case.q)
    around = R + np.einsum("...iklj->...ijkl", R) + np.einsum("...iljk->...ijkl", R)
    assert_close(around, np.zeros_like(R), terms.loss, scale=terms.of(4))


@given(cases(st.one_of(robots(most=2), robots(most=3, kinds=ONE_NUMBER), lumped_robots()), batches=((), (2,))))
@settings(max_examples=15)
def test_the_second_identity_of_bianchi_holds(case):
    """∇_m R_ijkl + ∇_k R_ijlm + ∇_l R_ijmk = 0, ∇R by differences and the connection."""
    robot, q, _, _, _ = case
    R, second = torsor.geometry.riemann_curvature(robot, q), torsor.geometry.christoffel_symbols_second_kind(robot, q)
    nabla = derivatives(torsor.geometry.riemann_curvature, robot, q)  # [m, i, j, k, l]
    for place in "ijkl":  # − Γ^r_mi R_rjkl, and so on for j, k, l
        nabla = nabla - np.einsum(f"...m{place}r,...{'ijkl'.replace(place, 'r')}->...mijkl", second, R)
    around = nabla + np.einsum("...kijlm->...mijkl", nabla) + np.einsum("...lijmk->...mijkl", nabla)
    terms = terms_of(robot, q)
    scale = terms.of(4) * (1 + largest(second))
    assert_close(around, np.zeros_like(around), terms.loss_of_differences, scale=scale)


# The tensor by its definitions


@given(one_number_states)
@settings(max_examples=15)
def test_the_tensor_is_equation_66_for_joints_with_a_coordinate_each(case):
    robot, q, _, _, _ = case
    Gamma, second = (
        torsor.geometry.christoffel_symbols(robot, q),
        torsor.geometry.christoffel_symbols_second_kind(robot, q),
    )
    dGamma, terms = np.moveaxis(torsor.geometry.christoffel_symbols_derivative(robot, q), -1, -4), terms_of(robot, q)
    R = (
        np.einsum("...kjli->...ijkl", dGamma)
        - np.einsum("...ljki->...ijkl", dGamma)
        + np.einsum("...ilr,...jkr->...ijkl", Gamma, second)
        - np.einsum("...ikr,...jlr->...ijkl", Gamma, second)
    )
    assert_close(torsor.geometry.riemann_curvature(robot, q), R, terms.loss, scale=terms.of(4))


@given(any_states)
@settings(max_examples=15)
@at_corners
def test_the_tensor_is_what_the_connection_gives_in_the_frame_of_velocities(case):
    """R_ijkl = ∂_k Γ_lji − ∂_l Γ_kji + ⟨∇_k e_j, ∇_l e_i⟩ − ⟨∇_l e_j, ∇_k e_i⟩ − Σ_r s_kl^r Γ_rji."""
    robot, q, _, _, _ = case
    Gamma, second = (
        torsor.geometry.christoffel_symbols(robot, q),
        torsor.geometry.christoffel_symbols_second_kind(robot, q),
    )
    dGamma, terms = np.moveaxis(torsor.geometry.christoffel_symbols_derivative(robot, q), -1, -4), terms_of(robot, q)
    products = np.einsum("...kjr,...lir->...ijkl", Gamma, second, optimize=True)
    R = (
        np.einsum("...klji->...ijkl", dGamma)
        - np.einsum("...lkji->...ijkl", dGamma)
        + products
        - np.einsum("...ijlk->...ijkl", products)
        - np.einsum("klr,...rji->...ijkl", brackets(robot), Gamma, optimize=True)
    )
    assert_close(torsor.geometry.riemann_curvature(robot, q), R, terms.loss, scale=terms.of(4))


@given(states)
@settings(max_examples=15)
def test_curvature_is_what_two_orders_of_differentiation_differ_by(case):
    """R(u, w) z = ∇_u ∇_w z − ∇_w ∇_u z − ∇_[u, w] z, by covariant derivatives and differences alone."""
    robot, q, u, w, rng = case
    z, x, zero = rng.normal(size=u.shape), rng.normal(size=u.shape), np.zeros_like(u)

    def along(q: np.ndarray, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        return torsor.geometry.covariant_derivative(robot, q, u, w, zero)

    def twice(u: np.ndarray, w: np.ndarray) -> np.ndarray:
        rate = derivative_along(lambda robot, q: along(q, w, z), robot, q, u)
        return torsor.geometry.covariant_derivative(robot, q, u, along(q, w, z), rate)

    bracket = np.einsum("ijr,...i,...j->...r", brackets(robot), u, w)
    Rz = twice(u, w) - twice(w, u) - along(q, bracket, z)
    expected = np.einsum(
        "...ijkl,...i,...j,...k,...l->...", torsor.geometry.riemann_curvature(robot, q), x, z, u, w, optimize=True
    )
    terms = terms_of(robot, q)
    sides = np.einsum("...ijkl,...i,...j,...k,...l->...", terms.R, *map(np.abs, (x, z, u, w)), optimize=True)
    assert_close(dot(times(terms.M, Rz), x), expected, terms.loss_of_differences, scale=sides)


# Contractions


@given(any_states)
@settings(max_examples=15)
@at_corners
def test_ricci_and_scalar_curvature_and_norm_are_contractions_of_the_tensor(case):
    robot, q, _, _, _ = case
    R, terms = torsor.geometry.riemann_curvature(robot, q), terms_of(robot, q)
    M_inverse, loss = np.linalg.inv(terms.M), terms.loss
    Ricci, scalar = torsor.geometry.ricci_curvature(robot, q), torsor.geometry.scalar_curvature(robot, q)
    assert_close(Ricci, np.einsum("...ik,...ijkl->...jl", M_inverse, R), loss, scale=terms.of(2))
    assert_close(Ricci, np.swapaxes(Ricci, -1, -2), loss, scale=terms.of(2))
    assert scalar.shape == case.batch
    assert_close(scalar, np.einsum("...jl,...jl->...", M_inverse, Ricci), loss, scale=terms.of(0))
    mixed = np.einsum("...ijkl,...ia,...jb->...abkl", R, M_inverse, M_inverse, optimize=True)
    square = np.einsum("...abkl,...klab->...", mixed, mixed)  # R^ab_kl R^kl_ab
    assert_close(torsor.geometry.curvature_norm(robot, q), np.sqrt(np.maximum(square, 0.0)), loss, scale=terms.of(0))


@given(any_states)
@settings(max_examples=12)
def test_the_norm_bounds_all_other_curvatures(case):
    """R over the N = n(n−1)/2 planes of an orthonormal basis is a symmetric matrix: its Frobenius norm is half the norm,
    its trace half the scalar curvature (≤ √N times as much), and no plane bends more than its largest eigenvalue.
    """
    robot, q, u, w, _ = case
    assume(robot.nv > 1)
    terms, planes = terms_of(robot, q), robot.nv * (robot.nv - 1) / 2
    norm, scalar = torsor.geometry.curvature_norm(robot, q), torsor.geometry.scalar_curvature(robot, q)
    slack = terms.loss * terms.of(0)
    assert np.all(norm >= 0)
    assert np.all(norm >= np.abs(scalar) / np.sqrt(planes) - slack)
    K = torsor.geometry.sectional_curvature(robot, q, u, w)
    assert np.all(norm >= 2 * np.abs(K) - slack - terms.loss * terms.of_plane(u, w))


@given(any_states, seeds)
@settings(max_examples=12)
def test_sectional_curvature_is_the_tensor_over_the_area_and_belongs_to_the_plane(case, seed):
    """R(u, w, u, w) / |u ∧ w|², the same for (a u + b w, c u + d w)."""
    robot, q, u, w, _ = case
    assume(robot.nv > 1)
    a, b, c, d = np.random.default_rng(seed).normal(size=4)
    terms, K = terms_of(robot, q), torsor.geometry.sectional_curvature(robot, q, u, w)
    expected = contracted(torsor.geometry.riemann_curvature(robot, q), u, w) / areas(terms.M, u, w)
    scale = terms.of_plane(u, w)
    assert K.shape == case.batch
    assert_close(K, expected, terms.loss, scale=scale)
    assert_close(torsor.geometry.sectional_curvature(robot, q, w, u), K, terms.loss, scale=scale)
    u, w = a * u + b * w, c * u + d * w
    other = torsor.geometry.sectional_curvature(robot, q, u, w)
    assert_close(other, K, terms.loss, scale=scale + terms.of_plane(u, w))


# Few dimensions


@pytest.mark.parametrize("kind", ONE_NUMBER)
@given(body=solid_bodies, seed=seeds, batch=st.sampled_from(BATCHES))
@settings(max_examples=5)
def test_one_coordinate_has_no_curvature(kind, body, seed, batch):
    pitch = 0.2 if kind == "helical" else 0.0
    robot = torsor.assemble([torsor.Joint(name="only", kind=kind, axis=(1, 2, 2), pitch=pitch, inertia=body)])
    q, v, _ = torsor.random_state(robot, seed=seed, batch=batch)
    for name, rank in BY_Q.items():
        assert_close(PUBLIC[name](robot, q), np.zeros((*batch, *(1,) * rank)), 0.0)
    assert np.isnan(torsor.geometry.sectional_curvature(robot, q, v, v)).all()  # one velocity spans no plane


@given(cases(robots(least=2, most=2, kinds=ONE_NUMBER, mimic=False, serial=True), huge_angles=True))
@settings(max_examples=12)
def test_two_coordinates_have_one_curvature(case):
    """R has one number, Gauss's: every plane is the plane, and K = scalar/2 = R_0101/det M, Ric = K M, norm = 2 |K|."""
    robot, q, u, w, _ = case
    M, R, terms = torsor.mass_matrix(robot, q), torsor.geometry.riemann_curvature(robot, q), terms_of(robot, q)
    K = R[..., 0, 1, 0, 1] / np.linalg.det(M)
    assert_close(torsor.geometry.scalar_curvature(robot, q), 2 * K, terms.loss, scale=terms.of(0))
    assert_close(torsor.geometry.curvature_norm(robot, q), 2 * np.abs(K), terms.loss, scale=terms.of(0))
    Ricci = K[..., None, None] * M
    assert_close(torsor.geometry.ricci_curvature(robot, q), Ricci, terms.loss, scale=terms.of(2))
    assert_close(torsor.geometry.sectional_curvature(robot, q, u, w), K, terms.loss, scale=terms.of_plane(u, w))


@given(cases(robots(least=2, most=6, kinds=("prismatic",))))
@settings(max_examples=10)
def test_sliding_joints_alone_have_no_curvature(case):
    robot, q, _, _, _ = case
    for name, rank in BY_Q.items():
        assert_close(PUBLIC[name](robot, q), np.zeros((*case.batch, *(robot.nv,) * rank)), 0.0)


@pytest.mark.parametrize("kind", GROUPS)
@given(seed=seeds, batch=st.sampled_from(BATCHES))
@settings(max_examples=10)
def test_a_body_has_the_curvature_of_its_group_with_its_inertia_as_metric(kind, seed, batch):
    """Armature included: in the frame of the body it is an inertia like any other."""
    rows, group = GROUPS[kind]
    rng = np.random.default_rng(seed)
    body = torsor.Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3)))
    armature = rng.uniform(0.0, 0.5, len(rows))
    robot = torsor.assemble([torsor.Joint(name="joint", kind=kind, inertia=body)]).with_parameters(armature=armature)
    q, v, w = torsor.random_state(robot, seed=rng, batch=batch)
    metric = body.matrix[np.ix_(rows, rows)] + np.diag(armature)
    terms = terms_of(robot, robot.neutral)  # the same everywhere
    for name, rank in BY_Q.items():
        if name != "curvature_norm":
            expected = np.broadcast_to(getattr(left_invariant, name)(metric, group), (*batch, *(robot.nv,) * rank))
            assert_close(PUBLIC[name](robot, q), expected, terms.loss, scale=terms.of(rank))
    K = left_invariant.sectional_curvature(metric, v, w, group)
    scale = terms_of(robot, q).of_plane(v, w)
    assert_close(torsor.geometry.sectional_curvature(robot, q, v, w), K, terms.loss, scale=scale)


# Invariance


def with_moved_links(robot: torsor.Robot, rng: np.random.Generator) -> torsor.Robot:
    """The same mechanism with other link frames, where a joint's velocity does not depend on its frame."""
    p, moves = robot.parameters, []
    poses, screws, inertias = np.array(p.poses), np.array(p.screws), np.array(p.inertias)
    for i, (kind, parent) in enumerate(zip(robot.structure.kinds, robot.structure.parents, strict=True)):
        D = pose_of(rng.normal(size=3), rng.normal(size=3)) if kind in ONE_NUMBER else np.eye(4)
        back = np.linalg.inv(D)
        poses[i] = p.poses[i] @ D if parent < 0 else np.linalg.inv(moves[parent]) @ p.poses[i] @ D
        screws[i] = lie.Ad(back) @ p.screws[i]
        inertias[i] = lie.transform_inertia(back, p.inertias[i])
        moves.append(D)
    return robot.with_parameters(poses=poses, screws=screws, inertias=inertias)


@given(any_states)
@settings(max_examples=8)
def test_moved_link_frames_and_gravity_change_nothing(case):
    robot, q, _, _, rng = case
    moved, terms = with_moved_links(robot, rng).with_gravity(rng.normal(size=3)), terms_of(robot, q)
    for name, rank in BY_Q.items():
        tensor = PUBLIC[name](robot, q)
        # Frames a few metres away add their squared distance to inertias of 0.1 m: two digits.
        assert_close(PUBLIC[name](moved, q), tensor, 100 * terms.loss, scale=terms.of(rank))


@given(any_states, sized(-3, 3))
@settings(max_examples=8)
def test_heavier_links_bend_less(case, factor):
    """R ∝ m, Ricci is as before, curvatures ∝ 1/m."""
    robot, q, _, _, _ = case
    p, terms = robot.parameters, terms_of(robot, q)
    heavy = robot.with_parameters(inertias=factor * p.inertias, armature=factor * p.armature)
    for name, rank in BY_Q.items():
        scaled = PUBLIC[name](heavy, q) / factor ** (rank / 2 - 1)
        assert_close(scaled, PUBLIC[name](robot, q), terms.loss, scale=terms.of(rank))


@given(any_states)
@settings(max_examples=8)
def test_another_order_of_joints_permutes_the_tensors(case):
    robot, q, _, _, rng = case
    names, terms = [str(name) for name in rng.permutation(robot.coordinates)], terms_of(robot, q)
    other, in_q, in_v = robot.reorder(names), indices(robot, names, "q"), indices(robot, names, "v")
    for name, rank in BY_Q.items():
        tensor = block(PUBLIC[name](robot, q), in_v, rank)
        assert_close(PUBLIC[name](other, q[..., in_q]), tensor, terms.loss, scale=terms.of(rank))


def with_drivers(robot: torsor.Robot, ratios: np.ndarray, offsets: np.ndarray) -> torsor.Robot:
    """The same robot in the coordinates x of its drivers, q = ratio x + offset: every joint follows a wheel of no mass."""
    drivers = [torsor.Joint(name=f"drive {name}", kind="revolute", axis=(0, 0, 1)) for name in robot.coordinates]
    followers = []
    for joint in joints_of(robot):
        if joint.kind != "fixed":
            k = robot.coordinates.index(joint.name)
            joint = replace(joint, mimic=torsor.Mimic(f"drive {joint.name}", ratios[k], offsets[k]), armature=0.0)
        followers.append(joint)
    return rebuilt(robot, drivers + followers, order=[driver.name for driver in drivers])


@given(cases(robots(kinds=ONE_NUMBER, mimic=False, friction=False, least=2, most=4)))
@settings(max_examples=8)
def test_other_units_of_the_coordinates_leave_curvature_as_it_is(case):
    """Behind gears, R has a ratio for each index, and scalar and sectional curvature and norm have none."""
    robot, q, u, w, rng = case
    robot = robot.with_parameters(armature=np.zeros(robot.nv))
    ratios, offsets = rng.choice([-1.0, 1.0], robot.nv) * rng.uniform(0.3, 3.0, robot.nv), rng.normal(size=robot.nv)
    driven, x, terms = with_drivers(robot, ratios, offsets), (q - offsets) / ratios, terms_of(robot, q)
    # Ratios of up to ten between units cost their squares in the condition of M.
    loss = 100 * terms.loss
    R = torsor.geometry.riemann_curvature(driven, x) / np.einsum("i,j,k,l->ijkl", *[ratios] * 4)
    assert_close(R, torsor.geometry.riemann_curvature(robot, q), loss, scale=terms.of(4))
    Ricci = torsor.geometry.ricci_curvature(driven, x) / np.outer(ratios, ratios)
    assert_close(Ricci, torsor.geometry.ricci_curvature(robot, q), loss, scale=terms.of(2))
    for name in ("scalar_curvature", "curvature_norm"):
        assert_close(PUBLIC[name](driven, x), PUBLIC[name](robot, q), loss, scale=terms.of(0))
    K = torsor.geometry.sectional_curvature(driven, x, u / ratios, w / ratios)
    assert_close(K, torsor.geometry.sectional_curvature(robot, q, u, w), loss, scale=terms.of_plane(u, w))


class Twins(NamedTuple):
    """One mechanism twice: with a joint of body velocities, and with joints of a coordinate each; v = K ẋ."""

    robot: torsor.Robot
    q: np.ndarray
    split: torsor.Robot
    x: np.ndarray
    K: np.ndarray


@st.composite
def twins(draw: st.DrawFn) -> Twins:
    """A chain of a revolute joint, a planar, spherical or free one, and a revolute one again; the middle one also as PPR,
    RRR or PPPRRR with links of no mass.
    """
    rng, kind = np.random.default_rng(draw(seeds)), draw(st.sampled_from(sorted(GROUPS)))
    X, Y, Z = np.eye(3)
    steps = {
        "planar": [("prismatic", X), ("prismatic", Y), ("revolute", Z)],
        "spherical": [("revolute", X), ("revolute", Y), ("revolute", Z)],
        "free": [(sort, axis) for sort in ("prismatic", "revolute") for axis in (X, Y, Z)],
    }[kind]

    def joint(name: str, kind: str, parent: str, **given: object) -> torsor.Joint:
        return torsor.Joint(name=name, kind=kind, parent=parent, link=f"link {name}", **given)

    places = [pose_of(rng.normal(size=3), rng.normal(scale=0.5, size=3)) for _ in range(3)]
    bodies = [torsor.Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3))) for _ in range(3)]
    first = joint("first", "revolute", "base", pose=places[0], axis=rng.normal(size=3), inertia=bodies[0])
    whole = joint("middle", kind, "link first", pose=places[1], inertia=bodies[1])
    last = joint("last", "revolute", "link middle", pose=places[2], axis=rng.normal(size=3), inertia=bodies[2])
    parts, parent = [], "link first"
    for k, (sort, axis) in enumerate(steps):
        name = "middle" if k == len(steps) - 1 else f"step {k}"
        place = places[1] if k == 0 else np.eye(4)
        body = bodies[1] if name == "middle" else torsor.Inertia.zero()
        parts.append(joint(name, sort, parent, axis=axis, pose=place, inertia=body))
        parent = f"link {name}"
    x = rng.uniform(-1.0, 1.0, len(steps) + 2)  # within 1 rad the axes of the three turns stay apart
    q_middle, K_middle = motion_of(kind, x[1:-1])
    K = np.eye(len(x))
    K[1:-1, 1:-1] = K_middle
    q = np.concatenate([x[:1], q_middle, x[-1:]])
    return Twins(torsor.assemble([first, whole, last]), q, torsor.assemble([first, *parts, last]), x, K)


def motion_of(kind: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q of a joint, and K with v = K ẋ, from the coordinates of the joints it is made of."""
    if kind == "planar":
        c, s = np.cos(x[2]), np.sin(x[2])
        return x, np.array([[0.0, 0.0, 1.0], [c, s, 0.0], [-s, c, 0.0]])  # (ω, v_x, v_y) in the body's frame
    turn, y, z = Rotation.from_euler("XYZ", x[-3:]), Rotation.from_euler("Y", x[-2]), Rotation.from_euler("Z", x[-1])
    X, Y, Z = np.eye(3)
    angular = np.stack([(y * z).inv().apply(X), z.inv().apply(Y), Z], axis=1)
    if kind == "spherical":
        return turn.as_quat(), angular
    K = np.zeros((6, 6))
    K[:3, 3:], K[3:, :3] = angular, turn.inv().as_matrix()
    return np.concatenate([x[:3], turn.as_quat()]), K


@given(twins(), seeds)
@settings(max_examples=15)
def test_body_velocities_and_coordinates_describe_one_curvature(twin, seed):
    """The tensor of a spherical joint is that of three hinges, written in another frame, and so for planar and free ones."""
    robot, q, split, x, K = twin
    terms = terms_of(split, x)
    assert_close(K.T @ torsor.mass_matrix(robot, q) @ K, terms.M, 1e-12)  # the two are one mechanism indeed
    R = np.einsum("abcd,ai,bj,ck,dl->ijkl", torsor.geometry.riemann_curvature(robot, q), K, K, K, K, optimize=True)
    assert_close(torsor.geometry.riemann_curvature(split, x), R, terms.loss, scale=terms.of(4))
    Ricci = K.T @ torsor.geometry.ricci_curvature(robot, q) @ K
    assert_close(torsor.geometry.ricci_curvature(split, x), Ricci, terms.loss, scale=terms.of(2))
    for name in ("scalar_curvature", "curvature_norm"):
        assert_close(PUBLIC[name](split, x), PUBLIC[name](robot, q), terms.loss, scale=terms.of(0))
    u, w = np.random.default_rng(seed).normal(size=(2, split.nv))
    curvature = torsor.geometry.sectional_curvature(robot, q, K @ u, K @ w)
    assert_close(torsor.geometry.sectional_curvature(split, x, u, w), curvature, terms.loss, scale=terms.of_plane(u, w))


@given(twins(), seeds)
@settings(max_examples=12)
def test_body_velocities_and_coordinates_describe_the_same_geodesics(twin, seed):
    """With v = K ẋ, the acceleration K ẍ + K̇ ẋ of a geodesic of the one is that of the other."""
    robot, q, split, x, K = twin
    u = np.random.default_rng(seed).normal(size=split.nv)
    rate, step = np.zeros_like(K), 1e-6
    ahead, behind = (motion_of(robot.structure.kinds[1], (x + h * u)[1:-1])[1] for h in (step, -step))
    rate[1:-1, 1:-1] = (ahead - behind) / (2 * step)
    acceleration = K @ torsor.geometry.geodesic_acceleration(split, x, u) + rate @ u
    loss = DIFFERENTIATED + 1e-15 * mass_condition(split, x)
    assert_close(torsor.geometry.geodesic_acceleration(robot, q, K @ u), acceleration, loss)


# Batches, singular metrics, NaN


@given(states)
@settings(max_examples=8)
def test_a_batch_of_states_gives_what_each_state_gives_alone(case):
    robot, q, u, _, _ = case
    assume(robot.nv > 1)
    terms = terms_of(robot, q)
    for name, rank in BY_Q.items():
        f = PUBLIC[name]
        result = f(robot, q)
        assert result.shape == (*case.batch, *(robot.nv,) * rank)
        for index in np.ndindex(case.batch):
            assert_close(result[index], f(robot, q[index]), terms.loss, scale=terms.of(rank))
    # one plane for all states is a batch of the same plane
    e, ones = np.eye(robot.nv)[0], np.ones(robot.nv)
    K = torsor.geometry.sectional_curvature(robot, q, np.zeros_like(u) + e, np.ones_like(u))
    scale = terms.of_plane(np.zeros_like(u) + e, np.ones_like(u))
    assert_close(torsor.geometry.sectional_curvature(robot, q, e, ones), K, terms.loss, scale=scale)


exact_lengths = st.sampled_from([0.25, 0.5, 1.0, 2.0])


@given(exact_lengths, exact_lengths, st.floats(-3, 3))
@settings(max_examples=12)
def test_where_the_mass_matrix_is_singular_there_is_no_curvature_and_elsewhere_there_is(l1, l2, q1):
    # Lengths whose squares are exact: else rounding may leave det M a little above zero, and an inverse of 1e14.
    robot = torsor.robots.planar_chain([l1, l2], [0.0, 1.0])
    q, plane = np.array([[q1, 0.0], [q1, 1.0], [q1, 0.0]]), ([1.0, 0.0], [0.0, 1.0])
    results = {name: PUBLIC[name](robot, q) for name in BY_Q}
    results["sectional_curvature"] = torsor.geometry.sectional_curvature(robot, q, *plane)
    for name, result in results.items():
        alone = PUBLIC[name](robot, q[1], *(plane if name == "sectional_curvature" else ()))
        assert np.isnan(result[[0, 2]]).reshape(2, -1).any(-1).all()
        assert_close(result[1], alone, 0.0)
        # One point in a plane: the coordinates are those of ℝ², which is flat. Here cond M is 1e4 at most.
        assert_close(result[1], np.zeros_like(alone), 1e-9)
    assert np.isnan(results["riemann_curvature"][0, 0, 1, 0, 1])


@given(seeds)
@settings(max_examples=5)
def test_a_joint_that_moves_nothing_is_refused_by_name(seed):
    """There is no inverse of M at any configuration; what needs none is there."""
    robot = torsor.robots.random_tree(2, seed=seed, kinds=ONE_NUMBER, serial=True)
    robot = robot.with_inertia(robot.links[-1], torsor.Inertia.zero())
    q, u, w = torsor.random_state(robot, seed=seed)
    needing = {name: () for name in (*BY_Q, "christoffel_symbols_second_kind")}
    needing |= {"sectional_curvature": (u, w), "geodesic_acceleration": (u,), "covariant_derivative": (u, w, w)}
    for name, vectors in needing.items():
        with pytest.raises(torsor.ModelError, match=rf"'{robot.joints[-1]}' moves no inertia"):
            PUBLIC[name](robot, q, *vectors)
    for name in ("mass_matrix_second_derivative", "christoffel_symbols", "christoffel_symbols_derivative"):
        assert np.isfinite(PUBLIC[name](robot, q)).all()


@given(cases(robots(least=2, most=3)))
@settings(max_examples=10)
def test_parallel_velocities_span_no_plane(case):
    robot, q, _, _, _ = case
    e = np.eye(robot.nv)[0]
    assert np.isnan(torsor.geometry.sectional_curvature(robot, q, e, 2 * e)).all()
    assert np.isnan(torsor.geometry.sectional_curvature(robot, q, e, 0 * e)).all()


@pytest.mark.parametrize("name", BY_Q)
@settings(max_examples=6)
@given(cases(small_robots, batches=((3,),)))
def test_a_nan_in_one_state_stays_there(name, case):
    robot, q, _, _, rng = case
    clean, spoilt = PUBLIC[name](robot, q), q.copy()
    spoilt[1, rng.integers(robot.nq)] = np.nan
    np.testing.assert_array_equal(PUBLIC[name](robot, spoilt)[[0, 2]], clean[[0, 2]])
