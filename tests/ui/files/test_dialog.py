"""Safelight's own dialog for files: mouse, keys, typed paths, folders, new files, failures."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.form import other_formats
from engine.api.saving import PICTURE_SUFFIXES
from tests.ui.test_accessibility import unnamed
from ui.files.chooser import FileChooser, system_has_dialog
from ui.files.dialog import FileDialog
from ui.files.kinds import FileQuestion, kinds_of, picture_kinds
from ui.theme.theme import Theme

PICTURES = "Pictures (*.png *.jpg)"
Make = Callable[..., FileDialog]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two pictures, a text, and a folder with one picture."""
    made = tmp_path / "here"
    (made / "below").mkdir(parents=True)
    for name in ("b10.png", "b2.png", "below/c.png"):
        Image.new("RGB", (64, 48), "red").save(made / name)
    (made / "notes.txt").write_text("words")
    return made


@pytest.fixture
def make(theme: Theme, qtbot: QtBot, folder: Path) -> Iterator[Make]:
    """Dialogs that begin in a folder, and have listed it."""
    dialogs: list[FileDialog] = []

    def made(
        question: FileQuestion = FileQuestion.FILE, kinds: str = PICTURES, start: Path = folder
    ) -> FileDialog:
        dialog = FileDialog(theme, question, kinds_of(kinds), None)
        dialogs.append(dialog)
        dialog.begin(start)
        dialog.show()
        qtbot.waitUntil(lambda: not dialog.model.is_listing)
        return dialog

    yield made
    for dialog in dialogs:
        dialog.done(0)


def names(dialog: FileDialog) -> list[str]:
    model = dialog.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


def shown(dialog: FileDialog, qtbot: QtBot, folder: Path) -> list[str]:
    """Return what is listed, once the dialog shows this folder."""
    assert dialog.path.text() == str(folder)
    qtbot.waitUntil(lambda: not dialog.model.is_listing)
    return names(dialog)


def type_path(dialog: FileDialog, typed: str) -> None:
    dialog.path.setFocus()
    dialog.path.selectAll()
    QTest.keyClicks(dialog.path, typed)


