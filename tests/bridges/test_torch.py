"""Torch tensors in, tensors out: the same memory, the same numbers, and autograd by torsor's derivatives."""

import numpy as np
import pytest
from libraries import library

import torsor
from torsor.bridges import Crossing, across

torch = library("torch")
pytestmark = pytest.mark.compiled
check = torch.autograd.gradcheck


def tensors(*arrays, grad=False):
    return [torch.from_numpy(np.array(x)).requires_grad_(grad) for x in arrays]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tensors_give_the_numbers_of_arrays(arm, states, dtype):
    q, v, a = states.astype(dtype)
    tau = torsor.inverse_dynamics(arm, *tensors(q, v, a))
    assert type(tau) is torch.Tensor
    assert tau.dtype == getattr(torch, np.dtype(dtype).name)
    np.testing.assert_array_equal(tau.numpy(), torsor.inverse_dynamics(arm, q, v, a))


def test_functions_with_several_results_kernels_lie_and_scans_take_tensors(arm, states):
    q, v, a = states
    tq, tv, ta = tensors(*states)
    found = torsor.inverse_dynamics_derivatives(arm, tq, tv, ta)
    want = torsor.inverse_dynamics_derivatives(arm, q, v, a)
    assert type(found) is type(want)
    for one, other in zip(found, want, strict=True):
        np.testing.assert_array_equal(one.numpy(), other)
    kernel = torsor.compile(lambda robot, q, v: {"twice": 2.0 * q, "sum": q + v}, arm)
    both = kernel(v=tv, q=q)
    np.testing.assert_array_equal(both["twice"].numpy(), 2.0 * q)
    np.testing.assert_array_equal(both["sum"].numpy(), q + v)
    np.testing.assert_array_equal(torsor.lie.so3.exp(torch.ones(3).double()).numpy(), torsor.lie.so3.exp(np.ones(3)))
    rollout = torsor.scan(lambda robot, q, v: {"q": q + 0.1 * v, "v": v}, arm, state={"q": 2, "v": 2})
    np.testing.assert_array_equal(rollout(q=tq, v=v, steps=3)["q"].numpy(), rollout(q=q, v=v, steps=3)["q"])


def test_wrenches_in_a_dict_and_optional_arguments(ball):
    q, v, a = ball.neutral, np.ones(ball.nv), np.ones(ball.nv)
    wrench = np.arange(6.0)
    tau = torsor.inverse_dynamics(ball, q, v, a, wrenches={"tool": torch.from_numpy(wrench)})
    np.testing.assert_array_equal(tau.numpy(), torsor.inverse_dynamics(ball, q, v, a, wrenches={"tool": wrench}))


def test_nothing_is_copied(arm, states):
    """The kernel reads the tensors' own memory, and `out=` is written to in place."""
    q = torch.from_numpy(states[0].copy())
    seen = []
    crossing = Crossing(
        {"q": q}, {"q": ("2",)}, {"q": ("2",)}, lambda given: seen.extend(given) or given, lambda x: x[0]
    )
    result = across(crossing)
    assert seen[0].ctypes.data == q.data_ptr()
    assert result.data_ptr() != q.data_ptr()  # but no result is an argument's memory
    out = torch.empty(7, 2, dtype=torch.float64)
    assert torsor.gravity_forces(arm, q, out=out) is out
    np.testing.assert_array_equal(out.numpy(), torsor.gravity_forces(arm, q.numpy()))
    assert out._version == 1  # autograd is told that it was written to


def test_gradients_are_those_of_differences(arm, states):
    q, v, a = tensors(*states[:, :2], grad=True)
    assert check(lambda *x: torsor.inverse_dynamics(arm, *x), (q, v, a))
    assert check(lambda *x: torsor.forward_dynamics(arm, *x), (q, v, a))
    assert check(lambda x: torsor.mass_matrix(arm, x), (q,))
    assert check(lambda x: tuple(torsor.inverse_dynamics_derivatives(arm, x, v[0], a)), (q,))
    assert check(torsor.compile(lambda robot, q: torsor.gravity_forces(robot, q) @ q, arm), (q,))


def test_gradients_of_gradients(arm, states):
    q, v, a = tensors(*states[:, 0], grad=True)
    assert torch.autograd.gradgradcheck(lambda *x: torsor.inverse_dynamics(arm, *x), (q, v, a))


def test_gradients_where_configurations_are_no_vectors(ball):
    rng = np.random.default_rng(1)
    q, v, a = tensors(rng.normal(size=ball.nq), rng.normal(size=ball.nv), rng.normal(size=ball.nv), grad=True)
    (wrench,) = tensors(rng.normal(size=6), grad=True)

    def forces(q, v, a, wrench):
        return torsor.inverse_dynamics(ball, q, v, a, wrenches={"tool": wrench})

    assert check(forces, (q, v, a, wrench))
    assert check(lambda x: torsor.frame_pose(ball, x, "tool"), (q,))


def test_control_laws_are_differentiated_by_their_gains(arm, states):
    q, v = tensors(*states[:2, :2], grad=True)
    gain = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)

    def law(q, v, gain):
        return torsor.control.computed_torque(arm, q, v, states[0][:2], states[1][:2], states[2][:2], gain, 2.0)

    want = torsor.control.computed_torque(arm, *states[:2, :2], *states[:, :2], [3.0, 4.0], 2.0)
    np.testing.assert_allclose(law(q, v, gain).detach().numpy(), want, rtol=1e-12, atol=1e-12)
    assert check(law, (q, v, gain))


