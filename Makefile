# make demo   set up an environment and run the main job on an embedded robot
# make test   set up and run all tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types clean

demo: $(VENV)/.demo
	$(BIN)/python examples/01_terms_of_one_state.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 -q

lint: $(VENV)/.test
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples

types: $(VENV)/.test
	$(BIN)/mypy

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
