# make demo   set up an environment and run the main job on an embedded robot
# make test   set up and run all tests
# make fuzz   set up and feed 200,000 broken files to the readers (minutes; not part of the tests)
# make bench  set up and measure torsor beside its peers (minutes; not part of the tests); a part alone with
#             BENCH=--derivatives or BENCH=--geometry
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types fuzz bench clean

demo: $(VENV)/.demo
	$(BIN)/python examples/01_terms_of_one_state.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 -q

lint: $(VENV)/.test
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/ruff format --check src tests examples benchmarks

types: $(VENV)/.test
	$(BIN)/mypy

fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzzing/run.py $(FUZZ)

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py $(BENCH)

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
