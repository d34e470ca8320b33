"""A program whose session changes everything while its disk takes nothing, and ends with it well.

    python -m tests.app.faulty_disk_session full|read-only FOLDER

FOLDER is a small disk. It prints a JSON object: what was told, the files that are no whole
documents while the disk takes nothing, what went back to its former value, and what the next
session lacks.
"""

import json
import os
import subprocess
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


def _protect(folder: Path) -> None:
    """Make a folder read-only, also for root."""
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)


def _release(folder: Path) -> None:
    # A folder that is watched is in use.
    subprocess.run(["umount", "--lazy", folder], check=True)


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
    """Change everything twice, the second time on the faulty disk."""
    # Kept: Qt has one while it lives.
    application = QCoreApplication([])
    how, folder = sys.argv[1], Path(sys.argv[2])
    first = session_in(folder)
    change(first, 61)
    first.end()
    places = (first.paths.state, first.paths.config)
    files = [path for place in places for path in place.rglob("*") if path.name in FILES]
    ballast = folder / "ballast"
    if how == "read-only":
        for place in places:
            _protect(place)
        staged = session_in(folder)
    else:
        staged = session_in(folder)
        _fill(ballast)
    former = kept(staged)
    change(staged, 77)
    wanted = kept(staged)
    errors = lambda: [notice.error for notice in staged.session.notices.notices if notice.error]  # noqa: E731
    staged.wait(lambda: any("settings" in error.message for error in errors()))
    staged.wait(lambda: any("presets" in error.message for error in errors()))
    found: dict[str, object] = {
        "told": [[error.code.value, error.message, error.hint] for error in errors()],
        "broken": [path.name for path in files if not _is_whole(path)],
    }
    # As when a person comes back to the window.
    staged.session.look_again()
    QCoreApplication.processEvents()
    now = kept(staged)
    # A job joins the queue, and its prompt the others, once the journal has it, if it still fits.
    went_back = {name: value for name, value in wanted.items() if now[name] == former[name]}
    found["reverted"] = _differences(went_back, now)
    if how == "read-only":
        for place in places:
            _release(place)
    else:
        assert os.statvfs(folder).f_bavail == 0
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
