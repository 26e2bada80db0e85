"""The identities of the theory, run on one robot; and the same numbers from other libraries, where they are installed."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from torsor._html import block, heading, items, plain, table as html_table
from torsor._reports import Report, table
from torsor.adapters.linear_first import Pinocchio
from torsor.adapters.mujoco import MuJoCo
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, TorsorError
from torsor.functions.public import dynamics, kinematics
from torsor.model import Robot, inertial_parameters, joint_parameters, random_state


class Answer(NamedTuple):
    """What a peer says of one state: inverse dynamics without friction and springs (nv,), and M a (nv,); N·m or N."""

    tau: Array
    momentum_rate: Array


Peer = Callable[[Array, Array, Array], Answer]


def pinocchio(robot: Robot) -> Peer:
    """The robot as Pinocchio reads it: its own URDF where it has one, else the one that torsor writes."""
    import pinocchio as pin

    source = robot.source
    same = source is not None and source.format == "urdf" and source.digest == robot.digest
    # Pinocchio does not look at the axis of a planar joint; torsor writes it along z.
    text = source.text if same and source is not None and "planar" not in robot.structure.kinds else None
    own = text is not None
    text = text or _as_urdf(robot)
    floating = own and robot.structure.kinds[0] == "free" and f'"{robot.joints[0]}"' not in text
    model = (
        pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), robot.joints[0])
        if floating
        else pin.buildModelFromXML(text)
    )
    model.gravity.linear = np.array(robot.gravity)
    data = model.createData()
    circles = [name for k, name in enumerate(model.names) if k and model.joints[k].nq == 2 and model.joints[k].nv == 1]
    adapter = Pinocchio(robot, order=model.names, continuous=circles)
    armature = np.array(robot.parameters.armature)

    def answer(q: Array, v: Array, a: Array) -> Answer:
        theirs = adapter.to_q(q), adapter.to_v(q, v), adapter.to_a(q, v, a)
        tau = adapter.from_tau(q, pin.rnea(model, data, *theirs))
        M = pin.crba(model, data, theirs[0])
        M = np.triu(M) + np.triu(M, 1).T
        return Answer(tau + armature * a, adapter.from_tau(q, M @ adapter.to_v(q, a)) + armature * a)

    return answer


def mujoco(robot: Robot) -> Peer:
    """The robot as MuJoCo reads it from the MJCF that torsor writes, without contacts, limits and passive forces."""
    import mujoco as library

    model = library.MjModel.from_xml_string(robot.to_mjcf())
    flags = library.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | _passive(flags)
    data = library.MjData(model)
    names = [library.mj_id2name(model, library.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    adapter = MuJoCo(
        robot, order=[name for name in names if name in robot.joints]
    )  # planar joints are three of MuJoCo's

    def answer(q: Array, v: Array, a: Array) -> Answer:
        data.qpos, data.qvel, data.qacc = adapter.to_q(q), adapter.to_v(q, v), adapter.to_a(q, v, a)
        library.mj_inverse(model, data)
        tau = adapter.from_tau(q, np.array(data.qfrc_inverse))
        product = np.zeros(model.nv)
        library.mj_mulM(model, data, product, adapter.to_v(q, a))
        return Answer(tau, adapter.from_tau(q, product))

    return answer


def _passive(flags: Any) -> int:
    """Springs and dampers: one flag in older releases, two in newer ones."""
    names = ("mjDSBL_PASSIVE", "mjDSBL_SPRING", "mjDSBL_DAMPER")
    return sum(int(getattr(flags, name)) for name in names if hasattr(flags, name))


def _as_urdf(robot: Robot) -> str:
    return robot.to_urdf(drop=["gravity", "armature", "springs", "coulomb width", "joint order"])


ROUNDING = 1e-9
DIFFERENCES = 1e-5
STEP = 1e-6


class Residual(NamedTuple):
    """One identity: the largest deviation over all states, relative to the size of its terms, and what is allowed."""

    name: str
    residual: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether the deviation is within what rounding (or differencing) explains."""
        return bool(self.residual <= self.allowed)


