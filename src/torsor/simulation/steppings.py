"""The step of a simulation that is asked for, with its machine code if the same was simulated before."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from torsor.simulation.given import Setup
from torsor.simulation.stepping import SAMPLED, Method, Stepping

_STEPPINGS: OrderedDict[Any, Stepping] = OrderedDict()  # with their machine code


def stepping_of(setup: Setup, method: Method) -> Stepping:
    """The step, and its machine code if the same was simulated before."""
    drive, plant = setup.drive, setup.plant
    shapes = tuple(drive.memory.shapes.items()) if drive.kind == SAMPLED and drive.memory is not None else ()
    held_longer = setup.control_every > 1 and drive.kind == SAMPLED
    has_base_motion = setup.base_motion is not None or "base_twist" in setup.constants
    made = Stepping(
        plant, method, drive.kind, drive.asked, shapes, held_longer, setup.wrenches, setup.base_motion, has_base_motion
    )
    if not made.is_traceable:
        return made
    programs = tuple((frame, None if asked is None else asked.digest) for frame, asked in setup.wrenches)
    key = (
        setup.robot.digest,
        plant.stops,
        plant.clamps,
        method,
        drive.kind,
        None if drive.asked is None else drive.asked.digest,
        shapes,
        held_longer,
        programs,
        has_base_motion,
        None if setup.base_motion is None else setup.base_motion.digest,
    )
    found = _STEPPINGS.pop(key, made)  # each of these is one step for Python: other threads may simulate, too
    _STEPPINGS[key] = found
    while len(_STEPPINGS) > 32:
        _STEPPINGS.popitem(last=False)
    return found
