# Every way to build, run and check Bailiwick is a target here; `make` alone lists them.
# Needs Python 3.11 or newer, git and make; no activated environment, no compiler.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Compiled modules are kept, whatever the shell says: a run of the tests starts hundreds of
# processes, and compiling what a server imports costs more than everything else in its start.
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
# How many workers `auto` is, says tests/conftest.py.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# The fast tests: no servers, no clusters, no proofs.
QUICK := tests/unit tests/architecture src/bailiwick

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 15

.PHONY: run
run: environment ## Run Bailiwick on ./bailiwick-data until Ctrl-C; ARGS="--demo" adds a simulated campus
	@setup/with-python.sh web.py run
	@exec $(BIN)/bailiwick up $(ARGS)

.PHONY: demo
demo: environment ## A fleet, three tenants, jobs that fight; ARGS="..." are passed on
	@$(BIN)/bailiwick demo $(ARGS)

.PHONY: lab
lab: environment ## A campus to play in until Ctrl-C: a server, four nodes, two Slurm clusters; nothing is left of it
	@exec $(BIN)/python -m examples.lab $(ARGS)

# What running needs, and no more. Asked every time: it does only what has changed.
.PHONY: environment
environment:
	@setup/with-python.sh environment.py run

# Needs Node; `make run` does without where there is none.
.PHONY: web
web: ## Build the web (web/) into the package; the server then shows it at /
	@setup/with-python.sh web.py must

.PHONY: setup
setup: ## Make .venv with the packages for developing, Bailiwick itself and the compiled core
	@setup/with-python.sh environment.py dev

.PHONY: test-tools
test-tools: setup ## Install what the tests run on: PostgreSQL, Slurm, Ray, a TPM, Coq ...; WITHOUT="slurm coq" leaves some out
	@setup/with-python.sh test_tools.py

.PHONY: check
check: setup ## Lint, format, types and import rules
	@$(MAKE) --no-print-directory -j4 --keep-going --output-sync=target \
	  check-lint check-format check-types check-imports

.PHONY: check-lint check-format check-types check-imports
check-lint:
	@$(BIN)/ruff check --quiet --output-format concise
check-format:
	@$(BIN)/ruff format --check --quiet --output-format concise
check-types:
	@$(BIN)/mypy --no-error-summary
check-imports:
	@out=$$($(BIN)/lint-imports --no-logo) || { echo "$$out"; exit 1; }

.PHONY: quick
quick: check ## The checks and the fast tests, for people at work (two minutes); ARGS="..." are passed on to pytest
	@$(PYTEST) -m "not long" $(QUICK) $(ARGS)

# The checks run beside the tests: mypy is one process that takes minutes and leaves the other
# cores idle. Both are waited for, so that a run tells everything that is wrong. (MAKE_COMMAND, because
# `make -n` runs a recipe that names MAKE, and this one has the tests in it.)
.PHONY: test
test: setup test-tools ## Everything a change must pass; ARGS="..." are passed on to pytest
	@$(MAKE_COMMAND) --no-print-directory check & checks=$$!
	failed=0
	$(PYTEST) -m "not long" $(ARGS) || failed=$$?
	wait $$checks || { echo "the checks failed: see above, or make check" >&2; failed=1; }
	exit $$failed

.PHONY: prove
prove: test-tools ## The metering proofs from nothing: Coq, Nagini, oracle, all mutants (long)
	@for tool in coqc ocamlfind java .nagini/bin/nagini; do
	  command -v $$tool >/dev/null || { echo "make prove needs $$tool; see above" >&2; exit 1; }
	done
	echo "==> 1 of 4: every theorem in Coq and Iris, and every mutant of them refused"
	proofs/check.sh mutants
	echo "==> 2 of 4: the core that ships is the annotated one without its contracts"
	$(BIN)/python proofs/nagini/strip.py --check
	echo "==> 3 of 4: Nagini verifies the annotated core, and refuses every mutant of it"
	$(BIN)/python proofs/nagini/verify.py
	$(BIN)/python proofs/nagini/verify.py --mutants
	echo "==> 4 of 4: the oracle replays races of what ships, and finds every mutant of it"
	CI=1 BAILIWICK_CACHE=no $(BIN)/python -m pytest -n auto tests/proofs/test_oracle.py $(ARGS)

.PHONY: properties
properties: setup ## The property tests again, with many more examples (long)
	@HYPOTHESIS_PROFILE=long $(PYTEST) --timeout 3600 tests/properties $(ARGS)

.PHONY: graphs
graphs: test-tools ## Graphs of a thousand tasks while servers, agents and cluster nodes are killed (long)
	@$(BIN)/python -m pytest -m long --timeout 7200 tests/processes tests/ray tests/slurm $(ARGS)

.PHONY: fuzz
fuzz: test-tools ## Parsers of evidence and tokens under atheris; ARGS="nitro --runs 1000000 --seconds 600"
	@$(BIN)/python -m tests.fuzz $(ARGS)

.PHONY: simulate
simulate: setup ## Simulated clusters and cells (SEEDS=n of them, or SEED=n again), then SCHEDULES=n of the meter's protocol
	@$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED) -v,--seeds $(or $(SEEDS),1000)) $(ARGS)
	$(if $(SEED),,$(BIN)/python -m tests.simulation.cells --seeds $(or $(SEEDS),1000))
	$(if $(SEED),,$(BIN)/python -m tests.simulation.metering --schedules $(or $(SCHEDULES),1000000))

.PHONY: bench
bench: setup ## Measure; ARGS="..." are passed on
	@$(BIN)/python -m bench $(ARGS)

.PHONY: dist
dist: setup ## Build what people install into dist/: a wheel for this platform, a pure one, a source archive
	@setup/with-python.sh web.py run
	$(BIN)/python setup/dist.py

.PHONY: docs
docs: setup ## Build the documentation site from docs/ into build/site; a broken link fails
	@$(BIN)/python -m docs.tools.build

.PHONY: lock
lock: setup ## Resolve pyproject.toml again into requirements/; ARGS=--upgrade moves every version
	@PATH="$$PWD/$(BIN):$$PATH" python setup/lock.py $(ARGS)

.PHONY: clean
clean: ## Remove everything that can be made again, .venv too
	@rm -rf .venv .alloy .oidc .nagini .node .openapi-client .ray proofs/build build dist bench/out .hypothesis .*_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf web/node_modules web/api-types/node_modules src/bailiwick/server/web
	find src -name '*.so' -delete
