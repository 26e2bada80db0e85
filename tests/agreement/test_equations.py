"""Equations in closed form: the same numbers as the algorithms, the same terms as the textbooks."""

import pickle
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import torsor
from torsor.symbolic import Equations, equations
from torsor.symbolic.notation import Latex, Text

sympy = pytest.importorskip("sympy")

Z = (0.0, 0.0, 1.0)
DOWN = (0.0, -9.81, 0.0)

SPRING = {"stiffness": 7.0, "rest": -0.2}


def text(found: Equations, expression) -> str:
    return Text(list(found.order)).expression(expression).replace("\x1f", "").replace("\x1e", "")


def same(a, b) -> bool:
    """Equal as functions, by SymPy's own rules of trigonometry."""
    return sympy.simplify(sympy.expand_trig(sympy.expand(a - b))) == 0


def book_2r() -> Equations:
    return equations(torsor.robots.planar2r(masses=(1.3, 0.8), lengths=(0.9, 0.6)), coordinates="theta")


def general_2r(*, at_centres: bool = False) -> torsor.Robot:
    """Two links with extent in the plane; link frames on the axes, or at the centres of mass."""
    masses, lengths, centres, moments = (1.3, 0.8), (0.9, 0.6), (0.4, 0.25), (0.07, 0.03)
    starts = np.array([0.0, lengths[0]])
    screws = [torsor.lie.screw(Z, (x, 0.0, 0.0)) for x in starts]
    homes = [torsor.pose_from((x + at_centres * r, 0.0, 0.0)) for x, r in zip(starts, centres, strict=True)]
    bodies = [
        torsor.Inertia(m, ((1 - at_centres) * r, 0.0, 0.0), np.diag([0.01, 0.05, I]))
        for m, r, I in zip(masses, centres, moments, strict=True)
    ]
    return torsor.serial_chain(
        np.array(screws), np.array(homes), bodies, tip=torsor.pose_from((1.5, 0, 0)), gravity=DOWN
    )


# Numbers


def random_chain(seed: int, n: int, *, skew: bool, extras: bool = False) -> torsor.Robot:
    """Revolute, prismatic and helical joints along axes of their frames; frames turned by right angles, or by any."""
    rng = np.random.default_rng(seed)
    joints = []
    for k in range(n):
        kind = rng.choice(["revolute", "prismatic", "helical"])
        rpy = rng.normal(size=3) if skew else rng.integers(0, 4, size=3) * np.pi / 2
        A = np.diag(rng.uniform(0.2, 1.0, 3)) if rng.random() < 0.5 else rng.normal(size=(3, 3))
        joints.append(
            torsor.Joint(
                name=f"joint_{k}",
                kind=str(kind),
                parent="base" if k == 0 else f"joint_{k - 1}_link",
                axis=np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]),
                pitch=0.3 if kind == "helical" else 0.0,
                pose=torsor.pose_from(rng.normal(size=3) * rng.integers(0, 2, size=3), rpy),
                inertia=torsor.Inertia(rng.uniform(0.5, 2.0), rng.normal(size=3) * rng.integers(0, 2, size=3), A @ A.T),
                **({"armature": 0.1, "viscous_friction": 0.2, "coulomb_friction": 0.3, **SPRING} if extras else {}),
            )
        )
    return torsor.assemble(joints, gravity=rng.normal(size=3) if skew else (0.0, 0.0, -9.81))


def assert_agrees(found: Equations, robot: torsor.Robot) -> None:
    q, v, a = _states(robot)
    expected = torsor.inverse_dynamics(robot, q, v, a)
    # coefficients below 1e-13 of the largest are dropped, and sums are associated in another order
    np.testing.assert_allclose(found.evaluate(q, v, a), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    at = dict(zip(found.q + found.v, np.concatenate([q[0], v[0]]), strict=True))
    at |= {x.symbol: x.value for x in found.symbols.values()}
    for matrix, wanted in (
        (found.M, torsor.mass_matrix(robot, q[0])),
        (found.C, torsor.coriolis_matrix(robot, q[0], v[0])),
        (found.c, torsor.dynamics.coriolis_forces(robot, q[0], v[0])[:, None]),
        (found.g, torsor.gravity_forces(robot, q[0])[:, None]),
    ):
        numbers = np.array(matrix.subs(at).evalf().tolist(), dtype=float)
        np.testing.assert_allclose(numbers, wanted, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def _states(robot):
    rng = np.random.default_rng(7)
    return rng.normal(size=(3, 4, robot.nv))


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 2))
def test_symbols_with_their_values_give_inverse_dynamics(seed, n):
    robot = random_chain(seed, n, skew=False)
    assert_agrees(equations(robot), robot)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3), skew=st.booleans())
