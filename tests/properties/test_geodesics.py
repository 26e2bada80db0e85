"""What must be true of free motions: of geodesics from a state and between configurations, and of parallel transport."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close, dot, largest, times
from property_strategies import (
    ALL_KINDS,
    ONE_NUMBER,
    ROTATING,
    quaternion_slices,
    robots,
    seeds,
    with_scaled_quaternions,
)
from scipy.integrate import DOP853
from scipy.special import ellipeinc

import torsor
from torsor.kinematics import configuration_rate, velocity_of_rate
from torsor.motion import (
    geodesic,
    geodesic_between,
    minimum_energy_path,
    parallel_transport,
)
from torsor.motion._geodesic_between import MOST_STEPS
from torsor.motion.integration import with_nearby_quaternions

pytestmark = pytest.mark.compiled  # thousands of evaluations for each motion
TOLERANCE = 1e-10  # what is asked of the energy, unless said otherwise
# States are not controlled, only the energy is; errors of the two are alike, and grow with the motion's own sensitivity.
STATES = 100 * TOLERANCE


def inner(robot, q, u, w):
    return dot(u, times(torsor.mass_matrix(robot, q), w))


def tree(kinds, n=2, seed=3, **flags):
    return torsor.robots.random_tree(n, seed=seed, kinds=kinds, serial=True, **flags)


TREES = {
    "one number": tree(ONE_NUMBER),
    "planar": tree(("planar",), n=1),
    "spherical": tree(("spherical", "revolute")),
    "free": tree(("free",), n=1),
    "armature": tree(ALL_KINDS, seed=4, armature=True),
    "mimic": torsor.robots.random_tree(3, seed=12, kinds=("revolute",), mimic=True),
}


def sphere(radius=1.0):
    """A point mass of 1 kg on two crossed axes: q = (longitude, latitude)."""
    return torsor.assemble(
        [
            torsor.Joint(name="longitude", kind="revolute", axis=(0, 0, 1), link="ring"),
            torsor.Joint(
                name="latitude",
                kind="revolute",
                axis=(0, -1, 0),
                parent="ring",
                link="mass",
                inertia=torsor.Inertia.point(1.0, (radius, 0, 0)),
            ),
        ],
        name="sphere",
        frames={"particle": ("mass", torsor.pose_from((radius, 0, 0)))},
    )


def particle(robot, q, frame="tip"):
    return torsor.frame_pose(robot, q, frame)[..., :3, 3]


def straightness(x):
    """How far points at even times (K, d) are from a straight line at constant speed."""
    s = np.linspace(0.0, 1.0, len(x))[:, None]
    return largest(x - x[0] - s * (x[-1] - x[0]))


# Rates of configurations


@pytest.mark.parametrize("name", TREES)
def test_the_rate_of_a_configuration_is_that_of_the_motion(name):
    robot = TREES[name]
    q, v, _ = torsor.random_state(robot, seed=5, batch=(3,))
    ends = [
        with_nearby_quaternions(robot, np.stack([q, torsor.integrate(robot, q, h * v)], axis=-2)) for h in (1e-5, -1e-5)
    ]
    rate = (ends[0] - ends[1])[..., 1, :] / 2e-5
    assert_close(configuration_rate(robot, q, v), rate, 1e-9)  # central differences of step 1e-5
    assert_close(velocity_of_rate(robot, q, configuration_rate(robot, q, v)), v)
    stretched = with_scaled_quaternions(robot, q, 3.0)
    assert_close(velocity_of_rate(robot, stretched, configuration_rate(robot, stretched, v)), v)


# Invariants, for every kind of robot


@given(robots(most=2, friction=False), seeds)
@settings(max_examples=6)
def test_energy_is_kept_and_the_motion_can_be_turned_back_and_run_faster(robot, seed):
    q, v, _ = torsor.random_state(robot, seed=seed)
    v, duration = v / max(1.0, largest(v)), 0.3
    curve = geodesic(robot, q, v, duration, samples=7)
    assert curve.energy_drift <= TOLERANCE
    assert_close(curve.energy, torsor.kinetic_energy(robot, curve.q, curve.v))
    assert_close(curve.length, duration * np.sqrt(2 * curve.energy[0]))
    assert_close(torsor.difference(robot, q, curve.q[0]), 0 * v)
    assert_close(curve.v[0], v)
    back = geodesic(robot, curve.q[-1], -curve.v[-1], duration, samples=2)
    assert_close(torsor.difference(robot, back.q[-1], q), 0 * v, STATES)
    assert_close(back.v[-1], -v, STATES)
    fast = geodesic(robot, q, 2 * v, duration / 2, samples=7)
    assert_close(torsor.difference(robot, fast.q, curve.q), 0 * curve.v)  # the same steps: to rounding
    assert_close(fast.v, 2 * curve.v)


@pytest.mark.parametrize("name", TREES)
def test_the_covariant_acceleration_vanishes(name):
    robot = TREES[name]
    q, v, _ = torsor.random_state(robot, seed=1)
    curve = geodesic(robot, q, v, 0.4, tolerance=1e-12)
    t, h = 0.2, 1e-3
    ahead = [curve(t + k * h)[1] for k in (1, -1, 2, -2)]
    a = (8 * (ahead[0] - ahead[1]) - (ahead[2] - ahead[3])) / (12 * h)  # fourth order: 1e-12 of a fifth derivative
    q, v = curve(t)
    bending = torsor.geometry.covariant_derivative(robot, q, v, v, a)
    assert_close(bending, 0 * v, 1e-7, scale=a)


@pytest.mark.parametrize("name", [name for name in TREES if name != "armature"])  # which turns with a spherical joint
def test_it_is_the_simulated_motion_without_gravity(name):
    robot = TREES[name].with_gravity((0, 0, 0))
    q, v, _ = torsor.random_state(robot, seed=1)
    curve = geodesic(robot, q, v, 0.2, samples=2)
    errors = []
    for steps in (20, 40):
        run = torsor.simulate(robot, q, v, duration=0.2, dt=0.2 / steps, method="rk4")
        errors.append(max(largest(torsor.difference(robot, run.q[-1], curve.q[-1])), largest(run.v[-1] - curve.v[-1])))
    assert errors[1] < max(errors[0] / 11, 1e-10)  # rk4 comes nearer at fourth order, by about 16
    assert errors[1] < 1e-4


def test_it_is_what_runge_and_kutta_make_of_christoffel_symbols():
    robot = torsor.robots.panda()
    q, v, _ = torsor.random_state(robot, seed=2)

    def rate(y):
        Gamma = torsor.geometry.christoffel_symbols_second_kind(robot, y[:7])
        return np.concatenate([y[7:], -np.einsum("ijk,i,j->k", Gamma, y[7:], y[7:])])

    y, h = np.concatenate([q, v]), 1e-3
    for _ in range(300):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    curve = geodesic(robot, q, v, 0.3)
    assert_close(np.concatenate([curve.q[-1], curve.v[-1]]), y, 1e-8)  # of h⁴ = 1e-12 and its derivatives, up to 1e4
    assert curve.energy_drift <= TOLERANCE


# Closed forms


def test_on_a_sphere_geodesics_are_great_circles():
    robot = sphere(0.7)
    q, v = np.array([0.3, 0.4]), np.array([1.0, 2.0])
    curve = geodesic(robot, q, v, 1.0)
    x = particle(robot, curve.q, "particle")
    normal = np.cross(x[0], x[10])
    assert_close(x @ normal, np.zeros(len(x)), STATES)
    angles = np.unwrap(np.arctan2(np.cross(x[0], x) @ normal / np.linalg.norm(normal), x @ x[0]))
    assert_close(0.7 * angles, curve.length * curve.time, STATES)


def test_a_point_mass_on_massless_links_flies_straight():
    robot = torsor.robots.planar_chain([1.0, 0.8], [0.0, 2.0])
    curve = geodesic(robot, [0.3, 1.2], [0.4, -0.3], 1.0)
    assert straightness(particle(robot, curve.q)) < STATES


def test_a_balanced_arm_keeps_its_joint_velocities():
    """The second link's centre of mass is on its axis: M is constant."""
    robot = torsor.assemble(
        [
            torsor.Joint(
                name="a", kind="revolute", axis=(0, 0, 1), inertia=torsor.Inertia.box((1, 0.1, 0.1), mass=2.0)
            ),
            torsor.Joint(
                name="b",
                kind="revolute",
                axis=(0, 0, 1),
                parent="a_link",
                pose=torsor.pose_from((1, 0, 0)),
                inertia=torsor.Inertia.box((0.5, 0.1, 0.1), mass=1.0),
            ),
        ]
    )
    curve = geodesic(robot, [0.3, 1.2], [1.0, -3.0], 2.0)
    assert straightness(curve.q) < 1e-13
    between = geodesic_between(robot, [0.3, 1.2], [2.3, -4.8], duration=2.0)
    assert_close(between.v, np.broadcast_to([1.0, -3.0], between.v.shape))


