"""Exercises for the notebooks of chapter 9 and of the papers. They check themselves.

Every student has a seed and so other numbers. ``exercise("9.1/energy", seed=7)`` is one exercise: ``given`` has its numbers,
``check(answer)`` says whether an answer is right and names common mistakes, ``hint(k)`` helps. No answer is ever shown.

Functions
---------
exercise  An exercise with the numbers of one student
names     Names of all exercises, or of those of one section
solves    Whether a solution passes the check for several seeds

Classes
-------
Exercise, Verdict
"""

# They enter their exercises into the book, in the order of the notebooks
from torsor.papers.exercises import section_9_1, section_9_2, section_9_3, section_9_4, section_9_5, section_9_6  # noqa: F401  # isort: skip
from torsor.papers.exercises import brockett_1993, park_1995, silver_1981, altafini_2004, kool_2004  # noqa: F401  # isort: skip
from torsor.papers.exercises.checking import Exercise, Verdict, exercise, names, solves

__all__ = ["Exercise", "Verdict", "exercise", "names", "solves"]
