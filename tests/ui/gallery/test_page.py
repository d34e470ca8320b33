"""The page: marks, the viewer, comparing, searching, the trash, and the way back to Create."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.form.picture_settings import tells_settings
from app.gallery import index
from app.gallery.query import GalleryQuery, Order, Rejected, Shape
from app.gallery.rows import Results
from app.notices.remedies import NoticeAction
from engine.api.record import UpscaleReport
from engine.api.values import InputRole
from engine.metadata.pictures import read_text_chunks
from engine.metadata.png import insert_text_chunks
from engine.metadata.texts import TextChunk
from engine.metadata.upscales import with_upscale
from tests.app.gallery.made import png
from tests.ui.conftest import Desk
from tests.ui.gallery.conftest import PROMPTS, Shown, write_picture
from tests.ui.test_accessibility import unnamed
from ui.actions import ActionName
from ui.files.chooser import FileChooser
from ui.gallery import tile_store
from ui.gallery.browser import Browser
from ui.gallery.compare import ComparePane, Comparison
from ui.gallery.differences import differing
from ui.gallery.page import GalleryPage
from ui.gallery.picture_bar import PictureBar
from ui.gallery.viewer import Viewer
from ui.picture_facts import Fact, read_facts
from ui.places import Place
from ui.widgets.empty_state import EmptyState
from ui.widgets.labels import ElidedLabel

KEY, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier


def stars(shown: Shown, prompt: str) -> int:
    row = shown.browser.model.row(shown.number(prompt))
    assert row is not None
    return row.rating


def test_digits_give_stars_and_several_can_be_undone(shown: Shown) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_3)
    assert stars(shown, "a red house") == stars(shown, "a blue boat") == 3
    assert shown.page.foot.bar.rating.value() == 3
    notice = shown.session.notices.notices[-1]
    assert notice.actions == (NoticeAction.UNDO_CHANGE,)
    assert notice.undo is not None
    notice.undo()
    assert stars(shown, "a red house") == 0


def test_a_rejected_picture_is_hidden_and_shown_again(shown: Shown) -> None:
    shown.choose("a green tree")
    QTest.keyClick(shown.grid, KEY.Key_X)
    shown.wait_for(4)
    # The next one takes its place, so that a row of pictures is gone through by one key.
    assert shown.grid.rows() != []
    shown.browser.search.rejected.chosen.emit({"rejected": Rejected.ONLY})
    shown.wait_for(1)
    shown.choose("a green tree")
    QTest.keyClick(shown.grid, KEY.Key_X)
    shown.wait_for(0)
    assert shown.browser.nothing_found.isVisible()
    shown.browser.clear.click()
    shown.wait_for(5)


def test_pictures_are_not_missed_before_the_search_for_them_is_answered(
    nothing: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = nothing.session.gallery_index
    search, asked = index.search, list[tuple[GalleryQuery, Callable[[Results], None]]]()

    def wait(query: GalleryQuery, done: Callable[[Results], None]) -> None:
        asked.append((query, done))

    monkeypatch.setattr(index, "search", wait)
    write_picture(nothing.folder / "0.png", PROMPTS[0])
    nothing.session.look_again()
    nothing.desk.wait(lambda: index.facets.total == 1)
    assert asked
    assert nothing.page.findChildren(EmptyState) == [nothing.browser.no_pictures]
    search(*asked[-1])
    nothing.wait_for(1)
    assert nothing.grid.isVisible()


def test_the_viewer_goes_through_the_pictures_and_back(shown: Shown) -> None:
    shown.grid.choose(1)
    # What nobody saw is not made.
    assert not shown.page.findChildren(Viewer) + shown.page.findChildren(Comparison)
    assert shown.page.findChildren(EmptyState) == [shown.browser.no_pictures]
    QTest.keyClick(shown.grid, KEY.Key_Space)
    viewer = shown.page.viewer
    assert viewer.isVisible()
    shown.desk.wait(lambda: viewer.view.image is not None)
    QTest.keyClick(viewer.view, KEY.Key_Right)
    assert shown.browser.current == 2
    assert viewer.position.text() == "3 of 5"
    QTest.keyClick(viewer.view, KEY.Key_5)
    row = shown.browser.model.row(2)
    assert row is not None
    assert row.rating == 5
    QTest.keyClick(viewer.view, KEY.Key_Home)
    assert shown.browser.current == 0
    QTest.keyClick(viewer.view, KEY.Key_Escape)
    assert shown.grid.isVisible()
    assert shown.grid.hasFocus()
    assert shown.grid.rows() == [0]


def test_the_viewer_shows_a_picture_that_another_program_changed_as_it_is(shown: Shown) -> None:
    shown.grid.choose(1)
    QTest.keyClick(shown.grid, KEY.Key_Space)
    view = shown.page.viewer.view
    shown.desk.wait(lambda: view.image is not None and view.image.width() == 64)
    (row,) = shown.session.gallery_index.rows(shown.browser.chosen)
    path = Path(row.path)
    # As image editors save: beside the file, then in its place.
    edited = path.with_suffix(".tmp.png")
    Image.new("RGB", (32, 32)).save(edited)
    os.utime(edited, ns=(row.modified_ns, row.modified_ns))
    edited.replace(path)
    shown.session.look_again()
    shown.desk.wait(lambda: view.image is not None and view.image.width() == 32)


def test_the_grid_holds_no_picture_but_the_one_that_was_seen_last(shown: Shown) -> None:
    shown.grid.choose(1)
    QTest.keyClick(shown.grid, KEY.Key_Space)
    viewer, loader = shown.page.viewer, shown.page.loader
    shown.desk.wait(lambda: len(loader.kept) == 3)
    QTest.keyClick(viewer.view, KEY.Key_Right)
    shown.desk.wait(lambda: len(loader.kept) == 4)
    row = shown.browser.model.row(2)
    QTest.keyClick(viewer.view, KEY.Key_Escape)
    assert row is not None
    assert loader.kept == (row.path,)


def test_the_picture_of_the_viewer_is_dragged_out_as_a_file(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    dragged: list[QMimeData] = []

    def drag_out(_source: QWidget, data: QMimeData, _pixmap: QPixmap) -> None:
        dragged.append(data)

    monkeypatch.setattr("ui.gallery.viewer.drag_out", drag_out)
    shown.grid.choose(1)
    QTest.keyClick(shown.grid, KEY.Key_Space)
    viewer = shown.page.viewer
    shown.desk.wait(lambda: viewer.view.image is not None)
    viewer.view.taken.emit(QPixmap())
    assert [Path(url.toLocalFile()).exists() for url in dragged[0].urls()] == [True]
    assert shown.page.picture == dragged[0].urls()[0].toLocalFile()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_viewer_fills_the_screen_and_leaves_it(shown: Shown) -> None:
    shown.grid.choose(0)
    QTest.keyClick(shown.grid, KEY.Key_Return)
    shown.desk.window.actions_by_name[ActionName.FULL_SCREEN].trigger()
    assert shown.page.viewer.isFullScreen()
    shown.desk.wait(shown.page.viewer.isActiveWindow)
    QTest.keyClick(shown.page.viewer.view, KEY.Key_Right)
    assert shown.browser.current == 1
    shown.desk.window.actions_by_name[ActionName.FULL_SCREEN].trigger()
    assert not shown.page.viewer.isFullScreen()
    assert shown.page.viewer.window() is shown.desk.window


@pytest.mark.parametrize("key", [KEY.Key_Space, KEY.Key_C])
def test_everything_in_the_viewer_and_in_a_comparison_has_a_name(shown: Shown, key: Qt.Key) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, key)
    shown.desk.wait(lambda: not shown.grid.isVisible())
    assert unnamed(shown.desk.window) == []


def test_compared_pictures_move_together_and_differ_in_prompt_and_seed(shown: Shown) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_C)
    panes = shown.page.comparison.panes
    assert len(panes) == 2
    shown.desk.wait(lambda: all(pane.facts is not None for pane in panes))
    first, second = panes
    first.view.zoom_in()
    assert second.view.point == first.view.point
    assert shown.page.meant() == [first.row.id]
    second.view.setFocus()
    QTest.keyClick(second.view, KEY.Key_2)
    assert shown.session.gallery_index.rows([second.row.id])[0].rating == 2
    QTest.keyClick(second.view, KEY.Key_Escape)
    assert shown.grid.isVisible()


def test_the_next_picture_is_seen_in_the_same_place_while_b_or_its_button_is_held(
    shown: Shown,
) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_C)
    comparison = shown.page.comparison
    first, second = comparison.panes
    shown.desk.wait(lambda: all(pane.facts is not None for pane in comparison.panes))
    first.view.zoom_in()
    point = first.view.point

    def seen(pane: ComparePane = first) -> QColor:
        assert pane.view.point == point
        return pane.view.grab().toImage().pixelColor(pane.view.rect().center())

    own, other = seen(first), seen(second)
    assert own != other

    QTest.keyPress(first.view, KEY.Key_B)
    assert seen() == other
    assert first.name.text() == second.name.text()
    QTest.keyRelease(first.view, KEY.Key_B)
    assert seen() == own
    QTest.mousePress(comparison.swap, Qt.MouseButton.LeftButton)
    assert seen() == other
    QTest.mouseRelease(comparison.swap, Qt.MouseButton.LeftButton)
    assert seen() == own
    # Where the focus leaves meanwhile, the key's end is never seen.
    QTest.keyPress(first.view, KEY.Key_B)
    second.view.setFocus()
    assert seen() == own
    assert first.name.text() != second.name.text()


def test_a_divider_shows_the_next_picture_beside_the_chosen_one(shown: Shown) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_C)
    comparison = shown.page.comparison
    first, second = comparison.panes
    shown.desk.wait(lambda: all(pane.facts is not None for pane in comparison.panes))

    def colours(pane: ComparePane = first) -> tuple[QColor, QColor]:
        QApplication.processEvents()
        image, target = pane.view.grab().toImage(), pane.view.target.toRect()
        left, right = target.left() + 20, target.right() - 20
        return image.pixelColor(left, target.center().y()), image.pixelColor(
            right, target.center().y()
        )

    own, other = colours()[0], colours(second)[0]
    assert own != other
    names = [pane.name.text() for pane in comparison.panes]

    QTest.keyClick(first.view, KEY.Key_D)
    assert comparison.divide.isChecked()
    assert second.isHidden()
    assert colours() == (other, own)
    assert " | ".join(reversed(names)) in first.name.text()
    values = [label.text() for label in first.findChildren(ElidedLabel)]
    both = f"{second.row.prompt} | {first.row.prompt}"
    assert any(both in value for value in values)

    QTest.keyClick(first.view, KEY.Key_D)
    assert not second.isHidden()
    assert colours() == (own, own)
    assert [pane.name.text() for pane in comparison.panes] == names


@pytest.mark.parametrize("count", [1, 5])
def test_a_number_of_pictures_that_cannot_be_compared_is_told(shown: Shown, count: int) -> None:
    shown.choose(*PROMPTS[:count])
    assert not shown.session.notices.notices
    QTest.keyClick(shown.grid, KEY.Key_C)
    assert "two, three or four" in shown.session.notices.notices[-1].message
    assert shown.grid.isVisible()


def test_only_settings_that_differ_are_compared() -> None:
    facts = (Fact("Model", "a"), Fact("Seed", "1"), Fact("Steps", "20"))
    other = (Fact("Model", "a"), Fact("Seed", "2"))
    assert [(found.label, found.values) for found in differing([facts, other])] == [
        ("Seed", ("1", "2")),
        ("Steps", ("20", "\N{EN DASH}")),
    ]


@pytest.mark.parametrize("next_words", ["boat", ""])
def test_the_search_keeps_the_keys_when_it_finds_pictures_again(
    shown: Shown, next_words: str
) -> None:
    # Once the grid took them: the next letters rejected and rated, and Ctrl+A, Delete meant all.
    QTest.keyClick(shown.grid, KEY.Key_F, CTRL)
    field = shown.browser.search.words
    QTest.keyClicks(field, "zzz")
    shown.desk.wait(shown.browser.nothing_found.isVisible)
    QTest.keyClick(field, KEY.Key_F, CTRL)
    if next_words:
        QTest.keyClicks(field, next_words)
    else:
        QTest.keyClick(field, KEY.Key_Backspace)
    shown.desk.wait(shown.grid.isVisible)
    assert field.hasFocus()


def test_a_click_on_a_folder_shows_its_pictures(shown: Shown, tmp_path: Path) -> None:
    # Once those of the folder that was chosen before: Qt tells the new one before it selects it.
    other = tmp_path / "other"
    other.mkdir()
    write_picture(other / "x.png", "a grey whale")
    shown.session.gallery_index.add_folder(other)
    shown.desk.resize(1500, 800)
    shown.desk.wait(shown.page.folders.isVisible)
    shown.wait_for(6)
    places = shown.page.folders.list
    for row, count in ((2, 1), (0, 6), (1, 5), (2, 1)):
        place = places.visualItemRect(places.item(row)).center()
        QTest.mouseClick(places.viewport(), Qt.MouseButton.LeftButton, pos=place)
        shown.wait_for(count)
    assert shown.page.folders.remove.isVisible()


def test_a_folder_is_looked_for_beside_the_pictures(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once the dialog began in whatever folder the application was started in.
    asked: list[str] = []

    def answer(_parent: object, _title: str, start: str = "") -> str:
        asked.append(start)
        return ""

    monkeypatch.setattr(FileChooser, "open_folder", answer)
    shown.page.folders.add.click()
    assert asked == [str(shown.session.output_pictures.folder.parent)]


def test_words_find_pictures_and_are_remembered(shown: Shown) -> None:
    QTest.keyClick(shown.grid, KEY.Key_F, CTRL)
    field = shown.browser.search.words
    assert field.hasFocus()
    # Letters that are keys of the grid are words here.
    QTest.keyClicks(field, "boat")
    QTest.keyClick(field, KEY.Key_Return)
    shown.wait_for(1)
    assert shown.prompts() == ["a blue boat"]
    assert shown.grid.hasFocus()
    assert shown.session.gallery_habits.habits.recent == (GalleryQuery(words="boat"),)
    field.setFocus()
    QTest.keyClick(field, KEY.Key_Escape)
    shown.wait_for(5)


def test_a_recent_search_has_its_filters_and_the_present_folder_and_order(shown: Shown) -> None:
    search, habits = shown.browser.search, shown.session.gallery_habits
    assert search.recent.isHidden()
    # Each further filter goes on from the search before, which is not kept apart.
    search.model.chosen.emit({"model": "dreamer"})
    search.shape.chosen.emit({"shape": Shape.SQUARE, "least_megapixels": 0.0})
    search.words.setText("boat")
    search.clear.click()
    wanted = GalleryQuery(words="boat", model="dreamer", shape=Shape.SQUARE)
    assert habits.habits.recent == (wanted,)
    search.favourites.click()
    search.order.chosen.emit({"order": Order.OLDEST})
    assert search.recent.isVisible()
    search.recent.choices.aboutToShow.emit()
    actions = search.recent.choices.actions()
    assert [action.text() for action in actions] == ["Favourites", "boat · dreamer · Square"]
    actions[1].trigger()
    assert search.query == msgspec.structs.replace(wanted, order=Order.OLDEST)
    assert search.words.text() == "boat"
    assert habits.habits.recent == (wanted, GalleryQuery(favourites=True))


# Off the screen no menu can take the keyboard.
@pytest.mark.qt_log_ignore("This plugin does not support")
def test_down_in_an_empty_field_opens_the_recent_searches(shown: Shown) -> None:
    search = shown.browser.search
    search.favourites.click()
    search.clear.click()
    opened: list[bool] = []
    search.recent.choices.aboutToShow.connect(lambda: opened.append(True))
    QTimer.singleShot(0, search.recent.choices, search.recent.choices.close)
    QTest.keyClick(search.words, KEY.Key_Down)
    assert opened


def test_filters_narrow_the_pictures(shown: Shown) -> None:
    search = shown.browser.search
    shown.choose("a red house")
    QTest.keyClick(shown.grid, KEY.Key_P)
    search.favourites.click()
    shown.wait_for(1)
    search.clear.click()
    shown.wait_for(5)
    search.model.chosen.emit({"model": "dreamer"})
    assert search.model.text() == "dreamer"
    search.date.chosen.emit({"since": None, "until": None})
    search.model.chosen.emit({"model": "another"})
    shown.wait_for(0)


def test_the_trash_takes_several_and_gives_them_back(shown: Shown) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_Delete)
    shown.wait_for(3)
    notice = shown.session.notices.notices[-1]
    assert notice.actions == (NoticeAction.UNDO_TRASH,)
    assert notice.undo is not None
    notice.undo()
    shown.wait_for(5)


def test_all_rejected_go_to_the_trash(shown: Shown) -> None:
    shown.choose("a red house", "a blue boat")
    QTest.keyClick(shown.grid, KEY.Key_X)
    shown.wait_for(3)
    shown.desk.window.actions_by_name[ActionName.TRASH_REJECTED].trigger()
    shown.desk.wait(lambda: len(list(shown.folder.glob("*.png"))) == 3)


def test_settings_of_the_chosen_picture_fill_the_form(shown: Shown) -> None:
    shown.choose("a white castle")
    shown.page.foot.bar.use.click()
    assert shown.desk.window.places.place is Place.CREATE
    shown.desk.wait(lambda: shown.session.generation.prompt == "a white castle")
    assert Path(shown.session.view.path or "").name == "3.png"


def test_the_next_picture_starts_from_the_chosen_one(shown: Shown) -> None:
    shown.choose("a white castle")
    shown.page.foot.bar.start.click()
    assert shown.desk.window.places.place is Place.CREATE
    form = shown.session.generation
    shown.desk.wait(lambda: form.input_path(InputRole.INIT) == str(shown.folder / "3.png"))


def test_paths_and_settings_are_copied(shown: Shown) -> None:
    actions = shown.desk.window.actions_by_name
    shown.choose("a white castle")
    actions[ActionName.COPY_PATH].trigger()
    assert QGuiApplication.clipboard().text().endswith("3.png")
    actions[ActionName.COPY_SETTINGS].trigger()
    # Once it was told in words of the window's language, which cannot be pasted.
    shown.desk.wait(lambda: QGuiApplication.clipboard().text().startswith("a white castle\n"))
    assert tells_settings(QGuiApplication.clipboard().text())
    shown.page.details.copy_all.click()
    assert tells_settings(QGuiApplication.clipboard().text())


def test_ctrl_c_copies_the_picture_or_what_is_selected_in_a_field(shown: Shown) -> None:
    # Once the grid copied the name of the file alone.
    shown.choose("a white castle")
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("")
    QTest.keyClick(shown.grid, KEY.Key_C, CTRL)
    shown.desk.wait(lambda: clipboard.mimeData().hasImage())
    assert [url.fileName() for url in clipboard.mimeData().urls()] == ["3.png"]
    field = shown.browser.search.words
    field.setText("boat")
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, KEY.Key_C, CTRL)
    assert clipboard.text() == "boat"


def test_ctrl_z_takes_back_what_was_done_to_pictures(shown: Shown) -> None:
    shown.choose("a white castle")
    for key in (KEY.Key_3, KEY.Key_5):
        QTest.keyClick(shown.grid, key)
    for notice in shown.session.notices.notices:
        shown.session.notices.dismiss(notice.number)
    QTest.keyClick(shown.grid, KEY.Key_Z, CTRL)
    assert stars(shown, "a white castle") == 3
    QTest.keyClick(shown.grid, KEY.Key_Z, CTRL)
    assert stars(shown, "a white castle") == 0


def test_an_action_of_the_gallery_leaves_the_canvas_alone(shown: Shown) -> None:
    shown.session.view.choose(str(shown.folder / "0.png"))
    shown.choose("a white castle")
    shown.desk.window.actions_by_name[ActionName.COPY_PATH].trigger()
    assert QGuiApplication.clipboard().text().endswith("3.png")


def test_the_newest_picture_is_chosen_at_first_and_its_details_are_told(shown: Shown) -> None:
    assert shown.grid.rows() == [0]
    shown.desk.wait(lambda: bool(shown.page.details.rows))
    assert "a yellow sun" in [row.value.toPlainText() for row in shown.page.details.rows]


def test_a_choice_that_was_given_up_is_not_made_again(shown: Shown) -> None:
    QTest.keyClick(shown.grid, KEY.Key_Escape)
    write_picture(shown.folder / "new.png", "a purple flower")
    shown.session.gallery_index.refresh()
    shown.wait_for(6)
    assert shown.grid.rows() == []


def test_a_search_says_how_many_pictures_it_found(shown: Shown) -> None:
    search = shown.browser.search
    assert not search.found.isVisible()
    search.words.setText("s")
    shown.wait_for(3)
    assert (search.found.isVisible(), search.found.text()) == (True, "3 pictures")
    search.words.setText("blue boat")
    shown.wait_for(1)
    assert search.found.text() == "1 picture"
    search.words.setText("zzz")
    shown.desk.wait(shown.browser.nothing_found.isVisible)
    assert search.found.text() == "0 pictures"
    search.words.setText("")
    shown.wait_for(5)
    assert not search.found.isVisible()


def test_another_search_chooses_its_first_picture(shown: Shown) -> None:
    shown.grid.choose(4)
    shown.browser.search.words.setText("blue")
    shown.wait_for(1)
    assert shown.grid.rows() == [0]
    shown.browser.search.words.setText("")
    shown.wait_for(5)
    # The boat was found again.
    assert shown.grid.rows() == [shown.number("a blue boat")]
    shown.browser.search.words.setText("s")
    shown.wait_for(3)
    assert shown.grid.rows() == [0]


def test_details_are_folded_while_no_picture_is_found(shown: Shown) -> None:
    shown.desk.resize(1300, 800)
    shown.desk.wait(shown.page.details.isVisible)
    shown.browser.search.words.setText("zeppelin")
    shown.wait_for(0)
    assert not shown.page.details.isVisible()
    shown.browser.clear.click()
    shown.wait_for(5)
    shown.desk.wait(shown.page.details.isVisible)


def test_rejected_pictures_are_offered_once_there_are_some(shown: Shown) -> None:
    rejected = shown.browser.search.rejected
    assert rejected.isHidden()
    shown.choose("a green tree")
    QTest.keyClick(shown.grid, KEY.Key_X)
    shown.desk.wait(rejected.isVisible)
    assert rejected.text() == "Rejected"
    rejected.chosen.emit({"rejected": Rejected.SHOWN})
    assert rejected.text() == "With rejected"


def test_the_buttons_of_the_search_are_of_one_height(shown: Shown) -> None:
    search = shown.browser.search
    buttons = [button for button in (*search.filters, search.favourites) if button.isVisible()]
    assert len({button.height() for button in buttons}) == 1


def test_no_pictures_yet_invites_to_add_a_folder(nothing: Shown) -> None:
    nothing.desk.wait(nothing.browser.no_pictures.isVisible)
    assert nothing.browser.add.isVisible()


def test_a_folder_that_does_not_answer_is_said_to_be_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, answers = os.scandir, Event()
    output = desk.paths.output
    output.mkdir(parents=True)
    write_picture(output / "one.png", "a red house")

    def scandir(path: str | Path = ".") -> Any:
        if Path(path) == output:
            answers.wait()
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    desk.window.places.open(Place.GALLERY)
    (browser,) = desk.window.findChildren(Browser)
    try:
        desk.wait(lambda: "Looking for pictures…" in words_in(browser.no_pictures))
    finally:
        answers.set()
    desk.wait(lambda: browser.count == 1)


def words_in(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def test_a_folder_is_added_chosen_and_removed(shown: Shown, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_picture(other / "there.png", "a lamp")
    shown.session.gallery_index.add_folder(other)
    shown.wait_for(6)
    pane = shown.page.folders
    pane.list.setCurrentRow(pane.list.count() - 1)
    assert pane.folder == other
    shown.wait_for(1)
    pane.remove.click()
    shown.wait_for(5)
    assert pane.folder is None
    assert (other / "there.png").exists()


def test_a_folder_is_shown_without_its_subfolders_by_a_tick(shown: Shown) -> None:
    below = shown.folder / "below"
    below.mkdir()
    write_picture(below / "deep.png", "a lamp")
    shown.session.gallery_index.refresh()
    shown.wait_for(6)
    pane = shown.page.folders
    assert pane.subfolders.isHidden()
    pane.list.setCurrentRow(1)
    assert not pane.subfolders.isHidden()
    assert pane.subfolders.isChecked()
    pane.subfolders.click()
    shown.wait_for(5)
    assert not pane.subfolders.isChecked()
    shown.desk.wait(lambda: "5 pictures" in (pane.list.item(1).toolTip()))
    pane.subfolders.click()
    shown.wait_for(6)


def test_narrow_windows_give_the_room_to_the_pictures(shown: Shown) -> None:
    shown.desk.resize(800, 600)
    shown.desk.wait(lambda: not shown.page.details.isVisible())
    shown.desk.resize(1300, 800)
    assert shown.page.details.isVisible()
    shown.desk.window.actions_by_name[ActionName.DETAILS].trigger()
    assert not shown.page.details.isVisible()
    assert not shown.session.gallery_habits.habits.details_shown


def test_rejecting_in_the_viewer_goes_on_to_the_next(shown: Shown) -> None:
    shown.grid.choose(1)
    QTest.keyClick(shown.grid, KEY.Key_Space)
    following = shown.prompts()[2]
    QTest.keyClick(shown.page.viewer.view, KEY.Key_X)
    shown.wait_for(4)
    assert shown.page.viewer.isVisible()
    assert shown.page.viewer.name.text() == following


def test_the_picture_after_one_that_is_gone_is_next_also_where_a_new_one_came(
    shown: Shown,
) -> None:
    # Once that in its place, which was the one before.
    shown.choose("a green tree")
    index = shown.session.gallery_index
    shown.desk.window.places.open(Place.CREATE)
    gone, new = str(shown.folder / "2.png"), shown.folder / "9.png"
    write_picture(new, "a grey whale")
    Path(gone).unlink()
    shown.desk.wait(lambda: index.id_of(gone) is None and index.id_of(str(new)) is not None)
    shown.desk.window.places.open(Place.GALLERY)
    shown.desk.wait(lambda: shown.prompts()[0] == "a grey whale")
    (chosen,) = index.rows(shown.browser.chosen)
    assert chosen.prompt == "a blue boat"


def test_trashing_the_last_picture_leaves_the_viewer(shown: Shown) -> None:
    shown.browser.search.words.setText("boat")
    shown.wait_for(1)
    shown.grid.choose(0)
    QTest.keyClick(shown.grid, KEY.Key_Space)
    QTest.keyClick(shown.page.viewer.view, KEY.Key_Delete)
    shown.wait_for(0)
    assert shown.browser.nothing_found.isVisible()


def test_a_picture_without_pixels_says_so(nothing: Shown) -> None:
    path = nothing.folder / "cut.png"
    write_picture(path, "a lamp")
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"IDAT") + 20])
    nothing.session.gallery_index.refresh()
    nothing.wait_for(1)
    nothing.grid.choose(0)
    QTest.keyClick(nothing.grid, KEY.Key_Space)
    name = nothing.page.viewer.name
    nothing.desk.wait(lambda: name.text() == "The file is damaged.")


def test_a_picture_of_the_gallery_is_followed_by_the_next_one(shown: Shown) -> None:
    shown.choose("a red house")
    shown.desk.window.actions_by_name[ActionName.FOLLOW].trigger()
    assert shown.desk.window.places.place is Place.CREATE
    (layer,) = shown.session.generation.controls
    assert Path(layer.image).parent == shown.folder


def enlarge(shown: Shown, prompt: str) -> Path:
    """Write a picture that was made from another one by an upscaler, beside it."""
    source = shown.folder / f"{PROMPTS.index(prompt)}.png"
    report = UpscaleReport(name="area", width=128, height=96, resampling="area", source=str(source))
    chunks = with_upscale(read_text_chunks(source), report)
    large = shown.folder / "large.png"
    QImage(128, 96, QImage.Format.Format_RGB32).save(str(large))
    large.write_bytes(insert_text_chunks(large.read_bytes(), chunks))
    return large


def test_the_picture_before_an_enlargement_is_shown_in_the_viewer(shown: Shown) -> None:
    enlarge(shown, "a blue boat")
    shown.session.gallery_index.rescan()
    shown.wait_for(len(PROMPTS) + 1)
    newest = shown.session.gallery_index.id_of(str(shown.folder / "large.png"))
    assert newest is not None
    shown.session.gallery_index.favourite([newest], is_favourite=True)
    # A search that leaves the picture before out is given up.
    shown.browser.search.favourites.click()
    shown.wait_for(1)
    shown.grid.choose(0)
    shown.desk.window.actions_by_name[ActionName.SHOW_ORIGINAL].trigger()
    shown.desk.wait(lambda: shown.page.viewer.isVisible())
    assert shown.page.picture == str(shown.folder / "1.png")
    assert shown.page.viewer.name.text() == "a blue boat"
    assert shown.desk.window.places.place is Place.GALLERY


def test_a_foreign_picture_that_was_enlarged_names_no_program_that_made_it(
    nothing: Shown,
) -> None:
    nothing.folder.mkdir(parents=True, exist_ok=True)
    path = nothing.folder / "large.png"
    QImage(128, 96, QImage.Format.Format_RGB32).save(str(path))
    report = UpscaleReport(name="x4", path="/x4.pth", width=128, height=96, resampling="area")
    path.write_bytes(insert_text_chunks(path.read_bytes(), with_upscale((), report)))
    nothing.session.gallery_index.rescan()
    nothing.wait_for(1)
    (row,) = nothing.session.gallery_index.rows(nothing.browser.model.ids)
    assert row.tool == ""
    facts = {fact.label: fact.text for fact in read_facts(str(path))}
    assert facts["Upscaled by"].startswith("x4, 128")
    assert "Made with" not in facts


def test_leaving_the_page_lets_thumbnails_go(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    shown.desk.wait(lambda: shown.page.tiles.kept == len(PROMPTS))
    monkeypatch.setattr(tile_store, "_RESTING_BYTES", 0)
    shown.desk.window.places.open(Place.CREATE)
    assert shown.page.tiles.kept == 1
    shown.desk.window.places.open(Place.GALLERY)
    shown.desk.wait(lambda: shown.page.tiles.kept == len(PROMPTS))


def test_words_that_are_typed_before_the_index_is_open_are_searched_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_let_open, open_index = Event(), index.open_index

    def open_late(*where: Any) -> object:
        is_let_open.wait(60)
        return open_index(*where)

    monkeypatch.setattr(index, "open_index", open_late)
    desk.paths.output.mkdir(parents=True)
    for number, prompt in enumerate(PROMPTS):
        write_picture(desk.paths.output / f"{number}.png", prompt)
    desk.window.actions_by_name[ActionName.GALLERY].trigger()
    page = desk.window.places.page
    assert isinstance(page, GalleryPage)
    words = page.browser.search.words
    desk.window.actions_by_name[ActionName.FIND].trigger()
    QTest.keyClicks(desk.window.focusWidget(), "boat")
    assert words.text() == "boat"
    desk.wait(lambda: page.browser.search.query.words == "boat")
    is_let_open.set()
    desk.wait(lambda: page.browser.count == 1)
    # What was found takes no keys away.
    QTest.keyClicks(desk.window.focusWidget(), "s")
    desk.wait(lambda: page.browser.count == 0)
    assert words.text() == "boats"


def test_the_buttons_for_chosen_pictures_are_made_with_the_first_choice(nothing: Shown) -> None:
    # They are a quarter of the widgets that an opened page takes long to make.
    nothing.desk.wait(nothing.browser.no_pictures.isVisible)
    assert nothing.page.findChildren(PictureBar) == []
    write_picture(nothing.folder / "a.png", "a cat")
    nothing.session.gallery_index.rescan()
    nothing.wait_for(1)
    (bar,) = nothing.page.findChildren(PictureBar)
    foot = nothing.page.foot
    nothing.desk.wait(bar.isVisible)
    assert foot.folders.geometry().right() < bar.x() < bar.geometry().right() < foot.details.x()
    reached = [foot.folders, bar.favourite, bar.reject, bar.use, nothing.page.upscale, foot.details]
    chain: list[QWidget | None] = [foot.folders]
    while chain[-1] is not None and chain[-1] is not foot.details:
        chain.append(chain[-1].nextInFocusChain())
    assert [widget for widget in chain if widget in reached] == reached


def test_pictures_are_chosen_though_words_were_typed_just_before(shown: Shown) -> None:
    path = shown.session.gallery_index.rows(shown.browser.model.ids)[2].path
    shown.browser.search.words.setText("nothing has these words")
    shown.page.choose_pictures([path])
    assert shown.browser.search.words.text() == ""
    shown.desk.wait(lambda: shown.page.picture == path)


def test_a_file_that_is_no_picture_is_neither_reused_nor_started_from(nothing: Shown) -> None:
    actions, bar = nothing.desk.window.actions_by_name, nothing.page.foot.bar
    (nothing.folder / "page.png").write_bytes(b"<!DOCTYPE html>")
    write_picture(nothing.folder / "whole.png", "a red house")
    text = TextChunk("parameters", "a boat\nSteps: 20, Sampler: Euler a, Seed: 1, Size: 64x48")
    (nothing.folder / "huge.png").write_bytes(insert_text_chunks(png(1, 60_000, 60_000), [text]))
    nothing.session.gallery_index.refresh()
    nothing.wait_for(3)
    index, model = nothing.session.gallery_index, nothing.browser.model
    of_name = {Path(row.path).name: row for row in index.rows(model.ids)}
    expected = {"page.png": (False, False), "huge.png": (True, False), "whole.png": (True, True)}
    for name, (is_reused, is_shown) in expected.items():
        nothing.grid.choose(list(model.ids).index(of_name[name].id))
        nothing.desk.wait(lambda is_shown=is_shown: bar.start.isEnabled() is is_shown)
        assert bar.use.isEnabled() is bar.reuse.isEnabled() is is_reused, name
        assert actions[ActionName.USE_PROMPT].isEnabled() is is_reused, name
        for action in (ActionName.START_FROM, ActionName.UPSCALE, ActionName.COPY_PICTURE):
            assert actions[action].isEnabled() is is_shown, name
        assert actions[ActionName.TRASH].isEnabled()
