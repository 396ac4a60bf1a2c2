# Two commands for newcomers: `make demo` runs the main job end to end, `make test` runs the tests.
# Both set up .venv by themselves; see scripts/setup.sh.

BIN := .venv/bin
UV ?= $(shell command -v uv || echo $(BIN)/uv)
ARGS ?=
SECONDS ?= 3600
WRITES ?= 200
# Most of a test's time is waiting, so one worker more than there are cores.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Every test process would compile all tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-postgres test-hosts conformance clients attack fuzz check lint types imports fix cover bench lock

help:
	@echo "make demo          run the main job end to end, offline"
	@echo "make test          run the tests (ARGS=… goes to pytest; WORKERS=0 for one process)"
	@echo "make test-postgres run the tests that need a PostgreSQL server, which they start themselves (WRITES=… of each process)"
	@echo "make setup         only make .venv"
	@echo "make attack        run the attacks only, with a table of every scenario (ARGS='--scenarios FILE' writes it)"
	@echo "make fuzz          send the proxy what nobody should, for an hour (SECONDS=…)"
	@echo "make test-hosts    let Claude Code, codex and opencode from npm use memory (fetches a gigabyte once)"
	@echo "make conformance   run the conformance suite of MCP over HTTP, in both eras"
	@echo "make check         lint, format, types, import rules"
	@echo "make fix           format and repair what can be repaired"
	@echo "make cover         tests with coverage, and the files that need 100 %"
	@echo "make bench         run the benchmarks"
	@echo "make lock          resolve requirements.lock anew (needs uv)"

setup:
	@scripts/setup.sh

demo: setup
	@$(BIN)/ghost demo $(ARGS)

test: setup clients
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Node 24 and the MCP Inspector for the client tests; where npm cannot bring them they are skipped by name.
clients: setup
	@scripts/fetch_node.sh || true
	@scripts/fetch_inspector.sh || true

# What needs a PostgreSQL server, one with pgvector too. `make test` runs it where they are there, with fewer writes.
test-postgres: setup
	@scripts/fetch_pgvector.sh || true
	@MEMORY_WRITES=$(WRITES) $(BIN)/python -m pytest -m postgres $(ARGS)

# Both fetch programs of others with npm; what cannot be fetched is skipped by name. No part of `make test`.
test-hosts: setup
	@scripts/fetch_node.sh || true
	@scripts/fetch_hosts.sh || true
	@$(BIN)/python -m pytest tests/hosts $(ARGS)

conformance: setup
	@scripts/fetch_node.sh || true
	@scripts/fetch_conformance.sh || true
	@$(BIN)/python -m pytest tests/conformance -s $(ARGS)

attack: setup
	@$(BIN)/python -m pytest tests/attacks tests/scenarios $(ARGS)

# Examples that found something are kept in .hypothesis/fuzz and tried first the next time.
fuzz: setup
	@FUZZ_SECONDS=$(SECONDS) $(BIN)/python -m pytest tests/fuzz -q -s --timeout 0 $(ARGS)

check: lint types imports

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

fix: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

cover: setup
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet --fail-under=0 -o .coverage.json
	$(BIN)/python scripts/full_coverage.py .coverage.json
	$(BIN)/coverage report

bench: setup
	@$(BIN)/python bench/run.py $(ARGS)

lock:
	$(UV) pip compile pyproject.toml --group dev --universal --python-version 3.12 --upgrade \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		--quiet -o requirements.lock
