"""Every picture shows what it says: artists are where the numbers are, and matplotlib is met on first use only."""

import inspect
import io
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from test_public_names import KEY, SHAPE, UNIT

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from numpy.testing import assert_allclose

import torsor
from torsor import Inertia, Joint, assemble, lie, plot, pose_from
from torsor.functions.public import geometry
from torsor.plot.canvas import GREY
from torsor.plot.ellipsoids import equivalent_ellipsoid, mobility

PANDA = torsor.robots.panda()
PANDA_Q = np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])
FIGURES = {name: value for name in dir(plot) if inspect.isfunction(value := getattr(plot, name))}


def planar_arm():
    """Three links about z with centres of mass beside them; frame "tip" on the last."""
    joints, parent = [], "base"
    inertias = [(4.0, (0.22, 0.05, 0.0)), (2.0, (-0.15, 0.04, 0.0)), (1.0, (0.18, 0.03, 0.0))]
    for k, (mass, com) in enumerate(inertias, 1):
        inertia = Inertia(mass, com, 0.05 * np.eye(3))
        pose = pose_from((0.5 if k > 1 else 0.0, 0.0, 0.0))
        joints.append(
            Joint(
                name=f"j{k}", kind="revolute", parent=parent, link=f"l{k}", pose=pose, axis=(0, 0, 1), inertia=inertia
            )
        )
        parent = f"l{k}"
    tip = {"tip": ("l3", pose_from((0.4, 0.0, 0.0)))}
    return assemble(joints, name="planar_arm", gravity=(0.0, -9.81, 0.0), frames=tip)


ARM, ARM_Q = planar_arm(), np.array([0.7, -0.9, 1.1])
TREE = torsor.robots.random_tree(7, seed=3, kinds=("revolute", "prismatic"))
MIXED = torsor.robots.random_tree(9, seed=5, mimic=True)  # spherical, free, planar, helical and following joints
FLOATING = torsor.robots.random_tree(4, seed=8, kinds=("spherical", "free", "helical", "planar"), serial=True)
ROBOTS = {robot.name: robot for robot in (PANDA, torsor.robots.ur5(), ARM, TREE, MIXED, FLOATING)}


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


def rendered(ax):
    """The picture as PNG, which finds what fails only in drawing."""
    file = io.BytesIO()
    ax.figure.savefig(file, dpi=40)
    return file.getvalue()


def by_gid(ax, start):
    """Artists of an Axes whose gid starts so, by the rest of it."""
    found = {}
    for artist in ax.get_children():
        gid = artist.get_gid() or ""
        if gid.startswith(start):
            found[gid.removeprefix(start)] = artist
    return found


def ends(line):
    """Start and end (3,) of an arrow in space."""
    return np.array(line.get_data_3d()).T


def texts(ax):
    return [text.get_text() for text in ax.texts]


# Matplotlib itself


