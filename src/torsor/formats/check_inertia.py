"""Can the links exist, and does every joint move something?"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter

import numpy as np

from torsor.arrays import exact_constants, matmul
from torsor.arrays.symmetric_eigen import is_plainly_definite, symmetric_eigen
from torsor.arrays.typing import Array
from torsor.formats.description import Description, JointPart, LinkPart
from torsor.formats.findings import Findings
from torsor.model._assemble import depth_first

# Files give moments with a few digits. What is off by less than this part of the largest is rounding, however it is written;
WRITTEN_DIGITS = 1e-3
MOST_ROUNDING = 1e-2  # and so is what half a unit of the last digits of all moments explains, up to this part.
ROUNDING = 1e-12
NEGATIVE = ("inertia-not-positive", "inertia-rows-swapped")  # accepted, they leave moments that no body has
LARGE = 100.0  # a radius of gyration so many times the robot's size is in other units
SMALLEST = 0.1  # m: the size of a robot whose file gives no length


def check(robot: Description, report: Findings, *, is_tree: bool, floating: bool) -> None:
    """Masses, principal moments, and (where links form a tree) the joints that would move nothing.

    What does not move, on a base that is not ``floating``, needs no inertia: mistakes in it are warnings.
    """
    size = extent(robot)
    still = resting(robot) if is_tree and not floating else set()
    for link in robot.links:
        if link.mass is not None:
            told: Findings | _OfBase = _OfBase(report) if link.name in still else report
            _mass(link, told)
            if link.mass is not None and link.mass > 0:
                _moments(link, size, told)
    if is_tree:
        _idle(robot, report)


class _OfBase:
    """Takes what is found in links that do not move: a warning, and the number is made possible."""

    def __init__(self, report: Findings) -> None:
        self.report, self.accept = report, report.accept

    def add(
        self, rule: str, line: int | None, element: str, message: str, fix: Callable[[], object] | None = None
    ) -> None:
        """Report something, as `Findings.add` does."""
        if rule in ("mass-negative", "inertia-rounded") or rule in (*self.report.repair, *self.report.accept):
            self.report.add(rule, line, element, message, fix)
            return
        self.report.add("inertia-of-base", line, element, f"{message} ({rule})")
        if fix is not None:
            fix()


def resting(robot: Description) -> set[str]:
    """The root link and all that is fixed to it."""
    still = {robot.base}
    for joint in outwards(robot):
        if joint.kind == "fixed" and joint.parent in still:
            still.add(joint.child)
    return still


def extent(robot: Description) -> float:
    """How large the robot is, m: the largest distance, centre of mass or shape that the file mentions."""
    lengths = [0.0]
    lengths += [math.hypot(*joint.pose[:3, 3].tolist()) for joint in robot.joints]
    lengths += [math.hypot(*link.com.tolist()) for link in robot.links if link.mass]
    lengths += [max(shape.size) for link in robot.links for shape in link.shapes if shape.size]
    return max(lengths)


def _mass(link: LinkPart, report: Findings | _OfBase) -> None:
    if link.mass is not None and link.mass < 0:
        report.add("mass-negative", link.at, link.where, f"its mass is {link.mass:.6g} kg")
        link.mass = -link.mass  # it is refused; what follows should not be blamed
    elif link.mass == 0 and np.any(link.moments != 0):

        def drop() -> None:
            link.moments = np.zeros(6)

        message = f"no mass, but a rotational inertia of {float(np.abs(link.moments).max()):.6g} kg·m²"
        report.add("massless-with-inertia", link.at, link.where, message, drop)


def _moments(link: LinkPart, size: float, report: Findings | _OfBase) -> None:
    assert link.mass is not None
    xx, xy, xz, yy, yz, zz = link.moments.tolist()
    x, y, z = 0.5 * (yy + zz - xx), 0.5 * (zz + xx - yy), 0.5 * (xx + yy - zz)
    second = [[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]
    usual = link.mass * (LARGE * max(size, SMALLEST)) ** 2
    if xx + yy + zz <= usual and is_plainly_definite(second):  # no principal moment exceeds the sum of the others
        link.sound = True
        return
    low, middle, high = moments = np.linalg.eigvalsh(link.matrix)
    scale = float(np.abs(moments).max())
    excess, largest = high - low - middle, max(scale, link.mass * float(link.com @ link.com))
    exact = (
        low >= -ROUNDING * scale and excess <= ROUNDING * largest
    )  # but for what moving it to the centre of mass leaves
    digits = 0.0 if exact else min(_written_rounding(link), MOST_ROUNDING * scale)
    possible = low >= -max(ROUNDING * scale, digits) and excess <= max(WRITTEN_DIGITS * high, digits)
    if not possible and scale < ROUNDING * link.mass * max(size, SMALLEST) ** 2:
        link.moments[:] = 0.0  # what is left of a point mass after some arithmetic
        return
    radius = (scale / link.mass) ** 0.5
    if possible and not exact:
        _rounded(link, moments, report)
    elif not possible and _possible(other := _reordered(link)):

        def reorder() -> None:
            link.set_matrix(other)

        message = f"ixx … izz = {' '.join(f'{x:.6g}' for x in link.moments)} have moments {_listed(moments)}"
        report.add("inertia-rows-swapped", link.at, link.where, message, reorder)
    elif low < -ROUNDING * scale:
        message = f"its principal moments are {_listed(moments)} kg·m²"
        report.add("inertia-not-positive", link.at, link.where, message, lambda: link.set_matrix(nearest(link.matrix)))
    elif not possible:
        report.add(
            "inertia-triangle", link.at, link.where,
            f"the largest principal moment {high:.6g} exceeds the sum of the other two, {_listed(moments, ' + ', 2)}, "
            f"by {excess:.3g} kg·m² ({excess / high:.1%})",
            lambda: link.set_matrix(nearest(link.matrix)),
        )  # fmt: skip
    link.unchecked = bool(low < -ROUNDING * scale) and any(rule in report.accept for rule in NEGATIVE)
    if radius > LARGE * max(size, SMALLEST):
        report.add(
            "inertia-units", link.at, link.where,
            f"{link.mass:.6g} kg with {scale:.6g} kg·m² has a radius of gyration of {radius:.4g} m; "
            f"the robot's largest length is {size:.4g} m",
        )  # fmt: skip


def _rounded(link: LinkPart, moments: Array, report: Findings | _OfBase) -> None:
    """A body but for the rounding of its file: accepted; moments below zero, of which there is no body, become zero."""
    low, middle, high = moments
    negative = low < -ROUNDING * high
    if negative:
        link.set_matrix(nearest(link.matrix))
        message = f"its principal moment {low:.3g} kg·m² is not positive, and taken for 0"
    else:
        message = (
            f"its largest principal moment exceeds the sum of the other two by {(high - low - middle) / high:.1e} of it"
        )
    report.add("inertia-rounded", link.at, link.where, message)


def _written_rounding(link: LinkPart) -> float:
    """What half a unit of the last digit of each moment may change in high − low − middle, kg·m²; 0 if it is not known.

    Principal moments change by no more than the largest sum of a row, and high − low − middle is 2 high − trace.
    """
    if not link.written:
        return 0.0
    halves = LinkPart("", moments=np.array([_half_unit(word) for word in link.written])).matrix
    return float(2.0 * halves.sum(axis=1).max() + np.trace(halves))


def _half_unit(word: str) -> float:
    """Half a unit of the last digit of a number as written; none of 0, which is seldom rounded."""
    if float(word) == 0.0:
        return 0.0
    digits, _, exponent = word.strip().lower().partition("e")
    return float(0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))


@exact_constants()
def nearest(matrix: Array) -> Array:
    """The inertia a body can have, with the same axes, whose second moments are not negative: those are set to zero."""
    moments, axes = symmetric_eigen(matrix)
    spread = np.maximum(0.5 * moments.sum() - moments, 0.0)  # ∫ r rᵀ dm along the axes
    return matmul(axes * (spread.sum() - spread), axes.T)


def _possible(matrix: Array) -> bool:
    low, middle, high = np.linalg.eigvalsh(matrix)
    return bool(low > 0 and high <= (low + middle) * (1 + WRITTEN_DIGITS))


def _reordered(link: LinkPart) -> Array:
    """The six numbers taken as ixx, iyy, izz, ixy, ixz, iyz."""
    xx, yy, zz, xy, xz, yz = link.moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _idle(robot: Description, report: Findings) -> None:
    """Joints beyond which there is no inertia (errors), and massless links that carry some further out (warnings)."""
    links = {link.name: link for link in robot.links}
    rigid = {name: link.mass or 0.0 for name, link in links.items()}  # with all that is fixed to it
    beyond = dict(rigid)  # with all that it carries
    for joint in reversed(outwards(robot)):
        beyond[joint.parent] += beyond[joint.child]
        if joint.kind == "fixed":
            rigid[joint.parent] += rigid[joint.child]
    coupled = {joint.mimic.joint for joint in robot.joints if joint.mimic is not None}
    for joint in robot.joints:
        if joint.kind == "fixed" or joint.child not in links or rigid[joint.child] > 0:
            continue
        if beyond[joint.child] > 0:
            if links[joint.child].virtual:
                continue
            message = f"it has no mass, between {joint.where} and what it carries"
            report.add("massless-connector", links[joint.child].line, f"link {joint.child!r}", message)
        elif not (np.any(np.asarray(joint.armature) > 0) or joint.mimic is not None or joint.name in coupled):
            # a leader without inertia may drive a follower that has some: there the mass matrix decides
            report.add(
                "idle-joint", joint.line, joint.where, f"it moves no inertia: {joint.child!r} and all beyond are massless",
                lambda joint=joint: setattr(joint, "kind", "fixed"),  # type: ignore[misc]
            )  # fmt: skip


def outwards(robot: Description) -> list[JointPart]:
    """The joints of the tree from the base outwards, siblings in the order of the file."""
    return depth_first(robot.joints, robot.base, attrgetter("child"))


def _listed(moments: Array, between: str = ", ", count: int = 3) -> str:
    """The first of the principal moments as words; what is rounding beside the largest is 0."""
    scale = np.abs(moments).max()
    return between.join(f"{0.0 if abs(x) < ROUNDING * scale else x:.6g}" for x in moments[:count])
