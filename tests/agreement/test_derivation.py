"""Equations step by step: each has the numbers of the algorithms, and follows from the one before by SymPy's own rules."""

import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

import torsor
from torsor.symbolic import equations
from torsor.symbolic.derivation import Derivation

sympy = pytest.importorskip("sympy")

X, Y, Z = np.eye(3)
STEPS = (
    "frame_pose", "centres_of_mass", "link_velocities", "mixed_jacobian", "kinetic_energy", "potential_energy", "lagrangian",
    "momenta", "momentum_rates", "lagrangian_slopes", "mass_matrix", "christoffel_symbols", "coriolis_matrix", "gravity_forces",
    "joint_forces",
)  # fmt: skip


def joints(*parts, **options) -> torsor.Robot:
    """A chain of (kind, axis, place, body, more)."""
    return torsor.assemble([
        torsor.Joint(
            name=f"j{k}", kind=kind, axis=axis, parent=f"j{k - 1}_link" if k else "base", inertia=body,
            pose=torsor.pose_from(place), pitch=0.2 if kind == "helical" else 0.0, **more,
        )
        for k, (kind, axis, place, body, more) in enumerate(parts)
    ], **options)  # fmt: skip


def link(m: float, r: float, I: float) -> torsor.Inertia:
    return torsor.Inertia(m, (r, 0, 0), np.diag([0.01, 0.02, I]))


def scara() -> torsor.Robot:
    return joints(
        ("revolute", Z, (0, 0, 0.5), link(1.2, 0.2, 0.02), {"armature": 0.1, "viscous_friction": 0.2}),
        ("revolute", Z, (0.4, 0, 0), link(0.9, 0.15, 0.015), {"coulomb_friction": 0.1}),
        ("prismatic", -Z, (0.3, 0, 0), torsor.Inertia.point(0.5), {"stiffness": 7.0, "rest": -0.2}),
        gravity=(0, 0, -9.81),
    )


def at_centres() -> torsor.Robot:
    """A planar 2R with the frames of its links at their centres of mass, not on their axes."""
    screws = np.array([torsor.lie.screw(Z, np.zeros(3)), torsor.lie.screw(Z, 0.9 * X)])
    homes = np.array([torsor.pose_from((0.4, 0, 0)), torsor.pose_from((1.15, 0, 0))])
    bodies = [torsor.Inertia(m, np.zeros(3), np.diag([0.01, 0.05, 0.05])) for m in (1.3, 0.8)]
    return torsor.serial_chain(screws, homes, bodies, tip=torsor.pose_from((1.5, 0, 0)), gravity=(0, -9.81, 0))


def coupled() -> torsor.Robot:
    body = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    return torsor.assemble([
        torsor.Joint(name="a", kind="revolute", screw=(0, 0, 2.0, 0, 0, 0), inertia=body),
        torsor.Joint(name="b", kind="revolute", parent="a_link", axis=Z, pose=torsor.pose_from((0.7, 0, 0)), inertia=body,
                     mimic=torsor.Mimic("a", -1.0, 0.3)),
    ], gravity=(0, -9.81, 0))  # fmt: skip


BODY = torsor.Inertia(1.2, (0.3, 0.1, 0.0), np.diag([0.1, 0.2, 0.25]))
SKEW = joints(
    ("revolute", Z, (0, 0, 0.1), BODY, {"stiffness": 3.0, "rest": 0.1}), ("revolute", Y, (0.5, 0, 0.1), BODY, {}),
    ("revolute", (0.6, 0, 0.8), (0.3, 0, 0), BODY, {"armature": 0.2}),
)  # fmt: skip
ROBOTS = {
    "one joint": (torsor.robots.pendulum(), {}),
    "planar 2R": (torsor.robots.planar2r(masses=(1.3, 0.8), lengths=(0.9, 0.6)), {"coordinates": "theta"}),
    "frames at centres": (at_centres(), {}),
    "planar 3R": (torsor.robots.planar_chain([1.0, 0.8, 0.6], [1.0, 1.2, 0.7]), {}),
    "SCARA": (scara(), {}),
    "cart-pole renamed": (
        torsor.robots.cart_pole(),
        {"symbols": {"m_1": "M", "m_2": "m", "L_2": "l", "g": 9.81}, "coordinates": ["x", "theta"]},
    ),
    "spatial 2R": (torsor.robots.chain(2), {}),
    "spatial 3R in numbers": (SKEW, {"numbers": True}),
    "helical": (
        joints(("prismatic", X, (0, 0, 0), BODY, {}), ("helical", Z, (0.5, 0, 0), BODY, {}), gravity=(0, 0, -9.81)),
        {},
    ),
    "coupled": (coupled(), {}),
}  # fmt: skip
FOUND: dict[str, Derivation] = {}


