from torsor.redundancy._lift_acceleration import lift_acceleration as lift_acceleration
from torsor.redundancy._self_motion import SelfMotion as SelfMotion, self_motion as self_motion
from torsor.redundancy._self_motion_components import (
    PiecesMet as PiecesMet,
    SelfMotionComponents as SelfMotionComponents,
    self_motion_components as self_motion_components,
)
from torsor.redundancy.brackets import oneill_tensor as oneill_tensor, vertical_brackets as vertical_brackets
from torsor.redundancy.closed_paths import (
    PathDrift as PathDrift,
    RepeatabilityReport as RepeatabilityReport,
    closed_path_drift as closed_path_drift,
    is_repeatable as is_repeatable,
)
from torsor.redundancy.extended_jacobian import (
    ExtendedJacobianLift as ExtendedJacobianLift,
    extended_jacobian_lift as extended_jacobian_lift,
    stationary_constraint as stationary_constraint,
)
from torsor.redundancy.fibres import SingularConfiguration as SingularConfiguration
from torsor.redundancy.lifted_curves import LiftedCurve as LiftedCurve, lift_curve as lift_curve
from torsor.redundancy.lifts import (
    LiftAgreement as LiftAgreement,
    LiftedFunction as LiftedFunction,
    lift_function as lift_function,
    lifts_agree as lifts_agree,
)
from torsor.redundancy.riemannian_submersion import (
    GeneralisedInverse as GeneralisedInverse,
    PartialIsometry as PartialIsometry,
    SubmersionReport as SubmersionReport,
    generalised_inverse_class as generalised_inverse_class,
    is_partial_isometry as is_partial_isometry,
    is_riemannian_submersion as is_riemannian_submersion,
)
from torsor.redundancy.sections import (
    LocalTrivialisation as LocalTrivialisation,
    Trivialised as Trivialised,
    local_trivialisation as local_trivialisation,
    section_lift as section_lift,
)
from torsor.redundancy.task_places import Circle as Circle, circle as circle
from torsor.tasks.horizontal_lift import SplitVelocity as SplitVelocity, VelocityProjectors as VelocityProjectors
from torsor.tasks.public import (
    horizontal_lift as horizontal_lift,
    pseudoinverse_lift as pseudoinverse_lift,
    split_velocity as split_velocity,
    velocity_projectors as velocity_projectors,
)
