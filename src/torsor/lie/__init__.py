"""Rigid motions: rotations (`so3`), poses (`se3`), and how twists, wrenches and inertias move between frames.

What users call: shapes are checked and lists become arrays. Inner code, which knows what it passes, calls `lie.unchecked`.
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
