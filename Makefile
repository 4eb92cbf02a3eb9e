# make run    the dashboard on the bundled example       PORT=8501, ROLLSCOPE_NO_BROWSER=1
# make test   linters, types and all tests               PAGES=no leaves out the tests that need Chromium
# make lint   linters and types alone
# make bench  the benchmarks; figures on stdout
# make test-nemo-gym  the tests on real releases of NeMo Gym; see docs/nemo-gym-releases.md
# Each makes or updates .venv by itself first. PYTHON=/path/to/python3 chooses the interpreter.

.POSIX:
.PHONY: run test test-nemo-gym lint bench lock environment environment-dev check
SHELL = /bin/sh

run: environment
	@exec .venv/bin/rollscope view $${PORT:+--port "$$PORT"}

test: environment-dev
	@if [ "$${PAGES:-yes}" = no ]; then pages=--ignore=tests/browser; \
	else CHROMIUM=$$(.venv/bin/python -I tools/environment.py browser) || exit 2; export CHROMIUM; pages=; fi; \
	$(MAKE) -s check && exec .venv/bin/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile \
		$$pages $$PYTEST_ARGS

test-nemo-gym: environment-dev
	@exec .venv/bin/python tools/nemo_gym_release.py

lint: environment-dev
	@$(MAKE) -s check

check:
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

bench: environment-dev
	@for script in benchmarks/[!_]*.py; do echo "== $$script"; .venv/bin/python "$$script" || exit 1; done

# For who changes a range in pyproject.toml; needs uv on the PATH.
lock:
	@sh tools/lock.sh

environment:
	@PYTHON="$${PYTHON:-}" sh tools/environment.sh run

environment-dev:
	@PYTHON="$${PYTHON:-}" sh tools/environment.sh dev
