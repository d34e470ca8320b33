"""Whatever happens to the files of the state folder, Safelight starts, says so, and loses nothing.

The files are those that a session makes, so that a new one is tested without a word here.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.form.masks import keep_mask
from app.single_instance import SingleInstance, Start
from engine.api.values import ErrorCode, ErrorInfo
from tests import damages
from tests.app.everything import FILES, change, picture_ids, show_picture
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

_MASK = b"a painted mask"
_UNREADABLE = {
    ErrorCode.SESSION_UNREADABLE,
    ErrorCode.SETTINGS_UNREADABLE,
    ErrorCode.QUEUE_UNREADABLE,
}
# It says which process is the first, and nothing that anybody would miss.
_LOCK = "safelight.lock"


def _session(folder: Path, bot: QtBot) -> Staged:
    return Staged(folder, bot, fake_command(Plan(never_ready=True)), QUICK)


def _use(folder: Path, bot: QtBot) -> list[ErrorInfo]:
    """A session as it begins and ends; what it says that it could not read."""
    instance = SingleInstance(folder / "state")
    assert instance.claim() is Start.FIRST
    staged = _session(folder, bot)
    staged.session.start()
    picture_ids(staged.session, staged)
    bot.wait(50)  # what the queue has to say
    told = [notice.error for notice in staged.session.notices.notices if notice.error]
    staged.end()
    instance.release()
    return [error for error in told if error.code in _UNREADABLE]


def _leave_lock(state: Path) -> None:
    """Leave a lock as a killed process does."""
    instance = SingleInstance(state)
    assert instance.claim() is Start.FIRST
    content = (state / _LOCK).read_bytes()
    instance.release()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (state / _LOCK).write_bytes(content.replace(b"%d" % os.getpid(), b"%d" % gone.pid, 1))


def _age(path: Path) -> None:
    """Make a file as old as if it had been written long ago."""
    if path.exists():
        os.utime(path, (10**9, 10**9))


@pytest.fixture
def files(tmp_path: Path, qtbot: QtBot) -> dict[Path, bytes]:
    """The files of a session that had something in each of them."""
    state = tmp_path / "state"
    staged = _session(tmp_path, qtbot)
    show_picture(staged)
    change(staged, 77)
    assert keep_mask(state / "masks", _MASK)
    staged.end()
    _leave_lock(state)
    places = (state, staged.paths.config)
    found = {path: path.read_bytes() for place in places for path in _files_below(place)}
    assert {path.name for path in found} >= {_LOCK, *FILES}
    return found


def _files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("damage", damages.parameters())
def test_damaged_state_is_said_once_and_put_aside(
    tmp_path: Path, qtbot: QtBot, files: dict[Path, bytes], damage: damages.Damage
) -> None:
    for path in files:
        damage(path)
        _age(path)
    damaged = {path: path.read_bytes() for path in files if path.is_file()}
    told = _use(tmp_path, qtbot)
    assert ErrorCode.SESSION_UNREADABLE in {error.code for error in told}
    if damage is damages.flipped:
        # One of the other damages may leave a file that is read, as one without settings is.
        assert len({error.message for error in told}) == len(FILES)
    mask = keep_mask(tmp_path / "state" / "masks", _MASK)
    assert isinstance(mask, Path)
    assert mask.read_bytes() == _MASK
    assert _use(tmp_path, qtbot) == []
    places = (tmp_path / "state", tmp_path / "config")
    left = [path.read_bytes() for place in places for path in _files_below(place)]
    for path, content in damaged.items():
        # Half a line at the end of the queue is what a power cut leaves, and no damage.
        if path.name != _LOCK and content and damage is not damages.cut:
            assert content in left, path
