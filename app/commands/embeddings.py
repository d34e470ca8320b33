"""Commands for the embeddings that prompts name: write, weigh, move and remove their names."""

from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.embedding_texts import Mention, mention_of, with_mention, with_weight, without_mention
from app.form.prompt_weights import weight_of
from app.library.embedding_store import EmbeddingStore
from engine.api.conventions import Convention, convention_of


class EmbeddingCommands(QObject):
    """Changes the texts of the form's prompts, in the spelling of the followed tool."""

    def __init__(self, state: AppState, store: EmbeddingStore, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._store, self._changes = state.form, store, state.changes

    def add(self, name: str, *, negative: bool) -> None:
        """Write a name at the end of a prompt, unless the prompt has it."""
        if self._mention(name, negative) is None:
            self._write(with_mention(self._text(negative), name, self._convention), negative)

    def weigh(self, name: str, weight: float, *, negative: bool) -> None:
        """Give a name in a prompt a weight."""
        mention = self._mention(name, negative)
        if mention is not None:
            text = with_weight(self._text(negative), mention, weight, self._convention)
            self._write(text, negative)

    def move(self, name: str, *, negative: bool) -> None:
        """Move a name from the prompt to the negative prompt if `negative`, else back."""
        text, mention = self._text(not negative), self._mention(name, not negative)
        if mention is None:
            return
        weight = weight_of(text, mention.start, mention.end, self._convention.grammar)
        self._write(without_mention(text, mention, self._convention), not negative)
        self.add(name, negative=negative)
        if weight is not None:
            self.weigh(name, weight, negative=negative)

    def remove(self, name: str, *, negative: bool) -> None:
        """Remove a name from a prompt; a notice offers to undo it."""
        mention = self._mention(name, negative)
        if mention is None:
            return
        rest = without_mention(self._text(negative), mention, self._convention)
        message = self.tr("{name} is removed.").format(name=name[:80])
        self._changes.apply(message, lambda: self._write(rest, negative))

    @property
    def _convention(self) -> Convention:
        return convention_of(self._form.convention)

    def _text(self, negative: bool) -> str:
        return self._form.negative_prompt if negative else self._form.prompt

    def _mention(self, name: str, negative: bool) -> Mention | None:
        return mention_of(self._text(negative), name, self._store.names, self._convention)

    def _write(self, text: str, negative: bool) -> None:
        if negative:
            self._form.negative_prompt = text
        else:
            self._form.prompt = text
