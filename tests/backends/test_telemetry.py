"""No runtime keeps a device's identity, queues events for its maker or sends them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backends.registry import find

ROOT = Path(__file__).parents[2]
RUN = """
import sys
from pathlib import Path
import numpy as np
from backends.registry import find
from tests.backends.memory_probe import warm_up
from tests.backends.samples import Target
backend = find(sys.argv[1]).create()
device = backend.probe()[0]
element = backend.operators(device).elements[0]
warm_up(Target(backend, device, device.precisions[0], element), Path(sys.argv[2]))
"""
# Where any of these is set, ONNX Runtime collects nothing of its own accord.
QUIET = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "ORT_RUNNING_UNIT_TESTS", "ORT_DISABLE_TELEMETRY")


@pytest.mark.skipif(sys.platform == "win32", reason="events go to the system there, not to a file")
@pytest.mark.parametrize("backend", ["cpu", "intel_openvino"])
def test_running_a_network_writes_nothing_to_the_home_folder(tmp_path: Path, backend: str) -> None:
    reference = find(backend)
    if reference is None or not reference.create().probe():
        pytest.skip(f"{backend} cannot be used here")
    home, graphs = tmp_path / "home", tmp_path / "graphs"
    home.mkdir()
    graphs.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in QUIET}
    environment = kept | {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    command = [sys.executable, "-c", RUN, backend, str(graphs)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    assert [path for path in home.rglob("*") if path.is_file()] == []
