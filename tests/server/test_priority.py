"""The engine takes a small share of the processor beside the window and other programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.api.messages import Hello
from tests.server.conftest import Start
from tests.server.conversation import ENGINE

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="reads Linux's account of processes"
)
_GROUP = Path("/proc/self/autogroup")
_LOWER_NICE = 10


def test_the_engine_yields_to_other_programs(start: Start) -> None:
    hello = start(ENGINE, ready=False).wait_for(Hello)
    assert os.getpriority(os.PRIO_PROCESS, hello.pid) == min(19, os.nice(0) + _LOWER_NICE)


@pytest.mark.skipif(not _GROUP.exists(), reason="this kernel weighs no sessions")
def test_a_session_yields_as_a_whole_only_if_it_is_the_engines_own() -> None:
    before = _GROUP.read_text("ascii")
    assert _group_after_yielding(new_session=True).split()[-1] == str(_LOWER_NICE)
    assert _group_after_yielding(new_session=False) == before


def _group_after_yielding(*, new_session: bool) -> str:
    code = (
        "from pathlib import Path; from engine.priority import yield_to_others; yield_to_others();"
        f"print(Path({str(_GROUP)!r}).read_text(), end='')"
    )
    command = [sys.executable, "-I", "-c", code]
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, start_new_session=new_session
    )
    return result.stdout
