"""The functions of the book *Modern Robotics* (Lynch and Park, 2017), computed by torsor: a stand-in for its library.

``from torsor import modern_robotics as mr`` instead of ``import modern_robotics as mr``: same names, arguments and
results. `chain` makes a `torsor.Robot` of the book's lists, `lists` goes back.

In the docstrings, "published" marks chapters and sections of the published book [LP]; (9.x) and §9.x without that word
are those of the draft of its chapter on dynamics, as everywhere in torsor.
"""

from torsor.modern_robotics.book_lists import chain as chain, lists as lists
from torsor.modern_robotics.control import ComputedTorque as ComputedTorque, SimulateControl as SimulateControl
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
from torsor.modern_robotics.rigid_body_motions import (
    Adjoint as Adjoint,
    AxisAng3 as AxisAng3,
    AxisAng6 as AxisAng6,
    DistanceToSE3 as DistanceToSE3,
    DistanceToSO3 as DistanceToSO3,
    MatrixExp3 as MatrixExp3,
    MatrixExp6 as MatrixExp6,
    MatrixLog3 as MatrixLog3,
    MatrixLog6 as MatrixLog6,
    NearZero as NearZero,
    Normalize as Normalize,
    ProjectToSE3 as ProjectToSE3,
    ProjectToSO3 as ProjectToSO3,
    RotInv as RotInv,
    RpToTrans as RpToTrans,
    ScrewToAxis as ScrewToAxis,
    TestIfSE3 as TestIfSE3,
    TestIfSO3 as TestIfSO3,
    TransInv as TransInv,
    TransToRp as TransToRp,
    VecTose3 as VecTose3,
    VecToso3 as VecToso3,
    se3ToVec as se3ToVec,
    so3ToVec as so3ToVec,
)
from torsor.modern_robotics.trajectories import (
    CartesianTrajectory as CartesianTrajectory,
    CubicTimeScaling as CubicTimeScaling,
    JointTrajectory as JointTrajectory,
    QuinticTimeScaling as QuinticTimeScaling,
    ScrewTrajectory as ScrewTrajectory,
)
