"""Text of unknown origin is text, whatever it looks like."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QLabel, QTextBrowser, QTextEdit
from pytestqt.qtbot import QtBot

from engine.api.values import ErrorCode, ErrorInfo
from engine.metadata.png import TextChunk, insert_text_chunks
from tests.metadata.records import PNG
from tests.ui.conftest import Desk, MakeDesk
from ui.widgets.labels import ElidedLabel, breakable

HOSTILE = (
    "<h1>Hello</h1><img src='file:///etc/passwd'><img src='http://192.0.2.1/x.png'>",
    "<qt><b>bold</b></qt>",
    "&lt;i&gt; && %1 {name} \\u202e",
    "\0\x07\u202egnp.evil",
    "a" * 100_000,
    "line\n" * 1000,
)


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


def shown_text(label: QLabel) -> str:
    """The text that a label was given; its format decides that it is drawn as plain text."""
    assert label.textFormat() is Qt.TextFormat.PlainText
    return label.text()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_failure_is_shown_as_it_is(desk: Desk, text: str) -> None:
    desk.session.notices.tell_error(ErrorInfo(ErrorCode.INTERNAL, text, text, text))
    bar = desk.window.notices.cards[-1]
    assert bar.isVisibleTo(desk.window)
    # But nothing turns what follows.
    wanted = " ".join(text[:400].replace("\u202e", "").split())
    if len(wanted) > 300:
        wanted = f"{wanted[:299].rstrip()}…"
        assert bar.copy_all.isVisibleTo(desk.window)
    assert shown_text(bar.message).replace("\u200b", "") == wanted
    assert shown_text(bar.hint).replace("\u200b", "") == wanted
    # However long it is, the window need not grow.
    desk.resize(960, 640)
    assert desk.window.minimumSizeHint().width() <= 960
    desk.wait(lambda: desk.window.size().toTuple() == (960, 640))
    assert desk.window.canvas.height() >= 128


def test_a_name_cannot_turn_its_end_round(qtbot: QtBot) -> None:
    drawn: list[QImage] = []
    for name in ("photo\u202egnp.exe", "photognp.exe"):
        label = ElidedLabel()
        qtbot.addWidget(label)
        label.resize(300, 30)
        label.setText(name)
        drawn.append(label.grab().toImage())
    assert drawn[0] == drawn[1]


def test_remarks_on_a_picture_have_a_line_each(desk: Desk) -> None:
    details = tuple(f"<b>Remark {n}</b> {'long ' * 80 * (n == 1)}" for n in range(8))
    desk.session.notices.tell("The settings are in the form.", details=details)
    (card,) = desk.window.notices.cards
    lines = shown_text(card.hint).split("\n")
    assert [line[:14] for line in lines[:4]] == [f"· <b>Remark {n}</b>"[:14] for n in range(4)]
    assert lines[1].endswith("…")
    assert lines[4:] == ["And 4 more."]
    desk.resize(960, 640)
    desk.wait(lambda: desk.window.size().toTuple() == (960, 640))
    assert desk.window.canvas.height() >= 200
    card.copy_all.click()
    copied = QGuiApplication.clipboard().text()
    assert all(detail in copied for detail in details)


def test_few_remarks_are_all_there_to_see(desk: Desk) -> None:
    desk.session.notices.tell("The settings are in the form.", details=("One.", "Two."))
    (card,) = desk.window.notices.cards
    assert shown_text(card.hint) == "· One.\n· Two."
    assert not card.copy_all.isVisible()


def test_a_long_message_is_shortened_and_copied_whole(desk: Desk) -> None:
    message, hint = "No file has these names: " + "a, " * 300, "Look for " + "them, " * 200
    # In the narrowest window a card has less room for words, and is higher.
    desk.window.resize(1280, 720)
    desk.session.notices.tell(message, hint)
    (card,) = desk.window.notices.cards
    assert card.height() < 240
    for label in (card.message, card.hint):
        assert shown_text(label).endswith("…")
    card.copy_all.click()
    assert QGuiApplication.clipboard().text() == f"{message}\n{hint}"


def test_no_label_guesses_what_its_text_is(make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.unfold()
    labels = desk.window.findChildren(QLabel)
    assert len(labels) > 20
    for label in labels:
        assert label.textFormat() is Qt.TextFormat.PlainText or not label.text()
        assert not label.openExternalLinks()


def test_no_widget_can_show_rich_text(make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.unfold()
    assert desk.window.findChildren(QTextEdit) == []
    assert desk.window.findChildren(QTextBrowser) == []


def test_a_hostile_checkpoint_name_is_only_a_name(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "<b>mix<&img src=x>.safetensors"
    desk.session.open_file(path)
    assert desk.window.form.checkpoint.box.currentText() == "<b>mix<&img src=x>"
    # Tooltips guess; this one would be read as HTML.
    assert desk.window.form.checkpoint.box.toolTip() == ""


def test_a_hostile_prompt_in_a_picture_is_only_a_prompt(desk: Desk) -> None:
    folder = desk.paths.output
    folder.mkdir()
    prompt = HOSTILE[0]
    text = TextChunk("parameters", f"{prompt}\nSteps: 5, Sampler: Euler, Size: 64x64")
    (folder / "a.png").write_bytes(insert_text_chunks(PNG, [text]))
    desk.session.output_pictures.refresh()
    strip = desk.window.strip.pictures
    tooltip, spoken = Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole
    desk.wait(lambda: strip.rowCount() == 1)
    desk.wait(lambda: prompt in strip.index(0).data(spoken))
    assert "<h1>" not in strip.index(0).data(tooltip)
    assert "&lt;h1&gt;" in strip.index(0).data(tooltip)
    desk.session.view.choose(desk.session.output_pictures[0].path)
    desk.wait(lambda: desk.window.info.title.text() == prompt)
    assert shown_text(desk.window.info.title) == prompt


def test_settings_of_a_hostile_picture_reach_the_form_unchanged(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(insert_text_chunks(PNG, [TextChunk("parameters", HOSTILE[0])]))
    desk.session.open_file(path)
    desk.wait(lambda: desk.session.generation.prompt == HOSTILE[0])
    assert desk.window.form.prompt.toPlainText() == HOSTILE[0]


def test_a_long_path_is_broken_between_its_folders_first() -> None:
    """Once it was broken after 24 signs, in the middle of a word."""
    pieces = breakable("/home/someone/models/checkpoints/" + "a" * 30).split("\u200b")
    assert pieces == ["/", "home/", "someone/", "models/", "checkpoints/", "a" * 24, "a" * 6]
    assert breakable("km/h") == "km/h"