def of(name: str) -> Derivation:
    if name not in FOUND:
        robot, options = ROBOTS[name]
        FOUND[name] = equations(robot, **options).derivation
    return FOUND[name]


def number(found: Derivation, value, state):
    """A SymPy matrix, array or expression at (q, v, a), for the robot's own numbers."""
    eq = found.equations
    at = [*eq.q, *eq.v, *eq.a, *(x.symbol for x in found.symbols.values())]
    values = [*np.concatenate(state), *(x.value for x in found.symbols.values())]
    shape = getattr(value, "shape", ())
    flat = sympy.lambdify(at, sympy.flatten(value) if shape else [value], "numpy", cse=True)(*values)
    return np.array(flat, float).reshape(shape)


def vanishes(expression) -> bool:
    """Whether an expression is zero: exactly so at random fractions, with sines and cosines that are fractions."""
    expression = sympy.expand_trig(expression)
    rng = np.random.default_rng(5)
    for _ in range(2):
        half = {}
        for f in expression.atoms(sympy.sin, sympy.cos):
            t = half.setdefault(f.args[0], sympy.Rational(int(rng.integers(1, 9)), 11))
            half[f] = (2 * t if f.func is sympy.sin else 1 - t**2) / (1 + t**2)
        found = expression.xreplace({f: x for f, x in half.items() if f.func in (sympy.sin, sympy.cos)})
        at = {s: sympy.Rational(int(rng.integers(1, 40)), 7) for s in sorted(found.free_symbols, key=str)}
        if found.xreplace(at) != 0:
            return False
    return True


# Numbers


@pytest.mark.parametrize("name", ROBOTS)
def test_every_step_has_the_numbers_of_the_algorithms(name):
    found, (robot, _) = of(name), ROBOTS[name]
    assert tuple(step.name for step in found) == STEPS
    q, v, a = state = np.random.default_rng(3).normal(size=(3, robot.nv))

    def close(step, wanted, value=None):
        got = number(found, found[step].value if value is None else value, state)
        wanted = np.reshape(wanted, got.shape)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-11 * max(1.0, np.abs(wanted).max()))

    with torsor.backend("numpy"):
        close("frame_pose", torsor.frame_pose(robot, q, found.frame))
        poses = torsor.link_poses(robot, q)
        bodies = [torsor.Inertia.from_row(row) for row in robot.parameters.inertias]
        close("centres_of_mass", [T[:3, :3] @ b.com + T[:3, 3] for T, b in zip(poses, bodies, strict=True)])
        J = [torsor.kinematics.body_jacobian(robot, q, name) for name in robot.links]
        close("link_velocities", [j[:3] @ v for j in J], found["link_velocities"].value[1])
        points = [
            T[:3, :3] @ (j[3:] @ v + np.cross(j[:3] @ v, b.com)) for T, j, b in zip(poses, J, bodies, strict=True)
        ]
        close("link_velocities", points, found["link_velocities"].value[0])
        close("mixed_jacobian", torsor.kinematics.mixed_jacobian(robot, q, found.frame))
        rotors = 0.5 * robot.parameters.armature @ v**2
        K, P = torsor.papers.link_kinetic_energies(robot, q, v), torsor.papers.link_potential_energies(robot, q)
        close("kinetic_energy", [*K, rotors] if rotors else K)
        springs = torsor.potential_energy(robot, q) - P.sum()
        close("potential_energy", [*P, springs] if any(robot.parameters.stiffness) else P)
        close("lagrangian", torsor.kinetic_energy(robot, q, v) - torsor.potential_energy(robot, q))
        close("momenta", torsor.dynamics.generalised_momentum(robot, q, v))
        tau = torsor.inverse_dynamics(robot, q, v, a)
        rates, slopes = found["momentum_rates"].value, found["lagrangian_slopes"].value
        close("joint_forces", tau - torsor.dynamics.friction_forces(robot, v), rates - slopes)
        close("joint_forces", tau)
        close("christoffel_symbols", torsor.geometry.christoffel_symbols(robot, q))
        close("coriolis_matrix", torsor.coriolis_matrix(robot, q, v))


