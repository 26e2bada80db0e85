"""Options that take one of a few words: any other is an `UnknownName` with all of them, and the nearest where there is one.

A walk over the signatures finds the options, so that a new one is either here or said to be free.
"""

import inspect

import numpy as np
import pytest

import torsor
from public_functions import functions

ARM = torsor.robots.planar2r()
Q, V, A = torsor.random_state(ARM, seed=0)
POINT = torsor.Inertia.point(1.0)
URDF = "<robot name='a'><link name='b'/></robot>"
VX = torsor.position_task("tip", ["vx"])
MOVING = torsor.motion.polynomial(ARM, Q, Q + 0.1, duration=1.0)
OPTIONS = {  # by function and argument: a call with any word, a word that is nearly right, and the right one
    ("torsor.backend", "name"): (torsor.backend, "compile", "compiled"),
    ("torsor.simulate", "method"): (lambda w: torsor.simulate(ARM, Q, V, duration=0.1, dt=0.1, method=w), "rk", "rk4"),
    ("torsor.simulation.sensitivities", "wrt"): (
        lambda w: torsor.simulation.sensitivities(torsor.simulate(ARM, Q, V, duration=0.1, dt=0.1), wrt=w),
        "inertia",
        "inertias",
    ),
    ("torsor.control.ddp", "method"): (
        lambda w: torsor.control.ddp(ARM, Q, V, running=None, final=None, dt=0.1, steps=1, method=w),
        "rk",
        "rk4",
    ),
    ("torsor.control.mpc", "method"): (
        lambda w: torsor.control.mpc(ARM, running=None, final=None, dt=0.1, steps=1, method=w),
        "rk",
        "rk4",
    ),
    ("torsor.control.lqr_along", "method"): (
        lambda w: torsor.control.lqr_along(
            ARM, [Q, Q], [V, V], [V], dt=0.1, state_weights=1.0, force_weights=1.0, method=w
        ),
        "rk",
        "rk4",
    ),
    ("torsor.linearise", "method"): (lambda w: torsor.linearise(ARM, Q, V, A, dt=0.1, method=w), "exakt", "exact"),
    ("torsor.identification.base_parameters", "method"): (
        lambda w: torsor.identification.base_parameters(ARM, method=w),
        "numeric",
        "numerical",
    ),
    ("torsor.pose_task", "axes"): (lambda w: torsor.pose_task("tip", axes=w), "mixd", "mixed"),
    ("torsor.derivative", "wrt"): (lambda w: torsor.derivative(torsor.mass_matrix, ARM, wrt=w), "inertia", "inertias"),
    ("torsor.derivative", "parameters"): (
        lambda w: torsor.derivative(torsor.mass_matrix, ARM, wrt="q", parameters=(w,)),
        "inertia",
        "inertias",
    ),
    ("torsor.compile", "parameters"): (
        lambda w: torsor.compile(torsor.mass_matrix, ARM, parameters=(w,)),
        "screw",
        "screws",
    ),
    ("torsor.dh_chain", "convention"): (
        lambda w: torsor.dh_chain([(0, 0, 0, 0)], [POINT], convention=w),
        "Standard",
        "standard",
    ),
    ("torsor.serial_chain", "kinds"): (
        lambda w: torsor.serial_chain([[0, 0, 1, 0, 0, 0]], [np.eye(4)], [POINT], kinds=[w]),
        "revolut",
        "revolute",
    ),
    ("torsor.robots.random_tree", "kinds"): (
        lambda w: torsor.robots.random_tree(2, seed=0, kinds=(w,)),
        "sphere",
        "spherical",
    ),
    ("torsor.Joint", "kind"): (lambda w: torsor.Joint(name="j", kind=w), "hinge_revolute", "revolute"),
    ("torsor.Inertia.cylinder", "axis"): (lambda w: torsor.Inertia.cylinder(1.0, 1.0, mass=1.0, axis=w), "xx", "x"),
    ("torsor.Inertia.capsule", "axis"): (lambda w: torsor.Inertia.capsule(1.0, 1.0, mass=1.0, axis=w), "zz", "z"),
    ("torsor.load", "format"): (lambda w: torsor.load(URDF, format=w), "xurdf", "urdf"),
    ("torsor.check", "format"): (lambda w: torsor.check(URDF, format=w), "yml", "yaml"),
    ("torsor.load", "base"): (lambda w: torsor.load(URDF, base=w), "float", "floating"),
    ("torsor.check", "base"): (lambda w: torsor.check(URDF, base=w), "fix", "fixed"),
    ("torsor.load", "repair"): (lambda w: torsor.load(URDF, repair=[w]), "unused-links", "unused-link"),
    ("torsor.load", "ignore"): (lambda w: torsor.load(URDF, ignore=[w]), "mass-ratios", "mass-ratio"),
    ("torsor.check", "ignore"): (lambda w: torsor.check(URDF, ignore=[w]), "mass-ratios", "mass-ratio"),
    ("torsor.Robot.to_urdf", "drop"): (lambda w: ARM.to_urdf(drop=[w]), "frictions", "friction"),
    ("torsor.Kernel.to_c", "real"): (
        lambda w: torsor.compile(torsor.mass_matrix, ARM).to_c("never_written", real=w),
        "float32",
        "float",
    ),
    ("torsor.balancing.design_scan", "measure"): (
        lambda w: torsor.balancing.design_scan(lambda x: ARM, [1.0], measure=w),
        "balanced",
        "balance",
    ),
    ("torsor.control.prioritised_velocities", "within_limits"): (
        lambda w: torsor.control.prioritised_velocities(ARM, Q, [(VX, [1.0])], 0.1, within_limits=[w]),
        "positions",
        "position",
    ),
    ("torsor.control.prioritised_accelerations", "within_limits"): (
        lambda w: torsor.control.prioritised_accelerations(ARM, Q, V, [(VX, [1.0])], 0.1, within_limits=w),
        "efort",
        "effort",
    ),
    ("torsor.papers.count_operations", "formulation"): (
        lambda w: torsor.papers.count_operations(w, 2),
        "silvers",
        "silver",
    ),
    ("torsor.papers.count_operations", "level"): (
        lambda w: torsor.papers.count_operations("silver", 2, level=w),
        "literally",
        "literal",
    ),
    ("torsor.papers.count_table", "names"): (lambda w: torsor.papers.count_table(w, links=[1]), "kol", "kool"),
    ("torsor.papers.count_table", "level"): (
        lambda w: torsor.papers.count_table("silver", links=[1], level=w),
        "structure",
        "structural",
    ),
    ("torsor.plot.operation_counts", "level"): (
        lambda w: torsor.plot.operation_counts([1], level=w),
        "simple",
        "simplified",
    ),
    ("torsor.plot.joints", "quantity"): (
        lambda w: torsor.plot.joints(torsor.simulate(ARM, Q, V, duration=0.1, dt=0.1), quantity=w),
        "velocities",
        "velocity",
    ),
    ("torsor.plot.mechanism", "names"): (lambda w: torsor.plot.mechanism(ARM, names=w), "aut", "auto"),
    ("torsor.plot.curvature_map", "quantity"): (
        lambda w: torsor.plot.curvature_map(ARM, (0, 1), quantity=w),
        "section",
        "sectional",
    ),
    ("torsor.tasks.manipulability_ellipsoid", "bounded"): (
        lambda w: torsor.tasks.manipulability_ellipsoid(ARM, Q, VX, bounded=w),
        "energies",
        "energy",
    ),
    ("torsor.plot.manipulability_ellipsoid", "bounded"): (
        lambda w: torsor.plot.manipulability_ellipsoid(ARM, Q, "tip", bounded=w),
        "forces",
        "force",
    ),
    ("torsor.motion.optimal", "cost"): (
        lambda w: torsor.motion.optimal(ARM, Q, Q, duration=1.0, cost=w),
        "torqu",
        "torque",
    ),
    ("torsor.motion.optimal", "solver"): (
        lambda w: torsor.motion.optimal(ARM, Q, Q, duration=1.0, solver=w),
        "ipop",
        "ipopt",
    ),
    ("torsor.motion.spline", "ends"): (
        lambda w: torsor.motion.spline(ARM, [0.0, 1.0], [Q, Q], ends=w),
        "clampd",
        "clamped",
    ),
    ("torsor.motion.smooth_pose", "ends"): (
        lambda w: torsor.motion.smooth_pose([0.0, 1.0], [np.eye(4), np.eye(4)], ends=w),
        "periodical",
        "periodic",
    ),
    ("torsor.motion.screw", "law"): (
        lambda w: torsor.motion.screw(np.eye(4), np.eye(4), duration=1.0, law=w),
        "quintik",
        "quintic",
    ),
    ("torsor.motion.scaled", "law"): (
        lambda w: torsor.motion.scaled(torsor.motion.spline(ARM, [0.0, 1.0], [Q, Q]), factor=2.0, law=w),
        "cubik",
        "cubic",
    ),
    ("torsor.motion.conjugate_points", "fixed"): (
        lambda w: torsor.motion.conjugate_points(ARM, MOVING, fixed=w),
        "energies",
        "energy",
    ),
    ("torsor.motion.is_minimal", "fixed"): (
        lambda w: torsor.motion.is_minimal(ARM, MOVING, fixed=w),
        "durations",
        "duration",
    ),
    ("torsor.motion.NaturalMotion.certificate", "fixed"): (
        lambda w: torsor.motion.natural_motion(ARM, Q, np.ones(ARM.nv), energy=1e3, duration=0.01).certificate(fixed=w),
        "energetic",
        "energy",
    ),
    ("torsor.redundancy.vertical_brackets", "lift"): (
        lambda w: torsor.redundancy.vertical_brackets(torsor.robots.panda(), np.ones(7), "hand_tcp", lift=w),
        "pseudo_inverse",
        "pseudoinverse",
    ),
    ("torsor.redundancy.circle", "rows"): (
        lambda w: torsor.redundancy.circle(torsor.position_task("tip"), 0.1, rows=(w, "vx")),
        "vyy",
        "vy",
    ),
}
LIKE = ("method", "kind", "kinds", "axes", "axis", "wrt", "format", "level", "measure", "quantity", "bounded", "real")
LIKE += ("convention", "drop", "repair", "ignore", "within_limits")
FREE = {  # texts that may be anything, or are checked elsewhere, by name
    "host": "an address",
    "name": "names that people give",
    "base": "the name of a link, but in load and check",
    "frame": "a frame, see test_frames_and_tasks.py",
    "colour": "Matplotlib's",
    "coordinates": "a letter for symbols",
    "lift": "checked in one place for all functions of redundancy",
    "where": "who asks, in an error",
}


