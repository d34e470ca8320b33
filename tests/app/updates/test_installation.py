"""Updates from a folder: checked, unpacked, tried, active; or nothing at all is changed."""

import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from nacl.signing import SigningKey

from app.updates import installation
from app.updates.errors import UpdateCode, UpdateError
from app.updates.installation import installing
from app.updates.offers import Offer
from app.updates.places import PLACE_VARIABLE
from app.updates.removal import hold
from app.updates.running import RunningVersion
from app.updates.signatures import KEYS_VARIABLE
from app.updates.unpacking import Unpacked
from app.updates.updates import Updates
from app.updates.wholeness import damage_of
from app.versions.state import GOOD, TRIAL, change_state
from app.versions.trees import INSTALLED_AT, read_tree, tree_folder
from installers.update_manifest import public_key
from tests.app.updates.publishing import Publisher, install, updates_of
from tests.app.updates.resigned import with_content
from tests.app.updates.trees import CRASHES, FAILS, NEW, NEWER, OLD, Home, make_tree, pack
from tests.windows_files import Scanner, WindowsFiles

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the launchers are scripts")


def nothing(_: int = 0) -> None:
    pass


def refused(updates: Updates, offer: Offer | None = None) -> UpdateCode:
    """Install, which must fail; return the code, whose sentences are whole."""
    return refusal(updates, offer).code


def refusal(updates: Updates, offer: Offer | None = None) -> UpdateError:
    """Install, which must fail; return the error, whose sentences are whole."""
    offer = offer or updates.check()
    assert offer is not None
    with pytest.raises(UpdateError) as error:
        updates.install(offer, nothing, nothing, lambda: False)
    assert error.value.message.endswith(".")
    assert error.value.hint.endswith(".")
    return error.value


def leftovers(home: Home) -> set[str]:
    """The names in the folder of versions, but those of locks and of the state."""
    names = (
        {path.name for path in home.versions.iterdir()} if home.versions.exists() else set[str]()
    )
    return {name for name in names if not name.startswith(("state.", "install.lock"))}


def require_unchanged(home: Home, installed: Path) -> None:
    assert home.now().active == ""
    assert leftovers(home) <= {".downloads"}
    assert home.started(installed) == [OLD]


def test_an_offer_tells_what_a_person_must_know(publisher: Publisher, updates: Updates) -> None:
    archive = publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    assert (offer.version, offer.download_bytes) == (NEW, archive.stat().st_size)
    assert offer.disk_bytes > offer.download_bytes
    assert offer.hosts == ()
    assert "What is new" in offer.notes
    assert not offer.gone_back_from


def test_the_newest_version_has_no_offer(publisher: Publisher, updates: Updates) -> None:
    publisher.publish(OLD)
    assert updates.check() is None


