# Two commands do everything: `make lab` opens the quickstart, `make test` checks the whole project; `make quick`
# checks in two minutes what most changes can break. Set-up happens once, in .venv, and again only when
# pyproject.toml or the sources of the extension change.

PYTHON ?= python3
# one environment per Python that is named, so that `make test PYTHON=python3.13` leaves .venv as it is
VENV   ?= $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
# processes that run tests; the tests of a file stay together, since they share what is slow to set up
JOBS   ?= auto
# random inputs of `make fuzz`
INPUTS ?= 10000
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile

# the sources of the JupyterLab extension, without what its build writes
LAB := $(shell find lab -type f -not -path '*/node_modules/*' -not -path 'lab/lib/*' -not -path '*/generated/*' \
	-not -path '*/__pycache__/*' -not -name .built -not -name .checked) diffnb/_candidates.py
# the views of the panels, which are checked and tested together with the extension
VIEWS := $(shell find diffnb/panels/static -type f)

# tests run in several processes: threads of BLAS would only wait for each other
unit test-newest quick fuzz: export OMP_NUM_THREADS = 1
unit test-newest quick fuzz: export OPENBLAS_NUM_THREADS = 1

.PHONY: help python lab test test-newest test-lowest release quick fuzz evidence pre-commit lint types unit bundle extension browser notebooks docs clean

help:
	@echo "make lab    set up, then open JupyterLab on the quickstart"
	@echo "make quick  set up, then run ruff, mypy and the fast tests in Python: for use while working"
	@echo "make test   set up, then run ruff, mypy, the tests in Python, TypeScript and a browser, and the notebooks"
	@echo "make fuzz   set up, then try 10,000 random inputs on all tools (make INPUTS=1000 fuzz: fewer)"
	@echo "make evidence  set up, then measure every item of the papers and write their page (ITEMS=disc: of one method)"
	@echo "make test PYTHON=python3.13  the same with another Python, in an environment of its own"
	@echo "make test-newest PYTHON=python3.13  run the tests in Python with what pip install diffnb brings there, pandas 3 included"
	@echo "make test-lowest  set up the lowest versions that pyproject.toml allows, in .venv-lowest, and run the tests in Python"
	@echo "make release  build sdist and wheel into dist/ and check that they can be released (DRAFT=1: without date and tag)"
	@echo "make docs   set up, then build the documentation into docs/_build/html"
	@echo "make pre-commit  check style and types at every commit"
	@echo "make clean  remove the virtual environment and caches"

python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "diffnb needs Python 3.11 or newer, and '$(PYTHON)' was not found. Install it, or name one: make PYTHON=/path/to/python3.11 lab"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "diffnb needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name a newer one: make PYTHON=/path/to/python3.11 lab"; exit 1; }

$(VENV)/.lab: pyproject.toml $(filter-out lab/test/%,$(LAB)) | python
	@echo "Setting up $(VENV) (once, a few minutes: the JupyterLab extension is built, too) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip
	@$(PIP) install -e '.[lab]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.lab
	@echo "Adding the test tools ..."
	@$(PIP) install -e '.[test]'
	@touch $@

# JupyterLab refuses to run as root, the user of most containers, unless it is allowed to
lab: $(VENV)/.lab
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/00_quickstart.ipynb

test: lint types extension unit browser notebooks

# no coverage, no doctests, no test that is marked as slow
quick: lint types
	$(PYTEST) tests --ignore=tests/browser -m "not slow" -q

# every tool on random data that is stored, ordered and scaled in other ways: as many inputs as one likes
fuzz: $(VENV)/.test
	$(BIN)/python benchmarks/hostile.py --inputs $(INPUTS)

# what `pip install diffnb` brings; lifelines, which only survival needs, would hold pandas below 3, and works with it
test-newest: bundle
	$(PIP) install --upgrade pandas
	$(PYTEST) tests --ignore=tests/browser

# the lowest versions of what diffnb depends on, chosen from the bounds in pyproject.toml
LOWEST := .venv-lowest
test-lowest: export OMP_NUM_THREADS = 1
test-lowest: export OPENBLAS_NUM_THREADS = 1
test-lowest: | python
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(PYTHON) .ci/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --disable-pip-version-check -q --upgrade pip
	$(LOWEST)/bin/python -m pip install --disable-pip-version-check -q -c $(LOWEST)/constraints.txt -e '.[test]'
	$(LOWEST)/bin/python -m pytest -n $(JOBS) --dist loadfile tests --ignore=tests/browser

# every item of the papers, measured, and the page of the docs that shows them: an hour or two
evidence: export OMP_NUM_THREADS = 1
evidence: export OPENBLAS_NUM_THREADS = 1
evidence: $(VENV)/.test
	$(BIN)/python benchmarks/evidence.py $(ITEMS)

# sdist and wheel in dist/, with everything that must be true of them; the workflow `release` does this with a tag
release: bundle
	$(BIN)/python .ci/release.py $(if $(DRAFT),--draft)

pre-commit: $(VENV)/.test
	$(BIN)/pre-commit install

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/check_files.py

types: $(VENV)/.test
	$(BIN)/mypy

# the extension as installed is that of the sources; nothing is built when it is
bundle: $(VENV)/.test
	@$(BIN)/python lab/bundle.py || { echo "Building the JupyterLab extension ..."; $(PIP) install --no-deps -e .; }

extension: bundle lab/.checked

# compiler, linter and unit tests of the extension and of the views, when one of their files has changed
lab/.checked: $(LAB) $(VIEWS) $(VENV)/.test
	@test lab/node_modules/.package-lock.json -nt lab/package-lock.json || (cd lab && PATH="$(abspath $(BIN)):$$PATH" npm ci --loglevel=error)
	cd lab && PATH="$(abspath $(BIN)):$$PATH" npm run --silent check
	@touch $@

unit: bundle
	$(PYTEST) --doctest-modules diffnb tests --ignore=tests/browser --cov --cov-report=term

# in JupyterLab itself; skipped where there is no chromium, unless CI=true. A page on a busy machine may be late: a
# test that fails is repeated once and reported; one that hangs fails, with its stack
browser: bundle
	$(BIN)/python -m pytest tests/browser --reruns 1 --timeout=300 --timeout-method=thread

notebooks: $(VENV)/.test
	$(BIN)/python -m pytest --nbmake --nbmake-timeout=900 notebooks -p no:warnings

# nothing is fetched and no notebook is run; a warning is an error
docs: $(VENV)/.test
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky docs docs/_build/html
	@echo "Built docs/_build/html/index.html"

clean:
	rm -rf docs/_build docs/project docs/reference/api/generated docs/reference/api/*.rst docs/tutorials/*.ipynb
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .coverage build dist
	rm -rf diffnb/labextension lab/node_modules lab/lib lab/src/generated lab/.built lab/.checked
