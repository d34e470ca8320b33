"""The packs on disk: which one is active, which was, and what is left of neither."""

import json
from pathlib import Path

import pytest

from app.packs.installation import Wishes
from app.packs.store import PackStore
from engine.errors import EngineError
from engine.file_lock import FileLock
from engine.packs import LIST
from tests.app.held_file import Held
from tests.app.packs.made import a_pack, installation, names_in, state_of
from tests.windows_files import Scanner, WindowsFiles


@pytest.fixture
def store(tmp_path: Path) -> PackStore:
    return PackStore(tmp_path / "packs of Zoë")


def installed(store: PackStore, wheels: Path, version: str = "1.0", **options: object) -> str:
    pack = a_pack(wheels, version, **options)  # pyright: ignore[reportArgumentType]
    installation(store).install(pack, Wishes(), source=wheels)
    return pack.folder


def test_one_version_before_the_active_one_is_kept(store: PackStore, tmp_path: Path) -> None:
    for version in ("1.0", "1.1", "1.2"):
        installed(store, tmp_path / "wheels", version)
    assert store.active() == {"tiny": "tiny-1.2"}
    assert store.previous("tiny") == "tiny-1.1"
    assert names_in(store.folder) == {"tiny-1.1", "tiny-1.2"}


def test_a_person_goes_back_and_forth(store: PackStore, tmp_path: Path) -> None:
    for version in ("1.0", "1.1"):
        pack = a_pack(tmp_path / "wheels", version)
        installation(store).install(pack, Wishes(), source=tmp_path / "wheels")
    for expected in ("tiny-1.0", "tiny-1.1"):
        outcome = installation(store).roll_back(pack, Wishes())
        assert f"tiny-{outcome.pack.version}" == expected
        assert store.active() == {"tiny": expected}


def test_without_an_earlier_version_there_is_no_way_back(store: PackStore, tmp_path: Path) -> None:
    installed(store, tmp_path / "wheels")
    with pytest.raises(EngineError, match="no earlier version"):
        installation(store).roll_back(a_pack(tmp_path / "wheels"), Wishes())


def test_the_newer_one_of_two_packs_with_an_onnx_runtime_is_active(
    store: PackStore, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    installed(store, wheels)
    installed(store, wheels, name="first", replaces_onnxruntime=True)
    second = a_pack(wheels, name="second", replaces_onnxruntime=True)
    outcome = installation(store).install(second, Wishes(), source=wheels)
    assert outcome.gave_way == ("first",)
    assert state_of(store) == {
        "active": {"tiny": "tiny-1.0", "second": "second-1.0"},
        "inactive": {"first": "first-1.0"},
        "previous": {},
    }
    # Its files are kept, and it comes back without a download.
    resting = store.resting("first")
    assert resting is not None
    again = a_pack(tmp_path / "elsewhere", name="first", replaces_onnxruntime=True)
    assert installation(store).install(again, Wishes()).gave_way == ("second",)


def test_removal_leaves_nothing(store: PackStore, tmp_path: Path) -> None:
    for version in ("1.0", "1.1"):
        installed(store, tmp_path / "wheels", version)
    assert installation(store).remove("tiny")
    assert names_in(store.folder) == set()
    assert state_of(store) == {"active": {}, "inactive": {}, "previous": {}}
    with pytest.raises(EngineError, match="not installed"):
        installation(store).remove("tiny")


def test_a_pack_in_use_is_removed_when_its_process_has_ended(
    store: PackStore, tmp_path: Path
) -> None:
    name = installed(store, tmp_path / "wheels")
    using = FileLock(store.folder / name / "installed.json", shared=True)
    assert not installation(store).remove("tiny")
    assert store.active() == {}
    assert (store.folder / name / "site" / "tiny_runtime" / "libtiny.so").exists()
    using.release()
    with store.locked():
        store.tidy()
    assert names_in(store.folder) == set()


def test_a_second_installer_is_told_to_wait(store: PackStore, tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "wheels")
    with store.locked(), pytest.raises(EngineError, match="Another Safelight is installing"):
        installation(store).install(pack, Wishes(), source=tmp_path / "wheels")
    installation(store).install(pack, Wishes(), source=tmp_path / "wheels")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"active": 3}', b"\xff\xfe"])
def test_a_damaged_state_is_as_none(content: bytes, store: PackStore, tmp_path: Path) -> None:
    name = installed(store, tmp_path / "wheels")
    (store.folder / "active.json").write_bytes(content)
    assert store.active() == {}
    assert [found for found, _ in store.installed()] == [name]
    installed(store, tmp_path / "wheels")
    assert store.active() == {"tiny": name}


def test_packs_stay_where_the_state_is_held_for_a_moment(
    store: PackStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state that is not read knows of no pack, and what nobody knows of is deleted."""
    installed(store, tmp_path / "wheels")
    Held(2, monkeypatch)
    installed(store, tmp_path / "wheels", name="other")
    assert store.active() == {"tiny": "tiny-1.0", "other": "other-1.0"}
    assert names_in(store.folder) == {"tiny-1.0", "other-1.0"}


def test_a_new_pack_that_a_scanner_looks_into_is_installed(
    store: PackStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows_files: WindowsFiles
) -> None:
    def scanned(folder: Path) -> None:
        Scanner(folder / LIST, 3, monkeypatch)

    monkeypatch.setattr("app.packs.installation.sync_tree", scanned)
    name = installed(store, tmp_path / "wheels")
    assert names_in(store.folder) == {name}
    assert len(windows_files.refused) == 3


def test_a_folder_without_its_list_is_no_pack(store: PackStore, tmp_path: Path) -> None:
    name = installed(store, tmp_path / "wheels")
    listed = store.folder / name / "installed.json"
    listed.write_text(json.dumps({"id": "tiny"}))
    assert store.installed() == ()
    installed(store, tmp_path / "wheels")
    assert store.listed(name) is not None


def test_foreign_files_in_the_folder_stay(store: PackStore, tmp_path: Path) -> None:
    store.folder.mkdir()
    (store.folder / "notes.txt").write_text("mine")
    installed(store, tmp_path / "wheels")
    assert (store.folder / "notes.txt").read_text() == "mine"
