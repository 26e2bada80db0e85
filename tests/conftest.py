"""What all tests share: most evaluate with NumPy, for compiling every random robot would take longer than the test."""

import gc
import sys

import pytest

import torsor
import torsor.later

for name in torsor.later.LATER:
    getattr(torsor, name)  # loaded, so that tests which walk the registry of public functions see all of them

# Kernels and traced programs are kept for the whole run: the collector would look through them again and again.
gc.set_threshold(100_000, 20, 50)


@pytest.fixture(autouse=True)
def chosen_backend(request):
    """NumPy as written, unless a test (or its module) is marked ``compiled``."""
    with torsor.backend("compiled" if request.node.get_closest_marker("compiled") else "numpy"):
        yield


@pytest.fixture(autouse=True, scope="session")
def private_cache(tmp_path_factory):
    """Kernels of the test run go to a place of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORSOR_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.fixture
def calls():
    """``calls(function)``: how many functions it calls in all, and what it returns: work that no busy machine makes more."""

    def measure(function):
        count = 0

        def note(_frame, event, _what):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            result = function()
        finally:
            sys.setprofile(None)
        return count, result

    return measure