def choose(dialog: FileDialog, name: str) -> None:
    index = dialog.model.index(names(dialog).index(name))
    place = dialog.list.visualRect(index).center()
    QTest.mouseClick(dialog.list.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_chosen_picture_is_the_answer(make: Make, folder: Path) -> None:
    dialog = make()
    assert names(dialog) == ["below", "b2.png", "b10.png"]
    assert not dialog.choose.isEnabled()
    choose(dialog, "b10.png")
    assert dialog.about.text().startswith("b10.png · ")
    dialog.choose.click()
    assert dialog.answer == str(folder / "b10.png")
    assert not dialog.isVisible()


def test_pictures_are_shown_small(make: Make, qtbot: QtBot) -> None:
    dialog = make()
    model = dialog.model

    def thumbnail() -> object:
        return model.data(model.index(1), Qt.ItemDataRole.DecorationRole)

    qtbot.waitUntil(lambda: isinstance(thumbnail(), QPixmap))
    assert model.data(model.index(0), Qt.ItemDataRole.DecorationRole) is None


def test_folders_are_opened_left_and_gone_back_to_by_keys(
    make: Make, qtbot: QtBot, folder: Path
) -> None:
    dialog = make()
    choose(dialog, "below")
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert shown(dialog, qtbot, folder / "below") == ["c.png"]
    QTest.keyClick(dialog.list, Qt.Key.Key_Backspace)
    shown(dialog, qtbot, folder)
    entry = dialog.current()
    assert entry is not None
    # Where one came from.
    assert entry.name == "below"
    QTest.keyClick(dialog, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    shown(dialog, qtbot, folder / "below")
    dialog.back.click()
    shown(dialog, qtbot, folder)
    assert not dialog.back.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert "here" in shown(dialog, qtbot, folder.parent)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.answer == ""
    assert not dialog.isVisible()


def test_the_top_has_no_folder_above(make: Make, qtbot: QtBot) -> None:
    dialog = make()
    dialog.open_folder(Path("/"))
    assert not dialog.up.isEnabled()
    dialog.go_up()
    shown(dialog, qtbot, Path("/"))


def test_a_typed_path_leads_to_a_folder_or_is_the_answer(
    make: Make, qtbot: QtBot, folder: Path
) -> None:
    dialog = make()
    for typed, place in (("below", folder / "below"), (str(folder), folder)):
        dialog.path.setText(typed)
        QTest.keyClick(dialog.path, Qt.Key.Key_Return)
        shown(dialog, qtbot, place)
    dialog.path.setText("nothing.png")
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert dialog.about.text() == "There is nothing at this place."
    assert dialog.isVisible()
    dialog.path.setText("notes.txt")
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert dialog.answer == str(folder / "notes.txt")


def offered(dialog: FileDialog) -> list[str]:
    found = dialog.path.names
    return [name.name for name in found.shown] if found is not None else []


def until_offered(dialog: FileDialog, qtbot: QtBot, *wanted: str) -> None:
    qtbot.waitUntil(lambda: offered(dialog) == [*wanted])


def test_tab_completes_a_typed_path(make: Make, qtbot: QtBot, folder: Path) -> None:
    dialog = make()
    type_path(dialog, f"{folder.parent}{os.sep}HE")
    until_offered(dialog, qtbot, "here")
    QTest.keyClick(dialog.path, Qt.Key.Key_Tab)
    assert dialog.path.text() == f"{folder}{os.sep}"
    # What is in it follows: folders, and files of the kind that is asked for.
    until_offered(dialog, qtbot, "below", "b2.png", "b10.png")
    QTest.keyClicks(dialog.path, "b1")
    until_offered(dialog, qtbot, "b10.png")
    QTest.keyClick(dialog.path, Qt.Key.Key_Tab)
    assert dialog.path.text() == str(folder / "b10.png")
    qtbot.waitUntil(lambda: not offered(dialog))
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert dialog.answer == str(folder / "b10.png")


def test_arrows_choose_a_name_and_enter_takes_it(make: Make, qtbot: QtBot, folder: Path) -> None:
    dialog = make()
    type_path(dialog, "b")
    until_offered(dialog, qtbot, "below", "b2.png", "b10.png")
    for _ in range(2):
        QTest.keyClick(dialog.path, Qt.Key.Key_Down)
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert dialog.path.text() == "b2.png"
    assert dialog.isVisible()
    type_path(dialog, "b")
    until_offered(dialog, qtbot, "below", "b2.png", "b10.png")
    QTest.keyClick(dialog.path, Qt.Key.Key_Escape)
    assert offered(dialog) == []
    assert dialog.isVisible()


def test_enter_goes_to_what_is_typed_whatever_is_offered(
    make: Make, qtbot: QtBot, folder: Path
) -> None:
    (folder / "below2").mkdir()
    dialog = make()
    type_path(dialog, "below")
    until_offered(dialog, qtbot, "below", "below2")
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    shown(dialog, qtbot, folder / "below")
    assert offered(dialog) == []


def test_hidden_names_complete_a_dot_and_files_are_no_folders(
    make: Make, qtbot: QtBot, folder: Path
) -> None:
    (folder / ".kept").mkdir()
    (folder / "nowhere").symlink_to(folder / "gone")
    dialog = make(FileQuestion.FOLDER, "")
    type_path(dialog, str(folder) + os.sep)
    until_offered(dialog, qtbot, "below")
    QTest.keyClicks(dialog.path, ".")
    until_offered(dialog, qtbot, ".kept")
    names = dialog.path.names
    assert names is not None
    row = names.visualItemRect(names.item(0)).center()
    QTest.mouseClick(names.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert dialog.path.text() == f"{folder / '.kept'}{os.sep}"


def test_a_folder_is_taken_by_its_path_and_enter(make: Make, qtbot: QtBot, folder: Path) -> None:
    dialog = make(FileQuestion.FOLDER, "", folder / "below")
    type_path(dialog, str(folder))
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    shown(dialog, qtbot, folder)
    assert dialog.answer == ""
    assert dialog.choose.hasFocus()


def test_a_path_that_is_begun_in_the_list_is_typed(make: Make, folder: Path) -> None:
    dialog = make()
    QTest.keyClicks(dialog.list, "b10")
    entry = dialog.list.currentIndex().data()
    assert (entry, dialog.path.text()) == ("b10.png", str(folder))
    QTest.keyClicks(dialog.list, "/")
    assert dialog.path.hasFocus()
    QTest.keyClicks(dialog.path, "tmp")
    assert dialog.path.text() == "/tmp"


def test_the_first_entry_of_each_folder_shows_the_focus(
    make: Make, qtbot: QtBot, folder: Path
) -> None:
    dialog = make()
    dialog.open_folder(folder / "below")
    shown(dialog, qtbot, folder / "below")
    assert dialog.list.currentIndex().data() == "c.png"
    assert dialog.current() is None


def test_words_that_are_typed_narrow_the_list(make: Make, folder: Path) -> None:
    dialog = make()
    QTest.keyClicks(dialog.search, "B1")
    assert names(dialog) == ["b10.png"]
    dialog.take()
    assert dialog.answer == str(folder / "b10.png")
    dialog = make()
    QTest.keyClicks(dialog.search, "zebra")
    assert dialog.list.accessibleDescription() == "Nothing here has these words in its name."


def test_another_kind_of_files_is_chosen(make: Make, qtbot: QtBot, folder: Path) -> None:
    dialog = make(kinds="Texts (*.txt);;All files (*)")
    assert names(dialog) == ["below", "notes.txt"]
    dialog.kind.setCurrentIndex(1)
    dialog.kind.activated.emit(1)
    assert shown(dialog, qtbot, folder) == ["below", "b2.png", "b10.png", "notes.txt"]


def test_a_folder_is_chosen_from_outside_or_from_inside(make: Make, folder: Path) -> None:
    dialog = make(FileQuestion.FOLDER, "")
    assert names(dialog) == ["below"]
    assert dialog.choose.text() == "Choose here"
    choose(dialog, "below")
    assert dialog.choose.text() == "Choose below"
    dialog.choose.click()
    assert dialog.answer == str(folder / "below")
    dialog = make(FileQuestion.FOLDER, "")
    dialog.choose.click()
    assert dialog.answer == str(folder)


def test_the_button_takes_the_folder_whose_path_is_typed(make: Make, folder: Path) -> None:
    dialog = make(FileQuestion.FOLDER, "")
    type_path(dialog, str(folder / "below"))
    assert dialog.choose.text() == "Choose below"
    dialog.choose.click()
    assert dialog.answer == str(folder / "below")
    dialog = make(FileQuestion.FOLDER, "")
    type_path(dialog, "nowhere")
    dialog.choose.click()
    assert (dialog.answer, dialog.about.text()) == ("", "There is nothing at this place.")
    assert not dialog.make.isHidden()


def test_the_button_takes_the_file_whose_path_is_typed(make: Make, folder: Path) -> None:
    dialog = make()
    assert not dialog.choose.isEnabled()
    type_path(dialog, "notes.txt")
    dialog.choose.click()
    assert dialog.answer == str(folder / "notes.txt")


def test_a_new_file_is_saved_in_the_folder_whose_path_is_typed(
    make: Make, qtbot: QtBot, folder: Path
) -> None:
    (folder / "below" / "report.txt").touch()
    dialog = make(FileQuestion.NEW_FILE, "*.txt", folder / "report.txt")
    type_path(dialog, "below")
    assert dialog.choose.text() == "Open"
    dialog.choose.click()
    shown(dialog, qtbot, folder / "below")
    assert dialog.choose.text() == "Replace"
    dialog.choose.click()
    assert dialog.answer == str(folder / "below" / "report.txt")


def test_a_choice_in_the_list_takes_the_place_of_a_typed_path(make: Make, folder: Path) -> None:
    dialog = make(FileQuestion.FOLDER, "")
    type_path(dialog, "nowhere")
    choose(dialog, "below")
    assert dialog.path.text() == str(folder)
    dialog.choose.click()
    assert dialog.answer == str(folder / "below")


def test_a_folder_that_is_not_there_can_be_made(make: Make, qtbot: QtBot, folder: Path) -> None:
    dialog = make(FileQuestion.FOLDER, "")
    assert dialog.make.isHidden()
    dialog.path.setText("new/deep")
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert dialog.make.isHidden()
    dialog.path.setText("new")
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert not dialog.make.isHidden()
    dialog.make.click()
    assert (folder / "new").is_dir()
    assert shown(dialog, qtbot, folder / "new") == []
    assert dialog.list.accessibleDescription() == "There are no folders in this one."


def test_a_new_file_gets_an_ending_and_an_old_one_is_said_to_be_replaced(
    make: Make, folder: Path
) -> None:
    dialog = make(FileQuestion.NEW_FILE, "*.txt", folder / "report.txt")
    assert dialog.choose.text() == "Save"
    choose(dialog, "notes.txt")
    assert dialog.name.text() == "notes.txt"
    assert dialog.choose.text() == "Replace"
    dialog.name.setText("")
    assert not dialog.choose.isEnabled()
    QTest.keyClicks(dialog.name, "other")
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    assert dialog.answer == str(folder / "other.txt")


def test_a_folder_that_cannot_be_read_says_so(make: Make, folder: Path) -> None:
    dialog = make(start=folder / "gone")
    assert names(dialog) == []
    told = dialog.list.accessibleDescription()
    assert told == "The folder cannot be read: No such file or directory."


def test_places_lead_to_their_folders(make: Make, qtbot: QtBot, folder: Path) -> None:
    dialog = make(start=folder / "below")
    places = dialog.places
    assert [places.item(0).text(), places.currentRow()] == ["below", 0]
    rows = [places.item(row).text() for row in range(places.count())]
    item = places.item(rows.index("Computer"))
    place = places.visualItemRect(item).center()
    QTest.mouseClick(places.viewport(), Qt.MouseButton.LeftButton, pos=place)
    shown(dialog, qtbot, Path("/"))


def test_every_control_has_a_name(make: Make) -> None:
    for question in FileQuestion:
        dialog = make(question)
        # By whoever asks.
        dialog.setWindowTitle("A question")
        assert unnamed(dialog) == []


@pytest.mark.usefixtures("theme")
def test_the_chooser_asks_by_our_dialog_where_the_system_has_none(
    qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileChooser, "_last", {})
    parent = QWidget()
    qtbot.addWidget(parent)
    titles: list[str] = []

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, FileDialog)
        titles.append(dialog.windowTitle())
        dialog.path.setText("b2.png")
        QTest.keyClick(dialog.path, Qt.Key.Key_Return)

    assert not system_has_dialog()
    # The next question for pictures begins where the last picture was.
    for title, start in (("A picture", folder), ("Another", folder.parent)):
        QTimer.singleShot(0, answer)
        answered = FileChooser.open_file(parent, title, str(start), PICTURES)
        assert answered == str(folder / "b2.png")
    assert titles == ["A picture", "Another"]


def test_the_systems_dialog_comes_first(
    qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(*_: object) -> tuple[str, str]:
        return "/from/the/system", ""

    monkeypatch.setattr(FileChooser, "_last", {})
    monkeypatch.setattr("ui.files.chooser.system_has_dialog", lambda: True)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", chosen)
    parent = QPushButton()
    qtbot.addWidget(parent)
    assert FileChooser.open_file(parent, "", str(folder), PICTURES) == "/from/the/system"


def test_questions_for_pictures_offer_every_kind_that_is_read() -> None:
    # Browsers on Windows save JPEG files as .jfif.
    (kind,) = kinds_of(picture_kinds())
    others = ".gif", ".avif"
    assert kind.patterns == tuple(f"*{suffix}" for suffix in (*PICTURE_SUFFIXES, *others))
    assert {"*.jfif", "*.jpe", "*.jpeg", "*.png"} <= {*kind.patterns}


def test_avif_is_offered_only_with_its_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_none(_name: str) -> None:
        return None

    monkeypatch.setattr(other_formats, "find_spec", find_none)
    (kind,) = kinds_of(picture_kinds())
    assert "*.gif" in kind.patterns
    assert "*.avif" not in kind.patterns
    assert not other_formats.is_of_other_format(Path("a.avif"))
