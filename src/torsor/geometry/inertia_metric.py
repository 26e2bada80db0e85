"""Screws and inertias of a robot at one configuration, and the products of pairs of them that derivatives are made of.

All quantities are written in the frame of the root link, taken at rest: the mass matrix and its derivatives do not depend
on where that is. Freedom k moves everything at and beyond its joint with the twist J_k, so that there [BSP93, §4; PBP95, (53)]::

    ∂_k J_b = [J_k, J_b],     ∂_k G = −ad(J_k)ᵀ G − G ad(J_k),     ∂_k F = −ad(J_k)ᵀ F for a wrench F
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

from torsor.arrays import by_rows, concat, dot, identity, matmul, permute, stack_vectors, take, zeros
from torsor.arrays.typing import Array, ConfigurationVector, InertiaRow, JointMatrix, Pose, Screws
from torsor.geometry.freedoms import Pairs, Places, freedoms_of, gathering, matrix_places, pairs_of
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws
from torsor.model import Robot

MetricRows = Annotated[Array, "... * 16"]


class InertiaMetric(NamedTuple):
    """Screws J (..., f, 6) of all freedoms, and the inertia G (..., f, 10) of all links that each of them moves.

    ``scale`` is what all inertia is multiplied by: Γ = ½ (∂M + ∂M − ∂M) comes from half the metric without further products.
    """

    robot: Robot
    J: Screws
    G: Array
    scale: float

    @property
    def pairs(self) -> Pairs:
        """The pairs of freedoms that meet."""
        return pairs_of(self.robot.structure)

    def momenta(self) -> Array:
        """p_b = G_b J_b (..., f, 6), the momentum a unit of each velocity gives to all links it moves."""
        return lie.apply_inertia(self.G, self.J)

    def inertia_rates(self) -> Array:
        """Ġ_c (..., f, 10), the rate of the inertia that freedom c moves, per unit of its velocity."""
        return lie.inertia_rate(self.G, self.J)

    def turned_momenta(self) -> Array:
        """U_bc = ∂_b p_c = −ad(J_b)ᵀ p_c (..., K, 6) for all pairs."""
        return self._of_pairs(_turned_momentum, self.momenta())

    def rate_momenta(self) -> Array:
        """W_bc = Ġ_c J_b (..., K, 6) for all pairs."""
        return self._of_pairs(_rate_momentum, self.inertia_rates())

    def second_terms(self) -> tuple[Array, Array, Array]:
        """For all pairs [J_a, J_b] (..., K, 6); φ_ab (..., K, 10) with J_aᵀ G J_b = φ_ab · G; and ∂_a Ġ_b (..., K, 10)."""
        terms = self._of_pairs(_second_terms, concat([self.J, self.inertia_rates()]))
        return terms[..., :6], terms[..., 6:16], terms[..., 16:]

    def _of_pairs(self, function: Callable[[Screws, Array], Array], far: Array) -> Array:
        """A function of J_a, and of what b has, for all pairs (a, b)."""
        a, b, _ = self.pairs
        return by_rows(function, self.J[..., a, :], far[..., b, :])

    def mass_matrix(self) -> JointMatrix:
        """M_ab = J_aᵀ p_b for a reaching b [PBP95, (40)], and armature."""
        places = matrix_places(self.robot.structure)
        a, b = places.sorts[0]
        M = spread(self.robot, places, [dot(self.J[..., a, :], self.momenta()[..., b, :])])
        return M + identity(self.robot.nv) * (self.scale * self.robot.parameters.armature)


def _turned_momentum(J: Screws, p: Array) -> Array:
    return -lie.bracket_dual(J, p)


def _rate_momentum(J: Screws, rate: Array) -> Array:
    return lie.apply_inertia(rate, J)


def _second_terms(J: Screws, far: Array) -> Array:
    other, rate = far[..., :6], far[..., 6:]
    return concat([lie.bracket(J, other), lie.energy_row(J, other), lie.inertia_rate(rate, J)])


def metric_rows(robot: Robot, q: ConfigurationVector) -> MetricRows:
    """Of each freedom its screw and the inertia it moves, (..., f, 16), rad, kg, m: all that `InertiaMetric` needs."""
    metric = inertia_metric(robot, q)
    return concat([metric.J, metric.G])


def metric_from(robot: Robot, rows: MetricRows, scale: float = 1.0) -> InertiaMetric:
    """The metric of `metric_rows`."""
    return InertiaMetric(robot, rows[..., :6], rows[..., 6:] if scale == 1.0 else scale * rows[..., 6:], scale)


def inertia_metric(robot: Robot, q: ConfigurationVector, scale: float = 1.0) -> InertiaMetric:
    """Screws and moved inertias at q."""
    poses = joint_poses(robot, q)
    parents = robot.structure.parents
    J: list[Screws] = []
    G: list[InertiaRow] = []
    T_ri: list[Pose | None] = []  # pose in the root link's frame; None: the identity
    for i, p in enumerate(parents):
        S, own = joint_screws(robot, i), robot.parameters.inertias[i]
        if p < 0:
            T_ri.append(None)
        else:
            T = poses[i] if T_ri[p] is None else matmul(T_ri[p], poses[i])
            T_ri.append(T)
            S, own = lie.transform_twist(T[..., None, :, :], S), lie.transform_inertia(T, own)
        J.append(S)
        G.append(own if scale == 1.0 else scale * own)
    for i in range(robot.n - 1, -1, -1):
        if (p := parents[i]) >= 0:
            G[p] = G[p] + G[i]
    f = freedoms_of(robot.structure)
    screws = stack_vectors([J[i][..., row, :] for i, row in zip(f.joints, f.rows, strict=True)])
    return InertiaMetric(robot, screws, stack_vectors([G[i] for i in f.joints]), scale)


def spread(robot: Robot, places: Places, values: list[Array]) -> Array:
    """Values of each sort (..., K) as a tensor over nv: zero where there is none."""
    return gathered(robot, take(concat([zeros(1), *values]), places.index), places.index.ndim)


def gathered(robot: Robot, T: Array, rank: int) -> Array:
    """A tensor over freedoms as one over nv: added up where joints share coordinates."""
    E = gathering(robot.structure)
    if E is None:
        return T
    for _ in range(rank):  # contract the last axis and bring it to the front: after `rank` turns the order is the same
        T = permute(matmul(T, E), (rank - 1, *range(rank - 1)))
    return T
