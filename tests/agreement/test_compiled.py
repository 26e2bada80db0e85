"""Compiled for the robot, and evaluated with NumPy as written: every public function, every joint kind, one number."""

import inspect

import numpy as np
import pytest

import torsor
from torsor.border.arrays import signature_of
from torsor.functions.dispatch import PUBLIC, about_of
from torsor.model.aligned import aligned

ALL = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
IN_ORDER = torsor.robots.random_tree(4, seed=1, kinds=ALL[:3], mimic=True)
ROBOTS = {
    "panda": torsor.robots.panda().rename({"hand_tcp": "tool"}),
    "puma560 with friction": torsor.robots.puma560(friction=True).rename({"tip": "tool"}),
    "cart_pole of points": torsor.robots.cart_pole().rename({"tip": "tool"}),
    "tree of every kind": torsor.robots.random_tree(6, seed=55, kinds=ALL, armature=True, friction=True, fixed=True),
    "tree with mimic joints": IN_ORDER.reorder(["joint_2", "joint_0", "joint_1"]).with_coulomb_width(0.1),
    "short tree": torsor.robots.random_tree(
        2, seed=1, kinds=("spherical", "helical"), armature=True, friction=True, fixed=True
    ),
}


# What takes seconds to compile for the larger robots is compiled for the small ones.
LONG = {
    "forward_dynamics_derivatives", "forward_dynamics_second_derivatives", "forward_dynamics_hessian",
    "forward_dynamics_hessian_product", "inverse_dynamics_second_derivatives", "inverse_dynamics_hessian",
    "inverse_dynamics_hessian_product", "curvature_norm", "ricci_curvature", "scalar_curvature", "sectional_curvature",
    "riemann_curvature", "christoffel_symbols_by_brackets", "christoffel_symbols_derivative",
    "mass_matrix_second_derivative", "mixed_jacobian_derivative", "space_jacobian_derivative",
}  # fmt: skip
# These are compiled for every kind of joint and for a robot of six; the others for smaller robots of several kinds.
EVERY_KIND = {
    "inverse_dynamics", "forward_dynamics", "articulated_body_acceleration", "mass_matrix", "inverse_mass_matrix",
    "coriolis_forces", "gravity_forces", "friction_forces", "kinetic_energy", "potential_energy", "frame_pose",
    "body_jacobian", "mixed_jacobian", "space_jacobian", "body_acceleration", "mixed_acceleration", "integrate",
    "difference", "configuration_rate", "centre_of_mass", "centroidal_momentum_matrix", "torque_regressor",
    "inverse_dynamics_derivatives", "mass_matrix_derivative", "task_space_dynamics",
}  # fmt: skip
SMALL = ("tree with mimic joints", "short tree")  # the first in an order of its own
OF_POINTS, OF_KINDS, OF_SIX = "cart_pole of points", "tree of every kind", "puma560 with friction"


def robots_for(name):
    """Point masses only for what divides by M: where it might be singular, it is factorised with care."""
    points = [OF_POINTS] if name in LONG or name in EVERY_KIND or about_of(PUBLIC[name]).rivals is not None else []
    return [*SMALL, *points, *([OF_KINDS, OF_SIX] if name in EVERY_KIND else [])]


CASES = [(name, robot) for name in sorted(PUBLIC) for robot in robots_for(name)]


def test_what_is_compiled_for_every_kind_exists():
    assert set(PUBLIC) >= EVERY_KIND


