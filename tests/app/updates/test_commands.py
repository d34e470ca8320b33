"""The window's commands for updates, and what a version on trial reports of itself."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nacl.signing import SigningKey
from pytestqt.qtbot import QtBot

from app import session as session_module
from app.commands.updates import UpdateCommands, UpdateStage
from app.updates import memory
from app.updates.errors import UpdateCode
from app.updates.places import PLACE_VARIABLE
from app.updates.running import RunningVersion
from app.updates.signatures import KEYS_VARIABLE
from app.updates.updates import Updates
from app.versions.state import DID_NOT_START, GOOD, TRIAL, change_state
from app.versions.trees import INSTALLED_AT, Tree, read_tree, tree_folder
from installers.update_manifest import public_key
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import PATIENCE_MS, QUICK, fake_command
from tests.app.updates.publishing import Publisher, install, updates_of
from tests.app.updates.trees import DRAWS, NEW, OLD, Home
from ui.update_labels import stage_sentence

Stage = Callable[[Path], Staged]


@pytest.fixture
def stage(
    tmp_path: Path,
    qtbot: QtBot,
    publisher: Publisher,
    key: SigningKey,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stage]:
    """Make the session of a version whose tree this is."""
    sessions: list[Staged] = []
    monkeypatch.setenv(PLACE_VARIABLE, str(publisher.folder))
    monkeypatch.setenv(KEYS_VARIABLE, public_key(key))

    def make(tree: Path) -> Staged:
        monkeypatch.setattr(session_module, "own_tree", lambda: read_tree(str(tree)))
        sessions.append(Staged(tmp_path, qtbot, fake_command(Plan()), QUICK))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


def wait_for(staged: Staged, stage: UpdateStage) -> UpdateCommands:
    """Wait until the commands have come to a stage."""
    updates = staged.session.updates
    staged.wait(lambda: updates.state.stage is stage)
    return updates


def test_a_check_finds_a_version_and_its_installation_waits_for_a_restart(
    stage: Stage, installed: Path, publisher: Publisher
) -> None:
    publisher.publish(NEW)
    staged = stage(installed)
    updates = staged.session.updates
    assert (updates.available, updates.version, updates.place) == (
        True,
        OLD,
        str(publisher.folder),
    )
    updates.check()
    assert updates.is_busy
    offer = wait_for(staged, UpdateStage.OFFERED).state.offer
    assert offer is not None
    assert offer.version == NEW
    updates.install()
    wait_for(staged, UpdateStage.WAITING_FOR_RESTART)
    assert (updates.state.next_version, updates.state.back_to) == (NEW, OLD)
    assert updates.state.done_bytes == offer.download_bytes
    assert updates.state.problem is None


def test_a_failed_check_has_a_reason(stage: Stage, installed: Path) -> None:
    staged = stage(installed)
    staged.session.updates.check()
    problem = wait_for(staged, UpdateStage.IDLE).state.problem
    assert problem is not None
    assert problem.code is UpdateCode.UNREACHABLE


def test_a_failed_installation_can_be_tried_again(
    stage: Stage, installed: Path, publisher: Publisher
) -> None:
    archive = publisher.publish(NEW)
    staged = stage(installed)
    staged.session.updates.check()
    updates = wait_for(staged, UpdateStage.OFFERED)
    moved = archive.rename(archive.with_suffix(".away"))
    updates.install()
    wait_for(staged, UpdateStage.OFFERED)
    staged.wait(lambda: updates.state.problem is not None)
    moved.rename(archive)
    updates.install()
    wait_for(staged, UpdateStage.WAITING_FOR_RESTART)


def test_a_stopped_download_is_no_problem_and_stays_offered(
    stage: Stage, installed: Path, publisher: Publisher
) -> None:
    publisher.publish(NEW)
    staged = stage(installed)
    staged.session.updates.check()
    updates = wait_for(staged, UpdateStage.OFFERED)
    updates.install()
    updates.cancel()
    staged.wait(lambda: updates.state.stage is not UpdateStage.DOWNLOADING)
    assert updates.state.problem is None


def test_a_bug_while_looking_is_told_and_one_can_look_again(
    stage: Stage, installed: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish(NEW)
    staged = stage(installed)
    updates = staged.session.updates

    def fail(_self: object, _cancelled: object) -> None:
        raise KeyError("missing")

    with monkeypatch.context() as patched:
        patched.setattr(Updates, "check", fail)
        updates.check()
        wait_for(staged, UpdateStage.IDLE)
        staged.wait(lambda: bool(staged.session.notices.notices))
    updates.check()
    wait_for(staged, UpdateStage.OFFERED)


def test_nothing_is_checked_unless_a_person_switched_it_on(
    stage: Stage, installed: Path, publisher: Publisher
) -> None:
    publisher.publish(NEW)
    staged = stage(installed)
    updates = staged.start().session.updates
    assert (updates.state.automatic, updates.state.stage) == (False, UpdateStage.IDLE)
    updates.set_automatic(True)
    staged.wait(lambda: memory.read_memory(staged.paths.state).automatic)
    assert updates.state.stage is UpdateStage.IDLE
    again = stage(installed).start()
    wait_for(again, UpdateStage.OFFERED)
    assert again.session.updates.state.automatic
    # A third start within the day does not check again.
    third = stage(installed).start()
    assert third.session.updates.state.stage is UpdateStage.IDLE


@pytest.mark.parametrize(
    ("checked", "now", "due"),
    [(0.0, 1e9, True), (1e9, 1e9 + 3600, False), (1e9, 1e9 + 86400, True), (2e9, 1e9, True)],
)
def test_a_check_is_due_after_a_day_or_when_the_clock_was_set_back(
    checked: float, now: float, due: bool
) -> None:
    assert memory.UpdateMemory(automatic=True, checked=checked).is_due(now) is due
    assert not memory.UpdateMemory(automatic=False, checked=checked).is_due(now)


@pytest.fixture
def on_trial(tmp_path: Path, installed: Path, publisher: Publisher, key: SigningKey) -> Path:
    """The tree of a version that was installed beside the old one, in the session's folders."""
    publisher.publish(NEW)
    versions = tmp_path / "versions"
    environment = {PLACE_VARIABLE: str(publisher.folder), KEYS_VARIABLE: public_key(key)}
    install(Updates(versions, tmp_path / "state", read_tree(str(installed)), environment))
    return Path(tree_folder(str(versions), NEW))


