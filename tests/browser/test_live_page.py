"""The live page in a browser: sliders, the replay, dragging, switches; and that it closes."""

import threading

import numpy as np
import pytest
from waiting import until

import torsor
from torsor import motion

pytest.importorskip("viser")
pytestmark = [
    pytest.mark.compiled,
    # of websockets and viser, when connections end
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def arm():
    arm = torsor.robots.planar2r().with_limits({"joint_1": (-2.0, 2.0), "joint_2": (-1.5, 1.5)})
    return arm.rename({"joint_2": '<img src=x onerror="alert(1)">', "link_2": "a/b <b>"}, robot="</script>arm")


@pytest.fixture(scope="module")
def still(arm):
    with torsor.view(arm, q=[0.5, 0.8]) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def page(still, visit):
    """One page for several tests: to load it takes longest."""
    return ready(visit(still.url), "Joints")


def ready(page, text):
    page.get_by_text(text, exact=False).first.wait_for()
    return page


def number_beside(page, label):
    """The field of numbers beside a slider."""
    return page.locator(f"xpath=//label[normalize-space(.)='{label}']/following::input[@inputmode='decimal'][1]")


def box_beside(page, label):
    """The box of a switch."""
    return page.locator(f"xpath=//label[normalize-space(.)='{label}']/following::input[@type='checkbox'][1]")


def link_node(viewer, link):
    """Where the page has a link, as it was sent to browsers."""
    return np.array(viewer._page._nodes[0].bodies[link + 1].position)


def test_a_slider_moves_the_robot(still, page, arm):
    before = link_node(still, 1)
    field = number_beside(page, "joint_1 (rad)")
    field.fill("1.2")
    until(lambda: abs(still.q[0] - 1.2) < 5e-3)
    until(lambda: not np.allclose(link_node(still, 1), before, atol=0.1))
    np.testing.assert_allclose(link_node(still, 1), torsor.link_poses(arm, still.q)[1, :3, 3], atol=1e-6)
    field.fill("9")  # beyond the limit
    until(lambda: still.q[0] == 2.0)
    assert page.problems == []


def test_switches_and_numbers(still, page):
    page.get_by_text("Dynamics").click()
    ready(page, "Eigenvalues")
    ready(page, "Gravity torque")
    assert page.locator("img[src='x']").count() == 0  # a name is text
    box = box_beside(page, "joint axes")
    assert not still._stage.shown["joint axes"]
    box.check()
    until(lambda: still._stage.shown["joint axes"])
    until(lambda: any(mesh.visible for layer, _, mesh in still._page._nodes[0].meshes if layer == "joint axes"))
    assert page.problems == []


def test_a_dragged_frame_is_followed(still, page, arm):
    still.q = [0.5, 0.8]
    box_beside(page, "drag a frame").check()
    controls = still._page.controls
    until(lambda: controls._gizmo.visible)
    page.wait_for_timeout(1000)  # until it is drawn
    start, pose = still.q, np.asarray(torsor.frame_pose(arm, [0.5, 0.8], controls._frame.value))
    np.testing.assert_allclose(controls._gizmo.position, pose[:3, 3], atol=1e-9)
    # By the arrow along x of the frame, inwards
    camera = next(iter(still._page.server.get_clients().values())).camera
    grip, there = (on_screen(page, camera, pose[:3, 3] + s * pose[:3, 0]) for s in (0.3, 0.05))

    def drag():
        """Once more, until a browser that draws slowly has seen that the arrow is under the mouse."""
        page.mouse.move(*grip)
        page.wait_for_timeout(400)
        page.mouse.down()
        for part in np.linspace(0.0, 1.0, 6):
            page.mouse.move(*(np.array(grip) + part * (np.array(there) - grip)))
            page.wait_for_timeout(50)
        page.mouse.up()
        page.wait_for_timeout(500)
        return not np.allclose(still.q, start, atol=0.1) and not controls._held

    until(drag)
    moved = np.asarray(torsor.frame_pose(arm, still.q, controls._frame.value))[:3, 3] - pose[:3, 3]
    assert moved @ pose[:3, 0] < -0.1
    assert abs(moved @ pose[:3, 1]) < 0.02
    assert np.all(np.abs(still.q) <= [2.0 + 1e-9, 1.5 + 1e-9])
    ready(page, "reached")
    assert page.problems == []


def on_screen(page, camera, point):
    """Where the camera of a browser sees a point of space, in pixels of the page."""
    view = page.locator("canvas").first.bounding_box()
    into = camera.look_at - camera.position
    into = into / np.linalg.norm(into)
    right = np.cross(into, camera.up_direction)
    right = right / np.linalg.norm(right)
    down = np.cross(into, right)
    ray = point - camera.position
    focal = 0.5 * view["height"] / np.tan(0.5 * camera.fov)
    depth = ray @ into
    return (
        view["x"] + view["width"] / 2 + focal * (ray @ right) / depth,
        view["y"] + view["height"] / 2 + focal * (ray @ down) / depth,
    )


def test_a_motion_plays_pauses_and_ends(visit, arm):
    move = motion.polynomial(arm, [0.1, 0.2], [1.3, -0.9], duration=1.5)
    threads = set(threading.enumerate())
    viewer = torsor.view(arm, move, ghost=motion.scaled(move, duration=1.0))
    port = int(viewer.url.rpartition(":")[2])
    page = ready(visit(viewer.url), "time (s)")
    until(lambda: viewer.time > 0.0)  # it begins when somebody looks
    before = link_node(viewer, 1)
    until(lambda: not np.allclose(link_node(viewer, 1), before))
    page.get_by_role("button", name="Pause").click()
    until(lambda: not viewer._stage.clock.playing)
    field = number_beside(page, "time (s)")
    field.fill("0.75")
    until(lambda: abs(viewer.time - 0.75) < 5e-3)
    np.testing.assert_allclose(viewer.q, move.at(viewer.time).q, atol=1e-9)
    assert page.problems == []
    page.close()
    viewer.close()
    viewer.close()  # nothing happens
    until(lambda: not {t for t in threading.enumerate() if t not in threads and t.name == "torsor-view"})
    with torsor.view(arm, port=port) as again:  # the port is free
        assert again.url.endswith(str(port))
