"""What is no pose, no rotation and no body: refused or said in words where it comes in, and nowhere else looked at."""

import inspect
import sys
import warnings

import numpy as np
import pytest

import torsor
from torsor import Inertia, ModelError, lie, modern_robotics as mr
from torsor.arrays.typing import POSE
from torsor.border.arrays import signature_of
from torsor.lie import quaternion, se3, so3
from torsor.papers import rigid_body

T = se3.exp(np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.0]))
V = np.array([0.1, 0.2, -0.3, 0.4, 0.5, -0.6])
WRONG = {  # what is put in place of a pose, and a word of the answer
    "twice as long": (2.0 * np.eye(4), "bottom row is [0.0, 0.0, 0.0, 2.0]"),
    "scaled": (np.diag([2.0, 2.0, 2.0, 1.0]), "R Rᵀ differs from 1 by up to 3"),
    "reflected": (np.diag([1.0, 1.0, -1.0, 1.0]), "is a reflection (determinant −1)"),
    "for row vectors": (T.T, "pass `T.T`"),
    "sheared": (
        np.array([[1, 0.01, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]]),
        "R Rᵀ differs from 1 by up to 0.01",
    ),
    "zero": (np.zeros((4, 4)), "bottom row is"),
}


def functions_of_groups() -> list:
    """Every function of `torsor.lie` that takes a rotation or a pose, with the names of these arguments."""
    found = []
    for module in (lie, se3, so3, quaternion):
        for name, function in vars(module).items():
            inner = inspect.unwrap(function) if inspect.isfunction(function) else None
            if inner is not None and inner is not function and (groups := signature_of(inner).groups):
                found.append(pytest.param(function, groups, id=f"{module.__name__}.{name}"))
    return found


def arguments(function, **instead):
    """Sound arguments for a function of `lie`, some replaced."""
    samples = {"3 3": T[:3, :3], "4 4": T, "6": V, "3": V[:3], "10": Inertia.box((0.1, 0.2, 0.3), mass=2.0).row}
    known = signature_of(inspect.unwrap(function)).arrays
    return {name: samples[" ".join(argument.axes)] for name, argument in known.items()} | instead


@pytest.mark.parametrize(("function", "groups"), functions_of_groups())
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_pose_and_no_rotation_is_refused_by_every_function_of_lie(function, groups, wrong):
    matrix, word = WRONG[wrong]
    for name, group in groups.items():
        given = matrix if group == POSE else matrix[:3, :3]
        if group != POSE and wrong in ("twice as long", "for row vectors", "zero"):
            given, word = 2.0 * np.eye(3), "must be a rotation, 3×3, but R Rᵀ differs from 1 by up to 3"
        with pytest.raises(ModelError) as caught:
            function(**arguments(function, **{name: given}))
        text = str(caught.value)
        assert text.startswith(f"{function.__name__}: `{name}` must be a ") and word in text


def test_the_wrong_one_of_a_batch_is_named():
    batch = np.tile(T, (2, 3, 1, 1))
    batch[1, 2] *= 2.0
    with pytest.raises(ModelError, match=r"Ad: `T`\[1, 2\] must be a pose"):
        lie.Ad(batch)


@pytest.mark.parametrize("large", [np.inf, 1e200])
def test_what_is_not_finite_in_a_batch_is_refused_without_warnings(large):
    batch = np.tile(T, (2, 1, 1))
    batch[1, :3, :3] *= large
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelError, match=r"Ad: `T`\[1\] must be a pose"):
            lie.Ad(batch)


def test_a_transpose_is_advised_only_where_it_helps():
    for matrix in (2.0 * np.eye(4), np.ones((4, 4))):
        with pytest.raises(ModelError, match=r"its bottom row is \[.*\]\.$"):
            lie.Ad(matrix)


@pytest.mark.parametrize(("function", "groups"), functions_of_groups())
def test_what_is_sound_rounded_or_not_a_number_passes(function, groups):
    for digits in (None, 3):
        rounded = {name: np.round(x, digits) if digits else x for name, x in arguments(function).items()}
        function(**rounded)
    for shape in ((), (2,), (0,)):
        function(**{name: np.broadcast_to(x, (*shape, *x.shape)) for name, x in arguments(function).items()})
    function(**{name: x.astype(np.float32) for name, x in arguments(function).items()})
    missing = {name: np.full_like(arguments(function)[name], np.nan) for name in groups}
    assert np.any(np.isnan(function(**arguments(function, **missing))))


def test_traced_values_and_those_of_jax_pass():
    kernel = torsor.compile(lambda robot, X: lie.Ad(X), torsor.robots.pendulum(), inputs={"X": (4, 4)})
    assert kernel.inputs == {"X": (4, 4)}
    jax = pytest.importorskip("jax")
    assert jax.jit(lie.Ad)(2.0 * np.eye(4)).shape == (6, 6)
    assert lie.Ad(jax.numpy.eye(4) * 2.0).shape == (6, 6)