@dataclass(frozen=True, repr=False)
class Verification(Report):
    """Which identities of the theory a robot fulfils: true if all of them hold; printed, a table of residuals.

    Attributes
    ----------
    robot : Robot
    rows : tuple of Residual
        One for each identity: ``name``, ``residual``, ``allowed`` and ``holds``. Iteration goes through them.
    configurations : int
        How many random states were tried.
    seed : int or numpy.random.Generator
        Where the states came from.
    remarks : tuple of str
        What was left out, and why.
    """

    robot: Robot
    rows: tuple[Residual, ...]
    configurations: int
    seed: int | np.random.Generator
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return all(row.holds for row in self.rows)

    def __iter__(self) -> Iterator[Residual]:
        return iter(self.rows)

    def __str__(self) -> str:
        origin = "" if isinstance(self.seed, np.random.Generator) else f", seed {self.seed}"
        head = [("identity", "residual", "allowed", "")]
        rows = [
            (row.name, f"{row.residual:.1e}", f"{row.allowed:.0e}", "" if row.holds else "DOES NOT HOLD")
            for row in self.rows
        ]
        bad, count = sum(not row.holds for row in self.rows), len(self.rows)
        lines = [repr(self.robot), f"{self.configurations} random states{origin}", "", *table(head + rows, "<>><")]
        return "\n".join([*lines, *self.remarks, "", f"{bad} of {count} do not hold" if bad else f"all {count} hold"])

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        rows = [
            ["✓" if row.holds else "✗", plain(row.name), f"{row.residual:.1e}", f"{row.allowed:.0e}"]
            for row in self.rows
        ]
        said = "all identities hold" if self else "some identities do not hold"
        title = heading(f"Verification of {self.robot.name}", [said, f"{self.configurations} random states"])
        return block(
            title, html_table(["", "identity", "residual", "allowed"], rows, left=2), items(list(self.remarks))
        )


