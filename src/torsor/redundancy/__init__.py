"""Redundancy as Riemannian submersions: lifts, splittings, repeatability, self-motions [Alt04, with its errata]."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
