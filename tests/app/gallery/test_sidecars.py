"""Stars and rejections in XMP sidecars are read, and written where that is wanted."""

import os
import sqlite3
import time
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event

import pytest

from app.gallery import mirroring
from app.gallery.database import IndexBusyError, opened
from app.gallery.query import GalleryQuery, Rejected
from app.gallery.rows import Marks
from app.gallery.sidecars import read_sidecar, write_sidecar
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import ours, png, write

DARKTABLE = """<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:darktable="http://darktable.sf.net/"
   xmp:Rating="{rating}"
   darktable:xmp_version="5">
   <darktable:history><rdf:Seq/></darktable:history>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""
AS_ELEMENT = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:Rating>4</xmp:Rating></rdf:Description></rdf:RDF>
</x:xmpmeta>"""


def test_the_stars_of_darktable_and_lightroom_are_read(tmp_path: Path) -> None:
    picture = str(tmp_path / "a.png")
    assert read_sidecar(picture) is None
    (tmp_path / "a.png.xmp").write_text(DARKTABLE.format(rating=3))
    assert read_sidecar(picture) == Marks(3)
    (tmp_path / "a.png.xmp").write_text(DARKTABLE.format(rating=-1))
    assert read_sidecar(picture) == Marks(rejected=True)
    (tmp_path / "a.png.xmp").unlink()
    (tmp_path / "a.xmp").write_text(AS_ELEMENT)
    assert read_sidecar(picture) == Marks(4)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff" * 100, b'xmp:Rating="x"', b"<xmp:Rating>" * 100_000, b"xmp:Rating=" * 9],
)
def test_a_sidecar_without_sense_tells_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png.xmp").write_bytes(content)
    assert read_sidecar(str(tmp_path / "a.png")) is None


def test_a_rating_beyond_the_range_is_brought_into_it(tmp_path: Path) -> None:
    (tmp_path / "a.png.xmp").write_text(DARKTABLE.format(rating=99))
    assert read_sidecar(str(tmp_path / "a.png")) == Marks(5)


def test_writing_keeps_everything_else_in_a_sidecar(tmp_path: Path) -> None:
    sidecar = tmp_path / "a.png.xmp"
    sidecar.write_text(DARKTABLE.format(rating=3))
    write_sidecar(str(tmp_path / "a.png"), Marks(5), 1_000)
    assert sidecar.read_text() == DARKTABLE.format(rating=5)
    without = DARKTABLE.replace('xmp:Rating="{rating}"', "")
    sidecar.write_text(without)
    write_sidecar(str(tmp_path / "a.png"), Marks(rejected=True), 1_000)
    assert read_sidecar(str(tmp_path / "a.png")) == Marks(rejected=True)
    assert "darktable:history" in sidecar.read_text()
    sidecar.write_text("no XMP")
    with pytest.raises(ValueError, match="no XMP"):
        write_sidecar(str(tmp_path / "a.png"), Marks(5), 1_000)
    assert sidecar.read_text() == "no XMP"


def test_a_new_sidecar_is_made_only_for_stars(tmp_path: Path) -> None:
    picture = str(tmp_path / "a.png")
    write_sidecar(picture, Marks(), 1_000)
    assert list(tmp_path.glob("*.xmp")) == []
    write_sidecar(picture, Marks(2, favourite=True), 1_000)
    assert read_sidecar(picture) == Marks(2)


def test_stars_of_a_sidecar_come_with_the_scan_and_the_latest_word_counts(gallery: Opened) -> None:
    picture = write(gallery.pictures / "a.png", png(1))
    sidecar = write(gallery.pictures / "a.png.xmp", DARKTABLE.format(rating=3).encode())
    gallery.index.start()
    gallery.wait_for("a.png", query=GalleryQuery(least_rating=3))
    gallery.wait(lambda: [row.rating for row in gallery.rows()] == [3])
    gallery.index.rate(gallery.ids(), 1)
    gallery.index.rescan()
    assert [row.rating for row in gallery.rows()] == [1]
    sidecar.write_text(DARKTABLE.format(rating=5))
    later = time.time() + 5
    os.utime(sidecar, (later, later))
    gallery.index.rescan()
    gallery.wait_for("a.png", query=GalleryQuery(least_rating=5))
    gallery.again()
    gallery.wait_for("a.png", query=GalleryQuery(least_rating=5))
    assert picture.exists()


