"""The words of the form's prompt that its model does not know, where that is known exactly."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.field import Field
from app.form.embedding_texts import blank_mentions
from app.form.generation import MOST_CHARACTERS, GenerationState
from app.form.starter_words import UnknownWord, unknown_words
from app.library.embedding_store import EmbeddingStore
from engine.api.conventions import convention_of

# Words are told of in a pause in typing: an unfinished word is seldom known.
_PAUSE_MS = 700


class UnknownWordState(QObject):
    """The words of the prompt that the starter was never trained on; none for other models.

    `text` is the prompt that they were found in. New ones wait for a pause in typing; those
    that the prompt has no more go at once. Names of embeddings are not drawn as words; one that
    has no effect has a card that says so.
    """

    words_changed = Signal(object)

    words = Field[tuple[UnknownWord, ...]](())

    def __init__(
        self,
        form: GenerationState,
        starter: Path,
        embeddings: EmbeddingStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form, self._starter, self._embeddings = form, starter, embeddings
        self.text = ""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._show)
        form.prompt_changed.connect(self._on_typed)
        form.checkpoint_changed.connect(self._show)
        form.convention_changed.connect(self._show_if_still)
        embeddings.changed.connect(self._show_if_still)
        self._show()

    def _on_typed(self) -> None:
        self._pause.start()
        prompt = self._form.prompt
        # A key must not wait until all words of a long prompt are looked up.
        self.words = tuple(word for word in self.words if word.word in prompt)

    def _show_if_still(self, *_: object) -> None:
        if not self._pause.isActive():
            self._show()

    def _show(self) -> None:
        self.text = self._form.prompt
        if self._form.checkpoint != self._starter:
            self.words = ()
            return
        names, convention = self._embeddings.names, convention_of(self._form.convention)
        self.words = unknown_words(blank_mentions(self.text[:MOST_CHARACTERS], names, convention))
