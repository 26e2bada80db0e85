"""What to say of a name that does not exist: where torsor has it, or what torsor calls what another library calls so."""

from __future__ import annotations

from difflib import get_close_matches

# By our name, those of Pinocchio, Drake, MuJoCo, PyBullet, RBDL, RigidBodyDynamics.jl, the Robotics Toolbox, Pink and others
OTHER_NAMES = {
    "identification.base_parameters": "base_inertial_parameters identifiable_parameters minimal_parameters",
    "geometry.christoffel_symbols": "christoffel",
    "control.resolved_rate": "differential_ik",
    "redundancy.horizontal_lift": "dynamically_consistent_generalised_inverse dynamically_consistent_generalized_inverse "
    "dynamically_consistent_inverse dynamically_consistent_pseudoinverse weighted_inverse",
    "gravity_forces": "gravity_compensation CalcGravityGeneralizedForces computeGeneralizedGravity computeStaticTorque gravload "
    "gravity_torque",
    "control.prioritised_velocities": "hqp task_priority hierarchical_qp solve_ik",
    "redundancy.self_motion": "null_space_motion",
    "redundancy.velocity_projectors": "null_space_projector nullspace nullspace_projector",
    "motion.polynomial": "min_jerk minimum_jerk minjerk quintic jtraj",
    "motion.trapezoidal": "trapezoid trapezoidal_velocity lspb",
    "view": "show visualise visualize",
    "control.pd_gravity": "pd_control pd_controller pd_gravity_compensation",
    "inverse_dynamics_derivatives": "rnea_derivatives computeRNEADerivatives",
    "forward_dynamics_derivatives": "aba_derivatives computeABADerivatives",
    "Robot.to_urdf": "save write_urdf",
    "tasks.Task.jacobian": "task_jacobian",
    "Robot": "Model neutral",
    "forward_dynamics": "aba ABA accel articulated_body_algorithm mj_forward",
    "load": "buildModelFromMJCF buildModelFromUrdf ERobot from_mjcf_file from_urdf from_urdf_file from_xml_path "
    "load_robot_description load_urdf loadURDF MjModel Parser URDF",
    "inverse_dynamics": "calculateInverseDynamics CalcInverseDynamics id mj_inverse rne rnea RNEA",
    "inverse_kinematics": "calculateInverseKinematics ik ikine ikine_LM",
    "mixed_jacobian": "calculateJacobian CalcJacobianSpatialVelocity jacob0 mj_jac",
    "mass_matrix": "calculateMassMatrix CalcMassMatrix crba CRBA composite_rigid_body_algorithm inertia inertia_matrix mj_fullM",
    "dynamics.coriolis_forces": "CalcBiasTerm",
    "frame_pose": "CalcBodyToBaseCoordinates CalcRelativeTransform fk fkine forward_kinematics relative_transform "
    "transform_to_root",
    "dynamics.centre_of_mass": "CalcCenterOfMassPositionInWorld center_of_mass centerOfMass com",
    "dynamics.centroidal_momentum_matrix": "ccrba computeCentroidalMap",
    "dynamics.centre_of_mass_jacobian": "center_of_mass_jacobian jacobianCenterOfMass",
    "dynamics.centroidal_momentum": "centroidalMomentum computeCentroidalMomentum",
    "coriolis_matrix": "computeCoriolisMatrix coriolis",
    "body_jacobian": "computeFrameJacobian computeJointJacobian computeJointJacobians get_frame_jacobian getFrameJacobian jacobe "
    "jacobian",
    "derivatives.gravity_forces_derivative": "computeGeneralizedGravityDerivatives",
    "kinematics.body_jacobian_rate": "computeJointJacobiansTimeVariation",
    "identification.torque_regressor": "computeJointTorqueRegressor",
    "kinetic_energy": "computeKineticEnergy",
    "dynamics.inverse_mass_matrix": "computeMinverse",
    "potential_energy": "computePotentialEnergy",
    "spring_forces": "qfrc_spring qfrc_passive passive_forces spring_torques",
    "dh_chain": "DHRobot",
    "bias_forces": "dynamics_bias nle nonLinearEffects",
    "lie.so3.exp": "exp3",
    "lie.se3.exp": "exp6",
    "modern_robotics.FKinSpace": "FKinSpace",
    "link_poses": "forwardKinematics framesForwardKinematics",
    "space_jacobian": "geometric_jacobian",
    "kinematics.body_acceleration": "getFrameAcceleration",
    "kinematics.mixed_acceleration": "getFrameClassicalAcceleration",
    "kinematics.body_twist": "frame_twist frame_velocity getFrameVelocity",
    "lie.so3.log": "log3",
    "lie.se3.log": "log6",
    "dynamics.spatial_momentum": "momentum",
    "random_configuration": "randomConfiguration",
    "lie.so3.hat": "skew",
    "simulate": "step",
}
# The same for attributes of robots
OTHER_ATTRIBUTES = {
    "parameters.inertias[:, 0].sum()": "mass",
    "to_urdf": "save write_urdf",
    "frames[0]": "base_link",
    "links": "body_names link_names",
    "nv": "dof dofs n_dof n_dofs ndof ndofs num_dofs num_velocities",
    "limits.effort": "effort_limits effortLimit",
    "frames": "frame_names",
    "limits": "joint_limits qlim",
    "joints": "joint_names jointnames",
    "limits.lower": "lower_limits lowerPositionLimit",
    "n": "n_joints nbodies njoints num_joints",
    "nq": "num_positions",
    "limits.upper": "upper_limits upperPositionLimit",
    "limits.velocity": "velocityLimit velocity_limits",
}
# And for those of trajectories
OTHER_QUANTITIES = {
    "time": "t times timestamps",
    "q": "x pos position positions qpos configuration configurations",
    "v": "dq qd vel velocity velocities qvel",
    "a": "ddq qdd acc acceleration accelerations qacc",
    "tau": "u torque torques effort efforts force forces",
    'save("run.csv")': "to_csv csv write export",
    "to_dataframe()": "to_pandas df dataframe",
}
OF_MOTIONS = {name: ours for ours, names in OTHER_QUANTITIES.items() for name in names.split()}
# What torsor leaves to a function of one's own
OWN = {"pid": "torsor.simulate(controller=) takes a law with memory, such as a PID in five lines: docs/simulation.md"}
ELSEWHERE = {name: ours for ours, names in OTHER_NAMES.items() for name in names.split()}
OF_ROBOTS = {name: ours for ours, names in OTHER_ATTRIBUTES.items() for name in names.split()}


