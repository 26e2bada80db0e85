from torsor import (
    adapters as adapters,
    balancing as balancing,
    control as control,
    derivatives as derivatives,
    dynamics as dynamics,
    geometry as geometry,
    identification as identification,
    kinematics as kinematics,
    lie as lie,
    modern_robotics as modern_robotics,
    motion as motion,
    papers as papers,
    plot as plot,
    redundancy as redundancy,
    robots as robots,
    simulation as simulation,
    symbolic as symbolic,
    tasks as tasks,
    viewer as viewer,
)
from torsor.compiler.backend import backend as backend
from torsor.compiler.kernel import Kernel as Kernel
from torsor.compiler.run.threads import get_threads as get_threads, set_threads as set_threads
from torsor.compiler.scan import Scan as Scan
from torsor.errors import (
    ArgumentError as ArgumentError,
    ArgumentTypeError as ArgumentTypeError,
    FileError as FileError,
    MissingDependency as MissingDependency,
    ModelError as ModelError,
    ModelWarning as ModelWarning,
    ShapeError as ShapeError,
    SimulationDiverged as SimulationDiverged,
    TorsorError as TorsorError,
    UnknownName as UnknownName,
)
from torsor.formats._load import check as check, load as load
from torsor.formats.findings import Finding as Finding
from torsor.functions.compile import compile as compile, scan as scan
from torsor.functions.derivative import derivative as derivative
from torsor.functions.public.derivatives import (
    forward_dynamics_derivatives as forward_dynamics_derivatives,
    inverse_dynamics_derivatives as inverse_dynamics_derivatives,
)
from torsor.functions.public.dynamics import (
    bias_forces as bias_forces,
    coriolis_matrix as coriolis_matrix,
    forward_dynamics as forward_dynamics,
    friction_forces as friction_forces,
    gravity_forces as gravity_forces,
    inverse_dynamics as inverse_dynamics,
    kinetic_energy as kinetic_energy,
    mass_matrix as mass_matrix,
    potential_energy as potential_energy,
    spring_forces as spring_forces,
)
from torsor.functions.public.kinematics import (
    body_jacobian as body_jacobian,
    difference as difference,
    frame_pose as frame_pose,
    frame_poses as frame_poses,
    integrate as integrate,
    link_poses as link_poses,
    mixed_jacobian as mixed_jacobian,
    space_jacobian as space_jacobian,
)
from torsor.linearisation import linearise as linearise
from torsor.model._assemble import assemble as assemble
from torsor.model.chains import DHRow as DHRow, dh_chain as dh_chain, serial_chain as serial_chain
from torsor.model.inertia import Inertia as Inertia
from torsor.model.joints import Joint as Joint, Mimic as Mimic
from torsor.model.poses import pose_from as pose_from
from torsor.model.robot import Robot as Robot
from torsor.model.states import random_configuration as random_configuration, random_state as random_state
from torsor.motion.trajectory import Trajectory as Trajectory
from torsor.simulation._simulate import simulate as simulate
from torsor.tasks._inverse_kinematics.solve import inverse_kinematics as inverse_kinematics
from torsor.tasks.task_kinds import (
    function_task as function_task,
    orientation_task as orientation_task,
    pose_task as pose_task,
    position_task as position_task,
    stack_tasks as stack_tasks,
)
from torsor.verification import verify as verify
from torsor.viewer._view import view as view

__version__: str
