"""Christoffel symbols and curvature in closed form: the same numbers as the algorithms, the same terms as the textbooks."""

import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

import torsor
from torsor.cli.main import main
from torsor.symbolic import equations
from torsor.symbolic.geometry import Geometry
from torsor.symbolic.notation import Latex, Text

sympy = pytest.importorskip("sympy")

X, Y, Z = np.eye(3)


def text(found: Geometry, expression) -> str:
    return Text(list(found.order)).expression(expression).replace("\x1f", "").replace("\x1e", "")


def of(robot: torsor.Robot, **options) -> Geometry:
    return equations(robot, **options).geometry


def extended_2r() -> torsor.Robot:
    """Two links with extent in the plane."""
    bodies = [
        torsor.Inertia(m, (r, 0, 0), np.diag([0.01, 0.05, I])) for m, r, I in ((1.3, 0.4, 0.07), (0.8, 0.25, 0.03))
    ]
    screws = np.array([torsor.lie.screw(Z, np.zeros(3)), torsor.lie.screw(Z, 0.9 * X)])
    homes = np.array([np.eye(4), torsor.pose_from((0.9, 0, 0))])
    return torsor.serial_chain(screws, homes, bodies)


def joints(*parts) -> torsor.Robot:
    """A chain of (kind, axis, place, body)."""
    return torsor.assemble([
        torsor.Joint(
            name=f"j{k}", kind=kind, axis=axis, parent=f"j{k - 1}_link" if k else "base", inertia=body,
            pose=torsor.pose_from(place), pitch=0.2 if kind == "helical" else 0.0, armature=0.1 if k == 1 else 0.0,
        )
        for k, (kind, axis, place, body) in enumerate(parts)
    ])  # fmt: skip


BODY = torsor.Inertia(1.2, (0.3, 0.1, 0.0), np.diag([0.1, 0.2, 0.25]))
ROBOTS = {
    "one joint": (torsor.robots.pendulum(), {}),
    "planar 2R": (extended_2r(), {}),
    "planar 2R in numbers": (extended_2r(), {"numbers": True}),
    "planar 3R": (torsor.robots.planar_chain([1.0, 0.8, 0.6], [1.0, 1.2, 0.7]), {}),
    "spatial 2R": (joints(("revolute", Z, (0, 0, 0), BODY), ("revolute", Y, (0.5, 0, 0.1), BODY)), {}),
    "prismatic and helical": (joints(("prismatic", X, (0, 0, 0), BODY), ("helical", Z, (0.5, 0, 0), BODY)), {}),
    "spatial 3R in numbers": (
        joints(
            ("revolute", Z, (0, 0, 0), BODY), ("revolute", Y, (0.5, 0, 0.1), BODY), ("revolute", (0.6, 0, 0.8), (0.3, 0, 0), BODY)
        ),
        {"numbers": True},
    ),
}  # fmt: skip


def same(a, b) -> bool:
    """Equal as functions: exactly so at random fractions, with the sine and cosine of half-angles that are fractions."""
    difference = sympy.expand_trig(a - b)
    rng = np.random.default_rng(5)
    for _ in range(3):
        at = {s: sympy.Rational(int(rng.integers(1, 40)), 7) for s in sorted(difference.free_symbols, key=str)}
        t = sympy.Rational(int(rng.integers(1, 9)), 11)
        turned = {
            f: {sympy.sin: 2 * t, sympy.cos: 1 - t**2}[f.func] / (1 + t**2)
            for f in difference.atoms(sympy.sin, sympy.cos)
        }
        if difference.xreplace(turned).xreplace(at) != 0:  # there is one angle only
            return False
    return True


def numbers(found: Geometry, array, q):
    at = [*found.q, *(x.symbol for x in found.symbols.values())]
    values = [*q, *(x.value for x in found.symbols.values())]
    return np.array(sympy.lambdify(at, sympy.flatten(array), "numpy", cse=True)(*values), float).reshape(array.shape)


@pytest.mark.parametrize("name", ROBOTS)
def test_closed_forms_have_the_numbers_of_the_algorithms(name):
    robot, options = ROBOTS[name]
    found = of(robot, **options)
    with torsor.backend("numpy"):
        for q in np.random.default_rng(3).normal(size=(3, robot.nv)):
            Gamma, R = torsor.geometry.christoffel_symbols(robot, q), torsor.geometry.riemann_curvature(robot, q)
            np.testing.assert_allclose(
                numbers(found, found.Gamma, q), Gamma, rtol=0, atol=1e-12 * max(1, np.abs(Gamma).max())
            )
            np.testing.assert_allclose(numbers(found, found.R, q), R, rtol=0, atol=1e-10 * max(1, np.abs(R).max()))
            if robot.nv == 2:
                K = torsor.geometry.sectional_curvature(robot, q, X[:2], Y[:2])
                np.testing.assert_allclose(numbers(found, sympy.Array([found.K]), q), [K], rtol=1e-10, atol=1e-12)


