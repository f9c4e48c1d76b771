# Everything from a fresh clone: `make demo` and `make test` set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := install --disable-pip-version-check -c constraints.txt
# $(call say,WHAT): a line before each step that takes long; without commas.
say = @printf '\n== %s\n' "$(1)"
CORE_SOURCES := CMakeLists.txt pyproject.toml $(shell find cpp bindings -type f)
CPP_FILES := $(shell find cpp bindings tests/cpp fuzz -name '*.[ch]pp')
DEMO_FOLDER ?= build/demo
DEMO_OPTIONS ?=
BENCH_OPTIONS ?= --quick
# Two processes of tests; a process that has nothing left to do takes tests from the other.
PARALLEL ?= --numprocesses 2 --dist worksteal
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= $(shell date +%s)
# The fuzzers of the core, then those of readers in Python.
FUZZERS := gl gd text
PYTHON_FUZZERS := dataset matrix_market
PYTHON_READERS := */graphmount/_dataset/description.py,*/graphmount/_sources/text/matrix_market.py
# What the editable install of .venv was compiled in.
BUILD := build/editable
# Environments for each kind of sanitizer: Address and UB, or Thread.
SANITIZE_VENV := .venv-sanitize
THREAD_VENV := .venv-thread
# Aborting, rather than exiting, lets the fuzzer keep the input that did it.
SANITIZER_OPTIONS := UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:abort_on_error=1 \
	ASAN_OPTIONS=abort_on_error=1
THREAD_OPTIONS := TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$(CURDIR)/tests/tsan.supp
# $(call libraries,NAMES): the shared libraries of the compiler.
libraries = $(foreach name,$(1),$(shell $(CXX) -print-file-name=lib$(name).so))
# GCC's ThreadSanitizer does not start where the kernel spreads addresses too far.
NO_ASLR := $(shell command -v setarch >/dev/null && echo setarch -R)
# What was compiled before, with the same options, is not compiled again.
LAUNCHER := $(shell command -v ccache >/dev/null && echo CMAKE_CXX_COMPILER_LAUNCHER=ccache)
# The core as gcov measures it; counts of many threads must not get lost.
COVERAGE_OPTIONS := -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='--coverage -fprofile-update=atomic'
comma := ,

.PHONY: help build demo test test-all lint format docs test-cpp test-python bench clean \
	coverage sanitize sanitize-core sanitize-thread sanitize-python sanitize-stress fuzz fuzz-coverage

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# What an earlier environment was built with may be gone: begin anew.
$(VENV)/.made:
	$(call say,making $(VENV))
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip $(PIP_INSTALL) --quiet --upgrade pip
	rm -rf $(BUILD)
	touch $@

# $(call install-editable,FOLDER OF THE BUILD,OPTIONS): compiles graphmount and installs it into the
# environment of the target, which has the tools for it. Changes to Python files count at once.
define install-editable
	$(call say,compiling graphmount for $(@D): a few minutes)
	@$(@D)/bin/python tools/show_build.py $(1).log $(@D)/bin/python -m pip $(PIP_INSTALL) -v --no-build-isolation \
		-Cbuild-dir=$(1) $(2) --editable .
	@touch $@
endef

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(call say,installing what compiling needs into $(VENV))
	$(BIN)/python -m pip $(PIP_INSTALL) --quiet --group build
	$(call install-editable,$(BUILD),-Ccmake.define.GRAPHMOUNT_WERROR=ON)

# A change to C++ files takes no pip: they are compiled where they were, and the module is replaced.
$(VENV)/.built: $(VENV)/.installed $(CORE_SOURCES)
	@$(BIN)/cmake --build $(BUILD)
	@$(BIN)/cmake --install $(BUILD) --strip \
		--prefix "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" >$(BUILD).install.log
	@touch $@

$(VENV)/.tools: $(VENV)/.made pyproject.toml constraints.txt
	$(call say,installing torch and the tools of tests and linters and docs: some hundred MB)
	$(BIN)/python -m pip $(PIP_INSTALL) --group test --group lint --group docs torch
	$(call say,installing what tests compare with and do without if need be)
	-$(BIN)/python -m pip $(PIP_INSTALL) torch_geometric graphzero scikit-learn
	-$(BIN)/python -m pip $(PIP_INSTALL) pytorch-lightning torchdata
	-$(BIN)/python -m pip $(PIP_INSTALL) "ray[data,train]"
	touch $@

