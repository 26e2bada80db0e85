"""Trajectories cut, sampled again and joined."""

import numpy as np

import torsor
from torsor.motion import concatenate

PANDA = torsor.robots.panda()
BODY = torsor.robots.random_tree(1, seed=2, kinds=("free",))
TIME = np.linspace(0.0, 1.0, 11)


def straight(robot):
    q0 = torsor.random_configuration(robot, seed=1)
    v = np.ones((len(TIME), robot.nv))
    return torsor.Trajectory(robot, TIME, torsor.integrate(robot, q0, v, TIME), v, a=0.0 * v)


def test_a_part_that_is_sampled_again_keeps_its_times():
    part = straight(PANDA)[5:]
    again = part.sample(dt=0.1)
    np.testing.assert_allclose(again.time, part.time, atol=1e-12)
    np.testing.assert_allclose(again.q, part.q, atol=1e-12)


def test_the_sign_of_a_quaternion_is_no_gap():
    run = straight(BODY)
    one, other = run[:6], run[5:]
    q = np.array(other.q)
    q[:, 3:] *= -1.0
    whole = concatenate([one, torsor.Trajectory(BODY, other.time - 0.5, q, other.v, a=other.a)])
    np.testing.assert_allclose(whole.time, TIME, atol=1e-12)
    np.testing.assert_allclose(torsor.difference(BODY, run.q, whole.q), 0.0, atol=1e-12)


def test_wrenches_may_be_lists():
    run = straight(PANDA)
    pushed = torsor.Trajectory(
        PANDA, run.time, run.q, run.v, a=run.a, wrenches={PANDA.frames[-1]: np.ones((11, 6)).tolist()}
    )
    assert pushed[2:5].wrenches[PANDA.frames[-1]].shape == (3, 6)


def test_notes_of_two_slices_of_one_run_are_told_once():
    run = torsor.simulate(
        PANDA, np.zeros(7), np.zeros(7), duration=0.02, dt=0.01
    )  # the fourth joint begins beyond its stop
    both = concatenate([run[:2], run[1:]])
    assert run.notes and both.notes == run.notes
    np.testing.assert_array_equal(both.time, run.time)