def arguments(robot, name, batch):
    q, v, a = torsor.random_state(robot, seed=1, batch=batch)
    state = {
        "q": q,
        "q0": q,
        "q1": torsor.random_configuration(robot, seed=2, batch=batch),
        "v": v,
        "a": a,
        "tau": a,
        "u": v,
        "w": a,
        "w_rate": v - a,
        "q_rate": 0.1 * q,
        "weights": v + a,
        "dq": v,
        "dv": a,
        "da": v - a,
        "dtau": v - a,
        "v_ref": v + a,
        "a_ref": v - a,
        "acceleration": np.ones((*batch, 1)),
        "forces": np.ones((*batch, 1)),
        "velocity": np.ones((*batch, 1)),
        "null": v + a,
        "damping": np.full(batch, 0.3),
        "posture": torsor.random_configuration(robot, seed=3, batch=batch),
        "energy": np.full(batch, 1e3),
    }
    parameters = inspect.signature(about_of(PUBLIC[name]).algorithm).parameters
    given = {key: state[key] for key in parameters if key in state}
    if "frame" in parameters:
        given["frame"] = "tool"
    if "task" in parameters:
        given["task"] = torsor.position_task("tool", "vx")
    if "dt" in parameters:
        given["dt"] = 0.1
    if "wrenches" in parameters:
        given["wrenches"] = {"tool": np.linspace(-1, 1, 6), robot.links[0]: np.ones((*batch, 6))}
    if "base_motion" in parameters:
        given["base_motion"] = (np.linspace(-1, 0.5, 6), np.linspace(2, -1, 6))
    return given


def parts(result):
    """The arrays of a result: one, or the fields of a named tuple."""
    return result if isinstance(result, tuple) else (result,)


def assert_agree(got, want):
    # FMA, aligned frames and regrouped inertias change the last digits; accelerations magnify them by cond(M)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 * (1 + np.abs(want).max()))


@pytest.mark.parametrize(("name", "robot"), CASES)
def test_compiled_and_numpy_agree(name, robot):
    robot = ROBOTS[robot]
    given = arguments(robot, name, (5,))
    if name == "articulated_body_acceleration" and robot.structure.has_couplings:
        with pytest.raises(torsor.ModelError, match="has mimic joints, which share a coordinate; use forward_dynamics"):
            PUBLIC[name](robot, **given)
        return
    with torsor.backend("numpy"):
        want = PUBLIC[name](robot, **given)
    with torsor.backend("compiled"):
        got = PUBLIC[name](robot, **given)
    for x, y in zip(parts(got), parts(want), strict=True):
        assert x.shape == y.shape
        assert_agree(x, y)


@pytest.mark.parametrize("robot", ["tree of every kind", "tree with mimic joints"])
@pytest.mark.parametrize(
    "name", sorted(name for name in PUBLIC if "frame" in signature_of(about_of(PUBLIC[name]).algorithm).names)
)
def test_every_frame_stays_where_it_is_though_link_frames_are_moved(name, robot):
    """The base, links, which are frames with no pose of their own, and named frames."""
    robot = ROBOTS[robot]
    given = arguments(robot, name, (2,))
    for frame in robot.frames:
        given["frame"] = frame
        moved = about_of(PUBLIC[name]).algorithm(about_of(PUBLIC[name]).robot_for(robot), **given)
        for x, y in zip(parts(moved), parts(about_of(PUBLIC[name]).algorithm(robot, **given)), strict=True):
            assert_agree(x, y)


