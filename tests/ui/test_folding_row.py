"""A row of words and buttons measures them once, and again when they change."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.folding_row import FoldingRow
from ui.widgets.labels import plain_label


def made(bot: QtBot, words: str) -> tuple[QWidget, FoldingRow, QPushButton]:
    widget, button = QWidget(), QPushButton("Look")
    bot.addWidget(widget)
    texts, buttons = QVBoxLayout(), QHBoxLayout()
    texts.addWidget(plain_label(words, wrap=True))
    buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
    row = FoldingRow(texts, buttons, least=200)
    QVBoxLayout(widget).addLayout(row)
    return widget, row, button


def test_a_row_measures_its_words_once_for_a_width(qtbot: QtBot) -> None:
    measured: list[int] = []

    class Texts(QVBoxLayout):
        def heightForWidth(self, width: int, /) -> int:  # noqa: N802 (Qt's name)
            measured.append(width)
            return super().heightForWidth(width)

    widget, texts, buttons = QWidget(), Texts(), QHBoxLayout()
    qtbot.addWidget(widget)
    texts.addWidget(plain_label("many words " * 20, wrap=True))
    row = FoldingRow(texts, buttons, least=200)
    QVBoxLayout(widget).addLayout(row)
    heights = {row.heightForWidth(width) for _ in range(3) for width in (300, 500)}
    assert len(heights) == 2
    assert measured.count(300) == measured.count(500) == 1


def test_a_row_grows_with_its_words_and_its_buttons(qtbot: QtBot) -> None:
    widget, row, button = made(qtbot, "few words")
    low, narrow = row.heightForWidth(380), row.minimumSize().width()
    label = widget.findChildren(type(plain_label()))[0]
    label.setText("many words " * 40)
    # As Qt does for a widget that is shown.
    layout = widget.layout()
    assert layout is not None
    layout.activate()
    assert row.heightForWidth(380) > low
    button.setText("Look at all of these words once more")
    layout.activate()
    assert row.minimumSize().width() > narrow
