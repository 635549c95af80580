# The only door: every way to build, run and check Bailiwick is a target here.
# Needs Python 3.11 or newer, git and make; no activated environment, no compiler.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# -qq: errors only. Warnings here are about the machine's own pip settings, not about us.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Beyond eight workers, starting them costs more than they save.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

# One stamp per step of `setup`, so that a change repeats only the steps that depend on it.
MADE := $(VENV)/.made
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 15

.PHONY: setup
# The build script looks at the times of the C sources itself, so it is asked every time: a compiler
# installed since, or BAILIWICK_PURE=1 given once, then needs no special case here.
setup: $(INSTALLED) postgres promtool ## Make .venv with the locked packages, Bailiwick itself and the compiled core
	@$(BIN)/python hatch_build.py

# Only tests need these programs; so a machine that cannot have them is told, and goes on.
# POSTGRES=no or PROMTOOL=no leaves the machine alone. $(1): the program's name for people, $(2): the
# variable, $(3): how to see that it is there, $(4): the packages to try in turn, $(5): what is lost
# without it, $(6): what to do once it is installed.
define apt_program
	@if $(3); then exit 0; fi
	without="$(5)"
	if [ "$${$(2):-}" = no ]; then echo "==> $(2)=no: $$without"; exit 0; fi
	if ! command -v apt-get >/dev/null; then
	  echo "==> no $(1) here and no apt-get to install it: $$without"
	  exit 0
	fi
	as_root() { if [ "$$(id -u)" = 0 ]; then "$$@"; else sudo -n "$$@"; fi; }
	if ! as_root true 2>/dev/null; then
	  echo "==> no $(1) here, and installing it needs root: $$without"
	  exit 0
	fi
	echo "==> installing $(1) with apt-get, for tests"
	as_root apt-get update -qq || true
	for package in $(4); do
	  if as_root env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends "$$package" >/dev/null 2>&1; then $(6); exit 0; fi
	done
	echo "==> $(1) could not be installed: $$without"
endef

# Each run has a private server.
.PHONY: postgres
postgres:
	$(call apt_program,PostgreSQL server,POSTGRES,\
	  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null,\
	  postgresql-15 postgresql,tests on PostgreSQL will be skipped,true)

# Debian has promtool only in the server's package; the service that this starts is not wanted.
.PHONY: promtool
promtool:
	$(call apt_program,promtool,PROMTOOL,command -v promtool >/dev/null,\
	  prometheus,tests of the alert rules will be skipped,\
	  as_root systemctl disable --now prometheus >/dev/null 2>&1 || true)

.PHONY: run
run: setup ## Run Bailiwick on ./bailiwick-data until Ctrl-C; ARGS="--demo" adds a simulated campus
	@exec $(BIN)/bailiwick up $(ARGS)

.PHONY: demo
demo: setup ## A fleet, three tenants, jobs that fight; ARGS="..." are passed on
	@$(BIN)/bailiwick demo $(ARGS)

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

.PHONY: test
test: check ## Everything a change must pass; ARGS="..." are passed on to pytest
	@$(PYTEST) -m "not long" $(ARGS)

.PHONY: properties
properties: setup ## The property tests again, with many more examples (long)
	@HYPOTHESIS_PROFILE=long $(PYTEST) --timeout 3600 tests/properties $(ARGS)

.PHONY: simulate
simulate: setup ## Whole clusters on simulated clocks, disks and networks; SEEDS=n of them, or SEED=n again
	@$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED) -v,--seeds $(or $(SEEDS),1000)) $(ARGS)

.PHONY: bench
bench: setup ## Measure; ARGS="..." are passed on
	@$(BIN)/python -m bench $(ARGS)

.PHONY: lock
# Versions already locked stay unless pyproject.toml forbids them; ARGS=--upgrade moves all of them.
lock: $(LOCKED) ## Resolve pyproject.toml again into requirements/
	@compile() {
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --custom-compile-command "make lock" $(ARGS) pyproject.toml "$$@"
	}
	compile --output-file requirements/runtime.txt
	compile --extra server --constraints requirements/runtime.txt --output-file requirements/server.txt
	compile --extra dev --constraints requirements/server.txt --output-file requirements/dev.txt

.PHONY: clean
clean: ## Remove everything that can be made again, .venv too
	@rm -rf $(VENV) build dist bench/out .hypothesis .*_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	find src -name '*.so' -delete

$(INSTALLED): $(LOCKED) pyproject.toml hatch_build.py
	@echo "==> installing bailiwick from this folder"
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(LOCKED): $(MADE) requirements/dev.txt
	@echo "==> installing the locked packages (about a minute the first time)"
	$(PIP) install --require-hashes -r requirements/dev.txt
	touch $@

# A command of the right name is no proof (pyenv leaves shims that only print an error), so each is
# run. Debian and Ubuntu package the maker of environments apart from Python: it is added if absent.
$(MADE):
	@for python in $(PYTHON) python3.11 python3.12 python3.13 python3 ""; do
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
	done
	[ -n "$$python" ] || { echo "Bailiwick needs Python 3.11 or newer; none was found." >&2; exit 1; }
	if ! "$$python" -c 'import ensurepip' 2>/dev/null; then
	  package=$$("$$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
	  if ! command -v apt-get >/dev/null; then
	    echo "$$python lacks ensurepip; install $$package or what your system calls it." >&2
	    exit 1
	  fi
	  echo "==> $$python cannot make environments yet: installing $$package with apt-get"
	  as_root() { if [ "$$(id -u)" = 0 ]; then "$$@"; else sudo "$$@"; fi; }
	  as_root apt-get update -qq
	  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$$package"
	fi
	echo "==> making $(VENV) with $$("$$python" --version)"
	"$$python" -m venv --clear $(VENV)
	touch $@
