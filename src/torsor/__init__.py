"""torsor: robot dynamics on Lie groups.

arm = torsor.load("robot.urdf")  # or torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0)
tau = torsor.inverse_dynamics(arm, q, v, a)

The names of every day are here; everything is in the namespaces: torsor.kinematics, torsor.dynamics, torsor.derivatives, ...
"""

from torsor._lazy import attach

__version__ = "0.1.0.dev0"
__getattr__, __dir__, __all__ = attach(__name__)
