"""torsor.compile: any function built from ours, with names, parameters, derivatives and export."""

import copy
import pickle
import shutil
import subprocess
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import torsor
from torsor.arrays.typing import ConfigurationVector

pytestmark = pytest.mark.compiled
ARM = torsor.robots.ur5()
Q, V, A = torsor.random_state(ARM, seed=0, batch=(7,))


def controller(robot, q, v, target, gain):
    """Gravity compensation and a spring; sums, functions of NumPy, a branch by where."""
    pull = gain * (target - q) - 2.0 * np.sqrt(gain) * v
    clipped = np.where(np.abs(pull) > 20.0, 20.0 * np.sign(pull), pull)
    return {"tau": torsor.gravity_forces(robot, q) + clipped, "effort": np.sum(clipped**2)}


def test_a_torsor_function_needs_no_shapes():
    kernel = torsor.compile(torsor.inverse_dynamics, ARM)
    assert kernel.inputs == {"q": (6,), "v": (6,), "a": (6,)}
    assert kernel.outputs == {"tau": (6,)}
    np.testing.assert_array_equal(kernel(Q, V, A), torsor.inverse_dynamics(ARM, Q, V, A))
    assert repr(kernel).startswith("<Kernel 'inverse_dynamics of ur5': q (6,), v (6,), a (6,) → tau (6,); ")
    jacobian = torsor.compile(torsor.body_jacobian, ARM, frame="tool0")
    np.testing.assert_allclose(jacobian(Q), torsor.body_jacobian(ARM, Q, "tool0"), atol=1e-14)


