"""The functions of the book *Modern Robotics* (Lynch and Park, 2017), computed by torsor: a stand-in for its library.

``from torsor import modern_robotics as mr`` instead of ``import modern_robotics as mr``: same names, arguments and
results. `chain` makes a `torsor.Robot` of the book's lists, `lists` goes back.

In the docstrings, "published" marks chapters and sections of the published book [LP]; (9.x) and §9.x without that word
are those of the draft of its chapter on dynamics, as everywhere in torsor.
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
