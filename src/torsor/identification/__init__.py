"""Identification: regressors, and which inertial parameters joint forces tell, in which combinations (base parameters)."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
