"""Joint springs beside MuJoCo's: forces, accelerations and energy, of files that it wrote and of those that torsor writes."""

import warnings

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import torsor  # noqa: E402
from torsor.adapters.mujoco import MuJoCo  # noqa: E402

TEXT = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="1 2 -9"/>{option}
  <worldbody>
    <body name="a"><joint name="j" axis="1 0 0" stiffness="3" springref="0.2" ref="0.7" damping="0.1"/>
      <geom size=".1" pos="0.1 0.2 0"/>
      <body name="b" pos="0 0 1"><joint name="k" type="slide" axis="0 1 0" stiffness="40" springref="-0.5"/>
        <geom size=".1" pos="0 0 .3"/>
        <body name="c" pos="0 0 1"><joint name="l" axis="0 1 1" springref="9"/>
          <joint name="m" axis="1 1 0" stiffness="2" ref="0.4"/>
          <geom size=".1" pos="0.1 0.2 0"/></body>
      </body>
    </body>{body}
  </worldbody>
</mujoco>
"""


def beside(robot: torsor.Robot, text: str) -> None:
    """Inverse and forward dynamics, and differences of potential energy, at a few states."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data, adapter = mujoco.MjData(model), MuJoCo(robot, order=robot.joints)
    energies = []
    for q, v, a in zip(*torsor.random_state(robot, seed=1, batch=(4,)), strict=True):
        data.qpos, data.qvel, data.qacc = adapter.to_q(q), adapter.to_v(q, v), adapter.to_a(q, v, a)
        mujoco.mj_inverse(model, data)
        tau = torsor.inverse_dynamics(robot, q, v, a)
        np.testing.assert_allclose(adapter.from_tau(q, np.array(data.qfrc_inverse)), tau, rtol=0, atol=1e-10)
        data.qfrc_applied = adapter.to_tau(q, tau)
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(adapter.from_a(data.qpos, data.qvel, np.array(data.qacc)), a, rtol=0, atol=1e-8)
        spring = -adapter.from_tau(q, np.array(data.qfrc_spring))
        np.testing.assert_allclose(spring, torsor.spring_forces(robot, q), rtol=0, atol=1e-12)
        energies.append((data.energy[0], torsor.potential_energy(robot, q)))
    theirs, mine = np.array(energies).T  # heights are from other places
    np.testing.assert_allclose(np.diff(mine), np.diff(theirs), rtol=0, atol=1e-9)


def test_springs_of_a_file_are_read_with_where_they_rest():
    text = TEXT.format(option="", body="")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = torsor.load(text, format="mjcf")
    np.testing.assert_array_equal(robot.parameters.stiffness, [3.0, 40.0, 0.0, 2.0])
    np.testing.assert_allclose(robot.parameters.rest, [0.2, -0.5, 0.0, 0.0], rtol=0, atol=1e-15)
    beside(robot, text)
    again = torsor.load(robot.to_mjcf(), format="mjcf")
    # A screw of unit length is one up to rounding, and so is what it scales.
    np.testing.assert_allclose(again.parameters.stiffness, robot.parameters.stiffness, rtol=1e-14)
    np.testing.assert_allclose(again.parameters.rest, robot.parameters.rest, rtol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_springs_that_torsor_writes_act_as_they_do_here(seed):
    kinds = ("revolute", "prismatic", "spherical")
    robot = torsor.robots.random_tree(5, seed=seed, kinds=kinds, serial=True, springs=True, armature=True)
    text = robot.to_mjcf()
    beside(torsor.load(text, format="mjcf"), text)


def test_springs_that_a_file_switches_off_are_not_read():
    robot = torsor.load(TEXT.format(option='<option><flag spring="disable"/></option>', body=""), format="mjcf")
    assert not np.any(robot.parameters.stiffness)


def test_springs_of_balls_and_free_bodies_are_told():
    body = '<body name="d"><joint name="ball" type="ball" stiffness="3"/><geom size=".1"/></body>'
    with pytest.warns(torsor.ModelWarning, match="hinges and slides only"):
        robot = torsor.load(TEXT.format(option="", body=body), format="mjcf")
    assert not np.any(robot.parameters.stiffness[robot.v_slice("ball")])


def test_a_spring_of_a_follower_acts_on_its_leader():
    """Of a constraint k = −2 j + 0.1: the power of both springs along the motion that is left."""
    tied = '<equality><joint joint1="k" joint2="j" polycoef="0.1 -2 0 0 0"/></equality></mujoco>'
    text = TEXT.format(option="", body="").replace("</mujoco>", tied).replace('ref="0.7" ', "")
    robot = torsor.load(text, format="mjcf")
    assert robot.nv == 3
    j = np.linspace(-1.0, 1.0, 5)
    want = 3.0 * (j - 0.2) - 2.0 * 40.0 * (-2.0 * j + 0.1 + 0.5)
    q = robot.q_from_dict({"j": j})
    np.testing.assert_allclose(torsor.spring_forces(robot, q)[:, robot.v_slice("j").start], want, rtol=1e-13)
