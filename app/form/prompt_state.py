"""The prompts of the form as they are written, and the engine's checks of them."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.client import EngineClient
from app.field import Field
from app.form.generation import EFFECTIVE_FIELDS, MOST_CHARACTERS, GenerationState
from app.form.unknown_words import UnknownWordState
from app.library.checkpoint_store import ENGINE_FAILURES, CheckpointStore
from app.library.embedding_store import EmbeddingStore
from engine.api.checkpoints import CheckpointInfo
from engine.api.conventions import convention_of
from engine.api.messages import PromptChecked, QueryFailed
from engine.api.prompts import Hint, PromptCheck, PromptQuestion

_SOON_MS = 120
# Hints wait for this pause in typing: an unfinished word or bracket needs none.
_PAUSE_MS = 900
NO_CHECK = PromptCheck()
# The fields of the form that decide how a prompt is read, beside its text.
_READ_WITH = EFFECTIVE_FIELDS | {
    *("convention", "expand_wildcards", "seed", "seed_locked", "checkpoint"),
}


class PromptState(QObject):
    """One prompt and the engine's check of it. Nothing is sent before `start`.

    `check` follows the typing: text that changes during a check is checked after its answer.
    Hints are added only in a pause, and removed at once.
    """

    check_changed = Signal(object)
    hints_changed = Signal(object)

    check = Field(NO_CHECK)
    hints = Field[tuple[Hint, ...]](())

    def __init__(
        self, client: EngineClient, question: Callable[[], PromptQuestion], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._question = question
        self._started = False
        self._asked: PromptQuestion | None = None
        # The number of the query that the engine has not answered yet.
        self.query: int | None = None
        self._again = False
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self._ask)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._show_hints)
        client.prompt_checked.connect(self._on_checked)
        client.query_failed.connect(self._on_failed)

    def start(self) -> None:
        """Start checking, with the present text."""
        self._started = True
        self._ask()

    def on_typed(self) -> None:
        """Check the text after a change of it; new hints wait for a pause."""
        self._pause.start()
        self.on_changed()

    def on_changed(self) -> None:
        """Check the text again soon, after a change of it or of a setting that affects it."""
        if self._started and not self._soon.isActive():
            self._soon.start()

    def look_again(self) -> None:
        """Check the same text again, as the files that it names have changed."""
        self._asked = None
        self.on_changed()

    def _ask(self) -> None:
        question = self._question()
        if not self._started or self.query is not None or question == self._asked:
            return
        self._asked, self._again = question, False
        if question.text:
            self.query = self._client.check_prompt(question)
        else:
            self._take(NO_CHECK)

    def _take(self, check: PromptCheck) -> None:
        self.check = check
        if not self._pause.isActive() or len(check.hints) <= len(self.hints):
            self._show_hints()

    def _show_hints(self) -> None:
        self.hints = self.check.hints

    def _on_checked(self, event: PromptChecked) -> None:
        if event.query == self.query:
            self.query = None
            self._take(event.check)
            self._ask()

    def _on_failed(self, event: QueryFailed) -> None:
        if event.query != self.query:
            return
        self.query = None
        if event.error.code in ENGINE_FAILURES and self._asked is not None and not self._again:
            # Once only: the text itself may have made the engine fail.
            self._again = True
            self.query = self._client.check_prompt(self._asked)
        else:
            self._ask()


class PromptStates(QObject):
    """Prompt and negative prompt, checked with the form's convention, checkpoint and settings."""

    def __init__(
        self,
        client: EngineClient,
        generation: GenerationState,
        checkpoints: CheckpointStore,
        embeddings: EmbeddingStore,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._generation, self._checkpoints = generation, checkpoints
        self.prompt = PromptState(client, lambda: self._question(negative=False), self)
        self.negative = PromptState(client, lambda: self._question(negative=True), self)
        self.unknown = UnknownWordState(generation, checkpoints.starter, embeddings, self)
        generation.prompt_changed.connect(self.prompt.on_typed)
        generation.negative_prompt_changed.connect(self.negative.on_typed)
        generation.changed.connect(self._on_form)
        checkpoints.looked.connect(self._on_changed)

    def start(self) -> None:
        """Start checking both prompts."""
        self.prompt.start()
        self.negative.start()

    def look_again(self) -> None:
        """Check both prompts again, as the files that they name have changed."""
        self.prompt.look_again()
        self.negative.look_again()

    def _question(self, *, negative: bool) -> PromptQuestion:
        form = self._generation
        text = form.negative_prompt if negative else form.prompt
        answer = self._checkpoints.answer(form.checkpoint)
        info = answer if isinstance(answer, CheckpointInfo) else None
        return PromptQuestion(
            text=text[:MOST_CHARACTERS],
            convention=convention_of(form.convention),
            complete=len(text) <= MOST_CHARACTERS,
            negative=negative,
            steps=form.effective.steps,
            family=info.family if info else None,
            lengths=info.features.texts if info else (),
            tokenizer=info.tokenizer if info else None,
            expand_wildcards=form.expand_wildcards,
            seed=form.seed if form.seed_locked and form.seed is not None else 0,
        )

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _READ_WITH:
            self._on_changed()

    def _on_changed(self) -> None:
        self.prompt.on_changed()
        self.negative.on_changed()
