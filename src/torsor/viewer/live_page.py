"""The page that a browser shows, by viser: nodes for bodies and their parts, and one thread that moves them.

Callbacks of the page only note what is wanted and wake the thread, which does all the work: what is dragged faster than it can be
solved is skipped, not queued.
"""

from __future__ import annotations

import atexit
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, needed
from torsor.lie.unchecked import quaternion
from torsor.viewer.controls import Controls
from torsor.viewer.parts import Part
from torsor.viewer.picture import HALF_ANGLE, camera_for, grid_cell
from torsor.viewer.scene import Figure
from torsor.viewer.shapes import joined, moved
from torsor.viewer.stage import Stage

FIRST_PORT, PORTS = 8080, 500
RATE = 40.0  # pictures for each second
PANEL_RATE = 5.0  # how often numbers and sliders are renewed while the robot moves


class LivePage:
    """A page with a stage on it. ``closed`` is an event."""

    def __init__(self, stage: Stage, host: str, port: int | None) -> None:
        viser = needed("viser", "the page is made with viser, which is missing: pip install 'torsor[view]'.")
        self.stage, self.closed = stage, threading.Event()
        self._wake, self._wishes = threading.Condition(), dict[str, Callable[[], None]]()
        self.server = _started(viser, stage.name, host, port)
        # A page of somebody else could ask viser to make this one public through a tunnel
        self.server.request_share_url = lambda *_, **__: None
        self.url = f"http://{_reachable(host)}:{self.server.get_port()}"
        try:
            self._set_scene()
            self._nodes = [
                _Nodes(self.server, number, k, figure) for number, (k, figure) in enumerate(stage.everyone())
            ]
            self.controls = Controls(self)
            self._draw()
        except BaseException:
            with _quiet():
                self.server.stop()
            raise
        self._thread = threading.Thread(target=self._work, name="torsor-view", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        self._seen = False
        self.server.on_client_connect(lambda _: self.wish("seen", self._first_seen))

    def _first_seen(self) -> None:
        """A motion that is at its start begins to play when somebody looks at it."""
        if not self._seen and self.stage.clock.time == 0.0:
            self.stage.clock.play()
        self._seen = True

    def changed(self) -> None:
        """The stage is not what it was: draw it."""
        self.wish("draw", lambda: None)

    def wish(self, name: str, action: Callable[[], None]) -> None:
        """Let the thread do something, then draw; of wishes of one name that come before it gets there, the last counts."""
        with self._wake:
            self._wishes[name] = action
            self._wake.notify()

    def close(self) -> None:
        """End threads, connections and the port."""
        if self.closed.is_set():
            return
        self.closed.set()
        with self._wake:
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=10.0)
        with _quiet():
            self.server.stop()
        atexit.unregister(self.close)

    def _set_scene(self) -> None:
        view, server = self.stage.view(), self.server
        server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        server.gui.main_panel.dock_right()
        # Lights of an environment take a quarter of a minute to prepare where there is no graphics card
        server.scene.configure_environment_map(None)
        server.scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(150, 155, 165), intensity=2.4, position=tuple(view.up)
        )
        server.scene.set_up_direction(tuple(view.up))
        camera = camera_for(view, (1400, 1000))
        start = server.initial_camera
        eye = view.centre + 1.3 * (camera.eye - view.centre)  # room for the controls
        start.position, start.look_at, start.up = tuple(eye), tuple(view.centre), tuple(view.up)
        start.fov = 2 * HALF_ANGLE
        cell, reach = grid_cell(view.radius), 12 * view.radius
        server.scene.add_grid(
            "/ground",
            width=reach,
            height=reach,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(205, 209, 214),
            section_color=(168, 176, 184),
            fade_distance=9 * view.radius,
            fade_from="origin",
            shadow_opacity=0.18,
            wxyz=_wxyz(self.stage.ground_axes),
            position=tuple(view.ground * view.up),
        )

    def _work(self) -> None:
        before, panel_at = time.monotonic(), 0.0
        while not self.closed.is_set():
            with self._wake:
                playing = self.stage.clock.playing
                self._wake.wait_for(
                    lambda: self.closed.is_set() or bool(self._wishes), timeout=1.0 / RATE if playing else None
                )
                wishes, self._wishes = list(self._wishes.values()), {}
            if self.closed.is_set():
                return
            now = time.monotonic()
            fresh = not self.stage.clock.playing or now - panel_at > 1.0 / PANEL_RATE
            if fresh:
                panel_at = now
            try:
                for action in wishes:
                    action()
                if playing and self.stage.clock.playing:  # no wish has stopped it
                    self.stage.to_time(self.stage.clock.advance(now - before))
                self._draw(fresh)
            except Exception:  # of a motion of the user's, say: the page stays, and tells what happened
                self.stage.clock.pause()
                if not self.closed.is_set():
                    traceback.print_exc()
            before = now

    def _draw(self, fresh: bool = True) -> None:
        with self.server.atomic():
            for nodes in self._nodes:
                nodes.place(*self.stage.placed(nodes.robot, nodes.figure))
                nodes.show(self.stage.shown)
            self.controls.follow(fresh)


