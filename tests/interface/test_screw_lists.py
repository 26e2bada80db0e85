"""The functions of the papers that take lists of screws: one number and one pose for each, or an error in words."""

import numpy as np
import pytest

import torsor
from torsor import lie
from torsor.papers import second_kind

TWO, SIX = np.eye(6)[:2], np.eye(6)
ROW = torsor.Inertia.box((1, 2, 3), mass=1).row
STEPS = np.array([np.eye(4)] * 2)
FORMS = {
    "SpaceForm": torsor.kinematics.SpaceForm(TWO, np.eye(4)),
    "BodyForm": torsor.kinematics.BodyForm(TWO, np.eye(4)),
    "LocalForm": torsor.kinematics.LocalForm(TWO, STEPS),
    "LinkForm": torsor.kinematics.LinkForm(TWO, STEPS, np.eye(4)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(3,), (1,), (2, 3), ()])
def test_a_product_of_exponentials_takes_one_number_for_each_screw(form, shape):
    with pytest.raises(
        torsor.ShapeError, match=rf"{form}\.pose: `q` must have shape \(\.\.\., 2\), one number for each of 2"
    ):
        FORMS[form].pose(np.zeros(shape))
    assert FORMS[form].pose(np.zeros((5, 2))).shape == (5, 4, 4)
    assert FORMS[form].pose([0.0, 0.0]).shape == (4, 4)


@pytest.mark.parametrize("name", ["pose", "columns", "twist", "twist_rate", "metric", "christoffel"])
def test_coordinates_of_the_second_kind_are_as_many_as_the_screws(name):
    function, more = getattr(second_kind, name), {"metric": (ROW,), "christoffel": (ROW,)}.get(name, ())
    count = {"twist": 2, "twist_rate": 3}.get(name, 1)
    function(SIX, *[np.zeros(6)] * count, *more)
    for wrong in (5, 7):
        with pytest.raises(torsor.ShapeError, match=rf"{name}: `x` must have shape \(\.\.\., 6\), .*\({wrong},\)"):
            function(SIX, *[np.zeros(wrong)] * count, *more)
    if count > 1:
        with pytest.raises(torsor.ShapeError, match=rf"{name}: `x_dot` must have shape \(\.\.\., 6\)"):
            function(SIX, np.zeros(6), *[np.zeros(1)] * (count - 1))
    with pytest.raises(torsor.ShapeError, match="`screws` must have shape"):
        function(np.zeros((2, 6, 6)), *[np.zeros(6)] * count, *more)


def test_adjoints_between_links_take_one_number_for_each_screw():
    B = np.ones(6)
    for call in (
        lambda q: torsor.papers.adjoint_between(TWO, q, 1, 2),
        lambda q: torsor.papers.adjoint_between_derivative(TWO, q, 1, 2, 1, B),
        lambda q: torsor.papers.adjoint_between_second_derivative(TWO, q, 1, 2, 1, 2, B),
    ):
        assert call(np.zeros((4, 2))).shape[0] == 4
        for wrong in (1, 3):
            with pytest.raises(torsor.ShapeError, match=r"adjoint_between.*: `q` must have shape \(\.\.\., 2\)"):
                call(np.zeros(wrong))


def test_one_pose_for_each_screw():
    for call, text in (
        (
            lambda: torsor.kinematics.LocalForm(SIX[:3], STEPS).to_space(),
            r"LocalForm\.to_space: `steps` must have shape \(3, 4, 4\)",
        ),
        (
            lambda: torsor.kinematics.LocalForm(SIX[:3], STEPS).pose(np.zeros(3)),
            r"LocalForm\.pose: `steps` must have shape \(3, 4, 4\)",
        ),
        (
            lambda: torsor.kinematics.LinkForm(SIX[:3], STEPS, np.eye(4)).to_space(),
            r"LinkForm\.to_space: `steps` must have shape",
        ),
        (
            lambda: torsor.kinematics.SpaceForm(TWO, np.eye(4)).to_local(STEPS[:1]),
            r"SpaceForm\.to_local: `steps` .* got \(1, 4, 4\)",
        ),
        (
            lambda: torsor.kinematics.SpaceForm(TWO, np.eye(4)).to_link(SIX),
            r"SpaceForm\.to_link: `homes` .* one pose for each of 2 screws",
        ),
        (
            lambda: torsor.kinematics.SpaceForm("two", np.eye(4)).pose(np.zeros(2)),
            r"SpaceForm\.pose: `screws` must be real numbers",
        ),
        (
            lambda: torsor.kinematics.BodyForm(np.ones(6), np.eye(4)).pose(np.zeros(1)),
            r"BodyForm\.pose: `screws` must have shape \(k, 6\)",
        ),
    ):
        with pytest.raises(torsor.ShapeError, match=text):
            call()


