"""What must be true of a robot and its changed copies: locked, loaded, reordered, renamed, coupled."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from property_checks import assert_close, largest, times, transposed
from property_strategies import (
    Case,
    any_robots,
    cases,
    joints_of,
    lumped_robots,
    mass_condition,
    poses,
    rebuilt,
    robots,
    solid_bodies,
    without_mimics,
)

import torsor
from torsor import lie

two_or_more = robots(least=2)


def split(case: Case) -> tuple[list[str], list[str]]:
    """Some coordinates to hold and the others, at least one of each."""
    names = list(case.robot.coordinates)
    assume(len(names) >= 2)
    case.rng.shuffle(names)
    count = int(case.rng.integers(1, len(names)))
    held = set(names[:count])
    return [n for n in case.robot.coordinates if n in held], [n for n in case.robot.coordinates if n not in held]


def numbers(robot: torsor.Robot, names: list[str], which: str) -> list[int]:
    """Where the named joints' numbers are in q or v."""
    part = robot.q_slice if which == "q" else robot.v_slice
    return [k for name in names for k in range(part(name).start, part(name).stop)]


def size_of_terms(case: Case) -> float:
    robot, q, v, a, _ = case
    return largest(torsor.mass_matrix(robot, q)) * (1 + largest(v) ** 2 + largest(a) + largest(robot.gravity))


# Locking


@given(cases(two_or_more, batches=((),)))
def test_a_locked_robot_is_the_full_robot_with_joints_held(case):
    robot, q, v, a, _ = case
    held, kept = split(case)
    locked = robot.lock({name: q[robot.q_slice(name)] for name in held})
    assert list(locked.coordinates) == kept
    in_q, in_v = numbers(robot, kept, "q"), numbers(robot, kept, "v")
    still = numbers(robot, held, "v")
    v, a = v.copy(), a.copy()
    v[still], a[still] = 0.0, 0.0
    q_kept, v_kept, a_kept = q[in_q], v[in_v], a[in_v]
    scale = size_of_terms(case)
    for frame in robot.frames:
        assert_close(torsor.frame_pose(locked, q_kept, frame), torsor.frame_pose(robot, q, frame), 1e-11)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    assert_close(torsor.inverse_dynamics(locked, q_kept, v_kept, a_kept), tau[in_v], 1e-11, scale=scale)
    M = torsor.mass_matrix(robot, q)
    assert_close(torsor.mass_matrix(locked, q_kept), M[np.ix_(in_v, in_v)], 1e-11, scale=scale)
    energy = torsor.kinetic_energy(robot, q, v)
    assert_close(torsor.kinetic_energy(locked, q_kept, v_kept), energy, 1e-11, scale=scale)


@given(cases(two_or_more, batches=((),)))
def test_locking_one_after_the_other_is_locking_at_once(case):
    robot, q, _, _, _ = case
    held, kept = split(case)
    positions = {name: q[robot.q_slice(name)] for name in held}
    at_once, stepwise = robot.lock(positions), robot
    for name, position in positions.items():
        stepwise = stepwise.lock({name: position})
    q_kept = q[numbers(robot, kept, "q")]
    M = torsor.mass_matrix(at_once, q_kept)
    assert_close(torsor.mass_matrix(stepwise, q_kept), M, 1e-11)


@given(cases(lumped_robots(), batches=((),)))
def test_robots_with_point_masses_and_massless_links_can_be_locked(case):
    robot, q, _, _, _ = case
    held, kept = split(case)
    locked = robot.lock({name: q[robot.q_slice(name)] for name in held})
    rows = numbers(robot, kept, "v")
    M = torsor.mass_matrix(robot, q)[np.ix_(rows, rows)]
    assert_close(torsor.mass_matrix(locked, q[numbers(robot, kept, "q")]), M, 1e-11)


# Payloads


@given(cases())
def test_a_payload_of_nothing_changes_nothing(case):
    robot, q, v, a, _ = case
    link = robot.links[-1]
    loaded = robot.with_payload(link, torsor.Inertia.zero())
    assert_close(torsor.inverse_dynamics(loaded, q, v, a), torsor.inverse_dynamics(robot, q, v, a), 0.0)


