"""What can be pressed and read on the live page: the replay, switches, dragging, joint sliders, numbers of the state."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.functions.public.kinematics import frame_pose
from torsor.lie.unchecked import quaternion
from torsor.viewer.dragging import follow, movable_frames
from torsor.viewer.joint_sliders import from_sliders, sliders, to_sliders
from torsor.viewer.panel import panel

if TYPE_CHECKING:
    from torsor.viewer.live_page import LivePage

WHOLE, ORIGIN = "position and orientation", "position"
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")


class Controls:
    """The controls of a page. A change that comes from here, and not from a browser, is no wish of the user."""

    def __init__(self, page: LivePage) -> None:
        self.page, self.stage, self.gui = page, page.stage, page.server.gui
        self.chosen = 0  # which robot the sliders, the numbers and the dragging are of
        self._joints: list[Any] = []
        self._set_replay()
        self._set_switches()
        self._set_choice()
        self._set_drag()
        self._set_joints()
        with self.gui.add_folder("Dynamics", expand_by_default=False, order=70.0):
            self._panel = self.gui.add_html("")

    @property
    def robot(self) -> Any:
        """The robot that is chosen."""
        return self.stage.figures[self.chosen].robot

    def _on(self, handle: Any, name: str, action: Any, event: str = "on_update") -> Any:
        """Let the page do ``action(value)`` when a user changes a control."""

        def changed(happened: Any) -> None:
            if happened.client_id is not None:
                value = happened.target.value
                self.page.wish(name, lambda: action(value))

        getattr(handle, event)(changed)
        return handle

    # The replay

    def _set_replay(self) -> None:
        clock, gui = self.stage.clock, self.gui
        self._time = None
        if clock.duration <= 0.0:
            return
        with gui.add_folder("Motion"):
            self._play = self._on(gui.add_button("Play"), "play", lambda _: self._toggle(), "on_click")
            self._time = gui.add_slider("time (s)", 0.0, clock.duration, clock.duration / 1000, 0.0)
            self._on(self._time, "time", self._scrub)
            speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self._on(speed, "speed", lambda value: setattr(clock, "speed", float(value)))
            self._loop = self._on(
                gui.add_checkbox("loop", clock.loop), "loop", lambda on: setattr(clock, "loop", bool(on))
            )
            most = max((course.count for course in self.stage.courses if course is not None), default=1)
            if most > 1:
                which = gui.add_slider("which of the batch", 0, most - 1, 1, 0)
                self._on(which, "batch", self._choose_of_batch)

    def _toggle(self) -> None:
        clock = self.stage.clock
        clock.pause() if clock.playing else clock.play()

    def _scrub(self, time: float) -> None:
        self.stage.clock.pause()
        self.stage.to_time(time)

    def _choose_of_batch(self, number: int) -> None:
        for course in self.stage.courses:
            if course is not None:
                course.chosen = min(int(number), course.count - 1)
        self.stage.to_time(self.stage.clock.time)

    # Switches

    def _set_switches(self) -> None:
        self._switches = {}
        with self.gui.add_folder("Show"):
            for layer, on in self.stage.shown.items():
                box = self.gui.add_checkbox(layer, on)
                self._switches[layer] = self._on(box, f"show {layer}", lambda on, layer=layer: self._switch(layer, on))

    def _switch(self, layer: str, on: bool) -> None:
        self.stage.shown[layer] = bool(on)

    def _set_choice(self) -> None:
        if len(self.stage.figures) > 1:
            options = [f"{k}: {figure.robot.name}" for k, figure in enumerate(self.stage.figures)]
            choice = self.gui.add_dropdown("Robot", options)
            self._on(choice, "robot", lambda value: self._choose(options.index(value)))

    def _choose(self, k: int) -> None:
        self.chosen = k
        self._drag_folder.remove()
        self._gizmo.remove()
        self._joint_folder.remove()
        self._set_drag()
        self._set_joints()

    # Dragging

    def _set_drag(self) -> None:
        figure = self.stage.figures[self.chosen]
        frames = movable_frames(figure.robot)
        self._drag_folder = self.gui.add_folder("Drag", expand_by_default=True, order=50.0)
        with self._drag_folder:
            self._dragging = self._on(self.gui.add_checkbox("drag a frame", False), "drag", lambda _: None)
            self._frame = self._on(
                self.gui.add_dropdown("frame", frames, initial_value=figure.tip), "frame", lambda _: None
            )
            how = (WHOLE, ORIGIN)
            first = WHOLE if figure.robot.nv >= 6 else ORIGIN
            self._how = self._on(self.gui.add_dropdown("keep", how, initial_value=first), "how", lambda _: None)
            self._said = self.gui.add_html("")
        self._gizmo = self.page.server.scene.add_transform_controls(
            "/drag", scale=0.25 * figure.size, depth_test=False, visible=False
        )
        self._held = False

        async def dragged(event: Any) -> None:  # on the event loop, in the order in which things happen
            if event.client_id is None:
                return
            self._held = event.phase != "end"
            at, turn = np.array(event.target.position), np.array(event.target.wxyz)
            self.page.wish("pull", lambda: self._pull(at, turn))

        self._gizmo.on_update(dragged)

    def _pull(self, at: Array, wxyz: Array) -> None:
        target: Pose = np.eye(4)
        target[:3, :3] = quaternion.to_rotation(np.roll(wxyz / np.linalg.norm(wxyz), -1))
        target[:3, 3] = at - self.stage.figures[self.chosen].offset
        self.stage.clock.pause()
        q = self.stage.q[self.chosen]
        found = follow(self.robot, self._frame.value, target, q, whole_pose=self._how.value == WHOLE)
        self.stage.q[self.chosen] = found.q
        self._said.content = _note(found.words, good=found.reached)

    def _follow_drag(self) -> None:
        on = bool(self._dragging.value)
        self._gizmo.visible = on
        self._how.visible = self._frame.visible = self._said.visible = on
        self._gizmo.disable_rotations = self._how.value == ORIGIN
        if on and not self._held:
            pose = np.asarray(frame_pose(self.robot, self.stage.q[self.chosen], self._frame.value))
            x, y, z, w = (float(number) for number in quaternion.from_rotation(pose[:3, :3]))
            self._gizmo.position = tuple(pose[:3, 3] + self.stage.figures[self.chosen].offset)
            self._gizmo.wxyz = (w, x, y, z)

    # Joints

    def _set_joints(self) -> None:
        self._joint_folder = self.gui.add_folder("Joints", order=60.0)
        self._joints = []
        numbers = to_sliders(self.robot, self.stage.q[self.chosen])
        with self._joint_folder:
            for k, (slider, value) in enumerate(zip(sliders(self.robot), numbers, strict=True)):
                start = float(np.clip(value, slider.lower, slider.upper))
                limits = f"{slider.lower:.4g} to {slider.upper:.4g} {slider.unit}"
                handle = self.gui.add_slider(
                    f"{slider.label} ({slider.unit})",
                    slider.lower,
                    slider.upper,
                    (slider.upper - slider.lower) / 1000,
                    start,
                    hint=f"limits {limits}" if slider.bounded else f"no limits; {limits} is shown",
                )
                self._joints.append(self._on(handle, f"joint {k}", lambda value, k=k: self._move(k, value)))
            neutral = self.gui.add_button("Neutral configuration")
            self._on(neutral, "neutral", lambda _: self._to_neutral(), "on_click")

    def _move(self, k: int, value: float) -> None:
        self.stage.clock.pause()
        numbers, slider = to_sliders(self.robot, self.stage.q[self.chosen]), self._joints[k]
        numbers[k] = np.clip(value, slider.min, slider.max)  # numbers can be typed, and typed wrong
        self.stage.q[self.chosen] = from_sliders(self.robot, numbers)

    def _to_neutral(self) -> None:
        self.stage.clock.pause()
        self.stage.q[self.chosen] = np.asarray(self.robot.neutral)

    # What is shown of the state

    def follow(self, fresh: bool) -> None:
        """Show the state; numbers and sliders only if ``fresh``."""
        clock = self.stage.clock
        self._follow_drag()
        if not fresh:
            return
        if self._time is not None:
            self._time.value = clock.time
            self._play.label = "Pause" if clock.playing else "Play"
            self._loop.value = clock.loop
        for layer, box in self._switches.items():
            box.value = self.stage.shown[layer]
        q = self.stage.q[self.chosen]
        for slider, value in zip(self._joints, to_sliders(self.robot, q), strict=True):
            slider.value = float(np.clip(value, slider.min, slider.max))
        self._panel.content = panel(self.robot, q, self.stage.velocity(self.chosen))


def _note(text: str, *, good: bool) -> str:
    colour = "#00734f" if good else "#a33c00"
    return f'<div style="padding:0 1em;font-size:12px;color:{colour}">{escape(text)}</div>'
