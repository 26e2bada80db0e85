"""How hypothesis runs here: the same examples every time, few enough for the folder to take about a minute."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "properties",
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("properties")
