"""Public functions of forces, energy and momentum: the algorithms of `mechanics.dynamics` and `mechanics.momentum`."""

from __future__ import annotations

import numpy as np

from torsor.border import checked
from torsor.functions import singular_mass_matrix
from torsor.functions.describe import Algorithm, Derivatives, Rivals
from torsor.functions.dispatch import public
from torsor.mechanics.dynamics import (
    articulated_body,
    coriolis_matrix as coriolis,
    energy,
    forward_dynamics as forward,
    friction,
    inverse_dynamics as inverse,
    mass_matrix as mass,
    springs,
    wrench_forces,
)
from torsor.mechanics.momentum import centre_of_mass_motion as centre, spatial_momentum_matrix as momentum
from torsor.mechanics.recursions.revolute_chain import is_revolute_chain
from torsor.mechanics.regressors import energy_and_momentum_regressors as energies, torque_regressors as torques
from torsor.model import Robot
from torsor.model.aligned import aligned

LOOPED = 16  # joints in a row, from which on inverse dynamics in loops is faster, with a sixth more operations
LONG = 4  # joints that carry a link, on average, from which on the mass matrix in root axes is tried: eight in a row
CHAIN = 10  # joints of one freedom in a row, from which on it is surely the shorter one where half of them are skew
# Mean `_depth` up to which the factorised road is surely the shorter, and from which on articulated bodies are: where all joints
# have one freedom, and elsewhere. Between them, as for an arm of twelve joints or a quadruped, both are tried.
SINGLE, ANY = (5.0, 8.0), (0.0, 9.0)


def _forward_algorithms(robot: Robot) -> list[Algorithm]:
    """Both algorithms for the acceleration where both are sound; refuses a robot with a joint that moves nothing."""
    singular_mass_matrix.refuse_idle_joints(robot)
    return forward.sound_algorithms(robot)


def _likely_forward_algorithms(robot: Robot) -> list[Algorithm]:
    """Those of the two that may be the shorter one by five percent or more, as the depth of the robot tells."""
    sound, depth = _forward_algorithms(robot), _depth(robot)
    shallow, deep = SINGLE if _has_single_freedoms(robot) else ANY
    if len(sound) == 1 or shallow < depth < deep:
        return sound
    return [articulated_body.articulated_body_acceleration if depth >= deep else forward.factorised_acceleration]


def _depth(robot: Robot) -> float:
    """Freedoms from the base to a freedom and with it, the mean of all: 4 for an arm of seven joints."""
    s, total = robot.structure, 0
    freedoms = [s.kind_of(i).nv for i in range(robot.n)]
    for i, own in enumerate(freedoms):
        total += own * sum(freedoms[j] for j in s.path_to_base(i)[1:]) + own * (own + 1) // 2
    return total / max(1, sum(freedoms))


def _has_single_freedoms(robot: Robot) -> bool:
    return all(robot.structure.kind_of(i).nv == 1 for i in range(robot.n))


def _either(*algorithms: Algorithm) -> Rivals:
    """All of the algorithms, for every robot; the one with the fewest operations is compiled."""
    return lambda robot: algorithms


def _mass_matrix_algorithms(robot: Robot) -> list[Algorithm]:
    """From joint to joint; where many joints carry a link, first the one that is shorter for a chain, so that a much longer
    one is given up soon.
    """
    carried_by = sum(len(robot.structure.path_to_base(i)) for i in range(robot.n))
    long: list[Algorithm] = [mass.mass_matrix_by_root_axes] if carried_by >= LONG * robot.n else []
    return [*long, mass.mass_matrix]


def _likely_mass_matrix_algorithms(robot: Robot) -> list[Algorithm]:
    """For long chains whose joints are mostly skew to each other, the one in root axes; else both.

    From joint to joint, turns by quarters cost nothing: a chain with many of them may be twice as short that way.
    """
    is_chain = robot.structure.parents == tuple(range(-1, robot.n - 1)) and _has_single_freedoms(robot)
    if not is_chain or robot.n < CHAIN or _skew(robot) < 0.5:
        return _mass_matrix_algorithms(robot)
    return [mass.mass_matrix_by_root_axes]


def _skew(robot: Robot) -> float:
    """The share of joints that are not turned by quarters against the one before."""
    turns = np.asarray(aligned(robot).parameters.poses)[:, :3, :3]
    return np.count_nonzero(~np.all((turns == 0) | (abs(turns) == 1), axis=(1, 2))) / robot.n


def _inverse_algorithms(robot: Robot) -> list[Algorithm]:
    """By twists and by vectors; for chains of revolute joints also in loops."""
    looped = [inverse.looped_inverse_dynamics] if is_revolute_chain(robot) else []
    return [inverse.vector_inverse_dynamics, inverse.inverse_dynamics, *looped]


