"""Second derivatives of forward dynamics, and their contractions: against the first, through ID(q, v, FD) = τ, in both forms."""

import numpy as np
import pytest
from property_checks import assert_close, derivative, largest

import torsor
from torsor.functions import batched_arrays as array_form

ROBOTS = {
    "panda": torsor.robots.panda(),
    "tree of every kind": torsor.robots.random_tree(
        6,
        seed=13,
        kinds=("revolute", "prismatic", "helical", "planar", "spherical", "free"),
        armature=True,
        friction=True,
    ).with_coulomb_width(0.5),
    "tree with mimic joints": torsor.robots.random_tree(6, seed=21, mimic=True, armature=True),
}
TENSORS = ("qq", "qv", "vv", "tauq")


def setting(name, batch=()):
    robot = ROBOTS[name]
    return robot, *torsor.random_state(robot, seed=4, batch=batch), {robot.links[-1]: np.linspace(-1.0, 1.0, 6)}


@pytest.mark.parametrize("name", ROBOTS)
def test_they_are_the_derivatives_of_the_first(name):
    robot, q, v, tau, wrenches = setting(name)
    found = torsor.derivatives.forward_dynamics_second_derivatives(robot, q, v, tau, wrenches=wrenches)

    def first(q, v):
        return torsor.forward_dynamics_derivatives(robot, q, v, tau, wrenches=wrenches)

    for k, unit in enumerate(np.eye(robot.nv)):
        along_q = derivative(lambda t, e=unit: np.stack(first(torsor.integrate(robot, q, e, t), v)))
        along_v = derivative(lambda t, e=unit: np.stack(first(q, v + t * e)))
        for tensor, want in zip(found, (along_q[0], along_v[0], along_v[1], along_q[2]), strict=True):
            assert_close(
                tensor[..., k], want, 1e-6, scale=largest(tensor)
            )  # differences of numbers up to cond(M) large


@pytest.mark.parametrize("name", ROBOTS)
def test_hessian_and_product_are_contractions(name):
    robot, q, v, tau, wrenches = setting(name, batch=(3,))
    weights, dq, dv, dtau = np.random.default_rng(0).normal(size=(4, 3, robot.nv))
    tensors = torsor.derivatives.forward_dynamics_second_derivatives(robot, q, v, tau, wrenches=wrenches)
    H = torsor.derivatives.forward_dynamics_hessian(robot, q, v, tau, weights, wrenches=wrenches)
    for tensor, matrix in zip(tensors, H, strict=True):
        assert_close(matrix, np.einsum("...i,...ijk->...jk", weights, tensor), 1e-9, scale=largest(tensor))
    product = torsor.derivatives.forward_dynamics_hessian_product(
        robot, q, v, tau, weights, dq, dv, dtau, wrenches=wrenches
    )

    def times(A, x):
        return np.einsum("...jk,...k->...j", A, x)

    def back(A, x):
        return np.einsum("...jk,...j->...k", A, x)

    scale = max(map(largest, H))
    assert_close(product.q, times(H.qq, dq) + times(H.qv, dv) + back(H.tauq, dtau), 1e-9, scale=scale)
    assert_close(product.v, back(H.qv, dq) + times(H.vv, dv), 1e-9, scale=scale)
    assert_close(product.tau, times(H.tauq, dq), 1e-9, scale=scale)


@pytest.mark.compiled
@pytest.mark.parametrize("pushed", [False, True])
def test_by_arrays_they_are_the_same(pushed, monkeypatch):
    robot, q, v, tau, wrenches = setting("tree with mimic joints", batch=(7,))
    wrenches = wrenches if pushed else None
    want = torsor.derivatives.forward_dynamics_second_derivatives(robot, q, v, tau, wrenches=wrenches)
    inverse = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, tau, wrenches=wrenches)
    monkeypatch.setattr(array_form, "ENTRIES_MOST", 0)
    monkeypatch.setattr(array_form, "SLICE", 20_000)  # bytes: several slices
    other = robot.rename({}, robot="by arrays")  # calls that repeat are not asked again
    found = torsor.derivatives.forward_dynamics_second_derivatives(other, q, v, tau, wrenches=wrenches)
    for x, y in zip(found, want, strict=True):
        assert_close(x, y, 1e-9, scale=largest(y))
    for x, y in zip(
        torsor.derivatives.inverse_dynamics_second_derivatives(other, q, v, tau, wrenches=wrenches),
        inverse,
        strict=True,
    ):
        assert_close(x, y, 1e-11, scale=largest(y))


def test_a_chain_too_long_to_write_out():
    """Twelve joints are loops; ID(q, v, FD(q, v, τ)) = τ, differentiated twice, says what they must be."""
    robot = torsor.robots.chain(12)
    q, v, a = torsor.random_state(robot, seed=0)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    first, second = (
        torsor.forward_dynamics_derivatives(robot, q, v, tau),
        torsor.derivatives.forward_dynamics_second_derivatives(robot, q, v, tau),
    )
    by = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, a)
    M = torsor.mass_matrix(robot, q)
    crossed = np.einsum("ilj,lk->ijk", by.aq, first.q)
    rest = by.qq + crossed + np.swapaxes(crossed, -1, -2) + np.einsum("il,ljk->ijk", M, second.qq)
    assert_close(rest, 0.0 * rest, 1e-8, scale=largest(M) * largest(second.qq))
    assert_close(second.qq, np.swapaxes(second.qq, -1, -2), 1e-8, scale=largest(second.qq))
