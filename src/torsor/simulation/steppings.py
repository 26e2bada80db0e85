"""The step of a simulation that is asked for, with its machine code if the same was simulated before."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.trajectory import Work
from torsor.simulation.given import Setup
from torsor.simulation.plant import WORKS
from torsor.simulation.stepping import SAMPLED, Method, Stepping

_STEPPINGS: OrderedDict[Any, Stepping] = OrderedDict()  # with their machine code


def stepping_of(setup: Setup, method: Method) -> Stepping:
    """The step, and its machine code if the same was simulated before."""
    if (known := setup.acts.steppings.get(method)) is not None:
        return known
    return setup.acts.steppings.setdefault(method, _stepping_of(setup, method))


def _stepping_of(setup: Setup, method: Method) -> Stepping:
    drive, plant = setup.acts.drive, setup.acts.plant
    shapes = tuple(drive.memory.shapes.items()) if drive.kind == SAMPLED and drive.memory is not None else ()
    held_longer = setup.acts.control_every > 1 and drive.kind == SAMPLED
    has_base_motion = setup.acts.base_motion is not None or "base_twist" in setup.acts.constants
    works = _works(setup, has_base_motion)
    made = Stepping(
        plant,
        method,
        drive.kind,
        drive.asked,
        shapes,
        held_longer,
        setup.acts.wrenches,
        setup.acts.base_motion,
        has_base_motion,
        works,
    )
    if not made.is_traceable:
        return made
    programs = tuple((frame, None if asked is None else asked.digest) for frame, asked in setup.acts.wrenches)
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
        None if setup.acts.base_motion is None else setup.acts.base_motion.digest,
        works,
    )
    found = _STEPPINGS.pop(key, made)  # each of these is one step for Python: other threads may simulate, too
    _STEPPINGS[key] = found
    while len(_STEPPINGS) > 32:
        _STEPPINGS.popitem(last=False)
    return found


def _works(setup: Setup, has_base_motion: bool) -> tuple[int, ...]:
    """The places in `WORKS` of those that can be other than zero."""
    plant = setup.acts.plant
    acts = any(event.action is not None for event in setup.acts.events)
    there = (True, bool(setup.acts.wrenches) or has_base_motion or acts, plant.has_friction, plant.has_modes)
    return tuple(k for k, is_there in enumerate(there) if is_there)


def work_of(kept: Array, works: tuple[int, ...], batch: tuple[int, ...]) -> Work:
    """The works of trajectories from those that were kept (B, N, k); the others are zero."""
    shape = (*batch, kept.shape[1])
    found = {k: kept[..., place].reshape(shape) for place, k in enumerate(works)}
    nothing = iter(np.zeros((len(WORKS) - len(works), *shape)))
    return Work(*(found[k] if k in found else next(nothing) for k in range(len(WORKS))))