build: $(VENV)/.built ## compile and install into .venv

$(VENV)/.demo: $(VENV)/.made constraints.txt
	$(call say,installing torch and matplotlib for the demo: some hundred MB)
	$(BIN)/python -m pip $(PIP_INSTALL) torch matplotlib
	$(call say,installing PyG which the demo compares with and does without if need be)
	-$(BIN)/python -m pip $(PIP_INSTALL) torch_geometric
	touch $@

demo: build $(VENV)/.demo ## train on a dataset larger than memory: PyG, a mapped tensor and graphmount
	$(BIN)/python examples/demo.py $(DEMO_FOLDER) $(DEMO_OPTIONS)

test: lint test-cpp test-python ## all checks and tests, with short campaigns
test-all: lint test-cpp sanitize fuzz ## all checks and tests, with long campaigns, and sanitizers
	GRAPHMOUNT_LONG=1 $(BIN)/ctest --test-dir build/core --output-on-failure --tests-regex faults
	GRAPHMOUNT_LONG=1 $(BIN)/python -m pytest

test-python: $(VENV)/.built $(VENV)/.tools
	$(call say,testing Python in two processes)
	$(BIN)/python -m pytest $(PARALLEL)

# $(call build-core,FOLDER,OPTIONS,TARGETS): the core, its tests and the fuzzers, or some of them,
# without Python.
define build-core
	$(call say,compiling the tests of the core in $(1))
	@mkdir -p build
	$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		$(LAUNCHER:%=-D%) -DGRAPHMOUNT_PYTHON=OFF -DGRAPHMOUNT_TESTS=ON -DGRAPHMOUNT_WERROR=ON $(2) >$(1).log 2>&1 \
		|| (cat $(1).log; exit 1)
	$(BIN)/cmake --build $(1) $(if $(3),--target $(3))
endef

test-cpp: $(VENV)/.built $(VENV)/.tools ## tests of the core, which is the one that Python has
	$(call build-core,build/core,-DGRAPHMOUNT_TESTED_CORE=$(CURDIR)/$(BUILD)/libgraphmount_core.a)
	$(call say,testing the core)
	$(BIN)/ctest --test-dir build/core --output-on-failure --parallel 2

# All of it takes less than an hour on two cores; each part stands alone, as in CI.
sanitize: sanitize-core sanitize-thread sanitize-python sanitize-stress ## the tests under Address-, UB- and ThreadSanitizer

