"""The settings of the window: at once, on disk soon after, and shared with a person's editor."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app import settings_state
from app.settings.migrations import VERSION
from app.settings.reading import FILE, Fault, Reading, read_settings
from app.settings.values import USUAL, Look, Settings
from app.settings_state import SettingsState
from app.versions.kept_files import keep_files
from engine.api.values import ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import PATIENCE_MS, QUICK, fake_command

Make = Callable[[], SettingsState]


@pytest.fixture
def make(tmp_path: Path, qtbot: QtBot) -> Iterator[Make]:
    states: list[SettingsState] = []

    def make() -> SettingsState:
        states.append(SettingsState(tmp_path / "config"))
        return states[-1]

    yield make
    for state in states:
        state.close()


def on_disk(state: SettingsState) -> Settings:
    return read_settings(state.path).settings


def test_a_change_acts_at_once_and_is_kept_soon(make: Make, qtbot: QtBot) -> None:
    state = make()
    told: list[frozenset[str]] = []
    state.changed.connect(told.append)
    state.change(look=Look.DARK, quality=80)
    assert state.now.look is Look.DARK
    assert told == [frozenset({"look", "quality"})]
    qtbot.waitUntil(lambda: on_disk(state) == state.now, timeout=PATIENCE_MS)


def test_closing_keeps_what_was_not_written_yet(make: Make) -> None:
    state = make()
    state.change(metadata=False)
    state.close()
    assert not make().now.metadata


def test_a_value_out_of_bounds_is_refused(make: Make) -> None:
    state = make()
    with pytest.raises(msgspec.ValidationError):
        state.change(quality=101)
    assert state.now == USUAL


def test_a_change_by_hand_is_noticed(make: Make, qtbot: QtBot) -> None:
    state = make()
    state.change(quality=80)
    qtbot.waitUntil(state.path.exists, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: on_disk(state).quality == 80, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: state.is_idle, timeout=PATIENCE_MS)
    state.path.write_text('look = "light" # by hand\nmine = 1\n')
    qtbot.waitUntil(lambda: state.now.look is Look.LIGHT, timeout=PATIENCE_MS)
    assert state.now.quality == USUAL.quality
    state.change(metadata=False)
    state.close()
    assert state.path.read_text().startswith('look = "light" # by hand\nmine = 1\n')
    assert not on_disk(state).metadata


def test_a_file_that_an_editor_empties_first_is_read_once_it_is_written(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_state, "_SETTLE_EMPTY_MS", 10 * PATIENCE_MS)
    state = make()
    state.change(look=Look.DARK)
    qtbot.waitUntil(lambda: state.is_idle and state.path.exists(), timeout=PATIENCE_MS)
    seen: list[Look] = []

    def note(_names: object) -> None:
        seen.append(state.now.look)

    state.changed.connect(note)
    text = state.path.read_text()
    state.path.write_text("")
    read = counted(monkeypatch)
    qtbot.waitUntil(lambda: len(read) > 0, timeout=PATIENCE_MS)
    qtbot.wait(50)
    state.path.write_text(text.replace("dark", "light"))
    qtbot.waitUntil(lambda: state.now.look is Look.LIGHT, timeout=PATIENCE_MS)
    assert seen == [Look.LIGHT]


def test_a_file_that_stays_empty_has_the_usual_settings(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_state, "_SETTLE_EMPTY_MS", 100)
    state = make()
    state.change(look=Look.DARK)
    qtbot.waitUntil(lambda: state.is_idle and state.path.exists(), timeout=PATIENCE_MS)
    state.path.write_text("")
    qtbot.waitUntil(lambda: state.now == USUAL, timeout=PATIENCE_MS)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Reading]:
    """Return a list that gets what is read of the file from now on."""
    found: list[Reading] = []

    def read(path: Path) -> Reading:
        found.append(read_settings(path))
        return found[-1]

    monkeypatch.setattr(settings_state, "read_settings", read)
    return found


def test_a_mistake_by_hand_changes_nothing_and_is_told_once(make: Make, qtbot: QtBot) -> None:
    state = make()
    told: list[ErrorInfo] = []
    state.failed.connect(told.append)
    state.change(look=Look.DARK)
    qtbot.waitUntil(lambda: state.is_idle and state.path.exists(), timeout=PATIENCE_MS)
    state.path.write_text("\nlook = \n")
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    state.look_again()
    qtbot.waitUntil(lambda: state.is_idle, timeout=PATIENCE_MS)
    assert "line 2" in told[0].message
    assert len(told) == 1
    assert state.now.look is Look.DARK
    # What a person then sets in the window is kept, and what they wrote, too.
    state.change(quality=70)
    state.close()
    assert on_disk(state) == msgspec.structs.replace(USUAL, look=Look.DARK, quality=70)
    assert [p.read_text() for p in state.path.parent.glob(f"{FILE}.damaged-*")] == ["\nlook = \n"]


@pytest.mark.parametrize(
    ("content", "why"), [("x = ", "damaged"), (f"version = {VERSION + 1}", "newer")]
)
def test_a_file_that_cannot_be_used_is_put_aside(
    make: Make, tmp_path: Path, content: str, why: str
) -> None:
    path = tmp_path / "config" / FILE
    path.parent.mkdir()
    path.write_text(content)
    state = make()
    assert state.now == USUAL
    assert state.problem is not None
    (aside,) = path.parent.glob(f"{FILE}.{why}-*")
    assert aside.read_text() == content
    assert str(aside) in state.problem.hint


def test_settings_of_a_newer_version_give_way_to_those_from_before_the_update(
    make: Make, tmp_path: Path
) -> None:
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / FILE).write_text("# mine\nquality = 80\n")
    keep_files(folder, version("safelight"))
    newer = f'version = {VERSION + 1}\nlook = "plaid"\n'
    (folder / FILE).write_text(newer)
    state = make()
    assert state.now.quality == 80
    assert state.problem is not None
    assert "before the update" in state.problem.hint
    (aside,) = folder.glob(f"{FILE}.newer-*")
    assert aside.read_text() == newer
    assert str(aside) in state.problem.hint
    assert state.path.read_text().startswith("# mine\n")


def test_a_file_that_cannot_be_read_for_a_moment_is_not_replaced(
    make: Make, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs that back files up, and scanners, keep others from them on Windows."""
    monkeypatch.setattr(settings_state, "_AGAIN_MS", 10)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / FILE).write_text("# mine\nquality = 80\n")
    state = make()
    held = [True, True]

    def read(path: Path) -> Reading:
        if held:
            held.pop()
            return Reading(fault=Fault.UNREADABLE, detail="used by another process")
        return read_settings(path)

    monkeypatch.setattr(settings_state, "read_settings", read)
    told: list[ErrorInfo] = []
    state.failed.connect(told.append)
    state.change(look=Look.DARK)
    qtbot.waitUntil(lambda: on_disk(state).look is Look.DARK, timeout=PATIENCE_MS)
    assert "# mine" in state.path.read_text()
    assert on_disk(state).quality == 80
    assert [error.detail for error in told] == ["used by another process"]


