"""A newer version is found, installed and left again in the dialog about versions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nacl.signing import SigningKey
from PySide6.QtWidgets import QPushButton

from app import session as session_module
from app.commands.updates import UpdateStage
from app.updates.places import PLACE_VARIABLE
from app.updates.signatures import KEYS_VARIABLE
from app.versions.trees import read_tree
from installers.update_manifest import public_key
from tests.app.updates.conftest import home, installed, key, publisher
from tests.app.updates.publishing import Publisher
from tests.app.updates.trees import NEW, OLD
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from ui.actions import ActionName
from ui.dialogs.updates_dialog import UpdatesDialog

__all__ = ["home", "installed", "key", "publisher"]
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def make_installed(
    make_desk: MakeDesk,
    installed: Path,
    key: SigningKey,
    publisher: Publisher,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Desk]:
    """Make the desk of the installed version, which looks for updates in the publisher's folder."""
    monkeypatch.setenv(PLACE_VARIABLE, str(publisher.folder))
    monkeypatch.setenv(KEYS_VARIABLE, public_key(key))
    monkeypatch.setattr(session_module, "own_tree", lambda: read_tree(str(installed)))
    return make_desk


def check(desk: Desk) -> UpdatesDialog:
    """Choose "Check for updates" in the menu."""
    desk.window.actions_by_name[ActionName.UPDATES].trigger()
    dialog = desk.window.findChild(UpdatesDialog)
    assert isinstance(dialog, UpdatesDialog)
    desk.wait(lambda: not desk.session.updates.is_busy)
    return dialog


def visible(dialog: UpdatesDialog) -> list[str]:
    buttons = dialog.findChildren(QPushButton)
    return [button.text() for button in buttons if button.isVisible()]


def test_nothing_is_looked_for_before_a_person_asks(make_installed: Callable[[], Desk]) -> None:
    desk = make_installed()
    desk.start()
    assert desk.session.updates.state.stage is UpdateStage.IDLE


def test_the_menu_finds_a_newer_version_with_its_news_and_size(
    make_installed: Callable[[], Desk],
    publisher: Publisher,
) -> None:
    publisher.publish(NEW)
    dialog = check(make_installed())
    assert dialog.version.text() == f"Safelight {OLD}"
    assert dialog.stage.text() == f"Safelight {NEW} is available."
    assert "on disk" in dialog.facts.text()
    assert dialog.notes.toPlainText().startswith("What is new in")
    assert visible(dialog) == ["Download and install", "Close"]
    assert unnamed(dialog) == []


def test_the_newest_version_says_so(
    make_installed: Callable[[], Desk],
    publisher: Publisher,
) -> None:
    publisher.publish(OLD)
    dialog = check(make_installed())
    assert dialog.stage.text() == "This is the newest version."
    assert visible(dialog) == ["Check for updates", "Close"]


def test_an_installed_version_waits_for_a_restart_that_can_be_had_at_once(
    make_installed: Callable[[], Desk],
    publisher: Publisher,
) -> None:
    publisher.publish(NEW)
    desk = make_installed()
    dialog = check(desk)
    dialog.install.click()
    desk.wait(lambda: desk.session.updates.state.stage is UpdateStage.WAITING_FOR_RESTART)
    assert f"Safelight {NEW} is ready" in dialog.stage.text()
    assert visible(dialog) == ["Restart Safelight now", f"Stay with {OLD}", "Close"]
    dialog.go_back.click()
    desk.wait(lambda: desk.session.updates.state.stage is UpdateStage.IDLE)
    assert desk.session.updates.state.next_version == ""


def test_a_failed_check_says_why_and_can_be_repeated(make_installed: Callable[[], Desk]) -> None:
    dialog = check(make_installed())
    assert dialog.problem.text() != ""
    assert visible(dialog) == ["Check for updates", "Close"]


def test_the_daily_check_is_off_until_it_is_switched_on(
    make_installed: Callable[[], Desk],
    publisher: Publisher,
) -> None:
    publisher.publish(OLD)
    desk = make_installed()
    dialog = check(desk)
    assert not dialog.automatic.isChecked()
    dialog.automatic.click()
    desk.wait(lambda: desk.session.updates.state.automatic)


def test_a_copy_that_no_installer_made_offers_nothing(desk: Desk) -> None:
    dialog = check(desk)
    assert "not updated from here" in dialog.stage.text()
    assert visible(dialog) == ["Close"]
