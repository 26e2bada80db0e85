"""Two roads, one number: torsor against Pinocchio on random trees, for every quantity both can compute.

Tolerance. Both roads work in doubles on numbers of size one, a few hundred to a few thousand operations deep, so they
can differ by some hundred units of rounding of the largest term: ROUNDING = 1e-12 of the largest entry. Where the
entries themselves are small differences of large terms (rates of a Jacobian that hardly moves, forces that nearly
balance), the size of those terms is the scale, and it is written out. Where a matrix is inverted, its condition number,
below 1e4 here, multiplies some units of rounding: INVERSE = 1e-11.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import AXES, Twin, over_batch

import torsor
from torsor import Robot, lie
from torsor.functions.dispatch import PUBLIC

ROUNDING = 1e-12
INVERSE = 1e-11
BATCHES = ((), (3,), (2, 2))
KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
ONE_FREEDOM = ("revolute", "prismatic", "helical")


def scattered(robot: Robot, seed: int) -> Robot:
    """The same tree with its joint axes anywhere in the link frames, and screws of any length."""
    rng = np.random.default_rng(seed)
    s = robot.structure
    somewhere = lie.se3.exp(rng.normal(size=(robot.n, 6)))
    screws = lie.transform_twist(somewhere, robot.parameters.screws)
    couplings = tuple(
        c._replace(ratio=c.ratio * float(rng.uniform(0.5, 2.0))) if kind in ONE_FREEDOM else c
        for c, kind in zip(s.couplings, s.kinds, strict=True)
    )
    return Robot(replace(s, couplings=couplings), robot.parameters).with_parameters(screws=screws)


def random_robot(case: str) -> Robot:
    """Tree "<seed>", chain of one kind "<kind>", tree with mimic joints "mimic <seed>", or the tree of 60 joints."""
    if case in KINDS:
        robot = torsor.robots.random_tree(4, seed=1, kinds=(case,), armature=True, fixed=True, serial=True)
    elif case.startswith("mimic"):
        kinds = (*ONE_FREEDOM, *KINDS)  # mimic joints have one freedom: plenty of those, and some others
        robot = torsor.robots.random_tree(9, seed=int(case[-1]), kinds=kinds, mimic=True, armature=True, fixed=True)
    else:
        seed = int(case.split()[0])
        n = 60 if "60 joints" in case else 1 + seed % 12
        robot = torsor.robots.random_tree(n, seed=seed, armature=True, fixed=True, serial=seed % 3 == 0)
        if seed % 5 == 4:
            robot = robot.reorder([str(name) for name in np.random.default_rng(seed).permutation(robot.coordinates)])
    robot = robot.with_frame("bench", robot.structure.base, torsor.pose_from((0.3, -0.2, 0.7), (0.4, 0.5, -1.6)))
    return robot if case[-1] in "02468" else scattered(robot, seed=len(case))


TREES = [*map(str, range(30)), "100 with 60 joints", *KINDS, *(f"mimic {seed}" for seed in range(6))]
WITHOUT_MIMIC = [case for case in TREES if "mimic" not in case]


class Pair:
    """A robot on both roads, with states in every batch shape: (q, v, a), a also serves as tau."""

    def __init__(self, case: str) -> None:
        self.robot = random_robot(case)
        self.twin = Twin(self.robot)
        batches = BATCHES if self.robot.n < 60 else BATCHES[:2]
        self.states = [torsor.random_state(self.robot, seed=k, batch=batch) for k, batch in enumerate(batches)]
        fixed = [frame.name for frame in self.robot.structure.frames if frame.name.startswith("fixed")]
        self.frames = ["tool", "base", "bench", self.robot.links[0], *fixed[:1]]

    def places(self) -> list[tuple[tuple[np.ndarray, ...], str]]:
        """States and frames to look at: every frame in one state, the tool in all of them."""
        return [(self.states[0], frame) for frame in self.frames] + [(state, "tool") for state in self.states[1:]]

    def pushed(self) -> list[tuple[tuple[np.ndarray, ...], dict[str, np.ndarray]]]:
        """States with external wrenches on all those frames, the first wrench without batch axes; and one without any."""
        cases = [(self.states[0], {})]
        for k, state in enumerate(self.states):
            rng, batch = np.random.default_rng(k), state[0].shape[:-1]
            sizes = [(6,), *[(*batch, 6)] * (len(self.frames) - 1)]
            cases.append((state, {f: rng.normal(size=shape) for f, shape in zip(self.frames, sizes, strict=True)}))
        return cases


@cache
def make_pair(case: str) -> Pair:
    return Pair(case)


@pytest.fixture(params=TREES, scope="module")
def pair(request: pytest.FixtureRequest) -> Pair:
    return make_pair(request.param)


def size(*arrays: object) -> float:
    """Product of the largest entries: how large the terms of a product can be."""
    return float(np.prod([np.abs(x).max(initial=0.0) for x in arrays]))


# The robots themselves


def test_the_trees_hold_every_joint_kind_couplings_ratios_orders_and_lumped_links():
    robots = [make_pair(case).robot for case in TREES]
    kinds = [kind for robot in robots for kind in robot.structure.kinds]
    assert all(kinds.count(kind) >= 20 for kind in KINDS)
    assert sum(robot.structure.has_couplings for robot in robots) >= 5
    assert any(c.offset for robot in robots for c in robot.structure.couplings)
    assert any(abs(c.ratio) not in (0.0, 1.0) for robot in robots for c in robot.structure.couplings)
    assert any(robot.coordinates != robot.joints for robot in robots if not robot.structure.has_couplings)
    assert any(any(name.startswith("fixed") for name in robot.frames) for robot in robots)
    assert all(np.any(robot.gravity[:2]) for robot in robots)
    off_origin = [np.linalg.norm(np.cross(S[:3], S[3:])) for robot in robots for S in robot.parameters.screws]
    assert np.max(off_origin) > 0.5


# Kinematics


def test_links_and_frames_stand_at_the_same_poses(pair, same):
    for q, _, _ in pair.states:
        same(torsor.link_poses(pair.robot, q), over_batch(pair.twin.link_poses, q), ROUNDING)
    for (q, _, _), frame in pair.places():
        same(torsor.frame_pose(pair.robot, q, frame), over_batch(pair.twin.frame_pose, q, frame=frame), ROUNDING)


def test_jacobians_are_local_world_and_world_aligned(pair, same):
    for (q, _, _), frame in pair.places():
        for kind in AXES:
            want = over_batch(pair.twin.jacobian, q, frame=frame, kind=kind)
            same(PUBLIC[f"{kind}_jacobian"](pair.robot, q, frame), want, ROUNDING)
            assert np.any(want) != (frame in ("base", "bench"))


def test_rates_of_jacobians_are_local_world_and_world_aligned(pair, same):
    for (q, v, _), frame in pair.places():
        # A rate is a bracket of columns with the twists of links, which can cancel.
        J = torsor.space_jacobian(pair.robot, q, frame)
        terms = size(J, np.abs(J) @ np.abs(v)[..., None])
        for kind in AXES:
            want = over_batch(pair.twin.jacobian_rate, q, v, frame=frame, kind=kind)
            same(PUBLIC[f"{kind}_jacobian_rate"](pair.robot, q, v, frame), want, ROUNDING, scale=terms)


def test_frames_move_with_the_same_twists(pair, same):
    for (q, v, _), frame in pair.places():
        for kind in AXES:
            want = over_batch(pair.twin.twist, q, v, frame=frame, kind=kind)
            same(PUBLIC[f"{kind}_twist"](pair.robot, q, v, frame), want, ROUNDING)


def test_frames_accelerate_alike_spatially_and_classically(pair, same):
    for (q, v, a), frame in pair.places():
        for kind in ("body", "space"):
            want = over_batch(pair.twin.acceleration, q, v, a, frame=frame, kind=kind)
            same(PUBLIC[f"{kind}_acceleration"](pair.robot, q, v, a, frame), want, ROUNDING)
        want = over_batch(pair.twin.mixed_acceleration, q, v, a, frame=frame)
        same(torsor.kinematics.mixed_acceleration(pair.robot, q, v, a, frame), want, ROUNDING)


def up_to_sign_of_quaternions(pair: Pair, q_pin: np.ndarray) -> np.ndarray:
    """Pinocchio's configuration with w ≥ 0 in every quaternion: q and −q are one rotation."""
    q_pin = q_pin.copy()
    for kind, i in zip(pair.robot.structure.kinds, pair.twin.ids, strict=True):
        if kind in ("spherical", "free"):
            end = pair.twin.model.idx_qs[i] + pair.twin.model.nqs[i]
            q_pin[end - 4 : end] *= np.sign(q_pin[end - 1])
    return q_pin


