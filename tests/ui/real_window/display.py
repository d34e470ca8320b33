"""A display that nobody looks at: an X server in memory, with a window manager."""

import os
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager

PROGRAMS = ("Xvfb", "openbox", "xdotool")
_PATIENCE_S = 30


def missing_programs(*further: str) -> list[str]:
    """The programs for a real window, and `further` ones, that are not installed."""
    return [program for program in (*PROGRAMS, *further) if shutil.which(program) is None]


@contextmanager
def display(width: int, height: int) -> Generator[str]:
    """The name of a display of this size in pixels, as DISPLAY has it, as long as it is needed."""
    ours, theirs = os.pipe()
    screen = f"{width}x{height}x24"
    server = subprocess.Popen(
        # Without -noreset it begins anew, and refuses clients, when its first one has gone.
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", screen, "-nolisten", "tcp", "-noreset"],
        pass_fds=(theirs,),
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    with os.fdopen(ours) as told:
        name = f":{told.readline().strip()}"
    variables = {**os.environ, "DISPLAY": name}
    manager = subprocess.Popen(["openbox"], env=variables, stderr=subprocess.DEVNULL)
    try:
        _wait_for_manager(variables)
        yield name
    finally:
        for process in (manager, server):
            process.terminate()
            process.wait()


def _wait_for_manager(variables: dict[str, str]) -> None:
    """Until somebody manages windows: before, a window has no frame and no focus."""
    deadline = time.monotonic() + _PATIENCE_S
    asking = ["xdotool", "get_num_desktops"]
    while (
        asked := subprocess.run(asking, env=variables, capture_output=True, check=False)
    ).returncode:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no window manager came up: {asked.stderr.decode()}")
        time.sleep(0.02)