@pytest.mark.parametrize("name", ["planar 2R", "SCARA", "spatial 2R", "cart-pole renamed", "helical"])
def test_every_step_follows_from_the_one_before_exactly(name):
    """By SymPy's derivatives of what is printed: nothing of ours but the expressions."""
    found = of(name)
    eq, n = found.equations, range(len(found.equations.q))
    q, v, a = eq.q, eq.v, eq.a
    value = {step.name: step.value for step in found}

    def rate(x):
        return sum(x.diff(q[k]) * v[k] + x.diff(v[k]) * a[k] for k in n)

    centres, velocities = value["centres_of_mass"], value["link_velocities"][0]
    assert all(vanishes(rate(x) - y) for x, y in zip(centres, velocities, strict=True))
    position, J = value["frame_pose"][:3, 3], value["mixed_jacobian"][3:, :]
    assert all(vanishes(position[i].diff(q[j]) - J[i, j]) for i in range(3) for j in n)
    K, P, L = sum(value["kinetic_energy"]), sum(value["potential_energy"]), value["lagrangian"]
    assert vanishes(K - P - L) and not vanishes(K + P - L)
    for i in n:
        p, slope = value["momenta"][i], value["lagrangian_slopes"][i]
        assert vanishes(L.diff(v[i]) - p)
        assert vanishes(rate(p) - value["momentum_rates"][i])
        assert vanishes(L.diff(q[i]) - slope)
        assert vanishes(value["momentum_rates"][i] - slope + eq.friction[i] - eq.tau[i])
        assert vanishes(P.diff(q[i]) - eq.g[i] - eq.springs[i])
        for j in n:
            assert vanishes(K.diff(v[i], v[j]) - eq.M[i, j])
            assert vanishes(sum(value["christoffel_symbols"][k, j, i] * v[k] for k in n) - eq.C[i, j])
    assert value["mass_matrix"] == eq.M and value["coriolis_matrix"] == eq.C and value["joint_forces"] == eq.tau


def test_rounding_is_not_printed_as_physics():
    assert "e-1" not in str(of("spatial 3R in numbers"))


# The book


def test_the_books_2r_is_printed_as_in_the_book():
    """LP §9.1.1 with E002-1 (m_2 before the whole bracket), E002-2 and E002-3."""
    lines = str(of("planar 2R")).splitlines()
    for row in (
        "  x₂ = L₁ cos θ₁ + L₂ cos(θ₁ + θ₂)",
        "  J₄₁ = −L₁ sin θ₁ − L₂ sin(θ₁ + θ₂)",
        "5. Kinetic energy of each link [LP, (9.59)]",
        "  𝓚₁ = 1/2 m₁ L₁² θ̇₁²",
        "  𝓚₂ = 1/2 m₂ ((L₁² + 2 L₁ L₂ cos θ₂ + L₂²) θ̇₁² + 2 (L₁ L₂ cos θ₂ + L₂²) θ̇₁ θ̇₂ + L₂² θ̇₂²)",
        "  𝓟₁ = m₁ g L₁ sin θ₁",
        "  𝓟₂ = m₂ g (L₁ sin θ₁ + L₂ sin(θ₁ + θ₂))",
        "  ∂𝓛/∂θ̇₂ = m₂ (L₁ L₂ cos θ₂ + L₂²) θ̇₁ + m₂ L₂² θ̇₂",
        "  d/dt ∂𝓛/∂θ̇₂ = m₂ (L₁ L₂ cos θ₂ + L₂²) θ̈₁ + m₂ L₂² θ̈₂ − m₂ L₁ L₂ θ̇₁ θ̇₂ sin θ₂",
        "  ∂𝓛/∂θ₂ = −m₂ L₁ L₂ θ̇₁ (θ̇₁ + θ̇₂) sin θ₂ − m₂ g L₂ cos(θ₁ + θ₂)",
        "  Γ₁₁₂ = m₂ L₁ L₂ sin θ₂",
        "  τ₂ = m₂ (L₁ L₂ cos θ₂ + L₂²) θ̈₁ + m₂ L₂² θ̈₂ + m₂ L₁ L₂ θ̇₁² sin θ₂ + m₂ g L₂ cos(θ₁ + θ₂)",
        "where m₁ = 1.3 kg, m₂ = 0.8 kg, g = 9.81 m/s², L₁ = 0.9 m, L₂ = 0.6 m",
    ):
        assert row in lines
    assert not any(line.endswith(" = 0") for line in lines if line.strip()[0:1] in "xyzJRX")


