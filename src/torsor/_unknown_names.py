"""What to say of a name that does not exist: where torsor has it, or what torsor calls what another library calls so."""

from __future__ import annotations

from difflib import get_close_matches

# Names of Pinocchio, Drake, MuJoCo, PyBullet, RBDL, RigidBodyDynamics.jl, the Robotics Toolbox, Pink and others
ELSEWHERE = {
    "base_inertial_parameters": "identification.base_parameters",
    "christoffel": "geometry.christoffel_symbols",
    "differential_ik": "control.resolved_rate",
    "dynamically_consistent_generalised_inverse": "redundancy.horizontal_lift",
    "dynamically_consistent_generalized_inverse": "redundancy.horizontal_lift",
    "dynamically_consistent_inverse": "redundancy.horizontal_lift",
    "dynamically_consistent_pseudoinverse": "redundancy.horizontal_lift",
    "gravity_compensation": "gravity_forces",
    "hqp": "control.prioritised_velocities",
    "identifiable_parameters": "identification.base_parameters",
    "minimal_parameters": "identification.base_parameters",
    "null_space_motion": "redundancy.self_motion",
    "null_space_projector": "redundancy.velocity_projectors",
    "nullspace": "redundancy.velocity_projectors",
    "nullspace_projector": "redundancy.velocity_projectors",
    "pd_control": "control.pd_gravity",
    "pd_controller": "control.pd_gravity",
    "pd_gravity_compensation": "control.pd_gravity",
    "rnea_derivatives": "inverse_dynamics_derivatives",
    "aba_derivatives": "forward_dynamics_derivatives",
    "save": "Robot.to_urdf",
    "task_jacobian": "tasks.Task.jacobian",
    "task_priority": "control.prioritised_velocities",
    "weighted_inverse": "redundancy.horizontal_lift",
    "write_urdf": "Robot.to_urdf",
    "Model": "Robot",
    "aba": "forward_dynamics",
    "ABA": "forward_dynamics",
    "accel": "forward_dynamics",
    "articulated_body_algorithm": "forward_dynamics",
    "buildModelFromMJCF": "load",
    "buildModelFromUrdf": "load",
    "calculateInverseDynamics": "inverse_dynamics",
    "calculateInverseKinematics": "inverse_kinematics",
    "calculateJacobian": "mixed_jacobian",
    "calculateMassMatrix": "mass_matrix",
    "CalcBiasTerm": "dynamics.coriolis_forces",
    "CalcBodyToBaseCoordinates": "frame_pose",
    "CalcCenterOfMassPositionInWorld": "dynamics.centre_of_mass",
    "CalcGravityGeneralizedForces": "gravity_forces",
    "CalcInverseDynamics": "inverse_dynamics",
    "CalcJacobianSpatialVelocity": "mixed_jacobian",
    "CalcMassMatrix": "mass_matrix",
    "CalcRelativeTransform": "frame_pose",
    "ccrba": "dynamics.centroidal_momentum_matrix",
    "center_of_mass": "dynamics.centre_of_mass",
    "center_of_mass_jacobian": "dynamics.centre_of_mass_jacobian",
    "centerOfMass": "dynamics.centre_of_mass",
    "centroidalMomentum": "dynamics.centroidal_momentum",
    "com": "dynamics.centre_of_mass",
    "computeABADerivatives": "forward_dynamics_derivatives",
    "computeCentroidalMap": "dynamics.centroidal_momentum_matrix",
    "computeCentroidalMomentum": "dynamics.centroidal_momentum",
    "computeCoriolisMatrix": "coriolis_matrix",
    "computeFrameJacobian": "body_jacobian",
    "computeGeneralizedGravity": "gravity_forces",
    "computeGeneralizedGravityDerivatives": "derivatives.gravity_forces_derivative",
    "computeJointJacobian": "body_jacobian",
    "computeJointJacobians": "body_jacobian",
    "computeJointJacobiansTimeVariation": "kinematics.body_jacobian_rate",
    "computeJointTorqueRegressor": "identification.torque_regressor",
    "computeKineticEnergy": "kinetic_energy",
    "computeMinverse": "dynamics.inverse_mass_matrix",
    "computePotentialEnergy": "potential_energy",
    "computeRNEADerivatives": "inverse_dynamics_derivatives",
    "computeStaticTorque": "gravity_forces",
    "coriolis": "coriolis_matrix",
    "crba": "mass_matrix",
    "CRBA": "mass_matrix",
    "composite_rigid_body_algorithm": "mass_matrix",
    "DHRobot": "dh_chain",
    "dynamics_bias": "bias_forces",
    "ERobot": "load",
    "exp3": "lie.so3.exp",
    "exp6": "lie.se3.exp",
    "fk": "frame_pose",
    "fkine": "frame_pose",
    "FKinSpace": "modern_robotics.FKinSpace",
    "forward_kinematics": "frame_pose",
    "forwardKinematics": "link_poses",
    "framesForwardKinematics": "link_poses",
    "from_mjcf_file": "load",
    "from_urdf": "load",
    "from_urdf_file": "load",
    "from_xml_path": "load",
    "geometric_jacobian": "space_jacobian",
    "get_frame_jacobian": "body_jacobian",
    "getFrameAcceleration": "kinematics.body_acceleration",
    "getFrameClassicalAcceleration": "kinematics.mixed_acceleration",
    "getFrameJacobian": "body_jacobian",
    "getFrameVelocity": "kinematics.body_twist",
    "gravload": "gravity_forces",
    "gravity_torque": "gravity_forces",
    "hierarchical_qp": "control.prioritised_velocities",
    "id": "inverse_dynamics",
    "ik": "inverse_kinematics",
    "ikine": "inverse_kinematics",
    "ikine_LM": "inverse_kinematics",
    "inertia": "mass_matrix",
    "inertia_matrix": "mass_matrix",
    "jacob0": "mixed_jacobian",
    "jacobe": "body_jacobian",
    "jacobian": "body_jacobian",
    "jacobianCenterOfMass": "dynamics.centre_of_mass_jacobian",
    "load_robot_description": "load",
    "load_urdf": "load",
    "loadURDF": "load",
    "log3": "lie.so3.log",
    "log6": "lie.se3.log",
    "mj_forward": "forward_dynamics",
    "mj_fullM": "mass_matrix",
    "mj_inverse": "inverse_dynamics",
    "mj_jac": "mixed_jacobian",
    "MjModel": "load",
    "momentum": "dynamics.spatial_momentum",
    "neutral": "Robot",
    "nle": "bias_forces",
    "nonLinearEffects": "bias_forces",
    "Parser": "load",
    "randomConfiguration": "random_configuration",
    "relative_transform": "frame_pose",
    "rne": "inverse_dynamics",
    "rnea": "inverse_dynamics",
    "RNEA": "inverse_dynamics",
    "skew": "lie.so3.hat",
    "solve_ik": "control.prioritised_velocities",
    "step": "simulate",
    "transform_to_root": "frame_pose",
    "URDF": "load",
}
# Attributes of robots in other libraries
OF_ROBOTS = {
    "mass": "parameters.inertias[:, 0].sum()",
    "save": "to_urdf",
    "write_urdf": "to_urdf",
    "base_link": "frames[0]",
    "body_names": "links",
    "dof": "nv",
    "dofs": "nv",
    "effort_limits": "limits.effort",
    "effortLimit": "limits.effort",
    "frame_names": "frames",
    "joint_limits": "limits",
    "joint_names": "joints",
    "jointnames": "joints",
    "link_names": "links",
    "lower_limits": "limits.lower",
    "lowerPositionLimit": "limits.lower",
    "n_dof": "nv",
    "n_dofs": "nv",
    "n_joints": "n",
    "nbodies": "n",
    "ndof": "nv",
    "ndofs": "nv",
    "njoints": "n",
    "num_dofs": "nv",
    "num_joints": "n",
    "num_positions": "nq",
    "num_velocities": "nv",
    "qlim": "limits",
    "upper_limits": "limits.upper",
    "upperPositionLimit": "limits.upper",
    "velocityLimit": "limits.velocity",
    "velocity_limits": "limits.velocity",
}


