"""Luh, Walker and Paul's recursion and frames along common normals: as many operations as promised, and no digit lost.

Counts are upper bounds that hold on every machine: robots and programs are the same to the bit. The best published counts for
general chains are about 92 n multiplications and 81 n additions [BPM88 and others].
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import count
from torsor.functions.describe import request_of
from torsor.functions.dispatch import PUBLIC, about_of
from torsor.mechanics.dynamics.inverse_dynamics import inverse_dynamics, vector_inverse_dynamics
from torsor.model.aligned import aligned, candidates

FILES = Path(__file__).parents[1] / "data" / "robots"
MOST = {  # operations of inverse and forward dynamics
    "panda7": (610, 1220),
    "ur5": (305, 575),
    "puma560": (350, 700),
    "iiwa": (415, 855),
    "chain8": (1130, 2860),
}


def load(name: str) -> torsor.Robot:
    maker = getattr(torsor.robots, name, None)
    return maker() if maker is not None else torsor.load(FILES / f"{name}.urdf")


def operations(name: str, robot: torsor.Robot) -> int:
    about = about_of(PUBLIC[name])
    q, v, a = torsor.random_state(robot, seed=0)
    last = "tau" if name == "forward_dynamics" else "a"
    request, _ = request_of(about.algorithm, {"robot": robot, "q": q, "v": v, last: a})
    return sum(count(about.shortest(request)[1]).values())


@pytest.mark.parametrize("name", MOST)
def test_counts_are_as_promised(name):
    robot = load(name)
    found = operations("inverse_dynamics", robot), operations("forward_dynamics", robot)
    assert found[0] <= MOST[name][0]
    assert found[1] <= MOST[name][1]


def extreme(seed: int) -> torsor.Robot:
    """Masses from milligrams to tons, thin links, axes from parallel to 1e-7 beside it, offsets from micrometres to metres."""
    random = np.random.default_rng(seed)
    joints = []
    for k in range(5):
        mass, length, width = (
            10.0 ** random.uniform(-3, 3),
            10.0 ** random.uniform(-2, 1),
            10.0 ** random.uniform(-5, -2),
        )
        body = torsor.Inertia.cylinder(width, length, mass=mass, axis=str(random.choice(list("xyz"))))
        axis = np.eye(3)[random.integers(3)] + random.choice([0.0, 1e-7, 1.0]) * random.normal(size=3)
        pose = torsor.lie.se3.exp(
            np.concatenate([random.choice([0.0, 1e-6, 1.0]) * random.normal(size=3), np.zeros(3)])
        )
        pose[:3, 3] = 10.0 ** random.uniform(-6, 0.5) * random.normal(size=3)
        joints.append(
            torsor.Joint(
                name=f"j{k}",
                kind="revolute" if random.uniform() < 0.8 else "prismatic",
                axis=axis / np.linalg.norm(axis),
                link=f"l{k}",
                parent=f"l{k - 1}" if k else "base",
                pose=pose,
                inertia=body,
            )
        )
    return torsor.assemble(joints)


@pytest.mark.parametrize("seed", range(12))
def test_no_digit_is_lost_in_any_frames_on_extreme_robots(seed):
    """Beside the recursion on twists in frames near those given, in double precision; the truth is in extended precision.

    A factor of 30: the largest of a hundred errors of another order of operations; 1e-15 is what a few roundings are.
    """
    robot = extreme(seed)
    state = torsor.random_state(robot, seed=seed, batch=(20,))
    truth = inverse_dynamics(robot, *(x.astype(np.longdouble) for x in state))
    if truth.dtype != np.longdouble or np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("long double is no longer than double on this machine")

    def error(algorithm, frames):
        return (np.abs(algorithm(frames, *state) - truth).max(axis=0) / np.abs(truth).max(axis=0)).astype(float)

    frames = candidates(robot)
    before = error(inverse_dynamics, frames[-1])
    for moved in frames:
        assert np.all(error(vector_inverse_dynamics, moved) <= 30 * before + 1e-15)


def test_a_far_common_normal_is_not_gone_to():
    """Axes 1e-3 rad beside parallel, a metre apart, are nearest a kilometre away."""
    lean = np.array([1e-3, 0.0, 1.0])
    body = torsor.Inertia.sphere(0.1, mass=1.0)
    pose = np.eye(4)
    pose[:3, 3] = 1.0, 0.5, 0.2
    joints = [
        torsor.Joint(name="a", kind="revolute", axis=(0, 0, 1), link="one", inertia=body),
        torsor.Joint(
            name="b", kind="revolute", axis=lean / np.linalg.norm(lean), parent="one", pose=pose, inertia=body
        ),
    ]
    for moved in candidates(torsor.assemble(joints)):
        assert np.abs(moved.parameters.poses[:, :3, 3]).max() < 2.0


@pytest.mark.parametrize("name", ["panda7", "ur5", "iiwa", "puma560"])
def test_the_frames_chosen_are_about_the_best(name):
    """By an estimate; the count of the others may be a little less."""
    robot = load(name)
    counts = {id(frames): operations("inverse_dynamics", frames) for frames in candidates(robot)}
    chosen = operations("inverse_dynamics", aligned(robot))
    assert chosen <= 1.03 * min(counts.values())