def test_numbers_give_inverse_dynamics(seed, n, skew):
    robot = random_chain(seed, n, skew=skew)
    found = equations(robot, numbers=True)
    assert not found.symbols
    assert_agrees(found, robot)


@pytest.mark.parametrize("skew", [False, True])
def test_armature_and_friction_are_in_the_torques(skew):
    robot = random_chain(3, 2, skew=skew, extras=True)
    found = equations(robot)
    assert {"J_1", "b_2", "f_1"} <= set(found.symbols)
    assert_agrees(found, robot)
    smooth = robot.with_coulomb_width(0.05)
    assert_agrees(equations(smooth), smooth)


def test_a_spatial_3r_arm_with_every_number():
    robot = torsor.robots.chain(3)
    found = equations(robot)
    assert_agrees(found, robot)
    assert text(found, found.M[2, 2]) == "I₃zz"
    assert text(found, found.M[1, 1]) == "m₂ r₂² + m₃ (L₂ + r₃)² + I₂yy + I₃xx sin² q₃ + I₃yy cos² q₃"


def test_coupled_joints_and_screws_of_any_length():
    body = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    joints = [
        torsor.Joint(name="a", kind="revolute", screw=(0, 0, 2.0, 0, 0, 0), inertia=body),
        torsor.Joint(
            name="b",
            kind="revolute",
            parent="a_link",
            axis=Z,
            pose=torsor.pose_from((0.7, 0.0, 0.0)),
            inertia=body,
            mimic=torsor.Mimic("a", -1.0, 0.3),
        ),
    ]
    robot = torsor.assemble(joints, gravity=DOWN)
    assert_agrees(equations(robot), robot)


def skew_pair(kinds, axes) -> torsor.Robot:
    body = torsor.Inertia.point(1.0)
    joints = [
        torsor.Joint(name="a", kind=kinds[0], axis=axes[0], inertia=body),
        torsor.Joint(
            name="b",
            kind=kinds[1],
            axis=axes[1],
            parent="a_link",
            pose=torsor.pose_from((0.7, 0.0, 0.0)),
            inertia=torsor.Inertia.point(0.8, (0.3, 0.2, 0.1)),
        ),
    ]
    return torsor.assemble(joints, gravity=(0.0, 0.0, -9.81))


@pytest.mark.parametrize("numbers", [False, True])
def test_rounding_is_not_printed_as_physics(numbers):
    half = 0.5**0.5
    robot = skew_pair(("revolute", "revolute"), (Z, (0.0, half, half)))
    found = equations(robot, numbers=numbers)
    assert found.g[0] == 0  # the first axis is vertical
    assert "e-1" not in str(found)
    assert_agrees(found, robot)
    axis = (0.0, 0.6, 0.8)
    robot = skew_pair(("prismatic", "revolute"), (axis, axis))
    found = equations(robot, numbers=numbers)
    assert found.M[0, 1] == 0 and not any(found.C)  # a mass that turns about the axis it slides along
    assert "e-1" not in str(found)
    assert_agrees(found, robot)


def test_small_robots_are_not_taken_for_rounding():
    body = torsor.Inertia(1e-9, (1e-5, 0.0, 0.0), np.diag([1e-20, 1e-19, 1e-19]))
    robot = torsor.assemble([torsor.Joint(name="a", kind="revolute", axis=Z, inertia=body)], gravity=DOWN)
    for options in ({"numbers": True}, {"symbols": {"I_1": 1e-19, "r_1": 1e-5}}):
        found = equations(robot, **options)
        state = [0.3], [0.2], [1e9]
        np.testing.assert_allclose(found.evaluate(*state), torsor.inverse_dynamics(robot, *state), rtol=1e-9)


# Textbooks