def test_a_cart_and_pole_move_straight_on_an_unrolled_elliptic_cylinder():
    cart, pole, length = 1.2, 0.7, 0.5
    robot = torsor.robots.cart_pole(cart=cart, pole=pole, length=length)
    q = geodesic(robot, [0.1, 0.4], [1.0, 3.0], 2.0).q
    centre_of_mass = q[:, 0] + pole / (cart + pole) * length * np.sin(q[:, 1])
    along_the_ellipse = ellipeinc(q[:, 1] + np.pi / 2, pole / (cart + pole))
    assert straightness(np.stack([centre_of_mass, along_the_ellipse], axis=-1)) < STATES


def top(inertia):
    return torsor.assemble([torsor.Joint(name="ball", kind="spherical", inertia=inertia)])


def test_a_symmetric_body_turns_evenly():
    robot = top(torsor.Inertia.sphere(0.3, mass=1.0))
    q, v, _ = torsor.random_state(robot, seed=0)
    curve = geodesic(robot, q, v, 2.0, samples=5)
    expected = torsor.integrate(robot, q, v, curve.time)
    assert_close(torsor.difference(robot, curve.q, expected), 0 * curve.v, STATES)
    assert_close(curve.v, np.broadcast_to(v, curve.v.shape), STATES)


def test_a_lopsided_top_keeps_its_angular_momentum():
    robot = top(torsor.Inertia.box((0.3, 0.5, 0.9), mass=2.0))
    curve = geodesic(robot, robot.neutral, [0.1, 3.0, 0.2], 4.0)
    assert largest(np.ptp(curve.v, axis=0)) > 3.0  # it tumbles
    L = torsor.dynamics.spatial_momentum(robot, curve.q, curve.v)[:, :3]
    assert_close(L, np.broadcast_to(L[0], L.shape), STATES)
    assert_close(np.linalg.norm(curve.q, axis=-1), np.ones(101))


