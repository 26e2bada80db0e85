"""`torsor.derivative`: by inputs, by configurations on their manifold, by every group of the robot's numbers, of any function."""

import numpy as np
import pytest
from property_checks import DIFFERENTIATED, assert_close, derivative, largest

import torsor
from torsor import lie
from torsor.functions.dispatch import PUBLIC, about_of

KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
TREE = torsor.robots.random_tree(5, seed=3, kinds=KINDS, armature=True, friction=True, fixed=True).with_coulomb_width(
    0.5
)
Q, V, A = torsor.random_state(TREE, seed=1)
PLAIN = ("inertias", "gravity", "armature", "viscous_friction", "coulomb_friction")


def varied(group, index, change):
    """The robot with one number of a group, or one thing along one twist, changed."""
    values = np.array(getattr(TREE.parameters, group))
    if group in PLAIN:
        values[index] += change
    else:
        values[index[0]] = values[index[0]] @ lie.se3.exp(change * np.eye(6)[index[-1]])
    return TREE.with_parameters(**{group: values})


@pytest.mark.parametrize("group", [*PLAIN, "poses"])
def test_by_the_numbers_of_the_robot(group):
    slope = torsor.derivative(torsor.inverse_dynamics, TREE, wrt=group)(Q, V, A)
    own = getattr(TREE.parameters, group).shape
    assert slope.shape == (TREE.nv, *(own if group in PLAIN else (TREE.n, 6)))
    rng = np.random.default_rng(0)
    for _ in range(12):
        index = tuple(int(rng.integers(size)) for size in slope.shape[1:])
        want = derivative(lambda t, at=index: torsor.inverse_dynamics(varied(group, at, t), Q, V, A))
        assert_close(slope[(slice(None), *index)], want, DIFFERENTIATED, scale=largest(slope))


def test_by_the_inertias_it_is_the_regressor():
    slope = torsor.derivative(torsor.inverse_dynamics, TREE, wrt="inertias")(Q, V, A)
    Y = torsor.identification.torque_regressor(TREE, Q, V, A)
    assert_close(slope.reshape(Y.shape), Y, 1e-12, scale=largest(Y))


def test_by_the_pose_of_a_frame():
    slope = torsor.derivative(torsor.body_jacobian, TREE, wrt="frame_poses", frame="tool")(Q)
    row = TREE.structure.frame("tool").pose_row
    for k in range(6):
        want = derivative(lambda t, k=k: torsor.body_jacobian(varied("frame_poses", (row, k), t), Q, "tool"))
        assert_close(slope[..., row, k], want, DIFFERENTIATED, scale=largest(want))


def test_by_the_state_it_is_the_analytic_recursion():
    slopes = torsor.derivative(torsor.inverse_dynamics, TREE, wrt=("q", "v", "a"))
    states = torsor.random_state(TREE, seed=2, batch=(4,))
    found, want = slopes(*states), torsor.inverse_dynamics_derivatives(TREE, *states)
    for name, part in zip(("q", "v", "a"), want, strict=True):
        assert_close(found[f"tau_by_{name}"], part, 1e-11, scale=largest(part))


def test_a_frame_moves_by_its_jacobian():
    """T⁻¹ ∂T = [J_b] along the tangent coordinates, for every joint kind."""
    slope = torsor.derivative(torsor.frame_pose, TREE, wrt="q", frame="tool")(Q)
    T, J = torsor.frame_pose(TREE, Q, "tool"), torsor.body_jacobian(TREE, Q, "tool")
    for k in range(TREE.nv):
        assert_close(np.linalg.inv(T) @ slope[..., k], lie.se3.hat(J[:, k]), 1e-12)