def test_the_books_2r_term_by_term():
    """LP §9.1.1 with E002-1, E002-2, E002-3."""
    found = book_2r()
    m1, m2, L1, L2, g = (found.symbols[name].symbol for name in ("m_1", "m_2", "L_1", "L_2", "g"))
    (t1, t2), (w1, w2), (a1, a2) = found.q, found.v, found.a
    cos, sin = sympy.cos, sympy.sin
    tau_1 = (
        ((m1 + m2) * L1**2 + m2 * (2 * L1 * L2 * cos(t2) + L2**2)) * a1
        + m2 * (L1 * L2 * cos(t2) + L2**2) * a2
        - 2 * m2 * L1 * L2 * w1 * w2 * sin(t2)
        - m2 * L1 * L2 * w2**2 * sin(t2)
        + (m1 + m2) * L1 * g * cos(t1)
        + m2 * g * L2 * cos(t1 + t2)
    )
    tau_2 = (
        m2 * (L1 * L2 * cos(t2) + L2**2) * a1
        + m2 * L2**2 * a2
        + m2 * L1 * L2 * w1**2 * sin(t2)
        + m2 * g * L2 * cos(t1 + t2)
    )
    assert sympy.expand(found.tau[0] - tau_1) == 0  # the same terms: nothing of trigonometry is needed to see it
    assert sympy.expand(found.tau[1] - tau_2) == 0
    kinetic = m1 * L1**2 * w1**2 / 2 + m2 / 2 * (
        (L1**2 + 2 * L1 * L2 * cos(t2) + L2**2) * w1**2 + 2 * (L2**2 + L1 * L2 * cos(t2)) * w1 * w2 + L2**2 * w2**2
    )
    v = sympy.Matrix(found.v)
    assert sympy.expand((v.T * found.M * v)[0] / 2 - kinetic) == 0


def test_how_the_books_2r_is_printed():
    found = book_2r()
    assert [text(found, x) for x in found.M] == [
        "m₁ L₁² + m₂ (L₁² + 2 L₁ L₂ cos θ₂ + L₂²)",
        "m₂ (L₁ L₂ cos θ₂ + L₂²)",
        "m₂ (L₁ L₂ cos θ₂ + L₂²)",
        "m₂ L₂²",
    ]
    assert [text(found, x) for x in found.C] == [
        "−m₂ L₁ L₂ θ̇₂ sin θ₂",
        "−m₂ L₁ L₂ (θ̇₁ + θ̇₂) sin θ₂",
        "m₂ L₁ L₂ θ̇₁ sin θ₂",
        "0",
    ]
    assert text(found, found.g[0]) == "(m₁ + m₂) g L₁ cos θ₁ + m₂ g L₂ cos(θ₁ + θ₂)"
    assert "where m₁ = 1.3 kg, m₂ = 0.8 kg, g = 9.81 m/s², L₁ = 0.9 m, L₂ = 0.6 m" in str(found)
    assert repr(found) == "<Equations of 'planar2r': 2 degrees of freedom, 5 symbols; print() shows them>"


@pytest.mark.parametrize("at_centres", [False, True])
def test_the_planar_2r_with_extended_links_wherever_its_frames_are(at_centres):
    found = equations(general_2r(at_centres=at_centres))
    assert text(found, found.M[0, 0]) == "m₁ r₁² + m₂ (L₁² + 2 L₁ r₂ cos q₂ + r₂²) + I₁ + I₂"
    assert text(found, found.M[0, 1]) == "m₂ (L₁ r₂ cos q₂ + r₂²) + I₂"
    assert_agrees(found, general_2r(at_centres=at_centres))


def symbolic_twist_tools():
    """Ad, ad and spatial inertia in SymPy, from their definitions [PBP95, §2, (21)]."""

    def hat(w):
        return sympy.Matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])

    def adjoint(R, p):
        return sympy.Matrix(sympy.BlockMatrix([[R, sympy.zeros(3, 3)], [hat(p) * R, R]]))

    def bracket(V, W):
        return sympy.Matrix([*(hat(V[:3]) * W[:3, :]), *(hat(V[3:]) * W[:3, :] + hat(V[:3]) * W[3:, :])])

    def inertia(m, r, moments):
        I = sympy.diag(*moments) - m * hat(r) ** 2
        return sympy.Matrix(sympy.BlockMatrix([[I, m * hat(r)], [-m * hat(r), m * sympy.eye(3)]]))

    return adjoint, bracket, inertia


