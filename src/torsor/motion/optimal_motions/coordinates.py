"""From coordinates u(t) of q0 ⊕ u to what equations are written in: δq in the axes of v, and v, a, jerk; with two derivatives.

Where every joint has one number, these are u and its derivatives. On groups, v = J_r(u) u̇ and a displacement δu moves q by
J_r(u) δu, so with ξ = (q, v, a, jerk) and z = (u, u̇, ü, u⃛) there is a matrix J(z), δξ = J δz, and a function F(ξ) has ::

    ∂F/∂z = gᵀ J            ∂²F/∂z² = Jᵀ H J + ∂(gᵀ J)/∂z

g and H being the derivatives of F along ξ, those by q along the axes of v, one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays import concat, stack, zeros
from torsor.arrays.typing import Array
from torsor.compiler.differentiate import Wanted, derivatives
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import inline, trace
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.motion.body_rates import Rates, body_rates, placed

NAMES = ("u", "du", "ddu", "dddu")


@remembered(64)
def coordinates_of(robot: Robot, orders: int) -> Coordinates:
    """The coordinates of a robot, up to ``orders`` − 1 derivatives by time."""
    return Coordinates(robot, orders)


class Coordinates:
    """J(z) and ∂(gᵀ J)/∂z of a robot that has joints on groups."""

    def __init__(self, robot: Robot, orders: int) -> None:
        self.robot, self.orders = robot, orders

    def placed(self, anchor: Array, z: Array) -> tuple[Array, Array]:
        """q (N, nq), and v, a, … (N, orders − 1, n), of z (N, orders, n)."""
        q = placed(self.robot, anchor, z[:, 0])
        if self.robot.structure.has_plain_velocities:
            return q, z[:, 1:]
        none = np.zeros_like(z[:, 0])
        rates = body_rates(self.robot, z[:, 0], Rates(*(z[:, k] if k < self.orders else none for k in (1, 2, 3))))
        return q, np.stack(rates[: self.orders - 1], axis=1)

    def jacobian(self, z: Array) -> Array:
        """J (N, orders n, orders n)."""
        return self._jacobian(*(z[:, k] for k in range(self.orders))).reshape(len(z), self._size, self._size)

    def curvature(self, z: Array, g: Array) -> Array:
        """∂(gᵀ J)/∂z (N, orders n, orders n), of g (N, orders, n)."""
        found = self._curvature(*(z[:, k] for k in range(self.orders)), g.reshape(len(z), -1))
        return found.reshape(len(z), self._size, self._size)

    @property
    def _size(self) -> int:
        return self.orders * self.robot.nv

    @property
    def _inputs(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(NAMES[: self.orders], (self.robot.nv,))

    @once
    def _slopes(self) -> Program:
        """Derivatives of v, a, … by z."""

        def run(**z: Any) -> dict[str, Any]:
            none = zeros(self.robot.nv)
            rates = body_rates(self.robot, z["u"], Rates(*(z.get(name, none) for name in NAMES[1:])))
            return {"y": concat(list(rates[: self.orders - 1]))}

        names = NAMES[: self.orders]
        return derivatives(trace(run, self._inputs, Level.FULL), Wanted(("y",), names))

    def _matrix(self, z: dict[str, Any]) -> Any:
        found, n = inline(self._slopes, z), self.robot.nv
        columns = [found[f"y_by_{name}"] for name in NAMES[: self.orders]]
        turned = columns[1][:n]  # ∂v/∂u̇, which is J_r(u)
        rest = [zeros(n, n)] * (self.orders - 1)
        first = concat([turned, *rest], axis=-1)
        return concat([first, concat(columns, axis=-1)], axis=-2)

    @once
    def _jacobian(self) -> Kernel:
        program = trace(lambda **z: {"J": self._matrix(z)}, self._inputs, Level.FULL)
        return Kernel(f"coordinates of {self.robot.name}", program)

    @once
    def _curvature(self) -> Kernel:
        def pulled(g: Any, **z: Any) -> dict[str, Any]:
            J = self._matrix(z)
            return {"p": stack([sum(g[i] * J[i, k] for i in range(self._size)) for k in range(self._size)])}

        names = NAMES[: self.orders]
        program = derivatives(trace(pulled, {**self._inputs, "g": (self._size,)}, Level.FULL), Wanted(("p",), names))

        def joined(g: Any, **z: Any) -> dict[str, Any]:
            found = inline(program, {"g": g, **z})
            return {"C": concat([found[f"p_by_{name}"] for name in names], axis=-1)}

        inputs = {**self._inputs, "g": (self._size,)}
        return Kernel(f"curvature of coordinates of {self.robot.name}", trace(joined, inputs, Level.FULL))
