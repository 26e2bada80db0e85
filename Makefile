# make demo   set up an environment, show what torsor does with an embedded robot, and write demo/report.html
# make test   set up and run all tests
# make test-bridges  set up another environment with torch (the CPU build will do: TORCH=... is what pip installs), CasADi,
#             dask, xarray and libraries of units, and run tests/bridges in it
# make test-browser  set up and run tests/browser, which needs Chromium: without one it fails, where `make test` skips these tests
# make docs   set up and build the site in build/site: open build/site/index.html
# make minimum  set up another environment with the lowest versions of pyproject.toml and run a part of the tests in it
# make types  set up and check types: of the package, and of the code of README, docs and examples as users' type checkers see it
# make fuzz   set up and feed 200,000 broken files to the readers (minutes; not part of the tests)
# make soak   set up and do what takes too long for the tests (most of an hour): Ctrl-C at many moments, thousands of robots, all
#             programs as other machines round, robots at the edge of their reach, a table of ten million rows, properties with
#             ever new examples;
#             SOAK="properties --minutes 60 --seed 7"
# make bench  set up and measure torsor beside its peers (minutes; not part of the tests); a part alone with
#             BENCH=--derivatives, --geometry, --calls, --simulation or --motion
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0
CODE := src tests examples benchmarks tools docs/conf.py docs/_extensions .ci hatch_build.py
MINIMUM ?= tests/interface/test_documentation.py tests/interface/test_extras.py tests/interface/test_plot.py \
	tests/interface/test_compare.py tests/interface/test_mjcf_rules.py tests/interface/test_redundancy_functions.py \
	tests/compiler/test_front_door.py tests/compiler/test_kernel.py tests/compiler/test_jax_call.py \
	tests/agreement/test_equations.py tests/properties/test_screw_list_round_trip.py

.PHONY: demo test test-bridges test-browser docs minimum lint types fuzz soak bench clean

demo: $(VENV)/.demo
	$(BIN)/python -m torsor._demo demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q

test-bridges: $(VENV)-bridges/.made
	TORSOR_TEST_BRIDGES=1 $(VENV)-bridges/bin/python -m pytest -q tests/bridges

test-browser: $(VENV)/.test
	TORSOR_TEST_BROWSER=1 $(BIN)/python -m pytest -q tests/browser

# Warnings are errors, and all of them are shown.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q $(SPHINX) docs build/site
	$(BIN)/python tools/check_site.py build/site

# What touches every dependency; libraries of then warn of libraries of now.
minimum: $(VENV)-minimum/.made
	$(VENV)-minimum/bin/python -m pytest -q -W ignore::DeprecationWarning $(MINIMUM)

lint: $(VENV)/.test
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: $(VENV)/.test
	$(BIN)/mypy
	$(BIN)/python tools/check_types.py

fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzzing/run.py $(FUZZ)

soak: $(VENV)/.test
	$(BIN)/python tests/soak/run.py $(SOAK)

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py $(BENCH)

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e ".[plot]"
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e ".[test]"
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e ".[docs]"
	@touch $@

$(VENV)-bridges/.made: pyproject.toml
	$(PYTHON) -m venv $(VENV)-bridges
	$(VENV)-bridges/bin/python -m pip install -q --upgrade pip
	$(VENV)-bridges/bin/python -m pip install -q $(TORCH) -e ".[casadi,dask,jax,torch,xarray]" cloudpickle pint unyt pytest hypothesis
	@touch $@

$(VENV)-minimum/.made: pyproject.toml
	$(PYTHON) -m venv $(VENV)-minimum
	$(VENV)-minimum/bin/python .ci/minimum_versions.py > $(VENV)-minimum/lowest.txt
	$(VENV)-minimum/bin/python -m pip install -q --upgrade pip
	$(VENV)-minimum/bin/python -m pip install -q -c $(VENV)-minimum/lowest.txt -e ".[all]" pytest hypothesis
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-bridges $(VENV)-minimum build demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
