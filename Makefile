# Everything a person does to Temporality from a shell. Needs python3 (3.11 or newer, with venv), make, git and a package registry.
PYTHON ?= python3
JOBS   ?= 2
VENV   := .venv
BIN    := $(VENV)/bin
# The installed state is named after the lock's content, so that a checkout that touches the file installs nothing.
STAMP  := $(VENV)/installed-$(shell cksum < requirements.lock | tr ' ' '-')
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help install demo up test faults check gates bench lock

help: ## print what there is
	@echo "Temporality: what agents learned, kept with its evidence"
	@echo
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'
	@echo
	@echo "  $(BIN)/temporality --help says what the command does."

install: $(STAMP) ## set up .venv from requirements.lock (once, and again when the lock changes)
	@:

$(STAMP):
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Temporality needs Python 3.11 or newer and found %d.%d: install one and say `make PYTHON=python3.11 ...`." % v[:2])'
	@test -x $(BIN)/python || { echo "Making $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "Python's venv module did not work: on Debian and Ubuntu, install the package python3-venv." >&2; exit 1; }; }
	@echo "Installing $$(grep -c '^[a-z]' requirements.lock) pinned packages into $(VENV) (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements.lock
	@install -m 755 cli/launch.sh $(BIN)/temporality
	@rm -f $(VENV)/installed-* && touch $@

demo: install ## the whole way on example transcripts, with no key and no network service
	@$(BIN)/temporality demo

up: install ## start Postgres, Temporal and a worker, and keep them running
	@$(BIN)/temporality up

test: check ## the gates, then every test that needs no killing (under ten minutes)
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadscope -m "not faults" --ignore tests/architecture --ignore tests/replay

faults: install ## kill workers and servers in the middle of their work, and try to break out of the sandbox
	@$(BIN)/python -m pytest -q -m faults tests/faults tests/activities/sandbox

check: gates ## style, layers, types, and the five gates of the determinism boundary
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadscope -m "not faults" tests/architecture tests/replay

gates: install
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "Run '$(BIN)/ruff format .' to lay the files out." >&2; exit 1; }
	@$(BIN)/lint-imports --no-logo >$(VENV)/lint-imports.out || { cat $(VENV)/lint-imports.out; exit 1; }
	@$(BIN)/basedpyright --pythonpath $(BIN)/python
	@echo "style, layers and types hold"

bench: install ## every figure against a floor measured in the same job
	@$(BIN)/python -m bench

lock: ## resolve the dependencies anew into requirements.lock (needs the registry)
	@set -e; place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; \
	$(PYTHON) -m venv "$$place"; "$$place/bin/python" -m pip install --quiet uv; \
	"$$place/bin/uv" pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url -o requirements.lock >/dev/null