def test_what_is_at_the_joints_has_a_place_in_the_energies():
    found = of("SCARA")
    lines = str(found).splitlines()
    for row in ("  𝓚J = 1/2 J₁ q̇₁²", "  𝓟k = 1/2 k₃ (q₃ − s₃)²", "  𝓟₁ = m₁ g L₀"):  # M and g have no L₀
        assert row in lines
    assert found.symbols["L_0"].value == 0.5 and "L_0" not in found.equations.symbols
    assert "I₁xx" not in str(found)  # it moves with no joint
    assert "P_k" not in of("planar 2R")["potential_energy"].expressions


# Tasks


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("planar 2R", ("vx", "vy")),
        ("cart-pole renamed", ("vy", "vx")),
        ("planar 3R", ("wz", "vx", "vy")),
        ("SCARA", ("vx", "vy", "vz")),
        ("one joint", ("wz",)),
    ],
)
def test_task_space_dynamics(name, rows):
    found, (robot, _) = of(name), ROBOTS[name]
    task = found.task(*rows)
    state = np.random.default_rng(8).normal(size=(3, robot.nv))
    with torsor.backend("numpy"):
        twist = torsor.tasks.pose_task(found.frame, axes="mixed").select(list(rows))
        wanted = torsor.tasks.task_space_dynamics(robot, state[0], state[1], twist)
    for step, expected in (
        ("task_jacobian", wanted.jacobian),
        ("task_drift", wanted.drift[:, None]),
        ("task_inertia", wanted.inertia),
        ("task_bias", wanted.bias[:, None]),
    ):
        got = number(found, task[step].value, state)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * np.abs(expected).max() + 1e-12)
    D = number(found, task["determinant"].value, state)
    np.testing.assert_allclose(D, np.linalg.det(wanted.jacobian), rtol=1e-10)


def test_task_inertia_and_bias_of_the_2r_exactly():
    """Jᵀ Λ J = M and Jᵀ (η + Λ J̇ q̇) = c + g [LP, (9.98), (9.99)], and as short as they can be."""
    found = of("planar 2R")
    task, eq = found.task("vx", "vy"), found.equations
    J, L = task["task_jacobian"].value, task["task_inertia"].value
    assert all(map(vanishes, J.T * L * J - eq.M))
    assert all(map(vanishes, J.T * (task["task_bias"].value + L * task["task_drift"].value) - eq.c - eq.g))
    lines = str(task).splitlines()
    assert "  D = L₁ L₂ sin θ₂" in lines
    assert "  Λ₁₁ = (m₁ cos²(θ₁ + θ₂) + m₂ sin² θ₂) / sin² θ₂" in lines
    assert r"\Lambda_{12} = \Lambda_{21}" in task.latex() and r"\eta_{1}" in task.latex()


def test_tasks_that_are_refused(monkeypatch):
    found = of("planar 2R")
    with pytest.raises(torsor.TorsorError, match=r"no row 'x'.*wx, wy, wz, vx, vy, vz"):
        found.task("x", "y")
    with pytest.raises(torsor.TorsorError, match=r"need 2 different rows.*got vx\. .*task_space_dynamics"):
        found.task("vx")
    with pytest.raises(torsor.TorsorError, match=r"need 2 different rows.*got vx, vx"):
        found.task("vx", "vx")
    with pytest.raises(torsor.TorsorError, match="got none"):
        found.task()
    with pytest.raises(torsor.TorsorError, match="vx, vz of 'tip' are dependent wherever robot 'planar2r' is"):
        found.task("vx", "vz")
    monkeypatch.setattr("torsor.symbolic.geometry.MOST_PRODUCTS", 10)
    with pytest.raises(
        torsor.TorsorError,
        match=r"the task-space dynamics of robot 'planar2r' .* too long.*numbers=True.*task_space_dyn",
    ):
        found.task("vx", "vy")


# Frames, names, print


def test_other_frames():
    robot, q = ROBOTS["frames at centres"][0], np.array([0.3, 0.7])
    found = of("frames at centres")
    for frame in ("base", "link_1", "link_2", "tip"):
        moved = found.at(frame)
        np.testing.assert_allclose(
            number(moved, moved["frame_pose"].value, [q, q, q]), torsor.frame_pose(robot, q, frame), atol=1e-12
        )
        with torsor.backend("numpy"):
            J = torsor.kinematics.mixed_jacobian(robot, q, frame)
        np.testing.assert_allclose(number(moved, moved["mixed_jacobian"].value, [q, q, q]), J, atol=1e-12)
    assert "  J = 0" in str(found.at("base"))
    assert {"L_2", "r_2"} <= set(found.symbols) and "L_2" not in found.at("link_1").symbols
    with pytest.raises(torsor.UnknownName, match="nowhere"):
        found.at("nowhere")


