"""The page that `Viewer.html` writes, in a browser whose network is off."""

import numpy as np
import pytest
from waiting import until_page

import torsor
from torsor import motion

HOSTILE = "</script><img src=x onerror=alert(1)>{{player}}\"'&"


@pytest.fixture(scope="module")
def arm():
    arm = torsor.robots.planar2r()
    return arm.rename({"link_2": 'second "<b>', "tip": "</title><script>alert(2)</script>"}, robot=HOSTILE)


@pytest.fixture(scope="module")
def move(arm):
    return motion.polynomial(arm, [0.1, 0.2], [1.3, -0.9], duration=2.0)


@pytest.fixture(scope="module")
def file(arm, move, tmp_path_factory):
    wrenches = {arm.frames[-1]: [0, 0, 0, 5, 0, 0]}
    viewer = torsor.view(arm, move, ghost=motion.scaled(move, duration=1.0), wrenches=wrenches, serve=False)
    return viewer.html(tmp_path_factory.mktemp("page") / "run.html")


def picture(page):
    """What is drawn, as bytes of a PNG."""
    return page.locator("#canvas").screenshot()


def test_it_plays_without_a_network(visit, file, arm, move):
    page = visit(file.as_uri(), offline=True)
    until_page(page, "torsor.state.playing && torsor.state.time > 0")
    until_page(page, "torsor.state.time > 0.2")
    page.evaluate("torsor.pause()")
    # Bodies are the base, the links and the markers
    time, pose = page.evaluate("[torsor.state.time, torsor.pose(2)]")
    expected = np.asarray(torsor.link_poses(arm, move.at(time).q))[1]
    np.testing.assert_allclose(pose[:3], expected[:3, 3], atol=2e-3)  # between samples it goes straight
    assert page.requests == [file.as_uri()]
    assert page.problems == []


def test_scrubbing_switches_and_looping(visit, file):
    page = visit(file.as_uri(), offline=True)
    until_page(page, "torsor.state.playing")
    page.get_by_role("button", name="Pause").click()
    page.evaluate("torsor.seek(0)")
    until_page(page, "!torsor.state.dirty")
    start = picture(page)
    page.locator("#scrub").fill("1.5")
    until_page(page, "torsor.state.time === 1.5 && !torsor.state.dirty")
    moved = picture(page)
    assert moved != start
    page.get_by_label("frames").check()
    until_page(page, "!torsor.state.dirty")
    assert picture(page) != moved
    page.get_by_label("loop").uncheck()
    page.locator("#speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    until_page(page, "!torsor.state.playing && torsor.state.time === torsor.duration")
    page.locator("#speed").select_option("0.1")  # slow, so that a busy machine sees it before its end
    page.get_by_role("button", name="Play").click()  # again from the start
    until_page(page, "torsor.state.time < torsor.duration")
    assert page.problems == []


def test_turning_and_zooming_change_the_picture(visit, file):
    page = visit(file.as_uri(), offline=True)
    page.evaluate("torsor.pause()")
    until_page(page, "!torsor.state.dirty")
    before = picture(page)
    page.mouse.move(450, 260)
    page.mouse.down()
    page.mouse.move(550, 240)
    page.mouse.up()
    until_page(page, "!torsor.state.dirty")
    turned = picture(page)
    page.mouse.wheel(0, 400)
    until_page(page, "!torsor.state.dirty")
    assert len({before, turned, picture(page)}) == 3


def test_names_are_text_and_nothing_else(visit, file, arm):
    page = visit(file.as_uri(), offline=True)
    assert page.title() == arm.name
    assert page.locator("h1").text_content() == arm.name
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.problems == []
