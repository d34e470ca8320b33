"""The registered backends, what each needs elsewhere, and the ones that "auto" tries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from engine.api.runtime_titles import runtime_title

HARDWARE = Path(__file__).parents[2] / "docs" / "hardware.md"
# The null backend computes nothing, and no person meets it.
NAMES = {backend.name for backend in BACKENDS} - {"null"}
PROGRAM = """
import importlib.metadata, sys
found = importlib.metadata.version
versions = {"torch": %r}
importlib.metadata.version = lambda name: versions.get(name) or found(name)
from backends.registry import find
print(find("torch_device").automatic, "torch" in sys.modules)
"""


@pytest.mark.parametrize(
    ("version", "automatic"), [("2.13.0+cpu", False), ("2.13.0+cu130", True), ("2.13.0", True)]
)
def test_torch_without_accelerators_is_not_imported_automatically(
    version: str, automatic: bool
) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM % version], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == [str(automatic), "False"]


@pytest.mark.parametrize(("chosen", "order"), [("", "PCI_BUS_ID"), ("FASTEST_FIRST",) * 2])
def test_cards_are_counted_by_the_bus_before_any_runtime_starts(chosen: str, order: str) -> None:
    name = "CUDA_DEVICE_ORDER"
    environment = {key: value for key, value in os.environ.items() if key != name}
    environment |= {name: chosen} if chosen else {}
    code = f"import os, backends.registry; print(os.environ[{name!r}])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert done.stdout.decode().strip() == order


def test_each_backend_has_a_title_for_people() -> None:
    assert {name for name in NAMES if runtime_title(name) == name} == set()


def test_the_page_of_hardware_has_a_row_for_each_backend() -> None:
    text = HARDWARE.read_text(encoding="utf-8")
    assert {name for name in NAMES if f"\n| `{name}` |" not in text} == set()
