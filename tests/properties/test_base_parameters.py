"""Base parameters: all that joint forces depend on, and nothing else, by two methods; and what is said of them in words."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close
from property_strategies import robots, seeds

import torsor
from torsor import Joint, Mimic, lie
from torsor.identification.groupings import changed_lengths
from torsor.identification.row_spaces import IN_LINK, Gap, Subspaces, scales

# Coefficients come from a solve whose condition number is that of the kept columns, up to some 1e4 for random robots.
SOLVED = 1e-10
ROBOTS = Path(__file__).parent.parent / "data" / "robots"
RANK = 1e-7  # of the largest singular value of normalised columns: those kept are above 1e-4, those dropped below 1e-14


def stacked(robot, states=None, seed=7):
    """The regressor at many states, one below the other."""
    q, v, a = torsor.random_state(robot, seed=seed, batch=(states or 40 + 30 * robot.n // robot.nv,))
    return torsor.identification.torque_regressor(robot, q, v, a).reshape(-1, 10 * robot.n)


def rank(Y):
    lengths = np.linalg.norm(Y, axis=0)
    some = Y[:, lengths > 1e-12 * lengths.max()]
    return int(np.linalg.matrix_rank(some / np.linalg.norm(some, axis=0), tol=RANK * np.sqrt(some.shape[1])))


def aligned(robot, seed):
    """The same tree with axes along x, y or z, many of them parallel or intersecting, and gravity along one, or none."""
    rng = np.random.default_rng(seed)
    poses, screws = np.array(robot.parameters.poses), np.array(robot.parameters.screws)
    for i, kind in enumerate(robot.structure.kinds):
        R = np.eye(3)[rng.permutation(3)]
        poses[i, :3, :3] = R * np.linalg.det(R)
        poses[i, :3, 3] *= rng.integers(0, 2, 3)
        axis, pitch = np.eye(3)[rng.integers(3)], screws[i, :3] @ screws[i, 3:]
        place = {"revolute": (axis, 0 * axis), "helical": (axis, pitch * axis), "prismatic": (0 * axis, axis)}
        screws[i] = np.concatenate(place.get(kind, (0 * axis, 0 * axis)))
    gravity = rng.integers(0, 2) * 9.81 * np.eye(3)[rng.integers(3)]
    return robot.with_parameters(poses=poses, screws=screws).with_gravity(gravity)


def scattered(robot, seed):
    """The same tree with its joints' axes anywhere in the link frames."""
    somewhere = lie.se3.exp(0.3 * np.random.default_rng(seed).normal(size=(robot.n, 6)))
    return robot.with_parameters(screws=lie.transform_twist(somewhere, robot.parameters.screws))


@st.composite
def geometries(draw):
    """Trees of all joint kinds with any geometry, special ones among them."""
    robot = draw(robots(most=6, mimic=False))
    sort = draw(st.sampled_from(["random", "aligned", "aligned", "scattered", "weightless"]))
    if sort == "weightless":
        return robot.with_gravity(np.zeros(3))
    return {"random": lambda r, _: r, "aligned": aligned, "scattered": scattered}[sort](robot, draw(seeds))


# What they are


@settings(max_examples=60)
@given(geometries())
def test_there_are_as_many_as_the_rank_of_the_regressor(robot):
    assert torsor.identification.base_parameters(robot).count == rank(stacked(robot))


@given(geometries())
def test_both_methods_find_the_same(robot):
    one, other = (
        torsor.identification.base_parameters(robot, method="structural"),
        torsor.identification.base_parameters(robot, method="numerical"),
    )
    assert one.structural and not other.structural
    assert one.columns.tolist() == other.columns.tolist()
    per = scales(robot.n, 1.0)
    assert_close(one.matrix / per, other.matrix / per, SOLVED)