def test_a_floating_robot_keeps_all_its_momentum():
    robot = tree(("free", "revolute"), seed=11)
    assert robot.structure.kinds[0] == "free"
    q, v, _ = torsor.random_state(robot, seed=1)
    curve = geodesic(robot, q, v, 0.3, samples=5)
    P = torsor.dynamics.spatial_momentum(robot, curve.q, curve.v)
    assert_close(P, np.broadcast_to(P[0], P.shape), STATES)


# What a geodesic is


def test_a_batch_is_each_motion_alone_at_any_time():
    robot = TREES["spherical"]
    q = torsor.random_configuration(robot, seed=3, batch=(2, 1))
    _, many, _ = torsor.random_state(robot, seed=4, batch=(3,))
    together = geodesic(robot, q, many, 0.2, samples=4)
    assert together.q.shape == (2, 3, 4, robot.nq) and together.v.shape == (2, 3, 4, robot.nv)
    assert together.energy.shape == (2, 3, 4) and together.length.shape == together.energy_drift.shape == (2, 3)
    alone = geodesic(robot, q[1, 0], many[2], 0.2, samples=4)
    assert_close(together.q[1, 2], alone.q, STATES)
    t = np.array([[0.0, 0.05], [0.1, 0.2]])
    qs, vs = together(t)
    assert qs.shape == (2, 3, 2, 2, robot.nq) and vs.shape == (2, 3, 2, 2, robot.nv)
    assert_close(qs[1, 2, 1, 0], alone(0.1)[0], STATES)
    assert_close(vs[..., 1, 1, :], together.v[..., -1, :])
    assert geodesic(robot, q[:0], many[:0], 0.2).q.shape == (0, 0, 101, robot.nq)


