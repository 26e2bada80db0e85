"""Samples of a motion: what a simulation gives, what a log becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor._reports import in_one_line
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics, inverse_dynamics, kinetic_energy, potential_energy
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion.audit import EnergyAudit, audited
from torsor.motion.interpolation import interpolated
from torsor.motion.motions import Motion, MotionCheck, MotionState, check_limits


@in_one_line
class Work(NamedTuple):
    """Energies (..., N) since the first sample, J.

    Attributes
    ----------
    drives, wrenches : (..., N) array
        Work of the joint forces, and of what acts from outside: wrenches, a base that is moved, actions of events.
    friction : (..., N) array
        What friction took.
    stops : (..., N) array
        Work of joint stops on the robot: as a rule negative.
    """

    drives: Array
    wrenches: Array
    friction: Array
    stops: Array

    @property
    def total(self) -> Array:
        """By how much the energy of the robot changes (..., N), J."""
        return self.drives + self.wrenches - self.friction + self.stops


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Motion):
    """A motion as N samples, batch axes first; itself a motion, interpolated on the manifold.

    Parameters
    ----------
    robot : Robot
    time : (N,) array
        s, growing.
    q : (..., N, nq) array
        Configurations, rad or m.
    v : (..., N, nv) array
        Velocities, rad/s or m/s.
    a : (..., N, nv) array, optional
        Accelerations from each sample on, rad/s² or m/s²; by default those of ``tau``, or of zero forces.
    tau : (..., N, nv) array, optional
        Joint forces that act from each sample on, N·m or N; by default those that ``a`` takes.
    wrenches : mapping of frame names to (..., N, 6) arrays, optional
        External wrenches in the axes of their frames, N·m and N.
    work : Work, optional
        Energies that drives, wrenches, friction and stops have put in or taken, J.
    notes : tuple of str
        What happened, in words.
    interrupted : bool
        Whether the motion was cut off before its end.
    events : tuple
        What events took place (`torsor.simulation.Occurrence`).
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    a: Array = None
    tau: Array = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    work: Work | None = None
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    events: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise ArgumentTypeError(f"Trajectory: `robot` must be a torsor.Robot, got {self.robot!r:.60}.")
        time = np.asarray(self.time, float)
        if time.ndim != 1 or not len(time) or np.any(np.diff(time) <= 0.0) or not np.all(np.isfinite(time)):
            raise ArgumentError(f"Trajectory: `time` must be finite times (N,) that grow, got shape {time.shape}.")
        q, v = np.asarray(self.q, float), np.asarray(self.v, float)
        batch = q.shape[:-2]
        self._expect("q", q, (*batch, len(time), self.robot.nq))
        self._expect("v", v, (*batch, len(time), self.robot.nv))
        a, tau = self.a, self.tau
        if a is None and tau is None:
            tau = np.zeros_like(v)
        if a is None:
            a = forward_dynamics(self.robot, q, v, np.asarray(tau, float), **self._pushes())
        if tau is None:
            tau = inverse_dynamics(self.robot, q, v, np.asarray(a, float), **self._pushes())
        for name, value in (("a", a), ("tau", tau)):
            self._expect(name, np.asarray(value, float), v.shape)
        for frame, wrench in self.wrenches.items():
            self._expect(f"wrenches[{frame!r}]", np.asarray(wrench, float), (*batch, len(time), 6))
        pushes = {frame: np.asarray(wrench, float) for frame, wrench in self.wrenches.items()}
        object.__setattr__(self, "wrenches", pushes)
        made = {"time": time, "q": q, "v": v, "a": np.asarray(a, float), "tau": np.asarray(tau, float)}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _expect(self, name: str, value: Array, shape: tuple[int, ...]) -> None:
        if value.shape != shape:
            raise ShapeError(
                f"Trajectory: `{name}` must have shape {shape} for {len(np.atleast_1d(self.time))} times, got {value.shape}."
            )

    def _pushes(self) -> dict[str, Any]:
        return {"wrenches": dict(self.wrenches)} if self.wrenches else {}

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self.time)

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch axes."""
        return tuple(self.q.shape[:-2])

    @property
    def duration(self) -> float:
        """From the first to the last sample, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def _start(self) -> float:
        return float(self.time[0])

    @once
    def kinetic(self) -> Array:
        """Kinetic energy (..., N), J."""
        return kinetic_energy(self.robot, self.q, self.v)

    @once
    def potential(self) -> Array:
        """Potential energy (..., N), J."""
        return potential_energy(self.robot, self.q)

    @property
    def energy(self) -> Array:
        """Kinetic plus potential energy (..., N), J."""
        return self.kinetic + self.potential

    @explained
    def audit(self) -> EnergyAudit:
        """Report on the change of energy against the work of drives, wrenches, friction and stops.

        Returns
        -------
        EnergyAudit
            ``residual`` is the largest difference, relative to the energy exchanged.
        """
        return audited(
            self.time, self.kinetic, self.potential, self.work, self.v, self.tau, self.robot, self.wrenches, self.q
        )

    @explained
    def at(self, t: Any) -> MotionState:
        """Configuration, velocity, acceleration and jerk at times between the samples, by polynomials on the manifold.

        Of fifth degree in tangent coordinates, through q, v and a at both ends; at a sample it gives the sample's q and v. Where
        forces are held from sample to sample, acceleration jumps there, and the polynomial follows the smooth mean.

        Parameters
        ----------
        t : float or (K,) array
            s; before the first and after the last sample the robot rests there.

        Returns
        -------
        MotionState
            (..., nq) and (..., nv), for several times (..., K, nq) and (..., K, nv).
        """
        return interpolated(self.robot, self.time, self.q, self.v, self.a, t)

    def check(self, *, robot: Robot | None = None) -> MotionCheck:
        """Report on the limits that the samples break; see `Motion.check`."""
        robot = self.robot if robot is None else robot
        tau = self.tau if robot is self.robot else inverse_dynamics(robot, self.q, self.v, self.a, **self._pushes())
        return check_limits(robot, self.time, self.q, self.v, tau)

    def __getitem__(self, which: slice) -> Trajectory:
        """Some of the samples, as a trajectory: ``run[100:200]``, ``run[::10]``."""
        if not isinstance(which, slice):
            raise ArgumentTypeError(
                f"Trajectory: samples are taken by slices, such as run[100:200] or run[::10], got {which!r:.60}. "
                "For one trajectory of a batch: run.of(3); for one time: run.at(t)."
            )
        if (which.step or 1) < 0 or not len(self.time[which]):
            raise ArgumentError(f"Trajectory: {which!r} leaves no samples that grow in time.")

        def cut(x: Array, rank: int = 2) -> Array:
            return x[(..., which, slice(None))] if rank == 2 else x[..., which]

        work = None if self.work is None else Work(*(cut(x, 1) - cut(x, 1)[..., :1] for x in self.work))
        return replace(
            self,
            time=self.time[which],
            q=cut(self.q),
            v=cut(self.v),
            a=cut(self.a),
            tau=cut(self.tau),
            wrenches={frame: cut(x) for frame, x in self.wrenches.items()},
            work=work,
        )

    @explained
    def of(self, *which: int) -> Trajectory:
        """One trajectory of a batch.

        Parameters
        ----------
        *which : int
            Its place, one number for each batch axis.

        Returns
        -------
        Trajectory
        """
        if len(which) != len(self.batch):
            raise ArgumentError(f"this trajectory has batch axes {self.batch}, got {len(which)} numbers {which!r:.40}.")
        try:
            chosen = {name: getattr(self, name)[which] for name in ("q", "v", "a", "tau")}
        except IndexError:
            raise ArgumentError(f"there is no trajectory {which!r:.40} in a batch of {self.batch}.") from None
        work = None if self.work is None else Work(*(x[which] for x in self.work))
        pushes = {frame: x[which] for frame, x in self.wrenches.items()}
        events = tuple(e for e in self.events if getattr(e, "trajectory", which) == which)
        return replace(self, **chosen, wrenches=pushes, work=work, events=events)

    @explained
    def save(self, path: str | PathLike[str]) -> None:
        """Write the samples to a file: .npz, .csv (one trajectory), or .parquet if pyarrow is installed.

        Parameters
        ----------
        path : str or path
            Its ending says which format.
        """
        from torsor.motion.trajectory_files import save

        save(self, path)

    @staticmethod
    @explained
    def load(robot: Robot, path: str | PathLike[str]) -> Trajectory:
        """Read samples that were saved.

        Parameters
        ----------
        robot : Robot
            The robot they belong to. Its joints are compared by name; a robot with other numbers than the one that was saved is
            told of by a warning.
        path : str or path
            .npz, .csv or .parquet.

        Returns
        -------
        Trajectory
        """
        from torsor.motion.trajectory_files import load

        return load(robot, path)

    @explained
    def to_dataframe(self) -> Any:
        """The samples as a table of pandas: time, and a column for each number of q, v, a and tau, named by joint.

        Returns
        -------
        pandas.DataFrame
        """
        from torsor.motion.trajectory_files import to_dataframe

        return to_dataframe(self)

    @explained
    def plot(self, **options: Any) -> Any:
        """Picture of positions, velocities, joint forces and energies over time (`torsor.plot.trajectory`).

        Parameters
        ----------
        **options
            As for `torsor.plot.trajectory`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        import torsor

        return torsor.plot.trajectory(self, **options)

    def __repr__(self) -> str:
        """One line."""
        many = f" {self.batch} of" if self.batch else ""
        cut = ", interrupted" if self.interrupted else ""
        notes = f", {len(self.notes)} notes" if self.notes else ""
        return f"<Trajectory of {self.robot.name!r}:{many} {len(self)} samples over {self.duration:.6g} s{notes}{cut}>"

    def _repr_html_(self) -> str:
        from html import escape

        lines = [repr(self), *self.notes]
        return f"<pre>{escape(chr(10).join(lines))}</pre>"


@explained
def concatenate(trajectories: Sequence[Trajectory]) -> Trajectory:
    """One trajectory after another: times go on from the end of the one before.

    Parameters
    ----------
    trajectories : sequence of Trajectory
        Of one robot and batch, each beginning in the state in which the one before ends, to 1e-6.

    Returns
    -------
    Trajectory
        At each seam the later one's sample is kept, for its forces act from there on.
    """
    runs = list(trajectories)
    if not runs or not all(isinstance(run, Trajectory) for run in runs):
        raise ArgumentTypeError("`trajectories` must be a sequence of torsor.Trajectory objects, at least one.")
    whole = runs[0]
    for k, run in enumerate(runs[1:], start=1):
        if run.robot != whole.robot or run.batch != whole.batch:
            raise ArgumentError(f"trajectory {k} is of another robot or batch than those before.")
        for name in ("q", "v"):
            ends = getattr(whole, name)[..., -1, :], getattr(run, name)[..., 0, :]
            apart = difference(run.robot, *ends) if name == "q" else ends[1] - ends[0]
            gap = float(np.max(np.abs(apart), initial=0.0))
            if not gap <= 1e-6:
                raise ArgumentError(
                    f"trajectory {k} does not begin where the one before ends: `{name}` differs by {gap:.3g}."
                )
        whole = _joined(whole, run)
    return whole


def _joined(one: Trajectory, other: Trajectory) -> Trajectory:
    def both(name: str) -> Array:
        return np.concatenate([getattr(one, name)[..., :-1, :], getattr(other, name)], axis=-2)

    work = None
    if one.work is not None and other.work is not None:
        work = Work(
            *(
                np.concatenate([x[..., :-1], x[..., -1:] + y], axis=-1)
                for x, y in zip(one.work, other.work, strict=True)
            )
        )
    frames = [*one.wrenches, *(frame for frame in other.wrenches if frame not in one.wrenches)]
    pushes = {}
    for frame in frames:
        parts = [run.wrenches.get(frame, np.zeros((*run.batch, len(run), 6))) for run in (one, other)]
        pushes[frame] = np.concatenate([parts[0][..., :-1, :], parts[1]], axis=-2)
    return Trajectory(
        one.robot,
        np.concatenate([one.time[:-1], one.time[-1] + other.time - other.time[0]]),
        both("q"),
        both("v"),
        both("a"),
        both("tau"),
        pushes,
        work,
        (*one.notes, *other.notes),
        one.interrupted or other.interrupted,
        (*one.events, *other.events),
    )