@given(robots(most=6))
def test_the_reduced_regressor_gives_the_forces_of_all_parameters(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)  # a follower that hardly moves
        base = torsor.identification.base_parameters(robot)
    q, v, a = torsor.random_state(robot, seed=3, batch=(2, 3))
    p = robot.parameters
    inside = p.armature * a + torsor.friction_forces(robot, v) + torsor.spring_forces(robot, q)
    rigid = torsor.inverse_dynamics(robot, q, v, a) - inside
    Y = base.regressor(q, v, a)
    assert Y.shape == (2, 3, robot.nv, base.count)
    within = SOLVED if base.structural else 10 * base.tolerance
    assert_close(Y @ base.values, rigid, within, scale=np.abs(Y) @ np.abs(base.values))


@pytest.mark.compiled
@pytest.mark.parametrize("robot", [torsor.robots.panda(), torsor.robots.random_tree(4, seed=2)], ids=["panda", "tree"])
def test_compiled_it_is_the_columns_of_the_torque_regressor(robot):
    base = torsor.identification.base_parameters(robot)
    for batch in ((), (2, 3), (0,)):
        state = torsor.random_state(robot, seed=4, batch=batch)
        assert_close(base.regressor(*state), torsor.identification.torque_regressor(robot, *state)[..., base.columns])
    with pytest.raises(torsor.ShapeError, match=r"regressor: `v` must have shape"):
        base.regressor(state[0], np.zeros(robot.nv + 1), state[2])


@given(geometries(), seeds)
def test_only_what_they_are_made_of_changes_forces(robot, seed):
    """Parameters may change within the null space of the matrix, and in no other way."""
    base, rng, Y = torsor.identification.base_parameters(robot), np.random.default_rng(seed), stacked(robot)
    change = rng.normal(size=10 * robot.n)
    free = change - np.linalg.pinv(base.matrix) @ (base.matrix @ change)
    assert_close(Y @ free, 0 * Y[:, 0], SOLVED, scale=np.abs(Y) @ np.abs(free))
    assert np.linalg.matrix_rank(base.matrix) == base.count
    assert rank(Y[:, base.columns]) == base.count


@given(geometries())
def test_kept_columns_have_the_unit_matrix_and_the_first_clear_ones_are_kept(robot):
    base = torsor.identification.base_parameters(robot)
    assert np.array_equal(base.matrix[:, base.columns], np.eye(base.count))
    order = [10 * link + k for link in range(robot.n) for k in IN_LINK]
    place = {column: k for k, column in enumerate(order)}
    for j in set(range(10 * robot.n)) - set(base.columns.tolist()):
        joined = base.columns[np.abs(base.matrix[:, j]) > 1e-9]
        late = [k for k in joined if place[int(k)] > place[j]]
        if late:  # it was passed over for columns after it: only because it is nearly dependent on those before
            Y = stacked(robot)[:, order[: place[j] + 1]]
            Y = Y / np.maximum(np.linalg.norm(Y, axis=0), 1e-12)
            assert np.linalg.svd(Y, compute_uv=False)[-1] < 0.1


@settings(max_examples=10)
@given(robots(kinds=("revolute",), mimic=False, most=5), seeds)
def test_behind_joints_that_turn_all_masses_join_other_links_wherever_link_frames_are(robot, seed):
    for arm in (robot, scattered(robot, seed)):
        assert not any(symbol.startswith("m_") for symbol in torsor.identification.base_parameters(arm).symbols)


@given(geometries(), st.sampled_from([1e-3, 1e3]))
def test_the_size_of_the_robot_does_not_matter(robot, size):
    p = robot.parameters
    poses, screws = np.array(p.poses), np.array(p.screws)
    poses[:, :3, 3] *= size
    turning = np.any(screws[:, :3] != 0, axis=1)
    screws[turning, 3:] *= size
    other = torsor.identification.base_parameters(robot.with_parameters(poses=poses, screws=screws))
    assert other.columns.tolist() == torsor.identification.base_parameters(robot).columns.tolist()


# The way back


