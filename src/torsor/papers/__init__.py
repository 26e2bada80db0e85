"""For readers of the papers: equations as they are printed, the historical formulations, and what each costs."""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
