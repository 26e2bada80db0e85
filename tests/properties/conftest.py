"""How hypothesis runs here: the same examples every time, and few of them: there are hundreds of properties.

In a soak (`make soak`) they are many, and others every time.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "properties",
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("soak", settings.get_profile("properties"), max_examples=100, derandomize=False)
settings.load_profile("soak" if os.environ.get("TORSOR_SOAK") else "properties")
