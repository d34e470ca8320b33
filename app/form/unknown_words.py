"""The words of the form's prompt that its model does not know, where that is known exactly."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.field import Field
from app.form.generation import MOST_CHARACTERS, GenerationState
from app.form.starter_words import UnknownWord, unknown_words

# Words are told of in a pause in typing: an unfinished word is seldom known.
_PAUSE_MS = 700


class UnknownWordState(QObject):
    """The words of the prompt that the starter was never trained on; none for other models.

    `text` is the prompt that they were found in. New ones wait for a pause in typing, others go at
    once.
    """

    words_changed = Signal(object)

    words = Field[tuple[UnknownWord, ...]](())

    def __init__(self, form: GenerationState, starter: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._form, self._starter = form, starter
        self.text = ""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._show)
        form.prompt_changed.connect(self._on_typed)
        form.checkpoint_changed.connect(self._show)
        self._show()

    def _on_typed(self) -> None:
        self._pause.start()
        if len(self._find()) <= len(self.words):
            self._show()

    def _show(self) -> None:
        self.text = self._form.prompt
        self.words = self._find()

    def _find(self) -> tuple[UnknownWord, ...]:
        if self._form.checkpoint != self._starter:
            return ()
        return unknown_words(self._form.prompt[:MOST_CHARACTERS])