def test_a_robot_at_rest_stays():
    robot = TREES["armature"]
    curve = geodesic(robot, robot.neutral, np.zeros(robot.nv), 1.0, samples=3)
    assert_close(curve.q, np.broadcast_to(robot.neutral, curve.q.shape), 0.0)
    assert curve.length == curve.energy_drift == 0.0


def test_quaternions_of_any_length_start_the_same_motion():
    robot = TREES["spherical"]
    assert any(kind in ROTATING for kind in robot.structure.kinds)
    q, v, _ = torsor.random_state(robot, seed=3)
    one, other = (geodesic(robot, with_scaled_quaternions(robot, q, scale), v, 0.2, samples=3) for scale in (1.0, 2.5))
    assert_close(one.q, other.q)
    for part in quaternion_slices(robot):
        assert_close(np.linalg.norm(one.q[:, part], axis=-1), np.ones(3))


def test_a_tighter_tolerance_is_kept_too():
    robot = torsor.robots.planar2r()
    curves = [geodesic(robot, [0.3, 1.0], [2.0, -3.0], 5.0, tolerance=tolerance) for tolerance in (1e-6, 1e-12)]
    assert curves[0].energy_drift <= 1e-6 and curves[1].energy_drift <= 1e-12


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: geodesic(sphere(), [0, 0], [1, 1], -1.0), "`duration` must be finite and positive, got -1.0"),
        (lambda: geodesic(sphere(), [0, 0], [1, 1], 1.0, samples=1), "at least 2 samples"),
        (lambda: geodesic(sphere(), [0, 0], [1, 1], 1.0, samples=2.5), "`samples` must be a whole number, got 2.5"),
        (
            lambda: geodesic(sphere(), [0, 0], [1, 1], "1"),
            "`duration` must be one number, finite and positive, got '1'",
        ),
        (lambda: geodesic(sphere(), [0, 0], [1, 1], np.ones(2)), "`duration` must be one number"),
        (lambda: geodesic(TREES["free"], np.zeros(7), np.ones(6), 1.0), "quaternion of joint .* has length zero"),
        (lambda: geodesic_between(TREES["free"], np.zeros(7), np.ones(7)), "quaternion of joint .* has length zero"),
        (lambda: geodesic(sphere(), [0, 0, 0], [1, 1], 1.0), r"`q0` must have shape \(..., 2\) for robot 'sphere'"),
        (lambda: geodesic(sphere(), [0, np.nan], [1, 1], 1.0), "must be finite"),
        (lambda: geodesic(sphere(), [0, 0], [1, 1], 1.0, tolerance=1e-16), "pass tolerance="),
        (lambda: geodesic(sphere(), [0, 0], [1, 1], 1.0)(1.5), "lasts from 0 to 1 s; it was asked for t = 1.5"),
        (lambda: geodesic(sphere(), [0, np.pi / 2], [1, 1], 1.0), r"cannot go on after \S+ s of 1 s.* longitude \+1"),
        (lambda: geodesic(sphere(), [[0, 0], [0, np.pi / 2]], [1, 1], 1.0), "state 1 of the batch"),
    ],
)
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(torsor.TorsorError, match=text):
        call()


