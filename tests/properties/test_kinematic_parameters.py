"""Derivatives by every kinematic parameter: the six numbers of a screw S, of a joint that moves by exp(S q), and its pitch.

The truth is the mechanism built anew with another screw, which may be of another kind, and the definition in 40 digits.
"""

from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest
from property_checks import assert_close, largest
from property_strategies import joints_of, rebuilt

import torsor
from torsor import lie
from torsor.functions.dispatch import PUBLIC

KINDS = ("revolute", "prismatic", "helical")
# Central differences of fourth order with a step of 1e-3: 1e-12 of a fifth derivative, 1e-16/1e-3 of rounding, times the
# condition number of M where M is inverted.
STEP, DIFFERENCED = 1e-3, 1e-9
FUNCTIONS = {
    "frame_pose": {"frame": "tool"},
    "space_jacobian": {"frame": "tool"},
    "mass_matrix": {},
    "inverse_dynamics": {},
    "forward_dynamics": {},
    "christoffel_symbols": {},
    "kinetic_energy": {},
    "potential_energy": {},
}


@cache
def chain():
    """A joint of each kind that has a screw; lengths of screws that are not 1, axes off the frames."""
    rng = np.random.default_rng(5)
    joints = [
        torsor.Joint(
            name=f"joint_{k}",
            kind=kind,
            parent="base" if k == 0 else f"link_{k - 1}",
            link=f"link_{k}",
            pose=lie.se3.exp(rng.normal(size=6)),
            screw=screw_of(kind, rng),
            inertia=torsor.Inertia.particles(rng.uniform(0.2, 1.0, 6), rng.normal(scale=0.4, size=(6, 3))),
            armature=0.1,
        )
        for k, kind in enumerate(KINDS)
    ]
    return torsor.assemble(joints, frames={"tool": ("link_2", lie.se3.exp(rng.normal(size=6)))})


def screw_of(kind, rng):
    axis, point = rng.normal(size=(2, 3))
    unit = axis / np.linalg.norm(axis)
    return {
        "revolute": 1.3 * lie.screw(unit, point),
        "prismatic": np.concatenate([np.zeros(3), unit]),
        "helical": lie.screw(unit, point, 0.3),
    }[kind]


def with_screw(i, S):
    """The robot whose joint i moves by exp(S q), times the length its screw had: built anew, of whatever kind that is."""
    joints = joints_of(chain())
    ratio = chain().structure.couplings[i].ratio
    joints[i] = replace(joints[i], kind="helical", screw=ratio * S)
    return rebuilt(chain(), joints)


def directions(i):
    """The six numbers of a screw, and a pitch: a revolute joint is a helical one without."""
    along = np.concatenate([np.zeros(3), chain().parameters.screws[i, :3]])
    return [*np.eye(6), *([] if KINDS[i] == "prismatic" else [along])]


@cache
def displaced(i, k, t):
    """The robot whose screw i has gone by t along one of its directions."""
    return with_screw(i, chain().parameters.screws[i] + t * directions(i)[k])


def slope(function):
    """The derivative at 0 by differences of fourth order."""
    f = {k: np.asarray(function(k * STEP)) for k in (-2, -1, 1, 2)}
    return (8.0 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12.0 * STEP)


def state_for(name):
    q, v, a = torsor.random_state(chain(), seed=3)
    given = {"q": q, "v": v, "a": a, "tau": a}
    return {x: given[x] for x in torsor.compile(PUBLIC[name], chain(), **FUNCTIONS[name]).inputs}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_by_the_numbers_of_the_screws_and_by_the_pitches(name):
    """All six of each joint: tilts, offsets, pitch, length; a prismatic joint that begins to turn."""
    function, fixed, state = PUBLIC[name], FUNCTIONS[name], state_for(name)
    found = torsor.derivative(function, chain(), wrt=("screws", "pitches"), **fixed)(**state)
    by_screw, by_pitch = found.values()
    value = function(chain(), **state, **fixed)
    assert by_screw.shape == (*np.shape(value), 3, 6) and by_pitch.shape == (*np.shape(value), 3)
    for i in range(3):
        for k in range(len(directions(i))):
            want = slope(lambda t, i=i, k=k: function(displaced(i, k, t), **state, **fixed))
            along = by_screw[..., i, k] if k < 6 else by_pitch[..., i]
            assert_close(along, want, DIFFERENCED, scale=largest(by_screw))
    assert not np.any(by_pitch[..., KINDS.index("prismatic")])  # infinite


def test_by_the_screw_of_a_joint_that_follows_another():
    """It moves by exp(S (ratio q + offset)), and shares its coordinate with the leader."""
    leader, follower = (replace(joint, screw=np.array([0, 0.6, 0.8, 0.1, 0, 0])) for joint in joints_of(chain())[::2])
    mimic = torsor.Mimic("joint_0", -0.7, 0.4)

    def robot(S):
        joint = replace(follower, parent="link_0", kind="helical", screw=S, mimic=mimic, armature=0.0)
        return torsor.assemble([leader, joint])

    S, state = follower.screw, (np.array([0.8]), np.array([1.1]), np.array([-0.6]))
    by = torsor.derivative(torsor.inverse_dynamics, robot(S), wrt="screws")(*state)
    for k, unit in enumerate(np.eye(6)):
        want = slope(lambda t, e=unit: torsor.inverse_dynamics(robot(S + t * e), *state))
        assert_close(by[:, 1, k], want, DIFFERENCED, scale=largest(by))