def _likely_inverse_algorithms(robot: Robot) -> list[Algorithm]:
    """By vectors; in loops for long chains whose joints are skew to each other, where code for each link is no shorter."""
    is_long = robot.n >= LOOPED and is_revolute_chain(robot) and _skew(robot) >= 0.9
    return [inverse.looped_inverse_dynamics if is_long else inverse.vector_inverse_dynamics]


def with_inverse(algorithm: Algorithm) -> Rivals:
    """The algorithm alone, for robots whose mass matrix has an inverse."""
    what = algorithm.__name__.replace("_", " ")

    def alone(robot: Robot) -> list[Algorithm]:
        singular_mass_matrix.refuse_idle_joints(robot, what, "the inverse of its mass matrix is")
        return [algorithm]

    return alone


inverse_dynamics = public(
    inverse.inverse_dynamics,
    "tau",
    joint_space=True,
    rivals=_inverse_algorithms,
    likely=_likely_inverse_algorithms,
    derivatives=Derivatives("inverse_dynamics_derivatives", ("q", "v", "a")),
    loops=lambda robot: inverse.looped_inverse_dynamics if is_revolute_chain(robot) else None,
)
joint_wrenches = public(inverse.joint_wrenches, "F")
forward_dynamics = public(
    forward.forward_dynamics,
    "a",
    joint_space=True,
    rivals=_forward_algorithms,
    likely=_likely_forward_algorithms,
    derivatives=Derivatives("forward_dynamics_derivatives", ("q", "v", "tau")),
)
mass_matrix = public(
    mass.mass_matrix, "M", joint_space=True, rivals=_mass_matrix_algorithms, likely=_likely_mass_matrix_algorithms
)
inverse_mass_matrix = public(
    mass.inverse_mass_matrix, "M_inverse", joint_space=True, rivals=with_inverse(mass.inverse_mass_matrix)
)
mass_matrix_rate = public(mass.mass_matrix_rate, "M_rate", joint_space=True)
coriolis_matrix = public(coriolis.coriolis_matrix, "C", joint_space=True)
coriolis_forces = public(
    inverse.coriolis_forces,
    "tau",
    joint_space=True,
    rivals=_either(inverse.vector_coriolis_forces, inverse.coriolis_forces),
)
gravity_forces = public(
    inverse.gravity_forces,
    "tau",
    joint_space=True,
    rivals=_either(inverse.vector_gravity_forces, inverse.gravity_forces),
)
bias_forces = public(
    inverse.bias_forces,
    "tau",
    joint_space=True,
    rivals=_either(inverse.vector_bias_forces, inverse.bias_forces),
)
body_wrench_forces = public(wrench_forces.body_wrench_forces, "tau", joint_space=True)
mixed_wrench_forces = public(wrench_forces.mixed_wrench_forces, "tau", joint_space=True)
friction_forces = public(friction.friction_forces, "tau")
spring_forces = public(springs.spring_forces, "tau")
kinetic_energy = public(energy.kinetic_energy, "energy", joint_space=True)
potential_energy = public(energy.potential_energy, "energy", joint_space=True)
generalised_momentum = public(energy.generalised_momentum, "p", joint_space=True)
spatial_momentum = public(energy.spatial_momentum, "P", joint_space=True)
spatial_momentum_matrix = public(momentum.spatial_momentum_matrix, "A", joint_space=True)
centroidal_momentum = public(momentum.centroidal_momentum, "h", joint_space=True)
centroidal_momentum_matrix = public(momentum.centroidal_momentum_matrix, "A", joint_space=True)
centre_of_mass = public(energy.centre_of_mass, "c", joint_space=True)
centre_of_mass_velocity = public(centre.centre_of_mass_velocity, "c_rate", joint_space=True)
centre_of_mass_acceleration = public(centre.centre_of_mass_acceleration, "c_acceleration", joint_space=True)
centre_of_mass_jacobian = public(centre.centre_of_mass_jacobian, "J", joint_space=True)
centre_of_mass_jacobian_rate = public(centre.centre_of_mass_jacobian_rate, "J_rate", joint_space=True)
mass_matrix_report = checked(singular_mass_matrix.mass_matrix_report)


torque_regressor = public(torques.torque_regressor, "Y")
reference_regressor = public(torques.reference_regressor, "Y")
joint_regressor = public(torques.joint_regressor, "Y")
generalised_momentum_regressor = public(energies.generalised_momentum_regressor, "Y")
spatial_momentum_regressor = public(energies.spatial_momentum_regressor, "Y")
kinetic_energy_regressor = public(energies.kinetic_energy_regressor, "Y")
potential_energy_regressor = public(energies.potential_energy_regressor, "Y")
