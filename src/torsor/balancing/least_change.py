"""As balanced as a few kilograms allow: one point mass on each link, where it takes most variation out of the mass matrix."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence

import numpy as np

from torsor.balancing.counterweight_search import ITERATIONS, LARGE, Problem, effort, starts
from torsor.balancing.counterweights import Balancing, Counterweight, carrying
from torsor.balancing.linear_variation import variation_map
from torsor.balancing.mass_matrix_balance import report_of
from torsor.balancing.variation import ROUNDING, check_robot, is_number, sampled, variation
from torsor.border import explained
from torsor.errors import ArgumentError, MissingDependency, ModelError, unknown_name
from torsor.model import Robot

PATIENCE = 1.0  # s, before a word on the terminal
TOLERANCE = 1e-9  # of the reports, as in `is_balanced`
MOST, FEWEST = 64, 6  # configurations, if not said
NEGLIGIBLE = 1e-6  # of the mass allowed: such a counterweight is left out


@explained
def least_change_balancing(
    robot: Robot,
    *,
    added_mass: float,
    reach: float,
    links: Sequence[str] | None = None,
    configurations: int | None = None,
    seed: int = 0,
    weight: float = 1e-4,
) -> Balancing:
    """Counterweights within limits that make the mass matrix as constant as they can; for every robot [BSP93, §5].

    One point mass on each of ``links`` (all by default), at most ``reach`` (m) from the origin of the link's frame, at most
    ``added_mass`` (kg) together. Minimised is the mean square of ∂M_ij/∂q_k / √(D_i D_j) over the neutral and random
    ``configurations`` (64 if None, of robots with more than a dozen freedoms fewer, for each has thousands of entries then),
    D_i the mean of M_ii of the robot as it is: a heavier mass matrix is no excuse. M is linear in the links' inertias [PBP95,
    §4], so that the mechanics is evaluated once and the search runs on a small matrix, from several starts, fewer for more than
    a dozen links (SLSQP with exact gradients; needs SciPy). ``weight`` (no unit) is the share of the mean square that may stay
    if that saves all of ``added_mass``.

    Returns the new robot, the counterweights with positions (3,), m, in their links' frames, and the reports before and after,
    both at these configurations and over the same D. The result is never worse than the robot given: where nothing helps, it
    has no counterweights.
    """
    who = "least_change_balancing"
    chosen = _checked(who, robot, added_mass, reach, links, weight)
    q = sampled(who, robot, _enough(robot) if configurations is None else configurations, seed)
    found = variation(robot, q)
    before = report_of(robot, found, TOLERANCE)
    least = np.min(found.diagonal, where=found.diagonal > 0, initial=np.inf)
    D = np.where(found.diagonal > 0, found.diagonal, least)  # a joint that moves nothing yet may do so soon
    weights: tuple[Counterweight, ...] = ()
    if before.entries and added_mass > 0:
        linear = variation_map(robot, q, D, chosen)
        felt = np.linalg.norm(linear.slopes, axis=(0, 2)) > ROUNDING  # first links change no derivative
        problem = Problem(linear._replace(slopes=linear.slopes[:, felt]), added_mass, reach, weight)
        weights = _search(who, robot, [i for i, yes in zip(chosen, felt, strict=True) if yes], problem, seed)
    heavier = carrying(robot, weights)
    after = report_of(heavier, variation(heavier, q, D), TOLERANCE)
    if after.rms >= before.rms:
        heavier, weights, after = robot, (), before
    return Balancing(heavier, weights, before, after)


def _enough(robot: Robot) -> int:
    """How many configurations tell one design from another in seconds: time grows with the cube of the freedoms, or more."""
    return max(FEWEST, int(MOST * min(1.0, (LARGE / robot.nv) ** 3)))


def _search(who: str, robot: Robot, chosen: list[int], problem: Problem, seed: int) -> tuple[Counterweight, ...]:
    """The best of several starts; negligible counterweights are left out."""
    try:
        optimize = importlib.import_module("scipy.optimize")
    except ImportError as error:
        raise MissingDependency(f"{who} needs SciPy: pip install 'torsor[motion]'.") from error
    begun, told = time.monotonic(), False
    best, least = np.zeros(4 * problem.size), 1.0
    tried = starts(problem, seed) if problem.size else []
    iterations = max(ITERATIONS // 4, int(effort(problem) * ITERATIONS)) if tried else 0
    for k, start in enumerate(tried):
        if sys.stderr.isatty() and time.monotonic() - begun > PATIENCE:
            sys.stderr.write(f"\r{who}: start {k + 1} of {len(tried)} …")
            sys.stderr.flush()
            told = True
        found = optimize.minimize(
            problem.value_and_gradient,
            start,
            jac=True,
            method="SLSQP",
            bounds=problem.bounds(),
            constraints=problem.constraints(),
            options={"maxiter": iterations, "ftol": 1e-13},
        )
        if np.all(np.isfinite(found.x)) and found.fun < least:
            best, least = found.x, float(found.fun)
    if told:
        sys.stderr.write("\r" + " " * (len(who) + 24) + "\r")
    masses, places = problem.within_limits(best)
    return tuple(
        Counterweight(robot.links[l], float(m), p)
        for l, m, p in zip(chosen, masses, places, strict=True)
        if m > NEGLIGIBLE * problem.added_mass
    )


def _checked(
    who: str, robot: Robot, added_mass: float, reach: float, links: Sequence[str] | None, weight: float
) -> list[int]:
    """The links that may carry counterweights, by number."""
    check_robot(who, robot)
    if not (is_number(added_mass) and is_number(reach) and added_mass >= 0 and reach > 0):
        raise ModelError(
            f"{who}: added_mass must not be negative and reach must be positive, got {added_mass} kg and {reach} m."
        )
    if not (is_number(weight) and weight >= 0):
        raise ArgumentError(f"{who}: weight must not be negative, got {weight}.")
    if links is not None and (isinstance(links, str) or not len(links)):
        raise ArgumentError(
            f"{who}: `links` must be a list of at least one link by name, got {links!r}. Leave it out for all: robot.links."
        )
    for link in robot.links if links is None else links:
        if link not in robot.links:
            raise unknown_name(f"{who}: robot {robot.name!r}", "moving link", link, robot.links, "robot.links")
    return [i for i, link in enumerate(robot.links) if links is None or link in links]
