"""The inertia metric as geometry: derivatives of the mass matrix, Christoffel symbols, curvature, left-invariant metrics."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
