"""Small files of the cache: what became of one in no way keeps it from being written again."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.checkpoints.index import FileState, Stamp
from engine.checkpoints.known_files import KnownFiles
from engine.compile.estimates import Estimates, Kind, Work
from engine.devices.verdicts import BackendReport, VerdictStore
from tests import damages

# Writes what is known into the folder, and tells whether it is known there.
Store = tuple[Callable[[Path], None], Callable[[Path], bool]]

_NOBODY = 65_534
_WORK = Work(Kind("denoise"))
_STATE = FileState(Path("/checkpoint"), Stamp(1, 2, 3), "header")
_REPORT = BackendReport(backend="cpu", fingerprint="now")


def _note_duration(folder: Path) -> None:
    estimates = Estimates(folder / "durations.json")
    estimates.note(_WORK, 1.0)
    estimates.save()


_STORES: dict[str, Store] = {
    "files": (
        lambda folder: KnownFiles(folder).note_sha256(_STATE, "sha256"),
        lambda folder: KnownFiles(folder).sha256(_STATE) == "sha256",
    ),
    "durations": (
        _note_duration,
        lambda folder: Estimates(folder / "durations.json").expect(_WORK) == 1.0,
    ),
    "devices": (
        lambda folder: VerdictStore(folder / "devices.json", "now").keep(_REPORT),
        lambda folder: VerdictStore(folder / "devices.json", "now").find("cpu") == _REPORT,
    ),
}


@pytest.mark.parametrize("damage", damages.parameters())
@pytest.mark.parametrize("store", _STORES.values(), ids=_STORES.keys())
def test_a_damaged_file_is_ignored_and_replaced(
    tmp_path: Path, store: Store, damage: damages.Damage
) -> None:
    write, is_known = store
    write(tmp_path)
    assert is_known(tmp_path)
    (path,) = tmp_path.iterdir()
    damage(path)
    is_known(tmp_path)  # one byte more or less may leave it as good as it was
    write(tmp_path)
    assert is_known(tmp_path)
    assert path.is_file()


@pytest.fixture
def nobodys() -> Iterator[Path]:
    """A folder of a user who is not root, as whom the test runs."""
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only root can become another user; others are tested above")
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, _NOBODY, _NOBODY)
    os.seteuid(_NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)


@pytest.mark.parametrize("store", _STORES.values(), ids=_STORES.keys())
def test_a_file_without_permission_is_replaced(nobodys: Path, store: Store) -> None:
    write, is_known = store
    write(nobodys)
    (path,) = nobodys.iterdir()
    damages.unreadable(path)
    assert not is_known(nobodys)
    write(nobodys)
    assert is_known(nobodys)
