"""Pictures of motions: every number with its name, unit and limits, batches as bundles, any names, colours for everyone."""

import io
import sys
from itertools import combinations, pairwise

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from numpy.testing import assert_allclose

import torsor
from torsor import Inertia, Joint, assemble, motion, plot
from torsor.papers.formulations import FORMULATIONS
from torsor.plot import palette
from torsor.plot.canvas import plain_name
from torsor.plot.over_time import MOST_OF_A_BATCH

HOSTILE = ["$x$", r"\frac{1}", "_a", "two\nlines", "ab" * 150, "é关节\u202e", "100 %$", "<b>&amp;"]
CART = torsor.robots.cart_pole().with_limits((-0.5, 0.5), velocity=2.0, effort=[3.0, np.inf])
CUBE = Inertia.box((0.1, 0.1, 0.1), mass=1.0)


def hostile_robot():
    joints = [
        Joint(name=name, kind=("revolute", "prismatic")[k % 2], parent=HOSTILE[k - 1] + " link" if k else "base",
              link=name + " link", axis=(0, 0, 1), inertia=CUBE)
        for k, name in enumerate(HOSTILE)
    ]  # fmt: skip
    return assemble(joints, name=r"$\undefined", frames={"$tip_{": (HOSTILE[-1] + " link", np.eye(4))}).with_limits(
        effort=5.0
    )


def run_of(robot, batch=(), samples=11):
    time = np.linspace(0.0, 1.0, samples)
    q0 = torsor.random_configuration(robot, seed=0)
    speeds = np.linspace(0.1, 1.0, robot.nv) * np.linspace(0.5, 1.0, int(np.prod(batch, dtype=int))).reshape(
        *batch, 1, 1
    )
    v = np.broadcast_to(speeds, (*batch, samples, robot.nv))
    tau = np.broadcast_to(np.linspace(-1.0, 2.0, robot.nv), v.shape)
    return torsor.Trajectory(robot, time, torsor.integrate(robot, q0, v, time), v, a=0.0 * v, tau=tau)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def rendered(figure):
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    return len(file.getvalue())


def lines_of(ax, samples=11):
    return [line for line in ax.lines if len(line.get_xdata()) == samples]


