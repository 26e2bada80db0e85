"""Equations as a picture, by matplotlib's own typesetting of mathematics."""

from __future__ import annotations

from pathlib import Path

from torsor.errors import ArgumentError, MissingDependency, printable

SIZE = 12  # points
LINE = 2.0  # of the size of letters


def draw(rows: list[tuple[str, str]], path: Path, dpi: int) -> Path:
    """Write rows of (left side, right side), aligned between the two; returns the path."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency(
            "to_png typesets with matplotlib, which is missing: pip install 'torsor[plot]'."
        ) from error
    if path.suffix != ".png":
        raise ArgumentError(f"to_png writes PNG files; name it {path.with_suffix('.png')}, not {path}.")
    height = LINE * SIZE / 72 * (len(rows) + 1)
    figure = Figure(figsize=(1.0, height))
    canvas = FigureCanvasAgg(figure)
    texts = []
    for k, row in enumerate(rows):
        y = 1 - LINE * SIZE / 72 * (k + 1) / height
        texts.append([
            figure.text(0.0, y, side, size=SIZE, ha=align, va="baseline", math_fontfamily="cm")
            for side, align in zip(row, ("right", "left"), strict=True)
        ])  # fmt: skip
    renderer = canvas.get_renderer()
    left, right = (max(text[side].get_window_extent(renderer).width for text in texts) / figure.dpi for side in (0, 1))
    margin = 0.25
    width = left + right + 2 * margin + 0.1
    figure.set_size_inches(width, height)
    for text in texts:
        text[0].set_x((margin + left) / width)
        text[1].set_x((margin + left + 0.1) / width)
    try:
        figure.savefig(path, dpi=dpi, facecolor="white", format="png")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(printable(f"to_png: cannot write {path}: {reason}.")) from error
    return path