def test_torsors_own_calls_are_not_looked_at(monkeypatch):
    """The robot's own poses are checked when it is made, and not in every recursion."""
    asked = []
    border = sys.modules["torsor.border.arrays"]
    monkeypatch.setattr(border, "refuse_what_is_none", lambda *given: asked.append(given))
    robot = torsor.robots.planar2r()
    with torsor.backend("numpy"):
        torsor.mass_matrix(robot, np.zeros(2))
        torsor.frame_pose(robot, np.zeros(2), "tip")
    Inertia.box((0.1, 0.2, 0.3), mass=1.0).moved(T)
    assert not asked
    lie.Ad(T)
    assert [name for name, _, _ in asked] == ["T"]


# Rods and points

ROD = Inertia(2.0, (0.1, -0.2, 0.3), np.diag([0.0, 0.15, 0.15])).moved(T)  # along an axis of no frame
POINT = Inertia.point(2.0, (0.1, 0.2, 0.3))
THIN = Inertia.cylinder(1e-4, 1.0, mass=2.0, com=(0.1, 0.2, 0.3)).moved(T)  # a wire is a body


@pytest.mark.parametrize("body", [ROD, POINT, Inertia.point(1.0), Inertia(1.0, rotational=np.diag([0, 1e-9, 1e-9]))])
def test_rods_and_points_are_refused_with_what_to_use_instead(body):
    for call in (
        lambda: rigid_body.trace_form(body.mass, body.rotational, np.eye(4)),
        lambda: rigid_body.free_acceleration(body.row, V),
        lambda: rigid_body.free_acceleration(np.stack([THIN.row, body.row]), V),
    ):
        with pytest.raises(
            ModelError, match=r"principal moments .*not all of them positive.*kinetic_energy_by_pseudo_inertia"
        ):
            call()
    energy = rigid_body.kinetic_energy_by_pseudo_inertia(body.row, V)  # is for them, as the words say
    np.testing.assert_allclose(energy, body.kinetic_energy(V), rtol=1e-12)
    A = np.array([0.3, 0.1, 0.2, -0.1, 0.5, 0.2])
    assert np.isfinite(rigid_body.weak_residual(body.row, V, A, V))


def test_a_body_without_mass_has_no_free_motion():
    with pytest.raises(ModelError, match=r"free_acceleration: the mass must be positive, got 0 kg"):
        rigid_body.free_acceleration(Inertia.zero().row, V)


def test_negative_moments_are_refused():
    for moments in ([-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 2.0, 3.0]):
        with pytest.raises(ModelError, match="not all of them positive"):
            rigid_body.trace_form(1.0, np.diag(moments), np.eye(4))


def test_thin_bodies_are_bodies():
    A = rigid_body.free_acceleration(THIN.row, V)
    scale = np.abs(THIN.matrix).max() * np.abs(A).max()
    np.testing.assert_allclose(rigid_body.wrench(THIN.row, V, A), np.zeros(6), atol=1e-12 * scale)
    form = rigid_body.trace_form(THIN.mass, THIN.rotational, np.eye(4))
    wanted = V @ Inertia(THIN.mass, rotational=THIN.rotational).matrix @ V
    # √(det I) of a wire has lost digits with the ratio of its moments, 1.7e7
    np.testing.assert_allclose(rigid_body.trace_inner_product(form, V, V), wanted, rtol=1e-8)


def test_what_is_not_a_number_is_answered_with_nan():
    row = np.full(10, np.nan)
    assert np.all(np.isnan(rigid_body.free_acceleration(row, V)))
    form = rigid_body.trace_form(np.nan, np.full((3, 3), np.nan), np.eye(4))
    assert np.all(np.isnan(form.J[:3, :3]))


# Moments that no body has

LISTS = {
    "Mlist": np.array([np.eye(4), torsor.pose_from((1.0, 0.0, 0.0)), torsor.pose_from((1.0, 0.0, 0.0))]),
    "Slist": np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1.0, 0]]).T,
}
SOUND = np.diag([0.01, 0.06, 0.06, 2.0, 2.0, 2.0])


def test_a_list_of_inertias_that_no_body_has_is_said():
    impossible = np.diag([1.0, 1.0, 3.0, 2.0, 2.0, 2.0])
    with pytest.warns(
        torsor.ModelWarning, match=r"no body has the inertia Glist\[1\]: triangle inequality.*33\.3%"
    ) as seen:
        robot = mr.chain(**LISTS, Glist=[SOUND, impossible])
    assert seen[0].filename == __file__
    np.testing.assert_allclose(robot.inertia("link_2").rotational, np.diag([1.0, 1.0, 3.0]))  # and used as given
    with pytest.warns(torsor.ModelWarning, match=r"no body has the inertia Glist\[0\].*nor Glist\[1\]"):
        mr.MassMatrix([0.1, 0.2], LISTS["Mlist"], [impossible, impossible], LISTS["Slist"])


def test_rounded_moments_of_a_plate_and_points_pass():
    plate = np.diag([0.333, 0.333, 0.6665, 2.0, 2.0, 2.0])  # a plate has I_z = I_x + I_y; the last digit is rounded
    point = np.diag([0.0, 0.0, 0.0, 2.0, 2.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for body in (plate, point, np.zeros((6, 6))):
            mr.chain(**LISTS, Glist=[SOUND, body])


def test_an_inertia_tells_when_asked():
    body = Inertia(1.0, rotational=np.diag([1.0, 0.1, 0.1]))  # every equation is defined with it
    assert "triangle inequality" in body.violations()[0]
