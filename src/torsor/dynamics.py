"""Forces, energy and momentum: inverse and forward dynamics, the mass matrix and every other term of the equations of motion."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