def test_a_motion_into_a_singular_configuration_says_when_and_where():
    """The mass flies straight out to where the arm is stretched, 1.3 m/s² away from the circle it cannot leave."""
    robot = torsor.robots.planar_chain([1.0, 1.0], [0.0, 1.0])
    q, v = np.array([0.3, 1.0]), np.array([1.0, -1.0])
    J = torsor.mixed_jacobian(robot, q, "tip")[3:5]
    x, u = particle(robot, q)[:2], J @ v
    b, c = x @ u / (u @ u), (x @ x - 4.0) / (u @ u)  # |x + t u| = 2
    with pytest.raises(torsor.TorsorError, match="where its mass matrix is singular or nearly so") as caught:
        geodesic(robot, q, v, 5.0)
    when = float(str(caught.value).split("after ")[1].split(" s")[0])
    assert abs(when - (np.sqrt(b * b - c) - b)) < 1e-5


def test_without_scipy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(torsor.TorsorError, match=r"geodesic: needs SciPy: pip install 'torsor\[motion\]'"):
        geodesic(sphere(), [0, 0], [1, 1], 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda robot, q, w: geodesic(robot, q, w, 1.0),
        geodesic_between,
        lambda robot, q, w: parallel_transport(robot, [q, q], w),
    ],
)
def test_inside_jit_it_says_that_it_cannot_be(call):
    jax = pytest.importorskip("jax")
    with pytest.raises(torsor.TorsorError, match="cannot run inside jit"):
        jax.jit(lambda q: call(sphere(), np.zeros(2), q))(np.ones(2))


def test_a_geodesic_says_what_it_is_and_can_be_kept():
    curve = geodesic(sphere(), [0.0, 0.1], [1.0, 1.0], 0.5, samples=3)
    assert str(curve).startswith("geodesic of robot 'sphere': 0.5 s, length 0.70") and "\n" not in str(curve)
    again = pickle.loads(pickle.dumps(curve))
    assert_close(again(0.3)[0], curve(0.3)[0], 0.0)


# Between two configurations


@pytest.mark.parametrize("name", ["one number", "planar", "spherical", "free"])
def test_a_geodesic_is_found_again_from_its_ends(name):
    robot = TREES[name]
    q, v, _ = torsor.random_state(robot, seed=2)
    curve = geodesic(robot, q, v, 0.7, samples=5)
    again = geodesic_between(robot, q, curve.q[-1], duration=0.7, samples=5)
    assert largest(torsor.difference(robot, again.q[-1], curve.q[-1])) <= 1e-8
    assert_close(again.v[0], v, 1e-6)  # the ends to 1e-8, and how they depend on the start
    assert_close(again.length, curve.length, 1e-6)


def test_panda_gets_from_anywhere_to_anywhere():
    robot = torsor.robots.panda()
    for seed in (1, 2, 4):
        q0, q1 = torsor.random_configuration(robot, seed=seed, batch=(2,))
        curve = geodesic_between(robot, q0, q1, duration=2.0)
        assert_close(curve.q[0], q0)
        assert largest(curve.q[-1] - q1) <= 1e-8
        assert curve.energy_drift <= TOLERANCE


