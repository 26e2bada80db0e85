from torsor.adapters.drake import Drake as Drake
from torsor.adapters.mujoco import MuJoCo as MuJoCo
from torsor.adapters.pinocchio import Pinocchio as Pinocchio
from torsor.adapters.ros import ROS as ROS