def test_they_are_those_of_the_printed_mass_matrix():
    """By SymPy's derivatives and inverse of M, with the textbook's formula: nothing of ours but M."""
    written = equations(extended_2r())
    found, M, q = written.geometry, sympy.Matrix(written.M), written.q
    n, inverse = 2, sympy.Matrix(written.M).inv()

    def first(i, j, k):
        return (M[k, j].diff(q[i]) + M[k, i].diff(q[j]) - M[i, j].diff(q[k])) / 2

    for i, j, k in np.ndindex(n, n, n):
        assert same(found.Gamma[i, j, k], first(i, j, k))
    R = first(1, 1, 0).diff(q[0]) - first(1, 0, 0).diff(q[1])  # R_1212
    for r, s in np.ndindex(n, n):
        R += inverse[r, s] * (first(0, 1, r) * first(1, 0, s) - first(0, 0, r) * first(1, 1, s))
    assert same(found.R[0, 1, 0, 1], R) and not same(found.R[0, 1, 0, 1], 2 * R)
    assert same(found.K, R / M.det())


def test_the_curvature_of_a_planar_2r_is_its_closed_form():
    """K = b cos q₂ (a c − b² − c²) / det² with M = (a + 2 b cos q₂, c + b cos q₂; ·, c)."""
    written = equations(extended_2r())
    s = {name: x.symbol for name, x in written.symbols.items()}
    m1, m2, I1, I2, L, r1, r2 = (s[name] for name in ("m_1", "m_2", "I_1", "I_2", "L_1", "r_1", "r_2"))
    a, b, c = m1 * r1**2 + I1 + m2 * (L**2 + r2**2) + I2, m2 * L * r2, m2 * r2**2 + I2
    det = a * c - c**2 - b**2 * sympy.cos(written.q[1]) ** 2
    assert same(written.geometry.K, b * sympy.cos(written.q[1]) * (a * c - b**2 - c**2) / det**2)


def test_how_small_robots_are_printed():
    found = of(torsor.robots.planar2r(masses=(1.3, 0.8), lengths=(0.9, 0.6)))
    assert text(found, found.K) == "m₁ cos q₂ / (L₁ L₂ (m₁ + m₂ sin² q₂)²)"
    assert str(found).splitlines()[:8] == [
        "planar2r: c_k = Σ Γ_ijk q̇_i q̇_j, R_ijkl = −R_jikl = −R_ijlk, other entries are zero",
        "",
        "Γ₁₂₁ = Γ₂₁₁ = −m₂ L₁ L₂ sin q₂",
        "Γ₂₂₁ = −m₂ L₁ L₂ sin q₂",
        "Γ₁₁₂ = m₂ L₁ L₂ sin q₂",
        "",
        "R₁₂₁₂ = m₁ m₂ L₁ L₂ cos q₂ / (m₁ + m₂ sin² q₂)",
        "",
    ]
    assert "where m₁ = 1.3 kg, m₂ = 0.8 kg, L₁ = 0.9 m, L₂ = 0.6 m" in str(found)  # and no g, which is not in M
    assert Latex(list(found.order)).expression(found.K) == (
        r"\frac{m_{1} \cos q_{2}}{L_{1} L_{2} (m_{1} + m_{2} \sin^{2} q_{2})^{2}}"
    )
    assert r"\Gamma_{121} = \Gamma_{211} &= -m_{2} L_{1} L_{2} \sin q_{2}" in found.latex()
    assert repr(found) == "<Geometry of 'planar2r': 2 degrees of freedom, 4 symbols; print() shows it>"


def test_a_point_on_a_sphere_and_a_point_in_the_plane():
    massless = torsor.Inertia.zero()
    sphere = torsor.assemble([
        torsor.Joint(name="a", kind="revolute", axis=Z, inertia=massless),
        torsor.Joint(name="b", kind="revolute", axis=Y, parent="a_link", inertia=torsor.Inertia.point(1.5, (0.7, 0, 0))),
    ])  # fmt: skip
    found = of(sphere)
    assert text(found, found.K) == "1 / (m₂ r₂²)"
    polar = torsor.assemble([
        torsor.Joint(name="turn", kind="revolute", axis=Z, inertia=massless),
        torsor.Joint(name="slide", kind="prismatic", axis=X, parent="turn_link", inertia=torsor.Inertia.point(1.5)),
    ])  # fmt: skip
    found = of(polar)
    assert found.K == 0 and not any(sympy.flatten(found.R))
    assert "R = 0" in str(found) and "K = 0" in str(found)
    assert text(found, found.Gamma[0, 0, 1]) == "−m₂ q₂"