def test_a_controller_of_the_users_own():
    kernel = torsor.compile(controller, ARM, {"q": (6,), "v": 6, "target": 6, "gain": ()})
    assert kernel.outputs == {"tau": (6,), "effort": ()}
    result = kernel(Q, V, target=np.zeros(6), gain=30.0)
    assert result["effort"].shape == (7,)
    for k in range(7):
        expected = controller(ARM, Q[k], V[k], np.zeros(6), 30.0)
        np.testing.assert_allclose(result["tau"][k], expected["tau"], rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(result["effort"][k], expected["effort"], rtol=1e-12)
    outs = {"tau": np.zeros((7, 6)), "effort": np.zeros(7)}
    kernel(Q, V, np.zeros(6), 30.0, out=outs)
    np.testing.assert_array_equal(outs["tau"], result["tau"])


def test_outputs_may_be_a_named_tuple_or_several_arrays():
    class Terms(NamedTuple):
        M: object
        g: object

    def terms(robot, q):
        return Terms(torsor.mass_matrix(robot, q), torsor.gravity_forces(robot, q))

    kernel = torsor.compile(terms, ARM, {"q": 6})
    assert kernel.outputs == {"M": (6, 6), "g": (6,)}
    np.testing.assert_array_equal(kernel(Q)["M"], torsor.mass_matrix(ARM, Q))
    pair = torsor.compile(lambda robot, q: (q, 2.0 * q), ARM, {"q": 6})
    np.testing.assert_array_equal(pair(Q)["result_1"], 2 * Q)


def test_parameters_of_the_robot_as_inputs():
    kernel = torsor.compile(torsor.inverse_dynamics, ARM, parameters=("inertias", "gravity"))
    rows = ARM.parameters.inertias
    np.testing.assert_allclose(kernel(Q, V, A, rows, ARM.gravity), torsor.inverse_dynamics(ARM, Q, V, A), rtol=1e-12)
    heavier = np.stack([rows * (1 + 0.1 * k) for k in range(7)])  # domain randomisation: one robot per state
    result = kernel(Q, V, A, inertias=heavier, gravity=ARM.gravity)
    for k in range(7):
        robot = ARM.with_parameters(inertias=heavier[k])
        with torsor.backend("numpy"):
            np.testing.assert_allclose(result[k], torsor.inverse_dynamics(robot, Q[k], V[k], A[k]), rtol=1e-11)
    everything = torsor.compile(torsor.inverse_dynamics, ARM, parameters=("screws", "poses", "inertias"))
    own = {name: getattr(ARM.parameters, name) for name in ("screws", "poses", "inertias")}
    np.testing.assert_allclose(
        everything(Q, V, A, **own), torsor.inverse_dynamics(ARM, Q, V, A), rtol=1e-11, atol=1e-11
    )


def test_a_payload_as_an_input():
    def loaded(robot, q, payload):
        return torsor.gravity_forces(robot.with_payload("tool0", torsor.Inertia.from_row(payload)), q)

    kernel = torsor.compile(loaded, ARM, {"q": 6, "payload": 10})
    body = torsor.Inertia.box((0.1, 0.2, 0.3), mass=1.5, com=(0, 0, 0.1))
    expected = torsor.gravity_forces(ARM.with_payload("tool0", body), Q)
    np.testing.assert_allclose(kernel(Q, body.row), expected, rtol=1e-11, atol=1e-12)


def test_jacobians_are_kernels():
    kernel = torsor.compile(torsor.inverse_dynamics, ARM)
    derivative = kernel.jacobian("tau", "q", "v", "a")
    assert derivative.outputs == {"tau_by_q": (6, 6), "tau_by_v": (6, 6), "tau_by_a": (6, 6)}
    result = derivative(Q, V, A)
    np.testing.assert_allclose(result["tau_by_a"], torsor.mass_matrix(ARM, Q), atol=1e-13)
    h = 1e-6
    for j in range(6):
        step = h * np.eye(6)[j]
        numeric = (kernel(Q + step, V, A) - kernel(Q - step, V, A)) / (2 * h)
        # central differences with h = 1e-6 are good to about 1e-9 of the torques (tens of N·m)
        np.testing.assert_allclose(result["tau_by_q"][..., j], numeric, atol=1e-7)
    by_mass = torsor.compile(torsor.kinetic_energy, ARM, parameters=("inertias",)).jacobian("energy", "inertias")
    rows = ARM.parameters.inertias
    gradient = by_mass(Q, V, rows)
    np.testing.assert_allclose(np.sum(gradient * rows, axis=(-1, -2)), torsor.kinetic_energy(ARM, Q, V))  # linear


def test_a_pullback_is_weights_times_the_jacobian_and_far_shorter():
    kernel = torsor.compile(torsor.mass_matrix, ARM)
    pull = kernel.pullback("q")
    assert (pull.inputs, pull.outputs) == ({"q": (6,), "weights_of_M": (6, 6)}, {"pulled_to_q": (6,)})
    weights = np.random.default_rng(0).normal(size=(7, 6, 6))
    want = np.einsum("...ij,...ijk->...k", weights, kernel.jacobian("M", "q")(Q))
    np.testing.assert_allclose(pull(Q, weights), want, rtol=1e-11, atol=1e-12)
    assert sum(pull.count().values()) < 4 * sum(kernel.count().values())
    assert kernel.pullback("q") is pull


def test_a_pullback_of_several_outputs_by_several_inputs():
    kernel = torsor.compile(controller, ARM, {"q": 6, "v": 6, "target": 6, "gain": ()})
    pull = kernel.pullback("gain", "v")
    given = {"q": Q, "v": V, "target": np.zeros(6), "gain": 3.0}
    found = pull(**given, weights_of_tau=np.ones(6), weights_of_effort=2.0)
    for name, value in found.items():
        by = name.removeprefix("pulled_to_")
        tau, effort = (kernel.jacobian(output, by)(**given) for output in ("tau", "effort"))
        np.testing.assert_allclose(value, tau.sum(axis=1) + 2.0 * effort, rtol=1e-11, atol=1e-11)
    with pytest.raises(torsor.UnknownName, match="has no input 'Q'"):
        kernel.pullback("Q")


def test_the_jacobian_of_a_jacobian():
    kernel = torsor.compile(torsor.potential_energy, ARM)
    hessian = kernel.jacobian("energy", "q").jacobian("energy_by_q", "q")(Q)
    np.testing.assert_allclose(hessian, np.swapaxes(hessian, -1, -2), atol=1e-12)
    h = 1e-6
    numeric = (torsor.gravity_forces(ARM, Q + h * np.eye(6)[1]) - torsor.gravity_forces(ARM, Q - h * np.eye(6)[1])) / (
        2 * h
    )
    np.testing.assert_allclose(hessian[..., 1], numeric, atol=1e-7)  # central differences


def test_counts_tell_the_cost():
    counts = torsor.compile(torsor.inverse_dynamics, torsor.robots.panda()).count()
    assert counts["mul"] <= 447
    assert counts["add"] + counts["sub"] <= 354
    assert counts["sin"] == counts["cos"] == 6  # the first joint turns about gravity


def test_forward_dynamics_takes_the_cheaper_algorithm():
    def total(function, robot):
        return sum(torsor.compile(function, robot).count().values())

    for robot in (torsor.robots.panda(), torsor.robots.chain(24)):
        both = [
            total(f, robot)
            for f in (torsor.papers.articulated_body_acceleration, torsor.papers.factorised_acceleration)
        ]
        assert total(torsor.forward_dynamics, robot) == min(both)
    assert both[0] < both[1]  # for many joints the recursion of order n wins


def test_exports(tmp_path):
    kernel = torsor.compile(torsor.inverse_dynamics, torsor.robots.planar2r())
    seen = {}
    exec(kernel.to_numpy(), seen)
    q, v, a = torsor.random_state(torsor.robots.planar2r(), seed=0, batch=(4,))
    np.testing.assert_allclose(seen["kernel"](q, v, a)["tau"], kernel(q, v, a), rtol=1e-12)
    import sympy

    tau = kernel.to_sympy()["tau"]
    a_0, q_1 = sympy.symbols("a_0 q_1", real=True)
    assert sympy.simplify(sympy.diff(tau[0], a_0) - (3 + 2 * sympy.cos(q_1))) == 0
    assert "\\cos" in kernel.to_latex()["tau"]
    if shutil.which("cc"):
        kernel.to_c(tmp_path / "planar2r_torques.c")
        command = "cc -std=c99 -Wall -Werror planar2r_torques.c planar2r_torques_test.c -lm -o t && ./t"
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == "planar2r_torques: 0 wrong\n"


def test_errors_say_what_to_do():
    with pytest.raises(torsor.TorsorError, match=r"say what <lambda> takes, as inputs=\{name: shape\}; for instance"):
        torsor.compile(lambda robot, **given: given["q"], ARM)
    with pytest.raises(
        torsor.TorsorError, match=r"say of what shape `goal` of <lambda> is, .* inputs=\{'goal': \(6,\)\}"
    ):
        torsor.compile(lambda robot, q, goal: goal - q, ARM)
    with pytest.raises(torsor.UnknownName, match="no group of parameters 'masses'"):
        torsor.compile(torsor.mass_matrix, ARM, parameters=("masses",))
    with pytest.raises(
        torsor.TorsorError, match=r"compile: `wrenches` of body_wrench_forces .* say which frames"
    ) as told:
        torsor.compile(torsor.dynamics.body_wrench_forces, ARM)
    function, inputs = str(told.value).split("for instance ")[1].removesuffix(".").split(" with inputs=")
    kernel = torsor.compile(eval(function), ARM, eval(inputs))  # what it says to do
    assert kernel.inputs == {"q": (6,), "F": (6,)}
    kernel = torsor.compile(torsor.mass_matrix, ARM)
    with pytest.raises(torsor.UnknownName, match="has no output 'N'"):
        kernel.jacobian("N", "q")
    with pytest.raises(torsor.UnknownName, match="has no input 'qq'; nearest: 'q'"):
        kernel(qq=Q)
    with pytest.raises(torsor.ShapeError, match="missing inputs q"):
        kernel()
    with pytest.raises(torsor.ShapeError, match="q given twice, by position and by name"):
        kernel(Q, q=Q)
    with pytest.raises(torsor.ShapeError, match=r"`q` must have shape \(..., 6\), got \(7,\)"):
        kernel(np.zeros(7))
    with pytest.raises(
        torsor.ShapeError, match=r"^kernel 'inverse_dyn.*batch axes do not broadcast: `q` \(3,\), `v` \(4,\)"
    ):
        torsor.compile(torsor.inverse_dynamics, ARM)(np.zeros((3, 6)), np.zeros((4, 6)), Q)
    with pytest.raises(torsor.TorsorError, match="'arm-id' is no C identifier"):
        kernel.to_c("arm-id.c")


def test_a_function_of_the_users_own_may_have_the_name_of_one_of_ours():
    def mass_matrix(robot, q):
        return {"twice": 2.0 * torsor.mass_matrix(robot, q)}

    kernel = torsor.compile(mass_matrix, ARM, {"q": 6})
    assert kernel.outputs == {"twice": (6, 6)}


def test_shapes_that_a_function_says_itself_need_not_be_given():
    def law(robot, q, v, q_ref, v_ref0, goal, gain=2.0):
        return gain * (q_ref - q) + goal * (v_ref0 - v)

    kernel = torsor.compile(law, ARM, {"goal": ()})
    assert kernel.inputs == {"q": (6,), "v": (6,), "q_ref": (6,), "v_ref0": (6,), "goal": ()}
    np.testing.assert_array_equal(kernel(np.ones(6), np.zeros(6), np.zeros(6), np.ones(6), 3.0), np.ones(6))
    pd = torsor.compile(torsor.control.pd_gravity, ARM)
    assert list(pd.inputs) == ["q", "v", "q_ref", "kp", "kd"]
    q, v, a = torsor.random_state(ARM, seed=0)
    kp, kd = np.full(6, 30.0), np.full(6, 4.0)
    np.testing.assert_allclose(pd(q, v, a, kp, kd), torsor.control.pd_gravity(ARM, q, v, a, kp, kd), rtol=1e-13)

    def annotated(robot: torsor.Robot, x: ConfigurationVector, F: Annotated[Any, "... 6"]):
        return {"x": 2.0 * x, "F": F}

    assert torsor.compile(annotated, ARM).inputs == {"x": (6,), "F": (6,)}


def test_a_long_compilation_is_announced_and_wiped_out(monkeypatch):
    import io
    import sys
    import time

    from torsor.compiler.run import cache

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(cache, "PATIENCE", 0.01)
    with cache.notice("compiling"):
        while not terminal.getvalue():  # as long as the other thread takes on a busy machine
            time.sleep(0.01)
    assert terminal.getvalue().startswith("compiling …\r")
    assert terminal.getvalue().endswith("\r")
    quick = Terminal()
    monkeypatch.setattr(sys, "stderr", quick)
    monkeypatch.setattr(cache, "PATIENCE", 60.0)
    with cache.notice("compiling"):
        pass
    assert quick.getvalue() == ""


def test_a_kernel_can_be_pickled_and_copied():
    for kernel in (
        torsor.compile(torsor.inverse_dynamics, ARM),
        torsor.derivative(torsor.inverse_dynamics, ARM, wrt=("q", "v")),
    ):
        want = kernel(Q, V, A)
        for other in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel), copy.copy(kernel)):
            assert other is not kernel and other.name == kernel.name and other.count() == kernel.count()
            np.testing.assert_equal(other(Q, V, A), want)
            np.testing.assert_equal(other(Q[0], V[0], A[0]), kernel(Q[0], V[0], A[0]))


