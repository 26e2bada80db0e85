"""Derivatives of motion and of dynamics, first and second, and linear equations of motion near a state."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
