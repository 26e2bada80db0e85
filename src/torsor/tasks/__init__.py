"""Tasks: what of a robot's motion is controlled, its dynamics, how well the robot can do it, and inverse kinematics.

Functions
---------
as_task                      Task as it is, or for the name of a frame the task of its pose (body twist)
damped_task_space_dynamics   Task-space dynamics that never blow up
dynamic_manipulability       Volume √det(J M⁻² Jᵀ) of the task accelerations of joint forces |τ| ≤ 1, from rest, without …
function_task                Task y = ``function(robot, q)``
inertia_manipulability       Volume √det(J M⁻¹ Jᵀ) = 1/√det Λ of the task velocities of vᵀ M v ≤ 1
inverse_kinematics           Configurations that bring a task to targets, and how well (inverse kinematics, IK)
manipulability               Manipulability w = √det(J Jᵀ)
manipulability_ellipsoid     Manipulability ellipsoid
manipulability_gradient      Gradient of the manipulability along tangent coordinates, ∂_k w = w tr(J⁺ ∂_k J)
orientation_task             Task of the angular velocity of a frame in its own axes, three rows (wx, wy, wz), rad/s, or …
pose_task                    Task of a frame's twist, six rows (ω, v), rad/s and m/s, or some of them …
position_task                Task of the velocity of a frame's origin in base axes, three rows (vx, vy, vz), m/s, or …
stack_tasks                  Task made of several, row below row
task_forces_to_torques       Joint forces of forces along a task: τ = Jᵀ F + Nᵀ τ₀
task_rank                    Rank of a task's Jacobian, its singular values and the direction nearest to being lost
task_space_dynamics          Inertia, bias and projector in the coordinates of a task, Λ ÿ + η = F
task_space_forward_dynamics  Acceleration that forces along a task produce: ÿ = Λ⁻¹ (F − η) − J M⁻¹ (friction + springs) …
task_space_inverse_dynamics  Joint forces that give a task an acceleration: τ = Jᵀ (Λ ÿ + η) + Nᵀ τ₀ + friction + springs
torques_to_task_forces       Forces along a task that joint forces amount to
workspace_acceleration       Acceleration of a task, ÿ = J M⁻¹ (τ − C v − g − friction − springs) + J̇ v

Classes
-------
DampedTaskSpaceDynamics, DampingReport, FrameTask, FunctionTask, InverseKinematics, ManipulabilityEllipsoid,
SelectedTask, StackedTask, Task, TaskRank, TaskSpaceDynamics, TwistTask
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
