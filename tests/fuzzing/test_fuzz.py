"""Every file loads or is refused in words: a bounded number of mutations here, `make fuzz` for many more."""

import collections

import pytest
from mutations import WHOLE, inputs, seeds

import run
from run import judge

COUNT = 500


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_load_or_are_refused(seed, tmp_path):
    results = collections.Counter()
    for content, _ in zip(inputs(1_000_000 + seed, seeds()), range(COUNT), strict=False):
        results[judge(content, tmp_path / "robot")] += 1
    assert results["loaded"] > COUNT / 50  # the mutations are not all so brutal that only the parser is tried
    assert len(results) > 10  # and many rules are met


def broken(content, path):
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("name", "value", "said"), [("SLOW", 0.0, "it took 0"), ("judge", broken, "RuntimeError: a bug")]
)
def test_the_file_that_stops_a_run_is_kept(name, value, said, tmp_path, monkeypatch):
    monkeypatch.setattr(run, name, value)
    with pytest.raises(AssertionError, match=rf"seed 3: .*{said}.*; the file is kept as .*torsor_fuzz_3\.robot"):
        run.examine(3, 10, tmp_path)
    assert (tmp_path / "torsor_fuzz_3.robot").read_bytes() == next(inputs(3, seeds()))


@pytest.mark.parametrize("content", WHOLE, ids=lambda content: repr(content[:20]))
@pytest.mark.parametrize("suffix", [".urdf", ".json", ".yaml", ".xml"])
def test_files_that_are_not_even_broken_robots_are_refused(content, suffix, tmp_path):
    assert judge(content, tmp_path / f"robot{suffix}") != "loaded"