@explained
def verify(robot: Robot, *, configurations: int = 20, seed: int | np.random.Generator = 0) -> Verification:
    """A report on whether the equations of motion of this very robot obey the theory [PBP95, (27), (38)].

    Inverse ∘ forward dynamics; M symmetric and positive; inverse dynamics from its terms; Ṁ − 2C skew; energy balance;
    forces and energies linear in the inertial parameters; Jacobians, Ṁ and gravity by central differences.

    Parameters
    ----------
    robot : Robot
    configurations : int
        How many random states (q, v, a) are tried, each (nq,) or (nv,), rad or m, s.
    seed : int or numpy.random.Generator
        Of the random states.

    Returns
    -------
    Verification
        True if every identity holds; ``rows`` has the largest residual of each, relative to the size of its terms (no
        unit). Printed, it is the table of ``torsor verify``.
    """
    if not isinstance(configurations, Integral) or configurations < 1:
        raise ArgumentError(f"`configurations` must be a whole number of at least 1, got {configurations!r:.60}.")
    rows, frame = [], robot.frames[-1]
    q, v, a = random_state(robot, seed=seed, batch=(configurations,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for name, allowed, difference, scale in _identities(robot, q, v, a, frame):
            size = np.max(np.abs(scale), initial=0.0)
            rows.append(Residual(name, float(np.max(np.abs(difference), initial=0.0) / (size or 1.0)), allowed))
    return Verification(robot, tuple(rows), configurations, seed)


def _identities(robot: Robot, q: Array, v: Array, a: Array, frame: str) -> Iterator[tuple[str, float, Array, Array]]:
    """Each identity: its name, what is allowed, by how much it is missed, and terms that this is measured by."""
    M, M_rate = dynamics.mass_matrix(robot, q), dynamics.mass_matrix_rate(robot, q, v)
    tau, friction = dynamics.inverse_dynamics(robot, q, v, a), dynamics.friction_forces(robot, v)
    springs, k = dynamics.spring_forces(robot, q), robot.parameters.stiffness
    elastic = _dot(springs, springs / np.where(k > 0.0, 2.0 * k, 1.0))
    c, C, g = (
        dynamics.coriolis_forces(robot, q, v),
        dynamics.coriolis_matrix(robot, q, v),
        dynamics.gravity_forces(robot, q),
    )
    again = dynamics.inverse_dynamics(robot, q, v, dynamics.forward_dynamics(robot, q, v, tau))
    yield "inverse ∘ forward dynamics", ROUNDING, again - tau, tau
    yield "M symmetric", ROUNDING, M - np.swapaxes(M, -1, -2), M
    yield "M positive", ROUNDING, np.minimum(np.linalg.eigvalsh(M)[..., 0], 0.0), M
    yield "τ = M a + c + g + friction + springs", ROUNDING, _matvec(M, a) + (c + g) + friction + springs - tau, tau
    yield "C v = c", ROUNDING, _matvec(C, v) - c, _matvec(M, a)
    N = M_rate - 2 * C
    yield "Ṁ − 2C skew", ROUNDING, N + np.swapaxes(N, -1, -2), M
    rate, power = _dot(v, _matvec(M, a)) + 0.5 * _dot(v, _matvec(M_rate, v)), _dot(v, tau - friction)
    yield "energy: vᵀτ = d(T + U)/dt", ROUNDING, rate + _dot(v, g + springs) - power, power
    pi, T, Y = (
        inertial_parameters(robot),
        dynamics.kinetic_energy(robot, q, v),
        dynamics.potential_energy_regressor(robot, q),
    )
    by_joints = dynamics.joint_regressor(robot, q, v, a) @ joint_parameters(robot)
    forces = dynamics.torque_regressor(robot, q, v, a) @ pi + by_joints
    yield "τ = Y π + armature + friction + springs", ROUNDING, forces - tau, tau
    energy = dynamics.kinetic_energy_regressor(robot, q, v) @ pi + 0.5 * v**2 @ robot.parameters.armature
    yield "kinetic energy = Y π + armature", ROUNDING, energy - T, T
    height = Y @ pi + elastic - dynamics.potential_energy(robot, q)
    yield "potential energy = Y π + springs", ROUNDING, height, np.abs(Y) @ np.abs(pi) + elastic  # heights may cancel
    yield from _by_differences(robot, q, v, frame, M_rate, _dot(g + springs, v))


def _by_differences(
    robot: Robot, q: Array, v: Array, frame: str, M_rate: Array, work: Array
) -> Iterator[tuple[str, float, Array, Array]]:
    ahead, behind = (kinematics.integrate(robot, q, sign * STEP * v) for sign in (1, -1))
    M, M_before = dynamics.mass_matrix(robot, ahead), dynamics.mass_matrix(robot, behind)
    yield "Ṁ by differences", DIFFERENCES, (M - M_before) / (2 * STEP) - M_rate, M
    U, U_before = dynamics.potential_energy(robot, ahead), dynamics.potential_energy(robot, behind)
    size = np.maximum(np.abs(work), np.abs(U))
    yield "gravity + springs = ∂U/∂q by differences", DIFFERENCES, (U - U_before) / (2 * STEP) - work, size
    moved = kinematics.frame_pose(robot, ahead, frame) - kinematics.frame_pose(robot, behind, frame)
    linear = kinematics.mixed_twist(robot, q, v, frame)[..., 3:]
    difference = moved[..., :3, 3] / (2 * STEP) - linear
    yield f"velocity of {frame!r} by differences", DIFFERENCES, difference, np.maximum(1.0, np.abs(linear))


def _matvec(A: Array, x: Array) -> Array:
    return np.einsum("...ij,...j->...i", A, x)


def _dot(x: Array, y: Array) -> Array:
    return np.einsum("...i,...i->...", x, y)


PEERS = ("pinocchio", "mujoco")


def with_peers(report: Verification) -> Verification:
    """The report with the rows of those `PEERS` that are installed, and a remark on each that is not compared."""
    rows, remarks = report.rows, []
    for library in PEERS:
        if importlib.util.find_spec(library) is None:
            remarks.append(f"{library}: not installed, not compared")
            continue
        try:
            rows += compare(report.robot, library, configurations=report.configurations, seed=report.seed)
        except TorsorError as error:
            remarks.append(f"{library}: not compared: {error}")
    return replace(report, rows=rows, remarks=tuple(remarks))


def compare(
    robot: Robot, library: str, *, configurations: int = 20, seed: int | np.random.Generator = 0
) -> tuple[Residual, ...]:
    """The same terms from one of `PEERS`, in torsor's conventions; ImportError if it is not installed."""
    q, v, a = random_state(robot, seed=seed, batch=(configurations,))
    answer = {"pinocchio": pinocchio, "mujoco": mujoco}[library](robot)
    answers = [answer(*state) for state in zip(q, v, a, strict=True)]
    M = dynamics.mass_matrix(robot, q)
    mine = {
        "inverse dynamics": dynamics.inverse_dynamics(robot, q, v, a)
        - dynamics.friction_forces(robot, v)
        - dynamics.spring_forces(robot, q),
        "M a": np.einsum("...ij,...j->...i", M, a),
    }
    return tuple(
        Residual(f"{library}: {name}", float(np.abs(own - its).max() / np.abs(own).max()), ROUNDING)
        for (name, own), its in zip(mine.items(), (np.array(x) for x in zip(*answers, strict=True)), strict=True)
    )
