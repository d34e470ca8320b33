"""A program whose session changes everything while the disk is full, and ends with room again.

    python -m tests.app.full_disk_session FOLDER

FOLDER is a small disk. It prints a JSON object: what was told, the files that are no whole
documents while the disk is full, and what the next session lacks.
"""

import json
import os
import sys
import tomllib
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from tests.app.everything import FILES, change, kept, session_in

_BLOCK = bytes(4096)


def _fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        for block in (_BLOCK, b"0"):
            try:
                while True:
                    file.write(block)
            except OSError:
                continue


def _is_whole(path: Path) -> bool:
    """Return True if a file is a document: JSON, TOML, or a line of JSON each."""
    text = path.read_text()
    try:
        match path.suffix:
            case ".toml":
                tomllib.loads(text)
            case ".jsonl":
                list(map(json.loads, text.splitlines()))
            case _:
                json.loads(text)
    except ValueError:
        return False
    return True


def main() -> None:
    """Change everything twice, the second time without room."""
    # Kept: Qt has one while it lives.
    application = QCoreApplication([])
    folder = Path(sys.argv[1])
    first = session_in(folder)
    change(first, 61)
    first.end()
    places = (first.paths.state, first.paths.config)
    files = [path for place in places for path in place.rglob("*") if path.name in FILES]
    staged = session_in(folder)
    ballast = folder / "ballast"
    _fill(ballast)
    free = os.statvfs(folder).f_bavail
    change(staged, 77)
    wanted = kept(staged)
    errors = lambda: [one.error for one in staged.session.notices.notices if one.error]  # noqa: E731
    staged.wait(lambda: any("settings" in error.message for error in errors()))
    staged.wait(lambda: any("presets" in error.message for error in errors()))
    found: dict[str, object] = {
        "free": free,
        "told": [[error.code.value, error.message, error.hint] for error in errors()],
        "broken": [path.name for path in files if not _is_whole(path)],
    }
    # As when a person comes back to the window.
    staged.session.look_again()
    QCoreApplication.processEvents()
    found["reverted"] = _differences(wanted, kept(staged))
    ballast.unlink()
    staged.end()
    again = session_in(folder)
    found["lost"] = _differences(wanted, kept(again))
    again.end()
    del application
    print(json.dumps(found))  # noqa: T201


def _differences(wanted: dict[str, object], found: dict[str, object]) -> dict[str, list[str]]:
    return {
        name: [repr(value), repr(found[name])]
        for name, value in wanted.items()
        if value != found[name]
    }


if __name__ == "__main__":
    main()
