"""Names in generated source: whatever inputs, outputs and files are called, the numbers are right or the name is refused."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Graph, Op, Port, Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.print.names import Names, c_function, identifier, is_free_in_c, is_python_argument

ARM = torsor.robots.planar2r()
STRICT = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]
needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine; torsor needs none")

# names that are good in Python: keywords of C and C++, names of its library, names an emitter might use, letters C lacks
HOSTILE = [
    "int", "double", "new", "sin", "fabsf", "printf", "main", "NAN", "I", "j0", "k", "bad", "np", "batch", "results", "kernel",
    "t0", "t5", "t_5", "t40", "q_out", "int_in", "q_expected", "HOSTILE_H", "hostile", "_Q", "__x", "_", "τ", "Δq", "größe",
    "asarray", "q",
]  # fmt: skip


def mixed(names):
    """A program with an input and an output of every name: y_k = x_k x_{k+1} + x_0, so that any mix-up shows."""
    graph = Graph([Port(name, (2,) if k % 2 else ()) for k, name in enumerate(names)])
    starts = np.cumsum([0, *(port.size for port in graph.inputs)]).tolist()
    x, f = graph.input_nodes, graph.apply
    results, scale = [], graph.constant(0.25)
    for port, start in zip(graph.inputs, starts, strict=False):
        nodes = [f(Op.ADD, x[0], f(Op.MUL, x[start + j], x[(start + j + 1) % len(x)])) for j in range(port.size)]
        results.append(tuple(f(Op.MUL, scale, f(Op.SIN, node)) for node in nodes))
    return Program(graph, graph.inputs, tuple(results))


def example(program):
    generator = np.random.default_rng(1)
    return {port.name: generator.uniform(0.1, 1.0, port.shape) for port in program.graph.inputs}


def plain(program):
    """The same program with harmless names."""
    harmless = [Port(f"x{k}", port.shape) for k, port in enumerate(program.graph.inputs)]
    graph = Graph(harmless)
    graph.ops, graph.args, graph.values = program.graph.ops, program.graph.args, program.graph.values
    return Program(graph, tuple(harmless), program.results)


def run_self_test(folder, name):
    sources = [str(folder / f"{name}.c"), str(folder / f"{name}_test.c")]
    subprocess.run([*STRICT, *sources, "-lm", "-o", str(folder / "run")], check=True)
    done = subprocess.run([str(folder / "run")], capture_output=True, text=True, check=False)
    assert done.stdout == f"{name}: 0 wrong\n"


def test_numpy_source_has_the_right_numbers_whatever_names_are():
    program = mixed(HOSTILE)
    given = example(program)
    seen = {}
    exec(Kernel("hostile", program).to_numpy(), seen)
    got = seen["kernel"](**given)  # by name: they are kept
    want = emit_numpy.build(plain(program))(*given.values())
    assert list(got) == HOSTILE
    for mine, theirs in zip(got.values(), want.values(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@needs_c
@pytest.mark.parametrize("real", ["double", "float"])
def test_c_has_the_right_numbers_whatever_names_are(tmp_path, real):
    kernel = Kernel("hostile", mixed(HOSTILE))
    kernel.to_c(tmp_path / "hostile.c", real=real)
    run_self_test(tmp_path, "hostile")
    header = (tmp_path / "hostile.h").read_text(encoding="utf-8")
    assert "The input int is called int_in_2 in C." in header  # int_in is another input
    assert "The input τ is called tau_in in C." in header
    assert "The output k is called k_out in C." in header


def test_temporaries_do_not_meet_an_input_of_their_name():
    """The kernel of a gain called t6 was wrong where llvmlite is missing."""

    def f(robot, q, t6):
        return {"y": torsor.mass_matrix(robot, q) @ q * t6 + t6}

    kernel = torsor.compile(f, ARM, {"q": 2, "t6": ()})
    seen = {}
    exec(kernel.to_numpy(), seen)
    q = np.array([0.3, 0.4])
    expected = f(ARM, q, 2.0)["y"]
    np.testing.assert_allclose(seen["kernel"](q, 2.0)["y"], expected, rtol=1e-12)
    np.testing.assert_allclose(seen["kernel"]([0.3, 0.4], t6=2)["y"], expected, rtol=1e-12)  # numbers and lists as well


@needs_c
def test_a_step_function_returns_its_state_by_the_same_names(tmp_path):
    """And may be called in place in C, also if outputs are inputs unchanged or exchanged."""
    kernel = torsor.compile(lambda robot, q, v: {"q": v, "v": q, "w": v + 1.0}, ARM, {"q": 2, "v": 2})
    q, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_array_equal(kernel(q, v=v)["q"], v)
    kernel.to_c(tmp_path / "swap.c")
    assert "void swap(const double q[2], const double v[2], double q_out[2], double v_out[2], double w[2]);" in (
        tmp_path / "swap.h"
    ).read_text(encoding="utf-8")
    main = """#include "swap.h"
    int main(void) { double q[] = {1, 2}, v[] = {3, 4}, w[2]; swap(q, v, q, v, w);
    return !(q[0] == 3 && q[1] == 4 && v[0] == 1 && v[1] == 2 && w[1] == 5); }"""
    (tmp_path / "main.c").write_text(main)
    subprocess.run(["cc", str(tmp_path / "main.c"), str(tmp_path / "swap.c"), "-o", str(tmp_path / "run")], check=True)
    assert subprocess.run([str(tmp_path / "run")], check=False).returncode == 0


GOOD_FUNCTIONS = ["M", "q", "k", "bad", "t3", "M_out", "q_expected", "controller", "_step", "Q_H"]
REFUSED = {
    "is a keyword of C": ["int", "float", "double", "new", "inline", "bool"],
    "is a name of the C library": [
        "main",
        "sin",
        "sinf",
        "printf",
        "NAN",
        "M_PI",
        "read",
        "linux",
        "_Bool",
        "__x",
        "j0",
    ],
    "a header of the C library": ["math", "stdio", "string"],
    "is no C identifier": ["arm-id", "a b", "9arm", "größe", "x;", "a\nb", "τ"],
}


@needs_c
def test_a_file_may_have_the_name_of_an_input_an_output_or_a_variable(tmp_path):
    kernel = torsor.compile(lambda robot, q, k: {"M": k * torsor.mass_matrix(robot, q)}, ARM, {"q": 2, "k": ()})
    for name in GOOD_FUNCTIONS:
        kernel.to_c(tmp_path / name)
    sources = [str(tmp_path / f"{name}{kind}.c") for name in GOOD_FUNCTIONS for kind in ("", "_test")]
    subprocess.run([*STRICT, "-fsyntax-only", *sources], check=True)
    run_self_test(tmp_path, "M")
    run_self_test(tmp_path, "k")
    assert "The output M is called M_out in C." in (tmp_path / "M.h").read_text(encoding="utf-8")


@pytest.mark.parametrize(("reason", "name"), [(reason, name) for reason, names in REFUSED.items() for name in names])
def test_a_file_name_that_c_has_taken_is_refused_with_what_to_type(tmp_path, reason, name):
    kernel = torsor.compile(torsor.gravity_forces, ARM)
    with pytest.raises(torsor.TorsorError, match=reason) as told:
        kernel.to_c(tmp_path / f"{name}.c")
    assert not list(tmp_path.iterdir())
    advice = re.search(r"to_c\('(\w+)\.c'\)", str(told.value))
    assert c_function(advice[1]) == advice[1]  # what it says to type works


@needs_c
def test_no_name_of_the_headers_that_are_included_is_taken_for_free():
    headers = "#include <math.h>\n#include <stdio.h>\n"

    def preprocessed(*flags):
        command = ["cc", "-std=c99", "-E", *flags, "-"]
        return subprocess.run(command, input=headers, text=True, capture_output=True, check=True).stdout

    names = set(re.findall(r"#define (\w+)", preprocessed("-dM"))) | set(re.findall(r"(\w+) *\(", preprocessed("-P")))
    assert {"NAN", "EOF", "sin", "printf"} <= names
    assert [name for name in names if is_free_in_c(name)] == []


def test_arguments_that_a_program_does_not_need_give_no_warning(tmp_path):
    kernel = torsor.compile(
        lambda robot, q, v, none: {"y": 2.0 * q, "empty": none}, ARM, {"q": 2, "v": 2, "none": (0,)}
    )
    kernel.to_c(tmp_path / "unused.c")
    assert "(void)v;" in (tmp_path / "unused.c").read_text(encoding="utf-8")
    if shutil.which("cc"):
        run_self_test(tmp_path, "unused")


INJECTIONS = ["q=__import__('os').system('touch PWNED')", "q): pass\nimport os #", "a b", "q.r", "", "1q", "ﬁ", "q*/"]


@pytest.mark.parametrize("name", INJECTIONS)
def test_what_is_no_name_is_refused_before_any_source_is_made(name):
    asks = [
        lambda: torsor.compile(lambda robot, **given: given, ARM, {name: (2,)}),
        lambda: torsor.derivative(lambda robot, **given: {"y": given[name]}, ARM, {name: (2,)}, wrt=name),
        lambda: torsor.scan(lambda robot, **given: given, ARM, {name: (2,)}),
        lambda: torsor.scan(lambda robot, q, **given: {"q": q}, ARM, {"q": 2}, inputs={name: (2,)}),
        lambda: torsor.scan(lambda robot, q, **given: {"q": q}, ARM, {"q": 2}, constants={name: (2,)}),
        lambda: torsor.compile(lambda robot, q: {name: q}, ARM, {"q": 2}),
        lambda: torsor.scan(lambda robot, q: {"q": q, name: q}, ARM, {"q": 2}),
    ]
    for ask in asks:
        with pytest.raises(torsor.TorsorError, match=r"put cannot be named .* letters, digits and _") as told:
            ask()
        advice = re.search(r"name it '(\w+)', say", str(told.value))
        assert advice and advice[1].isidentifier()


def test_source_of_a_program_with_other_names_is_harmless_too(tmp_path):
    """Programs that torsor makes for itself name inputs after frames, whose names come from files."""
    program = mixed(["wrenches.tool*/ int x; /*", "wrenches.", "q=exec('raise SystemExit')"])
    given = list(example(program).values())
    got, want = (list(emit_numpy.build(p)(*given).values()) for p in (program, plain(program)))
    for mine, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    if shutil.which("cc"):
        Kernel("odd", program).to_c(tmp_path / "odd.c")
        run_self_test(tmp_path, "odd")


def test_names_that_python_or_a_call_has_taken_are_refused():
    for name in ("lambda", "None", "__debug__"):
        with pytest.raises(torsor.TorsorError, match=f"named '{name}', which is a keyword of Python; name it "):
            torsor.compile(lambda robot, **given: given, ARM, {name: (2,)})
    with pytest.raises(torsor.TorsorError, match=r"compile: an input cannot be named 'out', .* name it out_, say"):
        torsor.compile(lambda robot, out: out, ARM, {"out": 2})
    with pytest.raises(torsor.TorsorError, match="scan: an input cannot be named 'steps'"):
        torsor.scan(lambda robot, q, steps: {"q": q}, ARM, {"q": 2}, constants={"steps": ()})
    with pytest.raises(torsor.TorsorError, match="an input needs a name in quotes, such as 'q', got 3"):
        torsor.compile(lambda robot, **given: given, ARM, {3: (2,)})
    with pytest.raises(torsor.TorsorError, match="an output needs a name in quotes, such as 'q', got 0"):
        torsor.compile(lambda robot, q: {0: q}, ARM, {"q": 2})
    assert torsor.compile(lambda robot, q: {"lambda": q}, ARM, {"q": 2}).outputs == {"lambda": (2,)}
    kernel = torsor.compile(lambda robot, self, args: {"y": self - args}, ARM, {"self": 2, "args": 2})
    np.testing.assert_array_equal(kernel(self=[3.0, 4.0], args=[1.0, 1.0]), [2.0, 3.0])


def test_a_name_is_given_once():
    with pytest.raises(torsor.TorsorError, match="scan: 'q' is given twice; a name is of the state, of the inputs or"):
        torsor.scan(lambda robot, q: {"q": q}, ARM, {"q": 2}, constants={"q": 2})
    with pytest.raises(torsor.TorsorError, match="compile: 'q' is given twice, as an input and as q=3"):
        torsor.compile(lambda robot, q: q, ARM, {"q": 2}, q=3)
    kernel = torsor.compile(lambda robot, c, b_by_c: {"a_by_b": c + b_by_c, "a": b_by_c}, ARM, {"c": (), "b_by_c": ()})
    with pytest.raises(torsor.TorsorError, match="two outputs have one name, among"):
        torsor.derivative(
            lambda robot, c, b_by_c: {"a_by_b": c + b_by_c, "a": b_by_c}, ARM, kernel.inputs, wrt=("c", "b_by_c")
        )


def test_symbols_of_different_inputs_are_different():
    kernel = torsor.compile(lambda robot, q, q_0: {"y": q * q_0}, ARM, {"q": 2, "q_0": ()})
    assert [str(entry) for entry in kernel.to_sympy()["y"]] == ["q_0*q__0", "q_0*q__1"]


def test_made_names_are_new_and_resemble_what_was_asked_for():
    names = Names(is_python_argument, ("t", "t1", "t_12"))
    assert names.fresh("t") == "t_2"
    assert names.fresh("t") == "t_3"
    assert names.numbered("t") == "t__"
    assert [identifier(x) for x in ("Δθ", "größe", "9 lives", "__", "_Q", "a-b", "q̇")] == [
        "Deltatheta", "gro_e", "x9_lives", "x", "Q", "a_b", "q",
    ]  # fmt: skip


@pytest.mark.parametrize("path", [5, None])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(torsor.TorsorError, match=r"to_c: takes the path of a file to write, got "):
        torsor.compile(torsor.gravity_forces, ARM).to_c(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    kernel = torsor.compile(torsor.gravity_forces, ARM)
    for path in (tmp_path / "missing" / "arm.c", f"{tmp_path}/nul\0/arm.c"):
        with pytest.raises(torsor.TorsorError, match=r"to_c: (cannot write .*arm\.h: |.*arm\.h is not a path: )"):
            kernel.to_c(path)
