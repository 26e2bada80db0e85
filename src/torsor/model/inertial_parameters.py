"""The parameters that joint forces, energies and momenta are linear in, as one vector with a name for each number."""

from __future__ import annotations

from torsor.arrays import concat, reshape
from torsor.arrays.typing import InertialVector, JointParameterVector
from torsor.border import explained
from torsor.model.inertia import TEN_NUMBERS
from torsor.model.robot import Robot

OF_JOINT = ("armature", "viscous friction", "Coulomb friction")


@explained
def inertial_parameters(robot: Robot) -> InertialVector:
    """π (10 n,): m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link frame of every moving link [AAH86; PBP95, (21)].

    kg, kg·m, kg·m²; links in the order of ``robot.links``. `Robot.with_inertial_parameters` is the way back.
    """
    return reshape(robot.parameters.inertias, 2, robot.n_inertial_parameters)


@explained
def inertial_parameter_names(robot: Robot) -> tuple[str, ...]:
    """The names of the 10 n numbers in π, and of the columns of regressors: "link_3 m", "link_3 m c_x", …, "link_3 Izz"."""
    return tuple(f"{link} {what}" for link in robot.links for what in TEN_NUMBERS)


@explained
def joint_parameters(robot: Robot) -> JointParameterVector:
    """Armature, viscous and Coulomb friction (3 nv,), what `joint_regressor` is to be multiplied with; kg, m, rad, s."""
    p = robot.parameters
    return concat([p.armature, p.viscous_friction, p.coulomb_friction])


@explained
def joint_parameter_names(robot: Robot) -> tuple[str, ...]:
    """The names of the 3 nv columns of `joint_regressor`: "joint_1 armature", …; "ball[0] armature" if it has several."""
    return tuple(f"{freedom} {what}" for what in OF_JOINT for freedom in robot.structure.freedoms)
