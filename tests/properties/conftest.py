"""How hypothesis runs here: the same examples every time, and few of them: there are hundreds of properties.

In a soak (`make soak`) they are many, and others every time.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "properties",
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("soak", settings.get_profile("properties"), max_examples=100, derandomize=False)
settings.load_profile("soak" if os.environ.get("TORSOR_SOAK") else "properties")


@pytest.fixture
def jax_in_doubles():
    """JAX in doubles for one test, and nothing left of what it traced in another precision."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.clear_caches()
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)
    jax.clear_caches()
