"""What the papers speak of: a rigid body, and chains with revolute, prismatic and helical joints, in motion."""

import by_hand
import numpy as np
import pytest

KINDS = ["RPHR", "HRRPRH"]


@pytest.fixture
def rng():
    return np.random.default_rng(1993)


@pytest.fixture
def body(rng):
    """A rigid body of six particles."""
    return by_hand.random_body(rng)


@pytest.fixture(params=KINDS)
def chain(request):
    """A serial chain with link frames anywhere on the links."""
    return by_hand.random_chain(request.param, seed=len(request.param))


@pytest.fixture
def state(chain):
    """A configuration, velocity and acceleration of ``chain``."""
    q, v, a = np.random.default_rng(95).normal(size=(3, chain.n))
    return by_hand.State(q, v, a)
