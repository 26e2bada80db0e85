"""What the tests of bridges share: two small robots, and states."""

import numpy as np
import pytest

import torsor


@pytest.fixture(scope="session")
def arm():
    return torsor.robots.planar2r()


@pytest.fixture(scope="session")
def ball():
    """A robot with quaternions: nq and nv differ. It has a frame "tool"."""
    return torsor.robots.random_tree(2, seed=3, kinds=("spherical",), serial=True)


@pytest.fixture
def states(arm):
    """q, v, a of seven states."""
    return np.random.default_rng(0).normal(size=(3, 7, arm.nv))
