"""Waiting for what a browser does in its own time."""

import time


def until(condition, seconds=60.0):
    """What ``condition()`` gives, as soon as that is true."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
    return answer


def until_page(page, expression):
    """Wait until an expression of a page is true; Playwright's own way needs `eval`, which our pages forbid."""
    until(lambda: page.evaluate(f"() => Boolean({expression})"))
