"""Brackets of the lifts that are known by their metric, compiled for each robot and task; steps of `vertical_brackets`."""

from __future__ import annotations

from torsor.functions.dispatch import public
from torsor.redundancy import lift_brackets

inertia_brackets = public(lift_brackets.inertia_brackets, "B", registered=False)
pseudoinverse_brackets = public(lift_brackets.pseudoinverse_brackets, "B", registered=False)
metric_brackets = public(lift_brackets.metric_brackets, "B", registered=False)
