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
setup: $(INSTALLED) postgres promtool slurm tpm ## Make .venv with the locked packages, Bailiwick itself and the compiled core
	@$(BIN)/python hatch_build.py

# Only tests need these programs; so a machine that cannot have them is told, and goes on.
# POSTGRES=no, PROMTOOL=no, SLURM=no or TPM=no leaves the machine alone. $(1): the program's name for people,
# $(2): the variable, $(3): how to see that it is there, $(4): the packages to try in turn (those that
# belong together in quotes), $(5): what is lost without it, $(6): what to do once it is installed.
# The file policy-rc.d, there for as long as the installation takes, keeps packages from starting
# services; a machine that has one of its own keeps it.
define apt_program
	@if $(3); then exit 0; fi
	without="$(strip $(5))"
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
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $$policy ]; then
	  trap 'as_root rm -f $$policy' EXIT
	  printf '#!/bin/sh\nexit 101\n' | as_root tee $$policy >/dev/null
	  as_root chmod 755 $$policy
	fi
	for packages in $(4); do
	  if as_root env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$packages >/dev/null 2>&1; then $(6); exit 0; fi
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

# A whole cluster of its own for tests/slurm: controller, nodes, accounting and the database below.
.PHONY: slurm
slurm:
	$(call apt_program,Slurm,SLURM,\
	  type slurmctld slurmd slurmdbd sacct munged mariadbd mariadb-install-db >/dev/null 2>&1,\
	  'slurmctld slurmd slurm-client slurmdbd munge mariadb-server-core mariadb-client-core',\
	  tests on a real Slurm will be skipped,true)

# A TPM in software, the tools that talk to one, and the library by which `agent --attest tpm2` does.
.PHONY: swtpm
swtpm:
	$(call apt_program,software TPM,TPM,\
	  type swtpm swtpm_setup tpm2_pcrextend >/dev/null 2>&1 && pkg-config --exists tss2-esys,\
	  'swtpm swtpm-tools tpm2-tools libtss2-dev pkg-config',\
	  tests on a software TPM will be skipped,true)

# A source build, so that it is not among the locked packages that everything needs.
.PHONY: tpm
tpm: $(INSTALLED) swtpm
	@if [ $(VENV)/.tpm2 -nt requirements/tpm2.txt ]; then exit 0; fi
	if [ "$${TPM:-}" = no ] || ! pkg-config --exists tss2-esys 2>/dev/null; then exit 0; fi
	echo "==> building tpm2-pytss (half a minute)"
	if $(PIP) install --require-hashes -r requirements/tpm2-build.txt \
	  && $(PIP) install --require-hashes --no-build-isolation -r requirements/tpm2.txt; then
	  touch $(VENV)/.tpm2
	else
	  echo "==> tpm2-pytss could not be built: tests on a software TPM will be skipped"
	fi

# What `make prove` needs; `make test` asks for it too, and leaves the proofs out where it cannot be.
.PHONY: coq
coq:
	$(call apt_program,Coq with Iris,COQ,\
	  command -v ocamlfind >/dev/null && [ -d "$$(coqc -where 2>/dev/null)/user-contrib/iris" ],\
	  'coq libcoq-iris libcoq-stdpp ocaml-findlib',the proofs will not be checked,true)

.PHONY: java
java:
	$(call apt_program,Java,JAVA,command -v java >/dev/null,\
	  default-jre-headless,the core of the meter will not be verified,true)

# Nagini's pins are its own, so it lives in an environment of its own. It knows Python 3.11 at most.
.PHONY: nagini
nagini: $(INSTALLED) java
	@if [ .nagini/.made -nt requirements/nagini.txt ]; then exit 0; fi
	if [ "$${NAGINI:-}" = no ]; then echo "==> NAGINI=no: the core will not be verified"; exit 0; fi
	echo "==> installing Nagini in .nagini (about two minutes the first time)"
	if $(BIN)/python -m venv --clear .nagini \
	  && .nagini/bin/python -m pip --disable-pip-version-check -qq install \
	    --require-hashes -r requirements/nagini.txt; then touch .nagini/.made; exit 0; fi
	rm -rf .nagini
	echo "==> Nagini could not be installed: the core of the meter will not be verified"

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
test: check coq nagini ## Everything a change must pass; ARGS="..." are passed on to pytest
	@$(PYTEST) -m "not long" $(ARGS)

.PHONY: prove
prove: $(INSTALLED) coq nagini ## The metering proofs from nothing: Coq, Nagini, oracle, all mutants (long)
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
	CI=1 $(BIN)/python -m pytest -n auto tests/proofs/test_oracle.py $(ARGS)

.PHONY: properties
properties: setup ## The property tests again, with many more examples (long)
	@HYPOTHESIS_PROFILE=long $(PYTEST) --timeout 3600 tests/properties $(ARGS)

.PHONY: fuzz
fuzz: setup ## Parsers of evidence and tokens under atheris; ARGS="nitro --runs 1000000 --seconds 600"
	@$(BIN)/python -m tests.fuzz $(ARGS)

.PHONY: simulate
simulate: setup ## Simulated clusters (SEEDS=n of them, or SEED=n again), then SCHEDULES=n of the meter's protocol
	@$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED) -v,--seeds $(or $(SEEDS),1000)) $(ARGS)
	$(if $(SEED),,$(BIN)/python -m tests.simulation.metering --schedules $(or $(SCHEDULES),1000000))

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
	compile --extra tpm2 --constraints requirements/dev.txt --output-file requirements/tpm2.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --custom-compile-command "make lock" $(ARGS) --group tpm2-build \
	  --constraints requirements/tpm2.txt --output-file requirements/tpm2-build.txt

.PHONY: clean
clean: ## Remove everything that can be made again, .venv too
	@rm -rf $(VENV) .nagini proofs/build build dist bench/out .hypothesis .*_cache
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
