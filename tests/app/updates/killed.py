"""Installs an update and dies at every step in turn: `killed.py VERSIONS STATE TREE PLACE KEY`.

A step is whatever Python's audit events tell of files and processes. For each step a child begins
anew with the folders that the last one left, installs, and is killed there; then the versions are
looked at as the next start finds them. Prints the number of steps, or what was wrong.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from app.updates.places import PLACE_VARIABLE
from app.updates.signatures import KEYS_VARIABLE
from app.updates.updates import Updates
from app.updates.wholeness import damage_of
from app.versions.state import read_state
from app.versions.trees import read_tree

_COUNTED = ("open", "os.", "shutil.", "subprocess.", "fcntl.")


def install(updates: Updates) -> None:
    """Install what is offered."""
    offer = updates.check()
    assert offer is not None
    updates.install(offer, lambda _: None, lambda: None, lambda: False)


def die_at(step: int) -> None:
    """Have this process killed at the event of that number, counted from now on."""
    left = [step]

    def count(event: str, _: object) -> None:
        # Killing is such an event itself.
        if event.startswith(_COUNTED) and event != "os.kill":
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def killed_at(step: int, updates: Updates) -> bool:
    """Install in a child that is killed at a step; return False if it ended before."""
    child = os.fork()
    if child == 0:
        die_at(step)
        try:
            install(updates)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def problem_with(versions: Path) -> str:
    """Return what the next start would find wrong; empty if nothing is."""
    for folder in versions.glob("[0-9]*"):
        if damage := damage_of(folder):
            return f"{folder.name} is not whole: {damage}"
    active = read_state(str(versions)).active
    if active and not (versions / active).is_dir():
        return f"{active} is active and missing"
    return ""


def main(versions: Path, state: Path, tree: str, place: str, key: str) -> str:
    """Kill at every step; return the report."""
    environment = {PLACE_VARIABLE: place, KEYS_VARIABLE: key}
    updates = Updates(versions, state, read_tree(tree), environment)
    step = 0
    while killed_at(step, updates):
        if problem := problem_with(versions):
            return f"killed at step {step}: {problem}"
        if read_state(str(versions)).active:
            # Then only clearing up was left. The next one begins without it.
            shutil.rmtree(versions)
        step += 1
    if not read_state(str(versions)).active:
        return f"nothing was installed after {step} steps"
    return f"{step} steps"


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:6]))  # noqa: T201
