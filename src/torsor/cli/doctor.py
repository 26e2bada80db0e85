"""What torsor finds on this machine: processor, compiler, cache, backends, and why one is missing."""

from __future__ import annotations

import argparse
import importlib.util
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import torsor
from torsor.errors import printable

EXAMPLES = """\
  torsor doctor
"""

# What may be installed beside: the name it is installed and imported by, what for, and what to type.
OPTIONAL = (
    ("casadi", "casadi", "kernels as CasADi functions", "torsor[casadi]"),
    ("dask", "dask", "dask arrays in and out", "torsor[dask]"),
    ("imageio-ffmpeg", "imageio_ffmpeg", "animations as .mp4", "torsor[video]"),
    ("jax", "jax", "jit, vmap, grad and GPUs", "torsor[jax]"),
    ("matplotlib", "matplotlib", "pictures", "torsor[plot]"),
    ("mujoco", "mujoco", "reading MJCF", "torsor[mjcf]"),
    ("pandas", "pandas", "tables of trajectories", "pandas"),
    ("pillow", "PIL", "animations as .gif", "torsor[video]"),
    ("pin", "pinocchio", "comparison in torsor verify", "pin"),
    ("piqp", "piqp", "strict priorities within limits", "torsor[qp]"),
    ("pyarrow", "pyarrow", "trajectories in .parquet files", "pyarrow"),
    ("pycollada", "collada", "meshes in .dae files", "torsor[view]"),
    ("pyyaml", "yaml", "reading YAML", "torsor[yaml]"),
    ("robot_descriptions", "robot_descriptions", "robots by name", "robot_descriptions"),
    ("ruckig", "ruckig", "jerk-limited motions", "torsor[ruckig]"),
    ("scipy", "scipy", "geodesics, least-energy paths, balancing", "torsor[motion]"),
    ("shtab", "shtab", "completion in shells", "torsor[completion]"),
    ("sympy", "sympy", "equations as text", "torsor[sympy]"),
    ("torch", "torch", "tensors in and out, with gradients", "torsor[torch]"),
    ("tqdm", "tqdm", "progress bars", "torsor[progress]"),
    ("trimesh", "trimesh", "meshes in torsor.view", "torsor[view]"),
    ("viser", "viser", "the page of torsor.view", "torsor[view]"),
    ("xarray", "xarray", "labelled arrays in and out", "torsor[xarray]"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes no options."""


def run(options: argparse.Namespace) -> int:
    """Print the report; 0 if functions are compiled here, 1 if they run as NumPy."""
    import numpy as np

    from torsor.compiler.run import engine, jax_call

    lines = [
        ("torsor", torsor.__version__),
        ("python", f"{platform.python_implementation()} {platform.python_version()} on {platform.platform()}"),
        ("numpy", np.__version__),
    ]
    reason = engine.why_missing()
    lines += _compiler() if reason is None else [("compiler", f"missing: {reason}")]
    lines += [("threads", str(torsor.get_threads())), ("cache", _cache())]
    lines += [(name, _library(name, module, use, package)) for name, module, use, package in OPTIONAL]
    if reason is None and importlib.util.find_spec("jax") is not None:
        missing = jax_call.why_missing()
        lines.append(("in jax", "kernels called by XLA" if missing is None else f"jax.numpy: {missing}"))
    width = max(len(name) for name, _ in lines) + 2
    for name, text in lines:
        sys.stdout.write(f"{name:<{width}}{text}\n")
    return 0 if reason is None else 1


def _compiler() -> list[tuple[str, str]]:
    from torsor.compiler.run import engine, fast_entry, result_memory, tiers

    cpu, _ = engine.host()
    target = engine.host_target()
    unused, waiting = fast_entry.why_unused(), result_memory.waiting()
    most = result_memory.MOST_BYTES / 2**20
    kept = f"{waiting.bytes / 2**20:.1f} of {most:.0f} MiB wait for the next results, in {waiting.blocks} blocks"
    fma = "fused multiply-add" if target.fma else "no fused multiply-add"
    return [
        ("compiler", f"llvmlite {engine.version()}"),
        ("processor", f"{cpu}: vectors of {target.bits} bits ({target.lanes('double')} float64), {fma}"),
        ("machine code", tiers.SETTINGS[tiers.setting()] + f" ({tiers.SETTING}={tiers.setting()})"),
        ("fast entry", "in use" if unused is None else f"not used: {unused}"),
        ("results", kept if unused is None else "in new memory each time"),
    ]


def _cache() -> str:
    from torsor.compiler.run import cache

    place = cache.directory()
    if place is None:
        return "none: there is no directory that only you can write; set TORSOR_CACHE_DIR to one (chmod 700)"
    files, bytes_ = cache.size()
    return f"{printable(str(place))}: {files} kernels, {bytes_ / 2**20:.1f} of {cache.LIMIT / 2**20:.0f} MiB"


def _library(name: str, module: str, use: str, package: str) -> str:
    if importlib.util.find_spec(module) is None:
        return f"not installed ({use}: pip install '{package}')"
    try:
        return version(name)
    except PackageNotFoundError:
        return "installed"