def test_parks_general_2r():
    """PBP95 (60)–(64) with E001-9, for axes that meet at a right angle and for parallel ones: c11 = u ẋ2,
    c12 = u ẋ1 + w ẋ2, c21 = −u ẋ1, c22 = 0.
    """
    adjoint, bracket, inertia = symbolic_twist_tools()
    for axis in (Z, (0.0, 1.0, 0.0)):
        bodies = [
            torsor.Inertia(m, (r, 0, 0), np.diag(I)) for m, r, I in ((1.3, 0.4, (1, 2, 2.5)), (0.8, 0.3, (3, 2, 4)))
        ]
        joints = [
            torsor.Joint(name="a", kind="revolute", axis=Z, inertia=bodies[0]),
            torsor.Joint(name="b", kind="revolute", parent="a_link", axis=axis, inertia=bodies[1],
                         pose=torsor.pose_from((0.9, 0.0, 0.0))),
        ]  # fmt: skip
        found = equations(torsor.assemble(joints, gravity=(0.0, 0.0, 0.0)))
        s = {name: x.symbol for name, x in found.symbols.items()}
        # which moments occur depends on the axis; one that is alone has no suffix
        moments = [[s.get(f"I_{i}{k}", s.get(f"I_{i}", 0)) for k in ("xx", "yy", "zz")] for i in (1, 2)]
        G1 = inertia(s["m_1"], sympy.Matrix([s["r_1"], 0, 0]), moments[0])
        G2 = inertia(s["m_2"], sympy.Matrix([s["r_2"], 0, 0]), moments[1])
        A1 = sympy.Matrix([0, 0, 1, 0, 0, 0])
        A2 = sympy.Matrix([*map(int, axis), 0, 0, 0])
        x2 = found.q[1]
        c, d = sympy.cos(x2), sympy.sin(x2)
        R = sympy.Matrix([[c, -d, 0], [d, c, 0], [0, 0, 1]] if axis == Z else [[c, 0, d], [0, 1, 0], [-d, 0, c]])
        Ad = adjoint(R.T, -R.T * sympy.Matrix([s["L_1"], 0, 0]))  # Ad of T_21: frame 1 to frame 2
        one = Ad * A1
        turned = bracket(one, A2)  # Ad preserves the bracket: Ad_2^2 [A1, A2] with both seen from frame 2
        u, w = (turned.T * G2 * one)[0], (turned.T * G2 * A2)[0]
        M = [(A1.T * G1 * A1 + one.T * G2 * one)[0], (one.T * G2 * A2)[0], (A2.T * G2 * A2)[0]]
        for wanted, entry in zip(M, (found.M[0, 0], found.M[0, 1], found.M[1, 1]), strict=True):
            assert same(entry, wanted)
        v1, v2 = found.v
        for wanted, entry in zip((u * v2, u * v1 + w * v2, -u * v1, sympy.Integer(0)), found.C, strict=True):
            assert same(entry, wanted)


def test_pendulum_and_cart_pole():
    found = equations(torsor.robots.pendulum())
    assert text(found, found.tau[0]) == "m₁ L₁² q̈₁ + m₁ g L₁ cos q₁"
    found = equations(
        torsor.robots.cart_pole(), symbols={"m_1": "M", "m_2": "m", "L_2": "l"}, coordinates=["x", "theta"]
    )
    assert text(found, found.tau[0]) == "(M + m) ẍ + m l θ̈ cos θ − m l θ̇² sin θ"
    assert text(found, found.tau[1]) == "m l ẍ cos θ + m l² θ̈ + m g l sin θ"


def test_c_is_the_christoffel_matrix_of_m():
    """LP Prop. 9.1: Ṁ − 2C is skew, identically."""
    found = equations(torsor.robots.chain(2))
    rate = sum((found.M.diff(q) * v for q, v in zip(found.q, found.v, strict=True)), sympy.zeros(2, 2))
    N = rate - 2 * found.C
    assert all(same(N[i, j], -N[j, i]) for i in range(2) for j in range(2))


# Names