def named(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def limits_of(ax):
    return [line for line in ax.lines if (line.get_gid() or "").startswith("limit")]


# Colours


MACHADO = {  # Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def cielab(colour, vision):
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = to_xyz @ np.clip(np.array(MACHADO[vision]) @ linear, 0.0, 1.0) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", MACHADO)
def test_line_colours_can_be_told_apart_with_any_colour_vision_and_seen_on_white(vision):
    """A difference of 2 in CIELAB can just be seen; the default colours of matplotlib come down to 5."""
    seen = [cielab(colour, vision) for colour in palette.LINE_COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15
    assert min(np.linalg.norm(a - cielab("white", vision)) for a in seen) > 30


def test_no_two_lines_look_alike():
    looks = {str(palette.line_look(k)) for k in range(palette.MOST_LINES)}
    assert len(looks) == palette.MOST_LINES > 50


def test_the_formulations_have_looks_of_their_own_and_ticks_that_do_not_touch(monkeypatch):
    def some_counts(links, level):
        return {name: {n: (k + n, n, 0) for n in links} for k, name in enumerate(FORMULATIONS)}

    monkeypatch.setattr(
        sys.modules["torsor.plot._operation_counts"], "count_table", some_counts
    )  # counting takes seconds
    ax = plot.operation_counts()
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert len(set(looks)) == len(looks) == len(FORMULATIONS)
    ax.figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
    assert len(boxes) > 6
    assert all(b.x0 - a.x1 > 2 for a, b in pairwise(boxes))


# Names


def test_names_are_drawn_letter_for_letter_on_one_line():
    assert plain_name("elbow") == "elbow"
    assert plain_name("two\nlines") == r"two\nlines"
    assert len(plain_name("a" * 300)) == 32
    assert plain_name("start" + "a" * 300 + "end").startswith("start")
    assert plain_name("start" + "a" * 300 + "end").endswith("end")
    for name in HOSTILE:
        assert matplotlib.cbook.is_math_text(plain_name(name)) is False


@pytest.mark.filterwarnings("ignore:Glyph")
def test_hostile_names_break_no_picture():
    robot = hostile_robot()
    run = run_of(robot)
    q = run.q[0]
    figures = [plot.trajectory(run), plot.joints(run), plot.phase(run).figure, plot.torque_limits(run).figure]
    figures += [
        plot.energies(run).figure,
        plot.mechanism(robot, q).figure,
        plot.link_numbering(robot, names=True).figure,
    ]
    figures += [
        plot.free_body_diagram(robot, q, link=len(HOSTILE)).axes.figure,
        plot.mobility_ellipsoid(robot, q).figure,
    ]
    figures += [plot.mass_matrix_ellipse(robot, (0, 2), resolution=2).figure]
    for figure in figures:
        assert rendered(figure) > 1000
    shown = named(plot.phase(run))
    assert shown == [plain_name(name) for name in HOSTILE]  # also the one that begins with an underscore
    width = figures[0].bbox.width
    for figure in figures[:4]:
        figure.canvas.draw()
        assert all(ax.get_window_extent().width > 0.25 * width / 4 for ax in figure.axes if ax.axison)


# Each joint by itself


@pytest.mark.parametrize(
    ("quantity", "units"),
    [
        ("position", ["m", "rad"]),
        ("velocity", ["m/s", "rad/s"]),
        ("acceleration", ["m/s²", "rad/s²"]),
        ("force", ["N", "N·m"]),
    ],
)
def test_each_joint_has_a_panel_with_its_unit(quantity, units):
    run = run_of(CART)
    axes = plot.joints(run, quantity=quantity).axes
    assert [ax.get_ylabel() for ax in axes] == units
    values = {"position": run.q, "velocity": run.v, "acceleration": run.a, "force": run.tau}[quantity]
    for k, ax in enumerate(axes):
        (line,) = lines_of(ax)
        assert_allclose(line.get_ydata(), values[:, k])
        assert_allclose(line.get_xdata(), run.time)
        assert ax.get_title(loc="left").startswith(CART.coordinates[k])


def test_limits_are_written_always_and_drawn_where_they_are_near():
    robot = torsor.robots.cart_pole().with_limits(position={"slide": (-9.0, 9.0), "swing": (-0.2, 1.0)})
    time, q = np.linspace(0.0, 1.0, 11), np.linspace(0.0, 1.1, 11)[:, None] * [1.0, 1.0]
    slide, swing = plot.joints(torsor.Trajectory(robot, time, q, np.ones((11, 2)))).axes
    assert "±9" in slide.get_title(loc="left")
    assert not limits_of(slide)
    assert "−0.2 … 1" in swing.get_title(loc="left")
    assert sorted(line.get_ydata()[0] for line in limits_of(swing)) == [-0.2, 1.0]
    assert swing.get_ylim()[0] < -0.2
    assert swing.get_ylim()[1] > 1.1  # the motion goes beyond, and is shown
    assert "∞" not in plot.joints(run_of(torsor.robots.cart_pole())).axes[0].get_title(loc="left")


def test_a_free_joint_has_a_panel_for_each_number_and_a_quaternion_no_unit():
    robot = assemble([Joint(name="body", kind="free", inertia=CUBE)])
    axes = [ax for ax in plot.joints(run_of(robot)).axes if ax.axison]
    assert [ax.get_ylabel() for ax in axes] == ["m"] * 3 + [""] * 4
    assert axes[6].get_title(loc="left") == "body[6]"


def test_too_many_panels_and_followers_are_refused_with_what_to_pass():
    chain = torsor.robots.planar_chain([0.1] * 61, [1.0] * 61)
    run = torsor.Trajectory(
        chain, [0.0, 1.0], np.zeros((2, 61)), np.zeros((2, 61)), tau=np.zeros((2, 61)), a=np.zeros((2, 61))
    )
    with pytest.raises(torsor.ArgumentError, match=r"61 panels.*joints=\['joint_1', 'joint_2'\]"):
        plot.joints(run)
    assert len(plot.joints(run, joints="joint_3").axes) == 1
    for draw in (plot.phase, plot.torque_limits):
        with pytest.raises(torsor.TorsorError):
            draw(run)
    with pytest.raises(torsor.ArgumentError, match="at least one"):
        plot.joints(run, joints=[])
    mixed = torsor.robots.random_tree(9, seed=5, mimic=True)
    s = mixed.structure
    follower = next(s.joints[i] for i in range(s.n) if s.coordinate_of(i).name != s.joints[i])
    with pytest.raises(torsor.ArgumentError, match=f"{follower}.* follows"):
        plot.joints(run_of(mixed), joints=[follower])


# Motions and batches


@pytest.mark.parametrize("draw", [plot.joints, plot.energies, plot.phase, plot.torque_limits, plot.trajectory])
def test_every_motion_in_time_is_taken_and_nothing_else(draw):
    move = motion.polynomial(CART, [0.0, 0.0], [0.3, 0.4], duration=2.0)
    drawn = draw(move, dt=0.2)
    figure = drawn if draw in (plot.joints, plot.trajectory) else drawn.figure
    assert lines_of(figure.axes[0])
    assert rendered(figure) > 1000
    for wrong in (np.zeros((3, 2)), CART, None):
        with pytest.raises(torsor.ArgumentTypeError, match=r"`motion` must be a motion.*torsor\.Trajectory"):
            draw(wrong)


@pytest.mark.parametrize("draw", [plot.joints, plot.energies, plot.phase, plot.torque_limits])
def test_a_batch_is_a_bundle_that_says_how_many(draw):
    few, many, none = run_of(CART, (2, 3)), run_of(CART, (MOST_OF_A_BATCH + 20,), samples=3), run_of(CART, (0,))
    drawn = draw(few)
    figure = drawn if draw is plot.joints else drawn.figure
    said = figure.get_suptitle() if draw is plot.joints else drawn.get_title()
    assert "all 6 motions" in said
    each = {plot.joints: 6, plot.energies: 18, plot.phase: 12, plot.torque_limits: 6}[draw]
    assert len(lines_of(figure.axes[0])) == each
    drawn = draw(many)
    said = drawn.get_suptitle() if draw is plot.joints else drawn.get_title()
    assert f"{MOST_OF_A_BATCH} of {MOST_OF_A_BATCH + 20} motions" in said
    with pytest.raises(torsor.ArgumentError, match=r"batch of \(0,\)"):
        draw(none)


def test_one_sample_is_a_dot():
    run = run_of(CART)[:1]
    for ax in (*plot.joints(run).axes, plot.energies(run), plot.torque_limits(run), *plot.trajectory(run).axes):
        assert all(line.get_marker() == "o" for line in lines_of(ax, 1))


def with_gaps():
    gaps = np.linspace(0.0, 0.3, 11)[:, None] * [1.0, 1.0]
    gaps[5], gaps[7] = np.nan, np.inf
    return gaps


@pytest.mark.parametrize("values", [np.full((11, 2), np.nan), np.zeros((11, 2)), np.full((11, 2), 1e300), with_gaps()])
@pytest.mark.parametrize("draw", [plot.joints, plot.phase, plot.torque_limits, plot.trajectory])
def test_numbers_that_are_missing_or_out_of_all_bounds_are_drawn_as_they_are(draw, values):
    rest = np.zeros((11, 2))
    with np.errstate(all="ignore"):
        drawn = draw(torsor.Trajectory(CART, np.linspace(0.0, 1.0, 11), values, values, a=rest, tau=values))
        assert rendered(drawn if draw in (plot.joints, plot.trajectory) else drawn.figure) > 1000


# Energies, phase, forces


def test_energies_add_up_and_work_is_drawn_where_there_is_some():
    run = torsor.simulate(torsor.robots.pendulum(), [1.0], [0.0], duration=0.1, dt=0.01, tau=[0.3])
    ax = plot.energies(run)
    shown = dict(zip(named(ax), lines_of(ax), strict=True))
    assert set(shown) == {"kinetic", "potential", "sum", "work of the joint forces"}
    assert_allclose(shown["sum"].get_ydata(), shown["kinetic"].get_ydata() + shown["potential"].get_ydata())
    assert_allclose(shown["work of the joint forces"].get_ydata(), run.work.drives)
    assert ax.get_ylabel() == "energy (J)"
    assert ax.get_xlabel() == "time (s)"


def test_a_phase_portrait_has_velocity_over_position_with_ends_and_limits():
    farthest = float(np.abs(run_of(CART).q[:, 1]).max())
    run = run_of(CART.with_limits({"swing": (-farthest, farthest)}))
    ax = plot.phase(run, joints="swing")
    (line,) = lines_of(ax)
    assert_allclose(line.get_xdata(), run.q[:, 1])
    assert_allclose(line.get_ydata(), run.v[:, 1])
    ends = {line.get_gid(): line.get_xydata()[0] for line in ax.lines if line.get_gid()}
    assert_allclose(ends["start of swing"], [run.q[0, 1], run.v[0, 1]])
    assert_allclose(ends["end of swing"], [run.q[-1, 1], run.v[-1, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("position (rad)", "velocity (rad/s)")
    assert limits_of(ax)
    assert "m or rad" in plot.phase(run).get_xlabel()
    free = assemble([Joint(name="body", kind="free", inertia=CUBE)])
    with pytest.raises(torsor.ModelError, match="no joint with one degree of freedom"):
        plot.phase(run_of(free))
    both = assemble(
        [
            Joint(name="a", kind="free", inertia=CUBE),
            Joint(name="b", kind="revolute", parent="a_link", axis=(0, 0, 1), inertia=CUBE),
        ]
    )
    assert named(plot.phase(run_of(both))) == ["b"]
    with pytest.raises(torsor.ArgumentError, match=r"one degree of freedom each, got 'a'; these have: 'b'"):
        plot.phase(run_of(both), joints=["a"])


def test_joint_forces_are_parts_of_their_limits():
    run = run_of(CART)
    ax = plot.torque_limits(run)
    (line,) = lines_of(ax)
    assert_allclose(line.get_ydata(), 100 * run.tau[:, 0] / 3.0)
    assert named(ax) == ["slide: 1 of 3 N"]
    assert sorted(line.get_ydata()[0] for line in limits_of(ax)) == [-100.0, 100.0]
    assert "without a limit: swing" in ax.get_title()
    beyond = plot.torque_limits(run_of(CART.with_limits(effort=[0.5, 2.0])))
    assert beyond.get_ylim()[1] > 200.0
    with pytest.raises(torsor.ModelError, match=r"no effort limits.*with_limits\(effort=.*quantity='force'"):
        plot.torque_limits(run_of(torsor.robots.cart_pole()))


def test_limits_that_several_joints_share_are_grey():
    robot = torsor.robots.planar2r().with_limits(velocity=0.5)
    (shared,) = {line.get_color() for line in limits_of(plot.trajectory(run_of(robot)).axes[1])}
    assert shared == palette.GREY


def test_forces_of_samples_are_held_and_those_of_other_motions_are_not():
    move = motion.polynomial(CART, [0.0, 0.0], [0.3, 0.4], duration=2.0)
    (smooth,) = lines_of(plot.torque_limits(move, dt=0.2))
    (held,) = lines_of(plot.torque_limits(move.sample(0.2)))
    assert (smooth.get_drawstyle(), held.get_drawstyle()) == ("default", "steps-post")


# Other pictures


def test_names_of_a_mechanism_are_off_where_there_is_no_room():
    small, large = (
        torsor.robots.planar_chain([0.1] * 12, [1.0] * 12),
        torsor.robots.planar_chain([0.1] * 13, [1.0] * 13),
    )
    joints = [[t for t in plot.mechanism(robot).texts if t.get_gid() == "joint label"] for robot in (small, large)]
    assert joints[0]
    assert not joints[1]
    assert [t for t in plot.mechanism(large, names=True).texts if t.get_gid() == "joint label"]


def test_a_curve_beyond_a_limit_is_shown_whole_with_the_limit():
    robot = torsor.robots.planar2r().with_limits({"joint_1": (-1.0, 1.0), "joint_2": (-2.0, 2.0)})
    curve = np.linspace([0.0, 0.0], [1.5, 0.5], 7)
    ax = plot.paths(robot, curve, (0, 1))
    assert ax.get_xlim()[1] > 1.5
    assert ax.get_ylim() == (-2.0, 2.0)
    (limit,) = limits_of(ax)
    assert_allclose(limit.get_xdata(), 1.0)
    labelled = plot.paths(robot, [curve, -curve], (0, 1), labels=["a", "b"])
    colours = [line.get_color() for line in labelled.lines if (line.get_gid() or "").startswith("path")]
    assert len(set(colours)) == 2


def test_labels_of_a_free_body_do_not_lie_on_one_another():
    robot = torsor.robots.panda()
    q, v, a = torsor.random_state(robot, seed=2)
    ax = plot.free_body_diagram(robot, q, v, a, link=4).axes
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) >= 9
    for one, other in combinations(boxes, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(wide, high) < 4  # printer's points, about: edges of boxes may touch, letters not


def test_an_ellipsoid_longer_than_the_robot_is_named():
    robot = torsor.robots.panda()
    ax = plot.link_inertia_ellipsoids(robot, [0.3, -0.5, 0.2, -2.0, 0.1, 1.8, 0.7])
    assert "link_1" in [text.get_text() for text in ax.texts]
    assert any("longer than the robot" in text for text in named(ax))
    assert not any("longer" in text for text in named(plot.link_inertia_ellipsoids(hostile_robot())))
