"""Every algorithm for the same numbers, compared with the others on the same robots: not only the one that is compiled.

What is compiled for a robot is the rival with the fewest operations, so that of two rivals one may never run. Here all that the
registry of public functions knows are evaluated with NumPy: other algorithms, the form by whole arrays, the
program differentiated, other public functions of the same numbers.

Tolerance. The same doubles in another order, where M⁻¹ magnifies: 1e-13, and 1e-15 times the condition number of M, of the
largest entry of the result and of |M⁻¹|, with which curvatures and second derivatives are contracted.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from test_compiled import ALL, ROBOTS, arguments, parts

import torsor
from torsor import Robot
from torsor.border.arrays import prepare
from torsor.compiler.print.numpy import build
from torsor.functions.describe import Public, request_of
from torsor.functions.dispatch import PUBLIC, about_of

SIZES = {
    "arm of hinges, slides and screws": torsor.robots.random_tree(
        5, seed=9, kinds=ALL[:3], serial=True, armature=True, friction=True
    ),
    "branches": torsor.robots.random_tree(6, seed=3, kinds=ALL[:2]),
    **{name: ROBOTS[name] for name in ("cart_pole of points", "tree with mimic joints", "short tree")},
    "free body with an arm": torsor.robots.random_tree(3, seed=2, kinds=("free", "revolute", "planar"), serial=True),
}
BATCH = (3,)
GRAPH_SIZE = 4  # freedoms of the robots whose program is differentiated; larger ones have no use for it
Way = Callable[..., Any]


def ways(about: Public, robot: Robot) -> dict[str, Way]:
    """Every way of the registry to a function's numbers, by its name; each is called with the arguments after the robot."""
    found: dict[str, Way] = {}
    for algorithm in about.algorithms(robot):
        found[algorithm.__name__] = partial(algorithm, robot)
    if about.arrays is not None:
        found["whole arrays"] = partial(about.arrays.evaluate, robot)
    if about.graph is not None and robot.nv <= GRAPH_SIZE:
        found["program differentiated"] = partial(differentiated, about, robot)
    if about.same_as is not None:
        found[about.same_as] = partial(PUBLIC[about.same_as], robot)
    return found


def differentiated(about: Public, robot: Robot, **given: Any) -> tuple[np.ndarray, ...]:
    values, _ = prepare(about.algorithm, (robot,), given)
    request, arrays = request_of(about.algorithm, values)
    program = about.graph(about.robot_for(robot), request, about.outputs)
    graph = copy(program.graph)
    graph.inputs = tuple(port._replace(name=f"input_{k}") for k, port in enumerate(graph.inputs))
    return tuple(build(program._replace(graph=graph))(*arrays).values())


def ways_for(name: str, robot: Robot) -> dict[str, Way]:
    """The ways to a public function's numbers for a robot; none if it refuses the robot."""
    try:
        return ways(about_of(PUBLIC[name]), robot)
    except torsor.ModelError:
        return {}


CASES = [(name, robot) for name in sorted(PUBLIC) for robot in SIZES if len(ways_for(name, SIZES[robot])) > 1]


@cache
def loss(robot: Robot) -> float:
    """What rounding and M⁻¹ may cost."""
    M = torsor.mass_matrix(robot, arguments(robot, "mass_matrix", BATCH)["q"])
    return float((1e-13 + 1e-15 * np.linalg.cond(M)).max() * max(1.0, np.abs(np.linalg.inv(M)).max()))


@pytest.mark.parametrize(("name", "robot"), CASES)
def test_all_rivals_give_the_same_numbers(name, robot):
    robot = SIZES[robot]
    given = arguments(robot, name, BATCH)
    first, *others = ((way, parts(function(**given))) for way, function in ways_for(name, robot).items())
    for way, got in others:
        for x, y in zip(got, first[1], strict=True):
            assert x.shape == y.shape
            within = loss(robot) * (1 + np.abs(y).max())
            np.testing.assert_allclose(x, y, rtol=0, atol=within, err_msg=f"{name}: {way} beside {first[0]}")


def test_whatever_has_a_rival_is_compared():
    """Each with a robot that has that rival, those of the forward dynamics and of geodesics among them."""
    compared: dict[str, set[str]] = {}
    for name, robot in CASES:
        compared.setdefault(name, set()).update(ways_for(name, SIZES[robot]))
    for name, function in PUBLIC.items():
        about = about_of(function)
        expected = {"whole arrays"} if about.arrays else set()
        expected |= {"program differentiated"} if about.graph else set()
        expected |= {about.same_as} if about.same_as else set()
        assert expected <= compared.get(name, set()), name
    assert {"articulated_body_acceleration", "factorised_acceleration"} <= compared["forward_dynamics"]
    assert {"geodesic_acceleration", "articulated_geodesic_acceleration"} <= compared["geodesic_acceleration"]


@pytest.mark.parametrize("kinds", [("revolute",), ("free", "revolute", "planar", "prismatic", "spherical")])
def test_mass_matrices_of_long_chains_in_root_axes(kinds):
    """A rival that only chains of eight joints or more have; the longer the chain, the more it saves."""
    robot = torsor.robots.random_tree(9, seed=4, kinds=kinds, serial=True, armature=True)
    q = arguments(robot, "mass_matrix", BATCH)["q"]
    found = ways_for("mass_matrix", robot)
    assert list(found) == ["mass_matrix_by_root_axes", "mass_matrix"]
    other, M = (way(q=q) for way in found.values())
    np.testing.assert_allclose(other, M, rtol=0, atol=1e-14 * np.abs(M).max())