def test_a_version_proves_itself_by_its_first_picture(
    stage: Stage, on_trial: Path, tmp_path: Path
) -> None:
    from app.versions.state import read_state

    versions = tmp_path / "versions"
    change_state(versions, lambda state: state.counted(NEW))
    staged = stage(on_trial).start()
    staged.wait(lambda: read_state(str(versions)).starts == 0)
    assert read_state(str(versions)).stage == TRIAL
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.wait(lambda: read_state(str(versions)).stage == GOOD)


def test_a_version_goes_back_by_one_command(
    stage: Stage, on_trial: Path, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INSTALLED_AT, str(installed))
    staged = stage(on_trial).start()
    updates = staged.session.updates
    assert updates.state.back_to == OLD
    updates.go_back()
    wait_for(staged, UpdateStage.WAITING_FOR_RESTART)
    assert updates.state.back_to == ""
    assert updates.state.next_version == OLD
    assert f"Safelight {OLD} is ready" in stage_sentence(updates.state)


def test_a_version_that_failed_is_told_in_a_notice(
    stage: Stage, on_trial: Path, installed: Path, tmp_path: Path
) -> None:
    versions = tmp_path / "versions"
    change_state(versions, lambda state: state.without(NEW, DID_NOT_START, "it crashed"))
    staged = stage(installed).start()
    staged.wait(lambda: len(staged.session.notices.notices) == 1)
    notice = staged.session.notices.notices[0]
    assert f"Version {NEW} did not start" in notice.message
    assert "it crashed" in notice.hint


def test_a_restart_is_asked_of_the_window(stage: Stage, installed: Path, qtbot: QtBot) -> None:
    updates = stage(installed).session.updates
    with qtbot.waitSignal(updates.restart_asked, timeout=PATIENCE_MS):
        updates.restart()
    assert updates.restarts


def test_the_installed_version_is_never_on_trial(
    home: Home, installed: Path, publisher: Publisher, key: SigningKey
) -> None:
    publisher.publish(NEW, DRAWS)
    install(updates_of(home, installed, publisher, key))
    before = home.now()
    running = RunningVersion(home.versions, Tree(str(installed), NEW))
    running.hold()
    running.started()
    running.proved()
    assert home.now() == before
