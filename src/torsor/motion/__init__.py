"""Motion as geometry: geodesics of the inertia metric, parallel transport, paths of least energy, flat robots."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
