"""The list of messages of this session, to be read after they have left."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.notices.notices import NoticeState, ToldNotice
from ui.copying import copy_text
from ui.labels import when
from ui.theme.metrics import L, M, S
from ui.widgets.labels import plain_label
from ui.window_place import room_for

_SIZE = QSize(600, 480)


class MessagesDialog(QDialog):
    """A dialog beside the window with every message since the start, the newest first."""

    def __init__(self, notices: NoticeState, parent: QWidget) -> None:
        super().__init__(parent)
        self._notices = notices
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Earlier messages"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Earlier messages"))
        self.text.setPlaceholderText(self.tr("There was no message since Safelight started."))
        self.copy_all = QPushButton(self.tr("Copy all"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        notices.added.connect(self._refresh)
        self.copy_all.clicked.connect(
            lambda: copy_text(self.text.toPlainText().strip(), self.copy_all)
        )
        self.close_button.clicked.connect(self.accept)
        self._refresh()

    def _lay_out(self) -> None:
        about = self.tr("They are those since Safelight started, the latest first.")
        foot = QHBoxLayout()
        foot.setSpacing(S)
        foot.addWidget(self.copy_all)
        foot.addStretch()
        foot.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(S)
        column.addWidget(self.text, 1)
        column.addWidget(plain_label(about, "caption", wrap=True))
        column.addLayout(foot)
        for button in (self.copy_all, self.close_button):
            button.setAutoDefault(False)

    def _refresh(self) -> None:
        told = self._notices.told
        self.copy_all.setEnabled(bool(told))
        self.text.clear()
        cursor = QTextCursor(self.text.document())
        for notice in reversed(told):
            _write(cursor, notice)
        self.text.moveCursor(QTextCursor.MoveOperation.Start)


def _write(cursor: QTextCursor, notice: ToldNotice) -> None:
    """Write a message as plain text, its first line in bold, before an empty line."""
    bold = QTextCharFormat()
    bold.setFontWeight(QFont.Weight.DemiBold)
    first, *others = notice.lines
    cursor.insertText(f"{when(notice.at_ns)}\n", QTextCharFormat())
    cursor.insertText(f"{first}\n", bold)
    cursor.insertText("".join(f"{line}\n" for line in (*others, "")), QTextCharFormat())
