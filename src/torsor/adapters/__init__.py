"""States, forces, twists, wrenches and poses in the conventions of other libraries, and back. None of them is imported."""

from torsor.adapters.drake import Drake as Drake
from torsor.adapters.mujoco import MuJoCo as MuJoCo
from torsor.adapters.pinocchio import Pinocchio as Pinocchio
from torsor.adapters.ros import ROS as ROS