def test_marks_of_the_future_adopt_what_is_written_later(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock was ahead when the picture was marked, and was set right."""
    write(gallery.pictures / "a.png", png(1))
    sidecar = write(gallery.pictures / "a.png.xmp", DARKTABLE.format(rating=3).encode())
    gallery.index.start()
    gallery.wait_for("a.png", query=GalleryQuery(least_rating=3))
    ahead = time.time_ns() + 365 * 86_400 * 10**9
    marks = gallery.index._marks  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(marks, "_clock", lambda: ahead)
    gallery.index.rate(gallery.ids(), 1)
    gallery.wait(lambda: [row.rating for row in gallery.rows()] == [1])
    gallery.again()
    gallery.index.rescan()
    gallery.wait_for("a.png")
    assert [row.rating for row in gallery.rows()] == [1]
    # An index that is made anew knows no other time of the sidecar.
    gallery.index.close()
    gallery.file.unlink()
    gallery.again()
    gallery.wait_for("a.png")
    assert [row.rating for row in gallery.rows()] == [1]
    sidecar.write_text(DARKTABLE.format(rating=5))
    gallery.index.rescan()
    gallery.wait_for("a.png", query=GalleryQuery(least_rating=5))


def test_sidecars_are_written_only_where_that_is_wanted(gallery: Opened) -> None:
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    write(gallery.pictures / "copy.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png", "copy.png")
    gallery.index.rate(gallery.ids(), 4)
    gallery.wait_for("a.png", "copy.png", query=GalleryQuery(least_rating=4))
    assert list(gallery.pictures.glob("*.xmp")) == []
    gallery.index.write_sidecars = True
    gallery.index.reject(gallery.ids()[:1], True)
    gallery.wait(lambda: len(list(gallery.pictures.glob("*.xmp"))) == 2)
    # Its own sidecar does not take the stars from a rejected picture.
    gallery.index.rescan()
    gallery.wait_for("a.png", "copy.png", query=GalleryQuery(rejected=Rejected.ONLY))
    assert [row.rating for row in gallery.rows(GalleryQuery(rejected=Rejected.ONLY))] == [4, 4]


def test_a_sidecar_that_is_written_late_does_not_undo_later_stars(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many sidecars take seconds on a network drive; a person changes their mind meanwhile."""
    changed_mind, looked = Event(), Event()
    waits = iter((changed_mind, looked))

    def write_slowly(picture: str, marks: Marks, at: int) -> None:
        next(waits).wait(60)
        write_sidecar(picture, marks, at)

    monkeypatch.setattr(mirroring, "write_sidecar", write_slowly)
    write(gallery.pictures / "a.png", png(1))
    gallery.index.start()
    gallery.wait_for("a.png")
    gallery.index.write_sidecars = True
    read: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        read.append((done, total))

    gallery.index.progress.connect(note)
    ids = gallery.ids()
    gallery.index.rate(ids, 4)
    gallery.index.rate(ids, 2)
    changed_mind.set()
    gallery.wait(lambda: read_sidecar(str(gallery.pictures / "a.png")) == Marks(4))
    gallery.index.rescan()
    gallery.wait(lambda: (1, 1) in read)
    assert [row.rating for row in gallery.rows()] == [2]
    looked.set()
    gallery.wait(lambda: read_sidecar(str(gallery.pictures / "a.png")) == Marks(2))


def test_marks_reach_sidecars_once_an_index_is_busy_no_more(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, gave_up = _busy(gallery, monkeypatch)
    gallery.index.rate(gallery.ids(), 4)
    gallery.wait(lambda: bool(gave_up))
    gallery.index.rate(gallery.ids(), 2)
    busy.clear()
    gallery.wait(lambda: read_sidecar(str(gallery.pictures / "a.png")) == Marks(2))
    gallery.wait_for("a.png", query=GalleryQuery(least_rating=2))


def test_marks_that_a_busy_index_did_not_take_reach_sidecars_at_the_end(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, gave_up = _busy(gallery, monkeypatch)
    gallery.index.rate(gallery.ids(), 4)
    gallery.wait(lambda: bool(gave_up))
    busy.clear()
    gallery.index.close()
    assert read_sidecar(str(gallery.pictures / "a.png")) == Marks(4)


def test_marks_of_many_presses_reach_sidecars_though_the_window_closes_at_once(
    gallery: Opened,
) -> None:
    for number in range(9):
        write(gallery.pictures / f"{number}.png", png(number))
    gallery.index.start()
    gallery.wait_for(*(f"{number}.png" for number in range(9)))
    gallery.index.write_sidecars = True
    for picture in gallery.ids():
        gallery.index.rate([picture], 3)
    gallery.index.close()
    assert len(list(gallery.pictures.glob("*.xmp"))) == 9


def _busy(gallery: Opened, monkeypatch: pytest.MonkeyPatch) -> tuple[Event, list[str]]:
    """Open a gallery of one picture whose index takes no marks while the event is set.

    The list has an entry for each time that was tried.
    """
    write(gallery.pictures / "a.png", png(1))
    gallery.index.start()
    gallery.wait_for("a.png")
    gallery.index.write_sidecars = True
    busy, gave_up = Event(), list[str]()
    busy.set()

    def open_busily(path: Path, **_: float) -> AbstractContextManager[sqlite3.Connection]:
        if busy.is_set():
            gave_up.append("busy")
            raise IndexBusyError("database is locked")
        return opened(path)

    monkeypatch.setattr(mirroring, "opened", open_busily)
    return busy, gave_up


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind")
def test_a_folder_that_takes_no_sidecar_is_told_and_the_stars_hold(gallery: Opened) -> None:
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png")
    gallery.index.write_sidecars = True
    gallery.pictures.chmod(0o500)
    gallery.index.rate(gallery.ids(), 4)
    gallery.wait(lambda: bool(gallery.errors))
    gallery.pictures.chmod(0o700)
    assert [row.rating for row in gallery.rows()] == [4]