def advice(namespace: str, name: str, places: dict[str, list[str]]) -> str:
    """The end of the message for a name that a namespace does not have; ``places`` of all names that exist."""
    if name in places:
        at_the_top = f"torsor.{name}"
        return f": it is {at_the_top if at_the_top in places[name] else ' or '.join(places[name])}"
    if name in ELSEWHERE:
        return f": what others call {name} is torsor.{ELSEWHERE[name]} here"
    everything = places | {one: [f"torsor.{here}"] for one, here in ELSEWHERE.items()}
    plain = {one: one.replace("_", "").lower() for one in everything}
    near = get_close_matches(name.replace("_", "").lower(), dict.fromkeys(plain.values()), n=3, cutoff=0.75)
    meant = [place for letters in near for one in everything if plain[one] == letters for place in everything[one]]
    # Those of the namespace that was asked first, pictures last
    meant.sort(key=lambda place: (not place.startswith(f"{namespace}."), place.startswith("torsor.plot.")))
    return f". Did you mean {' or '.join(dict.fromkeys(meant[:3]))}?" if meant else f". All names: dir({namespace})"


def advice_on_robots(name: str, known: list[str], places: dict[str, list[str]]) -> str:
    """The same for an attribute that robots do not have; ``known`` are those they have."""
    if name in OF_ROBOTS:
        return f": what others call {name} is robot.{OF_ROBOTS[name]} here"
    function = places.get(name) or ([f"torsor.{ELSEWHERE[name]}"] if name in ELSEWHERE else [])
    if function:
        return f": it is a function here, {function[0]}(robot, ...)"
    near = get_close_matches(name, [*known, *OF_ROBOTS], n=3, cutoff=0.75)
    names = dict.fromkeys(f"robot.{OF_ROBOTS.get(one, one)}" for one in near)
    return f". Did you mean {' or '.join(names)}?" if names else ". All attributes: dir(robot)"
