"""Wrenches through the joints and on the links, and robots whose base moves."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from property_checks import DIFFERENTIATED, assert_close, derivative, dot, largest, rate_along, times, transposed
from property_strategies import cases, joints_of, mass_condition, pose_of, rebuilt, robots, sixty_joints

import torsor
from torsor import lie

states = cases()


def size_of_terms(robot: torsor.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    motion = 1 + largest(v) ** 2 + largest(a) + largest(robot.gravity)
    reach = 1 + largest(torsor.link_poses(robot, q)) ** 2
    return largest(robot.parameters.inertias) * reach * motion


# External wrenches


@given(states)
def test_a_wrench_acts_through_the_jacobian_of_its_frame(case):
    robot, q, v, a, rng = case
    frame, F = case.frame(), rng.normal(size=(*case.batch, 6))
    less = torsor.inverse_dynamics(robot, q, v, a) - torsor.inverse_dynamics(robot, q, v, a, wrenches={frame: F})
    expected = times(transposed(torsor.body_jacobian(robot, q, frame)), F)
    assert_close(less, expected, 1e-11, scale=size_of_terms(robot, q, v, a))
    # virtual work: the joint forces replace the power of the wrench
    power = dot(F, torsor.kinematics.body_twist(robot, q, v, frame))
    assert_close(dot(less, v), power, 1e-11, scale=size_of_terms(robot, q, v, a))


@given(states)
def test_the_same_wrench_can_be_given_on_any_frame_of_a_link(case):
    robot, q, v, a, rng = case
    parent = case.frame()
    T = pose_of(rng.normal(size=3), rng.normal(size=3))
    more = robot.with_frame("handle", parent, T)
    F = rng.normal(size=(*case.batch, 6))
    on_handle = torsor.inverse_dynamics(more, q, v, a, wrenches={"handle": F})
    on_parent = torsor.inverse_dynamics(more, q, v, a, wrenches={parent: lie.transform_wrench_inverse(T, F)})
    assert_close(on_handle, on_parent, 1e-11, scale=size_of_terms(robot, q, v, a))


@given(states)
def test_wrenches_on_several_frames_add(case):
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    bare = torsor.inverse_dynamics(robot, q, v, a)
    together = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches) - bare
    apart = sum(torsor.inverse_dynamics(robot, q, v, a, wrenches={name: F}) - bare for name, F in wrenches.items())
    assert_close(together, apart, 1e-11, scale=size_of_terms(robot, q, v, a))


@given(cases(robots(mimic=False)))
def test_weights_as_external_wrenches_replace_gravity(case):
    robot, q, v, a, _ = case
    g = np.concatenate([np.zeros(3), robot.gravity])
    wrenches = {}
    for i, link in enumerate(robot.links):
        turned = torsor.frame_pose(robot, q, link)
        turned[..., :3, 3] = 0.0
        fall = lie.transform_twist_inverse(turned, g)
        wrenches[link] = lie.apply_inertia(robot.parameters.inertias[i], fall)
    scale = size_of_terms(robot, q, v, a)
    floating = torsor.inverse_dynamics(robot.with_gravity((0, 0, 0)), q, v, a, wrenches=wrenches)
    assert_close(floating, torsor.inverse_dynamics(robot, q, v, a), 1e-11, scale=scale)


# Wrenches through the joints


@given(states)
def test_joint_wrenches_balance_on_every_link(case):
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    F = torsor.dynamics.joint_wrenches(robot, q, v, a, wrenches=wrenches)
    assert F.shape == (*case.batch, robot.n, 6)
    T = torsor.link_poses(robot, q)
    for i, link in enumerate(robot.links):
        G = lie.inertia_matrix(robot.parameters.inertias[i])
        V, A = (
            torsor.kinematics.body_twist(robot, q, v, link),
            torsor.kinematics.body_acceleration(robot, q, v, a, link),
        )
        fall = times(transposed(T[..., i, :3, :3]), robot.gravity)
        needed = times(G, A) - lie.bracket_dual(V, times(G, V))
        received = F[..., i, :] + times(G, np.concatenate([np.zeros_like(fall), fall], axis=-1))
        for c, parent in enumerate(robot.structure.parents):
            if parent == i:
                T_ic = np.linalg.inv(T[..., i, :, :]) @ T[..., c, :, :]
                received = received - lie.transform_wrench_inverse(T_ic, F[..., c, :])
        for name, F_ext in wrenches.items():
            if robot.structure.frame(name).link == i:
                T_if = np.linalg.inv(T[..., i, :, :]) @ torsor.frame_pose(robot, q, name)
                received = received + lie.transform_wrench_inverse(T_if, F_ext)
        assert_close(received, needed, 1e-11, scale=size_of_terms(robot, q, v, a))


@given(states)
@example(sixty_joints())
def test_the_base_gives_the_rate_of_momentum_less_weight_and_wrenches(case):
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    T, F = torsor.link_poses(robot, q), torsor.dynamics.joint_wrenches(robot, q, v, a, wrenches=wrenches)
    roots = [i for i, parent in enumerate(robot.structure.parents) if parent < 0]
    total = sum(lie.transform_wrench_inverse(T[..., i, :, :], F[..., i, :]) for i in roots)
    weight = robot.parameters.inertias[:, 0].sum() * robot.gravity
    com = torsor.dynamics.centre_of_mass(robot, q)
    total = total + np.concatenate([np.cross(com, weight), np.broadcast_to(weight, com.shape)], axis=-1)
    for name, F_ext in wrenches.items():
        if robot.structure.frame(name).link >= 0:  # a push on the base is the ground's affair
            total = total + lie.transform_wrench_inverse(torsor.frame_pose(robot, q, name), F_ext)
    rate = rate_along(torsor.dynamics.spatial_momentum, robot, q, v, a)
    assert_close(total, rate, DIFFERENTIATED, scale=size_of_terms(robot, q, v, a))


@given(cases(robots(mimic=False)))
def test_joint_wrenches_hold_the_joint_forces_along_the_screws(case):
    robot, q, v, a, _ = case
    F, tau = torsor.dynamics.joint_wrenches(robot, q, v, a), torsor.inverse_dynamics(robot, q, v, a)
    inside = robot.parameters.armature * a + torsor.friction_forces(robot, v) + torsor.spring_forces(robot, q)
    axes, T = torsor.kinematics.joint_axes(robot, q), torsor.link_poses(robot, q)
    for i, joint in enumerate(robot.joints):
        part = robot.v_slice(joint)
        at_base = lie.transform_wrench_inverse(T[..., i, :, :], F[..., i, :])
        along = times(axes[..., part, :], at_base)
        scale = size_of_terms(robot, q, v, a)
        assert_close(along, (tau - inside)[..., part], 1e-11, scale=scale)


@given(cases(robots(mimic=False, friction=False)))
def test_free_robots_keep_their_momentum(case):
    """Without gravity, forces and a fixed base, total momentum is constant: a free root joint feels nothing."""
    robot, q, v, _, _ = case
    floating = mounted(robot.with_gravity((0, 0, 0)), torsor.Inertia.sphere(0.3, mass=2.0))
    q = np.concatenate([np.broadcast_to([0.1, 0.2, 0.3, 0, 0, 0, 1.0], (*case.batch, 7)), q], axis=-1)
    v = np.concatenate([case.rng.normal(size=(*case.batch, 6)), v], axis=-1)
    tau = np.zeros_like(v)
    tau[..., 6:] = case.tau()  # forces inside the robot
    a = torsor.forward_dynamics(floating, q, v, tau)
    rate = rate_along(torsor.dynamics.spatial_momentum, floating, q, v, a)
    scale = size_of_terms(floating, q, v, a)
    assert_close(rate, np.zeros((*case.batch, 6)), DIFFERENTIATED, scale=scale)


# A base that moves


def mounted(robot: torsor.Robot, inertia: torsor.Inertia) -> torsor.Robot:
    """The robot on a free joint that carries its base."""
    mount = torsor.Joint(name="mount", kind="free", parent="ground", link="base", inertia=inertia)
    return rebuilt(robot, [mount, *joints_of(robot)], base="ground", order=["mount", *robot.coordinates])


@given(states)
def test_gravity_is_an_acceleration_of_the_base(case):
    robot, q, v, a, rng = case
    lift = np.concatenate([np.zeros(3), rng.normal(scale=5, size=3)])
    moved = torsor.inverse_dynamics(robot, q, v, a, base_motion=(np.zeros(6), lift))
    heavier = robot.with_gravity(robot.gravity - lift[3:])
    assert_close(moved, torsor.inverse_dynamics(heavier, q, v, a), 1e-11, scale=size_of_terms(heavier, q, v, a))
    still = torsor.inverse_dynamics(robot, q, v, a, base_motion=(np.zeros(6), np.zeros(6)))
    assert_close(still, torsor.inverse_dynamics(robot, q, v, a))


@given(cases(robots(mimic=False)))
def test_a_moving_base_is_a_massless_free_joint_below_the_robot(case):
    robot, q, v, a, rng = case
    V_0, A_0 = rng.normal(size=(2, *case.batch, 6))
    wrenches = {name: F for name, F in case.wrenches().items() if name != "base"}
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches, base_motion=(V_0, A_0))
    F = torsor.dynamics.joint_wrenches(robot, q, v, a, wrenches=wrenches, base_motion=(V_0, A_0))
    floating = mounted(robot, torsor.Inertia.zero())
    home = np.broadcast_to([0, 0, 0, 0, 0, 0, 1.0], (*case.batch, 7))
    q_all, v_all, a_all = (np.concatenate(pair, axis=-1) for pair in ((home, q), (V_0, v), (A_0, a)))
    all_tau = torsor.inverse_dynamics(floating, q_all, v_all, a_all, wrenches=wrenches)
    scale = size_of_terms(floating, q_all, v_all, a_all)
    assert_close(tau, all_tau[..., 6:], 1e-11, scale=scale)
    all_F = torsor.dynamics.joint_wrenches(floating, q_all, v_all, a_all, wrenches=wrenches)
    order = [floating.joints.index(joint) for joint in robot.joints]
    assert_close(F, all_F[..., order, :], 1e-11, scale=scale)


@given(cases(robots(mimic=False)))
def test_forward_dynamics_undoes_inverse_dynamics_on_a_moving_base(case):
    robot, q, v, a, rng = case
    base_motion, wrenches = tuple(rng.normal(size=(2, *case.batch, 6))), case.wrenches()
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    loss = 1e-15 * mass_condition(robot, q) * robot.nv  # digits lost in solving with M
    for function in (
        torsor.forward_dynamics,
        torsor.papers.factorised_acceleration,
        torsor.papers.articulated_body_acceleration,
    ):
        assert_close(function(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion), a, 1e-11 + loss)


@given(cases(robots(mimic=False, friction=False)))
def test_a_steadily_moving_base_changes_nothing(case):
    """Galilei: a base in uniform translation needs the same joint forces as one at rest."""
    robot, q, v, a, rng = case
    V_0 = np.concatenate([np.zeros(3), rng.normal(size=3)])
    moving = torsor.inverse_dynamics(robot, q, v, a, base_motion=(V_0, np.zeros(6)))
    # The acceleration of a base with twist (0, v) that turns with nothing is that of its origin: zero.
    assert_close(moving, torsor.inverse_dynamics(robot, q, v, a), 1e-10, scale=size_of_terms(robot, q, v, a))


@given(states)
def test_power_through_a_moving_base_and_the_joints_is_the_rate_of_kinetic_energy(case):
    """The wrench at the root joints times the base's twist, plus τ·v, is dT/dt."""
    robot, q, v, a, rng = case
    robot = robot.with_gravity((0, 0, 0))
    V_0, A_0 = rng.normal(size=(2, *case.batch, 6))
    tau = torsor.inverse_dynamics(robot, q, v, a, base_motion=(V_0, A_0)) - torsor.friction_forces(robot, v)
    tau = tau - torsor.spring_forces(robot, q)
    F, T = torsor.dynamics.joint_wrenches(robot, q, v, a, base_motion=(V_0, A_0)), torsor.link_poses(robot, q)
    roots = [i for i, parent in enumerate(robot.structure.parents) if parent < 0]
    at_base = sum(lie.transform_wrench_inverse(T[..., i, :, :], F[..., i, :]) for i in roots)

    def energy(t):
        q_t, v_t, V_t = torsor.integrate(robot, q, v, t), v + t * a, V_0 + t * A_0
        total = 0.5 * dot(robot.parameters.armature * v_t, v_t)
        for i, link in enumerate(robot.links):
            T_i = torsor.frame_pose(robot, q_t, link)
            V = torsor.kinematics.body_twist(robot, q_t, v_t, link) + lie.transform_twist_inverse(T_i, V_t)
            total = total + 0.5 * dot(V, lie.apply_inertia(robot.parameters.inertias[i], V))
        return total

    power = dot(at_base, V_0) + dot(tau, v)
    assert_close(power, derivative(energy), DIFFERENTIATED, scale=size_of_terms(robot, q, v, a))
