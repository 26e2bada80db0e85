"""`torsor equations`: what is printed and written, and with which exit code."""

import pytest

from torsor.cli.main import main

pytest.importorskip("sympy")


def test_the_equations_of_a_textbook_robot(capsys):
    assert main(["equations", "planar2r"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "planar2r: τ = M(q) q̈ + C(q, q̇) q̇ + g(q), c = C q̇\n\nM₁₁ = m₁ L₁² + m₂ (L₁² + 2 L₁ L₂ cos q₂ + L₂²)\n"
    )


@pytest.mark.parametrize("name", ["pendulum", "cart_pole", "polar_arm", "planar3r", "spatial3r"])
def test_every_small_robot_has_equations(name, capsys):
    assert main(["equations", name]) == 0
    assert "τ₁ = " in capsys.readouterr().out


def test_options(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    page, picture = tmp_path / "e.html", tmp_path / "e.png"
    arguments = ["--coordinates", "x,theta", "--symbol", "m_2=m", "--latex", "--html", str(page), "--png", str(picture)]
    assert main(["equations", "cart_pole", *arguments]) == 0
    out = capsys.readouterr().out
    assert r"M_{12} = M_{21} &= m L_{2} \cos \theta \\" in out
    assert out.endswith(f"page: {page}\npicture: {picture}\n")
    assert page.stat().st_size > 0 and picture.stat().st_size > 0


def test_steps_and_tasks(tmp_path, capsys):
    page = tmp_path / "steps.html"
    assert main(["equations", "planar2r", "--steps", "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert (
        out.startswith("Equations of motion of planar2r, step by step\n\n1. Position")
        and "  𝓚₁ = 1/2 m₁ L₁² q̇₁²\n" in out
    )
    assert page.stat().st_size > 0
    assert main(["equations", "planar2r", "--task", "vx,vy", "--latex"]) == 0
    assert r"\Lambda_{11} &= " in capsys.readouterr().out
    assert main(["equations", "planar2r", "--steps", "--frame", "link_1"]) == 0
    assert "rotation R of frame link_1 in the base" in capsys.readouterr().out


def test_numbers(capsys):
    assert main(["equations", "planar2r", "--numbers"]) == 0
    assert "M₁₁ = 3 + 2 cos q₂\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["panda"], "7 degrees of freedom"),
        (["planar2r", "--symbol", "m_1"], "--symbol takes OLD=NEW"),
        (["planar2r", "--symbol", "m_7=m"], "has no symbol 'm_7'"),
        (
            ["planar2r", "--symbol", "m_1=exit()"],
            "'exit()' is neither a name, nor a number, nor an expression",
        ),
        (["planar2r", "--symbol", "m_1=2 m"], "'2 m' is neither a name"),
        (["planar2r", "--symbol", "m_1="], "'' is not a name"),
        (
            ["nope"],
            "cart_pole, iiwa, panda, pendulum, planar2r, planar3r, polar_arm, puma560, spatial3r, ur5.",
        ),
        (["planar_chain"], "nor a robot of that name: cart_pole"),
        (["pendulum", "--html", "/nowhere/e.html"], "to_html: cannot write /nowhere/e.html"),
        (["planar2r", "--task", "vx"], "2 different rows"),
        (["planar2r", "--task", ""], "has no row ''"),
        (["planar2r", "--frame", "tip"], "use it with --steps"),
        (["planar2r", "--steps", "--frame", "nope"], "has no frame 'nope'"),
    ],
)
def test_what_is_refused(arguments, message, capsys):
    assert main(["equations", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_expressions(capsys):
    assert main(["equations", "planar2r", "--symbol", "L_2=L_1", "--symbol", "m_2=2*m_1/2", "--symbol", "g=9.81"]) == 0
    assert "M₂₂ = m₁ L₁²\n" in capsys.readouterr().out


def test_a_picture_that_cannot_be_written(capsys):
    pytest.importorskip("matplotlib")
    assert main(["equations", "pendulum", "--png", "/nowhere/e.png"]) == 2
    assert capsys.readouterr().err.startswith("to_png: cannot write /nowhere/e.png")
