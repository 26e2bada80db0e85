"""The factors of the equations of motion, for trees with every joint kind: their products are what the recursions give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from property_checks import assert_close, largest, one_by_one, times, transposed
from property_strategies import ALL_KINDS, cases, sixty_joints

import torsor
from torsor import lie
from torsor.papers._closed_form import ClosedForm, closed_form

states = cases()
TREE = torsor.robots.random_tree(6, seed=55, armature=True, friction=True, fixed=True)
MIMIC = torsor.robots.random_tree(6, seed=3, mimic=True, armature=True)


def test_the_robots_used_here_are_the_awkward_ones():
    assert sorted(TREE.structure.kinds) == sorted(ALL_KINDS)
    assert len(set(TREE.structure.parents)) > 2
    assert MIMIC.structure.has_couplings


def blocks(matrix: np.ndarray, n: int) -> np.ndarray:
    """(..., 6n, 6n) as (..., n, n, 6, 6)."""
    return np.swapaxes(matrix.reshape(*matrix.shape[:-2], n, 6, n, 6), -3, -2)


def supports(robot: torsor.Robot) -> np.ndarray:
    """(n, n): whether link j lies on the way from the base to link i, i itself included."""
    table = np.eye(robot.n, dtype=bool)
    for i, parent in enumerate(robot.structure.parents):
        if parent >= 0:
            table[i] |= table[parent]
    return table


def size_of_forces(form: ClosedForm, *motions: np.ndarray) -> float:
    """Products of the largest entries: what rounding is measured against when forces cancel."""
    motion = 1.0 + largest(form.robot.gravity) + sum(largest(x) + largest(x) ** 2 for x in motions)
    return largest(form.link_inertia) * (1.0 + largest(form.link_propagation)) ** 2 * motion


# The factors


@given(states)
@example(sixty_joints())
def test_the_mass_matrix_is_the_product_of_either_three_factors(case):
    robot, q, _, _, _ = case
    form = closed_form(robot, q)
    M, drives = torsor.mass_matrix(robot, q), np.diag(robot.parameters.armature)
    assert form.mass_matrix.shape == (*case.batch, robot.nv, robot.nv)
    assert_close(form.mass_matrix, M, scale=size_of_forces(form))
    A, L, D = form.space_screws, form.space_propagation, form.space_inertia
    far = largest(D) * (1.0 + largest(form.home_adjoints)) ** 2 * (1.0 + largest(L)) ** 2
    assert_close(A.T @ transposed(L) @ D @ L @ A + drives, M, scale=far)
    S, G, J = form.link_screws, form.link_propagation, form.link_inertia
    assert_close(S.T @ transposed(G) @ J @ G @ S + drives, M, scale=size_of_forces(form))
    J = form.pullback_jacobian
    assert_close(transposed(J) @ D @ J + drives, M, scale=far)


@given(states)
def test_the_factors_in_link_frames_and_in_the_inertial_frame_are_related_by_home_poses(case):
    form = closed_form(case.robot, case.q)
    Q, L, G = form.home_adjoints, form.space_propagation, form.link_propagation
    assert_close(Q @ form.link_screws, form.space_screws)
    assert_close(L @ Q, Q @ G, scale=largest(L) * largest(Q))
    assert_close(Q.T @ form.space_inertia @ Q, form.link_inertia, scale=largest(form.space_inertia) * largest(Q) ** 2)
    assert_close(form.pullback_jacobian, Q @ form.link_jacobian, scale=largest(L) * largest(Q))


@given(states)
@example(sixty_joints())
def test_propagation_is_the_inverse_of_one_minus_a_nilpotent_matrix(case):
    form = closed_form(case.robot, case.q)
    Gamma, L, one = form.parent_propagation, form.link_propagation, np.eye(6 * form.n)
    assert not np.linalg.matrix_power(Gamma, form.n).any()
    assert_close(L @ (one - Gamma), np.broadcast_to(one, L.shape), scale=largest(L) * (1.0 + largest(Gamma)))
    assert_close((one - Gamma) @ L, np.broadcast_to(one, L.shape), scale=largest(L) * (1.0 + largest(Gamma)))


@given(states)
def test_a_block_is_zero_unless_one_link_supports_the_other(case):
    robot, q, _, _, _ = case
    form, table = closed_form(robot, q), supports(robot)
    T = torsor.link_poses(robot, q)
    for L in (form.link_propagation, form.space_propagation):
        parts = blocks(L, robot.n)
        assert not parts[..., ~table, :, :].any()
        for i in range(robot.n):
            assert_close(parts[..., i, i, :, :], np.broadcast_to(np.eye(6), (*case.batch, 6, 6)), 0.0)
    parts = blocks(form.link_propagation, robot.n)
    for i, j in zip(*np.nonzero(table), strict=True):
        expected = lie.Ad(lie.se3.inverse(T[..., i, :, :]) @ T[..., j, :, :])
        assert_close(parts[..., i, j, :, :], expected, 1e-11, scale=1.0 + largest(T) ** 2)
    assert (blocks(form.parent_propagation, robot.n).any(axis=(-1, -2)).sum(axis=-1) <= 1).all()


@given(states)
def test_at_home_every_link_is_where_it_is(case):
    robot = case.robot
    at_home = blocks(closed_form(robot, robot.neutral).space_propagation, robot.n)
    one = np.where(supports(robot)[..., None, None], np.eye(6), 0.0)
    assert_close(at_home, one, scale=largest(torsor.link_poses(robot, robot.neutral)) ** 2)


@given(states)
def test_screws_of_joints_that_share_a_coordinate_share_a_column(case):
    robot = case.robot
    form = closed_form(robot, case.q)
    rows = form.link_screws.reshape(robot.n, 6, robot.nv)
    for i in range(robot.n):
        own = np.zeros(robot.nv, bool)
        own[robot.structure.coordinate_of(i).v] = True
        assert not rows[i][:, ~own].any()
        assert rows[i][:, own].any(axis=0).all() or robot.structure.couplings[i].ratio == 0.0


# What they give


@given(states)
@example(sixty_joints())
def test_coriolis_and_gravity_forces_are_those_of_the_recursion(case):
    robot, q, v, _, _ = case
    form = closed_form(robot, q)
    scale = size_of_forces(form, v)
    assert_close(form.coriolis_forces(v), torsor.dynamics.coriolis_forces(robot, q, v), 1e-11, scale=scale)
    assert_close(form.gravity_forces, torsor.gravity_forces(robot, q), 1e-11, scale=scale)


@given(states)
def test_link_motions_are_those_of_the_links(case):
    robot, q, v, a, _ = case
    form = closed_form(robot, q)
    V, V_dot = form.velocities(v), form.accelerations(v, a)
    T = torsor.link_poses(robot, q)
    assert V.shape == V_dot.shape == (*case.batch, 6 * robot.n)
    for i, link in enumerate(robot.links):
        part, scale = slice(6 * i, 6 * i + 6), size_of_forces(form, v, a)
        assert_close(
            V[..., part], torsor.kinematics.body_twist(robot, q, v, link), 1e-11, scale=largest(form.link_propagation)
        )
        A = torsor.kinematics.body_acceleration(robot, q, v, a, link)
        fall = times(transposed(T[..., i, :3, :3]), robot.gravity)
        A[..., 3:] -= fall
        assert_close(V_dot[..., part], A, 1e-11, scale=scale)
        J = torsor.body_jacobian(robot, q, link)
        assert_close(form.link_jacobian[..., part, :], J, 1e-11, scale=largest(form.link_propagation))


@given(states)
@example(sixty_joints())
def test_inverse_dynamics_is_that_of_the_recursion_less_friction_and_springs(case):
    """With external wrenches, a wrench of the tip (the book's sign) and a base that moves."""
    robot, q, v, a, rng = case
    form, external = closed_form(robot, q), case.wrenches()
    frame, F_tip = case.frame(), rng.normal(size=(*case.batch, 6))
    base = tuple(rng.normal(size=(2, *case.batch, 6)))
    both = dict(external)
    both[frame] = both.get(frame, 0.0) - F_tip
    scale = size_of_forces(form, v, a, *base, F_tip)
    inside = torsor.friction_forces(robot, v) + torsor.spring_forces(robot, q)
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=both, base_motion=base) - inside
    F = torsor.dynamics.joint_wrenches(robot, q, v, a, wrenches=both, base_motion=base).reshape(
        *case.batch, 6 * robot.n
    )
    options = {"F_tip": F_tip, "frame": frame, "base_motion": base}
    assert_close(form.inverse_dynamics(v, a, wrenches=external, **options), tau, 1e-11, scale=scale)
    assert_close(form.wrenches(v, a, wrenches=external, **options), F, 1e-11, scale=scale)
    bare = torsor.inverse_dynamics(robot, q, v, a) - inside
    assert_close(form.inverse_dynamics(v, a), bare, 1e-11, scale=scale)
    terms = times(form.mass_matrix, a) + form.coriolis_forces(v) + form.gravity_forces
    assert_close(terms, bare, 1e-11, scale=scale)


