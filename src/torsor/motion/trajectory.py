"""Samples of a motion: what a simulation gives, what a log becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from torsor._html import shown_by
from torsor._once import once
from torsor._reports import in_one_line
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics, inverse_dynamics, kinetic_energy, potential_energy
from torsor.model import Robot
from torsor.motion.audit import EnergyAudit, audited
from torsor.motion.interpolation import interpolated
from torsor.motion.motions import Motion, MotionCheck, MotionState, check_limits, robot_to_check, times_of


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
    steps : optional
        How fixed steps of `torsor.simulate` made it, for `torsor.simulation.sensitivities`. It is not saved.
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
    steps: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise ArgumentTypeError(f"Trajectory: `robot` must be a torsor.Robot, got {self.robot!r:.60}.")
        time, q, v = (self._numbers(name) for name in ("time", "q", "v"))
        _refuse_bad_times(time)
        if q.ndim < 2:
            raise ShapeError(f"Trajectory: `q` must have shape (..., {len(time)}, {self.robot.nq}), got {q.shape}.")
        batch = q.shape[:-2]
        self._expect("q", q, (*batch, len(time), self.robot.nq))
        self._expect("v", v, (*batch, len(time), self.robot.nv))
        pushes = self._checked_wrenches(batch, len(time))
        object.__setattr__(self, "wrenches", pushes)
        a, tau = self.a, self.tau
        if a is None:
            tau = np.zeros_like(v) if tau is None else self._numbers("tau")
            self._expect("tau", tau, v.shape)
            a = forward_dynamics(self.robot, q, v, tau, **self._pushes())
        else:
            a = self._numbers("a")
            self._expect("a", a, v.shape)
            tau = inverse_dynamics(self.robot, q, v, a, **self._pushes()) if tau is None else self._numbers("tau")
            self._expect("tau", tau, v.shape)
        for name, value in (("time", time), ("q", q), ("v", v), ("a", a), ("tau", tau)):
            object.__setattr__(self, name, np.asarray(value, float))
        if self.work is not None:
            for name, value in self.work._asdict().items():
                self._expect(f"work.{name}", np.asarray(value), v.shape[:-1])

    @classmethod
    def of_simulation(cls, **fields: Any) -> Trajectory:
        """One whose fields are all there and known to fit, so that nothing is looked at again."""
        made = object.__new__(cls)
        made.__dict__.update(fields)
        return made

    def _numbers(self, name: str) -> Array:
        try:
            return np.asarray(getattr(self, name), float)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"Trajectory: `{name}` must be an array of numbers, got {getattr(self, name)!r:.60}."
            ) from None

    def _checked_wrenches(self, batch: tuple[int, ...], count: int) -> dict[str, Array]:
        if not isinstance(self.wrenches, Mapping):
            raise ArgumentTypeError(
                f"Trajectory: `wrenches` must map names of frames to arrays (..., N, 6), got {self.wrenches!r:.60}."
            )
        pushes = {}
        for frame, wrench in self.wrenches.items():
            self.robot.structure.frame(frame)  # says which frames there are
            pushes[frame] = np.asarray(wrench, float)
            self._expect(f"wrenches[{frame!r}]", pushes[frame], (*batch, count, 6))
        return pushes

    def _expect(self, name: str, value: Array, shape: tuple[int, ...]) -> None:
        if value.shape != shape:
            raise ShapeError(
                f"Trajectory: `{name}` must have shape {shape} for {len(np.atleast_1d(self.time))} times, got {value.shape}."
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "steps": None}  # they hold functions of the user's, which may not be picklable

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

    @property
    def _end(self) -> float:
        return float(self.time[-1])

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

        Of fifth degree in tangent coordinates, through q, v and a at both ends; at a sample it gives the sample's q, v and a.
        Where forces are held from sample to sample, acceleration jumps there, and the polynomial follows the smooth mean.

        Parameters
        ----------
        t : float or (K,) array
            s, as in ``time``, which may begin later than 0. Before the first and after the last sample the robot rests there. A
            time that is traced is possible with up to 500 samples.

        Returns
        -------
        MotionState
            (..., nq) and (..., nv), for several times (..., K, nq) and (..., K, nv).
        """
        return interpolated(self.robot, self.time, self.q, self.v, self.a, t)

    @explained
    def sample(self, dt: float | None = None, *, times: Any = None) -> Trajectory:
        """Samples at other times, with the joint forces ``tau`` that the motion takes under its wrenches.

        Parameters
        ----------
        dt : float, optional
            Time from one sample to the next, s; the last one is at the end.
        times : (K,) array, optional
            The times themselves, s, as in ``time``, which grow.

        Returns
        -------
        Trajectory
            Each wrench is that of the last sample before; outside there are none. Works, notes and events are those of the
            samples as they were, and are left out.
        """
        given = times_of(self._start, self._end, dt, times)
        q, v, a, _ = self.at(given)
        last = np.clip(np.searchsorted(self.time, given, side="right") - 1, 0, len(self) - 1)
        within = np.where((given >= self._start) & (given <= self._end), 1.0, 0.0)[:, None]
        pushes = {frame: within * x[..., last, :] for frame, x in self.wrenches.items()}
        return Trajectory(self.robot, given, q, v, a=a, wrenches=pushes, interrupted=self.interrupted)

    @explained
    def check(self, robot: Robot | None = None) -> MotionCheck:
        """Report on the limits that the samples break, true if they keep all of them; see `Motion.check`.

        Parameters
        ----------
        robot : Robot, optional
            Another robot than that of the motion, with a payload say: joint forces are then those that it would take.

        Returns
        -------
        MotionCheck
        """
        robot = robot_to_check(self.robot, robot)
        tau = self.tau if robot is self.robot else inverse_dynamics(robot, self.q, self.v, self.a, **self._pushes())
        return check_limits(robot, self.time, self.q, self.v, tau)

    def __getitem__(self, which: slice) -> Trajectory:
        """Some of the samples, as a trajectory: ``run[100:200]``, ``run[::10]``. They keep their times, and events within."""
        if not isinstance(which, slice):
            raise ArgumentTypeError(
                f"Trajectory: samples are taken by slices, such as run[100:200] or run[::10], got {which!r:.60}. "
                "For one trajectory of a batch: run.of(3); for one time: run.at(t)."
            )
        if which.step == 0 or (which.step or 1) < 0 or not len(self.time[which]):
            raise ArgumentError(f"Trajectory: {which!r} leaves no samples that grow in time.")

        def cut(x: Array, rank: int = 2) -> Array:
            return x[(..., which, slice(None))] if rank == 2 else x[..., which]

        work = None if self.work is None else Work(*(cut(x, 1) - cut(x, 1)[..., :1] for x in self.work))
        time, chosen = self.time[which], {name: cut(getattr(self, name)) for name in ("q", "v", "a", "tau")}
        pushes = {frame: cut(x) for frame, x in self.wrenches.items()}
        events = tuple(e for e in self.events if time[0] <= e.time <= time[-1])
        steps = None if self.steps is None else self.steps.cut(which)
        return replace(self, time=time, **chosen, wrenches=pushes, work=work, events=events, steps=steps)

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
        steps = None if self.steps is None else self.steps.of(which)
        return replace(self, **chosen, wrenches=pushes, work=work, events=events, steps=steps)

    @explained
    def save(self, path: str | PathLike[str]) -> None:
        """Write the samples to a file: .npz, or a table of one trajectory, .csv or, if pyarrow is installed, .parquet.

        An .npz file has everything but events. A table has time, q, v, a, tau and wrenches, with units in its header.

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
            .npz, .csv or .parquet. In a table either a or tau may be left out: they follow from each other.

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

    def __repr__(self) -> str:
        """One line."""
        many = f" {self.batch} of" if self.batch else ""
        cut = ", interrupted" if self.interrupted else ""
        notes = f", {len(self.notes)} note{'s'[len(self.notes) == 1 :]}" if self.notes else ""
        samples = f"{len(self)} sample{'s'[len(self) == 1 :]}"
        return f"<Trajectory of {self.robot.name!r}:{many} {samples} over {self.duration:.6g} s{notes}{cut}>"

    _repr_html_ = shown_by("torsor.motion.notebook", "trajectory_html")


def _refuse_bad_times(time: Array) -> None:
    if time.ndim != 1 or not len(time):
        raise ArgumentError(f"Trajectory: `time` must have shape (N,) with one time or more, got shape {time.shape}.")
    if not np.all(np.isfinite(time)):
        raise ArgumentError(f"Trajectory: `time` must be finite, but time {int(np.argmin(np.isfinite(time)))} is not.")
    if np.any(np.diff(time) <= 0.0):
        k = int(np.argmax(np.diff(time) <= 0.0)) + 1
        raise ArgumentError(
            f"Trajectory: `time` must grow, but {time[k]:.9g} s comes after {time[k - 1]:.9g} s (sample {k})."
        )
