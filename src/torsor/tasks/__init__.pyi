from torsor.tasks._inverse_kinematics.solve import (
    InverseKinematics as InverseKinematics,
    inverse_kinematics as inverse_kinematics,
)
from torsor.tasks._manipulability import ManipulabilityEllipsoid as ManipulabilityEllipsoid, TaskRank as TaskRank
from torsor.tasks._task_space_dynamics import TaskSpaceDynamics as TaskSpaceDynamics
from torsor.tasks.public import (
    damped_task_space_dynamics as damped_task_space_dynamics,
    dynamic_manipulability as dynamic_manipulability,
    inertia_manipulability as inertia_manipulability,
    manipulability as manipulability,
    manipulability_ellipsoid as manipulability_ellipsoid,
    manipulability_gradient as manipulability_gradient,
    task_forces_to_torques as task_forces_to_torques,
    task_rank as task_rank,
    task_space_dynamics as task_space_dynamics,
    task_space_forward_dynamics as task_space_forward_dynamics,
    task_space_inverse_dynamics as task_space_inverse_dynamics,
    torques_to_task_forces as torques_to_task_forces,
    workspace_acceleration as workspace_acceleration,
)
from torsor.tasks.singular_directions import (
    DampedTaskSpaceDynamics as DampedTaskSpaceDynamics,
    DampingReport as DampingReport,
)
from torsor.tasks.task import SelectedTask as SelectedTask, StackedTask as StackedTask, Task as Task
from torsor.tasks.task_kinds import (
    FrameTask as FrameTask,
    FunctionTask as FunctionTask,
    TwistTask as TwistTask,
    as_task as as_task,
    function_task as function_task,
    orientation_task as orientation_task,
    pose_task as pose_task,
    position_task as position_task,
    stack_tasks as stack_tasks,
)