def test_every_option_is_here():
    """Options are found by their names, and by a default that is a word."""
    for place, function in functions().items():
        if place.startswith("torsor.modern_robotics."):
            continue  # the book's numbers
        for name, p in inspect.signature(function).parameters.items():
            if "str" not in str(p.annotation) or (place, name) in OPTIONS:
                continue
            assert name not in LIKE, f"{place}({name}=)"
            assert not isinstance(p.default, str) or name in FREE, f"{place}({name}=)"


@pytest.mark.parametrize(("place", "argument"), OPTIONS)
def test_an_unknown_word_is_answered_with_the_nearest(place, argument):
    call, nearly, right = OPTIONS[place, argument]
    with pytest.raises(torsor.UnknownName) as caught:
        call(nearly)
    assert repr(nearly) in str(caught.value) and repr(right) in str(caught.value)
    assert "nearest: " in str(caught.value) or f"; did you mean {right!r}?" in str(caught.value)
    assert caught.value.value == nearly
    assert isinstance(caught.value, (ValueError, KeyError))


@pytest.mark.parametrize(("place", "argument"), OPTIONS)
def test_a_word_far_from_all_is_answered_with_the_list(place, argument):
    with pytest.raises(torsor.UnknownName) as caught:
        OPTIONS[place, argument][0]("qqqqqq")
    text = str(caught.value)
    assert "must be " in text or "All " in text
    assert "did you mean" not in text and "nearest" not in text