@pytest.mark.parametrize(
    "name", ["centre_of_mass", "potential_energy", "spatial_momentum", "centroidal_momentum_matrix"]
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical"])
def test_what_a_root_cannot_feel_still_counts_for_the_whole(name, kind):
    robot = torsor.robots.random_tree(3, seed=5, kinds=(kind,))
    given = arguments(robot, name, ())
    assert_agree(
        about_of(PUBLIC[name]).algorithm(aligned(robot), **given), about_of(PUBLIC[name]).algorithm(robot, **given)
    )


def test_a_singular_configuration_is_nan_when_compiled_too():
    robot = torsor.robots.planar2r().with_inertia("link_1", torsor.Inertia.zero())
    with torsor.backend("compiled"):
        a = torsor.forward_dynamics(robot, np.array([[0.3, 0.0], [0.3, 1.0], [0.3, np.pi]]), np.zeros(2), np.ones(2))
    assert np.isnan(a[[0, 2]]).all()
    assert np.isfinite(a[1]).all()


def test_a_joint_that_moves_nothing_is_refused_when_compiled_too():
    joints = [torsor.Joint(name="idle", kind="revolute", axis=(0, 0, 1))]
    with torsor.backend("compiled"), pytest.raises(torsor.ModelError, match="joint 'idle' moves no inertia"):
        torsor.forward_dynamics(torsor.assemble(joints), [0.0], [0.0], [0.0])


def test_jax_arrays_take_the_jax_road():
    import jax.numpy as jnp

    robot = ROBOTS["panda"]
    q, v, a = torsor.random_state(robot, seed=0)
    with torsor.backend("compiled"):
        tau = torsor.inverse_dynamics(robot, jnp.asarray(q), v, a)
        assert not isinstance(tau, np.ndarray)
        np.testing.assert_allclose(tau, torsor.inverse_dynamics(robot, q, v, a), rtol=1e-4, atol=1e-4)  # may be float32


def test_no_constant_is_rounded_away_on_robots_of_any_size():
    """What is small is judged beside its own kind: on a robot of micrometres, 3e-16 m is an offset and 5e-17 an inertia."""
    body = torsor.Inertia(1.0, (0, 0, 0), [[2e-12, 5e-17, 0], [5e-17, 3e-12, 0], [0, 0, 4e-12]])
    pose = np.eye(4)
    pose[:3, 3] = 1e-6, 3e-16, 0.0
    joints = [
        torsor.Joint(name="a", kind="revolute", axis=(0, 0, 1), link="one", inertia=body),
        torsor.Joint(name="b", kind="revolute", axis=(0, 0, 1), parent="one", pose=pose, inertia=body),
    ]
    parameters = aligned(torsor.assemble(joints)).parameters
    assert parameters.poses[1, 1, 3] == 3e-16
    assert parameters.inertias[1, 5] == 5e-17


@pytest.mark.compiled
def test_a_call_that_repeats_the_one_before_is_told_from_one_that_does_not():
    """The kernel of the call before is taken without asking again: not for other frames, shapes, precisions or backends."""
    robot, other = ROBOTS["panda"], ROBOTS["panda"].with_gravity((0.0, 0.0, -1.62))
    q, v, a = torsor.random_state(robot, seed=0, batch=(5,))
    poses = {frame: torsor.frame_pose(robot, q, frame) for frame in ("tool", "flange", "tool")}
    assert not np.array_equal(poses["tool"], poses["flange"])
    for _ in range(2):
        for frame, pose in poses.items():
            np.testing.assert_array_equal(torsor.frame_pose(robot, q, frame), pose)
            np.testing.assert_array_equal(torsor.frame_pose(robot, q[:2], frame), pose[:2])
    tau = torsor.inverse_dynamics(robot, q, v, a)
    single = torsor.inverse_dynamics(robot, *(x.astype(np.float32) for x in (q, v, a)))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(torsor.inverse_dynamics(robot, q, v, a), tau)
    assert not np.array_equal(torsor.inverse_dynamics(other, q, v, a), tau)
    np.testing.assert_array_equal(torsor.inverse_dynamics(robot, q.astype(">f8"), v, a), tau)
    np.testing.assert_array_equal(torsor.inverse_dynamics(robot, q[::-1], v[::-1], a[::-1]), tau[::-1])
    with pytest.raises(torsor.ShapeError):
        torsor.inverse_dynamics(robot, q, v, a[:, :6])
    with torsor.backend("numpy"):
        np.testing.assert_allclose(torsor.inverse_dynamics(robot, q, v, a), tau, rtol=1e-10)
    with pytest.raises(torsor.ShapeError, match="out"):
        torsor.inverse_dynamics(robot, q, v, a, out=np.empty((5, 6)))