def test_the_start_of_the_search_chooses_the_way_round_the_sphere():
    robot = sphere()
    q0, q1 = np.array([0.0, 0.2]), np.array([2.0, -0.3])
    short = geodesic_between(robot, q0, q1)
    x0, x1 = particle(robot, np.stack([q0, q1]), "particle")
    angle = np.arccos(x0 @ x1)
    assert_close(short.length, angle, 1e-8)
    turned = q1 - [2 * np.pi, 0.0]  # the same place, but joints count their turns
    long = geodesic_between(robot, q0, turned)
    assert_close(long.length, 2 * np.pi - angle, 1e-8)
    for start in (1.05 * long.v[0] + 0.05, long.q[::10] + 0.02):
        assert_close(geodesic_between(robot, q0, turned, start=start).v[0], long.v[0], 1e-6)


def test_nowhere_to_go_is_no_motion():
    robot = sphere()
    curve = geodesic_between(robot, [0.3, 0.2], [0.3, 0.2])
    assert curve.length == 0.0 and curve.q.shape == (101, 2)


def test_what_no_geodesic_joins_is_said():
    """A mass that flies straight cannot get to the other side of a hole its arm leaves in the middle."""
    robot = torsor.robots.planar_chain([1.0, 0.5], [0.0, 1.0])
    with pytest.raises(torsor.TorsorError, match=r"found no geodesic|cannot go on"):
        geodesic_between(robot, [0.0, 1.5], [3.0, 1.5])


def test_a_search_in_vain_ends_soon(monkeypatch):
    """Next to the pole, motions cost thousands of steps: without a bound on all of them together it took 16 s."""
    steps = []
    step = DOP853.step
    monkeypatch.setattr(DOP853, "step", lambda solver: steps.append(solver.t) or step(solver))
    with pytest.raises(torsor.TorsorError, match=r"found no geodesic|cannot go on"):
        geodesic_between(sphere(), [0.0, 0.1], [np.pi, 0.2])
    assert len(steps) <= MOST_STEPS


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"q1": [0.0]}, r"`q1` must have shape \(..., 2\)"),
        ({"q1": [[0.0, 1.0]]}, r"`q1` must be one finite configuration of shape \(2,\), got \(1, 2\)"),
        ({"start": np.zeros(3)}, r"`start` must be a velocity \(2,\) or a path \(K \+ 1, 2\)"),
        ({"tolerance": 0.0}, "`tolerance` must be finite and positive"),
    ],
)
def test_wrong_arguments_of_a_motion_between_are_named(change, text):
    with pytest.raises(torsor.TorsorError, match=text):
        geodesic_between(sphere(), **({"q0": [0.0, 0.0], "q1": [1.0, 1.0]} | change))


# Parallel transport


@pytest.mark.parametrize("name", TREES)
def test_transport_along_a_geodesic_keeps_lengths_angles_and_the_velocity(name):
    robot = TREES[name]
    q, v, w = torsor.random_state(robot, seed=1)
    curve = geodesic(robot, q, v, 0.3, samples=5)
    carried = parallel_transport(robot, curve, np.stack([v, w]))
    assert carried.shape == (2, 5, robot.nv)
    assert_close(carried[0], curve.v, STATES)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        product = inner(robot, curve.q, carried[a], carried[b])
        assert_close(product, np.broadcast_to(product[0], product.shape), STATES)
    assert_close(parallel_transport(robot, curve, 2 * v - 3 * w), 2 * carried[0] - 3 * carried[1], STATES)


@pytest.mark.parametrize("seed", [9, 21])
def test_transport_asks_no_more_of_a_geodesic_than_it_has(seed):
    """Its interpolant is as good as its tolerance, which was not good enough to carry by."""
    robot = torsor.robots.panda()
    q, v, w = torsor.random_state(robot, seed=seed)
    curve = geodesic(robot, q, v, 0.5)
    carried = parallel_transport(robot, curve, w)
    assert_close(inner(robot, curve.q, carried, carried), np.full(101, inner(robot, q, w, w)), STATES)
    late = parallel_transport(robot, curve, carried[40], time=curve.time[40:])
    assert_close(late, carried[40:], STATES)


