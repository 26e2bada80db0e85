"""The command line: what is printed, and with which exit code."""

import subprocess
import sys

import pytest

import torsor
from torsor.cli.main import main


def test_doctor_says_what_is_here(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"torsor      {torsor.__version__}" in out
    for word in ("processor", "vectors of", "fast entry  open", "kernels,", "jax", "sympy"):
        assert word in out


def test_doctor_says_why_the_compiler_is_missing_and_everything_still_works(tmp_path):
    (tmp_path / "llvmlite.py").write_text("raise ImportError('no LLVM here')\n")
    code = (
        "import warnings, numpy as np, torsor\nfrom torsor.cli.main import main\n"
        "arm = torsor.robots.planar2r()\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    tau = [torsor.gravity_forces(arm, np.zeros(2)) for _ in range(3)][0]\n"
        "    kernel = torsor.compile(lambda r, q: {'x': 2 * q, 'y': q}, arm, {'q': 2})\n"
        "    double = kernel(np.ones((3, 2)))['x']\n"
        "    loop = torsor.scan(lambda r, x, u: {'x': x + u}, arm, {'x': 2}, inputs={'u': 2})\n"
        "    path = loop(steps=4, every=2, x=np.zeros((3, 2)), u=np.ones((4, 2)))['x']\n"
        "print(len(caught), caught[0].message)\nprint(tau.tolist())\n"
        "print(double.tolist() == [[2, 2]] * 3, path.tolist() == [[[2, 2], [4, 4]]] * 3)\nprint(main(['doctor']))"
    )
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "1 torsor runs uncompiled, hundreds of times slower: llvmlite cannot be imported (no LLVM here)"
    )
    assert lines[1] == "[29.43, 9.81]"
    assert lines[2] == "True True"  # kernels and loops answer too
    assert "compiler    missing: llvmlite cannot be imported (no LLVM here); pip install llvmlite" in done.stdout
    assert lines[-1] == "1"


def test_an_unknown_command_is_answered_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["docter"])
    assert "doctor" in capsys.readouterr().err
