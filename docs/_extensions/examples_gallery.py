"""What sphinx-gallery needs to show examples/ as they are: titles from their names, pictures from the folder they write to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

ROOT = Path(__file__).parents[2]
COPIES = ROOT / "build" / "site_examples"  # sphinx-gallery reads these
PICTURES = ROOT / "build" / "site_pictures"  # and the examples write here
TITLES = {"03": "Gradient by a mass", "17": "A PID controller at 1 kHz"}  # where the name alone reads badly


def copy_examples() -> None:
    """The examples with a heading above their docstrings, which sphinx-gallery asks for."""
    COPIES.mkdir(parents=True, exist_ok=True)
    intro = "Examples\n========\n\nEvery script of ``examples/``, run when this site was built, with what it printed.\n"
    write(COPIES / "GALLERY_HEADER.rst", intro)
    for path in sorted((ROOT / "examples").glob("*.py")):
        number, _, words = path.stem.partition("_")
        title = TITLES.get(number, words.replace("_", " ").capitalize())
        text = path.read_text(encoding="utf-8")
        command = re.escape(f"python examples/{path.name}")
        text = re.sub(f"^{command}.*$", lambda line: f"``{line[0]}``", text, count=1, flags=re.MULTILINE)
        write(COPIES / path.name, text.replace('"""', f'"""\n{title}\n{"=" * len(title)}\n\n', 1))


def write(path: Path, text: str) -> None:
    """Nothing, where the file is so already: then the example is not run again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def arguments(gallery: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Examples take the folder for their pictures as their argument."""
    folder = PICTURES / Path(script["src_file"]).stem
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.png"):
        path.unlink()
    return [os.path.relpath(folder, COPIES)]  # from where sphinx-gallery runs them: pages show no path of a machine


def pictures(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """The pictures that an example has written since it was last asked."""
    found = sorted((PICTURES / Path(variables["src_file"]).stem).glob("*.png"))
    placed = []
    for path, place in zip(found, variables["image_path_iterator"], strict=False):
        path.replace(place)
        placed.append(place)
    return figure_rst(placed, gallery["src_dir"])