def test_joints_with_several_freedoms_have_no_screw_to_differentiate_by():
    robot = torsor.robots.random_tree(2, seed=3, kinds=("spherical", "free", "planar"))
    by = torsor.derivative(torsor.mass_matrix, robot, wrt=("screws", "pitches"))(robot.neutral)
    assert not any(map(np.any, by.values()))


def test_an_axis_moved_by_a_twist_changes_its_screw_by_a_bracket():
    """S displaced to Ad(exp δ) S: joints keep their kinds, and `with_parameters` takes them."""
    robot, state, S = chain(), state_for("inverse_dynamics"), chain().parameters.screws
    by = torsor.derivative(torsor.inverse_dynamics, robot, wrt="screws")(**state)
    for unit in np.eye(6):

        def moved(t, e=unit):
            return robot.with_parameters(screws=lie.transform_twist(lie.se3.exp(t * e), S))

        found = np.einsum("tij,ij->t", by, lie.bracket(unit, S))
        want = slope(lambda t, at=moved: torsor.inverse_dynamics(at(t), **state))
        assert_close(found, want, DIFFERENCED, scale=largest(by))


def test_every_direction_of_a_screw_is_independent():
    """The six columns of a joint span six dimensions of the mass matrix; those of the twists alone span four."""
    q = torsor.random_configuration(chain(), seed=0, batch=(12,))
    by = torsor.derivative(torsor.mass_matrix, chain(), wrt="screws")(q)
    for i in range(3):
        columns = by[..., i, :].reshape(-1, 6)
        assert np.linalg.matrix_rank(columns, rtol=1e-9) == 6
        twists = columns @ lie.bracket(np.eye(6), chain().parameters.screws[i]).T
        assert np.linalg.matrix_rank(twists, rtol=1e-9) == (2 if KINDS[i] == "prismatic" else 4)


# By definition, in 40 digits


def exact_mass_matrix(robot, q, screws):
    """M = Σ J_iᵀ G_i J_i with T_0i = Π M_j exp(S_j q_j) and the columns (T⁻¹ ∂T/∂q_j)ᵛ of J_i, by matrix exponentials."""
    ratios = [coupling.ratio for coupling in robot.structure.couplings]
    motions = [
        matrix(robot.parameters.poses[j]) * mpmath.expm(hat(S) * (q[j] * ratios[j])) for j, S in enumerate(screws)
    ]
    M = mpmath.zeros(len(screws))
    for i in range(len(screws)):
        G = matrix(lie.inertia_matrix(robot.parameters.inertias[i]))
        columns = []
        for j in range(i + 1):
            T = mpmath.eye(4)
            for k in range(j + 1, i + 1):
                T = T * motions[k]
            X = mpmath.inverse(T) * hat(screws[j]) * T * ratios[j]
            columns.append(mpmath.matrix([X[2, 1], X[0, 2], X[1, 0], X[0, 3], X[1, 3], X[2, 3]]))
        for j, left in enumerate(columns):
            for k, right in enumerate(columns):
                M[j, k] += (left.T * G * right)[0]
    return M


def matrix(A):
    return mpmath.matrix(np.asarray(A).tolist())


def hat(S):
    x, y, z, a, b, c = S
    return mpmath.matrix([[0, -z, y, a], [z, 0, -x, b], [-y, x, 0, c], [0, 0, 0, 0]])


def test_the_mass_matrix_by_screws_in_forty_digits():
    """The three cases in which differences of closed forms are worst: a pitch, a tilt, a prismatic joint that turns."""
    robot = torsor.assemble([replace(joint, armature=0.0) for joint in joints_of(chain())])
    q = np.array([0.4, -0.7, 1.1])
    by = torsor.derivative(torsor.mass_matrix, robot, wrt="screws")(q)
    with mpmath.workdps(40):
        screws = [[mpmath.mpf(float(x)) for x in S] for S in robot.parameters.screws]
        h = mpmath.mpf(10) ** -13
        for i, k in ((0, 5), (0, 1), (1, 0), (1, 4), (2, 2), (2, 3)):
            ends = []
            for sign in (1, -1):
                moved = [list(S) for S in screws]
                moved[i][k] += sign * h
                ends.append(exact_mass_matrix(robot, q.tolist(), moved))
            want = np.array(((ends[0] - ends[1]) / (2 * h)).tolist(), dtype=float)
            assert_close(by[..., i, k], want, 1e-13, scale=largest(by))


def test_a_kernel_takes_any_screw_as_an_input():
    """Where screws are inputs, joints move by exp(S q), whatever their length and pitch."""
    state, S = state_for("inverse_dynamics"), np.array(chain().parameters.screws)
    kernel = torsor.compile(torsor.inverse_dynamics, chain(), parameters=("screws",))
    rng = np.random.default_rng(1)
    for i in range(3):
        other = S.copy()
        other[i] += 0.3 * rng.normal(size=6)
        want = torsor.inverse_dynamics(with_screw(i, other[i]), **state)
        assert_close(kernel(**state, screws=other), want, 1e-12)


def test_what_is_meant_by_a_pitch_is_named():
    with pytest.raises(torsor.UnknownName, match=r"has no input or group of parameters 'pitch'; nearest: .*'pitches'"):
        torsor.derivative(torsor.mass_matrix, chain(), wrt="pitch")
