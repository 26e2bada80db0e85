"""A robot to look at: a page in the browser, one file that plays anywhere, pictures, animations.

Functions
---------
animate  The file of an animation of a motion: .html, .gif or .mp4
view     A page in the browser that shows a robot and plays its motion; also written as one file, or as a picture

Classes
-------
Viewer
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
