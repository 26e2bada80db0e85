"""What notebooks show: short tables in valid HTML, that take the notebook's colours and in which every name is only a name."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, assemble
from torsor._html import MOST_ROWS, number, plain, shown_by, table

HOSTILE = [
    "$x$",
    "<script>alert(1)</script>",
    "_a",
    "two\nlines",
    "ab" * 150,
    "é关节\u202e",
    '"><img src=x>',
    "&lt;b&gt;",
]
CUBE = Inertia.box((0.1, 0.1, 0.1), mass=1.0)
TAGS = {"div", "span", "table", "tr", "th", "td", "strong", "details", "summary", "ul", "li", "pre"}


def hostile_robot():
    joints = [
        Joint(name=name, kind="revolute", parent=HOSTILE[k - 1] + " link" if k else "<base>", link=name + " link",
              axis=(0, 0, 1), inertia=CUBE)
        for k, name in enumerate(HOSTILE)
    ]  # fmt: skip
    return assemble(joints, name="<b>robot</b>", base="<base>", frames={"<i>": (HOSTILE[-1] + " link", np.eye(4))})


class Reader(HTMLParser):
    """The text of a page, its tags and whether each one is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.attributes, self.cells = [], "", [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS
        self.open.append(tag)
        self.attributes += attributes
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and {"td", "th"} & set(self.open):
            self.cells[-1] += data


def shown(thing):
    """The page of a thing, read; what holds for all is checked here."""
    page = Reader(thing._repr_html_())
    styles = " ".join(value for name, value in page.attributes if name == "style")
    assert {name for name, _ in page.attributes} <= {"style", "class"}
    assert not re.search(r"(?<!-)\bcolor:|background", styles), "a notebook is light or dark"
    return page


def run_of(robot, speed=0.1):
    v = np.full((3, robot.nv), speed)
    return torsor.Trajectory(
        robot, [0.0, 0.1, 0.2], np.zeros((3, robot.nq)), v, a=0 * v, tau=2 * v, notes=("a <note>",)
    )


THINGS = {
    "robot": lambda: torsor.robots.panda(),
    "hostile robot": hostile_robot,
    "tree": lambda: torsor.robots.random_tree(9, seed=5, mimic=True),
    "inertia": lambda: CUBE,
    "no body": lambda: Inertia.unchecked([1.0, 0, 0, 0, 1.0, 0, 0, 1.0, 0, 5.0]),
    "massless": lambda: Inertia.zero(),
    "trajectory": lambda: run_of(torsor.robots.cart_pole()),
    "hostile trajectory": lambda: run_of(hostile_robot()),
    "empty batch": lambda: torsor.Trajectory(CART, [0.0, 1.0], np.zeros((0, 2, 2)), np.zeros((0, 2, 2))),
    "kernel": lambda: torsor.compile(torsor.gravity_forces, torsor.robots.pendulum()),
    "base parameters": lambda: torsor.identification.base_parameters(torsor.robots.planar2r()),
    "verification": lambda: torsor.verify(torsor.robots.pendulum(), configurations=1),
    "check": lambda: run_of(CART.with_limits(velocity=0.01)).check(),
    "finding": lambda: torsor.check("<robot name='a&lt;b'><link name='a'/><wrong/></robot>")[0],
}
CART = torsor.robots.cart_pole()


@pytest.mark.parametrize("name", THINGS)
def test_everything_is_valid_html_without_colours_of_its_own(name):
    page = shown(THINGS[name]())
    assert page.text.strip()


def test_a_robot_shows_its_tree_joints_limits_and_masses():
    arm = torsor.robots.panda()
    page = shown(arm)
    assert page.text.startswith("panda · 7 moving links · nq 7, nv 7 · 16.8")
    rows = [page.cells[k : k + 7] for k in range(0, len(page.cells), 7)]
    assert rows[0] == ["link", "joint", "kind", "position", "velocity", "effort", "mass (kg)"]
    assert [row[1] for row in rows[1:]] == list(arm.joints)
    assert rows[4] == ["└ link_4", "panda_joint4", "revolute", "−3.072 … −0.0698 rad", "2.175 rad/s", "87 N·m", "3.588"]
    assert "frames: flange, hand_tcp" in page.text
    slide = shown(CART.with_limits({"slide": (-1.0, 2.0)}, velocity=3.0, effort=4.0)).cells
    assert {"−1 … 2 m", "3 m/s", "4 N", "3 rad/s", "4 N·m"} <= set(slide)


def test_a_tree_is_written_branch_by_branch_and_followers_say_whom_they_follow():
    robot = torsor.robots.random_tree(9, seed=5, mimic=True)
    s = robot.structure
    page = shown(robot)
    order = [cell.removeprefix("└ ") for cell in page.cells if cell.startswith("└ ")]
    assert sorted(order) == sorted(robot.links)
    for i, parent in enumerate(s.parents):
        if parent >= 0:
            assert order.index(s.links[i]) > order.index(s.links[parent])
    leader = next(s.coordinate_of(i).name for i in range(s.n) if s.coordinate_of(i).name != s.joints[i])
    assert any(f"· {leader}" in cell for cell in page.cells)


def test_names_are_only_names():
    page = shown(hostile_robot())
    for name in ("$x$", "<script>alert(1)</script>", "_a", r"two\nlines", '"><img src=x>', "&lt;b&gt;", r"é关节\u202e"):
        assert name in page.cells
    assert "<b>robot</b>" in page.text
    assert max(map(len, page.cells)) < 60
    assert ("class", "tex2jax_ignore mathjax_ignore") in page.attributes  # or a notebook would typeset $x$


def test_large_robots_are_short():
    chain = torsor.robots.planar_chain([0.1] * 600, [1.0] * 600)
    html = chain._repr_html_()
    assert html.count("<tr>") == MOST_ROWS + 1
    assert "<details>" in html
    assert "400 more: robot.joints" in html
    assert len(html) < 400_000
    assert "<details>" not in torsor.robots.panda()._repr_html_()


def test_a_robot_whose_numbers_are_not_known_yet_is_shown_without_them():
    jax = pytest.importorskip("jax")
    seen = []

    def look(gravity):
        robot = CART.with_gravity(gravity)
        seen.append(robot._repr_html_())
        return torsor.gravity_forces(robot, np.zeros(2)).sum()

    jax.make_jaxpr(look)(np.array([0.0, 0.0, -9.81]))
    assert "cart_pole" in seen[0]
    assert "kg moving" not in seen[0]

    def weigh(mass):
        seen.append(Inertia(mass, np.zeros(3), np.zeros((3, 3)))._repr_html_())
        return mass

    jax.make_jaxpr(weigh)(1.0)
    assert "not known yet" in seen[-1]


def test_an_inertia_shows_its_numbers_or_what_is_wrong_with_them():
    cells = shown(Inertia(2.0, (0.1, 0.0, -0.3), np.diag([0.3, 0.4, 0.5]))).cells
    assert cells[4:8] == ["centre of mass (m)", "0.1", "0", "−0.3"]
    assert cells[-4:] == ["principal moments (kg·m²)", "0.3", "0.4", "0.5"]
    assert "no body has this: triangle inequality" in shown(THINGS["no body"]()).text


def test_a_trajectory_shows_ranges_and_marks_what_is_beyond_a_limit():
    robot = CART.with_limits(velocity=[0.05, 5.0], effort=[np.inf, 1.0])
    page = shown(run_of(robot))
    rows = [page.cells[k : k + 4] for k in range(0, len(page.cells), 4)]
    assert rows[1] == ["slide", "0 … 0 m", "0.1 of 0.05 m/s beyond its limit", "0.2 N"]
    assert rows[2] == ["swing", "0 … 0 rad", "0.1 of 5 rad/s", "0.2 of 1 N·m"]
    assert "a <note>" in page.text
    assert page.text.startswith("Trajectory · of cart_pole · 3 samples · 0.2 s")


def test_a_kernel_shows_its_ports_and_operations():
    kernel = torsor.compile(lambda robot, q, gain: {"tau": gain * q}, CART, {"q": 2, "gain": ()})
    page = shown(kernel)
    assert page.cells[3:] == ["inputs", "q", "(2,)", "", "gain", "()", "outputs", "tau", "(2,)"]
    assert "2 operations" in page.text
    assert "operations: 2 mul" in page.text


def test_base_parameters_show_their_sums_and_values():
    found = torsor.identification.base_parameters(torsor.robots.planar2r())
    page = shown(found)
    for symbol, grouping, value in zip(found.symbols, found.groupings, found.values, strict=True):
        at = page.cells.index(symbol)
        assert page.cells[at + 2] == str(grouping)
        assert page.cells[at + 3] == number(float(value))
    assert "do not determine by themselves" in page.text


def test_cells_and_numbers():
    assert number(float("inf")) == number(float("nan")) == "–"
    assert number(-0.0) == "0"
    assert number(-1234567.0) == "−1.235e+06"
    assert plain("a" * 100) == "a" * 20 + "…" + "a" * 19
    assert "<th" not in table(["", ""], [["a", "b"]])
    assert shown_by("torsor._html", "plain")("x") == "x"
