"""An installation that is killed anywhere: the pack in use is whole, the old one or the new one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.oracle)])
@pytest.mark.skipif(sys.platform == "win32", reason="forks are of Unix")
def test_an_installation_that_is_killed_at_any_line_leaves_a_whole_pack_active(
    tmp_path: Path, every: int
) -> None:
    command = [sys.executable, "-m", "tests.app.packs.killed", str(tmp_path), str(every)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=250)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    after_kills = [line["killed"] for line in lines]
    assert [state for state in after_kills if state["damaged"] or state["problems"]] == []
    assert {state["active"] for state in after_kills} == {"tiny-1.0", "tiny-1.1"}
    # From the first kill on, through those between staging, its name and the switch.
    states = [(state["active"], tuple(state["there"])) for state in after_kills]
    assert states[0] == ("tiny-1.0", ("tiny-1.0",))
    assert ("tiny-1.0", (".staging-tiny-1.1", "tiny-1.0")) in states
    assert ("tiny-1.0", ("tiny-1.0", "tiny-1.1")) in states
    assert states[-1] == ("tiny-1.1", ("tiny-1.0", "tiny-1.1"))
    # Another attempt always ends well, and clears what the killed one left.
    end = {"active": "tiny-1.1", "damaged": [], "there": ["tiny-1.0", "tiny-1.1"], "problems": []}
    after_retries = [line["then"] for line in lines if "then" in line]
    assert len(after_retries) > (20 if every == 1 else 10)
    assert [state for state in after_retries if state != end] == []
