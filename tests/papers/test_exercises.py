"""Exercises accept what is right, refuse what is wrong and name it, and notebooks have exercises and a picture."""

import re
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor.papers import exercises

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
PAGES = sorted(path for path in NOTEBOOKS.glob("*.md") if path.name != "index.md")
NAMES = exercises.names()
SECTIONS = list(dict.fromkeys(name.partition("/")[0] for name in NAMES))


def cells(path):
    return re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def wrong_answers(task):
    """What common mistakes give, by what is said of them: functions where a function is asked for."""
    for words, wrong in task._problem.mistakes.items():
        yield words, wrong if task._recipe.signature else wrong()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_solutions_apart_pass_every_check_of_their_notebook(page):
    asked = set(re.findall(r'exercises\.exercise\("([^"]+)"', page.read_text(encoding="utf-8")))
    solutions = NOTEBOOKS / "solutions" / page.name
    solved = re.findall(r'assert exercises\.solves\("([^"]+)", (\w+)\)', solutions.read_text(encoding="utf-8"))
    assert {name for name, _ in solved} == asked
    seen = {}
    exec(compile("\n".join(cells(solutions)), solutions.name, "exec"), seen)  # its own asserts: seeds 0 to 4
    for name, function in solved:
        for seed in ("a student", 2**40):
            task = exercises.exercise(name, seed)
            verdict = task.check(seen[function](task.given))
            assert verdict, f"{name}: {verdict}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_exercises_and_ends_in_a_picture(page):
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"exercises\.exercise\(", text)) >= 3
    assert f"solutions/{page.name}" in text
    assert text.rindex("## To look at") > text.rindex("## Exercises")
    assert re.search(r"plt\.|torsor\.plot\.|torsor\.view\(", cells(page)[-1])
    assert re.search(r"\$\$.*?\(\d|\(\d+(\.\d+)?\)", text)  # equations with their numbers


def test_there_is_a_notebook_for_each_section_and_each_exercise_is_in_one():
    asked = {name for page in PAGES for name in re.findall(r'exercises\.exercise\("([^"]+)"', page.read_text("utf-8"))}
    assert asked == set(NAMES)
    assert len(PAGES) == len(SECTIONS)
    for section in SECTIONS:
        assert 2 <= len(exercises.names(section)) <= 4


@pytest.mark.parametrize("name", NAMES)
def test_common_mistakes_are_refused_and_named(name):
    for seed in range(3):
        task = exercises.exercise(name, seed)
        with torsor.backend("numpy"):
            for words, answer in wrong_answers(task):
                verdict = task.check(answer)
                assert not verdict
                assert words in str(verdict)


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_answer_is_refused_in_kind_without_any_number_of_the_answer(name):
    task = exercises.exercise(name, 3)
    with torsor.backend("numpy"):
        right = task._problem.right
        value = np.asarray(right(*task._problem.cases[0]), float)
        off = (lambda *case: 1.37 * np.asarray(right(*case))) if task._recipe.signature else 1.37 * value
        verdict = task.check(off)
    assert not verdict and task.expected in str(verdict)
    shown = {float(number) for number in re.findall(r"\d+\.\d+", str(verdict).replace(task.expected, ""))}
    assert not any(np.isclose(abs(value), number, rtol=1e-2).any() for number in shown - {0.001})
    shaped = (lambda *case: np.ones((7, 5))) if task._recipe.signature else np.ones((7, 5))
    assert "shape (7, 5)" in str(task.check(shaped))
    infinite = (lambda *case: np.full(value.shape, np.nan)) if task._recipe.signature else np.full(value.shape, np.nan)
    assert "not finite" in str(task.check(infinite))
    assert all(task.hint(k + 1) for k in range(len(task._recipe.hints)))


@pytest.mark.parametrize("name", NAMES)
def test_seeds_give_other_numbers_and_one_seed_always_the_same(name):
    def numbers(seed):
        task = exercises.exercise(name, seed)
        drawn = [x for x in vars(task.given).values() if isinstance(x, (float, np.ndarray))]
        cases = [x for case in task._problem.cases for x in case]
        return np.concatenate([np.ravel(x) for x in (*drawn, *cases)])

    assert not np.allclose(numbers(1), numbers(2))
    np.testing.assert_array_equal(numbers(1), numbers(1))
    with torsor.backend("numpy"):
        one, two = (exercises.exercise(name, seed)._problem for seed in (1, 2))
        assert not np.allclose(one.right(*one.cases[0]), two.right(*two.cases[0]))


def test_the_numbers_of_a_seed_are_decimals_chosen_by_integers():
    """Golden numbers: they come from Python's integers alone, whatever machine or NumPy it is."""
    given = exercises.exercise("9.1/energy", 1).given
    assert given.masses.tolist() == [1.78, 2.13]
    assert given.lengths.tolist() == [1.05, 0.62]
    assert given.theta_in_degrees.tolist() == [33.0, 130.0]
    assert exercises.exercise("9.1/energy", "1").given.masses.tolist() == [1.78, 2.13]  # typed or read from a list


def test_general_mistakes_are_named():
    task = exercises.exercise("1993/adjoint", 1)
    right = np.asarray(task._problem.right())
    assert "opposite sign" in str(task.check(-right))
    assert "(angular, linear)" in str(task.check(np.roll(right, 3)))
    assert "degrees" in str(task.check(np.degrees(right)))
    assert "look at [2]" in str(task.check(right + 5 * np.eye(6)[2]))
    assert str(right[2])[:5] not in str(task.check(right + 5 * np.eye(6)[2]))


def test_what_is_no_answer_is_told_in_words():
    task = exercises.exercise("9.1/mass_matrix", 1)
    with pytest.raises(torsor.ArgumentTypeError, match="must be the function itself"):
        task.check(np.eye(2))

    def fails(theta):
        raise ZeroDivisionError("division by zero")

    assert "raised ZeroDivisionError: division by zero" in str(task.check(fails))
    assert "no numbers" in str(exercises.exercise("9.1/energy", 1).check("many"))
    assert "Is a return missing?" in str(task.check(lambda theta: None))
    real = task._problem.right
    assert "complex" in str(task.check(lambda theta: real(theta) + 1j))
    with pytest.raises(torsor.ArgumentError, match="from 1 to 2"):
        task.hint(3)
    with pytest.raises(torsor.UnknownName, match=r"9\.1/energy"):
        exercises.exercise("9.1/enery", 1)
    with pytest.raises(torsor.UnknownName, match="section"):
        exercises.names("9.9")
    with pytest.raises(torsor.ArgumentTypeError, match="seed"):
        exercises.exercise("9.1/energy", 1.5)


def test_a_function_that_writes_into_its_arguments_changes_nothing():
    task = exercises.exercise("9.1/mass_matrix", 1)

    def careless(theta):
        theta += 100.0
        return np.zeros((2, 2))

    assert not task.check(careless)
    with torsor.backend("numpy"):
        assert task.check(task._problem.right)


def test_exercises_show_themselves():
    task = exercises.exercise("9.1/energy", 7)
    assert repr(task).startswith("Exercise(name='9.1/energy', seed=7") and "\n" not in repr(task)
    assert "<p>" in task._repr_html_() and "seed 7" in str(task)
    assert "<p>" in task.check(0.0)._repr_html_()
