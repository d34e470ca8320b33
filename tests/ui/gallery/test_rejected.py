"""Rejected pictures go to the trash, whatever else happens to the index meanwhile."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.gallery.query import GalleryQuery, Rejected
from tests.ui.gallery.conftest import Shown
from ui.actions import ActionName

KEY = Qt.Key


def test_rejected_pictures_go_to_the_trash_also_while_the_page_searches(shown: Shown) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_X)
    shown.wait_for(3)
    shown.desk.window.actions_by_name[ActionName.TRASH_REJECTED].trigger()
    shown.session.gallery_index.search(GalleryQuery(words="boat"), lambda found: None)
    shown.desk.wait(lambda: len(list(shown.folder.glob("*.png"))) == 3)


def test_a_picture_that_was_just_taken_back_is_not_among_the_rejected(shown: Shown) -> None:
    index = shown.session.gallery_index
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_X)
    shown.wait_for(3)
    found: list[int] = []
    index.collect(GalleryQuery(rejected=Rejected.ONLY), lambda results: found.extend(results.ids))
    shown.desk.wait(lambda: len(found) == 2)
    shown.desk.window.actions_by_name[ActionName.TRASH_REJECTED].trigger()
    # The trash's search may be over before the index has this.
    index.reject(found[:1], False)
    shown.desk.wait(lambda: len(list(shown.folder.glob("*.png"))) == 4)
    kept = index.row(found[0])
    assert kept is not None
    assert Path(kept.path).exists()
