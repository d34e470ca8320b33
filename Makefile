# One command surface. Works with GNU make and Python 3.11 or newer; everything else comes from PyPI.
# `make run` installs what the app needs; the targets for developers add their tools.
PYTHON ?= python3
BASE := .venv
ORACLE := .venv-oracle
PY := $(BASE)/bin/python
ORACLE_PY := $(ORACLE)/bin/python
# The versions that the tests were run with; `make lock` renews them.
INSTALL := pip install --quiet --constraint constraints.txt --editable
# Two processes: much of the tests' time is waiting for others, and each takes up to 3 GB.
PARALLEL := -n 2 --dist loadfile
# The processes that tests start read modules that are compiled, wherever that is allowed at all.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test oracle swiftshader display fidelity gpu check format bench screenshots clean

# Opens the window; where there is no display it makes a picture.
run: $(BASE)/.installed
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; then $(PY) -I -m app; \
	else $(PY) -I -m app generate "a red house by the sea at night"; fi

# The lines of these rooms, which run nothing on a device, are counted: too few fail the run.
COVERED := api bake checkpoints compile embeddings families lora memory metadata output sampling \
  text weights
test: $(BASE)/.tools
	$(PY) -m pytest $(PARALLEL) --durations=20 -m "not oracle and not slow and not gpu" \
	  -p tests.line_coverage $(COVERED:%=--count-lines=engine/%)

# Exhaustive tests and full-size networks.
.PHONY: thorough
thorough: $(ORACLE)/.installed
	$(ORACLE_PY) -m pytest $(PARALLEL) --durations=20 -m "slow and not gpu"

oracle: $(ORACLE)/.installed
	$(ORACLE_PY) -m pytest $(PARALLEL) -m "oracle and not slow and not gpu" tests