def test_a_check_installs_nothing(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    updates.check()
    assert not home.versions.exists()


def test_an_installed_version_is_whole_and_on_trial(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    assert install(updates) == NEW
    assert damage_of(home.versions / NEW) == []
    assert (home.now().active, home.now().stage, home.now().previous) == (NEW, TRIAL, OLD)
    assert leftovers(home) == {NEW}
    assert updates.next_version == NEW
    assert updates.check() is None


def test_a_new_version_that_a_scanner_looks_into_is_installed(
    home: Home,
    publisher: Publisher,
    updates: Updates,
    monkeypatch: pytest.MonkeyPatch,
    windows_files: WindowsFiles,
) -> None:
    publisher.publish(NEW)
    unpack = installation.unpack

    def scanned(
        archive: Path, folder: Path, most_bytes: int, cancelled: Callable[[], bool]
    ) -> Unpacked:
        unpacked = unpack(archive, folder, most_bytes, cancelled)
        Scanner(folder / next(iter(unpacked.files)), 3, monkeypatch)
        return unpacked

    monkeypatch.setattr(installation, "unpack", scanned)
    assert install(updates) == NEW
    assert len(windows_files.refused) == 3
    assert damage_of(home.versions / NEW) == []


def test_progress_is_told_in_bytes(publisher: Publisher, updates: Updates) -> None:
    archive = publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    told: list[int] = []
    updates.install(offer, told.append, lambda: told.append(-1), lambda: False)
    assert told == [archive.stat().st_size, -1]


# --- what goes wrong ---


def cut(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-100])


def changed(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    archive.write_bytes(content)


@pytest.mark.parametrize("damage", [cut, changed, Path.unlink])
def test_a_damaged_archive_is_not_installed(
    home: Home,
    installed: Path,
    publisher: Publisher,
    updates: Updates,
    damage: Callable[[Path], None],
) -> None:
    damage(publisher.publish(NEW))
    assert refused(updates) is UpdateCode.DOWNLOAD
    require_unchanged(home, installed)


def test_a_signed_archive_that_cannot_be_unpacked_is_not_installed(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, key: SigningKey
) -> None:
    archive = publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    offer = with_content(offer, archive, archive.read_bytes()[:-3000])
    assert refused(updates, offer) is UpdateCode.BAD_ARCHIVE
    require_unchanged(home, installed)


def test_an_archive_of_another_version_is_not_installed(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, tmp_path: Path
) -> None:
    publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    other = pack(make_tree(tmp_path / "other", NEWER), tmp_path / "packed").read_bytes()
    offer = with_content(offer, Path(offer.urls[0]), other)
    assert refused(updates, offer) is UpdateCode.BAD_ARCHIVE
    require_unchanged(home, installed)


def test_a_version_that_does_not_run_here_is_not_made_active(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path / "tree", NEW)
    (tree / "lib" / "app" / "__main__.py").write_text("import a_library_that_is_missing_here")
    publisher.publish_tree(tree)
    assert refused(updates) is UpdateCode.DOES_NOT_RUN
    assert home.now().active == ""
    assert home.started(installed) == [OLD]


def test_a_full_disk_is_noticed_before_the_download(
    home: Home, publisher: Publisher, updates: Updates, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    publisher.publish(NEW)

    def usage(_: Path) -> Usage:
        return Usage(1_000_000)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    told = refusal(updates)
    assert told.code is UpdateCode.DISK_FULL
    assert str(home.versions) in told.message
    assert leftovers(home) == set()


@pytest.mark.parametrize("room", [0, 20_000, 200_000])
def test_a_disk_that_fills_up_leaves_nothing(
    home: Home,
    installed: Path,
    publisher: Publisher,
    updates: Updates,
    monkeypatch: pytest.MonkeyPatch,
    room: int,
) -> None:
    """The disk takes so many bytes of the tree's files."""
    publisher.publish(NEW)
    offer = updates.check()
    left = [room]
    fdopen = os.fdopen

    def limited(descriptor: int, mode: str) -> object:
        file = fdopen(descriptor, mode)
        write = file.write

        def written(content: bytes) -> int:
            left[0] -= len(content)
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(content)

        file.write = written  # pyright: ignore[reportAttributeAccessIssue]
        return file

    monkeypatch.setattr("app.updates.unpacking.os.fdopen", limited)
    told = refusal(updates, offer)
    monkeypatch.undo()
    assert told.code is UpdateCode.DISK_FULL
    assert str(home.versions) in told.message
    require_unchanged(home, installed)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_closed_is_told(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    home.versions.parent.mkdir(parents=True)
    home.versions.parent.chmod(0o555)
    assert refused(updates) is UpdateCode.NOT_WRITABLE


def test_a_file_in_the_place_of_the_folder_is_told(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    home.versions.parent.mkdir(parents=True)
    home.versions.write_text("")
    assert refused(updates) is UpdateCode.NOT_WRITABLE


def test_a_second_installer_at_once_is_told(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    with installing(home.versions):
        assert refused(updates) is UpdateCode.BUSY
    assert install(updates) == NEW


def test_a_stopped_download_changes_nothing(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    with pytest.raises(UpdateError) as error:
        updates.install(offer, nothing, nothing, lambda: True)
    assert error.value.code is UpdateCode.CANCELLED
    require_unchanged(home, installed)


def test_a_checkout_is_not_updated(home: Home, publisher: Publisher, key: SigningKey) -> None:
    publisher.publish(NEW)
    updates = updates_of(home, home.folder, publisher, key)
    assert not updates.available
    with pytest.raises(UpdateError) as error:
        updates.check()
    assert error.value.code is UpdateCode.NOT_INSTALLED


def test_a_place_that_is_gone_is_told(publisher: Publisher, updates: Updates) -> None:
    with pytest.raises(UpdateError) as error:
        updates.check()
    assert error.value.code is UpdateCode.UNREACHABLE


# --- the versions that are there ---


def beside(home: Home, installed: Path, publisher: Publisher, key: SigningKey) -> Updates:
    """Return the updates as the active version sees them, after its first picture."""
    version = home.now().active
    change_state(home.versions, lambda state: state.proved(version))
    tree = read_tree(str(home.versions / version / "tree"))
    environment = {
        INSTALLED_AT: str(installed),
        PLACE_VARIABLE: str(publisher.folder),
        KEYS_VARIABLE: public_key(key),
    }
    return Updates(home.versions, home.state, tree, environment)


def test_a_version_that_another_process_installs_just_now_is_not_removed(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    install(updates)
    tree = read_tree(tree_folder(str(home.versions), NEW))
    shutil.copytree(home.versions / NEW, home.versions / NEWER)
    with installing(home.versions):
        RunningVersion(home.versions, tree).proved()
        assert home.now().stage == GOOD
        assert (home.versions / NEWER).is_dir()


def test_a_tree_that_was_installed_before_is_used_again(
    home: Home, publisher: Publisher, updates: Updates, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish(NEW)
    install(updates)
    updates.go_back()
    offer = updates.check()
    assert offer is not None
    assert offer.gone_back_from
    monkeypatch.setattr(installation, "unpack", None)
    assert install(updates) == NEW
    assert home.now().active == NEW


def test_a_damaged_tree_is_unpacked_again(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    install(updates)
    (home.versions / NEW / "tree" / "lib" / "engine" / "durable.py").unlink()
    assert damage_of(home.versions / NEW) == ["lib/engine/durable.py"]
    updates.go_back()
    install(updates)
    assert damage_of(home.versions / NEW) == []


def test_only_a_version_and_the_one_before_it_are_kept(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, key: SigningKey
) -> None:
    for version in (NEW, "0.3.0", "0.4.0"):
        publisher.publish(version)
        install(updates)
        updates = beside(home, installed, publisher, key)
    assert leftovers(home) == {"0.3.0", "0.4.0"}
    assert updates.back_to == "0.3.0"


def test_a_version_that_runs_is_not_removed(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, key: SigningKey
) -> None:
    publisher.publish(NEW)
    install(updates)
    running = hold(home.versions / NEW)
    assert running is not None
    for version in ("0.3.0", "0.4.0"):
        updates = beside(home, installed, publisher, key)
        publisher.publish(version)
        install(updates)
    assert NEW in leftovers(home)
    running.release()
    beside(home, installed, publisher, key)
    publisher.publish("0.5.0")
    install(beside(home, installed, publisher, key))
    assert NEW not in leftovers(home)


def test_one_step_back_leads_to_the_version_before(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, key: SigningKey
) -> None:
    assert updates.back_to == ""
    publisher.publish(NEW)
    install(updates)
    updates = beside(home, installed, publisher, key)
    assert updates.back_to == OLD
    publisher.publish("0.3.0")
    install(updates)
    updates = beside(home, installed, publisher, key)
    assert updates.back_to == NEW
    assert updates.go_back() == NEW
    assert home.started(installed) == [NEW]
    assert home.now().stage == GOOD
    updates = beside(home, installed, publisher, key)
    assert updates.back_to == ""
    with pytest.raises(UpdateError) as error:
        updates.go_back()
    assert error.value.code is UpdateCode.NO_WAY_BACK


def test_an_update_that_waits_for_its_start_can_be_taken_back(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    install(updates)
    assert updates.back_to == OLD
    assert updates.go_back() == OLD
    assert home.started(installed) == [OLD]


# --- the news of a version that failed ---


@pytest.mark.parametrize("body", [CRASHES, FAILS])
def test_a_version_that_did_not_start_is_told_once(
    home: Home, installed: Path, publisher: Publisher, updates: Updates, body: str
) -> None:
    publisher.publish(NEW, body)
    install(updates)
    assert updates.news() == []
    home.start(installed)
    (news,) = updates.news()
    assert NEW in news.message
    assert OLD in news.message
    assert "2 starts failed" in news.hint
    assert updates.news() == []


def test_a_file_that_an_antivirus_program_took_is_named(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    install(updates)
    (home.versions / NEW / "tree" / "lib" / "app" / "__main__.py").unlink()
    assert home.started(installed) == [OLD]
    (news,) = updates.news()
    assert "lib/app/__main__.py" in news.hint
    assert install(updates) == NEW
    assert home.started(installed) == [NEW]
