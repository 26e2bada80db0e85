"""The equations of motion of small robots in closed form, as a textbook prints them."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
