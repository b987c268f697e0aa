# `make demo` and `make test` each build a virtual environment from nothing and do their job.
PYTHON ?= python3
BIN := .venv/bin
RUN := runs/demo

.PHONY: demo test slow lint clean

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "allgoals needs Python 3.11 or later; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[control,studies,tensorboard,dev]'
	@touch $@

demo: .venv/installed  ## train on a maze, write a report and a clip
	@rm -rf $(RUN) && mkdir -p $(dir $(RUN))
	$(BIN)/allgoals train gridworld/dual_leo_pqn --out $(RUN)
	$(BIN)/allgoals report $(RUN) --out $(RUN)/report.html
	$(BIN)/allgoals watch $(RUN) --out $(RUN)/clip.gif

test: .venv/installed  ## everything but the slow tests
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

slow: .venv/installed  ## learning thresholds and killed runs
	$(BIN)/python -m pytest -n 2 --dist loadfile -q -m slow

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
