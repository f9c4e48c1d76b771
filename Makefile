# Everything from a fresh clone: `make demo` and `make test` set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := install --quiet --disable-pip-version-check -c constraints.txt
CORE_SOURCES := CMakeLists.txt pyproject.toml $(wildcard cpp/graphmount/*) $(wildcard bindings/*)
CPP_FILES := $(wildcard cpp/graphmount/*.[ch]pp bindings/*.[ch]pp tests/cpp/*.[ch]pp)
DEMO_FOLDER ?= build/demo

.PHONY: help build demo test test-all lint format docs test-cpp test-python sanitize bench clean

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
	touch $@

build: $(VENV)/.built ## compile and install into .venv

demo: build ## make a graph, mount it, show what is in it
	$(BIN)/python examples/make_graph.py $(DEMO_FOLDER)
	$(BIN)/graphmount info $(DEMO_FOLDER)/graph.gl $(DEMO_FOLDER)/features.gd
	$(BIN)/graphmount verify $(DEMO_FOLDER)/graph.gl $(DEMO_FOLDER)/features.gd

test: lint test-cpp test-python ## all checks and tests, with short campaigns
test-all: lint test-cpp sanitize ## all checks and tests, with long campaigns, and sanitizers
	GRAPHMOUNT_LONG=1 $(BIN)/python -m pytest

test-python: $(VENV)/.built $(VENV)/.tools
	$(BIN)/python -m pytest

test-cpp: $(VENV)/.tools
	$(BIN)/cmake -S . -B build/core -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DGRAPHMOUNT_PYTHON=OFF -DGRAPHMOUNT_TESTS=ON -DGRAPHMOUNT_WERROR=ON >build/core.log 2>&1 \
		|| (cat build/core.log; exit 1)
	$(BIN)/cmake --build build/core
	$(BIN)/ctest --test-dir build/core --output-on-failure

lint: $(VENV)/.built $(VENV)/.tools ## ruff, mypy, clang-format, codespell, stub drift
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	$(BIN)/codespell
	diff -u src/graphmount/_core.pyi build/cp*/_core.pyi

format: $(VENV)/.built $(VENV)/.tools ## apply the formatters and renew the stub
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)
	cp build/cp*/_core.pyi src/graphmount/_core.pyi

docs: $(VENV)/.built $(VENV)/.tools ## build the documentation into site/
	$(BIN)/mkdocs build --strict

clean: ## remove everything that was built
	rm -rf build dist site $(VENV) .venv-sanitize
