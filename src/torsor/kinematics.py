"""Motion of links and frames: poses, Jacobians, twists, accelerations, and moving along the configuration manifold."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
