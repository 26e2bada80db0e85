"""Pictures of robots and of their geometry, with matplotlib. Each draws into ``ax=`` (new if None) and returns the Axes, but for
`free_body_diagram`, which returns a `FreeBody`: the Axes, and the forces that were drawn.
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
