# Everything sets itself up: a bare clone, python3 and make are enough for the demo; the tests also need npm and a C compiler.

PYTHON ?= python3
PORT ?= 8765
# Another Python gets a virtualenv of its own: `make test PYTHON=python3.12` uses .venv-python3.12.
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
DEV := $(VENV)/.installed
# Modules are compiled when they are first imported, and that is kept: pip would compile all of them, used or not.
PIP_INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --no-compile
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint types unit needs check check-full mutants bench bench-peers performance echo oracles providers interop simulate fuzz docs site pictures sweeps test-pythons clean

demo: $(DEMO)
	$(BIN)/duologue serve --open --port $(PORT)

# Types and the exploration are checked while the tests wait.
test: lint needs
	$(BIN)/python tools/run_tests.py --beside '$(MAKE) --no-print-directory types check'

lint: $(DEV)
	$(BIN)/ruff check src tests tools
	$(BIN)/ruff format --check src tests tools

types: $(DEV)
	$(BIN)/mypy
	$(BIN)/mypy tests/workers/test_collect.py # the types of the values that tasks return

unit: needs
	$(BIN)/python tools/run_tests.py

# Slow, exhaustive tests that `make test` leaves out.
sweeps: needs
	$(BIN)/python -m pytest -m sweep tests

# Models, Chromium, axe-core and PostgreSQL: the list is in tests/needs.py. What is there is left alone.
needs: $(DEV)
	$(BIN)/python tools/get_needs.py

# Every installed Python from 3.11 on; slow.
test-pythons:
	sh tools/test_pythons.sh

# A small configuration; `duologue check` explores every profile, `make check-full` the real counters.
check: $(DEV)
	$(BIN)/duologue check --quick --profile confirm

check-full: $(DEV)
	$(BIN)/duologue check --full

mutants: $(DEV)
	$(BIN)/python tools/run_mutants.py

bench: $(DEV)
	$(BIN)/duologue bench core
	$(BIN)/duologue bench runtime
	$(BIN)/duologue bench store
	$(BIN)/duologue bench dialogue

# Pipecat, LiveKit Agents and Duologue side by side: about eight minutes, and on the first run a gigabyte of packages in
# build/peers. Writes the table in docs/comparison.md.
bench-peers: needs
	$(BIN)/python tools/bench_peers.py

# Every benchmark, one after the other: about eight minutes. Writes docs/performance.md. With LABELS=… also `bench talk`.
performance: needs
	$(BIN)/python tools/write_performance.py $(if $(LABELS),--labels $(LABELS))

# The agent's own voice on the telephone line, with the real ears in simulated time. Slow: ten minutes of CPU and more.
echo: $(DEV)
	$(BIN)/duologue bench echo

# Other projects' code as judges. Large: half a gigabyte, fetched on the first run.
oracles: $(DEV)
	$(PIP_INSTALL) --editable '.[oracles]'
	$(BIN)/python -m pytest tests/oracles

# The bridge to LiveKit's plugins with those of more providers, against servers on this machine.
providers: $(DEV)
	$(PIP_INSTALL) --editable '.[providers]'
	$(BIN)/python -m pytest tests/plugins tests/providers

# Real clients of the Realtime and RTVI protocols, against a server on this machine: their packages are in build/interop, a gigabyte
# with those of Pipecat and LiveKit. Needs node 20 and openssl, and installs Chromium and coturn (a TURN server) as root if they are
# missing. Writes the table in docs/clients.md.
interop: $(DEV)
	$(BIN)/python tools/run_interop.py
	$(BIN)/python -m pytest tests/browser/turn

# Slow: ten thousand seeded callers with failing services.
simulate: $(DEV)
	$(BIN)/duologue simulate --calls 10000 --seed 1 --faults

# Every parser, fed with input that is nearly right. Findings are written to build/fuzz. One target by coverage, where
# atheris can be installed: .venv/bin/python tools/fuzz.py --atheris journal
fuzz: $(DEV)
	$(BIN)/python tools/fuzz.py --seconds 300

docs: $(DEV)
	$(BIN)/python tools/write_docs.py

# The documentation as a web site in build/site, with search: python3 -m http.server --directory build/site
# Strict: a broken link is an error. No page loads anything from another host.
site: $(DEV)
	$(PIP_INSTALL) --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python tools/check_site.py build/site
	@echo "The site is in build/site: python3 -m http.server --directory build/site"

# The panel with every fault, notice and wait in build/pictures: three windows, both themes, five languages. Slow.
pictures: needs
	sh tools/ensure_fonts.sh
	$(BIN)/python tools/take_screenshots.py --set faults --size desk --size phone --size low --sheets

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Duologue needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	    "Try: make $(firstword $(MAKECMDGOALS) demo) PYTHON=python3.11"; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# What the demo needs and no more.
$(DEMO): pyproject.toml | $(VENV)/bin/python
	@echo "Installing the demo's packages into $(VENV): about 54 MB"
	$(PIP_INSTALL) --editable '.[demo]'
	@touch $@

$(DEV): pyproject.toml | $(VENV)/bin/python
	@echo "Installing packages for development into $(VENV): about 260 MB"
	$(PIP_INSTALL) --editable '.[dev,bench]'
	@touch $(DEMO) $@

clean:
	rm -rf .venv .venv-* build .mypy_cache .ruff_cache .pytest_cache .hypothesis
