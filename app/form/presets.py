"""Presets: named sets of the form's values, kept in a file in the user's order."""

from collections.abc import Callable, Collection
from enum import StrEnum
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.file_writer import FileWriter
from app.form.fields import CONTROLS, PICTURE_CONTROLS, Form
from app.storage.document import DocumentKind, text_to_path
from engine.api.sentences import sentence
from engine.api.texts import encode_json

FILE = "presets.json"
VERSION = 1
MOST_PRESETS = 200
MOST_NAME = 80
# A preset with two prompts of the longest kind and every LoRA takes a thousandth of it.
_MOST_BYTES = 32 << 20


class PresetPart(StrEnum):
    """The parts of the form that a preset may hold."""

    PROMPTS = "prompts"
    MODEL = "model"
    LORAS = "loras"
    LAYERS = "layers"
    SETTINGS = "settings"


_OF_PARTS = {
    PresetPart.PROMPTS: ("prompt", "negative_prompt"),
    PresetPart.MODEL: ("checkpoint", "components", "refiner"),
    PresetPart.LORAS: ("loras",),
    PresetPart.LAYERS: ("controls", "image_prompts"),
}
# They belong to one picture or, as the declaration and the extras, to a file.
_OF_ONE_PICTURE = {"seed", "seed_locked", "count", "inputs", "strength", "mask_options"}
_OF_A_FILE = {"declaration", "extras"}
_OF_THIS_COMPUTER = {*CONTROLS} - {*PICTURE_CONTROLS}
_NEVER = _OF_ONE_PICTURE | _OF_A_FILE | _OF_THIS_COMPUTER
_APART = {*_NEVER, *(name for names in _OF_PARTS.values() for name in names)}
_SETTINGS = tuple(name for name in Form.__struct_fields__ if name not in _APART)


def fields_of_parts(parts: Collection[PresetPart]) -> tuple[str, ...]:
    """Return the names of the form's fields that these parts consist of."""
    of_parts = {**_OF_PARTS, PresetPart.SETTINGS: _SETTINGS}
    return tuple(name for part in PresetPart if part in parts for name in of_parts[part])


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A named set of values. Outside of its parts `form` has the values of an empty form.

    The starter is kept as an empty path, because it lies where Safelight is installed.
    """

    name: str
    parts: tuple[PresetPart, ...]
    form: Form


class _Presets(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file."""

    presets: tuple[Preset, ...] = ()
    version: int = VERSION


_KIND = DocumentKind(
    msgspec.json.Decoder(_Presets, dec_hook=text_to_path),
    _MOST_BYTES,
    damaged=sentence("Your presets cannot be read; the list begins anew."),
    newer=sentence("Your presets were left by a newer version of Safelight; the list begins anew."),
    version=VERSION,
)


def preset_of(name: str, parts: Collection[PresetPart], form: Form, starter: Path) -> Preset:
    """Return these parts of a form as a preset, and nothing of its other values."""
    kept = {field: getattr(form, field) for field in fields_of_parts(parts)}
    if kept.get("checkpoint") == starter:
        kept["checkpoint"] = Path()
    in_order = tuple(part for part in PresetPart if part in parts)
    return Preset(name=preset_name(name), parts=in_order, form=Form(**kept))


def preset_name(typed: str) -> str:
    """Return a typed name as a preset has it: in one line and not too long."""
    return " ".join(typed.split())[:MOST_NAME]


class PresetStore(QObject):
    """The user's presets in their order, written soon after each change."""

    presets_changed = Signal(object)

    presets = Field[tuple[Preset, ...]](())

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """Read the file; one that cannot be read is put aside, as `problem` says."""
        super().__init__(parent)
        content, self.problem = _KIND.read(folder / FILE)
        if content is not None:
            self.presets = content.presets[:MOST_PRESETS]
        self._writer = FileWriter(
            folder / FILE, self._content, sentence("Your presets cannot be kept."), self
        )
        self.failed = self._writer.failed
        self.presets_changed.connect(self._writer.changed)

    def named(self, name: str) -> Preset | None:
        """Return the preset with a name; None if there is none."""
        return next((preset for preset in self.presets if preset.name == name), None)

    def close(self) -> None:
        """Write the latest presets unless they are written already. Blocks for the disk."""
        self._writer.close()

    def _content(self) -> Callable[[], bytes]:
        return partial(encode_json, _Presets(presets=self.presets), str)
