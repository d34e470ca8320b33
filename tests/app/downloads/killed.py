"""A program that downloads a file and dies at lines of the code that touches the disk.

    python -m tests.app.downloads.killed URL FOLDER SIZE SHA256 EVERY

For each such line, as it is run, it forks a child that is killed there, and prints a JSON object:
the line, the names of the files that the child left, and the SHA-256 of the file if it has its
name. A second child then goes on with the download and is not killed; the hash of its file is
printed, too. It dies at each line where EVERY is 1, at each third one where it is 3.
"""

import hashlib
import json
import shutil
import signal
import sys
from pathlib import Path

from app.downloads import fetch as fetching
from app.downloads import part, transport
from app.downloads.source import Source
from engine import durable
from tests.app.downloads.fetching import QUICK
from tests.app.killed_lines import be_killed_at, in_child

# Loaded before the forks: each would load it anew.
_LOADED = transport
_WATCHED = {module.__file__ for module in (fetching, part, durable)}


def _download(source: Source, folder: Path) -> None:
    fetching.fetch(source, folder, on_progress=lambda _: None, cancelled=lambda: False, terms=QUICK)


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def main() -> None:
    """Kill one child after the other, until one comes to its end."""
    url, place, size, sha256, every = sys.argv[1:]
    source = Source(url, (), "file.bin", int(size), sha256)
    folder, number, killed = Path(place), 1 - int(every), signal.SIGKILL
    while killed == signal.SIGKILL:
        number += int(every)
        shutil.rmtree(folder, ignore_errors=True)

        def die() -> None:
            be_killed_at(number, _WATCHED)  # noqa: B023 (runs at once)
            _download(source, folder)

        killed = in_child(die)
        left = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        found = _hash_of(folder / "file.bin")
        in_child(lambda: _download(source, folder))
        after = sorted(path.name for path in folder.iterdir())
        line = {"left": left, "found": found, "after": after, "then": _hash_of(folder / "file.bin")}
        print(json.dumps({"line": number} | line), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
