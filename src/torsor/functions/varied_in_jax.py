"""A function of a robot whose inertias, gravity, friction or springs JAX varies: a kernel of them, and its derivatives.

As `jax.numpy` the equations are some hundred or thousand small operations, and XLA takes longer to compile these and their
derivative than LLVM takes for the straight line they are; a batch of robots (`vmap`) is a batch of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from torsor.arrays import is_concrete, namespace
from torsor.compiler.graph import count
from torsor.compiler.kernel import Kernel
from torsor.compiler.run.jax_call import jax_outputs
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.functions.describe import Public, Request, shapes_of
from torsor.functions.kept import Kept
from torsor.model import Robot

# What the equations are linear in, alone or in products: a robot can change in every direction of theirs.
_OF_JOINTS = ("armature", "viscous_friction", "coulomb_friction", "stiffness", "rest")
RANKS = {"inertias": 2, "gravity": 1, "base_inertia": 1, **dict.fromkeys(_OF_JOINTS, 1)}
JACOBIAN_MOST = 250_000  # rows or columns times operations; beyond, JAX differentiates the algorithm itself
Run = Callable[[Robot, dict[str, Any]], Any]
_KERNELS: Kept[Callable[..., tuple[Any, ...]]] = Kept(64)


def varied_groups(robot: Robot) -> tuple[str, ...]:
    """The groups of a robot's numbers that are JAX's, if they are all among `RANKS`; else none."""
    leaves = robot.parameters._asdict()
    varied = tuple(name for name, leaf in leaves.items() if not is_concrete(leaf))
    known = all(name in RANKS and _is_jax(leaves[name]) and leaves[name].ndim == RANKS[name] for name in varied)
    return varied if known else ()


def evaluate(about: Public, run: Run, request: Request, arrays: list[Any]) -> tuple[Any, ...]:
    """The outputs for JAX; ``run`` evaluates the function for a robot and its other arguments, traced or JAX's."""
    algorithm, outputs = about.algorithm, about.outputs
    robot, parameters = request.robot, request.robot.parameters
    groups = varied_groups(robot)
    rest = tuple(np.asarray(leaf).tobytes() for name, leaf in parameters._asdict().items() if name not in groups)
    sizes = tuple((name, tuple(getattr(parameters, name).shape)) for name in groups)

    def make() -> Callable[..., tuple[Any, ...]]:
        still = parameters._replace(**{name: np.zeros(shape) for name, shape in sizes})  # nothing of JAX's is kept

        def evaluated(given: list[Any]) -> dict[str, Any]:
            own = dict(zip(groups, given, strict=False))
            varied = Robot(robot.structure, still._replace(**own))
            return outputs.named(run(varied, request.arguments(given[len(groups) :])))

        inputs = {**dict(sizes), **shapes_of(algorithm, robot, request)}
        program = trace(lambda **given: evaluated(list(given.values())), inputs, Level.FULL)
        columns = min(sum(map(prod, inputs.values())), sum(port.size for port in program.outputs))
        too_large = columns * sum(count(program).values()) > JACOBIAN_MOST
        plain = (lambda *given: tuple(evaluated(list(given)).values())) if too_large else None
        kernel, is_long = Kernel(f"{algorithm.__name__} of {robot.name}", program), about.arrays is not None
        return jax_outputs(kernel, plain, one_by_one=is_long)

    function = _KERNELS.get((algorithm, robot.structure, rest, sizes, *request[1:]), make)
    return function(*(getattr(parameters, name) for name in groups), *arrays)


def _is_jax(leaf: Any) -> bool:
    return str(namespace(leaf).__name__) == "jax.numpy"