def test_cart_pole_is_flat_and_one_joint_has_no_plane():
    assert of(torsor.robots.cart_pole()).K == 0
    pendulum = of(torsor.robots.pendulum())
    assert pendulum.R.shape == (1, 1, 1, 1) and not any(sympy.flatten(pendulum.R))
    assert "Γ and R = 0" in str(pendulum)
    with pytest.raises(torsor.TorsorError, match=r"1 degrees of freedom, and K is the curvature of two.*robot\.lock"):
        _ = pendulum.K


def test_fractions_are_collected_and_coupled_joints_are_one():
    same = equations(torsor.robots.planar2r(), symbols={"m_1": "m", "m_2": "m", "L_1": "L", "L_2": "L"}).geometry
    assert text(same, same.K) == "4 cos q₂ / (m L² (3 − cos 2q₂)²)"
    point = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    robot = torsor.assemble([
        torsor.Joint(name="a", kind="revolute", screw=(0, 0, 2.0, 0, 0, 0), inertia=point),
        torsor.Joint(name="b", kind="revolute", parent="a_link", axis=Z, pose=torsor.pose_from((0.7, 0, 0)), inertia=point),
        torsor.Joint(name="c", kind="revolute", parent="b_link", axis=Z, pose=torsor.pose_from((0.7, 0, 0)), inertia=point,
                     mimic=torsor.Mimic("a", -1.0, 0.3)),
    ])  # fmt: skip
    found, q = of(robot), np.array([0.3, 0.7])
    with torsor.backend("numpy"):
        K = torsor.geometry.sectional_curvature(robot, q, X[:2], Y[:2])
    np.testing.assert_allclose(numbers(found, sympy.Array([found.K]), q), [K], rtol=1e-10)


def test_a_mass_matrix_that_is_singular_everywhere_has_no_curvature():
    bodies = (torsor.Inertia.zero(), torsor.Inertia.point(1.0, (0.5, 0, 0)))
    coaxial = torsor.assemble([
        torsor.Joint(name="a", kind="revolute", axis=Z, inertia=bodies[0]),
        torsor.Joint(name="b", kind="revolute", axis=Z, parent="a_link", inertia=bodies[1]),
    ])  # fmt: skip
    found = of(coaxial)
    assert not any(sympy.flatten(found.Gamma))
    with pytest.raises(torsor.TorsorError, match=r"singular wherever it is.*mass_matrix_report"):
        _ = found.K


def test_nothing_is_worked_out_before_it_is_asked_for(monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("torsor.symbolic.geometry.Metric.curvature", never)
    written = equations(torsor.robots.planar2r())
    assert str(written) and written.geometry.Gamma[0, 0, 1] != 0


def test_what_is_too_long_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("torsor.symbolic.geometry.MOST_PRODUCTS", 10)
    found = of(extended_2r())
    assert found.Gamma.shape == (2, 2, 2)
    with pytest.raises(
        torsor.TorsorError, match=r"curvature of robot 'chain' .* too long.*numbers=True.*riemann_curvature"
    ):
        _ = found.R


def test_pickles_pages_and_pictures(tmp_path):
    found = of(extended_2r())
    again = pickle.loads(pickle.dumps(found))
    assert again.K == found.K
    page = of(torsor.robots.planar2r()).to_html(tmp_path / "geometry.html").read_text(encoding="utf-8")
    ElementTree.fromstring(page.split("\n", 1)[1].replace("<meta charset='utf-8'>", ""))
    assert "<mfrac>" in page and "Christoffel symbols and curvature of" in page
    assert found.latex().count("{") == found.latex().count("}")
    long = of(torsor.robots.planar_chain([1.0, 0.8, 0.6], [1.0, 1.2, 0.7]))
    assert max(map(len, str(long).splitlines())) <= 110
    assert long.latex().count("{") == long.latex().count("}")
    ElementTree.fromstring(f"<p>{long._repr_html_()}</p>")
    pytest.importorskip("matplotlib")
    assert of(torsor.robots.planar2r()).to_png(tmp_path / "geometry.png", dpi=40).stat().st_size > 0


def test_the_command(capsys):
    assert main(["equations", "planar2r", "--geometry"]) == 0
    out = capsys.readouterr().out
    assert "K = m₁ cos q₂ / (L₁ L₂ (m₁ + m₂ sin² q₂)²)\n" in out and "τ₁" not in out
    assert main(["equations", "planar2r", "--geometry", "--latex"]) == 0
    assert r"K &= \frac{m_{1} \cos q_{2}}" in capsys.readouterr().out
