# make run    the dashboard on the bundled example       PORT=8501, ROLLSCOPE_NO_BROWSER=1
# make quick  linters, types and the fastest tests: half a minute
# make test   linters, types and every behaviour once    PAGES=no leaves out the tests that need Chromium
# make test-all   `make test`, then everything slow: half an hour
# make test-slow  what `make test-all` adds
# make attacks    a part of that: the attacks and the honest programs, as root and not, with namespaces and without
# make lint   linters and types alone
# make docs   the documentation as a site, into site/
# make screenshots  every page into docs/images; RUN=runs/mine
# make dist   the sdist and the wheel, into dist/
# make licences  the licence of each package that an installation with every extra brings
# make bench  the benchmarks; figures on stdout
# make test-nemo-gym  the tests on real releases of NeMo Gym; see docs/integrations/nemo-gym-releases.md
# make test-trainers  our rewards in real trainers, compared to the trainers' own graders   TRAINERS="trl verl" chooses
# Each makes or updates .venv by itself first. PYTHON=/path/to/python3 chooses the interpreter.

.POSIX:
# A file of tests is one worker's, so that its fixtures are made once. Compiled files are kept, whatever the environment says:
# the tests start hundreds of processes of Python.
PYTEST = env PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
QUICK = tests/checkers tests/formats tests/flags tests/extraction tests/test_metrics.py tests/test_docs.py \
	tests/test_house.py tests/test_architecture.py tests/graders/test_smoke.py \
	tests/dashboard/test_pages.py::test_no_address_makes_a_page_fail_or_draws_markup_from_a_file
RUFF = .venv/bin/ruff check . && .venv/bin/ruff format --check .
MYPY = .venv/bin/mypy
FAST = not slow and not attacks
# Hypothesis' tests again, with many examples.
SLOW = slow or attacks or hypothesis
# Sets CHROMIUM, and PAGES to what leaves the tests out that need it.
BROWSER = if [ "$${PAGES:-yes}" = no ]; then PAGES=--ignore=tests/browser; else PAGES=; \
	CHROMIUM=$$(.venv/bin/python -I tools/environment.py browser) || exit 2; export CHROMIUM; fi

.PHONY: run quick test test-all test-slow attacks test-nemo-gym test-trainers docs screenshots lint dist licences bench lock \
	environment environment-dev check
SHELL = /bin/sh

run: environment
	@exec .venv/bin/rollscope view $${PORT:+--port "$$PORT"}

quick: environment-dev
	@$(MAKE) -s check && exec $(PYTEST) --maxprocesses 2 -m "$(FAST)" $(QUICK) $$PYTEST_ARGS

# Types are checked beside the tests, which wait much of their time.
test: environment-dev
	@$(BROWSER); $(RUFF) || exit; $(MYPY) >.mypy.log 2>&1 & types=$$!; \
	$(PYTEST) -m "$(FAST)" $$PAGES $$PYTEST_ARGS; tests=$$?; \
	wait $$types || { cat .mypy.log; exit 1; }; exit $$tests

test-all: test test-slow

test-slow: environment-dev
	@$(BROWSER); exec $(PYTEST) -m "$(SLOW)" --hypothesis-profile=many $$PAGES $$PYTEST_ARGS

attacks: environment-dev
	@exec $(PYTEST) -m attacks $$PYTEST_ARGS

test-nemo-gym: environment-dev
	@exec .venv/bin/python tools/nemo_gym_release.py

test-trainers: environment-dev
	@exec .venv/bin/python tools/trainers.py

docs: environment
	@exec .venv/bin/python tools/docs_site.py

screenshots: environment-dev
	@CHROMIUM=$$(.venv/bin/python -I tools/environment.py browser) || exit 2; export CHROMIUM; \
	exec .venv/bin/python tools/screenshots.py $$RUN

lint: environment-dev
	@$(MAKE) -s check

check:
	@$(RUFF) && $(MYPY)

dist: environment
	@rm -rf dist && exec .venv/bin/python -m hatchling build

licences: environment
	@exec .venv/bin/python tools/licences.py

bench: environment-dev
	@for script in benchmarks/[!_]*.py; do echo "== $$script"; .venv/bin/python "$$script" || exit 1; done

# For who changes a range in pyproject.toml; needs uv on the PATH.
lock:
	@sh tools/lock.sh

environment:
	@PYTHON="$${PYTHON:-}" sh tools/environment.sh run

environment-dev:
	@PYTHON="$${PYTHON:-}" sh tools/environment.sh dev
