# make demo: the main job on this machine. make test: everything that proves hopline. Both need python3, pip, venv, make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet

.PHONY: demo test programs torch lint bench validate docs clean

demo: $(VENV)/.installed
	$(BIN)/hopline demo

test: $(VENV)/.installed-dev programs torch
	$(BIN)/python -m pytest --durations=10

# A browser for the test that opens a report, ip and tc for those in network namespaces; what cannot be had is skipped and says why.
programs:
	@lacking=""; command -v chromium >/dev/null || lacking="chromium"; \
	{ command -v ip && command -v tc; } >/dev/null || lacking="$$lacking iproute2"; \
	if [ -n "$$lacking" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing $$lacking for the tests that need it ..."; \
		(timeout 300 apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq install -y --no-install-recommends \
		$$lacking) >/dev/null 2>&1 || echo "could not be installed: $$lacking"; \
	fi

# make test TORCH=1 also runs the tests over gloo; a CPU build is enough, and one that is there already stays.
torch: $(VENV)/.installed-dev
	@if [ -n "$(TORCH)" ] && ! $(BIN)/python -c 'import torch' 2>/dev/null; then \
		echo "Installing torch for the tests over gloo ..."; \
		timeout 900 $(PIP) 'torch==2.13.0' || echo "torch could not be installed"; \
	fi

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/estimates.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/read_log.py
	$(BIN)/python benchmarks/simulate.py
	$(BIN)/python benchmarks/flows.py
	$(BIN)/python benchmarks/explain.py

validate: $(VENV)/.installed-dev
	$(BIN)/python validation/pipeline_event_walk.py
	$(BIN)/python validation/held_out.py
	$(BIN)/python validation/beyond.py
	$(BIN)/python validation/intervals.py
	$(BIN)/python validation/logs.py
	$(BIN)/python validation/ranks.py
	$(BIN)/python validation/collectives.py
	$(BIN)/python validation/pairs.py
	$(BIN)/python validation/diff.py
	$(BIN)/python validation/schedules.py
	$(BIN)/python validation/flows.py
	$(BIN)/python validation/chains.py
	$(BIN)/python validation/what_ifs.py
	$(BIN)/python validation/nccl_tuner.py
	$(BIN)/python validation/executed.py
	$(BIN)/hopline verify tests/data/vectors.json || test $$? = 3

docs: $(VENV)/.installed-dev
	$(BIN)/python docs/make_reference.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hopline needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + ": try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml
	@echo "Installing hopline into $(VENV) ..."
	$(PIP) -e '.[mpi]'
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml
	@echo "Installing hopline and its tests' tools into $(VENV) ..."
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