def test_integration_arrives_at_the_same_configuration(pair, same):
    for k, dt in enumerate((0.1, 3.0, 1e-9, 0.0)):
        q, v, _ = pair.states[k % len(pair.states)]
        moved = torsor.integrate(pair.robot, q, v, dt)
        for index in np.ndindex(q.shape[:-1]):
            want = pin.integrate(pair.twin.model, pair.twin.q(q[index]), pair.twin.v(v[index]) * dt)
            got = up_to_sign_of_quaternions(pair, pair.twin.q(moved[index]))
            same(got, up_to_sign_of_quaternions(pair, want), ROUNDING)


def test_integration_takes_unit_time_unless_told(same):
    pair = make_pair("11")
    q, v, _ = pair.states[1]
    same(torsor.integrate(pair.robot, q, v), torsor.integrate(pair.robot, q, v, 1.0), ROUNDING)


def test_differences_are_the_same_velocities(pair, same):
    for k, (q, _, _) in enumerate(pair.states):
        q1 = torsor.random_configuration(pair.robot, seed=50 + k, batch=q.shape[:-1])
        got = over_batch(pair.twin.v, torsor.difference(pair.robot, q, q1))
        want = over_batch(
            lambda a, b: pin.difference(pair.twin.model, pair.twin.q(a), pair.twin.q(b)).reshape(-1), q, q1
        )
        # Pinocchio's logarithm of a planar motion loses digits when the turn is small: 4e-13 at 0.01 rad, 2e-11 at 0.001.
        same(got, want, 1e-11)


