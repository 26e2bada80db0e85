"""Tasks: what of a robot's motion is controlled, its dynamics, how well the robot can do it, and inverse kinematics."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
