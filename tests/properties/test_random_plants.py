"""Random robots with friction, stops and drives: a few of those of `make soak`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import torsor

sys.path.insert(0, str(Path(__file__).parents[1] / "soak"))


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 13, 14])  # of those that take less than a second or two
def test_a_random_plant_moves_or_says_that_it_diverges(seed):
    import simulation

    with torsor.backend("numpy"):
        simulation.simulated([19, seed])
