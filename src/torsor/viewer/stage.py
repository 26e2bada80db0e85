"""What is shown now: robots side by side and their ghosts, their configurations, the clock, the switches. It draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Vector3
from torsor.errors import ArgumentError, ArgumentTypeError, warn_of_model
from torsor.model import Robot
from torsor.plot.canvas import triad_of
from torsor.plot.skeleton import one_configuration
from torsor.viewer.course import Course
from torsor.viewer.mesh_files import declared_roots
from torsor.viewer.parts import GHOST, LAYERS
from torsor.viewer.playback import Playback
from torsor.viewer.scene import Figure, figure_of

MOST_ROBOTS = 64
LOOKED_AT = 24  # times of a motion at which it is looked where the robot gets, for the camera and the ground


class View(NamedTuple):
    """Where the robots are, for cameras: ``points`` (k, 3) of them, m; ``centre`` (3,) and ``radius`` of a ball around these;
    ``ground``, the height of the grid along ``up`` (3,); ``seen_from``, a direction (3,).
    """

    points: Array
    centre: Vector3
    radius: float
    ground: float
    up: Vector3
    seen_from: Vector3


class Stage:
    """Robots and what they do. `robots` and `ghosts` are figures; a ghost belongs to the robot of its number, if there is one."""

    def __init__(
        self,
        robots: Sequence[Robot],
        motions: Sequence[Any],
        ghosts: Sequence[Any],
        q: Any,
        wrenches: Mapping[str, Any],
        mesh_roots: Any,
    ) -> None:
        self.courses = [None if m is None else Course(r, m) for r, m in zip(robots, motions, strict=True)]
        self.ghost_courses = [None if m is None else Course(r, m, "ghost") for r, m in zip(robots, ghosts, strict=True)]
        self.pushes = {frame: _wrench(frame, value) for frame, value in wrenches.items()}
        self.figures = []
        for robot, course in zip(robots, self.courses, strict=True):
            pushed = dict.fromkeys([*self.pushes, *(course.wrenches(np.zeros(1)) if course else ())])
            for frame in pushed:
                robot.structure.frame(frame)  # says what there is
            self.figures.append(figure_of(robot, roots=declared_roots(robot, mesh_roots), pushed=tuple(pushed)))
        self.ghosts = [
            None if course is None else figure_of(robot, roots=declared_roots(robot, mesh_roots), ghost=True)
            for robot, course in zip(robots, self.ghost_courses, strict=True)
        ]
        _tell_missing(self.figures)
        every = [course for course in chain(self.courses, self.ghost_courses) if course is not None]
        self.clock = Playback(max((course.duration for course in every), default=0.0))
        starts = [q] * len(robots)
        self.q = [
            course.q(0.0) if course is not None and start is None else one_configuration(robot, start)
            for robot, course, start in zip(robots, self.courses, starts, strict=True)
        ]
        self.shown = {
            layer: on
            for layer, on in LAYERS.items()
            if (layer != GHOST or any(self.ghosts)) and (layer != "wrenches" or any(f.pushed for f in self.figures))
        }
        for figure, course in zip(self.figures, self.courses, strict=True):
            figure.newtons = self._largest_wrench(course)
        self._set_side_by_side()

    @property
    def name(self) -> str:
        """The robots' names."""
        names = dict.fromkeys(figure.robot.name for figure in self.figures)
        return ", ".join(names)

    def everyone(self) -> list[tuple[int, Figure]]:
        """All figures with the number of their robot: robots, then ghosts."""
        return [*enumerate(self.figures), *((k, ghost) for k, ghost in enumerate(self.ghosts) if ghost is not None)]

    def to_time(self, t: float) -> None:
        """Put the clock and all robots that move to a time, s."""
        self.clock.scrub(t)
        for k, course in enumerate(self.courses):
            if course is not None:
                self.q[k] = course.q(self.clock.time)

    def velocity(self, k: int) -> Array:
        """The velocity (nv,) of robot ``k`` in its motion, zero if it has none or is elsewhere."""
        course = self.courses[k]
        if course is None or not np.array_equal(course.q(self.clock.time), self.q[k]):
            return np.zeros(self.figures[k].robot.nv)
        return course.velocity(self.clock.time)

    def placed(self, k: int, figure: Figure) -> tuple[Array, Array]:
        """Poses (bodies, 4, 4) and scales (bodies, 3) of a figure of robot ``k`` now."""
        course = self.ghost_courses[k] if figure.ghost else None
        q = self.q[k] if course is None else course.q(self.clock.time)
        pushes = {} if figure.ghost else self._wrenches(k, np.array([self.clock.time]))
        poses, scales = figure.placed(q[None], pushes, self.shown)
        return poses[0], scales[0]

    def placed_over(
        self, k: int, figure: Figure, times: Array, shown: Mapping[str, bool] = LAYERS
    ) -> tuple[Array, Array]:
        """Poses (N, bodies, 4, 4) and scales (N, bodies, 3) of a figure at times of its motion, or where it is now."""
        course = self.ghost_courses[k] if figure.ghost else self.courses[k]
        q = (
            np.tile(self.q[k], (len(times), 1))
            if course is None
            else course.samples(np.clip(times, 0.0, course.duration))
        )
        return figure.placed(q, {} if figure.ghost else self._wrenches(k, times), shown)

    def page_times(self) -> Array:
        """Times (N,) of a written page: one if nothing moves."""
        every = [c.page_times() for c in chain(self.courses, self.ghost_courses) if c is not None and c.duration > 0]
        if not every:
            return np.zeros(1)
        if len(every) == 1:
            return every[0]
        return np.linspace(0.0, self.clock.duration, max(len(times) for times in every))

    def _wrenches(self, k: int, times: Array) -> dict[str, Array]:
        course = self.courses[k]
        held = {frame: np.tile(wrench, (len(times), 1)) for frame, wrench in self.pushes.items()}
        return held | (course.wrenches(times) if course is not None else {})

    def _largest_wrench(self, course: Course | None) -> float:
        values = [np.abs(x) for x in self.pushes.values()]
        if course is not None:
            values += [np.abs(x) for x in course.wrenches(np.linspace(0.0, course.duration, 200)).values()]
        return max((float(x.max()) for x in values if x.size), default=0.0) or 1.0

    @property
    def up(self) -> Vector3:
        """Against gravity, of the first robot; z if it has none."""
        gravity = np.asarray(self.figures[0].robot.gravity, float)
        return -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])

    @property
    def ground_axes(self) -> Matrix3:
        """Axes of the ground as columns: two in its plane, and up; those of the base where gravity is along z."""
        up = self.up
        return np.eye(3) if abs(up[2]) > 1 - 1e-9 else triad_of(up)

    def view(self) -> View:
        """Where the robots are in all of their motions, and from where to look."""
        clouds = [self._cloud(k, figure) for k, figure in self.everyone()]
        points = np.concatenate(clouds)
        low, high = points.min(axis=0), points.max(axis=0)
        centre = (low + high) / 2
        radius = max(float(np.linalg.norm(points - centre, axis=1).max()), 1e-3)
        lowest = float((points @ self.up).min())
        aside = -0.45 if len(self.figures) > 1 else -1.0
        seen_from = self.ground_axes @ np.array([1.25, aside, 0.62])
        return View(points, centre, radius, lowest if lowest < -0.03 * radius else 0.0, self.up, seen_from)

    def _cloud(self, k: int, figure: Figure) -> Array:
        """Points of a figure's body in all of its motion, and its base."""
        course = self.ghost_courses[k] if figure.ghost else self.courses[k]
        times = np.linspace(0.0, course.duration, LOOKED_AT) if course is not None else np.zeros(1)
        poses, _ = self.placed_over(k, figure, times)
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        clouds = [figure.offset[None]]
        for part in figure.parts:
            if part.layer in LAYERS and LAYERS[part.layer] and part.body <= figure.robot.n:
                shape = figure.shapes[part.shape]
                low, high = shape.points.min(axis=0), shape.points.max(axis=0)
                box = ((low + high) / 2 + corners * (high - low) / 2) * part.scale
                local = box @ part.pose[:3, :3].T + part.pose[:3, 3]
                body = poses[:, part.body]
                clouds.append((local @ np.swapaxes(body[:, :3, :3], -1, -2) + body[:, None, :3, 3]).reshape(-1, 3))
        return np.concatenate(clouds)

    def _set_side_by_side(self) -> None:
        if len(self.figures) < 2:
            return
        across = self.ground_axes[:, 1]
        place = 0.0
        spans = [self._cloud(k, figure) @ across for k, figure in enumerate(self.figures)]
        gap = 0.25 * max(float(np.ptp(span)) for span in spans) + 0.3 * max(f.size for f in self.figures)
        for k, (figure, span) in enumerate(zip(self.figures, spans, strict=True)):
            place -= float(span.min()) if k else 0.0
            figure.offset = place * across
            ghost = self.ghosts[k]
            if ghost is not None:
                ghost.offset = figure.offset
            place += float(span.max()) + gap