@given(states)
def test_matrices_and_brackets_say_what_the_methods_do(case):
    """The equations of the book with the matrices of the form, by hand, base moving."""
    _, _, v, a, rng = case
    form = closed_form(case.robot, case.q)
    base = tuple(rng.normal(size=(2, *case.batch, 6)))
    A, G, Gamma = form.link_screws, form.link_inertia, form.parent_propagation
    V, V_dot, F = (
        form.velocities(v, base_motion=base),
        form.accelerations(v, a, base_motion=base),
        form.wrenches(v, a, base_motion=base),
    )
    V_base, V_dot_base = form.base_velocity(base_motion=base), form.base_acceleration(base_motion=base)
    ad_V, ad_Av = form.twist_brackets(v, base_motion=base), form.joint_brackets(v)
    scale = size_of_forces(form, v, a, *base)
    assert_close(V, times(Gamma, V) + times(A, v) + V_base, 1e-11, scale=scale)  # (9.72)
    turning = times(ad_Av, times(Gamma, V) + V_base)
    assert_close(V_dot, times(Gamma, V_dot) + times(A, a) - turning + V_dot_base, 1e-11, scale=scale)  # (9.73)
    needed = times(G, V_dot) - times(transposed(ad_V), times(G, V))
    assert_close(F, times(transposed(Gamma), F) + needed, 1e-11, scale=scale)  # (9.74)
    tau = times(A.T, F) + case.robot.parameters.armature * a
    assert_close(form.inverse_dynamics(v, a, base_motion=base), tau, 1e-11, scale=scale)  # (9.75)