def test_expressions_instead_of_symbols():
    L, k = sympy.symbols("L_1 k")
    robot = torsor.robots.planar_chain([0.5], [2.0])
    rod = torsor.Inertia(2.0, (0.25, 0.0, 0.0), np.diag([0.0, 2.0 * 0.5**2 / 12, 2.0 * 0.5**2 / 12]))
    robot = robot.with_inertia("link_1", rod)
    found = equations(robot, symbols={"r_1": L / 2, "I_1": sympy.Symbol("m_1") * L**2 / 12})
    assert text(found, found.M[0, 0]) == "1/3 m₁ L₁²"  # a rod about its end
    assert found.symbols["L_1"].value == pytest.approx(0.5)
    assert_agrees(found, robot)
    found = equations(robot, symbols={"I_1": sympy.Symbol("m_1") * k**2, "g": 9.81})  # radius of gyration
    assert found.symbols["k"].value == pytest.approx(0.5 / 12**0.5)
    assert "g" not in found.symbols
    assert_agrees(found, robot)


def test_equal_numbers_may_share_a_name_and_others_may_not():
    robot = torsor.robots.planar2r()
    found = equations(robot, symbols={"m_1": "m", "m_2": "m", "L_1": "L", "L_2": "L"})
    assert text(found, found.M[0, 0]) == "m L² (3 + 2 cos q₂)"
    with pytest.raises(torsor.TorsorError, match="m_2 is 2 kg for this robot, but m is 1"):
        equations(torsor.robots.planar2r(masses=(1, 2)), symbols={"m_1": "m", "m_2": "m"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symbols": {"m_3": "m"}}, "has no symbol 'm_3'; nearest: 'm_"),
        ({"symbols": {"m_1": "2 m"}}, "'2 m' is not a name"),
        ({"symbols": {"m_1": "q_1"}}, "already that of a coordinate"),
        ({"symbols": {"m_1": sympy.Symbol("a") * sympy.Symbol("b")}}, "more than one symbol without a value: a, b"),
        ({"symbols": {"m_1": -(sympy.Symbol("a") ** 2)}}, "no a makes -a"),
        ({"symbols": {"m_1": sympy.sqrt(sympy.Symbol("a"))}}, "not a polynomial"),
        ({"symbols": {"m_1": "m"}, "numbers": True}, "contradict"),
        ({"coordinates": ["x"]}, "2 different names"),
        ({"coordinates": ["x", "xdot"]}, "must not end in 'dot'"),
        ({"coordinates": ["x", "xd"]}, "rate of 'xd' would read as another's"),
        ({"coordinates": 3}, "must be a name"),
        ({"coordinates": "m"}, "already that of a coordinate"),
        ({"symbols": {"m_1": sympy.Symbol("qdot_1")}}, "must not end in 'dot'"),
        ({"symbols": {"m_1": "L_1"}}, r"L_1 would stand for m_1 \(kg\) and for L_1 \(m\)"),
        ({"symbols": {"m_1": "_m"}}, "'_m' is not a name"),
        ({"symbols": {"m_1": sympy.Symbol("x y")}}, "'x y' is not a name"),
        ({"symbols": {"m_1": "m²"}}, "'m²' is not a name"),
        ({"symbols": {"m_1": "1"}}, "'1' is not a name"),
        ({"symbols": {"m_1": ""}}, "'' is not a name"),
        ({"symbols": {"m_1": None}}, "a name, a SymPy expression or the robot's own number, not None"),
        ({"symbols": {"m_1": True}}, "own number, not True"),
        ({"symbols": {"m_1": "a", sympy.Symbol("m_1"): "b"}}, "says twice what m_1"),
        ({"symbols": ["m_1"]}, "must be a dict"),
        ({"symbols": {"L_2": float("nan")}}, "L_2 is 1 m for this robot, nan is no such number"),
        ({"symbols": {"L_2": float("inf")}}, "is no such number"),
        ({"symbols": {"L_2": sympy.I}}, "is no such number"),
        ({"symbols": {"L_2": sympy.Symbol("a") * float("nan")}}, "is no such number|no a makes"),
    ],
)
def test_what_is_refused_says_why(options, message):
    with pytest.raises(torsor.TorsorError, match=message):
        equations(torsor.robots.planar2r(), **options)


@pytest.mark.parametrize("robot", ["planar2r", None, torsor.robots.planar2r])
def test_only_robots_have_equations(robot):
    with pytest.raises(torsor.TorsorError, match=r"must be a torsor\.Robot.*torsor\.robots\.planar2r\(\)"):
        equations(robot)


def rubbing() -> torsor.Robot:
    extras = {"armature": 0.1, "viscous_friction": 0.2, "coulomb_friction": 0.3}
    body = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    joints = [
        torsor.Joint(name="a", kind="prismatic", axis=Z, inertia=body, **extras),
        torsor.Joint(name="b", kind="revolute", axis=Z, parent="a_link", inertia=body, **extras),
    ]
    return torsor.assemble(joints, gravity=DOWN)


