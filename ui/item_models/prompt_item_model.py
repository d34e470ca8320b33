"""The item model of the earlier prompts that a search finds."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.form.prompt_history import PromptHistory, WrittenPrompt
from ui.labels import when

Index = QModelIndex | QPersistentModelIndex
# Item roles: the negative prompt, and the time of the last use.
NEGATIVE_ROLE = Qt.ItemDataRole.UserRole + 1
USED_ROLE = Qt.ItemDataRole.UserRole + 2
# The longest text that is laid out in a row or a tooltip.
_MOST_SHOWN = 1000


class PromptItemModel(QAbstractListModel):
    """An item model with one row for each prompt that is found, newest first."""

    def __init__(self, history: PromptHistory, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history, self._words = history, ""
        self._found = history.prompts
        history.prompts_changed.connect(self._fill)

    def search(self, words: str) -> None:
        """Show the prompts that contain each of these words."""
        self._words = words
        self._fill()

    def prompt_at(self, row: int) -> WrittenPrompt:
        """Return the prompt in a row."""
        return self._found[row]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of prompts that are found."""
        return 0 if parent.isValid() else len(self._found)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the texts of a prompt, each in one line."""
        if not index.isValid():
            return None
        prompt = self._found[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _line(prompt.prompt)
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return " ".join(filter(None, (_line(prompt.negative_prompt), when(prompt.used_ns))))
            case _ if role == NEGATIVE_ROLE:
                return _line(prompt.negative_prompt)
            case _ if role == USED_ROLE:
                return when(prompt.used_ns)
            case _:
                return None

    def _fill(self, *_: object) -> None:
        self.beginResetModel()
        self._found = self._history.find(self._words)
        self.endResetModel()


def _line(text: str) -> str:
    return " ".join(text[:_MOST_SHOWN].split())
