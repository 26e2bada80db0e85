"""The grammar of calls, over every public function: the order of arguments, what is passed by name, and one word for one thing.

A call in another order is refused, whichever way it is answered: by NumPy, by a kernel that is made or remembered, by JAX.
"""

import inspect

import numpy as np
import pytest

import torsor
from public_functions import functions
from torsor.functions.dispatch import PUBLIC

ARM = torsor.robots.planar2r()
XY = torsor.position_task("tip", ["vx", "vy"])
Q, V, A = torsor.random_state(ARM, seed=0)
GIVEN = {"robot": ARM, "q": Q, "q0": Q, "q1": V, "v": V, "a": A, "tau": A, "u": V, "w": A, "w_rate": V, "q_rate": V}
GIVEN |= {
    "weights": V,
    "dq": V,
    "dv": A,
    "da": V,
    "dtau": A,
    "v_ref": A,
    "a_ref": V,
    "dt": 0.1,
    "energy": 1e3,
    "posture": Q,
}
GIVEN |= {"frame": "tip", "task": XY, "acceleration": A, "velocity": V, "forces": A, "wrenches": {"tip": np.ones(6)}}


FUNCTIONS = functions()
SIGNATURES = {place: inspect.signature(function) for place, function in FUNCTIONS.items()}
OF_ROBOTS = {place: s for place, s in SIGNATURES.items() if "robot" in list(s.parameters)[:2]}
BOOK = "torsor.modern_robotics."  # has the book's names and order, but for what is torsor's own there
STATES = ("q", "q0", "v", "v0", "a")
PLACES = ("frame", "task", "tasks")
OPTIONAL_BY_POSITION = {
    "torsor.integrate": {"dt": "the last of what is integrated, not a choice: integrate(robot, q, v, dt)"},
    "torsor.compile": {
        "inputs": "only torsor's own functions say their inputs themselves; of all others they are needed"
    },
    "torsor.derivative": {"inputs": "as of compile"},
    "torsor.motion.Motion.check": {"robot": "whose limits are checked: motion.check(robot)"},
    "torsor.Trajectory.check": {"robot": "as of other motions"},
    "torsor.view": {"motion": "what the robot does, if it does anything: view(robot, motion)"},
} | {
    f"torsor.plot.{name}": dict.fromkeys(
        ("q", "v", "a", "frame"), "a picture without a state shows the robot at rest at 0"
    )
    for name in (
        "free_body_diagram",
        "link_inertia_ellipsoids",
        "manipulability_ellipsoid",
        "mechanism",
        "mobility_ellipsoid",
        "planar_mechanism",
    )
}
WORDS = {  # a word that others use, and the one that torsor uses for it everywhere
    "time_step": "dt",
    "timestep": "dt",
    "step_size": "dt, or spacing for lengths",
    "guess": "start",
    "initial_guess": "start",
    "q_start": "q0, or start for a search",
    "q_init": "q0, or start for a search",
    "rng": "seed",
    "random_state": "seed",
    "torque": "tau",
    "torques": "tau",
    "wrench": "forces, or wrenches by frame",
    "secondary": "null",
    "loops": "rounds: a loop is a kinematic loop",
    "respect_limits": "within_limits",
    "use_limits": "within_limits",
    "link_name": "frame",
    "frame_name": "frame",
}


def kinds(signature, *wanted):
    return [name for name, p in signature.parameters.items() if p.kind in wanted]