def test_names_of_friction_are_names_like_others():
    robot = rubbing()
    with pytest.raises(torsor.TorsorError, match=r"b_1 would stand for m_1 \(kg\) and for b_1 \(N·s/m\)"):
        equations(robot, symbols={"m_1": "b_1"})
    with pytest.raises(torsor.TorsorError, match="already that of a coordinate"):
        equations(robot, coordinates="b")
    found = equations(robot, symbols={"b_1": "d", "f_2": 0.3, sympy.Symbol("b_2"): 2 * sympy.Symbol("e")})
    assert text(found, found.friction[0]) == "d q̇₁ + f₁ sign q̇₁"
    assert found.symbols["e"] == (sympy.Symbol("e"), 0.1, "N·m·s")  # the unit of b_2, which it is a multiple of
    assert [found.symbols[name].unit for name in ("J_1", "J_2", "d", "f_1")] == ["kg", "kg·m²", "N·s/m", "N"]
    assert_agrees(found, robot)
    found = equations(robot.with_coulomb_width(0.1))
    assert text(found, found.friction[1]) == "b₂ q̇₂ + f₂ tanh(10 q̇₂)"


def test_symbols_of_one_name_are_one_symbol():
    L = sympy.Symbol("L_1", positive=True)
    robot = torsor.robots.planar2r(masses=(1.3, 0.8), lengths=(0.9, 0.45))
    found = equations(robot, symbols={"L_2": L / 2}, coordinates=sympy.symbols("x theta", real=True))
    assert found.symbols["L_1"] == (L, 0.9, "m")
    assert found.q == sympy.symbols("x theta", real=True)
    assert_agrees(found, robot)
    with pytest.raises(torsor.TorsorError, match=r"m_2 is 0\.8 kg for this robot, but m is 1\.3"):
        equations(robot, symbols={"m_1": sympy.Symbol("m", positive=True), "m_2": sympy.Symbol("m")})


def test_equations_are_pickled_after_use():
    found = book_2r()
    state = np.ones((3, 2))
    expected = found.evaluate(*state)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).evaluate(*state), expected)
    assert {type(x.value) for x in found.symbols.values()} == {float}


def test_robots_that_are_too_large_or_not_of_one_number_per_joint():
    with pytest.raises(torsor.TorsorError, match=r"7 degrees of freedom.*robot\.lock.*force=True"):
        equations(torsor.robots.panda())
    with pytest.raises(torsor.TorsorError, match=r"needs 53 symbols.*numbers=True"):
        equations(_lettered())
    ball = torsor.assemble([torsor.Joint(name="ball", kind="spherical", inertia=torsor.Inertia.point(1.0, (1, 0, 0)))])
    with pytest.raises(torsor.ModelError, match=r"velocity is not the rate of a coordinate: ball \(spherical\)"):
        equations(ball)
    long = torsor.robots.planar_chain([1.0] * 5, [0, 0, 0, 0, 1.0])
    assert_agrees(equations(long, force=True, numbers=True), long)


def _lettered() -> torsor.Robot:
    rng = np.random.default_rng(0)
    joints = []
    for k in range(4):
        A = rng.normal(size=(3, 3))
        joints.append(
            torsor.Joint(
                name=f"j{k}",
                kind="revolute",
                parent="base" if k == 0 else f"j{k - 1}_link",
                axis=Z,
                pose=torsor.pose_from(rng.normal(size=3)),
                inertia=torsor.Inertia(1.0, rng.normal(size=3), A @ A.T),
            )
        )
    return torsor.assemble(joints)


# Print


def test_simple_roots_are_recognised():
    body = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    joint = torsor.Joint(name="a", kind="revolute", axis=Z, pose=torsor.pose_from(rpy=(np.pi / 6, 0, 0)), inertia=body)
    found = equations(torsor.assemble([joint]))
    assert text(found, found.g[0]) == "1/2 m₁ g r₁ cos q₁"
    joint = torsor.Joint(name="a", kind="revolute", axis=Z, pose=torsor.pose_from(rpy=(np.pi / 3, 0, 0)), inertia=body)
    found = equations(torsor.assemble([joint]))
    assert text(found, found.g[0]) == "1/2 √3 m₁ g r₁ cos q₁"
    assert Latex(list(found.order)).expression(found.g[0]) == r"\frac{1}{2} \sqrt{3} m_{1} g r_{1} \cos q_{1}"


