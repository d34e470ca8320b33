"""The embeddings that the form's prompts name, with what is known of each."""

from enum import StrEnum

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.form.embedding_texts import mentions, spelled
from app.form.generation import GenerationState
from app.form.prompt_weights import weight_of
from app.library.checkpoint_store import CheckpointStore
from app.library.embedding_store import EmbeddingStore
from engine.api.checkpoints import CheckpointInfo
from engine.api.conventions import convention_of
from engine.api.embeddings import EmbeddingInfo
from engine.api.prompt_rules import EmbeddingSpelling


class EmbeddingFit(StrEnum):
    """The part of a model that an embedding acts on."""

    ALL = "all"
    # Some of the text encoders take it; the others leave it out.
    SOME = "some"
    NONE = "none"


class EmbeddingRow(msgspec.Struct, frozen=True):
    """An embedding in a prompt, or in the negative one if `is_negative`.

    `weight` is None where the followed tool has no weights; `info` is None until the file was read.
    """

    name: str
    is_negative: bool
    weight: float | None
    info: EmbeddingInfo | None
    # ALL until the file was read.
    fit: EmbeddingFit = EmbeddingFit.ALL


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

    def spells(self, name: str) -> bool:
        """Return False if no prompt for the followed tool can have this name."""
        return bool(spelled(name, convention_of(self._form.convention)))

    def fit(self, info: EmbeddingInfo) -> EmbeddingFit:
        """Return the part of the chosen model that an embedding acts on by the tool's rules.

        AUTOMATIC1111 takes vectors for all text encoders and no others, diffusers and InvokeAI also
        more, and in ComfyUI each text encoder takes its own.
        """
        widths = self._widths()
        if not widths or not info.widths or info.widths == widths:
            return EmbeddingFit.ALL
        spellings = convention_of(self._form.convention).embedding_spellings
        if EmbeddingSpelling.BARE in spellings:
            return EmbeddingFit.NONE
        taken = [width in info.widths for width in widths]
        if all(taken):
            return EmbeddingFit.ALL
        by_encoder = EmbeddingSpelling.PREFIX in spellings
        return EmbeddingFit.SOME if by_encoder and any(taken) else EmbeddingFit.NONE

    def is_useful(self, name: str) -> bool:
        """Return False if an embedding is known not to act with the chosen model and tool."""
        info = self._store.info(name)
        return info is None or (not info.problem and self.fit(info) is not EmbeddingFit.NONE)

    def _widths(self) -> tuple[int, ...] | None:
        """Return the widths of the chosen model's text encoders; None while they are not known."""
        answer = self._checkpoints.answer(self._form.checkpoint)
        if not isinstance(answer, CheckpointInfo) or not answer.features.texts:
            return None
        return tuple(sorted(text.width for text in answer.features.texts if text.width))

    def _refresh(self, *_: object) -> None:
        form, store = self._form, self._store
        convention = convention_of(form.convention)
        rows: list[EmbeddingRow] = []
        for text, is_negative in ((form.prompt, False), (form.negative_prompt, True)):
            for mention in mentions(text, store.names, convention):
                weight = weight_of(text, mention.start, mention.end, convention.grammar)
                info = store.info(mention.name)
                fit = EmbeddingFit.ALL if info is None else self.fit(info)
                rows.append(EmbeddingRow(mention.name, is_negative, weight, info, fit))
        self.rows = tuple(rows)
        store.describe(row.name for row in rows)
