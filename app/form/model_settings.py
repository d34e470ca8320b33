"""The settings that the user chose with each model, kept in a file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.file_writer import FileWriter
from app.form.generation import NO_CHOICES, Choices, GenerationState, with_size_of
from app.storage.document import DocumentKind
from engine.api.sentences import sentence
from engine.api.texts import encode_json

FILE = "model-settings.json"
VERSION = 1
# Beyond _MOST models the ones that were used longest ago are forgotten.
_MOST = 1000
_MOST_BYTES = 4 << 20
# The starter's key: it lies where Safelight is installed, which may change.
_STARTER = ""


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file: choices by the path of the model, the latest last."""

    models: dict[str, Choices] = {}
    version: int = VERSION


_KIND = DocumentKind(
    msgspec.json.Decoder(ModelSettings),
    _MOST_BYTES,
    damaged=sentence(
        "The settings you used with each model cannot be read; models begin with their own."
    ),
    newer=sentence(
        "The settings of each model were left by a newer version of Safelight; models begin with "
        "their own."
    ),
    version=VERSION,
)


class ModelSettingsMemory(QObject):
    """Notes the form's choices under the chosen model, soon after each change of them."""

    def __init__(
        self, folder: Path, form: GenerationState, starter: Path, parent: QObject | None = None
    ) -> None:
        """Read the file; one that cannot be read is put aside, as `problem` says."""
        super().__init__(parent)
        self._form, self._starter = form, starter
        content, self.problem = _KIND.read(folder / FILE)
        self._models = dict(content.models) if content is not None else {}
        unwritable = sentence("The settings that you use with each model cannot be kept.")
        self._writer = FileWriter(folder / FILE, self._content, unwritable, self)
        self.failed = self._writer.failed
        for name in Choices.__struct_fields__:
            getattr(form, f"{name}_changed").connect(self._writer.changed)

    def of(self, model: Path) -> Choices:
        """Return what was last chosen with a model; no choices if nothing was."""
        return self._models.get(self._key(model), NO_CHOICES)

    def put(self, model: Path, choices: Choices) -> None:
        """Remember these choices with a model; no choices forget it."""
        self._models.pop(self._key(model), None)
        if choices != NO_CHOICES:
            self._models[self._key(model)] = choices
        self._writer.changed()

    def note(self) -> None:
        """Note what the form holds for its model now."""
        form = self._form
        key, choices = self._key(form.checkpoint), form.choices
        known = self._models.pop(key, NO_CHOICES)
        if form.inputs:
            # The size is that of the start picture, not one for the model.
            choices = with_size_of(choices, known)
        if choices != NO_CHOICES:
            self._models[key] = choices
        for model in tuple(self._models)[:-_MOST]:
            del self._models[model]

    def close(self) -> None:
        """Write the latest choices unless they are written already. Blocks for the disk."""
        self._writer.close()

    def _content(self) -> Callable[[], bytes]:
        self.note()
        return partial(encode_json, ModelSettings(models=dict(self._models)))

    def _key(self, model: Path) -> str:
        return _STARTER if model == self._starter else str(model)