def _wrench(frame: str, value: Any) -> Array:
    numbers = np.asarray(value, float)
    if numbers.shape != (6,) or not np.all(np.isfinite(numbers)):
        raise ArgumentError(
            f"`wrenches[{frame!r}]` must be six finite numbers (torque, force) in the axes of the frame, got shape "
            f"{numbers.shape}. Wrenches that change are those of a torsor.Trajectory."
        )
    return numbers


def _tell_missing(figures: Sequence[Figure]) -> None:
    """One warning for all meshes that could not be had."""
    missing = list(dict.fromkeys(name for figure in figures for name in figure.missing))
    if missing:
        shown = "\n  ".join(missing[:20] + ([f"and {len(missing) - 20} more"] if len(missing) > 20 else []))
        warn_of_model(
            f"meshes are not shown; bars and boxes stand for their links unless these have other shapes:\n  {shown}\n"
            "Declare the folders that hold them: torsor.view(robot, mesh_roots=[...])."
        )


def as_list(value: Any, count: int | None, name: str) -> list[Any]:
    """One for each robot: a list or tuple as it is, anything else for every one of them."""
    if isinstance(value, (list, tuple)):
        if count is not None and len(value) != count:
            raise ArgumentTypeError(f"`{name}` must have one for each of {count} robots, got {len(value)}.")
        return list(value)
    return [value] * (1 if count is None else count)


