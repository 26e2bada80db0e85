"""Animations of motions as files."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import numpy as np

from torsor._progress import progress
from torsor._text_files import path_to_write, write_text
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError, FileError, needed, printable
from torsor.model import Robot
from torsor.viewer.picture import Painter
from torsor.viewer.stage import Stage, stage_of
from torsor.viewer.written_page import written_page

MOST_FRAMES = 20_000
ENDINGS = (".html", ".gif", ".mp4")


@explained
def animate(
    motion: Any,
    path: str | os.PathLike[str],
    *,
    robot: Robot | None = None,
    fps: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = (640, 480),
    seen_from: Sequence[float] | None = None,
    mesh_roots: Any = (),
) -> Path:
    """The file of an animation of a motion: .html, .gif or .mp4, by its ending.

    Every frame is drawn through one camera, which sees the whole motion. A page (.html) can be turned and stopped, and needs
    no extra. A .gif needs Pillow, an .mp4 imageio-ffmpeg: ``pip install 'torsor[video]'``.

    Parameters
    ----------
    motion : motion
        A `torsor.Trajectory`, or any other motion; of a batch, the first.
    path : str or path
    robot : Robot, optional
        The robot that moves; that of the motion by default.
    fps : float
        Frames for each second of the film; a .gif has at most 50. Of no effect on pages.
    speed : float
        Seconds of the motion per second of the film. Of no effect on pages, which have a switch for it.
    size : (int, int)
        Width and height, pixels; even numbers for .mp4. Of no effect on pages.
    seen_from : (3,) sequence, optional
        The direction in which the eye is, in base axes. Of no effect on pages, which can be turned.
    mesh_roots : path or paths
        As for `torsor.view`.

    Returns
    -------
    Path
        The file.
    """
    place = path_to_write("animate", path)
    ending = place.suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"`path` must end in {', '.join(ENDINGS)}, got {printable(str(place))!r}.")
    own = getattr(motion, "robot", None) if robot is None else robot
    if not isinstance(own, Robot):
        raise ArgumentTypeError("`motion` has no robot of its own: pass `robot=`.")
    if not (fps > 0 and speed > 0 and np.isfinite(fps) and np.isfinite(speed)):
        raise ArgumentError(f"`fps` and `speed` must be positive, got {fps!r:.40} and {speed!r:.40}.")
    stage = stage_of(own, motion, None, None, None, mesh_roots)
    if ending == ".html":
        return write_text("animate", place, written_page(stage))
    rate = min(fps, 50.0) if ending == ".gif" else fps
    count = int(np.floor(stage.clock.duration / speed * rate)) + 1
    if count > MOST_FRAMES:
        raise ArgumentError(f"this makes {count} frames, at most {MOST_FRAMES} are drawn; pass a larger `speed`.")
    eye = None if seen_from is None else np.asarray(seen_from, float)
    frames = _frames(stage, np.minimum(np.arange(count) * speed / rate, stage.clock.duration), size, eye)
    try:
        (_write_gif if ending == ".gif" else _write_mp4)(place, frames, rate, size)
    except OSError as error:
        raise FileError(printable(f"cannot write {place}: {error.strerror or error}.")) from None
    return place


def _frames(stage: Stage, times: Array, size: tuple[int, int], eye: Array | None) -> Iterator[Array]:
    painter = Painter(stage, size, seen_from=eye)
    with progress(len(times), "drawing frames", " frames") as tell:
        for t in times:
            stage.to_time(float(t))
            yield painter.paint()
            tell(1)


def _write_gif(place: Path, frames: Iterator[Array], rate: float, size: tuple[int, int]) -> None:
    image = needed("PIL.Image", "a .gif is written with Pillow, which is missing: pip install 'torsor[video]'.")
    first = image.fromarray(next(frames))
    # One palette for all frames, so that colours do not flicker
    palette = first.quantize(128, dither=image.Dither.NONE)
    rest = (image.fromarray(frame).quantize(palette=palette, dither=image.Dither.NONE) for frame in frames)
    palette.save(place, save_all=True, append_images=rest, duration=round(1000 / rate), loop=0, optimize=False)


def _write_mp4(place: Path, frames: Iterator[Array], rate: float, size: tuple[int, int]) -> None:
    if size[0] % 2 or size[1] % 2:
        raise ArgumentError(f"`size` of an .mp4 must be even numbers, got {tuple(size)}.")
    ffmpeg = needed(
        "imageio_ffmpeg", "an .mp4 is written with imageio-ffmpeg, which is missing: pip install 'torsor[video]'."
    )
    wide, high = size
    taken = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{wide}x{high}", "-r", f"{rate:g}", "-i", "-"]
    given = ["-an", "-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", str(place.absolute())]
    command = [ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", *taken, *given]
    # Ctrl-C is for us, not for the encoder: it has a session of its own, and no code of Python's runs between fork and exec
    with subprocess.Popen(command, stdin=PIPE, stderr=PIPE, stdout=DEVNULL, start_new_session=True) as encoder:
        assert encoder.stdin is not None and encoder.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            for frame in frames:
                encoder.stdin.write(np.ascontiguousarray(frame).tobytes())
            encoder.stdin.close()
        said = encoder.stderr.read().decode(errors="replace").strip()
    if encoder.returncode:
        raise FileError(f"animate: {place} could not be written: {printable(said)[:200]}.")
