from torsor.motion._concatenate import concatenate as concatenate
from torsor.motion._conjugate_points import (
    ConjugatePoint as ConjugatePoint,
    ConjugatePoints as ConjugatePoints,
    conjugate_points as conjugate_points,
)
from torsor.motion._flat_coordinates import (
    FlatCoordinates as FlatCoordinates,
    FlatState as FlatState,
    flat_coordinates as flat_coordinates,
)
from torsor.motion._fourier import FourierMotion as FourierMotion, fourier as fourier
from torsor.motion._from_samples import SmoothedLog as SmoothedLog, from_samples as from_samples
from torsor.motion._geodesic import Geodesic as Geodesic, geodesic as geodesic
from torsor.motion._geodesic_between import geodesic_between as geodesic_between
from torsor.motion._is_minimal import MinimalityReport as MinimalityReport, is_minimal as is_minimal
from torsor.motion._jacobi_field import JacobiField as JacobiField, jacobi_field as jacobi_field
from torsor.motion._jerk_limited import jerk_limited as jerk_limited
from torsor.motion._minimum_energy_path import PathResult as PathResult, minimum_energy_path as minimum_energy_path
from torsor.motion._natural_motion import NaturalMotion as NaturalMotion, natural_motion as natural_motion
from torsor.motion._optimal import optimal as optimal
from torsor.motion._parallel_transport import parallel_transport as parallel_transport
from torsor.motion._path_energy import (
    path_energy as path_energy,
    path_energy_gradient as path_energy_gradient,
    path_length as path_length,
)
from torsor.motion._polynomial import polynomial as polynomial
from torsor.motion._pose_motions import (
    PoseMotion as PoseMotion,
    PoseSamples as PoseSamples,
    PoseState as PoseState,
    screw as screw,
    smooth_pose as smooth_pose,
)
from torsor.motion._profiles import s_curve as s_curve, trapezoidal as trapezoidal
from torsor.motion._scaled import (
    JoinedMotion as JoinedMotion,
    ScaledMotion as ScaledMotion,
    in_sequence as in_sequence,
    scaled as scaled,
)
from torsor.motion._spline import spline as spline
from torsor.motion._time_optimal import time_optimal as time_optimal
from torsor.motion.audit import EnergyAudit as EnergyAudit
from torsor.motion.curvature import (
    CurvatureAlong as CurvatureAlong,
    CurvatureComponent as CurvatureComponent,
    FlatnessReport as FlatnessReport,
    curvature_along as curvature_along,
    is_flat as is_flat,
)
from torsor.motion.factor_transport import CarriedFactor as CarriedFactor, transport_factor as transport_factor
from torsor.motion.motions import (
    BrokenLimit as BrokenLimit,
    Motion as Motion,
    MotionCheck as MotionCheck,
    MotionState as MotionState,
)
from torsor.motion.optimal_motions.certificate import OptimalityReport as OptimalityReport
from torsor.motion.optimal_motions.many import OptimalMotions as OptimalMotions
from torsor.motion.optimal_motions.report import (
    ActiveLimit as ActiveLimit,
    OptimalMotion as OptimalMotion,
    Relaxation as Relaxation,
)
from torsor.motion.tangent_motion import TangentMotion as TangentMotion
from torsor.motion.time_optimality.obstacles import Obstacle as Obstacle
from torsor.motion.time_optimality.report import (
    ReachedLimit as ReachedLimit,
    TimeOptimalMotion as TimeOptimalMotion,
)
from torsor.motion.time_optimality.retimed import RetimedMotion as RetimedMotion
from torsor.motion.trajectory import Trajectory as Trajectory, Work as Work
