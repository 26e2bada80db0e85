"""Resolved rates and what they are given, as public functions: checked at the border and compiled for each robot and task.

Loaded when first asked for, and registered then.
"""

from __future__ import annotations

from torsor.compiled import public
from torsor.resolution import objectives, resolved_rate as rates

resolved_rate = public(rates.resolved_rate, "v", module=__name__)
resolved_acceleration = public(rates.resolved_acceleration, "a", module=__name__)
limit_gradient = public(objectives.limit_gradient, "slope", module=__name__)
posture_gradient = public(objectives.posture_gradient, "slope", module=__name__)