@given(geometries(), seeds)
def test_parameters_for_given_values_have_them_and_change_least(robot, seed):
    base, rng = torsor.identification.base_parameters(robot), np.random.default_rng(seed)
    own = torsor.identification.inertial_parameters(robot)
    assert_close(base.parameters_for(base.values), own)
    beta = base.values * (1 + 0.1 * rng.normal(size=(3, base.count)))
    found = base.parameters_for(beta)
    assert_close(found @ base.matrix.T, beta, SOLVED)
    again = robot.with_inertial_parameters(found[0])
    assert_close(torsor.identification.base_parameters(again).values, beta[0], SOLVED)
    unit = np.linalg.norm(robot.parameters.poses[:, :3, 3], axis=1)
    per = scales(robot.n, float(unit[unit > 0].mean()) if np.any(unit > 0) else 1.0)
    change = per * (found - own)
    free = np.linalg.svd(base.matrix / per)[2][base.count :]
    assert_close(change @ free.T, np.zeros((3, len(free))), SOLVED, scale=change)


def test_the_shape_of_the_values_is_checked():
    base = torsor.identification.base_parameters(torsor.robots.planar2r())
    with pytest.raises(torsor.ShapeError, match=r"must have shape \(\.\.\., 6\).*got \(5,\)"):
        base.parameters_for(np.zeros(5))


# In words


def evaluated(base, grouping):
    """A grouping as Python: the number that its text says."""
    robot = base.robot
    names = dict(
        zip(
            [f"{s}_{i}" for i in range(1, robot.n + 1) for s in SHORT],
            torsor.identification.inertial_parameters(robot),
            strict=True,
        )
    )
    names |= {
        f"{axis}_{i + 1}": robot.parameters.poses[i, k, 3] for i in range(robot.n) for k, axis in enumerate("xyz")
    }
    text = str(grouping).replace("−", "-").replace("²", "**2")
    text = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", text)  # a space between factors
    return eval(text, {}, names)  # the text is our own


SHORT = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@given(geometries())
def test_groupings_say_what_the_values_are(robot):
    base = torsor.identification.base_parameters(robot)
    terms = np.abs(base.matrix) @ np.abs(torsor.identification.inertial_parameters(robot))
    for grouping, symbol, value, size in zip(base.groupings, base.symbols, base.values, terms, strict=True):
        assert grouping.terms[0] == symbol
        assert (
            abs(evaluated(base, grouping) - value) <= 1e-4 * size
        )  # numbers are printed with six digits, tiny ones not


def test_lengths_are_named_though_others_are_equal():
    """Of links of one length, the right one: (x_2, not x_3) in what joins link 1."""
    arm = torsor.robots.planar_chain([0.5, 0.5, 0.5], [1.0, 2.0, 3.0])
    base = torsor.identification.base_parameters(arm)
    assert [str(g) for g in base.groupings[:4]] == [
        "mcx_1 + x_2 (m_2 + m_3)",
        "mcy_1",
        "Izz_1 + x_2² (m_2 + m_3)",
        "mcx_2 + x_3 m_3",
    ]
    assert base.groupings[0].lengths == (("x_2", 0.5),)
    assert not np.allclose(changed_lengths(arm).parameters.poses, arm.parameters.poses)


@given(geometries(), seeds)
def test_parameters_without_effect_have_none_and_the_others_some(robot, seed):
    base, Y = torsor.identification.base_parameters(robot), stacked(robot)
    names = torsor.identification.inertial_parameter_names(robot)
    unknown = {one.name: one for one in base.unidentifiable}
    assert len(unknown) == len(base.unidentifiable)
    sizes = np.abs(Y).max(axis=0)
    for j, name in enumerate(names):
        one = unknown.get(name)
        if one is not None and one.effect == "no effect":
            assert sizes[j] <= 1e-9 * sizes.max() and not one.within and one.reason
        elif one is not None:
            assert sizes[j] > 0 and set(one.within) == set(np.flatnonzero(np.abs(base.matrix[:, j]) > 1e-6))
        else:  # alone: a base parameter by itself, whatever the others are
            k = base.columns.tolist().index(j)
            assert str(base.groupings[k]) == base.symbols[k]


