"""Dynamic balancing: mechanisms whose mass matrix is constant, counterweights that make it so, and design by such measures."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
