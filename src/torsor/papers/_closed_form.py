"""The equations of motion in closed form, as products of matrices one can look at [PBP95, §4.1, §4.4; LP, §9.4]."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from torsor.arrays import concat, identity, matmul, matvec, stack_matrices, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Wrench
from torsor.border import checked
from torsor.border.arrays import prepare, spread
from torsor.errors import ShapeError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches, wrenches_on_links
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.model import Robot
from torsor.papers import stacked_form
from torsor.papers.stacked_form import Stack, StackedBase, StackedColumns, StackedSquare

P = ParamSpec("P")
R = TypeVar("R")


def _of_the_state(method: Callable[P, R]) -> Callable[P, R]:
    """A method of `ClosedForm` whose arguments are checked as at every border, and against the states of the form."""

    @functools.wraps(method)
    def border(*args: P.args, **kwargs: P.kwargs) -> R:
        values, batch = prepare(method, args, kwargs)
        own: tuple[int, ...] = values["self"].batch
        if any(a != b and 1 not in (a, b) for a, b in zip(batch[::-1], own[::-1], strict=False)):
            raise ShapeError(
                f"{method.__name__}: the arguments have batch axes {batch}, the q of this closed form {own}, and these do not "
                "broadcast. Pass as many states as there are in q, or one."
            )
        return method(**values)  # type: ignore[call-arg]

    return border


@dataclass(frozen=True, eq=False, repr=False)
class ClosedForm:
    """M(q) a + c(q, v) + g(q) = τ − Σ JᵀF as products of block matrices; `closed_form` makes it [PBP95, §4; LP, §9.4].

    One block row per link; M = SᵀGᵀJGS = AᵀLᵀDLA in [PBP95], AᵀLᵀGLA in [LP], to which `mass_matrix` adds the armature. The
    sources give the same letter to different matrices, so here they have names (shapes with n links; SI units: kg, m, rad)::

        name                shape             letter, equation                    blocks
        link_screws         (6n, nv)          S, PBP95 (47); A, LP (9.64)         S_i in frame i
        link_propagation    (..., 6n, 6n)     G, PBP95 (49); L, LP (9.76)         Ad(T_ij) if link j supports link i
        link_inertia        (6n, 6n)          J, PBP95 (48); G, LP (9.65)         G_i about frame i
        space_screws        (6n, nv)          A, PBP95 (41)                       A_i = Ad(M_i) S_i
        space_propagation   (..., 6n, 6n)     L, PBP95 (43)                       Ad_i^{j+1} if link j supports link i
        space_inertia       (6n, 6n)          D, PBP95 (45)                       D_i (44), about the inertial frame at home
        home_adjoints       (6n, 6n)          Q, PBP95 (50), E001-6               Ad(M_i), M_i the home pose in the base frame
        parent_propagation  (..., 6n, 6n)     Γ, LP (9.68)                        Ad(T_ip) of link i and its parent p
        base_propagation    (..., 6n, 6)      V_base = B V_0, LP (9.69)           Ad(T_i0) of the links mounted on the base

    Only the propagations depend on q. Home is `Robot.neutral`. The book's link frames are at the centres of mass; here
    they are the robot's own. Joints with k degrees of freedom have k columns of screws; joints that share a coordinate
    (mimic) have their screws in the same column. ``print(form)`` draws the blocks.
    """

    robot: Robot
    q: ConfigurationVector
    link_screws: StackedColumns
    link_propagation: StackedSquare
    link_inertia: StackedSquare
    space_screws: StackedColumns
    space_propagation: StackedSquare
    space_inertia: StackedSquare
    home_adjoints: StackedSquare
    parent_propagation: StackedSquare
    base_propagation: StackedBase

    # The kinetic energy as a metric

    @property
    def link_jacobian(self) -> StackedColumns:
        """G S (..., 6n, nv), rad and m per unit of v: body Jacobians of all links, V = G S v [PBP95, (47), (49); LP, (9.61)]."""
        return matmul(self.link_propagation, self.link_screws)

    @property
    def pullback_jacobian(self) -> StackedColumns:
        """J = L A (..., 6n, nv), rad and m per unit of v: the map f to SE(3)ⁿ pulls D back to M = JᵀDJ [PBP95, (65), E001-12].

        Block row i times v is the twist of link i in the frame fixed to it that is the inertial frame at home, (ω_i, v_i)
        of (38) [PBP95, E001-5]: Ad(M_i) times that of `link_jacobian`.
        """
        return matmul(self.space_propagation, self.space_screws)

    @property
    def armature(self) -> JointVector:
        """Inertia of the drives (nv,), kg·m² or kg, which the papers do not have: M is (46) plus diag(armature) [PBP95, (46)]."""
        return self.robot.parameters.armature

    @property
    def mass_matrix(self) -> JointMatrix:
        """M = SᵀGᵀJGS + diag(armature) (..., nv, nv), kg·m², kg·m or kg [PBP95, (46), (51); LP, (9.82)]."""
        J = self.link_jacobian
        return matmul(transpose(J), matmul(self.link_inertia, J)) + identity(self.nv) * self.armature

    # Motion of the links, stacked

    @_of_the_state
    def base_velocity(self, *, base_motion: BaseMotion | None = None) -> Stack:
        """V_base = (Ad(T_10) V_0, 0, …) (..., 6n), rad/s, m/s; zero if the base is at rest [LP, (9.69)].

        ``base_motion``: twist V_0 and acceleration of the base, (..., 6) each, in base axes.
        """
        return zeros(6 * self.n) if base_motion is None else matvec(self.base_propagation, base_motion[0])

    @_of_the_state
    def base_acceleration(self, *, base_motion: BaseMotion | None = None) -> Stack:
        """V̇_base = (Ad(T_10) V̇_0, 0, …) (..., 6n), rad/s², m/s², of V̇_0 less gravity: (0, −g) at rest [LP, (9.70), E002-7].

        ``base_motion``: twist and acceleration of the base, (..., 6) each, in base axes, gravity not included.
        """
        lift = concat([zeros(3), -self.robot.parameters.gravity])
        return matvec(self.base_propagation, lift if base_motion is None else base_motion[1] + lift)

    @_of_the_state
    def velocities(self, v: JointVector, *, base_motion: BaseMotion | None = None) -> Stack:
        """V = L (A v + V_base), the twists of all links (..., 6n), rad/s, m/s [LP, (9.62), (9.72), (9.77)].

        ``v`` (..., nv), rad/s or m/s; ``base_motion``: twist and acceleration of the base, (..., 6) each.
        """
        A, L = self.link_screws, self.link_propagation
        return matvec(L, matvec(A, v) + self.base_velocity(base_motion=base_motion))

    @_of_the_state
    def accelerations(self, v: JointVector, a: JointVector, *, base_motion: BaseMotion | None = None) -> Stack:
        """V̇ = L (A a − [ad_Av](Γ V + V_base) + V̇_base) (..., 6n), rad/s², m/s² [LP, (9.73), (9.78), E002-8].

        Gravity is in V̇_base, as in the book: these are accelerations less gravity, not `body_acceleration`.
        ``v``, ``a`` (..., nv), rad, m, s; ``base_motion``: twist and acceleration of the base, (..., 6) each.
        """
        A, L, Gamma = self.link_screws, self.link_propagation, self.parent_propagation
        V, V_base = self.velocities(v, base_motion=base_motion), self.base_velocity(base_motion=base_motion)
        turning = matvec(self.joint_brackets(v), matvec(Gamma, V) + V_base)
        return matvec(L, matvec(A, a) - turning + self.base_acceleration(base_motion=base_motion))

    @_of_the_state
    def twist_brackets(self, v: JointVector, *, base_motion: BaseMotion | None = None) -> StackedSquare:
        """[ad_V] = Diag[ad(V_1), …, ad(V_n)] (..., 6n, 6n), rad/s, m/s [LP, (9.66)]. ``v`` (..., nv), rad/s or m/s."""
        return stacked_form.brackets(self.velocities(v, base_motion=base_motion))

    @_of_the_state
    def joint_brackets(self, v: JointVector) -> StackedSquare:
        """[ad_Av] = Diag[ad(A_1 v_1), …, ad(A_n v_n)] (..., 6n, 6n), rad/s, m/s [LP, (9.67)]. ``v`` (..., nv), rad/s or m/s."""
        return stacked_form.brackets(matvec(self.link_screws, v))

    # Forces

    @_of_the_state
    def wrenches_on_environment(
        self, *, wrenches: Wrenches | None = None, F_tip: Wrench | None = None, frame: str = "tip"
    ) -> Stack:
        """What the links do to the environment (..., 6n), N·m, N: the stacked F_tip, each in its link's frame [LP, (9.71)].

        ``wrenches``: frame name → (..., 6), what the environment does *to the robot*, as everywhere in torsor. ``F_tip``
        (..., 6): the book's wrench, which the tip exerts on the environment [LP, E002-10], in the axes of ``frame``.
        """
        to_robot = wrenches_on_links(self.robot, wrenches)
        by_tip: dict[int, Wrench] = {} if F_tip is None else wrenches_on_links(self.robot, {frame: F_tip})
        stack: list[Wrench] = [by_tip[i] if i in by_tip else zeros(6) for i in range(self.n)]
        return concat([F - to_robot[i] if i in to_robot else F for i, F in enumerate(stack)])

    @_of_the_state
    def wrenches(
        self,
        v: JointVector,
        a: JointVector,
        *,
        wrenches: Wrenches | None = None,
        F_tip: Wrench | None = None,
        frame: str = "tip",
        base_motion: BaseMotion | None = None,
    ) -> Stack:
        """F = Lᵀ (G V̇ − [ad_V]ᵀ G V + F_tip), through the joints to the links (..., 6n), N·m, N [LP, (9.63), (9.74), (9.79)].

        ``v``, ``a`` (..., nv), rad, m, s; ``wrenches``, ``F_tip`` and ``frame`` as in `wrenches_on_environment`;
        ``base_motion``: twist and acceleration of the base, (..., 6) each. The same as `torsor.dynamics.joint_wrenches`, stacked.
        """
        L, G = self.link_propagation, self.link_inertia
        V, V_dot = self.velocities(v, base_motion=base_motion), self.accelerations(v, a, base_motion=base_motion)
        ad_V = stacked_form.brackets(V)
        needed = matvec(G, V_dot) - matvec(transpose(ad_V), matvec(G, V))
        return matvec(transpose(L), needed + self.wrenches_on_environment(wrenches=wrenches, F_tip=F_tip, frame=frame))

    @_of_the_state
    def inverse_dynamics(
        self,
        v: JointVector,
        a: JointVector,
        *,
        wrenches: Wrenches | None = None,
        F_tip: Wrench | None = None,
        frame: str = "tip",
        base_motion: BaseMotion | None = None,
    ) -> JointVector:
        """τ = AᵀF + armature · a = M a + c + g − Σ JᵀF (..., nv), N·m or N, no friction or springs [LP, (9.75), (9.80), (9.81)].

        `torsor.inverse_dynamics` less `torsor.friction_forces` and `torsor.spring_forces`.
        ``v``, ``a`` (..., nv), rad, m, s; ``wrenches``: frame name →
        (..., 6), N·m, N, what the environment does to the robot; ``F_tip`` (..., 6): what ``frame`` does to the environment,
        the book's sign [LP, E002-10]; ``base_motion``: twist and acceleration of the base, (..., 6) each.
        """
        F = self.wrenches(v, a, wrenches=wrenches, F_tip=F_tip, frame=frame, base_motion=base_motion)
        return matvec(transpose(self.link_screws), F) + self.armature * a

    @_of_the_state
    def coriolis_forces(self, v: JointVector) -> JointVector:
        """c = −AᵀLᵀ (G L [ad_Av] Γ + [ad_V]ᵀ G) L A v (..., nv), N·m or N [LP, (9.83), E002-9].

        What stands before the last v is a matrix C with C v = c, but Ṁ − 2C is not skew for it, as it is for that of (9.87),
        `torsor.coriolis_matrix`. ``v`` (..., nv), rad/s or m/s.
        """
        A, G, L, Gamma = self.link_screws, self.link_inertia, self.link_propagation, self.parent_propagation
        V = matvec(L, matvec(A, v))
        turning = matvec(G, matvec(L, matvec(self.joint_brackets(v), matvec(Gamma, V))))
        swept = matvec(transpose(stacked_form.brackets(V)), matvec(G, V))
        return -matvec(transpose(A), matvec(transpose(L), turning + swept))

    @property
    def gravity_forces(self) -> JointVector:
        """g = AᵀLᵀGL V̇_base (..., nv), N·m or N, with V̇_base of the base at rest [LP, (9.84), E002-7; PBP95, (59), E001-8]."""
        A, G, L = self.link_screws, self.link_inertia, self.link_propagation
        V_dot = matvec(L, self.base_acceleration())
        return matvec(transpose(A), matvec(transpose(L), matvec(G, V_dot)))

    # What it is

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.robot.name

    @property
    def n(self) -> int:
        """Number of moving links."""
        return self.robot.n

    @property
    def nq(self) -> int:
        """Numbers in a configuration q."""
        return self.robot.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom: numbers in v, a and tau."""
        return self.robot.nv

    @property
    def batch(self) -> tuple[int, ...]:
        """Batch axes of the q it was made for."""
        return tuple(self.q.shape[:-1])

    def factors(self) -> dict[str, Array]:
        """The nine matrices by name (shapes in the class's table): what `torsor.compile` and `jax.jit` functions can return."""
        return {name: getattr(self, name) for group in stacked_form.MATRICES for name in group}

    def describe(self) -> str:
        """The block structure as text: for every matrix its shape, its letters, and which blocks are zero, 1 or full."""
        title = f"Closed form of {self.name!r} (n = {self.n}, nv = {self.nv}), batch {self.batch}"
        shapes = {name: tuple(matrix.shape) for name, matrix in self.factors().items()}
        return "\n".join([title, *stacked_form.drawing(self.robot.structure, shapes)])

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"ClosedForm(robot={self.name!r}, n={self.n}, nv={self.nv}, batch={self.batch})"