# A Vulkan driver on the processor, which Debian's chromium brings; with it the tests of WebGPU run.
# Needs apt but not root, where the lists of packages are fresh.
SWIFTSHADER := build/swiftshader
swiftshader: $(SWIFTSHADER)/vk_swiftshader_icd.json
$(SWIFTSHADER)/vk_swiftshader_icd.json:
	mkdir -p $(SWIFTSHADER)/package
	-apt-get update -qq
	cd $(SWIFTSHADER)/package && apt-get download -qq chromium-common
	dpkg-deb --fsys-tarfile $(SWIFTSHADER)/package/*.deb | tar -x -C $(SWIFTSHADER) --strip-components=4 \
	  $(addprefix ./usr/lib/chromium/,libvulkan.so.1 libvk_swiftshader.so vk_swiftshader_icd.json)
	rm -r $(SWIFTSHADER)/package

# What the tests of the real window need on Debian: an X server in memory, a window manager, mouse
# and keys, and what Qt wants of the system. Needs root, and fresh lists of packages.
display: $(BASE)/.installed
	apt-get install -qq -y xvfb openbox xdotool fonts-dejavu-core \
	  $$($(PY) -c "from app.display import PACKAGES; print(PACKAGES)")

# What once went wrong for people, tried again by hand; pictures of the screen go to build/trial.
.PHONY: trial
trial: $(BASE)/.tools
	$(PY) -m pytest --durations=20 -m slow tests/ui/real_window/trial

# Hours of real events at random in the real window; another SEED does other things.
HOURS ?= 8
SEED ?= 1
.PHONY: monkey
monkey: $(BASE)/.tools
	$(PY) -m tests.monkey --seed $(SEED) --minutes $$(( $(HOURS) * 60 )) --into build/monkey

# On a machine with a graphics card. GPU_PY is an interpreter whose torch knows it; on Linux the
# default is PyPI's, which is for CUDA. Speed is printed, and judged where a CUDA card is there. For
# ONNX Runtime's CUDA provider: pip install "onnxruntime-gpu[cuda,cudnn]" in onnxruntime's place.
GPU_PY ?= $(ORACLE_PY)
gpu: $(ORACLE)/.installed
	$(GPU_PY) -m pytest -m gpu tests
	$(GPU_PY) -m benchmarks ablation

# Measures the pictures of other tools beside ours and writes FIDELITY.md: about 5 minutes.
fidelity: $(ORACLE)/.installed
	$(ORACLE_PY) -m tests.oracle.fidelity

# Two threads: one takes 4 minutes, and each up to 3 GB.
check: $(BASE)/.tools
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m pyright --threads 2
	$(BASE)/bin/lint-imports

format: $(BASE)/.tools
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

# Full-size networks beside diffusers and stable-diffusion.cpp: about 12 GB of disk, 40 minutes.
bench: $(BASE)/.tools $(ORACLE)/.peers
	$(ORACLE_PY) -m benchmarks

# The window's main states, every page in each look, in German and mirrored, then dialogs and
# scales, as `make screenshots TO=folder`: 20 minutes.
TO ?= build/screenshots
screenshots: $(BASE)/.tools
	$(PY) -m tests.ui.screenshots $(TO)
	$(PY) -m tests.ui.page_pictures $(TO)
	$(PY) -m tests.ui.side_pictures $(TO)

# README's pictures.
.PHONY: front-page
front-page: $(BASE)/.tools
	$(PY) -m tests.ui.front_page docs

$(BASE)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(BASE)
	$(PY) -m $(INSTALL) ".[intel-openvino]"
	touch $@

$(BASE)/.tools: $(BASE)/.installed
	$(PY) -m $(INSTALL) ".[dev]"
	touch $@

$(ORACLE)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE_PY) -m $(INSTALL) ".[dev,oracle]"
	$(ORACLE_PY) -m pip install --quiet --no-deps k-diffusion==0.1.1.post1 spandrel==0.4.2 \
	  controlnet_aux==0.0.10
	touch $@

# stable-diffusion.cpp is compiled here (minutes, needs a C++ compiler); its rows say so where it is not.
$(ORACLE)/.peers: $(ORACLE)/.installed
	-$(ORACLE_PY) -m pip install --quiet --editable ".[peers]"
	touch $@

# Writes constraints.txt anew: the newest versions that pyproject.toml allows, for Python 3.11 to 3.14
# and every system at once. Then looks for a wheel of each on each system; the newest PySide6 asks
# for glibc 2.34 (2.39 on ARM), ONNX Runtime for macOS 14 on Apple silicon.
UV := build/uv/bin/uv
PYTHONS := 3.11 3.12 3.13 3.14
SYSTEMS := x86_64-manylinux_2_34 aarch64-manylinux_2_39 windows macos
COMPILE := $(UV) pip compile pyproject.toml --quiet --no-header --no-annotate
.PHONY: lock bounds
lock: $(UV)
	@echo "# The versions that the tests are run with. Made by \`make lock\`." > build/constraints.txt
	$(COMPILE) --extra dev --extra oracle --universal --python-version 3.11 >> build/constraints.txt
	@for python in $(PYTHONS); do for system in $(SYSTEMS); do \
	  echo "wheels for Python $$python, $$system"; \
	  MACOSX_DEPLOYMENT_TARGET=14.0 $(COMPILE) --extra dev --constraint build/constraints.txt \
	    --only-binary :all: --python-version $$python --python-platform $$system > /dev/null || exit 1; \
	done; done
	mv build/constraints.txt constraints.txt

# The oldest and the newest versions that pyproject.toml allows, each with the tests that use them
# most: about 6 minutes for both.
BOUNDS := tests/backends/test_contract.py tests/compile tests/graphs tests/metadata tests/output \
  tests/pictures tests/server/test_jobs.py tests/text tests/ui/test_form.py tests/ui/test_main_window.py
bounds: $(UV)
	@for end in lowest-direct highest; do \
	  $(COMPILE) --resolution $$end --python $(PYTHON) > build/$$end.txt && \
	  $(PYTHON) -m venv --clear build/$$end && \
	  build/$$end/bin/python -m pip install --quiet --constraint build/$$end.txt --editable ".[dev]" && \
	  build/$$end/bin/python -m pytest $(PARALLEL) -m "not oracle and not slow and not gpu" $(BOUNDS) || exit 1; \
	done

# Writes the wheels in installers/packs.toml anew; `python -m installers.pack_lock PACK` those of one.
.PHONY: packs-lock
packs-lock: $(BASE)/.tools $(UV)
	$(PY) -m installers.pack_lock

$(UV):
	$(PYTHON) -m venv build/uv
	build/uv/bin/python -m pip install --quiet uv

# The installed tree: docs/installers.md.
.PHONY: installers installers-lock size
installers: $(BASE)/.tools
	$(PY) -m installers.build linux
	$(PY) -m installers.tryout build/installers/tree-linux

installers-lock: $(BASE)/.tools $(UV)
	$(PY) -m installers.lock

size: $(BASE)/.tools
	$(PY) -m installers.sizes

clean:
	rm -rf $(BASE) $(ORACLE) build .ruff_cache .pytest_cache .import_linter_cache .hypothesis
