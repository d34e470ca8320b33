"""The list of all LoRA files: search, order, what suits, and adding."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtTest import QTest

from app.notices.remedies import NoticeAction
from engine.api.messages import LorasFound, QueryFailed
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.loras import BROKEN, FAST, HUGE, INK, LORAS, lora
from tests.app.test_lora_list import choose
from tests.ui.conftest import Desk, MakeDesk, desk_of_module
from tests.ui.test_accessibility import unnamed
from ui.dialogs.lora_dialog import LoraDialog
from ui.files.chooser import FileChooser
from ui.item_models.lora_item_model import ABOUT_ROLE, SUITED_ROLE
from ui.theme.theme import Theme

# With an accent that is a sign of its own, as in names of files on a Mac.
NEW = lora("new one", modified_ns=99, base_model="Illustrious", title="cafe\u0301")


@pytest.fixture(scope="module")
def _one_desk(dark_theme: Theme, request: pytest.FixtureRequest) -> Iterator[Desk]:  # pyright: ignore[reportUnusedFunction]
    with desk_of_module(request, dark_theme, Plan(loras=(*LORAS, NEW))) as made:
        made.start()
        made.wait(lambda: made.session.loras.is_listed)
        yield made


@pytest.fixture
def desk(_one_desk: Desk, theme: Theme) -> Desk:
    """The window of all tests, as at first."""
    _one_desk.put_back()
    choose(_one_desk, "sd1")
    return _one_desk


@pytest.fixture
def dialog(desk: Desk) -> LoraDialog:
    made = desk.window.form.loras.browse()
    desk.wait(made.isActiveWindow)
    return made


def names(dialog: LoraDialog) -> list[str]:
    model = dialog.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


def test_a_list_that_failed_says_why_and_is_made_again(make_desk: MakeDesk) -> None:
    # Its engine is not started, and answers nothing.
    desk = make_desk()
    dialog, store = desk.window.form.loras.browse(), desk.session.loras
    assert dialog.again.isHidden()
    error = ErrorInfo(ErrorCode.NOT_AVAILABLE, "The disk gave up.", "Put it in again.")
    # Form and dialog ask, one after the other.
    while store.listing.query is not None:
        desk.session.client.query_failed.emit(QueryFailed(query=store.listing.query, error=error))
    assert "The disk gave up. Put it in again." in dialog.list.accessibleDescription()
    assert dialog.again.isVisibleTo(dialog)
    dialog.again.click()
    assert store.is_listing
    assert dialog.again.isHidden()
    assert "Looking" in dialog.list.accessibleDescription()


def test_files_that_suit_the_model_come_first_and_the_others_say_why_not(
    desk: Desk, dialog: LoraDialog
) -> None:
    assert names(dialog) == ["ink", "lcm-lora", "new one", "broken", "huge"]
    model = dialog.model
    suited = [model.data(model.index(row), SUITED_ROLE) for row in range(5)]
    assert suited == [True, True, True, False, False]
    reasons = [model.data(model.index(row), ABOUT_ROLE) for row in (3, 4)]
    assert reasons == ["cannot be used", "a LoRA for sdxl"]
    refusals = [model.words(info) for info in (BROKEN, HUGE)]
    assert refusals == [
        f"{BROKEN.problem} It cannot be added.",
        "huge is a LoRA for sdxl, and the model is sd1: it cannot be added.",
    ]
    choose(desk, "sdxl")
    assert names(dialog)[0] == "huge"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ink", ["ink"]),
        ("SUMI styles", ["ink"]),
        ("illustrious", ["new one"]),
        ("CAF\u00c9", ["new one"]),
        ("lora-", []),
        ("", ["ink", "lcm-lora", "new one", "broken", "huge"]),
    ],
)
def test_each_word_that_is_typed_narrows_the_list(
    dialog: LoraDialog, text: str, found: list[str]
) -> None:
    dialog.search.setText("x")
    dialog.search.clear()
    QTest.keyClicks(dialog.search, text)
    assert names(dialog) == found


def test_the_newest_and_the_last_used_can_come_first(desk: Desk, dialog: LoraDialog) -> None:
    desk.session.loras.memory.note_use((FAST.path,))
    for row, first in ((1, "new one"), (2, "lcm-lora"), (0, "ink")):
        dialog.order.setCurrentIndex(row)
        dialog.order.activated.emit(row)
        assert names(dialog)[0] == first


def test_enter_in_the_search_adds_the_file_that_is_found(desk: Desk, dialog: LoraDialog) -> None:
    assert dialog.focusWidget() is dialog.search
    QTest.keyClicks(dialog.search, "inkwash")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert [choice.file for choice in desk.session.generation.loras] == [INK.path]
    assert dialog.isVisible()
    assert dialog.use.text() == "Remove"


def test_a_file_is_added_and_removed_by_the_keyboard_in_the_list(
    desk: Desk, dialog: LoraDialog
) -> None:
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Right)
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert [choice.file for choice in desk.session.generation.loras] == [FAST.path]
    QTest.keyClick(dialog.list, Qt.Key.Key_Space)
    assert desk.session.generation.loras == ()


def test_a_visit_to_the_list_is_one_change_that_a_notice_undoes(
    desk: Desk, dialog: LoraDialog
) -> None:
    desk.session.lora.add(INK.path)
    dialog.close()
    desk.session.lora.change(0, strength=0.3)
    desk.session.notices.dismiss(desk.session.notices.notices[-1].number)
    before = desk.session.generation.loras
    again = desk.window.form.loras.browse()
    for name in ("inkwash", "lcm", "new one"):
        again.search.setText(name)
        QTest.keyClick(again.search, Qt.Key.Key_Return)
    assert desk.session.notices.notices == ()
    again.close_button.click()
    (notice,) = desk.session.notices.notices
    assert notice.message == "Added to the list: lcm-lora, new one. Removed from the list: ink."
    desk.window.notices.cards[-1].remedies[NoticeAction.UNDO_CHANGE].click()
    assert desk.session.generation.loras == before


def test_a_visit_that_changes_nothing_is_not_told(desk: Desk, dialog: LoraDialog) -> None:
    dialog.toggle()
    dialog.toggle()
    dialog.close()
    assert desk.session.notices.notices == ()


def test_a_file_for_another_model_cannot_be_added_but_removed(
    desk: Desk, dialog: LoraDialog
) -> None:
    dialog.search.setText("huge")
    assert not dialog.use.isEnabled()
    dialog.toggle()
    assert desk.session.generation.loras == ()
    desk.session.lora.add(HUGE.path)
    assert dialog.use.isEnabled()
    dialog.use.click()
    assert desk.session.generation.loras == ()


def test_the_current_file_stays_current_while_files_are_read(
    desk: Desk, dialog: LoraDialog
) -> None:
    dialog.list.setCurrentIndex(dialog.model.index(1))
    current = dialog.current()
    assert current == FAST
    store, client = desk.session.loras, desk.session.client
    desk.wait(lambda: not store.is_listing)
    store.refresh()
    assert store.listing.query is not None
    client.loras_found.emit(LorasFound(query=store.listing.query, loras=(lora("a"),)))
    desk.wait(lambda: names(dialog)[0] == "a")
    assert dialog.current() == FAST


def test_pictures_beside_the_files_are_shown(make_desk: MakeDesk, tmp_path: Path) -> None:
    picture = tmp_path / "ink.preview.png"
    Image.new("RGB", (64, 64), "teal").save(picture)
    shown = lora("ink", preview=str(picture))
    desk = make_desk(Plan(loras=(shown,)))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    model = desk.window.form.loras.browse().model
    decoration = Qt.ItemDataRole.DecorationRole
    desk.wait(lambda: isinstance(model.data(model.index(0), decoration), QPixmap))
    desk.session.lora.add(shown.path)
    row = desk.window.form.loras.cards[0]
    teal = row.thumbnail.grab().toImage().pixelColor(20, 20)
    assert (teal.red(), teal.green(), teal.blue()) == (0, 128, 128)


def test_a_screen_reader_hears_all_about_a_file(dialog: LoraDialog) -> None:
    model = dialog.model
    text = model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert text == "ink, sd1 · rank 8, trigger words: inkwash, sumi-e brush"
    assert unnamed(dialog) == []


def test_a_hostile_name_is_text_in_the_tooltip(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(loras=(lora("<img src='http://192.0.2.1/x.png'>"),)))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    model = desk.window.form.loras.browse().model
    assert "<img" not in model.data(model.index(0), Qt.ItemDataRole.ToolTipRole)


def test_folders_are_named_and_forgotten_in_a_dialog(
    desk: Desk, dialog: LoraDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = dialog.show_folders()
    assert not folders.remove.isEnabled()

    def choose_folder(*_: object) -> str:
        return str(tmp_path)

    monkeypatch.setattr(FileChooser, "open_folder", choose_folder)
    folders.add.click()
    assert desk.session.loras.memory.folders == (str(tmp_path),)
    assert folders.list.count() == 1
    assert str(tmp_path) in folders.list.item(0).text()
    folders.remove.click()
    assert desk.session.loras.memory.folders == ()
    assert folders.list.count() == 0
    assert unnamed(folders) == []


def test_a_list_without_files_says_what_to_do(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(loras=()))
    desk.start()
    dialog = desk.window.form.loras.browse()
    desk.wait(lambda: desk.session.loras.is_listed)
    assert "name yours below" in dialog.list.accessibleDescription()


def test_the_few_step_kind_is_in_the_line_below_the_name(dialog: LoraDialog) -> None:
    model = dialog.model
    row = model.row_of(FAST.path)
    assert row is not None
    assert model.data(model.index(row), ABOUT_ROLE).endswith("few steps: LCM")


def test_cards_are_drawn_anew_when_another_model_is_chosen(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(loras=(HUGE,)))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    choose(desk, "sd1")
    model = desk.window.form.loras.browse().model
    drawn: list[bool] = []
    model.dataChanged.connect(lambda: drawn.append(model.data(model.index(0), SUITED_ROLE)))
    choose(desk, "sdxl")
    assert drawn[-1:] == [True]