@given(geometries())
def test_reasons_are_true(robot):
    """What a sentence claims of a link's motion holds at random states."""
    q, v, _ = torsor.random_state(robot, seed=5, batch=(20,))
    for one in torsor.identification.base_parameters(robot).unidentifiable:
        link = one.name.split(" ")[0]
        w, linear = np.split(torsor.kinematics.body_twist(robot, q, v, link), 2, axis=-1)
        if "never turns" in one.reason:
            assert_close(w, 0 * w)
        elif "about one direction only" in one.reason or "about a fixed axis" in one.reason:
            assert np.linalg.svd(w, compute_uv=False)[1] < 1e-10
        elif "about the origin of its frame" in one.reason:
            assert_close(linear, 0 * linear)
        if "along which gravity pulls" in one.reason:
            pull = torsor.link_poses(robot, q)[:, robot.links.index(link), :3, :3].swapaxes(-1, -2) @ robot.gravity
            assert_close(np.cross(w, pull), 0 * w, scale=10)


def test_the_table_has_a_line_for_each_and_the_reasons():
    arm = torsor.robots.iiwa()
    base = torsor.identification.base_parameters(arm)
    text = str(base)
    assert text.startswith("43 base parameters stand for the 70 inertial parameters of robot 'iiwa'")
    for k, grouping in enumerate(base.groupings, start=1):
        assert re.search(rf"^ +{k}  {grouping.terms[0]} .*  {re.escape(grouping.terms[0])}", text, re.MULTILINE)
    assert "link_1 only turns about a fixed axis (its z\naxis), along which gravity pulls" in text
    assert max(map(len, text.splitlines())) <= 120
    assert repr(base) == "<BaseParameters of robot 'iiwa': 43 of 70 inertial parameters, structural>"
    numerical = str(torsor.identification.base_parameters(arm, method="numerical"))
    assert "from the rank of the regressor at random states (singular values fall from" in numerical.replace("\n", " ")


# Mimic joints, close decisions, wrong arguments


def gripper():
    """Two fingers that mirror each other, on a wrist about the vertical."""
    body = torsor.Inertia.box((0.02, 0.03, 0.08), mass=0.2, com=(0.01, 0.02, 0.05))
    fingers = {"left": None, "right": Mimic("left", -1.0)}
    joints = [Joint(name="wrist", kind="revolute", axis=(0, 0, 1), link="palm", inertia=body)]
    for name, mimic in fingers.items():
        joints.append(
            Joint(
                name=name,
                kind="prismatic",
                parent="palm",
                axis=(0, 1, 0),
                link=f"{name}_finger",
                inertia=body,
                mimic=mimic,
            )
        )
    return torsor.assemble(joints, name="gripper")


def test_mimic_joints_go_the_numerical_way():
    """Fingers that mirror each other: of their masses the sum counts, of their first moments the difference."""
    base = torsor.identification.base_parameters(gripper())
    assert not base.structural
    assert [str(g) for g in base.groupings] == ["Izz_1 + Izz_2 + Izz_3", "m_2 + m_3", "mcx_2 − mcx_3", "mcy_2 − mcy_3"]
    assert base.unidentifiable[0].reason == "it does no work in any motion of palm"
    with pytest.raises(torsor.ModelError, match=r"'right' of robot 'gripper' follow others.*method=\"numerical\""):
        torsor.identification.base_parameters(gripper(), method="structural")


@settings(max_examples=10)
@given(robots(most=5, kinds=("revolute", "prismatic", "helical"), mimic=True))
def test_with_mimic_joints_there_are_as_many_as_the_rank(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)
        base = torsor.identification.base_parameters(robot, tolerance=RANK)
    if base.gap.kept > 100 * RANK:
        assert base.count == rank(stacked(robot))


def leaning(angle):
    """A Panda whose first axis is off the vertical by an angle, rad."""
    arm = torsor.robots.panda()
    poses = np.array(arm.parameters.poses)
    poses[0] = poses[0] @ lie.se3.exp(np.array([0.0, angle, 0.0, 0.0, 0.0, 0.0]))
    return arm.with_parameters(poses=poses)