def advice(namespace: str, name: str, places: dict[str, list[str]]) -> str:
    """The end of the message for a name that a namespace does not have; ``places`` of all names that exist."""
    if name in places:
        at_the_top = f"torsor.{name}"
        return f": it is {at_the_top if at_the_top in places[name] else ' or '.join(places[name])}"
    if name in ELSEWHERE:
        return f": what others call {name} is torsor.{ELSEWHERE[name]} here"
    for word, instead in OWN.items():
        if word in name.lower().split("_"):
            return f": {instead}"
    everything = places | {one: [f"torsor.{here}"] for one, here in ELSEWHERE.items()}
    plain = {one: one.replace("_", "").lower() for one in everything if len(one) > 3}  # short ones are near to anything
    near = get_close_matches(name.replace("_", "").lower(), dict.fromkeys(plain.values()), n=3, cutoff=0.75)
    meant = [place for letters in near for one in plain if plain[one] == letters for place in everything[one]]
    # Those of the namespace that was asked first, pictures last
    meant.sort(key=lambda place: (not place.startswith(f"{namespace}."), place.startswith("torsor.plot.")))
    if not meant and namespace == "torsor.robots":
        own = [one for one in places if f"{namespace}.{one}" in places[one]]
        return f": there are {', '.join(own)}. Others come from files: torsor.load"
    return f". Did you mean {' or '.join(dict.fromkeys(meant[:3]))}?" if meant else f". All names: dir({namespace})"


def advice_on_robots(name: str, known: list[str], places: dict[str, list[str]]) -> str:
    """The same for an attribute that robots do not have; ``known`` are those they have."""
    if name in OF_ROBOTS:
        return f": what others call {name} is robot.{OF_ROBOTS[name]} here"
    if name == "plot":
        return ": torsor.view(robot) shows it, torsor.plot.mechanism(robot, q) draws it"
    if any(place.startswith(f"torsor.{name}.") for known_places in places.values() for place in known_places):
        return f": functions of a robot are in torsor.{name}"
    function = places.get(name) or ([f"torsor.{ELSEWHERE[name]}"] if name in ELSEWHERE else [])
    if function:
        return f": it is a function here, {function[0]}(robot, ...)"
    near = get_close_matches(name, [*known, *OF_ROBOTS], n=3, cutoff=0.75)
    names = dict.fromkeys(f"robot.{OF_ROBOTS.get(one, one)}" for one in near)
    return f". Did you mean {' or '.join(names)}?" if names else ". All attributes: dir(robot)"


def advice_on_motions(name: str, *, sampled: bool) -> str:
    """The same for an attribute that a motion does not have; ``sampled``: whether it is a trajectory."""
    ours = OF_MOTIONS.get(name, name)
    if sampled:
        return f": it is run.{ours}" if ours != name else ". All attributes: dir(run)"
    if ours in ("q", "v", "a", "jerk"):
        return f": it is motion.at(t).{ours}, or motion.sample(dt=0.01).{ours} for many times"
    if name in OF_MOTIONS or ours in ("time", "tau", "energy", "save"):
        return f": samples have it, motion.sample(dt=0.01).{ours}"
    return ". All attributes: dir(motion)"