def test_columns_follow_the_order_of_the_coordinates():
    robot = TREE.reorder(TREE.coordinates[::-1])
    q, v, a = torsor.random_state(robot, seed=2)
    form = closed_form(robot, q)
    tau = torsor.inverse_dynamics(robot, q, v, a) - torsor.friction_forces(robot, v)
    assert_close(form.mass_matrix, torsor.mass_matrix(robot, q), scale=size_of_forces(form))
    assert_close(form.inverse_dynamics(v, a), tau, scale=size_of_forces(form, v, a))


# Batches


@given(cases(batches=((1,), (3,), (2, 3))))
@settings(max_examples=10)
def test_a_batch_of_states_gives_what_each_state_gives_alone(case):
    robot, q, v, a, _ = case
    form = closed_form(robot, q)
    assert form.batch == case.batch
    for name in ("mass_matrix", "gravity_forces", "link_propagation", "space_propagation", "base_propagation"):
        alone = one_by_one(lambda q, name=name: getattr(closed_form(robot, q), name), case.batch, q)
        assert_close(getattr(form, name), alone, 1e-11)
    tau = one_by_one(lambda q, v, a: closed_form(robot, q).inverse_dynamics(v, a), case.batch, q, v, a)
    assert_close(form.inverse_dynamics(v, a), tau, 1e-11, scale=size_of_forces(form, v, a))


def test_what_depends_on_q_has_its_batch_axes_and_what_does_not_has_none():
    for robot in (TREE, torsor.robots.pendulum()):  # the L of one link is the identity whatever q is
        q, v, a = torsor.random_state(robot, seed=0, batch=(2, 3))
        form, n, nv = closed_form(robot, q), robot.n, robot.nv
        assert form.link_screws.shape == form.space_screws.shape == (6 * n, nv)
        assert form.link_inertia.shape == form.space_inertia.shape == form.home_adjoints.shape == (6 * n, 6 * n)
        for L in (form.link_propagation, form.space_propagation, form.parent_propagation):
            assert L.shape == (2, 3, 6 * n, 6 * n)
        assert form.base_propagation.shape == (2, 3, 6 * n, 6)
        assert form.mass_matrix.shape == (2, 3, nv, nv)
        assert form.gravity_forces.shape == form.coriolis_forces(v[0, 0]).shape == (2, 3, nv)
        assert form.inverse_dynamics(v[0], a[0, 0]).shape == (2, 3, nv)
        one = closed_form(robot, q[0, 0])
        assert one.inverse_dynamics(v, a).shape == one.coriolis_forces(v).shape == (2, 3, nv)
        assert one.velocities(v).shape == (2, 3, 6 * n)


# Other arrays


@pytest.mark.parametrize("robot", [TREE, MIMIC], ids=["every kind", "mimic"])
def test_jax_arrays_give_the_same_numbers(jax_in_doubles, robot):
    jax, (q, v, a) = jax_in_doubles, torsor.random_state(robot, seed=4)
    wrenches, base = {robot.links[-1]: np.ones(6)}, (np.linspace(-1, 1, 6), np.linspace(2, 0, 6))

    def everything(q, v, a):
        form = closed_form(robot, q)
        tau = form.inverse_dynamics(
            v, a, wrenches=wrenches, F_tip=np.arange(6.0), frame=robot.links[0], base_motion=base
        )
        forces = {"M": form.mass_matrix, "c": form.coriolis_forces(v), "g": form.gravity_forces, "tau": tau}
        return form.factors() | forces

    want, got = everything(q, v, a), jax.jit(everything)(q, v, a)
    assert want.keys() == got.keys()
    for name in want:
        assert_close(got[name], want[name])


