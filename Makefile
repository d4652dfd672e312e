# The two commands of the README. Each sets up .venv on first use and re-installs only when pyproject.toml changed.
# Without compiling: half of the time, for modules of which most are never imported.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: reproduce results untuned rivals operations models tutorials settings pictures theory test test-fast js bench interop clean house diagram

reproduce: .venv/.installed
	$(BIN)/aapi reproduce --out results/quick
	$(BIN)/aapi figures results/quick --format pdf --format png

# docs/results.md: everything, as in the paper, and the text around it.
results: .venv/.installed
	$(BIN)/aapi reproduce all --preset paper --out results/paper
	$(BIN)/aapi sweep studies/why-deep-sea.toml --out results/why
	$(BIN)/python docs/results.py results/paper results/why

# docs/untuned.md: AAPI without tuning, against tuned rivals, on both halves of the zoo; what exploration and η do.
untuned: .venv/.installed
	$(BIN)/aapi reproduce zoo --half reporting --preset paper --runs 50 --seed 2 --out results/zoo-reporting
	$(BIN)/aapi reproduce zoo --half development --preset paper --runs 10 --seed 1 --out results/zoo-development
	$(BIN)/aapi reproduce untuned --preset paper --seed 1 --out results/untuned
	$(BIN)/aapi sweep studies/exploration.toml --out results/exploration
	$(BIN)/aapi sweep studies/flat.toml --out results/flat
	$(BIN)/aapi sweep studies/aims.toml --out results/aims
	$(BIN)/aapi reproduce ablation --preset paper --out results/ablation
	$(BIN)/aapi figures results/ablation --format png
	$(BIN)/python docs/untuned.py results

# docs/rivals.md: every algorithm, as published and tuned.
rivals: .venv/.installed
	$(BIN)/aapi reproduce rivals --preset paper --runs 10 --seed 1 --out results/rivals
	$(BIN)/python docs/rivals.py results/rivals

# docs/models.md: how often intervals from logs hold the true gain.
models: .venv/.installed
	mkdir -p results
	$(BIN)/python benchmarks/estimated.py 300 2026 > results/estimated.md
	$(BIN)/python docs/models.py results/estimated.md

# docs/operations.md and its pictures: queues, stock and machines, and a continuing suite.
operations: .venv/.installed
	$(BIN)/aapi reproduce operations --preset paper --runs 3 --seed 1 --out results/operations
	$(BIN)/python benchmarks/learnt_queues.py > results/learnt-queues.md
	$(BIN)/python docs/operations.py results/operations results/learnt-queues.md

# docs/tutorials/: what their code and commands print, and pictures.
tutorials: .venv/.installed
	$(BIN)/python docs/tutorials.py

# docs/theory.md and its pictures: every lemma, and what was measured.
theory: .venv/.installed
	$(BIN)/python docs/theory.py

# The studies that chose what AAPI and POLITEX share on each problem.
settings: .venv/.installed
	mkdir -p results
	for study in ergodic deep-sea deep-sea-ridge cartpole rlsvi; do \
	  $(BIN)/aapi sweep studies/settings-$$study.toml --out results/settings --json > results/settings-$$study.json && \
	  $(BIN)/python studies/choose.py < results/settings-$$study.json || exit; done

# The pictures of the documentation, in a real browser (Debian: apt install chromium).
pictures: .venv/.installed-dev
	$(BIN)/aapi reproduce all --preset paper --out results/paper
	$(BIN)/python docs/pictures.py results/paper

test: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# What takes no seconds: nearly all tests, in under two minutes, without lint.
test-fast: .venv/.installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m "not slow"

# The JavaScript of report.html: lint, types by report/page_data.py, unit tests. For development only; it needs npm.
js: .venv/.installed-dev node_modules/.installed
	$(BIN)/python tools/page_types.py tools/page_data.d.ts
	npm run --silent lint
	npm run --silent types
	npm run --silent test

# How large the house is, and how tidy: lines, modules, Any, probes, and who asks how Q-functions are held.
house:
	@$(PYTHON) tools/house.py src/aapi

# docs/pictures/imports.svg, from the import graph.
diagram: .venv/.installed-dev
	$(BIN)/python tools/import_graph.py

# Peers have demands of their own on versions, so the benchmarks live in an environment of their own.
bench: .venv-bench/.installed
	.venv-bench/bin/python benchmarks/solver.py
	.venv-bench/bin/python benchmarks/learning.py
	.venv-bench/bin/python benchmarks/continuous.py
	.venv-bench/bin/python benchmarks/theory.py
	.venv-bench/bin/python benchmarks/all_data.py
	.venv-bench/bin/python benchmarks/large.py
	.venv-bench/bin/python benchmarks/online.py
	.venv-bench/bin/python benchmarks/rivals.py

# Stable-Baselines3 on our environments, and judged beside our agents; apart, because it needs torch.
interop: .venv-interop/.installed
	.venv-interop/bin/python interop/check.py
	.venv-interop/bin/python interop/judge.py
	.venv-interop/bin/python interop/vectors.py --rivals

.venv/.installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[plots]'
	@touch $@

.venv/.installed-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch .venv/.installed $@

node_modules/.installed: package.json
	npm install --silent
	@touch $@

.venv-bench/.installed: .venv-bench/bin/python pyproject.toml benchmarks/requirements.txt
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable . --requirement benchmarks/requirements.txt
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps statisticalrl-learners==2.2507  # it pins an old NumPy
	@touch $@

.venv-interop/.installed: .venv-interop/bin/python pyproject.toml interop/requirements.txt
	.venv-interop/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable . --requirement interop/requirements.txt
	@touch $@

.venv/bin/python .venv-bench/bin/python .venv-interop/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v < (3, 14) else f"aapi needs Python 3.11 to 3.13, and $(PYTHON) is {v[0]}.{v[1]}: name another with make PYTHON=python3.12 …")'
	@echo 'Setting up $(@:/bin/python=) (about a minute, once) …'
	@$(PYTHON) -m venv $(@:/bin/python=) || { rm -rf $(@:/bin/python=); echo 'Could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv'; exit 1; }

clean:
	rm -rf .venv .venv-bench .venv-interop node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
