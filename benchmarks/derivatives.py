"""Derivatives of the dynamics and the torque regressor: torsor, Pinocchio, and the time of merely writing the numbers."""

from __future__ import annotations

import numpy as np

import torsor
from contenders import DERIVATIVES, FUNCTIONS, Pinocchio, Torsor, require_agreement
from measure import best
from starting import first_call
from torsor._lazy import load_everything
from torsor.functions.dispatch import PUBLIC

load_everything()  # the registry of public functions has what was imported

ROBOTS = ("panda7", "ur5", "talos38_floating", "chain16")
MOST_BYTES = 64_000_000


def measure(rounds: int, robots: tuple[str, ...] = ROBOTS) -> dict[str, dict[str, dict]]:
    """Nanoseconds a state: one state, a batch on one thread, the write floor; seconds of a first call in a new process."""
    torsor.set_threads(1)
    table: dict[str, dict[str, dict]] = {}
    for name in robots:
        print(f"\n{name}: derivatives, nanoseconds a state (one thread, at most 64 MB of results; ratio to torsor)")
        found = {"torsor": Torsor(name)}
        try:
            found["pinocchio"] = Pinocchio(name)
        except ImportError as error:
            print(f"  (Pinocchio is not measured: {error})")
        table[name] = {}
        for task in DERIVATIVES:
            if FUNCTIONS[task] in PUBLIC:
                table[name][task] = row(name, task, found, rounds)
                show(task, table[name][task])
    return table


def row(name: str, task: str, found: dict[str, Torsor | Pinocchio], rounds: int) -> dict:
    cold, cached = first_calls(name, FUNCTIONS[task], min(3, rounds))
    few = found["torsor"].states(4)
    ones = {who: call for who, x in found.items() if (call := x.one(task, few)) is not None}
    require_agreement(task, {who: found[who].in_torsor_terms(task, call()) for who, call in ones.items()})
    count = int(max(4, min(16384, MOST_BYTES // size_of(ones["torsor"]()))))
    states = found["torsor"].states(count)
    many = {"torsor": found["torsor"].batch(task, states)}
    if "pinocchio" in ones:
        (many["pinocchio"],) = found["pinocchio"].batch(task, states)
    results = {who: call() for who, call in many.items()}
    require_agreement(task, {who: found[who].in_torsor_terms(task, x) for who, x in results.items()})
    many["write floor"] = writing(results["torsor"])
    del results
    return {
        "one": {who: 1e9 * seconds for who, seconds in best(ones, rounds=rounds).items()},
        "batch": {who: 1e9 * seconds / count for who, seconds in best(many, rounds=rounds).items()},
        "states": count,
        "first call, s": cold,
        "cached, s": cached,
    }


def first_calls(name: str, function: str, most: int) -> tuple[float, float]:
    """Seconds of a first call, cold and cached: the best of ``most``, or of fewer once ten seconds have gone."""
    cold, cached = [], []
    while len(cold) < most and sum(cold) < 10.0:
        times = first_call(name, function)
        cold.append(times[0])
        cached.append(times[1])
    return min(cold), min(cached)


def parts(result: object) -> tuple[np.ndarray, ...]:
    """The arrays of a result: itself, or its fields."""
    return tuple(result) if isinstance(result, tuple) else (result,)


def size_of(result: object) -> int:
    """Bytes of a result."""
    return sum(x.nbytes for x in parts(result))


def writing(result: object):
    """A call that writes as many numbers to the same place."""
    arrays = parts(result)

    def write() -> None:
        for x in arrays:
            x.fill(0.5)

    return write


def show(task: str, times: dict) -> None:
    floor = times["batch"]["write floor"]
    print(
        f"  {task:<22}one: {beside(times['one'])}; {times['states']} states: {beside(times['batch'])}, "
        f"{times['batch']['torsor'] / floor:.2f} times the write floor {floor:,.0f}; "
        f"first call {times['first call, s']:.2f} s, cached {times['cached, s']:.4f} s"
    )


def beside(times: dict[str, float]) -> str:
    contenders = {who: t for who, t in times.items() if who != "write floor"}
    return ", ".join(f"{who} {t:,.0f} ({t / times['torsor']:.1f}×)" for who, t in contenders.items())
