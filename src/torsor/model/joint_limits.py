"""Limits of a robot's coordinates from those of its joints, which are numbers or one for each degree of freedom."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from torsor.arrays import is_concrete
from torsor.arrays.typing import Array
from torsor.errors import ModelError
from torsor.model.joint_kinds import KINDS
from torsor.model.joints import Joint, field_numbers, spread
from torsor.model.structure import Coordinate, Limits

_FIELDS = ("lower", "upper", "velocity_limit", "effort_limit")
_LARGEST = float(np.finfo(float).max)
_LIMITS = {"lower": (-np.inf, _LARGEST), "upper": (-_LARGEST, np.inf)} | dict.fromkeys(_FIELDS[2:], (0.0, np.inf))
_limits = attrgetter(*_FIELDS)


def limits_of(moving: list[Joint], coordinates: tuple[Coordinate, ...]) -> Limits:
    """Limits of all coordinates; those of a joint that follows another bind its leader."""
    own = {joint.name: joint for joint in moving}
    plain = [_numbers_of(own[c.name]) for c in coordinates if c.nq == 1]
    if len(plain) == len(moving) and None not in plain:
        return Limits(*zip(*plain, strict=True))
    for joint in moving:
        _refuse_bad_limits(joint)
    lower = {c.name: _bounds(own[c.name], "lower", c.nq, -np.inf) for c in coordinates}
    upper = {c.name: _bounds(own[c.name], "upper", c.nq, np.inf) for c in coordinates}
    velocity = {c.name: spread(own[c.name], "velocity_limit", c.nv) for c in coordinates}
    effort = {c.name: spread(own[c.name], "effort_limit", c.nv) for c in coordinates}
    # A follower's limits bind its leader: q_f = ratio q + offset, v_f = ratio v, and its force does ratio f.
    for joint in moving:
        if joint.mimic is not None and joint.mimic.ratio:
            leader, ratio = joint.mimic.joint, joint.mimic.ratio
            ends = (np.array([joint.lower, joint.upper], float).ravel() - joint.mimic.offset) / ratio
            lower[leader] = np.maximum(lower[leader], ends.min()) + 0.0  # no −0.0, which sorts below 0.0 for some
            upper[leader] = np.minimum(upper[leader], ends.max()) + 0.0
            velocity[leader] = np.minimum(velocity[leader], _of_follower(joint, "velocity_limit") / abs(ratio))
            effort[leader] = np.minimum(effort[leader], _of_follower(joint, "effort_limit") * abs(ratio))
    for name in lower:
        if (lower[name] > upper[name]).any():
            raise ModelError(
                f"joint {name!r}: lower limit {lower[name].tolist()} exceeds upper limit {upper[name].tolist()}."
            )
    return Limits(
        *(tuple(float(x) for c in coordinates for x in limit[c.name]) for limit in (lower, upper, velocity, effort))
    )


def _numbers_of(joint: Joint) -> tuple[float, float, float, float] | None:
    """One number for each limit, as nearly every file gives; None if something is to be spread, or is wrong."""
    lower, upper, velocity, effort = numbers = _limits(joint)
    plain = set(map(type, numbers)) == {float} and lower <= upper and velocity >= 0.0 and effort >= 0.0
    return numbers if plain and lower < np.inf and upper > -np.inf else None


def _refuse_bad_limits(joint: Joint) -> None:
    for field in _FIELDS:
        if type(given := getattr(joint, field)) is float and _LIMITS[field][0] <= given <= _LIMITS[field][1]:
            continue  # one number, as nearly every file gives
        value = _plain(joint, field)
        if np.isnan(value).any():
            raise ModelError(
                f"joint {joint.name!r}: `{field}` must not be NaN; where there is no limit, it is infinite."
            )
        if (field == "lower" and np.any(value == np.inf)) or (field == "upper" and np.any(value == -np.inf)):
            raise ModelError(f"joint {joint.name!r}: no position is within the limit `{field}` {value.tolist()}.")
        if field.endswith("_limit") and np.any(value < 0):
            raise ModelError(f"joint {joint.name!r}: `{field}` must not be negative, got {value.tolist()}.")


def _plain(joint: Joint, field: str) -> Array:
    """A limit as plain numbers of any shape."""
    value = field_numbers(joint, field, more="; where there is no limit, it is infinite")
    if not is_concrete(value):
        raise ModelError(
            f"joint {joint.name!r}: `{field}` is traced, but limits are part of a robot's structure: give plain numbers."
        )
    return value


def _of_follower(joint: Joint, field: str) -> Array:
    """A follower's limit (1,); none if it is zero, as files say it of joints without a motor."""
    value = spread(joint, field, 1)
    return np.where(value == 0, np.inf, value)


def _bounds(joint: Joint, field: str, size: int, none: float) -> Array:
    """Bounds (nq,) of one joint's numbers. One number for all of them bounds no quaternion: of a free joint its place alone."""
    bounds = spread(joint, field, size)
    place = KINDS[joint.kind].bounded if joint.kind in KINDS else size
    if place == size or np.size(getattr(joint, field)) > 1:
        return bounds
    if not place and np.isfinite(bounds[0]):
        raise ModelError(
            f"joint {joint.name!r}: `{field}` {bounds[0]:g} cannot bound a spherical joint, whose numbers are a quaternion; "
            "ranges of angles need joints with one number each: three revolute ones, say."
        )
    return np.append(bounds[:place], np.full(size - place, none))
