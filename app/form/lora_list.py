"""The LoRAs of the form with what is known of each, and those that the prompt names by tags."""

import re
from enum import StrEnum
from pathlib import Path, PureWindowsPath

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.form.generation import GenerationState
from app.library.checkpoint_store import CheckpointStore
from app.library.lora_store import LoraStore
from engine.api.checkpoints import CheckpointInfo
from engine.api.conventions import convention_of
from engine.api.folded import folded
from engine.api.lora import LoraChoice
from engine.api.lora_files import LoraInfo
from engine.api.prompt_rules import NetworkTags, PromptGrammar
from engine.api.values import ErrorInfo

# The tags that `engine.text.lora_tags` reads; that module is too heavy for the window's start.
# Without its end a tag is still being typed.
_TAG = re.compile(r"<(?:lora|lyco|loractl):([^:<>]+)(?::[^<>]*)?>")


class LoraFate(StrEnum):
    """The use that the next picture makes of a LoRA in the list."""

    APPLIED = "applied"
    OFF = "off"  # by the user
    UNSUITED = "unsuited"  # for another family than the checkpoint's
    BROKEN = "broken"  # the file cannot be used, as its description says
    MISSING = "missing"
    UNREAD = "unread"  # not known yet; it is applied if it can be


class LoraRow(msgspec.Struct, frozen=True):
    """A LoRA of the list; `info` is None while nothing is known about its file.

    `alike` are all listed files of its name, itself among them; empty if it has the name alone.
    """

    choice: LoraChoice
    info: LoraInfo | None
    fate: LoraFate
    alike: tuple[LoraInfo, ...] = ()

    @property
    def is_found_by_name(self) -> bool:
        """True if the path of the request is no file here, and one of its name is used."""
        has_path = bool(PureWindowsPath(self.choice.file.replace("/", "\\")).anchor)
        return has_path and self.info is not None and self.info.path != self.choice.file


class NamedLora(msgspec.Struct, frozen=True):
    """A LoRA that the prompt names by a tag; `info` is None if its file is not found."""

    name: str
    # The hash that the picture's metadata gave; empty if unknown.
    hash: str
    info: LoraInfo | None
    # All files that it may mean, the taken one first; empty if there is no choice.
    alike: tuple[LoraInfo, ...] = ()


class LoraList(QObject):
    """The rows of the list, which follow the form, the LoRA files and the checkpoint.

    Files that cannot be applied stay in the list and are left out of requests.
    """

    rows_changed = Signal(object)
    named_changed = Signal(object)

    rows = Field[tuple[LoraRow, ...]](())
    named = Field[tuple[NamedLora, ...]](())

    def __init__(
        self,
        form: GenerationState,
        store: LoraStore,
        checkpoints: CheckpointStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form, self._store, self._checkpoints = form, store, checkpoints
        # Paths that the engine was asked about, and those that it cannot read.
        self._asked: set[str] = set()
        self._unreadable: set[str] = set()
        for signal in (
            form.loras_changed,
            form.checkpoint_changed,
            form.prompt_changed,
            form.convention_changed,
            form.extras_changed,
            checkpoints.looked,
            store.changed,
        ):
            signal.connect(self._refresh)
        store.looked.connect(self._on_looked)
        self._refresh()

    @property
    def family(self) -> str | None:
        """The family of the chosen checkpoint; None while it is not known."""
        answer = self._checkpoints.answer(self._form.checkpoint)
        return answer.family if isinstance(answer, CheckpointInfo) else None

    @property
    def takes_map(self) -> bool:
        """True if a LoRA is applied with which the model itself follows a map."""
        applied = (row.info for row in self.rows if row.fate is LoraFate.APPLIED)
        return any(info.takes_map for info in applied if info is not None)

    def suits(self, info: LoraInfo) -> bool:
        """Return False if a LoRA is for another family than the checkpoint's."""
        family = self.family
        return family is None or not info.is_certain or family in info.families

    def places_of(self, path: str) -> list[int]:
        """Return the places in the form's list at which a file is used, by its path or its name."""
        return [at for at, lora in enumerate(self._form.loras) if self._is_of(lora, path)]

    def _is_of(self, choice: LoraChoice, path: str) -> bool:
        if choice.file == path:
            return True
        found = self._store.find(choice.file, choice.hash)
        return found is not None and found.path == path

    def look_again(self) -> None:
        """List the files again, and look for those elsewhere, which may be gone or back."""
        self._asked.clear()
        self._store.refresh()
        for choice in self._form.loras:
            self._store.look_again(choice.file)

    def _refresh(self, *_: object) -> None:
        rows = tuple(map(self._row, self._form.loras))
        # First, so that a request made by whoever hears of the rows is right.
        useless = (LoraFate.UNSUITED, LoraFate.BROKEN)
        self._form.left_out = frozenset(row.choice.file for row in rows if row.fate in useless)
        self.rows = rows
        self.named = self._named()

    def _row(self, choice: LoraChoice) -> LoraRow:
        info = self._store.find(choice.file, choice.hash)
        alike = self._store.names.same_name(info) if info is not None else ()
        return LoraRow(choice, info, self._fate(choice, info), alike)

    def _fate(self, choice: LoraChoice, info: LoraInfo | None) -> LoraFate:
        if info is None:
            return self._fate_of_unknown(choice)
        if info.problem:
            return LoraFate.BROKEN
        if not self.suits(info):
            return LoraFate.UNSUITED
        if not choice.enabled:
            return LoraFate.OFF
        return LoraFate.APPLIED if info.is_read else LoraFate.UNREAD

    def _fate_of_unknown(self, choice: LoraChoice) -> LoraFate:
        """Return the fate of a file in no listed folder, and ask the engine about it once."""
        if not self._store.is_listed:
            return LoraFate.UNREAD
        is_path = Path(choice.file).is_absolute()
        if is_path and choice.file not in self._asked:
            self._asked.add(choice.file)
            self._store.look(choice.file)
        is_missing = not is_path or choice.file in self._unreadable
        return LoraFate.MISSING if is_missing else LoraFate.UNREAD

    def _named(self) -> tuple[NamedLora, ...]:
        form = self._form
        convention = convention_of(form.convention)
        is_text = convention.network_tags is NetworkTags.TEXT
        if is_text or convention.grammar is PromptGrammar.COMPEL:
            return ()
        names = dict.fromkeys(_TAG.findall(form.prompt))
        hashes = {folded(lora.name): lora.hash for lora in form.extras.lora_hashes}
        found: list[NamedLora] = []
        for name in map(str.strip, names):
            digits = hashes.get(folded(name), "")
            meant = self._store.names.meant_by(name, digits)
            alike = meant if len(meant) > 1 else ()
            found.append(NamedLora(name, digits, next(iter(meant), None), alike))
        return tuple(found)

    def _on_looked(self, path: str, answer: LoraInfo | ErrorInfo) -> None:
        if isinstance(answer, ErrorInfo):
            self._unreadable.add(path)
        else:
            self._unreadable.discard(path)
        self._refresh()
