"""The vocabulary of shapes. A signature names what it takes; the border and the tests read the same words.

Letters: ``nq`` numbers in a configuration, ``nv`` degrees of freedom, ``n`` moving links. Batch axes come first (``...``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = Any  # a NumPy array, a JAX array or a traced array: whatever answers to ``namespace``

ROTATION, POSE = "SO(3)", "SE(3)"  # behind a shape: of which group the numbers must be an element

Scalar = Annotated[Array, "..."]
Vector3 = Annotated[Array, "... 3"]
Matrix3 = Annotated[Array, "... 3 3"]
Quaternion = Annotated[Array, "... 4"]  # (x, y, z, w)
Rotation = Annotated[Array, "... 3 3", ROTATION]
Pose = Annotated[Array, "... 4 4", POSE]
Algebra = Annotated[Array, "... 4 4"]  # element of se(3) as a matrix
Twist = Annotated[Array, "... 6"]  # (angular, linear)
Wrench = Annotated[Array, "... 6"]  # (moment, force)
Matrix6 = Annotated[Array, "... 6 6"]
Screws = Annotated[Array, "... * 6"]  # any number of screws
Coordinates = Annotated[Array, "... *"]  # as many numbers as there are screws
InertiaRow = Annotated[Array, "... 10"]  # m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the frame's origin

ConfigurationVector = Annotated[Array, "... nq"]
JointVector = Annotated[Array, "... nv"]
JointMatrix = Annotated[Array, "... nv nv"]
Jacobian = Annotated[Array, "... 6 nv"]
JacobianDerivative = Annotated[Array, "... 6 nv nv"]
PointJacobian = Annotated[Array, "... 3 nv"]
PointJacobianDerivative = Annotated[Array, "... 3 nv nv"]
LinkPoses = Annotated[Array, "... n 4 4"]
FramePoses = Annotated[Array, "... n_frames 4 4"]
LinkWrenches = Annotated[Array, "... n 6"]
JointTensor3 = Annotated[Array, "... nv nv nv"]
JointTensor4 = Annotated[Array, "... nv nv nv nv"]
JointScrews = Annotated[Array, "... nv 6"]
Regressor = Annotated[Array, "... nv n_inertial_parameters"]
SpatialRegressor = Annotated[Array, "... 6 n_inertial_parameters"]
InertialVector = Annotated[Array, "... n_inertial_parameters"]  # ten numbers per moving link, as in InertiaRow
JointParameterVector = Annotated[Array, "... n_joint_parameters"]
JointRegressor = Annotated[Array, "... nv n_joint_parameters"]
TaskVector = Annotated[Array, "... *"]  # as many numbers as the task has rows
TaskMatrix = Annotated[Array, "... * *"]
TaskJacobian = Annotated[Array, "... * nv"]
TaskJacobianDerivative = Annotated[Array, "... * nv nv"]
TaskLift = Annotated[Array, "... nv *"]  # from task velocities to joint velocities


# What users of a type checker see: the stubs of the public functions say it in these words (tools/write_stubs.py).


class SupportsArray(Protocol):
    """What NumPy makes an array of."""

    def __array__(self) -> Any: ...


class JaxArray(SupportsArray, Protocol):
    """An array of JAX, which has parts on several devices; NumPy's has not."""

    @property
    def addressable_shards(self) -> Any:
        """The parts of the array that lie on devices of this process."""


class TorchTensor(SupportsArray, Protocol):
    """A tensor of torch."""

    @property
    def requires_grad(self) -> Any:
        """Whether autograd follows it."""


class DaskArray(SupportsArray, Protocol):
    """An array of dask."""

    @property
    def dask(self) -> Any:
        """What is to be computed."""


class LabelledArray(SupportsArray, Protocol):
    """A DataArray of xarray."""

    @property
    def coords(self) -> Any:
        """The labels along the dimensions of the array."""


Number: TypeAlias = float | SupportsArray
# One kind of sequence at each depth, so that rows of whole and of other numbers may be mixed; without end, a string would fit.
Numbers: TypeAlias = Number | Sequence[Number | Sequence[Number | Sequence[Number | Sequence[Number]]]]
Result: TypeAlias = NDArray[np.floating[Any]]
Out: TypeAlias = Mapping[str, Result] | Numbers | None  # of kernels; numbers, so that ``**arrays`` fit beside it

# What people give to functions that are not compiled and hand it on: the border makes arrays of it, checkers refuse a string.
GivenConfiguration = Annotated[Numbers, "... nq"]
GivenJointVector = Annotated[Numbers, "... nv"]
GivenTaskVector = Annotated[Numbers, "... *"]
GivenVector3 = Annotated[Numbers, "... 3"]
GivenNumbers = Annotated[Numbers, "..."]  # of a shape that depends on other arguments

TheirNumbers = TypeVar("TheirNumbers", bound=JaxArray | TorchTensor | DaskArray | LabelledArray)
