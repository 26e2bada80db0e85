"""A robot to look at: `torsor.view`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from torsor.arrays.typing import GivenConfiguration, GivenNumbers
from torsor.border import explained
from torsor.model import Robot
from torsor.motion.motions import Motion
from torsor.viewer.stage import stage_of
from torsor.viewer.viewer import Viewer


@explained
def view(
    robot: Robot | Sequence[Robot],
    motion: Motion | Sequence[Any] | Any = None,
    *,
    ghost: Any = None,
    q: GivenConfiguration | None = None,
    wrenches: Mapping[str, GivenNumbers] | None = None,
    mesh_roots: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = False,
    serve: bool = True,
) -> Viewer:
    """A page in the browser that shows a robot and plays its motion; also written as one file, or as a picture.

    The call returns at once, and the page is there until `Viewer.close` or the end of the program. The address is written to the
    standard error stream. ::

        viewer = torsor.view(arm, run)          # torsor.view: http://127.0.0.1:8080
        viewer.html("run.html")                 # one file that plays anywhere
        torsor.view(arm, run, serve=False).image("arm.png")

    Parameters
    ----------
    robot : Robot, or a list of robots
        Several stand side by side.
    motion : motion, or a list of motions, optional
        Anything with ``duration`` and ``at``: a `torsor.Trajectory`, a motion of `torsor.motion`. Of a batch, one is shown,
        which is chosen on the page. A list shows a robot for each.
    ghost : motion, or a list of motions, optional
        A second motion of the same robot, which is seen through.
    q : (nq,) array, optional
        Where the robot stands at first, rad or m; by default at the start of the motion, or neutral.
    wrenches : mapping of frame names to (6,) arrays, optional
        External wrenches to draw, (torque, force) in the axes of their frames, N·m and N; those of a trajectory are drawn by
        themselves.
    mesh_roots : path or paths
        Folders in which meshes of the robot's file may be, ``package://name/...`` as ``name/...`` in one of them. Beside
        these only the folder of that file is looked into.
    host : str
        Where the page is served: on this computer alone by default, to everyone who reaches it with "0.0.0.0".
    port : int, optional
        Its port; by default the first free one from 8080 on.
    open_browser : bool
        Whether to open the page in a browser.
    serve : bool
        Whether there is a page at all. Without, nothing but NumPy is needed, and `Viewer.html` and `Viewer.image` work.

    Returns
    -------
    Viewer
        With ``url``, ``html(path)``, ``image(path)`` and ``close()``.
    """
    viewer = Viewer(stage_of(robot, motion, ghost, q, wrenches, mesh_roots))
    if serve:
        viewer._serve(host, port)
        if open_browser:
            import webbrowser

            webbrowser.open(viewer.url)
    return viewer
