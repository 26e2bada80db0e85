"""Inverse dynamics by loops over the links of a chain: the same numbers, in little code."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Op
from torsor.mechanics.dynamics.inverse_dynamics import inverse_dynamics, looped_inverse_dynamics
from torsor.mechanics.recursions.revolute_chain import is_revolute_chain
from torsor.model.aligned import uniform

CHAIN64 = Path(__file__).parents[1] / "data" / "robots" / "chain64.urdf"


def chain(n: int, seed: int) -> torsor.Robot:
    return torsor.robots.random_tree(n, seed=seed, kinds=("revolute",), serial=True)


@pytest.mark.parametrize(
    "robot",
    [*(chain(6, seed) for seed in range(4)), torsor.robots.puma560(friction=True), torsor.robots.chain(4)],
    ids=repr,
)
def test_loops_give_what_inverse_dynamics_gives(robot):
    """General axes, parallel and crossing ones; friction and armature are added as everywhere."""
    assert is_revolute_chain(robot)
    q, v, a = torsor.random_state(robot, seed=1, batch=(2, 3))
    with torsor.backend("numpy"):
        expected = inverse_dynamics(robot, q, v, a)
        found = looped_inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=1e-13 * np.abs(expected).max()
    )  # rounding, in other frames


def test_wrenches_and_a_base_that_moves_are_taken_too():
    robot = chain(17, 5)
    q, v, a = torsor.random_state(robot, seed=2, batch=(3,))
    draw = np.random.default_rng(3)
    given = {
        "wrenches": {robot.frames[-1]: draw.normal(size=(3, 6))},
        "base_motion": (draw.normal(size=(3, 6)), draw.normal(size=(3, 6))),
    }
    with torsor.backend("numpy"):
        expected = inverse_dynamics(robot, q, v, a, **given)
    for found in (looped_inverse_dynamics(robot, q, v, a, **given), torsor.inverse_dynamics(robot, q, v, a, **given)):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_loops_have_the_same_bits_alone_and_in_a_batch_and_run_within_functions():
    """A chain long enough to run as loops by itself; a function of a batch of its states calls it for each."""
    robot = chain(20, 6)
    q, v, a = torsor.random_state(robot, seed=4, batch=(11,))
    found = torsor.inverse_dynamics(robot, q, v, a)
    one = np.array([torsor.inverse_dynamics(robot, *state) for state in zip(q, v, a, strict=True)])
    np.testing.assert_array_equal(one, found)

    def twice(robot, q, v, a):
        return 2.0 * torsor.inverse_dynamics(robot, q, v, a)

    shape = (11, 20)
    kernel = torsor.compile(twice, robot, {"q": shape, "v": shape, "a": shape})
    np.testing.assert_allclose(kernel(q, v, a), 2.0 * found, rtol=0, atol=1e-13 * np.abs(found).max())


def test_all_links_of_a_chain_have_the_same_zeros_in_uniform_frames():
    robot = uniform(chain(9, 3))
    poses, screws, inertias = robot.parameters.poses, robot.parameters.screws, robot.parameters.inertias
    assert (screws == [0, 0, 1, 0, 0, 0]).all()
    assert (poses[1:, 0, 2] == 0.0).all()  # the axis is normal to the parent's x
    assert (inertias[1:, [0, 3]] == 0.0).all()  # mass and the moment along the axis are the parent's
    assert (inertias[1:, 4] == 0.0).all()  # and what is the same about all axes across


def test_a_chain_of_64_links_in_c_is_below_thirty_kilobytes(tmp_path):
    robot = torsor.load(CHAIN64)
    kernel = torsor.compile(torsor.inverse_dynamics, robot, small=True)
    written = kernel.to_c(tmp_path / "id.c")
    assert (tmp_path / "id.c").stat().st_size < 30_000
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    sources = [str(path) for path in written if path.suffix == ".c"]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, *sources, "-lm", "-o", str(tmp_path / "test")], check=True)
    subprocess.run([str(tmp_path / "test")], check=True)  # its own numbers, evaluated without loops


@pytest.mark.compiled
def test_a_controller_with_loops_is_compiled_and_right():
    robot = torsor.robots.ur5()

    def law(robot, q, v, target):
        return torsor.inverse_dynamics(robot, q, v, 20.0 * (target - q) - 5.0 * v)

    shapes = {"q": 6, "v": 6, "target": 6}
    kernel = torsor.compile(law, robot, shapes, small=True)
    assert any(op is Op.BLOCK for op in kernel.program.graph.ops)
    q, v, target = torsor.random_state(robot, seed=0, batch=(9,))
    expected = torsor.inverse_dynamics(robot, q, v, 20.0 * (target - q) - 5.0 * v)
    found = kernel(q, v, target)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert (kernel(q[4], v[4], target[4]) == found[4]).all()


def test_where_there_is_no_small_form_it_is_said():
    robot = torsor.robots.cart_pole()
    assert not is_revolute_chain(robot)
    with pytest.raises(
        torsor.TorsorError, match=r"nothing in inverse_dynamics has a small form .* Leave small=True out"
    ):
        torsor.compile(torsor.inverse_dynamics, robot, small=True)
