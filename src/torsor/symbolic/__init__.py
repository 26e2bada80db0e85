"""The equations of motion of small robots in closed form, as a textbook prints them.

Functions
---------
equations  Equations of motion τ = M(q) q̈ + C(q, q̇) q̇ + g(q) of a small robot, as in a textbook

Classes
-------
Equations
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
