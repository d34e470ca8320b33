"""The checkpoints to choose from, and the engine's answers on them."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.engine.client import EngineClient
from app.library.checkpoints import STARTER_NAME, ListedCheckpoint, list_checkpoints, listed_name
from engine.api.checkpoints import CheckpointInfo, FamilyName
from engine.api.features import Features
from engine.api.messages import (
    CheckpointHashed,
    CheckpointInspected,
    FamiliesKnown,
    QueryFailed,
)
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles
from engine.api.values import ErrorCode, ErrorInfo
from engine.api.weight_suffixes import weights_name
from engine.file_paths import exists

# Errors of the engine, not of the subject of a query, which is sent once more.
ENGINE_FAILURES = (ErrorCode.ENGINE_CRASHED, ErrorCode.PROTOCOL_BROKEN)
# The name of the part that runs in each step.
_DENOISER = "denoiser"


class _Question(msgspec.Struct, frozen=True):
    """A checkpoint that the engine is to inspect; `again` where the engine failed at it once."""

    path: Path
    components: ComponentFiles
    override: CheckpointOverride
    will_be_used: bool
    again: bool = False


class _Found(msgspec.Struct, frozen=True):
    """The checkpoints of the models folder, and the paths elsewhere that are gone."""

    listed: list[ListedCheckpoint]
    gone: frozenset[Path]


class CheckpointStore(QObject):
    """The starter, the checkpoints in the models folder, and opened ones elsewhere.

    `look` asks the engine what a checkpoint is; the answer is kept, and emitted with `looked`.
    """

    changed = Signal()
    # Path, then CheckpointInfo or ErrorInfo.
    looked = Signal(object, object)
    # Path, then the percent of its file that is hashed, while that goes on.
    hashing = Signal(object, int)
    families_changed = Signal()

    def __init__(
        self,
        client: EngineClient,
        background: Background,
        *,
        models: Path,
        starter: Path,
        folders: Callable[[], Iterable[str]] = tuple,
        parent: QObject | None = None,
    ) -> None:
        """`folders` returns those to look into beside the folder `models`."""
        super().__init__(parent)
        self._folders = folders
        self.models = models
        self.starter = starter
        self._client = client
        self._background = background
        self._listed = [ListedCheckpoint(STARTER_NAME, starter)]
        self._opened: list[ListedCheckpoint] = []
        # It stays in the list even if its file is gone; others come back with their files.
        self.chosen = starter
        # The families that the engine runs; empty before its first start.
        self.families: tuple[FamilyName, ...] = ()
        self._gone: frozenset[Path] = frozenset()
        self._answers: dict[Path, CheckpointInfo | ErrorInfo] = {}
        self._asked: dict[int, _Question] = {}
        # The latest query for each path; answers to earlier ones are ignored.
        self._latest: dict[Path, int] = {}
        client.families_known.connect(self._on_families)
        client.checkpoint_inspected.connect(self._on_inspected)
        client.checkpoint_hashed.connect(self._on_hashed)
        client.query_failed.connect(self._on_query_failed)

    @property
    def entries(self) -> tuple[ListedCheckpoint, ...]:
        """The checkpoints to choose from, the starter first, opened ones last."""
        opened = (e for e in self._opened if e.path == self.chosen or e.path not in self._gone)
        return (*self._listed, *opened)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The user's folders of models beside the folder of models."""
        return tuple(map(Path, self._folders()))

    def answer(self, path: Path) -> CheckpointInfo | ErrorInfo | None:
        """Return the engine's last answer on a checkpoint; None before there is one."""
        return self._answers.get(path)

    def features(self, path: str) -> Features:
        """Return the abilities of a checkpoint; those of most before the engine's answer."""
        answer = self._answers.get(Path(path))
        return answer.features if isinstance(answer, CheckpointInfo) else Features()

    def parameters(self, path: str) -> int | None:
        """Return the parameters of a checkpoint's denoiser; None before the engine's answer."""
        answer = self._answers.get(Path(path))
        if not isinstance(answer, CheckpointInfo):
            return None
        return next((p.parameters for p in answer.components if p.name == _DENOISER), None)

    def family_title(self, name: str) -> str:
        """Return a family's title; its name if the engine does not know it."""
        return next((family.title for family in self.families if family.name == name), name)

    def refresh(self) -> None:
        """Read the models folder and look for opened checkpoints again, on another thread."""
        models, starter = self.models, self.starter
        others = self.folders
        elsewhere = {self.chosen, *self.opened}

        def find() -> _Found:
            gone = frozenset(path for path in elsewhere if not exists(path))
            return _Found(list_checkpoints(models, starter, others), gone)

        self._background.look(find, self._on_found)

    def add(self, path: Path) -> None:
        """Add a checkpoint to the list where it lies, unless it is listed."""
        if all(entry.path != path for entry in (*self._listed, *self._opened)):
            self._opened.append(ListedCheckpoint(self._name(path), path))
            self.changed.emit()

    @property
    def opened(self) -> tuple[Path, ...]:
        """The checkpoints that lie outside the models folder."""
        return tuple(entry.path for entry in self._opened)

    def is_gone(self, path: Path) -> bool:
        """True if the file was not there when it was last looked for."""
        return path in self._gone

    def _name(self, path: Path) -> str:
        if path.is_relative_to(self.models):
            return listed_name(path, self.models)
        return weights_name(path.name)

    def look(
        self,
        path: Path,
        components: ComponentFiles | None = None,
        override: CheckpointOverride = NO_OVERRIDE,
        *,
        will_be_used: bool = True,
    ) -> None:
        """Have the engine inspect a checkpoint, with these parts and override, once it is ready.

        One that `will_be_used` is hashed, too.
        """
        self._ask(_Question(path, components or ComponentFiles(), override, will_be_used))

    def _ask(self, question: "_Question") -> None:
        query = self._client.inspect_checkpoint(
            str(question.path),
            question.components,
            question.override,
            will_be_used=question.will_be_used,
        )
        self._asked[query] = question
        self._latest[question.path] = query

    def _on_found(self, found: "_Found") -> None:
        known = {entry.path for entry in found.listed}
        opened = [entry for entry in self._opened if entry.path not in known]
        if all(entry.path != self.chosen for entry in (*found.listed, *opened)):
            opened.append(ListedCheckpoint(self._name(self.chosen), self.chosen))
        now = found.listed, opened, found.gone
        if now != (self._listed, self._opened, self._gone):
            self._listed, self._opened, self._gone = now
            self.changed.emit()

    def _on_families(self, event: FamiliesKnown) -> None:
        if event.families != self.families:
            self.families = event.families
            self.families_changed.emit()

    def _on_inspected(self, event: CheckpointInspected) -> None:
        question = self._asked.pop(event.query, None)
        if question is not None and self._latest.get(question.path) == event.query:
            self._keep(question.path, event.checkpoint)

    def _on_hashed(self, event: CheckpointHashed) -> None:
        for path, answer in tuple(self._answers.items()):
            if not isinstance(answer, CheckpointInfo) or answer.path != event.path:
                continue
            if event.sha256 is None:
                percent = 100 * event.done_bytes // max(1, event.total_bytes)
                self.hashing.emit(path, min(percent, 99))
            else:
                self._keep(path, msgspec.structs.replace(answer, sha256=event.sha256))

    def _on_query_failed(self, event: QueryFailed) -> None:
        question = self._asked.pop(event.query, None)
        if question is None or self._latest.get(question.path) != event.query:
            return
        if event.error.code not in ENGINE_FAILURES:
            self._keep(question.path, event.error)
        elif not question.again:
            self._ask(msgspec.structs.replace(question, again=True))

    def _keep(self, path: Path, answer: CheckpointInfo | ErrorInfo) -> None:
        self._answers[path] = answer
        self.looked.emit(path, answer)
