"""Print the lowest versions that pyproject.toml allows, of what is needed and of every extra, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
wanted = [*project["dependencies"], *(line for name in extras if name not in ("docs", "test") for line in extras[name])]
for line in sorted({re.sub(r"\s", "", line) for line in wanted if not line.startswith("torsor[")}):
    print(line.replace(">=", "=="))
