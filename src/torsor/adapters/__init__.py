"""States, forces, twists, wrenches and poses in the conventions of other libraries, and back. None of them is imported.

Classes
-------
Drake, MuJoCo, Pinocchio, ROS
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
