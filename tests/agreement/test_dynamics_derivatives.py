"""Derivatives of inverse and forward dynamics against Pinocchio: arms, a floating base, trees of every joint kind."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin

import torsor
from torsor.compiler.graph import Op
from torsor.compiler.trace import CALLED

FILES = Path(__file__).parents[1] / "data" / "robots"
ROBOTS = {
    "panda": torsor.robots.panda,
    "ur5": torsor.robots.ur5,
    "talos on a floating base": lambda: torsor.load(FILES / "talos38_floating.urdf", base="floating"),
    "tree of every kind": lambda: torsor.robots.random_tree(8, seed=13, armature=True, fixed=True),
    "another tree of every kind": lambda: torsor.robots.random_tree(12, seed=55, fixed=True),
    "tree with mimic joints": lambda: torsor.robots.random_tree(9, seed=4, mimic=True, armature=True, fixed=True),
}


@cache
def twin(name: str) -> Twin:
    robot = ROBOTS[name]()
    none = np.zeros(robot.nv)
    return Twin(robot.with_parameters(viscous_friction=none, coulomb_friction=none))


def wrenches_on(robot: torsor.Robot) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {robot.links[-1]: rng.normal(size=6), robot.links[0]: rng.normal(size=6)}


def same(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * (1 + np.abs(want).max()))


@pytest.mark.parametrize("pushed", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics(name, pushed):
    there = twin(name)
    robot, K = there.robot, there.K
    wrenches = wrenches_on(robot) if pushed else {}
    for seed in range(3):
        q, v, a = torsor.random_state(robot, seed=seed)
        forces = pin.StdVec_Force()
        forces.extend(there.forces_on_joints(wrenches))
        dq, dv, da = pin.computeRNEADerivatives(there.model, there.data, there.q(q), there.v(v), there.v(a), forces)
        M = np.triu(da) + np.triu(da, 1).T
        found = torsor.inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches)
        for got, want in ((found.q, dq), (found.v, dv), (found.a, M)):
            extra = np.diag(there.added_armature) if want is M else 0.0
            same(got, K.T @ want @ K + extra, 1e-12)


@pytest.mark.parametrize("pushed", [False, True])
@pytest.mark.parametrize("name", [name for name in ROBOTS if "mimic" not in name])
def test_forward_dynamics(name, pushed):
    there = twin(name)
    robot, T = there.robot, np.linalg.inv(there.K)
    wrenches = wrenches_on(robot) if pushed else {}
    for seed in range(3):
        q, v, tau = torsor.random_state(robot, seed=seed)
        forces = pin.StdVec_Force()
        forces.extend(there.forces_on_joints(wrenches))
        dq, dv, dtau = pin.computeABADerivatives(there.model, there.data, there.q(q), there.v(v), T.T @ tau, forces)
        inverse = np.triu(dtau) + np.triu(dtau, 1).T
        found = torsor.forward_dynamics_derivatives(robot, q, v, tau, wrenches=wrenches)
        conditioned = 1e-14 * np.linalg.cond(torsor.mass_matrix(robot, q))
        same(found.q, T @ dq @ there.K, 1e-12 + conditioned)
        same(found.v, T @ dv @ there.K, 1e-12 + conditioned)
        same(found.tau, T @ inverse @ T.T, 1e-12 + conditioned)


@pytest.mark.compiled
def test_what_links_of_a_large_tree_have_by_themselves_runs_in_loops():
    """Links and freedoms, a program for each; the same bits alone, in a batch and in a function of a batch of one's own."""
    robot = torsor.robots.random_tree(44, seed=3, kinds=("revolute",))
    rows = sum(parent >= 0 for parent in robot.structure.parents)
    assert rows >= max(CALLED)  # also of one state
    q, v, a = torsor.random_state(robot, seed=0, batch=(9,))
    found = torsor.inverse_dynamics_derivatives(robot, q, v, a)
    one = torsor.inverse_dynamics_derivatives(robot, q[5], v[5], a[5])
    assert all(np.array_equal(x, many[5]) for x, many in zip(one, found, strict=True))

    def by_names(robot, q, v, a):
        return torsor.inverse_dynamics_derivatives(robot, q, v, a)._asdict()

    kernel = torsor.compile(by_names, robot, dict.fromkeys("qva", (3, 44)))
    graph = kernel.program.graph
    assert {graph.values[node].times for node in kernel.program.live() if graph.ops[node] is Op.BLOCK} == {3 * rows}
    got = kernel(q[:3], v[:3], a[:3])
    for name in "qva":
        same(got[name], getattr(found, name)[:3], 1e-13)