@checked
def closed_form(robot: Robot, q: ConfigurationVector) -> ClosedForm:
    """Factors of the equations of motion at q, inertial and link-frame [PBP95, (41)–(51), E001-6; LP, (9.62)–(9.84)].

    For reading, teaching and checking: the matrices are 6n × 6n, where the recursions of `torsor.mass_matrix` and
    `torsor.inverse_dynamics` are O(n).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    ClosedForm
        Its arrays are (..., 6n, 6n) if they depend on q, and (6n, 6n) or (6n, nv) if they do not; kg, m, rad.
    """
    n, batch, links = robot.n, q.shape[:-1], range(robot.n)
    T = stacked_form.relative_poses(robot, joint_poses(robot, q))
    home = poses_in_base(robot, robot.neutral)
    carried = {(i, j): matmul(matmul(home[i], T_ij), se3.inverse(home[j])) for (i, j), T_ij in T.items() if j >= 0}
    Ad_T, ones = stacked_form.adjoints(T), {(i, i): identity(6) for i in links}
    screws, inertias = [joint_screws(robot, i) for i in links], robot.parameters.inertias
    from_parents = {pair: Ad_T[pair] for pair in stacked_form.parent_pairs(robot.structure)}
    homes = stack_matrices(home)
    return ClosedForm(
        robot=robot,
        q=q,
        link_screws=stacked_form.screw_columns(robot, screws),
        link_propagation=spread(stacked_form.square(Ad_T | ones, n), batch, 2),
        link_inertia=stacked_form.diagonal(lie.inertia_matrix(inertias)),
        space_screws=stacked_form.screw_columns(
            robot, [lie.transform_twist(rows(M), S) for M, S in zip(home, screws, strict=True)]
        ),
        space_propagation=spread(stacked_form.square(stacked_form.adjoints(carried) | ones, n), batch, 2),
        space_inertia=stacked_form.diagonal(lie.inertia_matrix(lie.transform_inertia(homes, inertias))),
        home_adjoints=stacked_form.diagonal(lie.Ad(homes)),
        parent_propagation=spread(stacked_form.square(from_parents, n), batch, 2),
        base_propagation=spread(stacked_form.base_column(Ad_T, n), batch, 2),
    )
