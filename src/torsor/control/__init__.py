"""Control: laws in joint and task space, resolved rates (differential IK), priorities within limits (hierarchical QP)."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
