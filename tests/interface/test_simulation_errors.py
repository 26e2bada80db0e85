"""What `simulate` refuses, and with which words."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError, TorsorError, UnknownName
from torsor.simulation import Event, Stops

ARM = torsor.robots.planar2r()
Q = V = np.zeros(2)


def simulate(robot=ARM, q=Q, v=V, **given):
    return torsor.simulate(robot, q, v, **{"duration": 0.2, "dt": 0.1, **given})


def law(t, q, v):
    return -q


# ruff: noqa: E501
CASES = {
    "no step of time": (lambda: simulate(dt=0.0), ArgumentError, "`dt` must be positive and finite"),
    "an endless step": (lambda: simulate(dt=np.inf), ArgumentError, "`dt` must be positive and finite"),
    "a step of NaN": (lambda: simulate(dt=np.nan), ArgumentError, "`dt` must be positive and finite"),
    "a duration before the start": (lambda: simulate(duration=-1.0), ArgumentError, "`duration` finite and not negative"),
    "an endless duration": (lambda: simulate(duration=np.inf), ArgumentError, "`duration` finite and not negative"),
    "no whole number of steps": (lambda: simulate(duration=0.25), ArgumentError, "not a whole number of steps of 0.1 s; nearest is 0.2 s. With dt = duration / 3 = 0.0833333 s it is"),
    "a method of no name": (lambda: simulate(method="rk5"), TorsorError, "rk4"),
    "q of another length": (lambda: simulate(q=np.zeros(3)), ShapeError, "`q0` must have shape (..., 2) for robot 'planar2r', got (3,)."),
    "v of another length": (lambda: simulate(v=np.zeros((2, 1))), ShapeError, "`v0` must have shape (..., 2)"),
    "q that is no number": (lambda: simulate(q=[np.nan, 0.0]), ArgumentError, "`q0` must be finite numbers, got [nan, 0.0]."),
    "v that is no number": (lambda: simulate(v=[np.inf, 0.0]), ArgumentError, "`v0` must be finite numbers"),
    "batches that do not fit": (lambda: simulate(q=np.zeros((2, 2)), v=np.zeros((3, 2))), ShapeError, "do not broadcast"),
    "forces of another length": (lambda: simulate(tau=np.zeros(3)), ShapeError, "`tau` must have shape (2,), or one row of 2 for each step, got (3,)."),
    "a step longer than all": (lambda: simulate(duration=0.01), ArgumentError, "not a whole number of steps of 0.1 s; nearest is 0.1 s"),
    "forces of samples": (lambda: simulate(tau=np.zeros((3, 2))), ShapeError, "pass (2,) for a constant force, (2, 2) for one per step. A trajectory has one sample more than steps: pass tau[..., :-1, :]."),
    "forces by state": (lambda: simulate(tau=lambda t, q, v: -v), ArgumentTypeError, "`tau` is called as tau(t), which (t, q, v) does not take. A function of t, q and v is a `controller`."),
    "a law in place of a controller": (lambda: simulate(controller=torsor.control.computed_torque), ArgumentTypeError, "which (robot, q, v, q_ref, v_ref, a_ref, kp, kd) does not take"),
    "another number of rows": (lambda: simulate(tau=np.zeros((5, 2))), ShapeError, "has 5 rows for 2 steps"),
    "too many axes": (lambda: simulate(tau=np.zeros((3, 2, 2))), ShapeError, "pass (2,) for a constant force, (2, 2) for one per step"),
    "forces that are words": (lambda: simulate(tau="full"), TorsorError, "`tau`"),
    "a force of time of another length": (lambda: simulate(tau=lambda t: np.zeros(3)), ShapeError, "function `tau`"),
    "a force of time that forgets to return": (lambda: simulate(tau=lambda t: None), ShapeError, "the function `tau` must return joint forces of shape (..., 2), got None. Does it end with `return tau`?"),
    "force and controller": (lambda: simulate(tau=V, controller=law), ArgumentError, "give `tau` or a `controller`, not both."),
    "a controller that is no function": (lambda: simulate(controller=3.0), ArgumentTypeError, "`controller` must be a function (t, q, v) → tau, got 3.0."),
    "a controller of four without a memory": (lambda: simulate(controller=lambda t, q, v, s: (v, s)), ArgumentTypeError, "A controller with memory needs `controller_state`, its first state."),
    "a controller with memory that gives only forces": (lambda: simulate(controller=lambda t, q, v, s: v, controller_state=0.0), ShapeError, "must return two things, (tau, state)"),
    "a controller of another length": (lambda: simulate(controller=lambda t, q, v: np.zeros(5)), ShapeError, "the controller must return joint forces of shape (..., 2), got shape (5,)."),
    "a controller that forgets to return": (lambda: simulate(controller=lambda t, q, v: None), ShapeError, "got None. Does it end with `return tau`?"),
    "a time of control without a controller": (lambda: simulate(control_dt=0.1), ArgumentError, "`control_dt` belongs to a `controller`, and there is none."),
    "a memory without a controller": (lambda: simulate(controller_state=1.0), ArgumentError, "`controller_state` belongs to a `controller`"),
    "a memory in a continuous law": (lambda: simulate(controller=lambda t, q, v, s: (v, s), controller_state=0.0, control_dt=0), ArgumentError, "`control_dt=0` is for laws without memory."),
    "no multiple of the step": (lambda: simulate(controller=law, control_dt=0.15), ArgumentError, "`control_dt` must be a whole number of steps of 0.1 s"),
    "a negative time of control": (lambda: simulate(controller=law, control_dt=-0.1), ArgumentError, "`control_dt` must be a whole number"),
    "a time of control of NaN": (lambda: simulate(controller=law, control_dt=np.nan), ArgumentError, "`control_dt` must be a whole number"),
    "wrenches without frames": (lambda: simulate(wrenches=np.zeros(6)), ArgumentTypeError, "`wrenches` must be a mapping of frame names to wrenches, such as {'tip': F}"),
    "a wrench on nothing": (lambda: simulate(wrenches={"tool": np.zeros(6)}), UnknownName, "robot 'planar2r' has no frame 'tool'"),
    "a wrench of another length": (lambda: simulate(wrenches={"tip": np.zeros(3)}), ShapeError, "`wrenches['tip']` must have shape (6,), got (3,). Or give a function of (t, q, v)."),
    "a wrench function of another length": (lambda: simulate(wrenches={"tip": lambda t, q, v: q}), ShapeError, "the wrench on 'tip' must give 6 numbers, got shape (2,)."),
    "a base motion of another length": (lambda: simulate(base_motion=(np.zeros(3), np.zeros(6))), ShapeError, "`base_motion` must be a pair of (6,) arrays, got (3,) and (6,)."),
    "a base motion that is a number": (lambda: simulate(base_motion=1.0), ShapeError, "`base_motion` must be a pair of (6,) arrays"),
    "stops that are a number": (lambda: simulate(stops=0.5), ArgumentTypeError, "`stops` must be a torsor.simulation.Stops, such as Stops(restitution=0.5)"),
    "too springy stops": (lambda: Stops(restitution=1.5), ArgumentError, "`restitution` must be from 0 to 1, got 1.5."),
    "stops with damping alone": (lambda: Stops(damping=1.0), ArgumentError, "give its `stiffness` too"),
    "stops of both kinds": (lambda: Stops(restitution=0.5, stiffness=1.0), ArgumentError, "not both."),
    "stops that pull": (lambda: Stops(stiffness=-1.0), ArgumentError, "`stiffness` must be finite and positive, got -1.0."),
    "events that are functions": (lambda: simulate(events=[law]), ArgumentTypeError, "`events` must be torsor.simulation.Event objects"),
    "an event of no function": (lambda: Event(3.0), ArgumentTypeError, "`function` must be a function (t, q, v) → float, got 3.0."),
    "an event of a vector": (lambda: simulate(events=Event(lambda t, q, v: q)), ArgumentError, "must give one number, got shape (2,)."),
    "an event with no such direction": (lambda: Event(law, direction=2), ArgumentError, "`direction` must be −1, 0 or 1, got 2."),
    "an action that forgets to return": (lambda: simulate(events=Event(lambda t, q, v: t - 0.05, name="kick", action=lambda t, q, v: None)), ArgumentError, "the action of event 'kick' must return a state (q, v) of shapes (2,) and (2,), of finite numbers, got None."),
    "no step at all is saved": (lambda: simulate(every=0), ArgumentError, "`every` must be a whole number of at least 1, got 0."),
    "half of the steps is saved": (lambda: simulate(every=0.5), ArgumentError, "`every` must be a whole number"),
    "times with a step": (lambda: simulate(times=[0.1]), ArgumentError, "`every`"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_simulated_is_refused_in_words(case):
    call, kind, words = CASES[case]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value), str(caught.value)


def test_an_error_in_a_controller_comes_through_as_it_is():
    def broken(t, q, v):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        simulate(controller=broken)