def test_a_link_to_the_file_stays_a_link(make: Make, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "safelight.toml"
    real.parent.mkdir()
    real.write_text("# mine\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / FILE).symlink_to(real)
    state = make()
    state.change(quality=80)
    state.close()
    assert state.path.is_symlink()
    assert "quality = 80" in real.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="folders there have no such mode")
def test_a_folder_that_cannot_be_written_is_told_and_the_change_acts(
    make: Make, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text("in the way")
    state = make()
    told: list[ErrorInfo] = []
    state.failed.connect(told.append)
    state.change(look=Look.DARK)
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert state.now.look is Look.DARK


def test_a_session_makes_pictures_as_the_settings_say(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAFELIGHT_OUTPUT")
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    session = staged.session
    folder = tmp_path / "elsewhere"
    session.settings.change(
        pictures_folder=str(folder), picture_format="webp", metadata=False, previews=False
    )
    assert session.output_pictures.folder == folder
    assert session.gallery_index.folders[0].path == folder
    other = tmp_path / "other"
    session.settings.change(pictures_folder=str(other))
    assert session.gallery_index.folders[0].path == other
    # Nothing was in the folders before.
    assert len(session.gallery_index.folders) == 1
    assert session.client.saving == session.settings.now.saving
    assert not session.client.previews
    staged.end()
    again = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    assert again.client.saving == session.settings.now.saving
    again.end()