@given(cases(), solid_bodies)
def test_a_payload_adds_its_own_inertia_seen_through_the_jacobian(case, body):
    robot, q, _, _, _ = case
    frame = str(case.rng.choice([f.name for f in robot.structure.frames if f.link >= 0]))
    loaded = robot.with_payload(frame, body)
    J = torsor.body_jacobian(robot, q, frame)
    M = torsor.mass_matrix(robot, q) + transposed(J) @ body.matrix @ J
    assert_close(torsor.mass_matrix(loaded, q), M, 1e-11)
    assert_close(loaded.parameters.inertias[:, 0].sum(), robot.parameters.inertias[:, 0].sum() + body.mass)


@given(cases(), solid_bodies, solid_bodies, poses())
def test_payloads_add_and_may_be_given_in_any_frame(case, one, other, T):
    robot, q, v, a, _ = case
    link = robot.links[-1]
    both = robot.with_payload(link, one).with_payload(link, other)
    welded = robot.with_payload(link, one + other)
    scale = largest(torsor.mass_matrix(both, q)) * (1 + largest(v) ** 2 + largest(a) + largest(robot.gravity))
    tau = torsor.inverse_dynamics(both, q, v, a)
    assert_close(torsor.inverse_dynamics(welded, q, v, a), tau, 1e-11, scale=scale)
    framed = robot.with_frame("grip", link, T)
    held = framed.with_payload("grip", (one + other).moved(lie.se3.inverse(T)))
    assert_close(torsor.inverse_dynamics(held, q, v, a), tau, 1e-11, scale=scale)


@given(cases(batches=((),)), solid_bodies)
def test_a_link_can_be_given_another_inertia(case, body):
    robot = case.robot
    link = str(case.rng.choice(robot.links))
    changed = robot.with_inertia(link, body)
    assert_close(changed.inertia(link).row, body.row)
    for name in set(robot.links) - {link}:
        assert_close(
            changed.parameters.inertias[robot.links.index(name)], robot.parameters.inertias[robot.links.index(name)]
        )


@given(any_robots)
def test_the_inertia_of_every_link_can_be_read(robot):
    for link, row in zip(robot.links, robot.parameters.inertias, strict=True):
        assert_close(robot.inertia(link).row, row)


# Order and names


@given(cases(any_robots))
def test_reordering_permutes_everything(case):
    robot, q, v, a, rng = case
    names = [str(name) for name in rng.permutation(robot.coordinates)]
    other = robot.reorder(names)
    assert list(other.coordinates) == names
    in_q, in_v = numbers(robot, names, "q"), numbers(robot, names, "v")
    q2, v2, a2 = q[..., in_q], v[..., in_v], a[..., in_v]
    scale = size_of_terms(case)
    tau = torsor.inverse_dynamics(robot, q, v, a)[..., in_v]
    assert_close(torsor.inverse_dynamics(other, q2, v2, a2), tau, 1e-11, scale=scale)
    C = torsor.coriolis_matrix(robot, q, v)[..., in_v, :][..., in_v]
    assert_close(torsor.coriolis_matrix(other, q2, v2), C, 1e-11, scale=scale)
    frame = case.frame()
    J = torsor.body_jacobian(robot, q, frame)[..., in_v]
    assert_close(torsor.body_jacobian(other, q2, frame), J, 1e-11)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv  # digits lost in solving with M
    force = case.tau()
    acceleration = torsor.forward_dynamics(robot, q, v, force)[..., in_v]
    assert_close(torsor.forward_dynamics(other, q2, v2, force[..., in_v]), acceleration, 1e-11 + loss)
    step = torsor.integrate(robot, q, v, 0.2)[..., in_q]
    assert_close(torsor.integrate(other, q2, v2, 0.2), step)


@given(cases(any_robots))
def test_names_change_no_number(case):
    robot, q, v, a, _ = case
    names = {name: f"left/{name}" for name in {*robot.joints, *robot.frames}}
    other = robot.rename(names, robot="left")
    assert other.name == "left"
    assert other.joints == tuple(names[name] for name in robot.joints)
    assert_close(torsor.inverse_dynamics(other, q, v, a), torsor.inverse_dynamics(robot, q, v, a), 0.0)
    for old in robot.frames:
        assert_close(torsor.frame_pose(other, q, names[old]), torsor.frame_pose(robot, q, old), 0.0)
    assert other.rename({new: old for old, new in names.items()}, robot=robot.name) == robot