def test_simulated_motions_and_paths_of_least_energy_carry_too():
    robot = torsor.robots.planar2r().with_gravity((0, 0, 0))
    q, v, w = np.array([0.3, 1.0]), np.array([1.0, -0.5]), np.array([0.2, 0.7])
    expected = parallel_transport(robot, geodesic(robot, q, v, 0.5, samples=51), w)
    run = torsor.simulate(robot, q, v, duration=0.5, dt=0.01, method="rk4")
    assert_close(parallel_transport(robot, run, w), expected, 1e-7)  # h⁴ and the spline
    assert_close(parallel_transport(robot, run, w, time=[0.0, 0.5])[-1], expected[-1], 1e-7)
    least = minimum_energy_path(robot, q, run.q[-1], duration=0.5, samples=51)
    assert_close(parallel_transport(robot, least, w), expected, 1e-3)  # O(1/points²)
    with pytest.raises(torsor.TorsorError, match=r"lasts from 0 to 0\.5 s"):
        parallel_transport(robot, run, w, time=[0.0, 1.0])
    many = parallel_transport(robot, np.stack([run.q, run.q + np.array([1.0, 0.0])]), w, time=run.time)
    assert_close(many, np.stack([expected, expected]), 1e-7)  # M does not depend on the first joint


@given(st.floats(-1.2, 1.2))
@settings(max_examples=5)
def test_around_a_circle_of_latitude_a_vector_turns_by_what_the_sphere_encloses(latitude):
    """Foucault's pendulum: 2π sin(latitude) in a day."""
    w = np.array([0.0, 1.0])
    day = parallel_transport(
        sphere(), lambda t: (np.array([2 * np.pi * t, latitude]), np.array([2 * np.pi, 0.0])), w, time=[0.0, 1.0]
    )
    east, north = np.cos(latitude) * day[-1, 0], day[-1, 1]
    turn = 2 * np.pi * np.sin(latitude)
    assert_close([east, north], [np.sin(turn), np.cos(turn)], STATES)


def test_on_a_flat_robot_transport_around_a_loop_changes_nothing():
    robot = torsor.robots.cart_pole()
    s = np.linspace(0.0, 2 * np.pi, 41)
    loop = np.stack([0.3 * np.sin(s), 0.5 + np.cos(s)], axis=-1)
    w = np.array([0.3, -1.0])
    assert_close(parallel_transport(robot, loop, w)[-1], w, STATES)  # the spline is a loop too


@pytest.mark.parametrize("name", ["one number", "planar", "spherical", "free"])
def test_samples_stand_for_the_path_and_how_fast_it_is_passed_does_not_matter(name):
    robot = TREES[name]
    q, v, w = torsor.random_state(robot, seed=1)
    curve = geodesic(robot, q, v, 0.3, samples=21)
    expected = parallel_transport(robot, curve, w)
    flips = np.where(np.arange(21) % 3 == 0, -2.0, 1.0)[:, None]  # the same rotations
    path = np.where(flips < 0, with_scaled_quaternions(robot, curve.q, -2.0), curve.q)
    # The spline is exact to h⁶ of a sixth derivative, its velocity to h⁵.
    assert_close(parallel_transport(robot, path, w), expected, 1e-6)
    uneven = (curve.time / 0.3) ** 1.5 + curve.time
    assert_close(parallel_transport(robot, path, w, time=uneven)[-1], expected[-1], 1e-4)
    assert_close(parallel_transport(robot, curve, w, time=[0.0, 0.3])[-1], expected[-1], STATES)


def test_a_batch_of_geodesics_carries_a_batch():
    robot = TREES["one number"]
    q, v, w = torsor.random_state(robot, seed=1, batch=(2,))
    carried = parallel_transport(robot, geodesic(robot, q, v, 0.2, samples=3), w[:, None])
    assert carried.shape == (2, 2, 3, robot.nv)
    alone = parallel_transport(robot, geodesic(robot, q[1], v[1], 0.2, samples=3), w[0])
    assert_close(carried[0, 1], alone, STATES)


