"""What `torsor.view` returns: a handle on what is shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from torsor._text_files import path_to_write, write_text
from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.errors import ArgumentError, FileError, printable
from torsor.plot.skeleton import one_configuration
from torsor.viewer.picture import Painter, png
from torsor.viewer.stage import Stage
from torsor.viewer.written_page import written_page

if TYPE_CHECKING:
    from torsor.viewer.live_page import LivePage


class Viewer:
    """A robot that is shown. Made by `torsor.view`; a context manager, which closes the page at its end.

    Attributes
    ----------
    url : str
        The address of the page.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._page: LivePage | None = None

    def _serve(self, host: str, port: int | None) -> None:
        from torsor.viewer.live_page import LivePage

        self._page = LivePage(self._stage, host, port)
        sys.stderr.write(f"torsor.view: {self.url}{_over_ssh(self.url)}\n")
        sys.stderr.flush()

    @property
    def url(self) -> str:
        """The address of the page; refused if there is none."""
        if self._page is None:
            raise ArgumentError("this viewer has no page: it was made with serve=False, or is closed.")
        return self._page.url

    @property
    def is_open(self) -> bool:
        """Whether the page is there."""
        return self._page is not None

    @property
    def q(self) -> Array:
        """The configuration (nq,) that is shown, rad or m; of several robots, of the first. Set it, and the robot moves."""
        return self._stage.q[0].copy()

    @q.setter
    def q(self, q: GivenConfiguration) -> None:
        self.show(q)

    @explained
    def show(self, q: GivenConfiguration, *, robot: int = 0) -> None:
        """Put a robot into a configuration: in a loop, it follows what the loop computes.

        Parameters
        ----------
        q : (nq,) array
            rad or m.
        robot : int
            Which one of several.
        """
        if not 0 <= robot < len(self._stage.figures):
            raise ArgumentError(f"`robot` must be from 0 to {len(self._stage.figures) - 1}, got {robot!r:.40}.")
        self._stage.clock.pause()
        self._stage.q[robot] = one_configuration(self._stage.figures[robot].robot, q)
        self._changed()

    @property
    def time(self) -> float:
        """Where the replay is, from 0 to the duration of the motion, s. Set it, and the robot goes there."""
        return self._stage.clock.time

    @time.setter
    def time(self, t: float) -> None:
        self._stage.to_time(float(t))
        self._changed()

    def play(self, *, speed: float = 1.0, loop: bool = True) -> None:
        """Play the motion.

        Parameters
        ----------
        speed : float
            Seconds of the motion per second.
        loop : bool
            Whether it starts again at the end.
        """
        if not speed > 0:
            raise ArgumentError(f"Viewer.play: `speed` must be positive, got {speed!r:.40}.")
        clock = self._stage.clock
        clock.speed, clock.loop = float(speed), bool(loop)
        clock.play()
        self._changed()

    def pause(self) -> None:
        """Stop the replay where it is."""
        self._stage.clock.pause()
        self._changed()

    @explained
    def switch(self, layer: str, on: bool = True) -> None:
        """Show or hide a layer, as its switch on the page does.

        Parameters
        ----------
        layer : str
            "robot", "frames", "joint axes", "centre of mass", "inertia", "manipulability"; where there are any, "ghost" and
            "wrenches".
        on : bool
        """
        from torsor.border.arguments import refuse_unknown_word

        refuse_unknown_word("layer", layer, tuple(self._stage.shown))
        self._stage.shown[layer] = bool(on)
        self._changed()

    def _changed(self) -> None:
        if self._page is not None:
            self._page.changed()

    @explained
    def html(self, path: str | os.PathLike[str]) -> Path:
        """Write one page that shows and plays the same, by itself: no network, no Python. It has the same switches.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Path
            The file.
        """
        return write_text("Viewer.html", path, written_page(self._stage))

    @explained
    def image(
        self,
        path: str | os.PathLike[str],
        *,
        size: tuple[int, int] = (1280, 960),
        seen_from: Sequence[float] | None = None,
    ) -> Path:
        """Write a PNG picture of what is shown now. torsor draws it itself: no browser or display is needed.

        Parameters
        ----------
        path : str or path
        size : (int, int)
            Width and height, pixels.
        seen_from : (3,) sequence, optional
            The direction in which the eye is, in base axes. Its distance is such that everything is in the picture.

        Returns
        -------
        Path
            The file.
        """
        eye = None if seen_from is None else np.asarray(seen_from, float)
        place = path_to_write("Viewer.image", path)
        picture = png(Painter(self._stage, size, seen_from=eye).paint())
        try:
            place.write_bytes(picture)
        except (OSError, ValueError) as error:
            raise FileError(printable(f"cannot write {place}: {error}.")) from None
        return place

    def wait(self) -> None:
        """Return when the page is closed, or at Ctrl-C: for programs that have nothing else to do."""
        if self._page is not None:
            try:
                self._page.closed.wait()
            except KeyboardInterrupt:
                self.close()

    def close(self) -> None:
        """End the page: its threads end and its port is free. It may be called again."""
        if self._page is not None:
            self._page.close()
            self._page = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        """One line."""
        where = self._page.url if self._page is not None else "no page"
        return f"<Viewer of {self._stage.name!r}: {where}>"

    def _repr_html_(self) -> str:
        """In a notebook the page itself; where there is none, the same as a written page."""
        if self._page is not None:
            source = f'src="{escape(self._page.url, quote=True)}"'
        else:
            source = f'srcdoc="{escape(written_page(self._stage), quote=True)}"'
        return f'<iframe {source} width="100%" height="520" style="border: 0" title="torsor"></iframe>'


def _over_ssh(url: str) -> str:
    """What to type on the computer that one sits at, if this one is reached over ssh."""
    if not os.environ.get("SSH_CONNECTION"):
        return ""
    port = url.rpartition(":")[2].strip("/")
    return f"\nFrom the computer that you sit at: ssh -L {port}:127.0.0.1:{port} this-computer, then open the same address there."
