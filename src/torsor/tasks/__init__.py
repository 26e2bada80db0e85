"""Tasks: what of a robot's motion is controlled, its dynamics, and how well the robot can do it."""

from torsor.tasks.function_task import FunctionTask as FunctionTask, function_task as function_task
from torsor.tasks.task import (
    FrameTask as FrameTask,
    SelectedTask as SelectedTask,
    StackedTask as StackedTask,
    Task as Task,
    TwistTask as TwistTask,
    as_task as as_task,
    orientation_task as orientation_task,
    pose_task as pose_task,
    position_task as position_task,
    stack_tasks as stack_tasks,
)
