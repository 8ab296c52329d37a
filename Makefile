# Everything sets itself up: a bare clone, python3 and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MODELS := $(VENV)/.models
BROWSER := $(VENV)/.browser

.PHONY: axe demo test lint types unit postgres check check-full mutants bench oracles simulate fuzz docs site clean

demo: $(STAMP)
	$(BIN)/duologue serve --open

test: lint types unit check

lint: $(STAMP)
	$(BIN)/ruff check src tests tools
	$(BIN)/ruff format --check src tests tools

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP) $(MODELS) $(BROWSER) postgres
	$(BIN)/python tools/run_tests.py

# A server for the tests of the store, where it may be installed; otherwise those tests are skipped, loudly.
postgres:
	@sh tools/ensure_postgres.sh

# A small configuration; `duologue check` explores every profile, `make check-full` the real counters.
check: $(STAMP)
	$(BIN)/duologue check --quick --profile confirm

check-full: $(STAMP)
	$(BIN)/duologue check --full

mutants: $(STAMP)
	$(BIN)/python tools/run_mutants.py

bench: $(STAMP)
	$(BIN)/duologue bench core
	$(BIN)/duologue bench runtime
	$(BIN)/duologue bench store
	$(BIN)/duologue bench dialogue

# Other people's code as judges. Large: half a gigabyte, fetched on the first run.
oracles: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[oracles]'
	$(BIN)/python -m pytest tests/oracles

# Slow: ten thousand seeded callers with failing services.
simulate: $(STAMP)
	$(BIN)/duologue simulate --calls 10000 --seed 1 --faults

# Every parser, fed with what is nearly right; what it finds lies in build/fuzz. One target by coverage, where atheris
# can be installed: .venv/bin/python tools/fuzz.py --atheris journal
fuzz: $(STAMP)
	$(BIN)/python tools/fuzz.py --seconds 300

# What the accessibility tests of the panel need beside a Chromium; npm fetches it.
axe:
	sh tools/ensure_axe.sh

docs: $(STAMP)
	$(BIN)/python tools/write_docs.py

# The documentation as a web site in build/site, with search: python3 -m http.server --directory build/site
# Strict: a broken link is an error. No page loads anything from another host.
site: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python tools/check_site.py build/site
	@echo "The site is in build/site: python3 -m http.server --directory build/site"

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Duologue needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	    "Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@

# Models for speech and understanding, fetched once into the cache folder; nothing happens if they are there.
$(MODELS): $(STAMP) src/duologue/models/catalogue.py
	$(BIN)/duologue models pull
	$(BIN)/duologue models pull minilm
	@touch $@

# A Chromium and axe-core for the tests in a real browser; nothing happens if they are there.
$(BROWSER): $(STAMP) tools/ensure_chromium.sh tools/ensure_axe.sh
	sh tools/ensure_chromium.sh
	sh tools/ensure_axe.sh || echo "ensure_axe: axe-core could not be fetched; its tests will be skipped." >&2
	@touch $@

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
