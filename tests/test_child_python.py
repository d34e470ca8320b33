"""Processes that our processes start run our code alone, and speak as their parents do."""

import os
import subprocess
import sys

import pytest

_ASK = "import sys; print(sys.flags.isolated, sys.flags.utf8_mode)"
_START = f"""
import subprocess
from engine.child_python import python_command
subprocess.run(python_command("-c", {_ASK!r}), check=True)
"""


@pytest.mark.parametrize("mode", [1, 0])
def test_a_child_is_isolated_and_writes_utf_8_if_its_parent_does(mode: int) -> None:
    # In C's own locale Python would choose UTF-8 for parent and child.
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-I", "-X", f"utf8={mode}", "-c", _START],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", str(mode)]
