"""The same robots, programs and C files on every processor: one script, run as other machines round.

OpenBLAS, NumPy and the C library choose code by the processor's features, and each choice rounds in its own way. Their
settings let this processor stand in for others, as far as it can execute their code.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

SCRIPT = Path(__file__).with_name("programs_of_this_machine.py")
# OpenBLAS's names of processors, and the features in NumPy's words that their code needs (any of several words)
PROCESSORS = {
    "Prescott": ("SSE3",),
    "Nehalem": ("SSE42",),
    "Haswell": ("AVX2", "X86_V3"),
    "Zen": ("AVX2", "X86_V3"),
    "SkylakeX": ("AVX512_SKX", "X86_V4"),
}
OLD_LIBRARY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable,-FMA4"}


def settings():
    """Those that this processor can execute: what NumPy dispatches to, and what its features allow OpenBLAS."""
    dispatched = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    no_dispatch = {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)} if dispatched else {}
    found = {"C library without FMA": OLD_LIBRARY, "NumPy without dispatch": no_dispatch}
    for name, features in PROCESSORS.items():
        if any(__cpu_features__.get(feature) for feature in features):
            found[name] = {"OPENBLAS_CORETYPE": name}
    return {name: setting for name, setting in found.items() if setting}


SETTINGS = settings()
# As different from here as can be: the oldest code of OpenBLAS, NumPy and the C library at once
TOGETHER = {key: value for setting in reversed(SETTINGS.values()) for key, value in setting.items()}


def programs(extent, setting):
    done = subprocess.run(
        [sys.executable, SCRIPT, extent], env=os.environ | setting, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def here():
    return programs("most", {})


def test_this_processor_can_stand_in_for_others():
    sys.stdout.write(f"settings that run here: {', '.join(SETTINGS)}\n")
    assert len(SETTINGS) + 1 >= 3


# What TOGETHER has not; `make soak` has every setting by itself, with every function.
@pytest.mark.parametrize("name", [name for name in SETTINGS if not SETTINGS[name].items() <= TOGETHER.items()])
def test_programs_are_the_same_as_on_other_machines(name, here):
    there = programs("some", SETTINGS[name])
    assert len(there) > 100 and [line for line in there if line not in here] == []


def test_functions_of_every_robot_of_the_zoo_have_the_same_programs_where_all_settings_differ(here):
    assert programs("most", TOGETHER) == here
