"""Motion in time: what a robot does under forces and controllers, within what it can do.

Functions
---------
sensitivities  Derivatives of a simulated motion by its initial state, its joint forces and its robot
simulate       Motion from a state under joint forces, under a controller, or left to itself

Classes
-------
Event, JaxRollout, ModeChange, Occurrence, Pullback, Sensitivities, SimulationDiverged, Stops, Trajectory
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
