"""Resolved rates and what they are given, as public functions: checked at the border and compiled for each robot and task.

Loaded when first asked for, so not among those registered when torsor is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from torsor.compiled import public
from torsor.resolution import objectives, resolved_rate as rates
from torsor.resolution.metric import refuse_asymmetric

P = ParamSpec("P")
R = TypeVar("R")


def _of_symmetric_metrics(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, which refuses metrics that are not symmetric: machine code reads but one half of them.

    A metric is given by name, and calls with names always take the general path of the function's front door.
    """
    door = cast(Any, function).__self__
    general = door.general

    def checked(*args: Any, **kwargs: Any) -> Any:
        refuse_asymmetric(door.name, kwargs.get("metric"))
        return general(*args, **kwargs)

    door.general = checked
    return function


resolved_rate = _of_symmetric_metrics(public(rates.resolved_rate, "v", registered=False, module=__name__))
resolved_acceleration = _of_symmetric_metrics(
    public(rates.resolved_acceleration, "a", registered=False, module=__name__)
)
limit_gradient = public(objectives.limit_gradient, "slope", registered=False, module=__name__)
posture_gradient = public(objectives.posture_gradient, "slope", registered=False, module=__name__)
