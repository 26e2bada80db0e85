"""Redundancy resolved at each instant: joint motions of a task, with a second aim, strict priorities and joint limits."""

from torsor.resolution.added_limits import Limit as Limit, TaskLimit as TaskLimit, task_limit as task_limit
from torsor.resolution.compiled_functions import (
    limit_gradient as limit_gradient,
    posture_gradient as posture_gradient,
    resolved_acceleration as resolved_acceleration,
    resolved_rate as resolved_rate,
)
from torsor.resolution.joint_limit import JointLimit as JointLimit
from torsor.resolution.prioritised_accelerations import prioritised_accelerations as prioritised_accelerations
from torsor.resolution.prioritised_velocities import prioritised_velocities as prioritised_velocities
from torsor.resolution.priority_result import (
    LimitConflict as LimitConflict,
    PrioritisedAccelerations as PrioritisedAccelerations,
    PrioritisedVelocities as PrioritisedVelocities,
    TaskOutcome as TaskOutcome,
)