class _Nodes:
    """The nodes of a figure: one for each body, and under it one mesh for each layer and colour.

    They are named by numbers: names of robots and links may hold anything.
    """

    def __init__(self, server: Any, number: int, robot: int, figure: Figure) -> None:
        self.robot, self.figure = robot, figure
        self.bodies: dict[int, Any] = {}
        self.meshes: list[tuple[str, int, Any]] = []
        self._last: dict[int, Array] = {}
        self._shown: dict[str, bool] = {}
        groups: dict[tuple[int, str, tuple[float, ...], float], list[Part]] = {}
        for part in figure.parts:
            groups.setdefault((part.body, part.layer, tuple(part.colour), part.opacity), []).append(part)
        for count, ((body, layer, colour, opacity), parts) in enumerate(groups.items()):
            if body not in self.bodies:
                self.bodies[body] = server.scene.add_frame(f"/figure_{number}/body_{body}", show_axes=False)
            shape = joined([moved(figure.shapes[part.shape], part.pose, part.scale) for part in parts])
            mesh = server.scene.add_mesh_simple(
                f"/figure_{number}/body_{body}/mesh_{count}",
                np.asarray(shape.points, np.float32),
                np.asarray(shape.triangles, np.uint32),
                color=tuple(round(255 * x) for x in colour),
                opacity=None if opacity >= 1.0 else opacity,
                side="double" if any(part.shape.startswith("mesh") for part in parts) else "front",
                cast_shadow=opacity >= 1.0,
                receive_shadow=False,
                visible=False,
            )
            self.meshes.append((layer, body, mesh))

    def place(self, poses: Array, scales: Array) -> None:
        """Move bodies that are not where they were."""
        for body, node in self.bodies.items():
            now = np.concatenate([poses[body, :3].ravel(), scales[body]])
            before = self._last.get(body)
            if before is not None and np.array_equal(now, before):
                continue
            self._last[body] = now
            node.position, node.wxyz = tuple(poses[body, :3, 3]), _wxyz(poses[body, :3, :3])
            if np.any(scales[body] != 1.0):
                for _, on, mesh in self.meshes:
                    if on == body:
                        mesh.scale = tuple(float(x) for x in scales[body])

    def show(self, shown: dict[str, bool]) -> None:
        """Show the layers that are on."""
        for layer, _, mesh in self.meshes:
            if shown.get(layer, False) != self._shown.get(layer, False):
                mesh.visible = shown.get(layer, False)
        self._shown = dict(shown)


def _wxyz(R: Array) -> tuple[float, ...]:
    x, y, z, w = (float(number) for number in quaternion.from_rotation(np.asarray(R)))
    return (w, x, y, z)


def _reachable(host: str) -> str:
    return "127.0.0.1" if host in ("0.0.0.0", "") else f"[{host}]" if ":" in host else host


def _started(viser: Any, name: str, host: str, port: int | None) -> Any:
    """A server on the port, or on the first free one."""
    if not isinstance(host, str):
        raise ArgumentError(f"`host` must be an address such as '127.0.0.1', got {host!r:.60}.")
    if port is not None and not (isinstance(port, int) and 0 < port < 65536):
        raise ArgumentError(f"`port` must be a number from 1 to 65535, got {port!r:.60}.")
    candidates = range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]
    free = next((one for one in candidates if _is_free(host, one)), None)
    if free is None:
        raise ArgumentError(
            f"`port` {port if port is not None else FIRST_PORT} is in use at {host!r:.60}; leave it out, or pass another."
        )
    with _quiet():
        server = viser.ViserServer(host=host, port=free, label=name[:80], verbose=False)
        if port is not None and server.get_port() != port:  # somebody took it in between
            server.stop()
            raise ArgumentError(f"`port` {port} is in use at {host!r:.60}; leave it out, or pass another.")
    return server


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise ArgumentError(
            f"`host` must be an address of this computer, such as '127.0.0.1', got {host!r:.60}."
        ) from None
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what viser prints on standard output, through rich, whatever it is asked."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