def test_of_a_function_of_ones_own_by_its_gains_and_goal():
    def controller(robot, q, v, gain, q_goal):
        push = gain * torsor.difference(robot, q, q_goal) - 2.0 * v
        return {"tau": torsor.gravity_forces(robot, q) + push, "power": (push * v).sum()}

    shapes = {"q": TREE.nq, "v": TREE.nv, "gain": TREE.nv, "q_goal": TREE.nq}
    slopes = torsor.derivative(controller, TREE, shapes, wrt=("gain", "q_goal", "v"), configurations=("q_goal",))
    gain, goal = np.linspace(1, 2, TREE.nv), torsor.integrate(TREE, Q, 0.3 * A)
    found = slopes(q=Q, v=V, gain=gain, q_goal=goal)
    assert set(found) == {f"{y}_by_{x}" for y in ("tau", "power") for x in ("gain", "q_goal", "v")}
    assert_close(found["tau_by_gain"], np.diag(torsor.difference(TREE, Q, goal)), 1e-12)
    assert_close(found["tau_by_v"], -2.0 * np.eye(TREE.nv))
    for k, unit in enumerate(np.eye(TREE.nv)):
        by_goal = derivative(lambda t, e=unit: controller(TREE, Q, V, gain, torsor.integrate(TREE, goal, e, t))["tau"])
        assert_close(found["tau_by_q_goal"][:, k], by_goal, DIFFERENTIATED, scale=largest(found["tau_by_q_goal"]))


def test_of_a_function_of_ones_own_only_q_and_those_named_are_configurations():
    """A planar joint has as many velocities as numbers: what is called qd is not taken for a configuration."""
    robot = torsor.robots.random_tree(3, seed=0, kinds=("planar", "revolute"))
    assert robot.nq == robot.nv and "planar" in robot.structure.kinds

    def energy(robot, q, qd):
        return {"T": torsor.kinetic_energy(robot, q, qd)}

    shapes, (q, v, _) = {"q": robot.nq, "qd": robot.nv}, torsor.random_state(robot, seed=4)
    found = torsor.derivative(energy, robot, shapes, wrt=("q", "qd"))(q, v)
    assert_close(found["T_by_qd"], torsor.mass_matrix(robot, q) @ v, 1e-12, scale=largest(found["T_by_qd"]))
    assert_close(found["T_by_q"], torsor.derivatives.kinetic_energy_derivatives(robot, q, v).q, 1e-11, scale=1.0)
    # and number by number where it is not named
    goal = torsor.derivative(lambda robot, q_goal: 2.0 * q_goal, TREE, {"q_goal": TREE.nq}, wrt="q_goal")
    assert_close(goal(Q), 2.0 * np.eye(TREE.nq))


def test_configurations_are_checked():
    def gap(robot, q, q_goal, gain):
        return gain * torsor.difference(robot, q, q_goal)

    shapes = {"q": TREE.nq, "q_goal": TREE.nq, "gain": TREE.nv}
    with pytest.raises(torsor.UnknownName, match="gap has no input 'goal'; nearest: 'q_goal'"):
        torsor.derivative(gap, TREE, shapes, wrt="q", configurations=("goal",))
    with pytest.raises(torsor.ShapeError, match=r"'gain' is named as a configuration .* its shape is"):
        torsor.derivative(gap, TREE, shapes, wrt="q", configurations="gain")
    with pytest.raises(torsor.TorsorError, match="torsor knows which inputs of inverse_dynamics are configurations"):
        torsor.derivative(torsor.inverse_dynamics, TREE, wrt="q", configurations=("q",))
    with pytest.raises(torsor.TorsorError, match="`configurations` must be a name or several"):
        torsor.derivative(gap, TREE, shapes, wrt="q", configurations=5)


def test_by_numbers_that_the_robot_has_none_of():
    bare = torsor.assemble([torsor.Joint(name="a", kind="revolute", axis=(0, 0, 1), inertia=torsor.Inertia.point(1.0))])
    with pytest.raises(torsor.TorsorError, match="has no frame_poses to differentiate mass_matrix by"):
        torsor.derivative(torsor.mass_matrix, bare, wrt="frame_poses")


