"""A rigid body in coordinates of the second kind, T = e^{A_1 x_1} e^{A_2 x_2} ⋯ e^{A_k x_k} [BSP93, §3.2].

With six screws these are coordinates of SE(3) (Euler angles and a translation, for instance); with any screws A (k, 6)
of lengths in m and angles in rad, x is (..., k). ``G`` (10,) is the body's inertia row about the last frame.
"""

from __future__ import annotations

from torsor.arrays import dot, identity, matmul, matvec, stack, stack_matrices, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array, Coordinates, InertiaRow, Pose, Screws, Twist
from torsor.border import checked
from torsor.border.rigid_motions import one_for_each
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3


@checked
def pose(screws: Screws, x: Coordinates) -> Pose:
    """Pose T_0p = e^{A_1 x_1} ⋯ e^{A_k x_k} [BSP93, §3.2].

    Parameters
    ----------
    screws : (k, 6) array
        The screws A_i, lengths in m.
    x : (..., k) array
        Coordinates, rad, m.

    Returns
    -------
    (..., 4, 4) array
        Pose, m.
    """
    one_for_each(screws, x=x)
    T = identity(4)
    for i in range(len(screws)):
        T = matmul(T, se3.exp(screws[i] * x[..., i, None]))
    return T


@checked
def columns(screws: Screws, x: Coordinates) -> Screws:
    """Columns Ad(T_ki) A_i with T_ik = e^{A_i x_i} ⋯ e^{A_k x_k} and T_ki = T_ik⁻¹ [BSP93, §3.2, E000-4].

    Parameters
    ----------
    screws : (k, 6) array
        The screws A_i, lengths in m.
    x : (..., k) array
        Coordinates, rad, m.

    Returns
    -------
    (..., k, 6) array
        One twist for each coordinate, rad, m.
    """
    one_for_each(screws, x=x)
    T, result = identity(4), []
    for i in range(len(screws) - 1, -1, -1):
        T = matmul(se3.exp(screws[i] * x[..., i, None]), T)
        result.append(lie.transform_twist_inverse(T, screws[i]))
    return stack_vectors(result[::-1])


@checked
def twist(screws: Screws, x: Coordinates, x_dot: Coordinates) -> Twist:
    """Body twist V_p = Σ Ad(T_ki) A_i ẋ_i [BSP93, §3.2].

    Parameters
    ----------
    screws : (k, 6) array
        The screws A_i, lengths in m.
    x : (..., k) array
        Coordinates, rad, m.
    x_dot : (..., k) array
        Their rates, rad/s, m/s.

    Returns
    -------
    (..., 6) array
        Twist, rad/s, m/s.
    """
    one_for_each(screws, x=x, x_dot=x_dot)
    return matvec(transpose(columns(screws, x)), x_dot)


@checked
def twist_rate(screws: Screws, x: Coordinates, x_dot: Coordinates, x_ddot: Coordinates) -> Twist:
    """Rate V̇_p = Σ_i Ad A_i ẍ_i + Σ_{i<j} [Ad A_i, Ad A_j] ẋ_i ẋ_j of the body twist [BSP93, §3.2].

    Parameters
    ----------
    screws : (k, 6) array
        The screws A_i, lengths in m.
    x : (..., k) array
        Coordinates, rad, m.
    x_dot : (..., k) array
        Their rates, rad/s, m/s.
    x_ddot : (..., k) array
        Rates of these, rad/s², m/s².

    Returns
    -------
    (..., 6) array
        Rate of the twist, rad/s², m/s².
    """
    one_for_each(screws, x=x, x_dot=x_dot, x_ddot=x_ddot)
    C = columns(screws, x)
    total = matvec(transpose(C), x_ddot)
    so_far = zeros(6)
    for j in range(len(screws)):
        own = C[..., j, :] * x_dot[..., j, None]
        total = total + lie.bracket(so_far, own)
        so_far = so_far + own
    return total


@checked
def metric(screws: Screws, x: Coordinates, G: InertiaRow) -> Array:
    """Metric g_ki = ⟨Ad A_i, Ad A_k⟩ of the kinetic energy in these coordinates [BSP93, §3.2].

    Parameters
    ----------
    screws : (k, 6) array
        The screws A_i, lengths in m.
    x : (..., k) array
        Coordinates, rad, m.
    G : (10,) array
        Inertia row of the body about the last frame, kg, m.

    Returns
    -------
    (..., k, k) array
        In kg·m², kg·m or kg.
    """
    one_for_each(screws, x=x)
    C = columns(screws, x)
    return matmul(C, transpose(lie.apply_inertia(G, C)))


@checked
def christoffel(screws: Screws, x: Coordinates, G: InertiaRow) -> Array:
    """Christoffel symbols γ_ijk, lowered index last, of the metric g, by brackets [BSP93, §3.2, E000-5].

    γ_ijk = ½ (⟨[C_k, C_j], C_i⟩ + ⟨[C_k, C_i], C_j⟩ + ⟨[C_n, C_m], C_k⟩), n = min(i, j), m = max(i, j), C_i = Ad A_i. A body left
    alone moves by Σ g_ki ẍ_i + Σ γ_ijk ẋ_i ẋ_j = 0.

    Parameters
    ----------
    screws : (k, 6) array
        The screws A_i, lengths in m.
    x : (..., k) array
        Coordinates, rad, m.
    G : (10,) array
        Inertia row of the body about the last frame, kg, m.

    Returns
    -------
    (..., k, k, k) array
        In kg·m², kg·m or kg.
    """
    one_for_each(screws, x=x)
    C = columns(screws, x)
    momenta = lie.apply_inertia(G, C)
    count = len(screws)

    def term(a: int, b: int, c: int) -> Array:
        return dot(lie.bracket(C[..., a, :], C[..., b, :]), momenta[..., c, :])

    def entry(i: int, j: int, k: int) -> Array:
        return 0.5 * (term(k, j, i) + term(k, i, j) + term(min(i, j), max(i, j), k))

    pages = [stack_vectors([stack([entry(i, j, k) for k in range(count)]) for j in range(count)]) for i in range(count)]
    return stack_matrices(pages)
