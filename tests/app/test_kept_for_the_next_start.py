"""Everything that a session keeps is there at the next start, whatever happened to the disk."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.api.values import ErrorCode
from tests.app.downloads.test_disk import can_mount
from tests.app.everything import FILES, change, kept, session_in

ROOT = Path(__file__).parents[2]
# A second passes between what the user did and the line that the test waits for.
CHANGING = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from tests.app.everything import change, kept, session_in

application = QCoreApplication([])
staged = session_in(Path(sys.argv[1]))
change(staged, 77)
found = {name: repr(value) for name, value in kept(staged).items()}
QTimer.singleShot(1000, lambda: print(json.dumps(found), flush=True))
application.exec()
"""
# A mount of its own, which nobody else sees and which ends with the command.
SMALL_DISK = 'mount -t tmpfs -o size=4m none "$0" && exec "$@"'


def test_everything_is_there_at_the_next_start(tmp_path: Path, qtbot: QtBot) -> None:
    staged = session_in(tmp_path, qtbot)
    unchanged = kept(staged)
    change(staged, 77)
    before = kept(staged)
    # Nothing is left out of the comparison.
    assert [name for name, value in before.items() if value == unchanged[name]] == []
    staged.end()
    folders = (staged.paths.state, staged.paths.config)
    assert {path.name for folder in folders for path in folder.iterdir()} >= FILES
    again = session_in(tmp_path, qtbot)
    assert kept(again) == before
    again.end()


@pytest.mark.parametrize(
    ("how", "code"),
    [("full", ErrorCode.DISK_FULL), ("read-only", ErrorCode.OUTPUT_NOT_WRITABLE)],
)
def test_a_disk_that_takes_nothing_is_told_breaks_no_file_and_loses_nothing(
    tmp_path: Path, how: str, code: ErrorCode
) -> None:
    if not can_mount():
        pytest.skip("no disk can be mounted here")
    program = [sys.executable, "-m", "tests.app.faulty_disk_session", how, str(tmp_path)]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", SMALL_DISK, str(tmp_path), *program],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": tempfile.gettempdir()},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["broken"] == []
    assert code in {told for told, _message, _hint in found["told"]}
    for _told, message, hint in found["told"]:
        assert str(tmp_path) in f"{message} {hint}"
        assert how != "full" or "MB are needed" in f"{message} {hint}"
    assert found["reverted"] == {}
    assert found["lost"] == {}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_everything_is_there_after_a_kill(tmp_path: Path, qtbot: QtBot) -> None:
    killed = subprocess.Popen(
        [sys.executable, "-c", CHANGING, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        cwd=ROOT,
    )
    assert killed.stdout is not None
    line = killed.stdout.readline()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    again = session_in(tmp_path, qtbot)
    found = {name: repr(value) for name, value in kept(again).items()}
    assert found == json.loads(line)
    again.end()
