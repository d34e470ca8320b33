"""The registered backends, and the ones that "auto" tries."""

import subprocess
import sys

import pytest

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
