"""Archives are unpacked into their own folder and nowhere else, or not at all."""

import io
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.updates.unpacking import ArchiveError, unpack
from tests.app.updates.trees import NEW, make_tree, pack, pack_zip

ROOM = 1 << 30
posix = pytest.mark.skipif(sys.platform == "win32", reason="links and modes are Unix's")


def never() -> bool:
    return False


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, deep inside of the test's."""
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    return folder


def tar(path: Path, *entries: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:xz") as archive:
        for entry, content in entries:
            entry.size = len(content) if entry.isfile() else 0
            archive.addfile(entry, io.BytesIO(content))
    return path


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.mode = kind, target, 0o755
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("packed", [pack, pack_zip])
def test_a_tree_is_unpacked_as_it_was(
    packed: Callable[[Path, Path], Path], folder: Path, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path / "tree", NEW)
    unpacked = unpack(packed(tree, tmp_path / "packed"), folder, ROOM, never)
    assert contents(folder) == contents(tree)
    assert set(unpacked.files) == set(contents(tree))
    if sys.platform != "win32":
        assert (folder / "safelight").stat().st_mode & stat.S_IXUSR
        assert not (folder / "version.json").stat().st_mode & stat.S_IXUSR


@posix
def test_links_within_the_folder_are_kept(folder: Path, tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "a.tar.xz",
        (entry("top/lib/libx.so.1.2"), b"code"),
        (entry("top/lib/libx.so", tarfile.SYMTYPE, "libx.so.1.2"), b""),
        (entry("top/bin/x", tarfile.SYMTYPE, "../lib/libx.so"), b""),
    )
    unpacked = unpack(archive, folder, ROOM, never)
    assert (folder / "bin" / "x").read_bytes() == b"code"
    assert unpacked.links == {"lib/libx.so": "libx.so.1.2", "bin/x": "../lib/libx.so"}


HOSTILE = {
    "a parent": [entry("top/../../escaped")],
    "a parent at the top": [entry("../escaped")],
    "an absolute path": [entry("/tmp/escaped")],
    "a drive": [entry("top/C:\\escaped")],
    "a backslash": [entry("top/..\\..\\escaped")],
    "a stream": [entry("top/file:stream")],
    "a trailing dot": [entry("top/folder./file")],
    "a control character": [entry("top/a\nb")],
    "no top folder": [entry("file")],
    "two top folders": [entry("top/a"), entry("other/b")],
    "an absolute link": [entry("top/link", tarfile.SYMTYPE, "/etc")],
    "a link outside": [entry("top/a/link", tarfile.SYMTYPE, "../../escaped")],
    "a link to the folder above": [entry("top/link", tarfile.SYMTYPE, "..")],
    "a path through a link": [
        entry("top/real", tarfile.DIRTYPE),
        entry("top/link", tarfile.SYMTYPE, "real"),
        entry("top/link/file"),
    ],
    "a chain of links": [
        entry("top/a", tarfile.SYMTYPE, "."),
        entry("top/a/b", tarfile.SYMTYPE, ".."),
    ],
    "a file over a link": [entry("top/link", tarfile.SYMTYPE, "target"), entry("top/link")],
    "the same file twice": [entry("top/file"), entry("top/file")],
    "a file that is a folder": [entry("top/file"), entry("top/file/file")],
    "a hard link": [entry("top/file"), entry("top/hard", tarfile.LNKTYPE, "top/file")],
    "a device": [entry("top/null", tarfile.CHRTYPE)],
    "a pipe": [entry("top/pipe", tarfile.FIFOTYPE)],
    "an endless name": [entry("top/" + "a" * 2000)],
}


def outside(folder: Path, above: Path) -> set[Path]:
    return {path for path in above.rglob("*") if folder not in (path, *path.parents)}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_writes_nothing_outside(name: str, folder: Path, tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "a.tar.xz", *((member, b"x" * member.isfile()) for member in HOSTILE[name])
    )
    before = outside(folder, tmp_path)
    with pytest.raises(ArchiveError):
        unpack(archive, folder, ROOM, never)
    assert outside(folder, tmp_path) == before
    assert not Path("/tmp/escaped").exists()


@pytest.mark.parametrize("name", ["../x", "/x", "top/../../x", "top\\..\\..\\x", "c:x", "x"])
def test_a_hostile_zip_writes_nothing(name: str, folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(ArchiveError):
        unpack(tmp_path / "a.zip", folder, ROOM, never)
    assert not contents(folder)


def test_a_link_in_a_zip_must_lead_inside(folder: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("top/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "../../outside")
    with pytest.raises(ArchiveError):
        unpack(tmp_path / "a.zip", folder, ROOM, never)


def test_more_content_than_stated_is_refused(folder: Path, tmp_path: Path) -> None:
    """An archive of a few kilobytes can fill a disk."""
    archive = tar(tmp_path / "a.tar.xz", (entry("top/zeros"), bytes(10_000_000)))
    assert archive.stat().st_size < 10_000
    with pytest.raises(ArchiveError):
        unpack(archive, folder, 9_999_999, never)
    assert (folder / "zeros").stat().st_size < 10_000_000


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1), st.booleans())
def test_a_damaged_archive_is_an_error_or_unpacked_right(
    tmp_path_factory: pytest.TempPathFactory, place: float, cut: bool
) -> None:
    scratch = tmp_path_factory.mktemp("damaged")
    (scratch / "folder").mkdir()
    archive = tar(scratch / "a.tar.xz", (entry("top/file"), bytes(range(256)) * 50))
    content = bytearray(archive.read_bytes())
    at = min(int(place * len(content)), len(content) - 1)
    if cut:
        del content[at:]
    else:
        content[at] ^= 0xFF
    archive.write_bytes(content)
    try:
        unpack(archive, scratch / "folder", ROOM, never)
    except ArchiveError:
        return
    # The damage is behind the last file; the archive's own hash tells of that one.
    assert contents(scratch / "folder") == {"file": bytes(range(256)) * 50}


def test_a_stop_ends_in_the_middle(folder: Path, tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tar.xz", (entry("top/a"), b"a"), (entry("top/b"), b"b"))
    asked: list[bool] = []

    def second_time() -> bool:
        asked.append(True)
        return len(asked) > 1

    with pytest.raises(InterruptedError):
        unpack(archive, folder, ROOM, second_time)
    assert contents(folder).get("b", b"") == b""
