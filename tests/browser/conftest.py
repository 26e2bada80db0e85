"""A real browser: Chromium without a screen, driven by Playwright. Without one, tests are skipped, or fail if they are a must."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-gl=angle",
    "--use-angle=swiftshader",  # draws without a graphics card
    "--enable-unsafe-swiftshader",
]
PATIENCE = 60_000  # ms: a busy machine draws slowly


def absent(what):
    """Skip, or fail where the browser is a must (`make test-browser`)."""
    if os.environ.get("TORSOR_TEST_BROWSER"):
        pytest.fail(f"{what} is missing, and TORSOR_TEST_BROWSER asks for tests in a browser.")
    pytest.skip(f"{what} is not installed: these tests need a browser (make test-browser)")


@pytest.fixture(scope="session")
def browser():
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        absent("Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("Playwright")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def visit(browser):
    """``visit(address)`` opens a page that notes what goes wrong: errors of scripts and of the console, and what it requests."""
    contexts = []

    def opened(address, *, offline=False, size=(900, 520)):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        contexts.append(context)
        context.set_offline(offline)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.problems, page.requests = [], []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: (page.problems.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
