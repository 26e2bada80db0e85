"""A small zoo: robots embedded as data, one function each, sources cited in their files."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
