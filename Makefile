# Everything from a fresh clone: `make demo` and `make test` set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := install --quiet --disable-pip-version-check -c constraints.txt
CORE_SOURCES := CMakeLists.txt pyproject.toml $(wildcard cpp/graphmount/*) $(wildcard bindings/*)
CPP_FILES := $(wildcard cpp/graphmount/*.[ch]pp bindings/*.[ch]pp tests/cpp/*.[ch]pp fuzz/*.[ch]pp)
DEMO_FOLDER ?= build/demo
DEMO_OPTIONS ?=
BENCH_OPTIONS ?= --quick
# Two processes of tests; a process that has nothing left to do takes tests from the other.
PARALLEL ?= --numprocesses 2 --dist worksteal
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= $(shell date +%s)
SANITIZE_VENV := .venv-sanitize
# Aborting, rather than exiting, lets the fuzzer keep the input that did it.
SANITIZER_OPTIONS := UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:abort_on_error=1 \
	ASAN_OPTIONS=abort_on_error=1
SANITIZER_LIBRARIES = $(foreach name,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(name).so))
# GCC's ThreadSanitizer does not start where the kernel spreads addresses too far.
NO_ASLR := $(shell command -v setarch >/dev/null && echo setarch -R)
comma := ,

.PHONY: help build demo test test-all lint format docs test-cpp test-python sanitize sanitize-core sanitize-python fuzz bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip $(PIP_INSTALL) --upgrade pip
	touch $@

# An editable install: changes to Python files count at once, changes to C++ ones at the next make.
$(VENV)/.built: $(VENV)/.made $(CORE_SOURCES) constraints.txt
	$(BIN)/python -m pip $(PIP_INSTALL) -Ccmake.define.GRAPHMOUNT_WERROR=ON --editable .
	touch $@

$(VENV)/.tools: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip $(PIP_INSTALL) --group test --group lint --group docs torch
	-$(BIN)/python -m pip $(PIP_INSTALL) torch_geometric graphzero # tests do without, if need be
	-$(BIN)/python -m pip $(PIP_INSTALL) pytorch-lightning # and without this
	touch $@

build: $(VENV)/.built ## compile and install into .venv

$(VENV)/.demo: $(VENV)/.made constraints.txt
	$(BIN)/python -m pip $(PIP_INSTALL) torch matplotlib
	touch $@

demo: build $(VENV)/.demo ## train on a dataset that is larger than the memory it gets
	$(BIN)/python examples/demo.py $(DEMO_FOLDER) $(DEMO_OPTIONS)

test: lint test-cpp test-python ## all checks and tests, with short campaigns
test-all: lint test-cpp sanitize fuzz ## all checks and tests, with long campaigns, and sanitizers
	GRAPHMOUNT_LONG=1 $(BIN)/ctest --test-dir build/core --output-on-failure --tests-regex faults
	GRAPHMOUNT_LONG=1 $(BIN)/python -m pytest

test-python: $(VENV)/.built $(VENV)/.tools
	$(BIN)/python -m pytest $(PARALLEL)

# $(call build-core,FOLDER,OPTIONS): the core, its tests and the fuzzer, without Python.
define build-core
	@mkdir -p build
	$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DGRAPHMOUNT_PYTHON=OFF -DGRAPHMOUNT_TESTS=ON -DGRAPHMOUNT_WERROR=ON $(2) >$(1).log 2>&1 \
		|| (cat $(1).log; exit 1)
	$(BIN)/cmake --build $(1)
endef

test-cpp: $(VENV)/.built $(VENV)/.tools ## tests of the core, which is the one that Python has
	$(call build-core,build/core,-DGRAPHMOUNT_TESTED_CORE=$(CURDIR)/$$(ls -t build/cp*/libgraphmount_core.a | head -n 1))
	$(BIN)/ctest --test-dir build/core --output-on-failure --parallel 2

sanitize: sanitize-core sanitize-python ## the tests under Address-, UB- and ThreadSanitizer

sanitize-core: $(VENV)/.tools
	$(call build-core,build/sanitize-core,-DGRAPHMOUNT_SANITIZE=address$(comma)undefined)
	$(SANITIZER_OPTIONS) $(BIN)/ctest --test-dir build/sanitize-core --output-on-failure
	$(call build-core,build/tsan-core,-DGRAPHMOUNT_SANITIZE=thread)
	TSAN_OPTIONS=halt_on_error=1 $(NO_ASLR) $(BIN)/ctest --test-dir build/tsan-core --output-on-failure

# Its own environment, without torch, which sanitizers do not get along with. Python itself is not
# built with them, so the libraries have to be there before it starts. GRAPHMOUNT_SANITIZED tells
# the tests, some of which measure what sanitizers distort.
sanitize-python: $(SANITIZE_VENV)/.built
	LD_PRELOAD="$(SANITIZER_LIBRARIES)" $(SANITIZER_OPTIONS):detect_leaks=0 GRAPHMOUNT_SANITIZED=1 \
		$(SANITIZE_VENV)/bin/python -m pytest tests/python -p no:cacheprovider

$(SANITIZE_VENV)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(SANITIZE_VENV)
	$(SANITIZE_VENV)/bin/python -m pip $(PIP_INSTALL) --upgrade pip
	$(SANITIZE_VENV)/bin/python -m pip $(PIP_INSTALL) --group test
	touch $@

$(SANITIZE_VENV)/.built: $(SANITIZE_VENV)/.made $(CORE_SOURCES)
	$(SANITIZE_VENV)/bin/python -m pip $(PIP_INSTALL) -Cbuild-dir=build/sanitize-python \
		-Ccmake.define.GRAPHMOUNT_SANITIZE=address,undefined --editable .
	touch $@

fuzz: $(VENV)/.tools ## read damaged files for a minute, under Address- and UBSanitizer
	$(call build-core,build/sanitize-core,-DGRAPHMOUNT_SANITIZE=address$(comma)undefined)
	cd build/sanitize-core && for name in open text; do $(SANITIZER_OPTIONS) \
		fuzz/fuzz_$$name --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) || exit 1; done

lint: $(VENV)/.built $(VENV)/.tools ## ruff, mypy, clang-format, codespell, stub drift
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	$(BIN)/codespell
	diff -u src/graphmount/_core.pyi $$(ls -t build/cp*/_core.pyi | head -n 1)

format: $(VENV)/.built $(VENV)/.tools ## apply the formatters and renew the stub
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)
	cp $$(ls -t build/cp*/_core.pyi | head -n 1) src/graphmount/_core.pyi

bench: $(VENV)/.built $(VENV)/.tools ## all benchmarks, with small files: BENCH_OPTIONS= for the full ones
	$(BIN)/graphmount bench all $(BENCH_OPTIONS) --out build/bench

docs: $(VENV)/.built $(VENV)/.tools ## build the documentation into site/
	$(BIN)/mkdocs build --strict

clean: ## remove everything that was built
	rm -rf build dist site $(VENV) .venv-sanitize