# Dynamics


def with_pushes(function, wrenches: dict[str, np.ndarray], *states: np.ndarray) -> np.ndarray:
    """Like over_batch, with wrenches that have the states' batch axes or none."""
    batch = states[0].shape[:-1]
    results = []
    for index in np.ndindex(batch):
        here = {frame: np.broadcast_to(F, (*batch, 6))[index] for frame, F in wrenches.items()}
        results.append(function(*(x[index] for x in states), here))
    return np.array(results).reshape((*batch, *results[0].shape))


def test_inverse_dynamics_and_joint_wrenches_agree_with_external_wrenches_and_without(pair, same):
    for (q, v, a), wrenches in pair.pushed():
        through = with_pushes(pair.twin.joint_wrenches, wrenches, q, v, a)
        same(torsor.dynamics.joint_wrenches(pair.robot, q, v, a, wrenches=wrenches), through, ROUNDING)
        tau = with_pushes(pair.twin.inverse_dynamics, wrenches, q, v, a)
        # The force of a light joint is a small part of the wrench through it.
        scale = max(size(tau), size(through))
        same(torsor.inverse_dynamics(pair.robot, q, v, a, wrenches=wrenches), tau, ROUNDING, scale=scale)


ALGORITHMS = ("forward_dynamics", "articulated_body_acceleration", "factorised_acceleration")


def algorithms_for(robot: Robot) -> list[str]:
    """All of them; the articulated-body recursion is not for mimic joints."""
    return [name for name in ALGORITHMS if not (robot.structure.has_couplings and name.startswith("articulated"))]


def test_forward_dynamics_agrees_by_each_algorithm(pair, same):
    for (q, v, tau), wrenches in pair.pushed():
        want = with_pushes(pair.twin.forward_dynamics, wrenches, q, v, tau)
        for algorithm in algorithms_for(pair.robot):
            got = PUBLIC[algorithm](pair.robot, q, v, tau, wrenches=wrenches)
            same(got, want, INVERSE)


def test_the_articulated_body_recursion_refuses_mimic_joints():
    pair = make_pair("mimic 0")
    with pytest.raises(torsor.ModelError, match="mimic"):
        torsor.papers.articulated_body_acceleration(pair.robot, *pair.states[0])


def test_mass_matrices_are_conditioned_well_enough_for_the_tolerance_of_inverses(pair):
    for q, _, _ in pair.states:
        assert np.max(np.linalg.cond(over_batch(pair.twin.mass_matrix, q))) < 1e4


def test_mass_matrices_and_their_inverses_agree(pair, same):
    for q, _, _ in pair.states:
        same(torsor.mass_matrix(pair.robot, q), over_batch(pair.twin.mass_matrix, q), ROUNDING)
        want = over_batch(pair.twin.inverse_mass_matrix, q)
        same(torsor.dynamics.inverse_mass_matrix(pair.robot, q), want, INVERSE)


def test_coriolis_matrices_are_the_same_for_every_joint_kind(pair, same):
    for q, v, _ in pair.states:
        # With a constant mass matrix (one revolute joint, sliders) C is zero: its terms are of size M v.
        terms = size(torsor.mass_matrix(pair.robot, q), v)
        want = over_batch(pair.twin.coriolis_matrix, q, v)
        same(torsor.coriolis_matrix(pair.robot, q, v), want, ROUNDING, scale=terms)


def test_gravity_coriolis_and_bias_forces_agree(pair, same):
    for q, v, _ in pair.states:
        gravity, bias = over_batch(pair.twin.gravity_forces, q), over_batch(pair.twin.bias_forces, q, v)
        wrenches = size(over_batch(pair.twin.joint_wrenches, q, v, 0.0 * v))
        same(torsor.gravity_forces(pair.robot, q), gravity, ROUNDING, scale=wrenches)
        same(torsor.bias_forces(pair.robot, q, v), bias, ROUNDING, scale=wrenches)
        same(torsor.dynamics.coriolis_forces(pair.robot, q, v), bias - gravity, ROUNDING, scale=wrenches)