def test_angles_of_a_file_that_are_almost_right_are_taken_for_right():
    """1.5708 is π/2 to 3.7e-6."""
    base = torsor.identification.base_parameters(leaning(3.7e-6))
    assert base.count == 43
    assert base.columns.tolist() == torsor.identification.base_parameters(leaning(0.0)).columns.tolist()
    assert "were taken for zero" in str(base)
    assert base.gap.ratio > 1e3
    assert (
        torsor.identification.base_parameters(base.robot, method="numerical").columns.tolist() == base.columns.tolist()
    )
    assert (
        torsor.identification.base_parameters(leaning(3.7e-6), tolerance=1e-9).count
        == torsor.identification.base_parameters(leaning(0.1)).count
        == 45
    )
    q, v, a = torsor.random_state(base.robot, seed=1, batch=(10,))
    full = torsor.identification.torque_regressor(base.robot, q, v, a) @ torsor.identification.inertial_parameters(
        base.robot
    )
    assert_close(base.regressor(q, v, a) @ base.values, full, 1e-4)


@pytest.mark.parametrize(("method", "tolerance"), [("structural", 2.5e-3), ("numerical", 1.3e-3)])
def test_a_close_decision_is_warned_of(method, tolerance):
    with pytest.warns(torsor.ModelWarning, match="that is a close decision"):
        torsor.identification.base_parameters(leaning(8e-4), method=method, tolerance=tolerance)


@pytest.mark.parametrize("method", ["structural", "numerical"])
@pytest.mark.parametrize(("angle", "counts"), [(1.02e-5, (45, 43)), (9.8e-6, (43, 45))])
def test_a_value_near_the_tolerance_that_decides_is_warned_of(method, angle, counts):
    """Whichever side it is on, though all else is far away; and the tolerance that is advised decides otherwise."""
    exact = torsor.identification.base_parameters(leaning(angle), method=method, tolerance=1e-9)
    tolerance = 1e-5 * exact.gap.kept / angle  # the methods have measures of their own
    with pytest.warns(torsor.ModelWarning) as said:
        base = torsor.identification.base_parameters(leaning(angle), method=method, tolerance=tolerance)
    (text,) = [str(one.message) for one in said]
    found = re.search(
        r"value at (\S+) times the tolerance .* between (\d+) base .* and (\d+): pass tolerance=(\S+) for", text
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(angle / 1e-5, rel=0.5 if method == "numerical" else 1e-2)
    if method == "structural":
        assert (base.count, int(found[3])) == counts
    assert int(found[2]) == base.count
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)
        assert torsor.identification.base_parameters(
            leaning(angle), method=method, tolerance=float(found[4])
        ).count == int(found[3])


