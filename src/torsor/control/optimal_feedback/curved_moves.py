"""Second derivatives of motions on groups, weighted: of q ⊕ u by q and u, and of the rate of u at which q ⊕ u moves with v.

Along δq and δu, in the tangent coordinates of where they lead, (q ⊕ δq) ⊕ (u + δu) is exp(Ad(e^−u) δq) exp(η) beyond q ⊕ u, with
η the displacement that δu makes alone. By the formula of Baker, Campbell and Hausdorff, and since the curve exp(u + s δu) has
the body velocity J_r(u + s δu) δu [Bar17]::

    Ad(e^−u) δq + J_r δu + ½ [Ad(e^−u) δq, J_r δu] + ½ D J_r[δu] δu        to the second order

The velocity of u is J_r(u)⁻¹ v. Where joints have one number all of this is linear, and its second derivatives are 0.
"""

from __future__ import annotations

from functools import lru_cache

from torsor.arrays import concat, dot, identity, matmul, matvec, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array
from torsor.compiler.differentiate import Wanted, derivatives
from torsor.compiler.graph import Program
from torsor.compiler.simplify import Level
from torsor.compiler.trace import inline, trace
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.linearisation.step_derivatives import increment_jacobian, joint_by_joint, transport
from torsor.model import Robot

TWIST = (6,)


def of_moved(robot: Robot, u: Array, du: Array, weights: Array) -> Array:
    """Of q ⊕ u by z (k, k), where q changes by the first numbers of z, and u by ``du`` (n, k); ``weights`` (n,)."""
    n, k = du.shape[-2:]
    if robot.structure.has_plain_velocities:
        return zeros(k, k)
    none = zeros(n, n)
    bracket = joint_by_joint(robot, none, _bracket, weights)
    by_q = 0.5 * matmul(transpose(transport(robot, u)), matmul(bracket, matmul(increment_jacobian(robot, u), du)))
    one = concat([by_q, zeros(k - n, k)], axis=-2)
    own = joint_by_joint(robot, none, _of_displacement, u, weights)
    return one + transpose(one) + matmul(transpose(du), matmul(0.5 * (own + transpose(own)), du))


def of_rate(robot: Robot, u: Array, v: Array, du: Array, dv: Array, weights: Array) -> Array:
    """Of J_r(u)⁻¹ v by z (k, k), where u and v change by ``du`` and ``dv`` (n, k); ``weights`` (n,)."""
    n, k = du.shape[-2:]
    if robot.structure.has_plain_velocities:
        return zeros(k, k)
    none = zeros(n, n)
    by_u, by_v = (joint_by_joint(robot, none, form, u, v, weights) for form in (_of_rate_by_u, _of_rate_by_v))
    mixed = matmul(transpose(du), matmul(by_v, dv))
    return matmul(transpose(du), matmul(by_u, du)) + mixed + transpose(mixed)


def _bracket(W: Array) -> Array:
    """The form x, y → W · [x, y] of twists (6, 6)."""
    return stack_vectors([matvec(transpose(lie.ad(x)), W) for x in identity(6)])


def _of_displacement(U: Array, W: Array) -> Array:
    return inline(_displacement(), {"U": U, "W": W})["form"]


def _of_rate_by_u(U: Array, V: Array, W: Array) -> Array:
    return inline(_rate("U"), {"U": U, "V": V, "W": W})["form"]


def _of_rate_by_v(U: Array, V: Array, W: Array) -> Array:
    return inline(_rate("V"), {"U": U, "V": V, "W": W})["form"]


@lru_cache(maxsize=1)
def _displacement() -> Program:
    """The program of ∂(J_r(U)ᵀ W)/∂U, with J_r the right Jacobian of the exponential."""
    program = trace(
        lambda U, W: {"x": matvec(transpose(se3.right_jacobian(U)), W)}, {"U": TWIST, "W": TWIST}, Level.FULL
    )
    return derivatives(program, Wanted(("x",), ("U",))).renamed(["form"])


@lru_cache(maxsize=2)
def _rate(by: str) -> Program:
    """∂²(W · J_r(U)⁻¹ V)/∂U∂U, or ∂²/∂U∂V."""

    def rate(U: Array, V: Array, W: Array) -> dict[str, Array]:
        return {"x": dot(W, matvec(se3.right_jacobian_inverse(U), V))}

    program = trace(rate, {"U": TWIST, "V": TWIST, "W": TWIST}, Level.FULL)
    slope = derivatives(program, Wanted(("x",), ("U",))).renamed(["slope"])
    return derivatives(slope, Wanted(("slope",), (by,))).renamed(["form"])
