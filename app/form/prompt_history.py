"""The prompts that pictures were made of, newest first, kept in a file."""

import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.file_writer import FileWriter
from app.form.generation import GenerationState
from app.storage.document import DocumentKind
from engine.api.sentences import sentence
from engine.api.texts import encode_json

FILE = "prompts.json"
VERSION = 1
MOST_PROMPTS = 500
# Of all prompts together; JSON may take six bytes for a character.
_MOST_CHARACTERS = 1_000_000
_MOST_BYTES = 8 << 20


class WrittenPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt with its negative prompt, and the time when it was last used, in ns since 1970."""

    prompt: str
    negative_prompt: str = ""
    used_ns: int = 0

    @property
    def texts(self) -> tuple[str, str]:
        """Prompt and negative prompt."""
        return self.prompt, self.negative_prompt


class _Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file."""

    prompts: tuple[WrittenPrompt, ...] = ()
    version: int = VERSION


_KIND = DocumentKind(
    msgspec.json.Decoder(_Prompts),
    _MOST_BYTES,
    damaged=sentence("Your earlier prompts cannot be read; their list begins anew."),
    newer=sentence(
        "Your earlier prompts were left by a newer version of Safelight; their list begins anew."
    ),
    version=VERSION,
)


class PromptHistory(QObject):
    """The last 500 different prompts, fewer if they are very long; written soon after a change."""

    prompts_changed = Signal(object)

    prompts = Field[tuple[WrittenPrompt, ...]](())

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], int] = time.time_ns,
        parent: QObject | None = None,
    ) -> None:
        """Read the file; one that cannot be read is put aside, as `problem` says."""
        super().__init__(parent)
        self._clock = clock
        content, self.problem = _KIND.read(folder / FILE)
        if content is not None:
            self.prompts = _bounded(content.prompts)
        unwritable = sentence("Your earlier prompts cannot be kept.")
        self._writer = FileWriter(folder / FILE, self._content, unwritable, self)
        self.failed = self._writer.failed
        self.prompts_changed.connect(self._writer.changed)

    def add(self, prompt: str, negative_prompt: str) -> None:
        """Put a prompt first; an empty one is left out."""
        if prompt.strip():
            new = WrittenPrompt(
                prompt=prompt, negative_prompt=negative_prompt, used_ns=self._clock()
            )
            self.prompts = _bounded((new, *self._without(new)))

    def remove(self, prompt: WrittenPrompt) -> None:
        """Forget a prompt."""
        self.prompts = self._without(prompt)

    def put_back(
        self, forgotten: Collection[WrittenPrompt], before: tuple[WrittenPrompt, ...]
    ) -> None:
        """Remember prompts again, in the order `before`, behind those that came since then."""
        there, earlier = set(self.prompts), set(before)
        newer = tuple(prompt for prompt in self.prompts if prompt not in earlier)
        texts = {prompt.texts for prompt in newer}
        wanted = there.union(prompt for prompt in forgotten if prompt.texts not in texts)
        self.prompts = _bounded((*newer, *(prompt for prompt in before if prompt in wanted)))

    def find(self, words: str) -> tuple[WrittenPrompt, ...]:
        """Return the prompts that contain each of these words, in upper or lower case."""
        wanted = words.casefold().split()
        return tuple(
            prompt
            for prompt in self.prompts
            if all(word in "\n".join(prompt.texts).casefold() for word in wanted)
        )

    def close(self) -> None:
        """Write the latest prompts unless they are written already. Blocks for the disk."""
        self._writer.close()

    def _without(self, prompt: WrittenPrompt) -> tuple[WrittenPrompt, ...]:
        return tuple(kept for kept in self.prompts if kept.texts != prompt.texts)

    def _content(self) -> Callable[[], bytes]:
        return partial(encode_json, _Prompts(prompts=self.prompts))


class PromptRecall:
    """Steps through the history in the form's prompts, and back to what was being written."""

    def __init__(self, form: GenerationState, history: PromptHistory) -> None:
        self._form, self._history = form, history
        self._draft = WrittenPrompt(prompt="")
        # The prompt of the history that the form was given last.
        self._shown: WrittenPrompt | None = None

    def older(self) -> bool:
        """Put the prompt before the present one into the form; return False at the oldest."""
        prompts, at = self._history.prompts, self._place()
        if at is None:
            form = self._form
            self._draft = WrittenPrompt(prompt=form.prompt, negative_prompt=form.negative_prompt)
            at = -1
        wanted = (prompt for prompt in prompts[at + 1 :] if prompt.texts != self._draft.texts)
        return self._put(next(wanted, None))

    def newer(self) -> bool:
        """Put the prompt after the present one, at last the draft, into the form."""
        at = self._place()
        if at is None:
            return False
        newer = [
            prompt for prompt in self._history.prompts[:at] if prompt.texts != self._draft.texts
        ]
        return self._put(newer[-1] if newer else self._draft)

    def _place(self) -> int | None:
        """Return the place of the form's prompt in the history, if it was taken from there."""
        shown, form = self._shown, self._form
        if shown is None or shown.texts != (form.prompt, form.negative_prompt):
            return None
        prompts = self._history.prompts
        return next((at for at, prompt in enumerate(prompts) if prompt.texts == shown.texts), None)

    def _put(self, prompt: WrittenPrompt | None) -> bool:
        if prompt is None:
            return False
        self._shown = prompt if prompt is not self._draft else None
        self._form.prompt, self._form.negative_prompt = prompt.texts
        return True


def _bounded(prompts: tuple[WrittenPrompt, ...]) -> tuple[WrittenPrompt, ...]:
    """Return as many prompts as are kept, the first ones."""
    room = _MOST_CHARACTERS
    for at, prompt in enumerate(prompts[:MOST_PROMPTS]):
        room -= len(prompt.prompt) + len(prompt.negative_prompt)
        if room < 0:
            return prompts[:at]
    return prompts[:MOST_PROMPTS]