def test_lists_are_as_good_as_arrays():
    listed = torsor.kinematics.LocalForm(TWO.tolist(), STEPS.tolist())
    assert np.allclose(listed.to_space().pose([0.1, 0.2]), FORMS["LocalForm"].pose(np.array([0.1, 0.2])))
    assert np.allclose(
        FORMS["SpaceForm"].to_link(STEPS.tolist()).pose([0.3, 0.2]),
        lie.se3.exp(0.3 * TWO[0]) @ lie.se3.exp(0.2 * TWO[1]),
    )
    for form in (
        torsor.kinematics.SpaceForm(TWO.tolist(), np.eye(4).tolist()),
        torsor.kinematics.BodyForm(TWO.tolist(), np.eye(4).tolist()),
    ):
        other = form.to_body() if isinstance(form, torsor.kinematics.SpaceForm) else form.to_space()
        assert np.allclose(other.pose([0.1, 0.2]), form.pose([0.1, 0.2]))
    bodies = [torsor.Inertia.box((1, 2, 3), mass=1)] * 2
    assert listed.robot(bodies) == FORMS["LocalForm"].robot(bodies)


WRONG_POSES = {
    "(3, 4)": (np.eye(4)[:3], torsor.ShapeError, r"must have shape \(4, 4\), one pose, got \(3, 4\)"),
    "(5, 5)": (np.eye(5), torsor.ShapeError, r"must have shape \(4, 4\), one pose, got \(5, 5\)"),
    "None": (None, torsor.ShapeError, r"must be real numbers of shape \(4, 4\), got None"),
    "scaled": (np.diag([2.0, 2.0, 2.0, 1.0]), torsor.ModelError, "must be a pose"),
}
ONE_POSE = {
    "SpaceForm.pose: `home`": lambda T: torsor.kinematics.SpaceForm(TWO, T).pose([0.1, 0.2]),
    "SpaceForm.to_body: `home`": lambda T: torsor.kinematics.SpaceForm(TWO, T).to_body(),
    "SpaceForm.to_local: `home`": lambda T: torsor.kinematics.SpaceForm(TWO, T).to_local(STEPS),
    "SpaceForm.to_link: `home`": lambda T: torsor.kinematics.SpaceForm(TWO, T).to_link(STEPS),
    "BodyForm.pose: `home`": lambda T: torsor.kinematics.BodyForm(TWO, T).pose([0.1, 0.2]),
    "BodyForm.to_space: `home`": lambda T: torsor.kinematics.BodyForm(TWO, T).to_space(),
    "LinkForm.pose: `tip`": lambda T: torsor.kinematics.LinkForm(TWO, STEPS, T).pose([0.1, 0.2]),
    "LinkForm.to_space: `tip`": lambda T: torsor.kinematics.LinkForm(TWO, STEPS, T).to_space(),
    "Inertia.moved: `T_ab`": lambda T: torsor.Inertia.box((1, 2, 3), mass=1).moved(T),
}


@pytest.mark.parametrize("wrong", WRONG_POSES)
@pytest.mark.parametrize("where", ONE_POSE)
def test_what_is_no_pose_is_refused_where_one_is_taken(where, wrong):
    pose, error, text = WRONG_POSES[wrong]
    with pytest.raises(error, match=where.replace(".", r"\.") + " " + text):
        ONE_POSE[where](pose)
    ONE_POSE[where](np.eye(4).tolist())


def test_what_is_no_pose_is_refused_among_several():
    bent = np.array([np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])])
    with pytest.raises(torsor.ModelError, match=r"LocalForm\.pose: `steps`\[1\] must be a pose.*reflection"):
        torsor.kinematics.LocalForm(TWO, bent).pose([0.1, 0.2])
    with pytest.raises(torsor.ModelError, match=r"SpaceForm\.to_link: `homes`\[1\] must be a pose"):
        torsor.kinematics.SpaceForm(TWO, np.eye(4)).to_link(bent)


def test_an_inertia_of_any_numbers_is_moved_by_lists_too():
    """One that no body has goes another way."""
    odd, T = (
        torsor.Inertia.unchecked([1, 0.1, 0, 0, -1, 0, 0, 1, 0, 1]),
        torsor.pose_from((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)),
    )
    assert np.array_equal(odd.moved(T.tolist()).row, odd.moved(T).row)
    with pytest.raises(
        torsor.ModelError,
        match=r"Inertia\.from_matrix: `G` must be one matrix of shape \(6, 6\), got shape \(2, 6, 6\)",
    ):
        torsor.Inertia.from_matrix([odd.matrix] * 2)