def test_jax_differentiates_the_factors(jax_in_doubles):
    """∂M/∂θ of the product is the mass matrix rate; ∂g/∂(gravity) is linear, through the robot's own parameters."""
    jax, robot = jax_in_doubles, torsor.robots.random_tree(4, seed=2, kinds=("revolute", "prismatic", "helical"))
    q, v, _ = torsor.random_state(robot, seed=4)
    _, rate = jax.jvp(lambda q: closed_form(robot, q).mass_matrix, (q,), (v,))
    assert_close(rate, torsor.dynamics.mass_matrix_rate(robot, q, v))
    slope = jax.jacfwd(lambda g: closed_form(robot.with_gravity(g), q).gravity_forces)(jax.numpy.asarray(robot.gravity))
    assert_close(slope @ robot.gravity, torsor.gravity_forces(robot, q))


@pytest.mark.compiled
@pytest.mark.parametrize("robot", [TREE, MIMIC], ids=["every kind", "mimic"])
def test_the_closed_form_can_be_compiled(robot):
    q, v, a = torsor.random_state(robot, seed=4, batch=(5,))

    def forces(robot, q, v, a):
        form = closed_form(robot, q)
        return {"M": form.mass_matrix, "c": form.coriolis_forces(v), "tau": form.inverse_dynamics(v, a)}

    kernel = torsor.compile(forces, robot, {"q": robot.nq, "v": robot.nv, "a": robot.nv})
    got, form = kernel(q=q, v=v, a=a), closed_form(robot, q)
    assert_close(got["M"], form.mass_matrix)
    assert_close(got["c"], form.coriolis_forces(v), scale=size_of_forces(form, v))
    assert_close(got["tau"], form.inverse_dynamics(v, a), scale=size_of_forces(form, v, a))


@pytest.mark.compiled
def test_all_factors_can_be_compiled_together():
    robot = torsor.robots.random_tree(3, seed=8, kinds=("revolute", "spherical", "helical"))
    q = torsor.random_configuration(robot, seed=1)
    kernel = torsor.compile(lambda robot, q: closed_form(robot, q).factors(), robot, {"q": robot.nq})
    got, want = kernel(q=q), closed_form(robot, q).factors()
    assert list(got) == list(want)
    for name in want:
        assert_close(got[name], want[name])


# What a person sees


def test_the_blocks_are_drawn():
    form = closed_form(torsor.robots.planar2r(), [0.3, 0.4])
    text = str(form)
    assert text == form.describe()
    for name, matrix in form.factors().items():
        assert f"{name:<18}  {matrix.shape}" in text
    first, second = torsor.robots.planar2r().links
    assert f"{first}  1 ·\n    {second}  ■ 1\n" in text  # L
    assert f"{first}  · ·\n    {second}  ■ ·\n" in text  # Γ
    assert repr(form) == f"ClosedForm(robot={form.name!r}, n=2, nv=2, batch=())"


@given(states)
@settings(max_examples=10)
def test_the_drawing_tells_the_truth(case):
    robot = case.robot
    form = closed_form(robot, torsor.random_configuration(robot, seed=1))
    lines = form.describe().splitlines()
    full = np.where(blocks(form.link_propagation, robot.n).any(axis=(-1, -2)), "■", "·")
    np.fill_diagonal(full, "1")
    start = next(k for k, line in enumerate(lines) if line.startswith("space_propagation"))
    drawn = [line.split()[-robot.n :] for line in lines[start + 1 : start + 1 + robot.n]]
    assert drawn == full.tolist()


# Errors


def test_wrong_shapes_and_names_are_explained():
    robot = torsor.robots.planar2r()
    with pytest.raises(torsor.ShapeError, match=r"closed_form: `q` must have shape \(\.\.\., 2\)"):
        closed_form(robot, [0.1, 0.2, 0.3])
    form = closed_form(robot, np.zeros((3, 2)))
    with pytest.raises(torsor.ShapeError, match=r"coriolis_forces: `v` must have shape \(\.\.\., 2\) for robot"):
        form.coriolis_forces([1.0, 2.0, 3.0])
    with pytest.raises(torsor.ShapeError, match=r"batch axes \(4,\), the q of this closed form \(3,\).*as many states"):
        form.inverse_dynamics(np.zeros((4, 2)), np.zeros(2))
    with pytest.raises(torsor.ShapeError, match=r"inverse_dynamics: `F_tip` must have shape \(\.\.\., 6\)"):
        form.inverse_dynamics(np.zeros(2), np.zeros(2), F_tip=[1.0, 2.0])
    with pytest.raises(torsor.ShapeError, match="`base_motion` must be a pair"):
        form.velocities(np.zeros(2), base_motion=np.zeros(6))
    with pytest.raises(torsor.UnknownName, match="no frame 'tpi'; nearest: 'tip'"):
        form.wrenches_on_environment(F_tip=np.zeros(6), frame="tpi")
