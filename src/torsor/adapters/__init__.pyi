from torsor.adapters.drake import Drake as Drake
from torsor.adapters.linear_first import ROS as ROS, Pinocchio as Pinocchio
from torsor.adapters.mujoco import MuJoCo as MuJoCo
