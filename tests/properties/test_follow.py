"""A law and a motion make a controller: the same as the law called by hand, with numbers and traced."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor import control, motion
from torsor.simulation.controllers import fingerprint

ARM = torsor.robots.panda()
FRAME = list(ARM.frames)[-1]
Q0 = np.array([0.1, -0.4, 0.2, -1.9, 0.1, 1.6, 0.3])
Q1 = Q0 + 0.3
BODY = torsor.robots.random_tree(3, seed=8, kinds=("free", "spherical", "revolute"), serial=True)


def joint_motion(robot=ARM):
    if robot is ARM:
        return motion.polynomial(ARM, Q0, Q1, duration=1.5)
    q = torsor.random_configuration(robot, seed=3)
    return motion.polynomial(robot, q, torsor.integrate(robot, q, np.full(robot.nv, 0.4)), duration=1.5)


def pose_motion():
    return motion.screw(*(torsor.frame_pose(ARM, q, FRAME) for q in (Q0, Q1)), duration=1.5)


LAWS = {
    "computed_torque": {"kp": 100.0, "kd": 20.0},
    "passivity_based": {"rate": 10.0, "kd": np.full(7, 5.0)},
    "pd_gravity": {"kp": 100.0, "kd": 20.0},
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", LAWS)
def test_it_is_the_law_along_the_motion_and_can_be_compiled(name):
    law, m, gains = getattr(control, name), joint_motion(), LAWS[name]
    controller = control.follow(law, m, **gains)
    kernel = torsor.compile(lambda robot, t, q, v: {"tau": controller(t, q, v)}, ARM, {"t": (), "q": 7, "v": 7})
    v = np.linspace(-0.2, 0.3, 7)
    for t in (-1.0, 0.0, 0.7, 2.0):
        state = m.at(t)
        refs = [state.q] if name == "pd_gravity" else [state.q, state.v, state.a]
        want = law(ARM, Q0, v, *refs, *gains.values())
        np.testing.assert_array_equal(controller(t, Q0, v), want)
        np.testing.assert_allclose(kernel(t, Q0, v), want, rtol=1e-12, atol=1e-11)


@pytest.mark.compiled
def test_operational_space_follows_a_pose():
    m = pose_motion()
    gains = {"kp": 100.0, "kd": 20.0, "posture_kd": 2.0}
    controller = control.follow(control.operational_space, m, robot=ARM, task=FRAME, **gains)
    kernel = torsor.compile(lambda robot, t, q, v: {"tau": controller(t, q, v)}, ARM, {"t": (), "q": 7, "v": 7})
    v = np.linspace(-0.2, 0.3, 7)
    for t in (0.0, 0.4, 1.5):
        state = m.at(t)
        moving = {"velocity": state.twist, "acceleration": state.acceleration}
        want = control.operational_space(ARM, Q0, v, FRAME, state.pose, **gains, **moving)
        np.testing.assert_allclose(controller(t, Q0, v), want, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(kernel(t, Q0, v), want, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("robot", [ARM, BODY], ids=lambda robot: robot.name)
def test_computed_torque_on_the_motion_has_its_acceleration(robot):
    """On the way, at its velocity, the torques are those of inverse dynamics along the motion."""
    m = joint_motion(robot)
    controller = control.follow(control.computed_torque, m, kp=50.0, kd=10.0)
    for t in (0.2, 0.8):
        q, v, a, _ = m.at(t)
        np.testing.assert_allclose(controller(t, q, v), torsor.inverse_dynamics(robot, q, v, a), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["plain", "scaled", "sequence", "fourier", "trajectory", "pose"])
def test_a_simulation_may_compile_it(name):
    """Whatever the motion is made of, it is known that it cannot change."""
    m = joint_motion()
    slow = motion.scaled(m, duration=2.0, law="septic")
    back = motion.polynomial(ARM, slow.at(2.0).q, m.at(0.0).q, duration=1.0)
    made = {"plain": m, "scaled": slow, "sequence": motion.in_sequence([slow, back]), "pose": pose_motion()}
    made["trajectory"] = m.sample(0.1)
    made["fourier"] = motion.fourier(ARM, Q0, 0.1 * np.eye(2, 7), period=2.0)
    if name == "pose":
        controller = control.follow(control.operational_space, made[name], robot=ARM, task=FRAME, kp=9.0, kd=6.0)
    else:
        controller = control.follow(control.computed_torque, made[name], kp=9.0, kd=6.0)
    assert fingerprint(controller) is not None


@pytest.mark.compiled
def test_a_simulation_follows_the_motion():
    m = joint_motion()
    run = torsor.simulate(
        ARM,
        Q0,
        np.zeros(7),
        duration=1.5,
        dt=1e-3,
        controller=control.follow(control.computed_torque, m, kp=400.0, kd=40.0),
    )
    np.testing.assert_allclose(run.q, m.at(run.time).q, atol=2e-3)  # torques are held for a step of 1 ms


def test_a_batch_and_a_law_of_one_s_own():
    q = np.tile(Q0, (4, 1))
    m = motion.polynomial(ARM, q, q + np.arange(4.0)[:, None] * 0.1, duration=1.0)

    def pull(robot, q, v, q_ref, t, stiffness=1.0):
        return stiffness * (q_ref - q) * t

    controller = control.follow(pull, m, stiffness=3.0)
    np.testing.assert_allclose(controller(0.5, q, 0.0 * q), 1.5 * (m.at(0.5).q - q))
    assert control.follow(control.computed_torque, m, kp=1.0, kd=1.0)(0.5, q, 0.0 * q).shape == (4, 7)


def test_it_shows_what_it_is_and_cannot_be_changed():
    controller = control.follow(control.computed_torque, joint_motion(), kp=100.0, kd=20.0)
    assert str(controller) == "computed_torque of 'panda' along quintic motion of 'panda', 1.5 s, with kp, kd"
    assert dict(controller.gains) == {"kp": 100.0, "kd": 20.0}
    with pytest.raises(AttributeError):
        controller.law = None
    with pytest.raises(TypeError):
        controller.gains["kp"] = 1.0


PARAMETERS = np.zeros(10 * 7)
REFUSED = [
    ("computed_torque", "joints", {"kp": 1.0}, "computed_torque also needs `kd`: follow"),
    ("computed_torque", "joints", {"kp": 1.0, "kf": 1.0, "kd": 1.0}, "computed_torque takes no `kf`"),
    ("computed_torque", "joints", {"kp": 1.0, "kd": np.ones(3)}, "`kd` must be a number or have shape"),
    ("computed_torque", "joints", {"kp": 1.0, "kd": 1.0, "q_ref": Q0}, "`q_ref` comes from the motion"),
    ("operational_space", "joints", {"task": FRAME, "kp": 1.0, "kd": 1.0}, "takes no `q_ref`, and this is a motion of"),
    (
        "computed_torque",
        "pose",
        {"kp": 1.0, "kd": 1.0, "robot": ARM},
        "takes no `target`, and this is a motion of a pose",
    ),
    (
        "operational_space",
        "pose",
        {"task": FRAME, "kp": 1.0, "kd": 1.0},
        "`robot` is missing: a motion of a pose has none",
    ),
    (
        "adaptive",
        "joints",
        {"parameters": PARAMETERS, "rate": 1.0, "kd": 1.0, "adaptation": 1.0},
        "must return joint forces .* got AdaptiveControl",
    ),
]


@pytest.mark.parametrize(("law", "kind", "gains", "words"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_does_not_go_together_is_refused(law, kind, gains, words):
    m = joint_motion() if kind == "joints" else pose_motion()
    with pytest.raises(torsor.TorsorError, match=words):
        control.follow(getattr(control, law), m, **gains)


def test_what_is_no_law_or_no_motion_is_refused():
    with pytest.raises(torsor.ArgumentTypeError, match="`law` must be a function"):
        control.follow(3.0, joint_motion())
    with pytest.raises(torsor.ArgumentTypeError, match="`motion` must be a motion"):
        control.follow(control.computed_torque, Q0, kp=1.0, kd=1.0)


def test_a_law_that_takes_neither_is_told_what_it_must_take():
    with pytest.raises(torsor.ArgumentError, match=r"takes no `q_ref`.*must be robot, q, v, q_ref"):
        control.follow(lambda robot, q, v: -v, joint_motion())
    with pytest.raises(torsor.ArgumentError, match=r"takes no `target`.*must be robot, q, v, target"):
        control.follow(lambda robot, q, v: -v, pose_motion(), robot=ARM)