def test_matplotlib_is_imported_by_drawing_and_not_before():
    code = (
        "import sys, torsor\nfrom torsor import plot\nbefore = 'matplotlib' in sys.modules\n"
        "import matplotlib; matplotlib.use('Agg')\nwith torsor.backend('numpy'): plot.mechanism(torsor.robots.pendulum())\n"
        "print(before, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False True", done.stderr


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(torsor.TorsorError, match=r"pip install 'torsor\[plot\]'"):
        plot.mechanism(PANDA)


def test_no_global_setting_is_touched_and_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    before = dict(matplotlib.rcParams)
    plot.mechanism(ARM)
    plot.planar_mechanism(ARM)
    plot.free_body_diagram(ARM, link=2)
    plot.link_numbering(ARM)
    plot.mobility_ellipsoid(ARM, ARM_Q)
    plot.link_inertia_ellipsoids(ARM)
    plot.mass_matrix_ellipse(ARM, ("j1", "j2"), resolution=3)
    plot.curvature_map(ARM, ("j2", "j3"), resolution=5)
    plot.paths(ARM, np.zeros((4, 3)), (0, 1))
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_every_figure_states_shapes_units_and_its_source(name):
    text = inspect.getdoc(FIGURES[name])
    assert SHAPE.search(text)
    assert UNIT.search(text)
    assert KEY.search(text)
    if name not in ("joints", "trajectory"):  # several Axes: a figure of their own
        assert inspect.signature(FIGURES[name]).parameters["ax"].default is None


# Mechanism


def test_a_mechanism_shows_every_axis_where_it_is(robot):
    q = torsor.random_configuration(robot, seed=1)
    ax = plot.mechanism(robot, q)
    arrows = by_gid(ax, "axis of ")
    kinds = dict(zip(robot.joints, robot.structure.kinds, strict=True))
    assert set(arrows) == {name for name, kind in kinds.items() if kind in ("revolute", "helical", "prismatic")}
    S = torsor.kinematics.joint_axes(robot, q)
    for name, line in arrows.items():
        if robot.structure.coordinate_of(robot.joints.index(name)).name != name or robot.structure.has_couplings:
            continue
        start, end = ends(line)
        axis = S[robot.v_slice(name)][0]
        w = axis[3:] if kinds[name] == "prismatic" else axis[:3]
        assert_allclose((end - start) / np.linalg.norm(end - start), w, atol=1e-12)
        if kinds[name] == "revolute":  # the line carries the axis: moment = point × direction
            assert_allclose(np.cross(start, axis[:3]), axis[3:], atol=1e-12)
    assert len(rendered(ax)) > 1000


def test_a_mechanism_names_every_joint_once(robot):
    labels = "\n".join(text.get_text() for text in plot.mechanism(robot).texts if text.get_gid() == "joint label")
    assert sorted(labels.split("\n")) == sorted(robot.joints)


def test_a_mechanism_numbers_joints_or_leaves_them_without():
    labels = [text for text in plot.mechanism(ARM, ARM_Q, names=False).texts if text.get_gid() == "joint label"]
    assert [text.get_text() for text in labels] == ["1", "2", "3"]
    assert not by_gid(plot.mechanism(ARM, ARM_Q, names=None), "joint label")


def test_centres_of_mass_are_dots_with_areas_by_mass():
    dots = by_gid(plot.mechanism(ARM, ARM_Q), "centres of mass")[""]
    assert_allclose(dots.get_sizes() / dots.get_sizes()[0], [1.0, 0.5, 0.25])
    T = torsor.link_poses(ARM, ARM_Q)
    coms = [T[k, :3, :3] @ ARM.inertia(link).com + T[k, :3, 3] for k, link in enumerate(ARM.links)]
    assert_allclose(np.array(dots._offsets3d).T, coms, atol=1e-15)


def test_tip_frames_are_triads():
    ax = plot.mechanism(PANDA, PANDA_Q)
    T = torsor.frame_pose(PANDA, PANDA_Q, "hand_tcp")
    for k, letter in enumerate("xyz"):
        start, end = ends(by_gid(ax, f"{letter} of ")["hand_tcp"])
        assert_allclose(start, T[:3, 3], atol=1e-15)
        assert_allclose((end - start) / np.linalg.norm(end - start), T[:3, k], atol=1e-12)


def test_a_mechanism_is_drawn_to_one_scale_in_all_directions(robot):
    ax = plot.mechanism(robot)
    ax.set_proj_type("ortho")
    across, up = ax.get_proj()[:2, :3]  # seen from far away, equal scales leave these a rotation times a number
    assert_allclose([across @ across, across @ up], [up @ up, 0.0], atol=1e-12)


def test_pictures_are_drawn_into_the_axes_given():
    figure = plt.figure()
    space = figure.add_subplot(121, projection="3d")
    assert plot.mechanism(ARM, ax=space) is space
    flat = figure.add_subplot(122)
    assert plot.planar_mechanism(ARM, ax=flat) is flat
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(torsor.TorsorError, match="projection='3d'"):
        plot.mechanism(ARM, ax=flat)


def test_a_batch_of_states_is_refused_with_what_to_pass():
    with pytest.raises(torsor.ShapeError, match=r"one state.*\(2, 3\).*`q\[0\]`"):
        plot.mechanism(ARM, np.zeros((2, 3)))
    with pytest.raises(torsor.ShapeError, match=r"must have shape \(\.\.\., 3\)"):
        plot.mechanism(ARM, np.zeros(4))


# Planar mechanism


def vectors(ax):
    return {name: np.array(arrow.xy) - np.array(arrow.xyann) for name, arrow in by_gid(ax, "vector ").items()}


def test_the_vectors_of_a_planar_mechanism_are_those_of_the_paper():
    ax = plot.planar_mechanism(ARM, ARM_Q)
    found = vectors(ax)
    T = torsor.link_poses(ARM, ARM_Q)
    for k in range(3):
        p = T[k, :3, :3] @ ARM.inertia(f"l{k + 1}").com
        assert_allclose(found[rf"$p_{{\bar{{{k + 1}}}{k + 1}}}$"], p[:2], atol=1e-12)
    for k in range(2):
        assert_allclose(found[f"$d_{{{k + 1}}}$"], (T[k + 1] - T[k])[:2, 3], atol=1e-12)
    assert len(found) == 5
    assert len(by_gid(ax, "joint ")) == 3
    assert len(by_gid(ax, "centre of mass ")) == 3
    assert {r"$\bar{1}$", r"$\bar{2}$", r"$\bar{3}$", "$1$", "$2$", "$3$"} <= set(texts(ax))
    assert ax.get_aspect() == 1.0
    assert len(rendered(ax)) > 1000


def test_a_planar_mechanism_can_do_without_notation_and_has_its_gravity_down_the_page():
    ax = plot.planar_mechanism(ARM.with_gravity((9.81, 0.0, 0.0)), ARM_Q, notation=False)
    assert not vectors(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y (m)", "−x (m)")
    second = torsor.link_poses(ARM, ARM_Q)[1, :3, 3]
    assert_allclose(by_gid(ax, "joint ")["2"].center, [second[1], -second[0]], atol=1e-15)


def test_counterweights_hang_where_they_are_said_to():
    ax = plot.planar_mechanism(ARM, ARM_Q, counterweights=[("l3", 0.6, (-0.2, -0.05, 0.0))])
    place = torsor.link_poses(ARM, ARM_Q)[2] @ [-0.2, -0.05, 0.0, 1.0]
    assert_allclose(by_gid(ax, "counterweight on link ")["3"].get_offsets()[0], place[:2], atol=1e-15)
    assert "0.6 kg" in texts(ax)
    with pytest.raises(torsor.UnknownName, match="no link 'l4'"):
        plot.planar_mechanism(ARM, counterweights=[("l4", 1.0, (0.0, 0.0, 0.0))])
    with pytest.raises(torsor.ShapeError, match=r"\(3,\)"):
        plot.planar_mechanism(ARM, counterweights=[("l3", 1.0, (0.0, 0.0))])


def test_slides_in_the_plane_are_welcome_and_other_joints_refused():
    ax = plot.planar_mechanism(torsor.robots.cart_pole(), [0.4, 0.7])
    assert len(by_gid(ax, "joint ")) == 2
    assert r"$\bar{1}$, $\bar{2}$" in texts(ax)
    with pytest.raises(
        torsor.ModelError, match=r"'panda_joint2' has an axis that is not parallel.*torsor.plot.mechanism"
    ):
        plot.planar_mechanism(PANDA)
    with pytest.raises(torsor.ModelError, match="no revolute or planar joint"):
        plot.planar_mechanism(torsor.robots.random_tree(2, seed=0, kinds=("prismatic",)))
    with pytest.raises(torsor.ModelError, match="is not planar"):
        plot.planar_mechanism(MIXED)


# Free-body diagram


def momentum_rate(robot, q, v, a, link):
    """G V̇ − ad(V)ᵀ G V in the link's frame, from the motion alone [LP, (9.42)]."""
    G = robot.inertia(link).row
    V, A = torsor.kinematics.body_twist(robot, q, v, link), torsor.kinematics.body_acceleration(robot, q, v, a, link)
    return lie.apply_inertia(G, A) - lie.bracket_dual(V, lie.apply_inertia(G, V))


def test_the_wrenches_on_every_link_add_up_to_its_rate_of_momentum(robot):
    q, v, a = torsor.random_state(robot, seed=2)
    for i in (1, robot.n - 1):
        body = plot.free_body_diagram(robot, q, v, a, link=i)
        assert_allclose(body.total, momentum_rate(robot, q, v, a, robot.links[i - 1]), atol=1e-9)
        assert_allclose(body.twist, torsor.kinematics.body_twist(robot, q, v, robot.links[i - 1]))
        assert_allclose(body.loads[0].wrench, torsor.dynamics.joint_wrenches(robot, q, v, a)[i - 1])
    assert len(rendered(body.axes)) > 1000


def test_arrows_are_proportional_to_the_forces_and_start_where_they_act():
    q, v, a = torsor.random_state(PANDA, seed=2)
    body = plot.free_body_diagram(PANDA, q, v, a, link="link_4")
    T = torsor.link_poses(PANDA, q)
    R = T[3, :3, :3]
    wanted = {"$f_{4}$": (R @ body.loads[0].wrench[3:], T[3, :3, 3])}
    wanted["$-f_{5}$"] = R @ body.loads[1].wrench[3:], T[4, :3, 3]
    weight = PANDA.inertia("link_4").mass * PANDA.gravity
    wanted["$m_{4} g$"] = weight, T[3, :3, 3] + R @ PANDA.inertia("link_4").com
    drawn = by_gid(body.axes, "force ")
    assert set(drawn) == set(wanted)
    scales = []
    for name, (force, place) in wanted.items():
        start, end = ends(drawn[name])
        assert_allclose(start, place, atol=1e-12)
        scales.append(np.linalg.norm(end - start) / np.linalg.norm(force))
        assert_allclose(end - start, scales[0] * force, atol=1e-12)
    assert_allclose(scales, scales[0])


def test_moments_have_two_heads_and_are_about_the_joint():
    q, v, a = torsor.random_state(PANDA, seed=2)
    body = plot.free_body_diagram(PANDA, q, v, a, link=4)
    T = torsor.link_poses(PANDA, q)
    F = torsor.dynamics.joint_wrenches(PANDA, q, v, a)
    start, end = ends(by_gid(body.axes, "moment ")["$-m_{5}$"])
    about_joint = -T[4, :3, :3] @ F[4, :3]  # frame 5 sits in joint 5
    assert_allclose(np.cross(end - start, about_joint), 0.0, atol=1e-9)
    assert (end - start) @ about_joint > 0
    heads = [artist for artist in body.axes.get_children() if artist.get_gid() == "head of moment $-m_{5}$"]
    assert len(heads) == 2


def test_the_numbers_of_a_free_body_are_in_its_table():
    body = plot.free_body_diagram(ARM, ARM_Q, [1.0, 2.0, -1.0], link=2)
    cells = by_gid(body.axes, "wrenches")[""].get_celld()
    column = [cells[row, 0].get_text().get_text() for row in range(6)]
    assert column == ["", "$F_{2}$", "$-F_{3}$", "$m_{2} g$", r"$\Sigma$", "$V_{2}$"]
    shown = [float(x.replace("−", "-")) for x in cells[1, 3].get_text().get_text().split(",")]
    assert_allclose(shown, body.loads[0].wrench[3:], atol=0.005)
    assert not by_gid(plot.free_body_diagram(ARM, link=2, table=False).axes, "wrenches")


def test_wrenches_from_outside_and_none_at_all():
    outside = np.array([0.0, 1.0, 2.0, 0.0, 0.0, -30.0])
    body = plot.free_body_diagram(PANDA, PANDA_Q, link=7, wrenches={"hand_tcp": outside})
    assert_allclose(body.total, 0.0, atol=1e-10)
    (load,) = [load for load in body.loads if load.meaning == "at hand_tcp"]
    assert_allclose(load.point, torsor.frame_pose(PANDA, PANDA_Q, "hand_tcp")[:3, 3])
    weightless = plot.free_body_diagram(PANDA.with_gravity((0.0, 0.0, 0.0)), PANDA_Q, link=7)
    assert not by_gid(weightless.axes, "force ")
    assert len(rendered(weightless.axes)) > 1000


def test_a_free_body_needs_a_moving_link():
    with pytest.raises(torsor.ModelError, match="links 1 to 3, got 4"):
        plot.free_body_diagram(ARM, link=4)
    with pytest.raises(torsor.ModelError, match="is the base"):
        plot.free_body_diagram(ARM, link="base")
    with pytest.raises(torsor.UnknownName, match="nearest: 'l1'"):
        plot.free_body_diagram(ARM, link="l11")


# Numbering


def test_every_link_and_joint_has_its_number(robot):
    ax = plot.link_numbering(robot)
    words = {text.split("\n")[0] for text in texts(ax)}
    assert {f"link {i}" for i in range(robot.n + 1)} | {f"joint {i}" for i in range(1, robot.n + 1)} <= words
    with_axis = [k for k, kind in enumerate(robot.structure.kinds, 1) if kind in ("revolute", "prismatic", "helical")]
    assert set(by_gid(ax, "axis ")) == {str(k) for k in with_axis}
    assert set(by_gid(ax, "vector ")) == {f"{i},{i}" for i in range(1, robot.n + 1)}
    places = {tuple(np.ravel(line.get_xydata())) for line in by_gid(ax, "joint ").values()}
    assert len(places) == robot.n
    assert len(rendered(ax)) > 1000


def test_a_chain_is_numbered_from_left_to_right_and_a_tree_by_parents(robot):
    place = {int(k): line.get_xydata()[0] for k, line in by_gid(plot.link_numbering(robot), "joint ").items()}
    for i, parent in enumerate(robot.structure.parents, 1):
        assert_allclose(place[i][0], 0.5 if parent < 0 else place[parent + 1][0] + 1.0)


def test_following_joints_names_and_further_vectors_are_shown():
    s = MIXED.structure
    i = next(i for i in range(s.n) if s.coordinate_of(i).name != s.joints[i])
    leader = s.joints.index(s.coordinate_of(i).name) + 1
    assert f"joint {i + 1}\nfollows {leader}" in texts(plot.link_numbering(MIXED))
    ax = plot.link_numbering(ARM, names=True, vectors=[(1, 3)])
    assert "j2\nl2" in texts(ax)
    assert r"$\tilde{p}_{1,3}$" in texts(ax)
    with pytest.raises(torsor.ModelError, match="from 1 to 3"):
        plot.link_numbering(ARM, vectors=[(0, 3)])


# Ellipsoids


def test_the_surface_of_the_mobility_ellipsoid_is_where_it_should_be():
    ax = plot.mobility_ellipsoid(PANDA, PANDA_Q)
    J = torsor.mixed_jacobian(PANDA, PANDA_Q, "hand_tcp")[3:]
    A = J @ torsor.dynamics.inverse_mass_matrix(PANDA, PANDA_Q) @ J.T
    found = mobility(PANDA, PANDA_Q, "hand_tcp")
    points = (found.semi_axes * found.directions).T
    assert_allclose(np.einsum("ki,ij,kj->k", points, np.linalg.inv(A), points), 1.0)
    scales = []
    for k in range(3):
        start, end = ends(by_gid(ax, "semi-axis ")[str(k + 1)])
        assert_allclose(start, torsor.frame_pose(PANDA, PANDA_Q, "hand_tcp")[:3, 3])
        scales.append(np.linalg.norm(end - start) / found.semi_axes[k])
    assert_allclose(scales, scales[0])
    heaviest = 1 / np.linalg.eigvalsh(A)[0]
    assert f"{heaviest:.3g} kg" in texts(ax)
    assert by_gid(ax, "ellipsoid")
    assert len(rendered(ax)) > 1000


def test_a_planar_robot_has_a_flat_mobility_ellipsoid_at_the_frame_asked_for():
    ax = plot.mobility_ellipsoid(ARM, ARM_Q, "l3")
    assert set(by_gid(ax, "semi-axis ")) == {"2", "3"}
    with pytest.raises(torsor.UnknownName, match="no frame 'tipp'"):
        plot.mobility_ellipsoid(ARM, ARM_Q, "tipp")


@pytest.mark.parametrize(("bounded", "unit"), [("velocity", "m/s"), ("energy", "m/s"), ("force", "m/s²")])
def test_the_axes_of_a_manipulability_ellipsoid_are_those_computed(bounded, unit):
    ax = plot.manipulability_ellipsoid(PANDA, PANDA_Q, bounded=bounded)
    found = torsor.tasks.manipulability_ellipsoid(PANDA, PANDA_Q, torsor.position_task("hand_tcp"), bounded=bounded)
    drawn = [np.subtract(*ends(by_gid(ax, "semi-axis ")[str(k + 1)])[::-1]) for k in range(3)]
    scale = np.linalg.norm(drawn[0]) / found.lengths[0]
    signs = np.sign(np.sum(np.transpose(drawn) * found.axes, axis=0))  # either half of an axis may carry its text
    assert_allclose(np.transpose(drawn), scale * found.lengths * found.axes * signs, atol=1e-12)
    assert f"{found.lengths[0]:.3g} {unit}" in texts(ax)
    assert set(by_gid(plot.manipulability_ellipsoid(ARM, ARM_Q), "semi-axis ")) == {"1", "2"}


def test_a_singular_mass_matrix_has_no_ellipsoids():
    rod = Inertia.point(1.0, (0.3, 0.0, 0.0))
    first = Joint(name="a", kind="revolute", axis=(0, 0, 1))
    second = Joint(name="b", kind="revolute", parent="a_link", axis=(0, 0, 1), inertia=rod)
    coaxial = assemble([first, second], name="coaxial")
    report = torsor.dynamics.mass_matrix_report(coaxial, [0.3, 0.4])
    assert report.always_singular
    assert "singular at every configuration tried" in str(report)
    assert "though not everywhere" not in str(report)
    with pytest.raises(torsor.ModelError, match=r"joints 'a', 'b' can move together without moving any inertia"):
        plot.mobility_ellipsoid(coaxial)
    stretched = torsor.robots.planar2r().with_inertia("link_1", Inertia.zero())
    with np.errstate(all="ignore"), pytest.raises(torsor.ModelError, match=r"singular at this q.*mass_matrix_report"):
        plot.mobility_ellipsoid(stretched, [0.3, 0.0])
    with pytest.raises(torsor.ModelError, match=r"without moving any mass.*mass_matrix_report"):
        plot.mass_matrix_ellipse(coaxial, ("a", "b"))


def test_a_link_that_is_an_ellipsoid_is_drawn_as_itself():
    size = np.array([0.1, 0.2, 0.4])
    turn = pose_from((0.3, 0.1, 0.0), (0.4, -0.2, 0.9))
    body = Inertia.ellipsoid(size, mass=3.0).moved(turn)
    robot = assemble([Joint(name="j", kind="free", inertia=body)], name="body")
    found = equivalent_ellipsoid(robot, "j_link")
    assert_allclose(found.semi_axes, size)
    assert_allclose(np.abs(found.directions.T @ turn[:3, :3]), np.eye(3), atol=1e-9)
    assert by_gid(plot.link_inertia_ellipsoids(robot), "link ellipsoids")
    assert not by_gid(plot.link_inertia_ellipsoids(torsor.robots.planar2r()), "link ellipsoids")  # points have no size


def test_an_inertia_that_no_body_has_is_marked():
    wrong = ARM.with_inertia("l3", Inertia(1.0, (0.0, 0.0, 0.0), np.diag([0.1, 0.1, 0.5])))
    words = [text.get_text() for text in plot.link_inertia_ellipsoids(wrong).get_legend().get_texts()]
    assert "inertia that no real body has" in words
    words = [text.get_text() for text in plot.link_inertia_ellipsoids(ARM).get_legend().get_texts()]
    assert "inertia that no real body has" not in words


# Maps over two joints


def test_every_ellipse_of_the_mass_matrix_has_the_same_kinetic_energy():
    ax = plot.mass_matrix_ellipse(ARM, ("j3", "j2"), q=ARM_Q, resolution=4)
    ellipses = by_gid(ax, "ellipse ")
    assert len(ellipses) == 16
    energies = []
    for line in ellipses.values():
        points = line.get_xydata()
        centre = (points[:-1]).mean(axis=0)
        M = torsor.mass_matrix(ARM, [ARM_Q[0], centre[1], centre[0]])[np.ix_([2, 1], [2, 1])]
        energies.append(np.einsum("ki,ij,kj->k", points - centre, M, points - centre))
    assert_allclose(energies, np.full_like(energies, energies[0][0]))
    seconds = float(ax.get_title().split("after ")[1].removesuffix(" s"))
    assert_allclose(np.sqrt(energies[0][0]), seconds, rtol=0.05)  # the title gives two digits
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("j3 (rad)", "j2 (rad)")


@pytest.mark.parametrize("quantity", ["sectional", "scalar", "norm"])
def test_a_curvature_map_shows_the_curvature(quantity):
    ax = plot.curvature_map(ARM, (1, "j3"), q=ARM_Q, quantity=quantity, resolution=7)
    image = by_gid(ax, f"{quantity} curvature")[""]
    shown = np.reshape(image.get_array(), (7, 7))
    angles = np.linspace(-np.pi, np.pi, 7)
    for row, column in ((0, 0), (2, 5), (6, 1)):
        q = np.array([ARM_Q[0], angles[column], angles[row]])
        direct = {
            "sectional": lambda q=q: torsor.geometry.sectional_curvature(ARM, q, np.eye(3)[1], np.eye(3)[2]),
            "scalar": lambda q=q: torsor.geometry.scalar_curvature(ARM, q),
            "norm": lambda q=q: torsor.geometry.curvature_norm(ARM, q),
        }[quantity]()
        assert_allclose(shown[row, column], direct)
    low, high = image.get_clim()
    assert low == (0.0 if quantity == "norm" else -high)
    assert_allclose(high, np.abs(shown).max())
    assert "1/(kg·m²)" in image.colorbar.ax.get_ylabel()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["−π", "−π/2", "0", "π/2", "π"]
    assert len(rendered(ax)) > 1000


def test_all_states_of_a_map_are_one_call(monkeypatch):
    seen = []

    def counted(robot, q):
        seen.append(np.shape(q))
        return np.zeros(np.shape(q)[:-1])

    monkeypatch.setattr(geometry, "scalar_curvature", counted)
    plot.curvature_map(ARM, (0, 1), quantity="scalar", resolution=6)
    assert seen == [(6, 6, 3)]


def test_a_flat_mechanism_is_not_coloured_by_its_rounding():
    slides = torsor.robots.random_tree(2, seed=1, kinds=("prismatic",), serial=True)
    image = by_gid(plot.curvature_map(slides, (0, 1), resolution=5), "sectional curvature")[""]
    assert image.get_clim()[1] > 1e6 * np.abs(image.get_array()).max()


def test_a_map_covers_the_limits_of_its_joints():
    ax = plot.mass_matrix_ellipse(PANDA, ("panda_joint4", 5), resolution=2)
    assert_allclose([ax.get_xlim(), ax.get_ylim()], [(-3.0718, -0.0698), (-0.0175, 3.7525)])
    ax = plot.mass_matrix_ellipse(torsor.robots.cart_pole(), ("slide", "swing"), resolution=2)
    assert_allclose([ax.get_xlim(), ax.get_ylim()], [(-1, 1), (-np.pi, np.pi)])
    assert ax.get_xlabel() == "slide (m)"


def test_joints_that_make_no_map_are_refused_with_what_to_pass():
    s = MIXED.structure
    follower = next(s.joints[i] for i in range(s.n) if s.coordinate_of(i).name != s.joints[i])
    leader = s.coordinate_of(s.joints.index(follower)).name
    ball = next(s.joints[i] for i in range(s.n) if s.kinds[i] == "spherical")
    for joints, message in (
        ((0, 0), "two different joints"),
        ((0,), "two joints"),
        ("j1", "two joints"),
        ((0, 3), "3 coordinates, got joint 3"),
    ):
        with pytest.raises(torsor.TorsorError, match=message):
            plot.mass_matrix_ellipse(ARM, joints)
    with pytest.raises(torsor.UnknownName, match="no joint 'j9'"):
        plot.curvature_map(ARM, ("j1", "j9"))
    with pytest.raises(torsor.ModelError, match=f"follows '{leader}'; pass '{leader}'"):
        plot.mass_matrix_ellipse(MIXED, (follower, leader))
    with pytest.raises(torsor.ModelError, match="spherical, with 3 degrees of freedom"):
        plot.mass_matrix_ellipse(MIXED, (ball, leader))
    with pytest.raises(torsor.TorsorError, match="'sectional', 'scalar' or 'norm'"):
        plot.curvature_map(ARM, (0, 1), quantity="ricci")
    with pytest.raises(torsor.TorsorError, match="at least 2"):
        plot.curvature_map(ARM, (0, 1), resolution=1)


def test_maps_refuse_numbers_that_are_none():
    for draw in (plot.curvature_map, plot.mass_matrix_ellipse):
        for resolution in (5.5, 1, "9"):
            with pytest.raises(torsor.TorsorError, match="`resolution` must be a whole number, at least 2, got"):
                draw(ARM, (0, 1), resolution=resolution)
        with pytest.raises(torsor.TorsorError, match=r"`q` must be finite, got .*nan"):
            draw(ARM, (0, 1), q=[0.0, np.nan, 0.0])


def test_a_map_is_grey_where_the_mass_matrix_is_singular():
    """Only the far mass is left: M is singular where the arm is stretched or folded, at three rows of five."""
    end_loaded = torsor.robots.planar2r().with_inertia("link_1", Inertia.zero())
    ax = plot.curvature_map(end_loaded, (0, 1), resolution=5)
    image = by_gid(ax, "sectional curvature")[""]
    hidden = np.ma.getmaskarray(image.get_array()).reshape(5, 5)
    assert hidden.any()
    assert not hidden[[1, 3]].any()
    assert_allclose(image.get_cmap().get_bad(), matplotlib.colors.to_rgba(GREY))
    assert len(rendered(ax)) > 1000


def test_a_map_of_a_mass_matrix_that_is_singular_everywhere_is_refused():
    rod = Inertia.point(1.0, (0.3, 0.0, 0.0))
    first = Joint(name="a", kind="revolute", axis=(0, 0, 1))
    second = Joint(name="b", kind="revolute", parent="a_link", axis=(0, 0, 1), inertia=rod)
    with pytest.raises(torsor.TorsorError, match=r"joints 'a', 'b' can move together without moving any inertia"):
        plot.curvature_map(assemble([first, second]), (0, 1), resolution=4)
    hand = Inertia.box((0.2, 0.1, 0.1), mass=1.0)
    arm = torsor.robots.planar_chain([0.5, 0.4, 0.3], [0.0, 1.0, 0.0]).with_inertia("link_3", hand)
    with pytest.raises(torsor.TorsorError, match=r"singular everywhere on this map.*mass_matrix_report"):
        plot.curvature_map(arm, (0, 2), q=[0.0, 0.0, 0.0], resolution=4)


@pytest.mark.parametrize("q", [np.zeros(3), ARM_Q])
def test_the_legend_of_a_planar_mechanism_covers_nothing(q):
    ax = plot.planar_mechanism(ARM, q, counterweights=[("l3", 0.6, (-0.2, -0.05, 0.0))])
    ax.figure.canvas.draw()
    place = ax.get_legend().get_window_extent()
    assert not place.overlaps(ax.get_window_extent())
    assert ax.figure.bbox.containsx(place.x0)
    assert ax.figure.bbox.containsx(place.x1)
    assert ax.figure.bbox.containsy(place.y1)


# Paths


def test_a_path_is_drawn_on_the_map_with_its_ends_marked():
    ax = plot.mass_matrix_ellipse(ARM, (1, 2), resolution=2)
    curve = np.stack([np.zeros(5), np.linspace(-1, 1, 5), np.linspace(2, 0, 5)], axis=1)
    assert plot.paths(ARM, curve, (1, 2), ax=ax, labels=["straight"]) is ax
    assert_allclose(by_gid(ax, "path ")["0"].get_xydata(), curve[:, 1:])
    assert_allclose(by_gid(ax, "start ")["0"].get_xydata()[0], curve[0, 1:])
    assert_allclose(by_gid(ax, "end ")["0"].get_xydata()[0], curve[-1, 1:])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["straight"]


def test_a_path_of_a_turning_joint_is_cut_at_the_edge_of_the_map():
    angle = np.linspace(2.0, 5.0, 13)
    curve = np.stack([angle, 0.5 * angle, np.zeros(13)], axis=1)
    drawn = by_gid(plot.paths(ARM, curve, (0, 1)), "path ")["0"].get_xydata()
    (gap,) = np.flatnonzero(np.isnan(drawn[:, 0]))
    assert_allclose(drawn[gap - 1], [np.pi, np.pi / 2])
    assert_allclose(drawn[gap + 1], [-np.pi, np.pi / 2])
    assert np.nanmax(np.abs(drawn)) <= np.pi + 1e-12
    assert_allclose(drawn[-1], [5.0 - 2 * np.pi, 2.5])
    limited = by_gid(plot.paths(torsor.robots.ur5(), np.array([[0.0], [4.0], [6.0]]) * np.ones(6), (0, 1)), "path ")[
        "0"
    ]
    assert_allclose(limited.get_xydata(), [[0, 0], [4, 4], [6, 6]])  # ±2π is its range: nothing is cut


def test_paths_come_as_arrays_batches_and_trajectories():
    motion = torsor.simulate(ARM, ARM_Q, np.zeros(3), duration=0.1, dt=0.02)
    assert len(by_gid(plot.paths(ARM, motion, (1, 2)), "path ")) == 1
    assert len(by_gid(plot.paths(ARM, [motion, motion.q, np.zeros((2, 3))], (1, 2)), "path ")) == 3
    assert len(by_gid(plot.paths(ARM, np.zeros((4, 5, 3)), (1, 2)), "path ")) == 4
    with pytest.raises(torsor.ShapeError, match=r"shape \(k, 3\).*got \(5, 2\)"):
        plot.paths(ARM, np.zeros((5, 2)), (0, 1))
    with pytest.raises(torsor.ShapeError, match="1 curves have 2 labels"):
        plot.paths(ARM, np.zeros((5, 3)), (0, 1), labels=["a", "b"])