@given(geometries())
def test_there_is_no_warning_where_all_is_clear(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        base = torsor.identification.base_parameters(robot)
    assert base.gap.kept > 1e-4 and base.gap.dropped < 1e-9


def test_it_is_called_exact_only_if_nothing_but_zeros_was_taken_for_zero():
    assert "exactly" in str(torsor.identification.base_parameters(leaning(0.0)))
    text = " ".join(str(torsor.identification.base_parameters(leaning(3.7e-6))).split())
    assert "exactly" not in text and "of up to 4e-06 were taken for zero" in text


def test_what_is_called_exact_shows_small_coefficients():
    """A short link: the square of its length is 4e-6 of the robot's unit, below the tolerance of its angles and lengths."""
    arm = torsor.robots.planar_chain([0.5, 5e-4, 0.5], [1.0, 2.0, 3.0])
    base = torsor.identification.base_parameters(arm)
    assert "exactly" in str(base)
    assert [str(g) for g in base.groupings[3:6]] == ["mcx_2 + x_3 m_3", "mcy_2", "Izz_2 + x_3² m_3"]


def test_long_chains_are_printed_soon(calls):
    """By 440,000 calls of functions; it took 11 s, and more than 75 for twice as many joints, with all products written out."""
    base = torsor.identification.base_parameters(torsor.load(ROBOTS / "chain24.urdf"))
    count, _ = calls(lambda: str(base))
    assert count < 1_000_000


@pytest.mark.parametrize("joints", [24, 48])
def test_long_chains_are_printed_shortly(joints):
    robot = torsor.load(ROBOTS / f"chain{joints}.urdf")
    base = torsor.identification.base_parameters(robot)
    text = str(base)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 120
    assert len(lines) < 5 * base.count
    more = re.search(r"^ +1  mcy_1 .*?… and (\d+) more$", text, re.MULTILINE | re.DOTALL)
    assert more is not None
    first = text[text.index("  mcy_1 +") : text.index("… and")]
    assert len(re.findall(r" [+−] ", first)) + 1 + int(more[1]) == len(base.groupings[0].terms)


@pytest.mark.compiled
def test_the_reduced_regressor_fills_an_array():
    arm = torsor.robots.planar2r()
    base = torsor.identification.base_parameters(arm)
    state = torsor.random_state(arm, seed=0, batch=(5,))
    out = np.full((5, 2, base.count), np.nan)
    assert base.regressor(*state, out=out) is out
    np.testing.assert_array_equal(out, base.regressor(*state))
    with pytest.raises(torsor.ShapeError, match="out:"):
        base.regressor(*state, out=out[:4])


def test_the_gap_is_between_what_counts_and_what_does_not():
    spaces = Subspaces(1e-3)
    space = spaces.span(np.array([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.0, 0.0, 1e-5]]))
    assert len(space) == 2
    assert spaces.gap.kept == pytest.approx(0.08, rel=0.1)
    assert 1e-6 < spaces.gap.dropped < 1e-5
    assert Gap(1.0, 0.0).ratio == float("inf")


def test_wrong_arguments_are_named():
    arm = torsor.robots.planar2r()
    with pytest.raises(torsor.TorsorError, match="`method` must be"):
        torsor.identification.base_parameters(arm, method="symbolic")
    with pytest.raises(torsor.TorsorError, match="`tolerance` must be a number between 0 and 1, got 0"):
        torsor.identification.base_parameters(arm, tolerance=0.0)
    for wrong in ("a", None, [1e-5]):
        with pytest.raises(torsor.TorsorError, match="`tolerance` must be a number between 0 and 1, got "):
            torsor.identification.base_parameters(arm, tolerance=wrong)
    for nothing in (5, None):
        with pytest.raises(
            torsor.TorsorError, match=r"base_parameters: the first argument must be a torsor\.Robot, got "
        ):
            torsor.identification.base_parameters(nothing)
    for wrong in ("a", [[1.0], [1.0, 2.0]], None):
        with pytest.raises(torsor.ShapeError, match="parameters_for: `beta` must be real numbers"):
            torsor.identification.base_parameters(arm).parameters_for(wrong)


def test_traced_robots_are_refused(jax_in_doubles):
    def count(mass):
        arm = torsor.robots.planar2r()
        return (
            torsor.identification.base_parameters(arm.with_parameters(inertias=mass * arm.parameters.inertias)).count
            * mass
        )

    with pytest.raises(torsor.TorsorError, match="holds traced parameters"):
        jax_in_doubles.grad(count)(1.0)


def test_the_result_cannot_be_changed():
    base = torsor.identification.base_parameters(torsor.robots.planar2r())
    with pytest.raises(ValueError, match="read-only"):
        base.matrix[0, 0] = 1.0
    with pytest.raises(AttributeError):
        base.method = "other"


def test_a_generator_is_as_good_a_seed_as_a_number():
    arm = torsor.robots.panda()
    one, other = (
        torsor.identification.base_parameters(arm, method="numerical", seed=np.random.default_rng(3)) for _ in range(2)
    )
    assert one.columns.tolist() == other.columns.tolist() and np.array_equal(one.matrix, other.matrix)


def test_base_parameters_show_themselves_in_notebooks():
    base = torsor.identification.base_parameters(torsor.robots.planar2r())
    assert "\n" not in repr(base) and "6 base parameters" in base._repr_html_()