def test_results_need_arrays_of_their_own():
    arm = torsor.robots.planar2r()
    state, one = torsor.random_state(arm, seed=0), np.zeros((2, 2))
    want = torsor.inverse_dynamics_derivatives(arm, *state)
    for out in (
        (one, one, np.zeros((2, 2))),
        torsor.derivatives.InverseDynamicsDerivatives(np.zeros((2, 2)), one, one),
    ):
        with pytest.raises(torsor.ShapeError, match="share memory; each result needs an array of its own"):
            torsor.inverse_dynamics_derivatives(arm, *state, out=out)
    kernel = torsor.compile(torsor.inverse_dynamics_derivatives, arm)
    with pytest.raises(torsor.ShapeError, match="out: `q` and `a` share memory"):
        kernel(*state, out={"q": one, "v": np.zeros((2, 2)), "a": one.T})
    with pytest.raises(torsor.ShapeError, match="out must be a dict of arrays q, v, a"):
        kernel(*state, out=one)
    with pytest.raises(torsor.ShapeError, match="out lacks a"):
        kernel(*state, out={"q": one, "v": np.zeros((2, 2))})
    room = np.zeros((2, 2, 3))  # views that interleave, and share nothing
    found = torsor.inverse_dynamics_derivatives(arm, *state, out=tuple(np.moveaxis(room, -1, 0)))
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(np.moveaxis(room, -1, 0), want)


def test_what_is_no_number_is_refused():
    kernel = torsor.compile(torsor.gravity_forces, ARM)
    with pytest.raises(torsor.ShapeError, match="`q` must be an array of numbers, got 'home'"):
        kernel("home")
