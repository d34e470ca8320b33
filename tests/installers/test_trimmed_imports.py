"""Trees have the modules that the app needs, also those that other packages import."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import pytest

from tests.installers.trimmed_imports import Found

ROOT = Path(__file__).parents[2]


@cache
def found() -> Found:
    """The result of a process that finds no module which trees leave out."""
    program = [sys.executable, "-m", "tests.installers.trimmed_imports"]
    done = subprocess.run(program, cwd=ROOT, check=True, capture_output=True)
    return msgspec.json.decode(done.stdout, type=Found)


def test_every_module_that_the_app_names_loads_in_a_trimmed_tree() -> None:
    assert {"onnxruntime", "torchruntime.device_db", "PySide6.QtSvg"} <= found().named
    assert found().failed == {}


@pytest.mark.skipif(sys.platform != "linux", reason="torchruntime's choice is another elsewhere")
def test_a_trimmed_tree_offers_pytorch_for_a_card() -> None:
    assert found().packs == ("torch-cuda",)
