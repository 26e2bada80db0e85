"""The factorisation of the mass matrix that Rodriguez gives, beside that of `closed_form` [PBP95, §4.1; RJK91].

Everything is in base axes, about the origins of the link frames. A twist then goes from link j to link i by the vector p_ij
from origin i to origin j alone::

    M = AᵀLᵀDLA,    L_ij = (1, 0; [p_ij], 1) if link j supports link i

Here L has no rotations, and all three factors depend on q: the screws A and the inertias D turn with their links. In
[PBP95, (46)] only L does.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import block, identity, matmul, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix
from torsor.border import checked
from torsor.border.arrays import spread
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3, so3
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.model import Robot
from torsor.papers import stacked_form
from torsor.papers.stacked_form import StackedColumns, StackedSquare


@in_one_line
class RodriguezForm(NamedTuple):
    """Factors of M = AᵀLᵀDLA + diag(armature) with L of vectors alone, in base axes [PBP95, §4.1; RJK91].

    Attributes
    ----------
    screws : (..., 6n, nv) array
        A: the joints' screws about the origins of their link frames.
    propagation : (..., 6n, 6n) array
        L: blocks (1, 0; [p_ij], 1), p_ij from the origin of link frame i to that of link frame j, m.
    inertia : (..., 6n, 6n) array
        D: spatial inertias about the origins of the link frames, kg, m.
    armature : (nv,) array
        What is added to the diagonal, kg·m² or kg.
    """

    screws: StackedColumns
    propagation: StackedSquare
    inertia: StackedSquare
    armature: Array

    @property
    def mass_matrix(self) -> JointMatrix:
        """M (..., nv, nv), kg·m², kg·m or kg."""
        J = matmul(self.propagation, self.screws)
        return matmul(transpose(J), matmul(self.inertia, J)) + self.armature * identity(self.armature.shape[-1])


@checked
def rodriguez_form(robot: Robot, q: ConfigurationVector) -> RodriguezForm:
    """Rodriguez' factorisation of the mass matrix at q, to be set beside `closed_form` [PBP95, §4.1; RJK91].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    RodriguezForm
        Its factors, one block row per link, and ``mass_matrix``.
    """
    n, batch, links = robot.n, q.shape[:-1], range(robot.n)
    T = poses_in_base(robot, q)
    turns = [se3.pose(se3.rotation(T_i), zeros(3)) for T_i in T]  # from link axes to base axes, about the same origin
    screws = [lie.transform_twist(rows(turn), joint_screws(robot, i)) for i, turn in enumerate(turns)]
    inertias = {
        (i, i): lie.inertia_matrix(lie.transform_inertia(turns[i], robot.parameters.inertias[i])) for i in links
    }
    one, none = identity(3), zeros(3, 3)
    L = {(i, i): identity(6) for i in links}
    for i, j in stacked_form.supporting_pairs(robot.structure):
        p_ij = se3.translation(T[j]) - se3.translation(T[i])
        L[i, j] = block([[one, none], [so3.hat(p_ij), one]])
    return RodriguezForm(
        spread(stacked_form.screw_columns(robot, screws), batch, 2),
        spread(stacked_form.square(L, n), batch, 2),
        spread(stacked_form.square(inertias, n), batch, 2),
        robot.parameters.armature,
    )
