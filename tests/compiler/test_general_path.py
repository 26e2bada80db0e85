"""Where the fast entry cannot be trusted it is not used, says why, and every call is answered by the general path."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import torsor
from torsor.cli.main import main
from torsor.compiler.run import fast_entry, python_layout

pytestmark = pytest.mark.compiled


def python(version, gil=True):
    """What the fast entry asks of ``sys``, as a Python of this version would answer."""
    return SimpleNamespace(implementation=sys.implementation, version_info=version, _is_gil_enabled=lambda: gil)


def without_numpy():
    raise ImportError("numpy moved it")


STRANGERS = {
    "Python 3.14": ({"sys": python((3, 14, 0))}, "not tried on Python 3.14 yet, 3.13 is the newest"),
    "free-threaded": ({"sys": python((3, 13, 0), gil=False)}, "free-threaded Python has another object header"),
    "PyPy": ({"sys": SimpleNamespace(implementation=SimpleNamespace(name="pypy"))}, "needs CPython, this is pypy"),
    "object header": ({"HEADER": 32}, "unknown object header of 32 bytes"),
    "NumPy 3": ({"_NUMPY_C_INTERFACE": 3}, "NumPy's C interface has version 2, not 3"),
    "another array": ({"C_ORDER": 1 << 30}, "NumPy's array object keeps its flags elsewhere"),
    "another NumPy": ({"numpy_functions": without_numpy}, "the self-test failed: ImportError: numpy moved it"),
    "a missing function": ({"addresses": lambda: {"alloc": 0}}, "a function of Python or NumPy is missing"),
}


def forget():
    fast_entry.why_unused.cache_clear()
    fast_entry._generated.cache_clear()


@pytest.fixture(params=STRANGERS)
def reason(request, monkeypatch):
    with monkeypatch.context() as patched:
        changes, why = STRANGERS[request.param]
        for name, value in changes.items():
            patched.setattr(python_layout, name, value)
        forget()
        yield why
    forget()
    assert fast_entry.why_unused() is None


def test_where_the_fast_entry_is_not_trusted_the_general_path_answers(reason, monkeypatch, capsys):
    arm = torsor.robots.planar2r()  # another object in each test: no entry is open for it
    q, v, a = torsor.random_state(arm, seed=0)
    with torsor.backend("numpy"):
        expected = [torsor.inverse_dynamics(arm, q, v, a), *torsor.inverse_dynamics_derivatives(arm, q, v, a)]
    kernel = torsor.compile(torsor.inverse_dynamics, arm)
    entries = [torsor.inverse_dynamics, torsor.inverse_dynamics_derivatives]
    calls, before = [], [list(entry.remembered) for entry in entries]
    for entry in entries:
        monkeypatch.setattr(entry, "general", lambda *args, old=entry.general: calls.append(args) or old(*args))
    for _ in range(3):
        found = [torsor.inverse_dynamics(arm, q, v, a), *torsor.inverse_dynamics_derivatives(arm, q, v, a)]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(kernel(q, v, a), found[0])
    assert len(calls) == 6
    assert [list(entry.remembered) for entry in entries] == before
    assert main(["doctor"]) == 0
    assert f"fast entry not used: {reason}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_out_by_name_gives_the_named_tuple_whichever_way_it_is_computed(backend):
    arm = torsor.robots.planar2r()
    state = torsor.random_state(arm, seed=0)
    with torsor.backend(backend):
        want = torsor.inverse_dynamics_derivatives(arm, *state)
        out = {name: np.empty_like(part) for name, part in want._asdict().items()}
        found = torsor.inverse_dynamics_derivatives(arm, *state, out=out)
    assert type(found) is type(want)
    assert all(getattr(found, name) is part for name, part in out.items())
