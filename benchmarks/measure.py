"""Measuring side by side: every contender in turn, in one process, several rounds; the best round of each counts.

Machines are noisy, so ratios are what to read. Time is the processor's, not the wall clock's, for one thread.
"""

from __future__ import annotations

import time


def best(
    calls: dict[str, object], *, rounds: int = 7, burst: float = 0.05, clock=time.process_time
) -> dict[str, float]:
    """Seconds per call of each, interleaved: in every round each is called for about ``burst`` seconds."""
    repeats = {}
    for name, call in calls.items():
        call()
        start, count = clock(), 0
        while clock() - start < burst / 5 and count < 100_000:
            call()
            count += 1
        repeats[name] = max(1, round(count * burst / max(1e-9, clock() - start)))
    result = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            for _ in range(repeats[name]):
                call()
            result[name] = min(result[name], (clock() - start) / repeats[name])
    return result