def test_numbers_of_the_robot_can_stay_inputs():
    arm = torsor.robots.planar2r()
    slope = torsor.derivative(torsor.inverse_dynamics, arm, wrt="q", parameters=("gravity",))
    assert list(slope.inputs) == ["q", "v", "a", "gravity"]
    q, v, a = torsor.random_state(arm, seed=0)
    moon = arm.with_gravity((0.0, -1.62, 0.0))
    assert_close(slope(q, v, a, moon.gravity), torsor.inverse_dynamics_derivatives(moon, q, v, a).q, 1e-13)


def test_what_is_not_there_is_named():
    with pytest.raises(torsor.TorsorError, match="has no input or group of parameters 'inertia'; nearest: 'inertias'"):
        torsor.derivative(torsor.inverse_dynamics, TREE, wrt="inertia")
    with pytest.raises(torsor.TorsorError, match="say what to differentiate inverse_dynamics by"):
        torsor.derivative(torsor.inverse_dynamics, TREE, wrt=())
    with pytest.raises(torsor.TorsorError, match="derivative: say of what shape `x` of <lambda> is"):
        torsor.derivative(lambda robot, x: x, TREE, wrt="x")
    for wrong in (None, 5, (5,), ([],)):
        with pytest.raises(torsor.TorsorError, match="`wrt` must be a name or several, as in wrt='q'"):
            torsor.derivative(torsor.inverse_dynamics, TREE, wrt=wrong)


@pytest.mark.parametrize("make", [torsor.compile, lambda *args, **more: torsor.derivative(*args, wrt="q", **more)])
def test_what_cannot_be_traced_is_refused_in_words(make):
    for args, more, text in (
        (("frame_pose", TREE), {}, r"must be a function: torsor\.frame_pose, without quotes, got str 'frame_pose'"),
        ((5, TREE), {}, "the first argument must be a function, got int 5"),
        ((torsor.frame_pose, 5), {}, r"the second argument must be a torsor\.Robot, got int 5"),
        ((torsor.frame_pose, TREE), {}, r"frame_pose also needs frame; say which, .* frame='tool'\)"),
        (
            (torsor.frame_pose, TREE),
            {"frame": "tool", "fame": 1},
            "frame_pose has no argument 'fame'; nearest: 'frame'",
        ),
        ((torsor.inverse_dynamics, TREE, {"q": TREE.nq, "v": TREE.nv}), {}, "inverse_dynamics also needs a; say which"),
        (
            (torsor.linearise, TREE, {"q": TREE.nq, "v": TREE.nv, "tau": TREE.nv}),
            {},
            "linearise: works with plain numbers",
        ),
        ((lambda robot, q: q, TREE, 5), {}, "inputs must be a dict of names and shapes"),
        ((lambda robot, q: q, TREE, {"q": "nq"}), {}, "inputs must be a dict of names and shapes"),
    ):
        with pytest.raises(torsor.TorsorError, match=text):
            make(*args, **more)
    with pytest.raises(torsor.TorsorError, match="base parameters are a matter of its numbers"):
        torsor.derivative(torsor.identification.base_parameters, TREE, {}, wrt="inertias")


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("robot", [torsor.robots.planar2r(), torsor.robots.chain(3), torsor.robots.cart_pole()])
def test_small_robots_get_the_shorter_program(name, robot):
    """By differentiating the program of the dynamics, or by recursion: the same numbers, and never more operations."""
    from torsor.compiler.graph import count
    from torsor.functions.describe import Request

    state = torsor.random_state(robot, seed=0, batch=(3,))
    want = PUBLIC[name](robot, *state)
    about, last = about_of(PUBLIC[name]), "a" if name.startswith("inverse") else "tau"
    request = Request(robot, "float64", (), tuple((key, None) for key in ("q", "v", last)))
    counts = []
    for graph in (about.graph, None):
        program = about._replace(graph=graph).shortest(request)[1]
        counts.append(sum(count(program).values()))
        found = torsor.Kernel("both", program)(*state)
        for part, values in zip(want, found.values(), strict=True):
            assert_close(values, part, 1e-10, scale=largest(part))
    assert counts[0] <= counts[1]
    if robot.name == "chain3":
        assert counts[0] < counts[1]
