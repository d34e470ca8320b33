"""A program that downloads a file onto a disk that is or becomes full, and again with room.

    python -m tests.app.downloads.small_disk before|during URL FOLDER SIZE SHA256

It prints a JSON object: the problem, the names of the files left, and the hash of the later file.
"""

import hashlib
import json
import sys
from pathlib import Path

from app.downloads.errors import DownloadError
from app.downloads.fetch import fetch
from app.downloads.source import Source
from tests.app.downloads.fetching import QUICK

_BLOCK = bytes(4096)
# The files beside a part fit into it.
_LEFT = 5 * len(_BLOCK)


def _fill(ballast: Path) -> None:
    """Write until next to nothing more fits."""
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(_BLOCK)
        except OSError:
            file.truncate(file.tell() - _LEFT)


def main() -> None:
    """Download twice, the first time without room."""
    when, url, place, size, sha256 = sys.argv[1:]
    source, folder = Source(url, (), "file.bin", int(size), sha256), Path(place)
    ballast = folder / "ballast"

    def on_progress(count: int) -> None:
        if count >= source.size // 3 and not ballast.exists():
            _fill(ballast)

    if when == "before":
        _fill(ballast)
    found: dict[str, object] = {}
    try:
        fetch(source, folder, on_progress=on_progress, cancelled=lambda: False, terms=QUICK)
    except DownloadError as error:
        problem = error.problem
        found = {
            "code": problem.code,
            "folder": problem.folder,
            "needed": problem.bytes_needed,
            "message": problem.message,
        }
    found["left"] = sorted(path.name for path in folder.iterdir())
    ballast.unlink()
    ballast = folder / "never"
    ballast.touch()
    path = fetch(source, folder, on_progress=lambda _: None, cancelled=lambda: False, terms=QUICK)
    found["then"] = hashlib.sha256(path.read_bytes()).hexdigest()
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