def test_arguments_of_functions():
    x, y = sympy.symbols("x y")
    notation = Text([x, y])
    printed = [sympy.sin(x / 2), sympy.sin(3 * x / 2), sympy.cos(x / 2 + y), sympy.cos(2 * x), sympy.cos(1.5 * x)]
    wanted = ["sin(x/2)", "sin(3x/2)", "cos(x/2 + y)", "cos 2x", "cos(1.5x)"]
    assert [notation.expression(e) for e in printed] == wanted
    assert Latex([x]).expression(sympy.sin(x / 2)) == r"\sin(\frac{1}{2} x)"


def test_names_with_several_underscores(tmp_path):
    assert [Latex([]).symbol(name) for name in ("Alpha", "OMEGA_1")] == [r"\mathrm{A}", r"\Omega_{1}"]
    found = equations(torsor.robots.pendulum(), symbols={"m_1": "m_a_b_c"})
    assert text(found, found.M[0, 0]) == "m_a_b_c L₁²"
    assert r"M_{11} &= m_{a,b,c} L_{1}^{2}" in found.latex()
    assert "<mn>a,b,c</mn>" in found._repr_html_()
    with pytest.raises(torsor.TorsorError, match="to_html: cannot write"):
        found.to_html(tmp_path / "missing" / "e.html")
    pytest.importorskip("matplotlib")
    assert found.to_png(tmp_path / "e.png", dpi=40).stat().st_size > 0
    with pytest.raises(torsor.TorsorError, match="to_png: cannot write"):
        found.to_png(tmp_path / "missing" / "e.png")


def test_latex_html_and_png(tmp_path):
    found = book_2r()
    latex = found.latex()
    assert r"M_{11} &= m_{1} L_{1}^{2} + m_{2} (L_{1}^{2} + 2 L_{1} L_{2} \cos \theta_{2} + L_{2}^{2}) \\" in latex
    assert r"c_{2} &= m_{2} L_{1} L_{2} \dot{\theta}_{1}^{2} \sin \theta_{2}" in latex
    assert latex.count("{") == latex.count("}")
    assert found._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")
    page = found.to_html(tmp_path / "equations.html").read_text(encoding="utf-8")
    root = ElementTree.fromstring(page.split("\n", 1)[1].replace("<meta charset='utf-8'>", ""))  # well formed
    assert len(root.findall(".//mtr")) >= 13
    assert "<script" not in page
    pytest.importorskip("matplotlib")
    picture = found.to_png(tmp_path / "equations.png", dpi=60)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(torsor.TorsorError, match="writes PNG files"):
        found.to_png(tmp_path / "equations.pdf")


def test_long_equations_are_broken_into_lines(tmp_path):
    found = equations(torsor.robots.chain(3))
    assert max(map(len, str(found).splitlines())) <= 110
    ElementTree.fromstring(f"<p>{found._repr_html_()}</p>")
    pytest.importorskip("matplotlib")
    assert found.to_png(tmp_path / "chain3.png", dpi=40).stat().st_size > 0


def test_missing_libraries_are_named(monkeypatch, tmp_path):
    import sys

    found = equations(torsor.robots.pendulum())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(torsor.TorsorError, match=r"pip install 'torsor\[plot\]'"):
        found.to_png(tmp_path / "equations.png")
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(torsor.TorsorError, match=r"pip install 'torsor\[sympy\]'"):
        equations(torsor.robots.pendulum())


def test_evaluate_checks_its_shapes():
    with pytest.raises(torsor.ShapeError, match=r"`v` must have shape \(\.\.\., 2\), got \(3,\)"):
        book_2r().evaluate(np.zeros(2), np.zeros(3), np.zeros(2))
    with pytest.raises(torsor.ShapeError, match="`q` must be numbers"):
        book_2r().evaluate("ab", np.zeros(2), np.zeros(2))
    with pytest.raises(torsor.ShapeError, match=r"`a` must have shape \(\.\.\., 2\), got \(\)"):
        book_2r().evaluate(np.zeros(2), np.zeros(2), None)
    with pytest.raises(torsor.ShapeError, match="same leading shape"):
        book_2r().evaluate(np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2))