def test_pairs_of_arrays(arm, states):
    q, v, a = (x[0] for x in states)
    (twist,) = tensors(np.arange(6.0), grad=True)
    assert check(lambda x: torsor.inverse_dynamics(arm, q, v, a, base_motion=(x, np.ones(6))), (twist,))


def test_the_gradient_of_what_is_broadcast_is_summed(arm, states):
    q, v, a = states
    (one,) = tensors(v[0], grad=True)
    torsor.inverse_dynamics(arm, torch.from_numpy(q), one, a).sum().backward()
    each = torsor.inverse_dynamics_derivatives(arm, q, np.broadcast_to(v[0], q.shape), a)[1]
    np.testing.assert_allclose(one.grad.numpy(), each.sum(axis=(0, 1)), rtol=1e-12, atol=1e-12)


def test_gradients_in_single_precision_and_of_mixed_precision(arm, states):
    q, v, a = (torch.from_numpy(x).to(torch.float32) for x in states)
    q.requires_grad_()
    torsor.inverse_dynamics(arm, q, v, a).sum().backward()
    single = q.grad.clone()
    q.grad = None
    torsor.inverse_dynamics(arm, q, v.double(), a).sum().backward()
    assert single.dtype == q.grad.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_transforms_of_torch(arm, states):
    q = torch.from_numpy(states[0])

    def gravity(x):
        return torsor.gravity_forces(arm, x)

    np.testing.assert_array_equal(torch.vmap(gravity)(q), torsor.gravity_forces(arm, states[0]))
    mixed = torch.vmap(lambda x: torsor.inverse_dynamics(arm, states[0], x, states[2]), in_dims=1)(q.T.contiguous())
    want = torsor.inverse_dynamics(arm, states[0], states[0][:, None], states[2])
    np.testing.assert_array_equal(mixed.numpy(), want)
    slopes = torch.vmap(torch.func.jacrev(gravity))(q)
    np.testing.assert_allclose(
        slopes, torsor.derivatives.gravity_forces_derivative(arm, states[0]), rtol=1e-12, atol=1e-12
    )


def test_a_module_learns_through_the_dynamics(arm, states):
    """A payload's worth of torque is found by gradient descent: all parts of torch work together."""
    q, v, a = (torch.from_numpy(x) for x in states)
    bias = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    want = torch.from_numpy(torsor.forward_dynamics(arm, *states[:2], states[2] + [0.5, -0.2]))
    descent = torch.optim.LBFGS([bias], max_iter=50)

    def loss():
        descent.zero_grad()
        error = ((torsor.forward_dynamics(arm, q, v, a + bias) - want) ** 2).sum()
        error.backward()
        return error

    descent.step(loss)
    np.testing.assert_allclose(bias.detach().numpy(), [0.5, -0.2], atol=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.half(), "`q` must be of float64 or float32, got torch.float16"),
        (lambda x: x.to(torch.bfloat16), "got torch.bfloat16"),
        (lambda x: x.to(torch.complex128), "got torch.complex128"),
        (lambda x: x.to("meta"), "`q` is on meta, and kernels run on the CPU: pass q.cpu()"),
        (lambda x: x.to_sparse(), "`q` is a sparse tensor: pass q.to_dense()"),
        (lambda x: x[:, :1], r"`q` must have shape \(..., 2\)"),
        (lambda x: torch.zeros(0, 3), r"`q` must have shape \(..., 2\)"),
        (lambda x: list(x), r"make one array of them first, as in torch.stack\(x\)"),
    ],
)
def test_what_is_refused(arm, states, change, words):
    q = change(torch.from_numpy(states[0]))
    with pytest.raises(torsor.TorsorError, match=f"gravity_forces: .*{words}"):
        torsor.gravity_forces(arm, q)
    with pytest.raises(torsor.TorsorError, match=f"kernel 'gravity_forces of planar2r': .*{words}"):
        torsor.compile(torsor.gravity_forces, arm)(q)


def test_gradients_that_are_not_there_are_refused(arm, states):
    (q,) = tensors(states[0], grad=True)
    with pytest.raises(torsor.TorsorError, match=r"exp: `w` requires a gradient.*w.detach\(\)"):
        torsor.lie.so3.exp(torch.ones(3, dtype=torch.float64, requires_grad=True))
    with pytest.raises(
        torsor.TorsorError, match="gravity_forces: `q` requires a gradient, which results written to out="
    ):
        torsor.gravity_forces(arm, q, out=torch.empty(7, 2, dtype=torch.float64))
    with torch.no_grad():
        torsor.gravity_forces(arm, q, out=torch.empty(7, 2, dtype=torch.float64))
    with pytest.raises(torsor.TorsorError, match="out: `tau` must be a tensor on the CPU that requires no gradient"):
        torsor.gravity_forces(arm, q.detach(), out=torch.empty(7, 2, dtype=torch.float64, requires_grad=True))
    with pytest.raises(torsor.TorsorError, match="out: `tau` must be a tensor, as"):
        torsor.gravity_forces(arm, q.detach(), out=np.empty((7, 2)))


def test_whole_numbers_and_other_layouts(arm, states):
    np.testing.assert_array_equal(
        torsor.gravity_forces(arm, torch.ones(2, dtype=torch.int64)), torsor.gravity_forces(arm, np.ones(2))
    )
    turned = torch.from_numpy(states[0]).T.contiguous().T
    np.testing.assert_array_equal(torsor.gravity_forces(arm, turned), torsor.gravity_forces(arm, states[0]))


def test_without_the_compiler(arm, states):
    with torsor.backend("numpy"):
        q, v, a = tensors(*states[:, :2], grad=True)
        assert check(lambda *x: torsor.inverse_dynamics(arm, *x), (q, v, a))
