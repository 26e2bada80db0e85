"""Resolved rates and what they are given, as public functions: checked at the border and compiled for each robot and task.

Loaded when first asked for, and registered then.
"""

from __future__ import annotations

from torsor.control import objectives, resolved_rates as rates
from torsor.functions.dispatch import public

resolved_rate = public(rates.resolved_rate, "v")
resolved_acceleration = public(rates.resolved_acceleration, "a")
limit_gradient = public(objectives.limit_gradient, "slope")
posture_gradient = public(objectives.posture_gradient, "slope")
