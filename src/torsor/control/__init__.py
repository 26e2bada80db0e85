"""Control: laws in joint and task space, resolved rates (differential IK), priorities within limits (hierarchical QP).

Functions
---------
adaptive                   Joint forces of adaptive tracking, and the rate of the estimated inertial parameters
computed_torque            Joint forces of computed torque (inverse-dynamics control), for tracking
ddp                        Motion of least cost from a state, and the feedback around it: differential dynamic …
follow                     Controller that follows a motion with a control law: t, q, v → τ, for `torsor.simulate` …
limit_gradient             Gradient of H = ½ Σ ((q_j − middle) / (half the range))², over all numbers of q with two …
lqr                        Linear feedback at an equilibrium that minimises ∫ xᵀ W x + δτᵀ R δτ dt (LQR) [AM90], x = …
lqr_along                  Linear feedback along a motion that minimises Σ (xᵀ W x + δτᵀ R δτ) dt + xᵀ W_N x [AM90]: …
mpc                        Controller that minimises a cost over the next ``steps`` steps, again at every call: model …
nearest_target             Target itself if the robot can reach it, else the nearest that it can
operational_space          Joint forces of operational-space control
passivity_based            Joint forces of passivity-based tracking, which cancels nothing that does no work
pd_gravity                 Joint forces of PD control with gravity compensation, for rest at a set point
posture_gradient           Gradient of H = ½ eᵀ W e with e = posture ⊖ q, along tangent coordinates
prioritised_accelerations  Joint accelerations and torques within limits, for tasks in strict order of priority
prioritised_velocities     Joint velocities within limits that do the first task as well as can be, then the second …
resolved_acceleration      Joint accelerations of a task, a = a_0 + K (ÿ − J̇ v − J a_0), nearest to a_0 in a metric
resolved_rate              Joint velocities of a task, v = v_0 + K (ẏ − J v_0), nearest to v_0 in a metric
task_limit                 A limit of a task, for ``limits`` of `prioritised_velocities` and …

Classes
-------
AdaptiveControl, FeedbackAlong, Follower, JointLimit, Limit, LimitConflict, LinearFeedback, OptimalFeedback,
PredictiveController, PrioritisedAccelerations, PrioritisedVelocities, TaskLimit, TaskOutcome
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
