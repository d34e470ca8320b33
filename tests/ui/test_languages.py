"""Every word of the window can be translated."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from ui.first_postcards import POSTCARDS
from ui.labels import steps_label
from ui.lora_labels import count_words, folder_words

# What is the same in every language, or comes from elsewhere.
OURS = re.compile(r"\d|:|·|^$|^.$|^mid$|Esc|Ctrl|Safelight|a red house|message|hint|Not available")
LONG = Plan(steps=100_000, step_seconds=0.01)


class Foreign(QTranslator):
    """Translates everything into brackets."""

    def isEmpty(self) -> bool:  # noqa: N802 (Qt's name)
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        # Qt's own words are translated by Qt's own files.
        return text if re.match("Q[A-Z]", context) else f"⟦{text}⟧"


@pytest.fixture
def foreign(qapp: QApplication) -> Iterator[Foreign]:
    translator = Foreign()
    assert qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def words(widget: QWidget) -> Iterator[str]:
    """Everything a control says or shows of its own."""
    yield widget.accessibleName()
    yield widget.toolTip()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()


def untranslated(desk: Desk) -> set[str]:
    found = {text for widget in desk.window.findChildren(QWidget) for text in words(widget)}
    found |= {action.text() for action in desk.window.actions_by_name.all()}
    found -= {card.prompt for card in POSTCARDS}
    return {text for text in found if "⟦" not in text and not OURS.search(text)}


@pytest.mark.usefixtures("foreign")
def test_every_word_is_translated(make_desk: MakeDesk) -> None:
    desk = make_desk(LONG)
    desk.unfold()
    assert untranslated(desk) == set()
    desk.session.notices.tell_error(ErrorInfo(ErrorCode.INTERNAL, "message", "hint"), job="a-0")
    desk.start()
    desk.session.generation.count = 3
    desk.session.jobs.generate()
    desk.wait(lambda: "100000" in desk.window.dock.status.title.text())
    desk.wait(desk.window.dock.cancel.isEnabled)
    assert "⟦" in desk.window.dock.status.title.text()
    assert untranslated(desk) == set()


@pytest.mark.usefixtures("foreign")
def test_longer_words_do_not_cut_the_form_off(make_desk: MakeDesk) -> None:
    desk = make_desk()
    form, content = desk.window.form, desk.window.form.widget()
    assert content is not None
    desk.wait(lambda: content.width() <= form.viewport().width())
    assert content.minimumSizeHint().width() <= form.viewport().width()


@pytest.mark.usefixtures("qapp")
def test_one_of_something_is_told_in_the_singular() -> None:
    assert (steps_label(1), steps_label(4)) == ("1 step", "4 steps")
    assert folder_words("/loras", 1, is_known=True) == "/loras (1 file)"
    assert count_words(1, 1, 0) == "1 file"