# Without precompiled headers, which would hide that a file lacks an include.
sanitize-core: $(VENV)/.tools # AddressSanitizer and UBSan over the tests of the core
	$(call build-core,build/sanitize-core,-DGRAPHMOUNT_SANITIZE=address$(comma)undefined -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
	$(SANITIZER_OPTIONS) $(BIN)/ctest --test-dir build/sanitize-core --output-on-failure --parallel 2

sanitize-thread: $(VENV)/.tools # ThreadSanitizer over the tests of the core
	$(call build-core,build/tsan-core,-DGRAPHMOUNT_SANITIZE=thread)
	$(THREAD_OPTIONS) $(NO_ASLR) $(BIN)/ctest --test-dir build/tsan-core --output-on-failure --parallel 2

# AddressSanitizer and UBSan over the Python tests. An environment of its own, without torch, which
# sanitizers do not get along with. Python itself is not built with them, so the libraries have to be
# there before it starts. GRAPHMOUNT_SANITIZED tells the tests, some of which measure what sanitizers
# distort.
sanitize-python: $(SANITIZE_VENV)/.built
	LD_PRELOAD="$(call libraries,asan ubsan stdc++)" $(SANITIZER_OPTIONS):detect_leaks=0 GRAPHMOUNT_SANITIZED=1 \
		$(SANITIZE_VENV)/bin/python -m pytest tests/python -p no:cacheprovider $(PARALLEL)

# ThreadSanitizer over the Python tests that call from many threads. Python is not built with it: it
# sees what our code does, and the locks of the C library, the GIL among them.
sanitize-stress: $(THREAD_VENV)/.built
	LD_PRELOAD="$(call libraries,tsan stdc++)" $(THREAD_OPTIONS):die_after_fork=0 GRAPHMOUNT_SANITIZED=1 \
		$(NO_ASLR) $(THREAD_VENV)/bin/python -m pytest tests/python/*/test_*stress*.py tests/python/system/test_threads.py \
		-p no:cacheprovider

$(SANITIZE_VENV)/.made $(THREAD_VENV)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip $(PIP_INSTALL) --quiet --upgrade pip
	$(call say,installing the tools of the tests into $(@D))
	$(@D)/bin/python -m pip $(PIP_INSTALL) --group test
	touch $@

# $(call install-sanitized,FOLDER OF THE BUILD,SANITIZERS)
install-sanitized = $(call install-editable,$(1),-Cinstall.strip=false -Ccmake.define.GRAPHMOUNT_SANITIZE=$(2) \
	$(LAUNCHER:%=-Ccmake.define.%))

$(SANITIZE_VENV)/.built: $(SANITIZE_VENV)/.made $(CORE_SOURCES)
	$(call install-sanitized,build/sanitize-python,address$(comma)undefined)

$(THREAD_VENV)/.built: $(THREAD_VENV)/.made $(CORE_SOURCES)
	$(call install-sanitized,build/tsan-python,thread)

# $(call run-fuzzers,FOLDER OF THE BUILD,HOW TO RUN PYTHON): each for FUZZ_SECONDS.
define run-fuzzers
	set -e; for name in $(FUZZERS); do \
		$(BIN)/python fuzz/unpack_corpus.py $$name build/fuzz-corpus/$$name; \
		(cd $(1) && $(SANITIZER_OPTIONS) fuzz/fuzz_$$name --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) \
			--corpus $(CURDIR)/build/fuzz-corpus/$$name); done
	set -e; for name in $(PYTHON_FUZZERS); do \
		$(2) fuzz/fuzz_$$name.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED); done
endef

fuzz: $(VENV)/.built $(VENV)/.tools ## read damaged files for a minute each, those of the core under Address- and UBSanitizer
	$(call build-core,build/sanitize-core,-DGRAPHMOUNT_SANITIZE=address$(comma)undefined -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON,$(FUZZERS:%=fuzz_%))
	$(call run-fuzzers,build/sanitize-core,$(BIN)/python)

fuzz-coverage: $(VENV)/.built $(VENV)/.tools ## the same, and then which lines of the readers were reached
	$(BIN)/python -m pip $(PIP_INSTALL) coverage
	$(call build-core,build/coverage-core,$(COVERAGE_OPTIONS),$(FUZZERS:%=fuzz_%))
	find build/coverage-core -name '*.gcda' -delete
	rm -f build/.coverage
	$(call run-fuzzers,build/coverage-core,$(BIN)/python -m coverage run --append --data-file=build/.coverage --include='$(PYTHON_READERS)')
	$(BIN)/python -m coverage json --data-file=build/.coverage -o build/coverage.json
	$(BIN)/python tools/fuzz_coverage.py build/coverage-core build/coverage.json

# Python: all tests, with the processes that they start. The core: its own tests, each line as the
# compiler saw it, so without optimization.
coverage: $(VENV)/.built $(VENV)/.tools ## lines and branches that the tests reach, of Python and of the core
	$(BIN)/python -m pip $(PIP_INSTALL) --quiet 'coverage>=7.10'
	$(call build-core,build/coverage-core,$(COVERAGE_OPTIONS))
	find build/coverage-core -name '*.gcda' -delete
	$(BIN)/ctest --test-dir build/coverage-core --output-on-failure --parallel 2
	rm -f build/coverage/data*
	$(BIN)/python -m coverage run -m pytest $(PARALLEL)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered
	$(BIN)/python tools/core_coverage.py build/coverage-core

lint: $(VENV)/.built $(VENV)/.tools ## ruff, mypy, clang-format, codespell, stub drift
	$(call say,linting)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@echo "$(BIN)/clang-format of all C++ files"
	@$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	$(BIN)/codespell
	diff -u src/graphmount/_core.pyi $(BUILD)/_core.pyi

format: $(VENV)/.built $(VENV)/.tools ## apply the formatters and renew the stub
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)
	cp $(BUILD)/_core.pyi src/graphmount/_core.pyi

bench: $(VENV)/.built $(VENV)/.tools ## all benchmarks, with small files: BENCH_OPTIONS= for the full ones
	$(BIN)/graphmount bench all $(BENCH_OPTIONS) --out build/bench

docs: $(VENV)/.built $(VENV)/.tools ## build the documentation into build/site/; a warning is an error
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet \
		--doctree-dir build/docs docs build/site

clean: ## remove everything that was built
	rm -rf build dist $(VENV) $(SANITIZE_VENV) $(THREAD_VENV)
