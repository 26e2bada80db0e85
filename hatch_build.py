"""The page that package indexes show: README.md with absolute links, since the files it links to are not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?!https?://|#)([^)\s]+)\)")


class Readme(MetadataHookInterface):
    """Sets ``readme`` of the project's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Links to files lead to the repository, pictures to their bytes in it."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(text, metadata["urls"]["Repository"]),
        }


def absolute(text: str, repository: str) -> str:
    """The same page with the addresses of its links and pictures written out."""
    return LINK.sub(
        lambda link: f"{link[1]}{link[2]}{repository}/{'raw' if link[1] else 'blob'}/main/{link[3]})",
        text,
    )
