"""The embeddings that the form's prompts name, with what is known of each."""

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.form.embedding_texts import mentions
from app.form.generation import GenerationState
from app.form.prompt_weights import weight_of
from app.library.checkpoint_store import CheckpointStore
from app.library.embedding_store import EmbeddingStore
from engine.api.checkpoints import CheckpointInfo
from engine.api.conventions import convention_of
from engine.api.embeddings import EmbeddingInfo


class EmbeddingRow(msgspec.Struct, frozen=True):
    """An embedding in a prompt, or in the negative one if `is_negative`.

    `weight` is None where the followed tool has no weights; `info` is None until the file was read.
    """

    name: str
    is_negative: bool
    weight: float | None
    info: EmbeddingInfo | None
    # False if its vectors are for other models than the chosen one.
    is_suited: bool = True


class EmbeddingList(QObject):
    """The rows of both prompts, those of the prompt first; they follow the typing."""

    rows_changed = Signal(object)

    rows = Field[tuple[EmbeddingRow, ...]](())

    def __init__(
        self,
        form: GenerationState,
        store: EmbeddingStore,
        checkpoints: CheckpointStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form, self._store, self._checkpoints = form, store, checkpoints
        for signal in (
            form.prompt_changed,
            form.negative_prompt_changed,
            form.convention_changed,
            form.checkpoint_changed,
            checkpoints.looked,
            store.changed,
        ):
            signal.connect(self._refresh)
        self._refresh()

    @property
    def can_be_named(self) -> bool:
        """True if the followed tool takes embeddings, and the chosen model as far as is known."""
        widths = self._widths()
        return bool(convention_of(self._form.convention).embedding_spellings) and widths != ()

    def suits(self, info: EmbeddingInfo) -> bool:
        """Return False if an embedding has no vectors for the chosen model's text encoders."""
        widths = self._widths()
        return not widths or not info.widths or info.widths == widths

    def _widths(self) -> tuple[int, ...] | None:
        """Return the widths of the chosen model's text encoders; None while they are not known."""
        answer = self._checkpoints.answer(self._form.checkpoint)
        if not isinstance(answer, CheckpointInfo) or not answer.features.texts:
            return None
        return tuple(sorted(one.width for one in answer.features.texts if one.width))

    def _refresh(self, *_: object) -> None:
        form, store = self._form, self._store
        convention = convention_of(form.convention)
        rows: list[EmbeddingRow] = []
        for text, is_negative in ((form.prompt, False), (form.negative_prompt, True)):
            for one in mentions(text, store.names, convention):
                weight = weight_of(text, one.start, one.end, convention.grammar)
                info = store.info(one.name)
                is_suited = info is None or self.suits(info)
                rows.append(EmbeddingRow(one.name, is_negative, weight, info, is_suited))
        self.rows = tuple(rows)
        store.describe(row.name for row in rows)
