from torsor.control._adaptive import AdaptiveControl as AdaptiveControl, adaptive as adaptive
from torsor.control._computed_torque import computed_torque as computed_torque
from torsor.control._ddp import OptimalFeedback as OptimalFeedback, ddp as ddp
from torsor.control._follow import Follower as Follower, follow as follow
from torsor.control._lqr import (
    FeedbackAlong as FeedbackAlong,
    LinearFeedback as LinearFeedback,
    lqr as lqr,
    lqr_along as lqr_along,
)
from torsor.control._mpc import PredictiveController as PredictiveController, mpc as mpc
from torsor.control._nearest_target import nearest_target as nearest_target
from torsor.control._operational_space import operational_space as operational_space
from torsor.control._passivity_based import passivity_based as passivity_based
from torsor.control._pd_gravity import pd_gravity as pd_gravity
from torsor.control.priorities.added_limits import Limit as Limit, TaskLimit as TaskLimit, task_limit as task_limit
from torsor.control.priorities.joint_limit import JointLimit as JointLimit
from torsor.control.priorities.prioritised_accelerations import prioritised_accelerations as prioritised_accelerations
from torsor.control.priorities.prioritised_velocities import prioritised_velocities as prioritised_velocities
from torsor.control.priorities.priority_result import (
    LimitConflict as LimitConflict,
    PrioritisedAccelerations as PrioritisedAccelerations,
    PrioritisedVelocities as PrioritisedVelocities,
    TaskOutcome as TaskOutcome,
)
from torsor.control.resolved_rates import (
    limit_gradient as limit_gradient,
    posture_gradient as posture_gradient,
    resolved_acceleration as resolved_acceleration,
    resolved_rate as resolved_rate,
)