def stage_of(robot: Any, motion: Any, ghost: Any, q: Any, wrenches: Any, mesh_roots: Any) -> Stage:
    """The stage that the arguments of `torsor.view` ask for."""
    robots, motions = as_list(robot, None, "robot"), as_list(motion, None, "motion")
    count = max(len(robots), len(motions))
    if not robots or not motions:
        raise ArgumentError("there is nothing to show: `robot` or `motion` is empty.")
    if count > MOST_ROBOTS:
        raise ArgumentError(f"at most {MOST_ROBOTS} robots fit side by side, got {count}.")
    robots = robots * count if len(robots) == 1 else robots
    motions = motions * count if len(motions) == 1 else motions
    if len(robots) != len(motions):
        raise ArgumentError(f"`motion` must have one for each of {len(robots)} robots, got {len(motions)}.")
    for one in robots:
        if not isinstance(one, Robot):
            raise ArgumentTypeError(
                f"`robot` must be a torsor.Robot or a list of them, got {type(one).__name__}. "
                "A file becomes one by torsor.load(path)."
            )
        if not one.is_concrete:
            raise ArgumentTypeError("`robot` must have plain numbers, not values that are being traced.")
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentTypeError(f"`wrenches` must map frame names to six numbers, got {type(wrenches).__name__}.")
    return Stage(robots, motions, as_list(ghost, count, "ghost"), q, wrenches or {}, mesh_roots)