def by_position(signature):
    return kinds(signature, inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def test_the_walk_finds_the_functions_of_all_namespaces():
    assert len(OF_ROBOTS) > 150
    assert set(PUBLIC) <= {place.rsplit(".", 1)[-1] for place in OF_ROBOTS}
    assert {"torsor.papers.formulations.kool", "torsor.lie.se3.exp", "torsor.Robot.with_limits"} <= set(FUNCTIONS)


@pytest.mark.parametrize("place", sorted(OF_ROBOTS))
def test_robot_then_state_then_frame_or_task_then_the_rest(place):
    names = [name for name in by_position(OF_ROBOTS[place]) if name != "self"]
    if place in ("torsor.compile", "torsor.derivative", "torsor.scan", "torsor.papers.count_operations"):
        assert names.index("robot") == 1  # after the function that is looked at
        return
    ranks = [
        0 if x == "robot" else 1 + STATES.index(x) if x in STATES else 8 if x in PLACES else 9
        for x in names
        if x not in ("tau", "q1")  # tau is a part of the state, or a quantity that a task is given; q1 belongs to q0
    ]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("place", sorted(OF_ROBOTS))
def test_what_is_optional_is_passed_by_name(place):
    allowed = OPTIONAL_BY_POSITION.get(place, {})
    parameters = OF_ROBOTS[place].parameters
    optional = [
        name for name in by_position(OF_ROBOTS[place]) if parameters[name].default is not inspect.Parameter.empty
    ]
    assert [name for name in optional if name not in allowed] == []


def test_exceptions_are_functions_that_exist():
    for place, names in OPTIONAL_BY_POSITION.items():
        optional = [name for name in by_position(SIGNATURES[place]) if name in names]
        assert optional, f"{place} needs no exception"


# The seed of an exercise is what names a student, and the same numbers come on every machine and version of NumPy.
SEEDS = {"torsor.papers.exercises.exercise": "int | str"}


@pytest.mark.parametrize("place", sorted(place for place in SIGNATURES if not place.startswith(BOOK)))
def test_one_word_for_one_thing(place):
    parameters = SIGNATURES[place].parameters
    assert {name: WORDS[name] for name in parameters if name in WORDS} == {}
    if "seed" in parameters:
        assert parameters["seed"].annotation == SEEDS.get(place, "int | np.random.Generator")
    if "within_limits" in parameters:
        assert parameters["within_limits"].annotation in ("bool", "bool | Collection[str]")


# Too many by position


def refusals(call):
    with pytest.raises(torsor.ArgumentTypeError) as caught:
        call()
    return str(caught.value)


@pytest.mark.compiled
@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_what_is_passed_by_name_is_refused_by_position(name):
    """Also as the second call, which a remembered kernel would answer, by NumPy, and with JAX arrays: never silently."""
    function = PUBLIC[name]
    signature = inspect.signature(function)
    args = [GIVEN[key] for key in by_position(signature)]
    named = kinds(signature, inspect.Parameter.KEYWORD_ONLY)
    for key in named:
        extra = GIVEN.get(key, {"metric": np.eye(2), "null": V, "damping": 0.1, "out": np.zeros(2)}.get(key, V))
        before = refusals(lambda extra=extra: function(*args, extra))
        assert before.startswith(f"{name}: ") and "is one argument too many" in before
        assert all(f"{key}=" in before for key in named)
    function(*args)
    function(*args)
    assert refusals(lambda: function(*args, V)) == refusals(lambda: function(*args, V, V))
    with torsor.backend("numpy"):
        assert refusals(lambda: function(*args, V)).startswith(f"{name}: ")
    jax = pytest.importorskip("jax")
    in_jax = [jax.numpy.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
    assert "is one argument too many" in refusals(lambda: function(*in_jax, V))


def test_kernels_refuse_too_many_inputs():
    kernel = torsor.compile(torsor.mass_matrix, ARM)
    for _ in range(2):
        kernel(Q)
        with pytest.raises(torsor.ShapeError, match="takes 1 inputs, got 2"):
            kernel(Q, V)


@pytest.mark.parametrize(
    "place",
    sorted(
        place
        for place, s in SIGNATURES.items()
        if kinds(s, inspect.Parameter.KEYWORD_ONLY) and not kinds(s, inspect.Parameter.VAR_POSITIONAL)
    ),
)
def test_plain_functions_refuse_it_too(place):
    signature, function = SIGNATURES[place], FUNCTIONS[place]
    args = [GIVEN.get(key, 1.0) for key in by_position(signature)]
    with pytest.raises(TypeError, match=r"too many|positional argument"):
        function(*args, V)
