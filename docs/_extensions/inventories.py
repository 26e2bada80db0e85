"""Links to the documentation of other libraries, without a network: intersphinx reads lists that are written here.

A library's own list (objects.inv) would have to be downloaded. The addresses of its pages follow a rule, so the few names that
our pages link to are enough. Each name must be one of the installed library, or the build fails.
"""

from __future__ import annotations

import zlib
from importlib import import_module
from operator import attrgetter
from pathlib import Path

NAMES = {
    "numpy": (
        "https://numpy.org/doc/stable",
        "reference/generated/{name}.html#{name}",
        ["numpy.memmap", "numpy.ndarray"],
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy",
        "reference/generated/{name}.html#{name}",
        ["scipy.optimize.minimize"],
    ),
    "jax": ("https://docs.jax.dev/en/latest", "_autosummary/{name}.html#{name}", ["jax.grad", "jax.jit", "jax.vmap"]),
    "python": ("https://docs.python.org/3", "library/{module}.html#{name}", ["pathlib.Path"]),
}


def write(folder: Path) -> dict[str, tuple[str, str]]:
    """Writes the lists and returns them as ``intersphinx_mapping``."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for library, (address, rule, names) in NAMES.items():
        lines = []
        for name in names:
            module, _, attribute = name.rpartition(".")
            attrgetter(attribute)(import_module(module))
            kind = "class" if attribute[0].isupper() else "function"
            lines.append(f"{name} py:{kind} 1 {rule.format(name=name, module=module)} -\n")
        head = f"# Sphinx inventory version 2\n# Project: {library}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        path = folder / f"{library}.inv"
        path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
        mapping[library] = (address, str(path))
    return mapping
