"""What the structure of a robot tells about its shortest algorithm, compared with the lengths of all of them.

Where an algorithm is not tried, it must not have been shorter by more than five percent; a sixth where the one that is tried runs
in loops, which takes less time for each operation.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import torsor
from torsor import Robot
from torsor.border.arrays import prepare
from torsor.compiler.graph import count
from torsor.compiler.trace import Budget
from torsor.functions.describe import Public, program_of, request_of
from torsor.functions.dispatch import about_of

FOLDER = Path(__file__).parents[1] / "data" / "robots"
MARGIN, MARGIN_OF_LOOPS = 1.05, 1.17
RANDOM = torsor.robots.random_tree
ROBOTS = {
    "pendulum": torsor.robots.pendulum,
    "cart_pole": torsor.robots.cart_pole,
    "ur5": torsor.robots.ur5,
    "panda": torsor.robots.panda,
    "talos": lambda: torsor.load(FOLDER / "talos38_floating.urdf", base="floating"),
    **{f"chain of {n}": lambda n=n: torsor.load(FOLDER / f"chain{n}.urdf") for n in (2, 8, 12, 16)},
    **{f"neat chain of {n}": lambda n=n: torsor.robots.chain(n) for n in (10, 16)},
    **{
        f"hinges and slides {n}": lambda n=n: RANDOM(n, seed=n, kinds=("revolute", "prismatic"), serial=n % 2 == 0)
        for n in (5, 9, 10, 20)
    },
    **{
        f"every joint {n}": lambda n=n: RANDOM(n, seed=n, serial=n > 8, friction=True, armature=True)
        for n in (2, 3, 6, 9, 11)
    },
    "limbs on a free base": lambda: RANDOM(12, seed=4, kinds=("free", "revolute", "revolute", "revolute")),
}
robot_of = cache(lambda name: ROBOTS[name]())


def record(name: str) -> Public:
    return about_of(getattr(torsor, name))


def lengths(name: str, robot: Robot) -> dict[str, int]:
    """Operations of each algorithm of a public function, by its name."""
    about = record(name)
    q, v, a = torsor.random_state(robot, seed=0)
    values, _ = prepare(about.algorithm, (robot, q) if name == "mass_matrix" else (robot, q, v, a), {})
    request, _ = request_of(about.algorithm, values)
    return {
        algorithm.__name__: sum(
            count(program_of(algorithm, about.robot_for(robot), request, about.outputs, Budget())).values()
        )
        for algorithm in about.algorithms(robot)
    }


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_what_is_not_tried_is_not_shorter(name, robot):
    model = robot_of(robot)
    tried = [algorithm.__name__ for algorithm in record(name).likely_algorithms(model)]
    if len(tried) == len(record(name).algorithms(model)):
        return
    found = lengths(name, model)
    margin = MARGIN_OF_LOOPS if tried == ["looped_inverse_dynamics"] else MARGIN
    assert min(found[algorithm] for algorithm in tried) <= margin * min(found.values()), found


def test_the_structure_decides_where_it_can():
    def tried(name: str, robot: str) -> int:
        return len(record(name).likely_algorithms(robot_of(robot)))

    for robot in ("ur5", "panda", "chain of 8", "chain of 16", "talos"):
        assert tried("inverse_dynamics", robot) == 1
        assert tried("forward_dynamics", robot) == 1
    assert tried("forward_dynamics", "chain of 12") == 2
    assert tried("mass_matrix", "chain of 16") == 1
    in_loops = {
        name for name in ROBOTS if "looped" in record("inverse_dynamics").likely_algorithms(robot_of(name))[0].__name__
    }
    assert in_loops == {"chain of 16"}