@given(cases(robots(mimic=False)))
def test_a_robot_taken_apart_and_put_together_is_the_same(case):
    robot, q, v, a, _ = case
    other = rebuilt(robot, joints_of(robot), order=robot.coordinates)
    assert other.joints == robot.joints and set(other.frames) == set(robot.frames)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    assert_close(torsor.inverse_dynamics(other, q, v, a), tau, 1e-11, scale=size_of_terms(case))


@given(cases(robots(serial=True, mimic=False)))
def test_a_subtree_moves_as_it_does_on_a_base_at_rest(case):
    robot, q, v, a, rng = case
    i = int(rng.integers(robot.n))
    part = robot.subtree(robot.joints[i]).with_gravity((0, 0, 0))
    names = list(part.coordinates)
    in_q, in_v = numbers(robot, names, "q"), numbers(robot, names, "v")
    v, a = v.copy(), a.copy()
    before = [k for k in range(robot.nv) if k not in in_v]
    v[..., before], a[..., before] = 0.0, 0.0
    tau = torsor.inverse_dynamics(robot.with_gravity((0, 0, 0)), q, v, a)[..., in_v]
    alone = torsor.inverse_dynamics(part, q[..., in_q], v[..., in_v], a[..., in_v])
    assert_close(alone, tau, 1e-11, scale=size_of_terms(case))


# Coupled joints


@given(cases(robots(mimic=True, least=3)))
def test_coupled_joints_are_a_projection_of_free_ones(case):
    """With q_all = K q + offset: M = Kᵀ M_all K, and forces are Kᵀ times those of the robot set free."""
    robot, q, v, a, _ = case
    free = without_mimics(robot)
    s = robot.structure
    K = np.zeros((free.nv, robot.nv))
    q_all = np.empty((*case.batch, free.nq))
    for i, joint in enumerate(robot.joints):
        c, coupling = s.coordinate_of(i), s.couplings[i]
        rows, columns = numbers(free, [joint], "v"), range(c.v.start, c.v.stop)
        K[rows, columns] = coupling.ratio
        own = c.name == joint
        part = q[..., c.q] if own else coupling.ratio * q[..., c.q] + coupling.offset
        q_all[..., numbers(free, [joint], "q")] = part
    v_all, a_all = times(K, v), times(K, a)
    scale = largest(K) ** 2 * size_of_terms(Case(free, q_all, v_all, a_all, case.rng))
    for frame in robot.frames:
        assert_close(torsor.frame_pose(robot, q, frame), torsor.frame_pose(free, q_all, frame), 1e-11)
    assert_close(torsor.mass_matrix(robot, q), K.T @ torsor.mass_matrix(free, q_all) @ K, 1e-11, scale=scale)
    bias = times(K.T, torsor.bias_forces(free, q_all, v_all))
    assert_close(torsor.bias_forces(robot, q, v), bias, 1e-11, scale=scale)
    C = K.T @ torsor.coriolis_matrix(free, q_all, v_all) @ K
    assert_close(torsor.coriolis_matrix(robot, q, v), C, 1e-11, scale=scale)
    J = torsor.body_jacobian(free, q_all, "tool") @ K
    assert_close(torsor.body_jacobian(robot, q, "tool"), J, 1e-11)


@given(cases(robots(mimic=True, least=3)))
def test_the_articulated_body_algorithm_refuses_coupled_joints_or_solves_them(case):
    robot, q, v, a, _ = case
    tau = torsor.inverse_dynamics(robot, q, v, a)
    try:
        found = torsor.papers.articulated_body_acceleration(robot, q, v, tau)
    except torsor.TorsorError as refusal:
        assert robot.structure.has_couplings and "mimic" in str(refusal)
    else:
        assert_close(found, a, 1e-10 + 1e-15 * mass_condition(robot, q) * robot.nv)
