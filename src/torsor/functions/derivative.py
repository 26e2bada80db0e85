"""`torsor.derivative`: exact derivatives of any function built from ours, by its inputs or by the robot's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torsor import lie
from torsor.arrays import concat, identity, matmul, reshape, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.border.arrays import signature_of
from torsor.compiler.differentiate import Wanted, derivatives
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError, ShapeError, unknown_name
from torsor.functions.compile import Evaluated, TracedCall
from torsor.functions.describe import Algorithm, GraphRival, Outputs, Request, traced
from torsor.mechanics.kinematics.manifold import configuration_rate
from torsor.model import Parameters, Robot
from torsor.model.parameters import meant_by

PITCHES = "pitches"  # of the screws: no group of numbers of their own


@explained
def derivative(
    function: Callable[..., Any],
    robot: Robot,
    inputs: Mapping[str, tuple[int, ...] | int] | None = None,
    *,
    wrt: str | Sequence[str],
    parameters: Sequence[str] = (),
    configurations: Sequence[str] = (),
    **fixed: Any,
) -> Kernel:
    """The kernel of the derivatives of ``function(robot, **inputs, **fixed)`` with respect to anything, exact, compiled.

    Parameters
    ----------
    function, robot, inputs, parameters, **fixed
        As for `torsor.compile`: one of torsor's functions or any of yours, a controller with its gains, say.
    wrt : str or sequence of str
        One or several of

        * inputs, number by number, shape as the input; a configuration along the tangent coordinates v, shape (nv,), as its
          numbers may not be free to change alone. Where every joint has one number there is no difference;
        * the robot's numbers (`torsor.model.Parameters`): "inertias" (n, 10), "gravity" (3,), "armature", "viscous_friction",
          "coulomb_friction", "stiffness" and "rest" (nv,), the last two zero where there can be no spring;
        * its joints, which move by exp(S_i q_i): "screws" (n, 6), number by number of S_i in its link frame. All directions
          are there, also those in which the joint becomes one of another kind: a pitch, a length that is not 1 (a gear), a
          rotation of a prismatic joint. An axis displaced by a twist δ changes S_i by [δ, S_i]. "pitches" (n,), m per rad, is
          the direction (0, ω_i): of a revolute joint the limit of a helical one; 0 for prismatic joints, whose pitch is
          infinite, and for those without a screw;
        * its poses, as twists: "poses" (n, 6), the home pose of a link displaced to T exp δ with all that hangs on it;
          "frame_poses" likewise.
    configurations : sequence of str
        Which inputs of a function of yours are configurations beside "q", ("q_goal",) say, of shape (nq,). Of its own functions
        torsor knows.

    Returns
    -------
    Kernel
        An output "tau" gives "tau_by_q", "tau_by_inertias", …, shape of the output + shape of what it is differentiated by. One
        derivative is returned as an array, several as a dict. With JAX arrays it is a JAX function (`Kernel.to_jax`), for
        `jit`, `vmap` and further derivatives, on the CPU. ::

            slope = torsor.derivative(torsor.inverse_dynamics, arm, wrt="poses")
            slope(q, v, a)                                                        # (nv, n, 6)

    Notes
    -----
    Optional arguments such as wrenches are inputs only of a function of yours that declares them and passes them on. No joint
    force depends on "base_inertia", the link that does not move.
    """
    names = _names("wrt", wrt)
    call = TracedCall.of("derivative", function, robot, inputs, parameters, fixed)
    on_manifold = _configurations(call, _names("configurations", configurations))
    own = [group for group in names if group in (*Parameters._fields, PITCHES) and group not in call.inputs]
    for group in names:
        if group not in call.inputs and group not in own:
            known = (*call.inputs, *Parameters._fields, PITCHES)
            both, plural = "input or group of parameters", "inputs and groups of parameters"
            listing = ", ".join(known)
            raise unknown_name(call.name, both, group, known, listing, plural=plural, meant=meant_by(group))
    for group in own:
        if group != PITCHES and not getattr(robot.parameters, group).size:
            raise ArgumentError(f"robot {robot.name!r} has no {group} to differentiate {call.name} by.")
    if not names:
        raise ArgumentError(f"say what to differentiate {call.name} by, as wrt='q' or wrt='inertias'.")
    at = {group: zeros(robot.n) if group == PITCHES else getattr(robot.parameters, group) for group in own}
    call = call._replace(groups=call.groups | {group: values.shape for group, values in at.items()})
    outputs: list[str] = []
    moved: list[str] = []

    def run(**given: Any) -> dict[str, Any]:
        evaluated = _by_screws(call, given).evaluate(given)
        directions = {name: D for name in names if (D := _directions(call, evaluated, name, on_manifold)) is not None}
        outputs[:], moved[:] = evaluated.outputs, directions
        return evaluated.outputs | {_label(name): D for name, D in directions.items()}

    program = trace(run, call.inputs, Level.FULL)
    along = {name: _label(name) for name in moved}
    return Kernel(f"∂ {call.name} of {robot.name}", derivatives(program, Wanted(outputs, names, along, at)))


def by_differentiation(algorithm: Algorithm, *inputs: str) -> GraphRival:
    """The derivatives of an algorithm by inputs, by differentiating its program: for small robots shorter than a recursion."""

    def program(robot: Robot, request: Request, outputs: Outputs) -> Program:
        def run(robot: Robot, given: dict[str, Any]) -> dict[str, Any]:
            return {"value": algorithm(robot, **given), _label("q"): tangent_map(robot, given["q"])}

        found = derivatives(traced(algorithm, robot, request, run), Wanted(("value",), inputs, {"q": _label("q")}))
        return found.renamed(outputs.names)

    return program


def _label(name: str) -> str:
    return f"directions of {name}"


def _directions(call: TracedCall, evaluated: Evaluated, name: str, on_manifold: frozenset[str]) -> Array | None:
    """How an input moves, shape of the input + directions; None for one that moves number by number."""
    p = evaluated.robot.parameters
    if name in call.shapes:
        return tangent_map(call.robot, evaluated.given[name]) if name in on_manifold else None
    if name in ("poses", "frame_poses"):
        return _each(getattr(p, name), [matmul(getattr(p, name), E) for E in lie.se3.hat(identity(6))])
    return None


def _by_screws(call: TracedCall, given: dict[str, Any]) -> TracedCall:
    """The call in which changes of pitch, if they are among its inputs, have become changes (0, ω) of the screws."""
    if PITCHES not in call.groups:
        return call
    change = given.pop(PITCHES)
    screws: Array = given.get("screws", call.robot.parameters.screws)
    given["screws"] = screws + change[:, None] * concat([zeros(1, 3), screws[:, :3]])
    groups = {group: shape for group, shape in call.groups.items() if group != PITCHES}
    return call._replace(groups=groups | {"screws": screws.shape})


def tangent_map(robot: Robot, q: ConfigurationVector) -> Array:
    """R(q) (nq, nv) with q̇ = R v."""
    return transpose(configuration_rate(robot, q[None, :], identity(robot.nv)))


def _configurations(call: TracedCall, named: tuple[str, ...]) -> frozenset[str]:
    """The inputs that are configurations: by annotation for torsor's functions; for others "q" and those ``named``."""
    if call.about is not None:
        if named:
            raise ArgumentError(
                f"torsor knows which inputs of {call.name} are configurations; `configurations` is for functions "
                "of your own."
            )
        known = signature_of(call.about.algorithm).arrays
        return frozenset(name for name in call.shapes if name in known and known[name].axes == ("nq",))
    size = (call.robot.nq,)
    for name in named:
        if name not in call.shapes:
            raise unknown_name(call.name, "input", name, call.shapes, ", ".join(call.shapes))
        if call.shapes[name] != size:
            raise ShapeError(
                f"{name!r} is named as a configuration of robot {call.robot.name!r}, whose shape is {size}, but "
                f"its shape is {call.shapes[name]}."
            )
    return frozenset(named) | {name for name, shape in call.shapes.items() if name == "q" and shape == size}


def _names(argument: str, given: Any) -> tuple[str, ...]:
    """The names that were given, one or several, as a tuple."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(name, str) for name in names):
        example = {"wrt": "wrt='q' or wrt=('q', 'inertias')", "configurations": "configurations=('q_goal',)"}[argument]
        raise ArgumentError(f"`{argument}` must be a name or several, as in {example}, got {given!r:.60}.")
    return names


def _each(x: Array, changes: Sequence[Array]) -> Array:
    """Of k things in x (k, ...), each moving in the same ways and none with another: (k, ...) + (k, ways)."""
    ways = concat([change[..., None] for change in changes])
    own = reshape(identity(len(x)), 2, len(x), *(1 for _ in x.shape[1:]), len(x), 1)
    return ways[..., None, :] * own