def test_two_frames_on_a_link_have_lengths_of_their_own():
    robot = joints(
        ("revolute", Z, (0, 0, 0), BODY, {}), ("revolute", Z, (0.5, 0, 0), BODY, {}), gravity=(0, -9.81, 0)
    ).with_frame("tool", parent="j0_link", pose=torsor.pose_from((0.7, 0, 0)))
    found = equations(robot).derivation.at("tool")
    assert found.symbols["L_1"].value == 0.5 and found.symbols["L_1b"].value == 0.7


def test_names_that_are_taken_are_refused():
    renamed = equations(scara(), symbols={"m_1": "L_0"})
    with pytest.raises(torsor.TorsorError, match=r"L_0 is the name of a length.*already that of something else"):
        _ = renamed.derivation
    found = equations(torsor.robots.planar2r(), coordinates="x").derivation
    assert "X_1" in found["centres_of_mass"].expressions  # x_1 is a coordinate here


def test_a_robot_without_mass_has_all_steps():
    found = equations(torsor.assemble([torsor.Joint(name="a", kind="revolute", axis=Z)])).derivation
    assert tuple(step.name for step in found) == STEPS
    assert {"  p = 0", "  ṗ = 0", "  𝓚₁ = 0", "  𝓛 = 0", "  Γ = 0"} <= set(str(found).splitlines())


def test_steps_by_name():
    found = of("planar 2R")
    assert len(found) == 15 and found["lagrangian"].reference == "LP, (9.7), (9.9)"
    assert set(found["momenta"].expressions) == {"dL_dthetadot_1", "dL_dthetadot_2"}
    assert found["lagrangian"].expressions == {"L": found["lagrangian"].value}
    assert set(found["lagrangian"].symbols) == {"m_1", "m_2", "g", "L_1", "L_2"}
    assert str(found["gravity_forces"]).startswith(
        "Gravity forces: the slopes of the links' potential energy [LP, (9.12)]\n\n"
    )
    assert repr(found["gravity_forces"]).startswith("<Step 'gravity_forces': Gravity forces")
    assert repr(found) == "<Derivation of 'planar2r': 15 steps; print() shows them>"
    with pytest.raises(torsor.UnknownName, match="no step 'lagrangia'; nearest: 'lagrangian'"):
        found["lagrangia"]


def test_nothing_is_worked_out_before_it_is_asked_for(monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("torsor.symbolic._equations.derive", never)
    written = equations(torsor.robots.pendulum())
    assert str(written)
    with pytest.raises(AssertionError):
        _ = written.derivation


def test_latex_html_png_and_pickles(tmp_path):
    found = of("planar 2R")
    latex = found.latex()
    assert latex.startswith(
        "\\paragraph{1. Position X, Y, Z and rotation R of frame tip in the base} [LP, §9.1.1]\n\\[\n"
    )
    assert r"\frac{d}{dt} \frac{\partial \mathcal{L}}{\partial \dot{\theta}_{1}} &= " in latex
    assert r"\mathcal{K}_{1} &= \frac{1}{2} m_{1} L_{1}^{2} \dot{\theta}_{1}^{2}" in latex
    for name in ("planar 3R", "SCARA", "spatial 3R in numbers"):
        text = of(name).latex()
        assert text.count("{") == text.count("}") and text.count(r"\begin") == text.count(r"\end")
        assert max(map(len, str(of(name)).splitlines())) <= 125
        ElementTree.fromstring(f"<p>{of(name)._repr_html_()}</p>")
    page = found.to_html(tmp_path / "steps.html").read_text(encoding="utf-8")
    ElementTree.fromstring(page.split("\n", 1)[1].replace("<meta charset='utf-8'>", ""))
    assert page.count("<h3>") == 15 and "<mi>𝓛</mi>" in page and "<script" not in page
    again = pickle.loads(pickle.dumps(found))
    assert again["lagrangian"].value == found["lagrangian"].value and str(again.task("vx", "vy"))


def test_hostile_names_of_frames(tmp_path):
    name = "a_b$%{<&>}\\^~"
    robot = torsor.robots.pendulum().with_frame(name, parent="link_1", pose=torsor.pose_from((0.5, 0, 0)))
    found = equations(robot).derivation.at(name)
    ElementTree.fromstring(f"<p>{found._repr_html_()}</p>")
    assert r"a\_b\$\%\{<\&>\}\textbackslash " in found.latex()
    pytest.importorskip("matplotlib")
    assert found.to_png(tmp_path / "steps.png", dpi=40).stat().st_size > 0