def test_energies_agree(pair, same):
    total = pair.robot.parameters.inertias[:, 0].sum()
    for q, v, _ in pair.states:
        same(torsor.kinetic_energy(pair.robot, q, v), over_batch(pair.twin.kinetic_energy, q, v), ROUNDING)
        # Heights above and below the base cancel: the terms are m g h.
        terms = total * size(pair.robot.gravity) * max(1.0, size(over_batch(pair.twin.link_poses, q)))
        want = over_batch(pair.twin.potential_energy, q)
        same(torsor.potential_energy(pair.robot, q), want, ROUNDING, scale=terms)


def test_centre_of_mass_and_momentum_about_the_base_origin_agree(pair, same):
    for q, v, _ in pair.states:
        same(torsor.dynamics.centre_of_mass(pair.robot, q), over_batch(pair.twin.centre_of_mass, q), ROUNDING)
        same(torsor.dynamics.spatial_momentum(pair.robot, q, v), over_batch(pair.twin.spatial_momentum, q, v), ROUNDING)


# Parts that Pinocchio has no name for


@pytest.mark.parametrize("width", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_friction_adds_to_pinocchios_torques_and_takes_from_its_drive(seed, width, same):
    robot = torsor.robots.random_tree(7, seed=seed, friction=True, armature=True).with_coulomb_width(width)
    twin = Twin(robot)
    p = robot.parameters
    assert np.all(p.viscous_friction > 0) and np.all(p.coulomb_friction > 0)
    q, v, a = torsor.random_state(robot, seed=seed)
    friction = p.viscous_friction * v + p.coulomb_friction * (np.tanh(v / width) if width else np.sign(v))
    same(torsor.friction_forces(robot, v), friction, ROUNDING)
    same(torsor.inverse_dynamics(robot, q, v, a), twin.inverse_dynamics(q, v, a) + friction, ROUNDING)
    want = twin.forward_dynamics(q, v, a - friction)
    for algorithm in ALGORITHMS:
        same(PUBLIC[algorithm](robot, q, v, a), want, INVERSE)


@pytest.mark.parametrize("case", WITHOUT_MIMIC[:12])
def test_a_moving_base_is_a_free_joint_whose_motion_is_given(case, same):
    robot = make_pair(case).robot
    twin = Twin(robot, moving_base=True)
    q, v, a = torsor.random_state(robot, seed=7)
    V, A = np.random.default_rng(8).normal(size=(2, 6))
    moving = [twin.v(x) for x in (v, a)]
    for motion, given in zip(moving, (V, A), strict=True):
        motion[:6] = given[[3, 4, 5, 0, 1, 2]]
    tau = twin.K.T @ pin.rnea(twin.model, twin.data, twin.q(q), *moving) + robot.parameters.armature * a
    wrenches = max(np.abs(force.vector).max() for force in twin.data.f)
    same(torsor.inverse_dynamics(robot, q, v, a, base_motion=(V, A)), tau, ROUNDING, scale=wrenches)
    for algorithm in ALGORITHMS:
        same(PUBLIC[algorithm](robot, q, v, tau, base_motion=(V, A)), a, INVERSE)


@pytest.mark.parametrize("seed", range(8))
def test_locking_joints_is_pinocchios_reduced_model(seed, same):
    pair = make_pair(WITHOUT_MIMIC[4 + seed])
    robot, twin = pair.robot, pair.twin
    q, v, a = torsor.random_state(robot, seed=seed)
    held = list(np.random.default_rng(seed).choice(robot.coordinates, size=robot.n // 2, replace=False))
    positions = {name: q[robot.q_slice(name)] for name in held}
    locked = robot.lock(positions)
    kept = [name for name in robot.coordinates if name not in held]
    rows = np.concatenate([np.arange(robot.nv)[robot.v_slice(name)] for name in kept])
    ids = [twin.model.getJointId(name) for name in held]
    small = pin.buildReducedModel(twin.model, ids, twin.q(q))
    in_pin = [k for k in range(twin.model.nv) if np.any(twin.K[k, rows])]
    K = twin.K[np.ix_(in_pin, rows)]
    q_kept = np.concatenate([q[robot.q_slice(name)] for name in locked.coordinates])
    q_small = np.concatenate(
        [twin.q(q)[twin.model.idx_qs[i] :][: twin.model.nqs[i]] for i in twin.ids if twin.model.names[i] not in held]
    )
    assert list(locked.coordinates) == kept
    want = K.T @ pin.rnea(small, small.createData(), q_small, K @ v[rows], K @ a[rows])
    same(torsor.inverse_dynamics(locked, q_kept, v[rows], a[rows]), want, ROUNDING)
