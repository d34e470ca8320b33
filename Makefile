# One command surface. Works with GNU make and Python 3.11 or newer; everything else comes from PyPI.
PYTHON ?= python3
BASE := .venv
ORACLE := .venv-oracle
PY := $(BASE)/bin/python
ORACLE_PY := $(ORACLE)/bin/python
# Two processes: much of the tests' time is waiting for others, and each takes up to 3 GB.
PARALLEL := -n 2 --dist loadfile

.PHONY: run test oracle swiftshader display fidelity gpu check format bench screenshots clean

# Opens the window; where there is no display it makes a picture.
run: $(BASE)/.installed
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; then $(PY) -m app; \
	else $(PY) -m app generate "a red house by the sea at night"; fi

test: $(BASE)/.installed
	$(PY) -m pytest $(PARALLEL) -m "not oracle and not slow and not gpu"

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

check: $(BASE)/.installed
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m pyright
	$(BASE)/bin/lint-imports

format: $(BASE)/.installed
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

# Full-size networks beside diffusers and stable-diffusion.cpp: about 12 GB of disk, 40 minutes.
bench: $(BASE)/.installed $(ORACLE)/.peers
	$(ORACLE_PY) -m benchmarks

# The window's main states, as `make screenshots TO=folder`.
TO ?= build/screenshots
screenshots: $(BASE)/.installed
	$(PY) -m tests.ui.screenshots $(TO)

$(BASE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BASE)
	$(PY) -m pip install --quiet --editable ".[dev]"
	touch $@

$(ORACLE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE_PY) -m pip install --quiet --editable ".[dev,oracle]"
	$(ORACLE_PY) -m pip install --quiet --no-deps k-diffusion==0.1.1.post1
	touch $@

# stable-diffusion.cpp is compiled here (minutes, needs a C++ compiler); its rows say so where it is not.
$(ORACLE)/.peers: $(ORACLE)/.installed
	-$(ORACLE_PY) -m pip install --quiet --editable ".[peers]"
	touch $@

clean:
	rm -rf $(BASE) $(ORACLE) .ruff_cache .pytest_cache .import_linter_cache
