from torsor.modern_robotics.book_arguments import chain as chain, lists as lists
from torsor.modern_robotics.dynamics import (
    EndEffectorForces as EndEffectorForces,
    EulerStep as EulerStep,
    ForwardDynamics as ForwardDynamics,
    ForwardDynamicsTrajectory as ForwardDynamicsTrajectory,
    GravityForces as GravityForces,
    InverseDynamics as InverseDynamics,
    InverseDynamicsTrajectory as InverseDynamicsTrajectory,
    MassMatrix as MassMatrix,
    VelQuadraticForces as VelQuadraticForces,
    ad as ad,
)
from torsor.modern_robotics.kinematics import (
    FKinBody as FKinBody,
    FKinSpace as FKinSpace,
    IKinBody as IKinBody,
    IKinSpace as IKinSpace,
    JacobianBody as JacobianBody,
    JacobianSpace as JacobianSpace,
)
from torsor.modern_robotics.poses_and_twists import (
    Adjoint as Adjoint,
    AxisAng6 as AxisAng6,
    DistanceToSE3 as DistanceToSE3,
    MatrixExp6 as MatrixExp6,
    MatrixLog6 as MatrixLog6,
    ProjectToSE3 as ProjectToSE3,
    RpToTrans as RpToTrans,
    ScrewToAxis as ScrewToAxis,
    TestIfSE3 as TestIfSE3,
    TransInv as TransInv,
    TransToRp as TransToRp,
    VecTose3 as VecTose3,
    se3ToVec as se3ToVec,
)
from torsor.modern_robotics.rotations import (
    AxisAng3 as AxisAng3,
    DistanceToSO3 as DistanceToSO3,
    MatrixExp3 as MatrixExp3,
    MatrixLog3 as MatrixLog3,
    NearZero as NearZero,
    Normalize as Normalize,
    ProjectToSO3 as ProjectToSO3,
    RotInv as RotInv,
    TestIfSO3 as TestIfSO3,
    VecToso3 as VecToso3,
    so3ToVec as so3ToVec,
)
from torsor.modern_robotics.trajectories_and_control import (
    CartesianTrajectory as CartesianTrajectory,
    ComputedTorque as ComputedTorque,
    CubicTimeScaling as CubicTimeScaling,
    JointTrajectory as JointTrajectory,
    QuinticTimeScaling as QuinticTimeScaling,
    ScrewTrajectory as ScrewTrajectory,
    SimulateControl as SimulateControl,
)
