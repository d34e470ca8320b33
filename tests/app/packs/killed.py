"""A program that installs a pack over another and dies at lines of the code that does it.

    python -m tests.app.packs.killed FOLDER EVERY

For each such line, as it is run, it forks a child that is killed there, and prints a JSON object:
the line, the active folder, the files of it that are damaged, and what lies in the folder of packs.
From each state that is new a second child installs the pack again and is not killed; what it leaves
is printed, too. It dies at each line where EVERY is 1, at each third one where it is 3.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from app.packs import installation, store, wheels
from app.packs.catalogue import Pack
from app.packs.installation import Wishes
from app.packs.store import PackStore
from engine import durable, packs
from tests.app.killed_lines import be_killed_at, in_child
from tests.app.packs import made

_WATCHED = {module.__file__ for module in (installation, store, wheels, durable)}


def _report(folder: Path) -> dict[str, object]:
    """Return what an engine would use now, and what is there."""
    found = PackStore(folder)
    name = found.active().get("tiny", "")
    listed = found.listed(name)
    return {
        "active": name,
        "damaged": found.damaged_files(name, listed) if listed else ["installed.json"],
        "there": sorted(made.names_in(folder)),
        "problems": _used(folder),
    }


def _used(folder: Path) -> list[str]:
    """Return the problems of an engine that starts with these packs; its path stays as it is."""
    os.environ[packs.FOLDER] = str(folder)
    before = list(sys.path)
    try:
        return list(packs.use_packs().problems)
    finally:
        sys.path[:] = before
        for lock in packs._locks:  # pyright: ignore[reportPrivateUsage]
            lock.release()


def _install(folder: Path, pack: Pack, source: Path) -> None:
    made.installation(PackStore(folder)).install(pack, Wishes(), source=source)


def main() -> None:
    """Kill one child after the other, until one comes to its end."""
    place, every = Path(sys.argv[1]), int(sys.argv[2])
    source, folder, first = place / "wheels", place / "packs", place / "first"
    old, new = made.a_pack(source, "1.0"), made.a_pack(source, "1.1")
    _install(first, old, source)
    number, killed = 1 - every, signal.SIGKILL
    seen: list[object] = []
    while killed == signal.SIGKILL:
        number += every
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(first, folder)

        def die() -> None:
            be_killed_at(number, _WATCHED)  # noqa: B023 (runs at once)
            _install(folder, new, source)

        killed = in_child(die)
        line = {"line": number, "killed": _report(folder)}
        # Once from each state on the disk.
        state = sorted(
            (str(path.relative_to(folder)), path.stat().st_size) for path in folder.rglob("*")
        )
        if state not in seen:
            seen.append(state)
            in_child(lambda: _install(folder, new, source))
            line["then"] = _report(folder)
        print(json.dumps(line), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
