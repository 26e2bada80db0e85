"""Names of torsor that are imported when they are first asked for, by the module they are in; `torsor.__init__` reads it."""

from __future__ import annotations

MODULES = (
    "adapters",
    "balancing",
    "controllers",
    "formulations",
    "identification",
    "modern_robotics",
    "motion",
    "plot",
    "redundancy",
    "resolution",
)
_NAMES = {
    "torsor.balancing": """
        BalanceReport Balancing Counterweight DesignScan GravityReport GyroscopicTerm HeldJoint VaryingEntry
        axisymmetric_counterweights balanced_planar_chain balanced_spatial_chain design_scan gravity_counterweights
        is_balanced is_gravity_balanced least_change_balancing planar_centres_of_mass planar_counterweights
    """,
    "torsor.formulation_comparison": """
        FormulationComparison compare_formulations
    """,
    "torsor.identification": """
        BaseParameters base_parameters
    """,
    "torsor.reaching": """
        InverseKinematics inverse_kinematics
    """,
    "torsor.linearisation": """
        StateSpace linearise
    """,
    "torsor.motion": """
        CarriedFactor CurvatureAlong CurvatureComponent FlatCoordinates FlatState FlatnessReport Geodesic PathResult
        curvature_along flat_coordinates geodesic geodesic_between is_flat minimum_energy_path parallel_transport
        path_energy path_energy_gradient path_length transport_factor
    """,
    "torsor.redundancy": """
        ExtendedJacobianLift GeneralisedInverse LiftAgreement LiftedCurve LiftedFunction LocalTrivialisation LoopDrift
        RepeatabilityReport SelfMotion SelfMotionComponents SubmersionReport closed_loop_drift extended_jacobian_lift
        generalised_inverse_class is_partial_isometry is_repeatable is_riemannian_submersion lift_acceleration lift_curve
        lift_function lifts_agree local_trivialisation oneill_tensor section_lift self_motion self_motion_components
        stationary_constraint vertical_brackets
    """,
    "torsor.resolution": """
        JointLimit Limit LimitConflict PrioritisedAccelerations PrioritisedVelocities TaskLimit TaskOutcome limit_gradient
        posture_gradient prioritised_accelerations prioritised_velocities resolved_acceleration resolved_rate task_limit
    """,
    "torsor.symbolic": """
        Equations equations
    """,
    "torsor.operation_counts": """
        OperationCount count_operations count_polynomial count_table
    """,
}
LATER = {name: module for module, names in _NAMES.items() for name in names.split()}