@pytest.mark.parametrize(
    ("path", "options", "text"),
    [
        (lambda t: (np.zeros(2), np.zeros(2)), {}, "say at which times"),
        (np.zeros((4, 3)), {}, r"configurations \(..., K, 2\), got shape \(4, 3\)"),
        ("a path", {}, "must be a Geodesic, a Trajectory or PathResult, a function"),
        (lambda t: np.zeros(2), {"time": [0, 1]}, r"the function must return a pair \(q, v\)"),
        (
            lambda t: (np.zeros(3), np.zeros(2)),
            {"time": [0, 1]},
            r"returned: `q` must have shape \(..., 2\), got \(3,\)",
        ),
        (np.zeros((4, 2)), {"time": [0, 1]}, "4 configurations need as many times, got 2"),
        (np.zeros((2, 2)), {"time": [1, 0]}, "increasing"),
        (np.zeros((4, 2)), {"w": [1.0]}, r"`w` must have shape \(..., 2\), got \(1,\)"),
        (np.zeros((4, 2)), {"w": [1.0, np.nan]}, "`w` must be finite"),
        (np.linspace([0.0, 1.0], [0.0, 2.0], 9), {}, "cannot go on|inner products change"),
        (lambda t: (np.array([0.1, t]), np.array([1.0, 0.0])), {"time": [0, 1]}, "Is v the velocity of q"),
    ],
)
def test_what_cannot_be_carried_is_refused(path, options, text):
    with pytest.raises(torsor.TorsorError, match=text):
        parallel_transport(sphere(), path, **({"w": [1.0, 1.0]} | options))


@pytest.mark.parametrize("kinds", [("revolute", "prismatic"), ("free", "spherical", "planar")])
def test_a_geodesic_is_a_motion_in_time(kinds):
    """Its derivatives by differences; nothing pushes it, whatever acts on the robot otherwise."""
    effects = {"friction": True, "armature": True, "springs": True}
    robot = torsor.robots.random_tree(3, seed=2, kinds=kinds, **effects)
    q, v, _ = torsor.random_state(robot, seed=1)
    curve, h = torsor.motion.geodesic(robot, q, v, 0.8), 1e-4
    assert isinstance(curve, torsor.motion.Motion)
    t = np.array([0.1, 0.33, 0.7])
    before, here, after = curve.at(t - h), curve.at(t), curve.at(t + h)
    scale = max(1.0, np.abs(here.jerk).max())
    np.testing.assert_allclose(torsor.difference(robot, before.q, after.q) / (2 * h), here.v, atol=1e-6 * scale)
    np.testing.assert_allclose((after.v - before.v) / (2 * h), here.a, atol=1e-5 * scale)
    np.testing.assert_allclose((after.a - before.a) / (2 * h), here.jerk, atol=1e-4 * scale)
    np.testing.assert_allclose(here.a, torsor.geometry.geodesic_acceleration(robot, here.q, here.v), atol=1e-9 * scale)
    for x, y in zip(curve.at(0.33), here, strict=True):
        np.testing.assert_allclose(x, y[1], atol=1e-12 * scale)
    for outside, end in ((-1.0, 0.0), (2.0, 0.8)):
        state = curve.at(outside)
        np.testing.assert_array_equal(state.q, curve.at(end).q)
        assert not any(np.any(x) for x in state[1:])
    run = curve.sample(0.1)
    np.testing.assert_allclose(run.kinetic, curve.energy[0], rtol=1e-9)
    np.testing.assert_allclose(run.tau, torsor.inverse_dynamics(robot, run.q, run.v, run.a), atol=1e-12)
    with pytest.raises(torsor.ArgumentError, match="a geodesic cannot be traced"):
        torsor.compile(lambda robot, t: {"q": curve.at(t).q}, robot, {"t": ()})
