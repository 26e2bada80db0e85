"""Torch tensors on the CPU: their memory is read where it is, and `autograd` differentiates by torsor's own derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from torsor.bridges import Crossing, numbers
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError

_REAL = (torch.float64, torch.float32)
_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


def call(crossing: Crossing) -> list[Any]:
    """The outputs as tensors, which remember what they were computed of if that is to be differentiated."""
    tensors = [_tensor(name, x) for name, x in crossing.arrays.items()]
    if torch.is_grad_enabled() and (
        moving := [n for n, t in zip(crossing.axes, tensors, strict=True) if t.requires_grad]
    ):
        if crossing.out is not None:
            raise ArgumentError(
                f"`{moving[0]}` requires a gradient, which results written to out= do not have: leave out= away, or call it "
                "within torch.no_grad()."
            )
        if crossing.pullback is None:
            raise _without_derivatives(moving[0])
    if crossing.out is not None:
        for name, target in zip(crossing.outputs, crossing.out, strict=True):
            if not isinstance(target, torch.Tensor):
                raise ArgumentTypeError(
                    f"out: `{name}` must be a tensor, as the arguments are, got {type(target).__name__}."
                )
            if target.requires_grad or target.device.type != "cpu":
                raise ArgumentError(
                    f"out: `{name}` must be a tensor on the CPU that requires no gradient, for it is written to."
                )
        crossing.evaluate([_view(t) for t in tensors], [_view(t) for t in crossing.out])
        for target in crossing.out:
            torch.autograd.graph.increment_version(target)  # as torch's own functions that write do
        return list(crossing.out)
    if any(t.requires_grad for t in tensors) or _transforms():
        return list(Evaluation.apply(crossing, *tensors))
    return list(Evaluation.forward(crossing, *tensors))


class Evaluation(torch.autograd.Function):  # type: ignore[misc]  # torch is not there when types are checked
    """A call as a node of autograd's graph. Its derivative is another call, so that it can be differentiated again."""

    @staticmethod
    def forward(crossing: Crossing, *tensors: Any) -> tuple[Any, ...]:
        """The outputs, on the memory that the kernel has written to."""
        arrays = [_view(t) for t in tensors]
        return tuple(torch.from_numpy(_of_its_own(x, arrays)) for x in crossing.evaluate(arrays))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what the derivative is evaluated at."""
        ctx.crossing = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> tuple[Any, ...]:
        """Σ of weights times derivatives of the outputs by the inputs that need it, one sweep back through the program."""
        crossing, tensors = ctx.crossing, ctx.saved_tensors
        needed = [name for name, asked in zip(crossing.axes, ctx.needs_input_grad[1:], strict=True) if asked]
        if crossing.pullback is None:
            raise _without_derivatives(needed[0])
        ranks = [len(axes) for axes in crossing.axes.values()]
        states = [np.zeros(t.shape[t.ndim - rank :]) for t, rank in zip(tensors, ranks, strict=True)]
        pull = crossing.pullback(needed, states)
        found = pull(*tensors, *weights)
        pulled = iter(found.values() if isinstance(found, dict) else [found])
        back = (
            next(pulled).sum_to_size(t.shape).to(t.dtype) if name in needed else None
            for name, t in zip(crossing.axes, tensors, strict=True)
        )
        return (None, *back)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], crossing: Crossing, *tensors: Any) -> tuple[Any, Any]:
        """`torch.vmap` is one more batch axis, before all others."""
        ranks = [len(axes) for axes in crossing.axes.values()]
        leads = [t.ndim - rank - (dim is not None) for t, rank, dim in zip(tensors, ranks, in_dims[1:], strict=True)]
        moved = [
            t if dim is None else t.movedim(dim, 0).unflatten(0, (info.batch_size, *(1,) * (max(leads) - lead)))
            for t, dim, lead in zip(tensors, in_dims[1:], leads, strict=True)
        ]
        results = Evaluation.apply(crossing, *moved)
        return results, (0,) * len(results)


# Whether `vmap`, `grad` or the like is at work. A torch without this function asks autograd always, which is slower.
_transforms = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


def _tensor(name: str, value: Any) -> Any:
    """An argument as a tensor that a kernel can read."""
    if not isinstance(value, torch.Tensor):
        array = numbers(name, value)
        return torch.from_numpy(array if array.flags.writeable and min(array.strides, default=0) >= 0 else array.copy())
    if value.device.type != "cpu":
        raise ArgumentError(f"`{name}` is on {value.device}, and kernels run on the CPU: pass {name}.cpu().")
    if value.layout is not torch.strided:
        raise ShapeError(f"`{name}` is a sparse tensor: pass {name}.to_dense().")
    if value.dtype in _WHOLE:
        return value.to(torch.float64)
    if value.dtype not in _REAL:
        raise ShapeError(f"`{name}` must be of float64 or float32, got {value.dtype}: pass {name}.to(torch.float32).")
    return value


def _view(tensor: Any) -> Any:
    """The tensor's own memory as a NumPy array."""
    return tensor.detach().resolve_neg().numpy()


def _of_its_own(result: Any, arrays: list[Any]) -> Any:
    """A result in memory that is no argument's, and can be written to."""
    shared = not result.flags.writeable or any(np.may_share_memory(result, x) for x in arrays)
    return result.copy() if shared else result


def _without_derivatives(name: str) -> ArgumentError:
    return ArgumentError(
        f"`{name}` requires a gradient. There is one of kernels and of functions of a robot that are compiled, not of this: pass "
        f"{name}.detach(), or compile a function of yours that calls this one (torsor.compile)."
    )
