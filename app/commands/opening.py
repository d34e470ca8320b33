"""Opens files that were dropped, chosen or named at the start, each as the kind of file it is."""

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject

from app.commands.checkpoints import CheckpointCommands
from app.commands.loras import LoraCommands
from app.commands.pictures import PictureCommands
from app.commands.state import AppState
from app.form.embedding_texts import mention_of, spelled, with_mention
from app.library.copied_files import copy_into
from app.library.file_kind import FileKind, kind_of
from app.library.lora_store import LoraStore
from app.library.picture_files import is_picture
from app.notices.wording import worded_both
from app.storage.full_disk import make_room
from engine.api.conventions import convention_of
from engine.api.lora_files import LoraInfo
from engine.api.messages import QueryFailed
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.model_messages import ModelsFound
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL

translate = QCoreApplication.translate

_MAY_BE_CHECKPOINTS = (ModelKind.CHECKPOINT, ModelKind.DENOISER, ModelKind.OTHER)


class Opening(QObject):
    """Gives a file to the commands for its kind; of PyTorch files the engine reads the keys."""

    def __init__(
        self,
        state: AppState,
        store: LoraStore,
        pictures: PictureCommands,
        checkpoint: CheckpointCommands,
        lora: LoraCommands,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._form, self._notices = state.form, state.notices
        self._embeddings = state.checkpoints.models / "embeddings"
        self._background = state.background
        self._store, self._changes = store, state.changes
        self._pictures, self._checkpoint, self._lora = pictures, checkpoint, lora
        # The files that the engine reads, and True for those that may become the checkpoint.
        self._reading: dict[str, bool] = {}
        # Puts a described model at its place in the form; False where there is none.
        self.use_model: Callable[[ModelInfo], bool] = lambda _: False
        # The files that the engine describes, by the numbers of the questions.
        self._described: dict[int, Path] = {}
        self._client = state.client
        store.looked.connect(self._on_looked)
        self._client.models_found.connect(self._on_found)
        self._client.query_failed.connect(self._on_undescribed)

    @property
    def taken_files(self) -> str:
        """The kinds of files that can be opened, in a sentence."""
        return self.tr("Safelight takes models, LoRAs, and pictures as PNG, JPEG or WebP.")

    def kind(self, path: Path) -> FileKind:
        """Return the kind of a file that is no picture; reads the file's header."""
        known = self._store.info(str(path))
        if known is not None and known.is_read and not known.problem:
            return FileKind.LORA
        return kind_of(path)

    def open(self, path: Path) -> None:
        """Use a file: a picture's settings, a LoRA in the list, any other as the checkpoint.

        An embedding is copied to where prompts find it, and a foreign file is refused.
        """
        if is_picture(path):
            self._pictures.use_settings(path)
            return
        match self.kind(path):
            case FileKind.LORA:
                self._lora.open(path)
            case FileKind.EMBEDDING:
                self._add_embedding(path)
            case FileKind.OPAQUE:
                self._read(path, may_be_checkpoint=True)
            case FileKind.CONTROLNET | FileKind.VAE | FileKind.UNTOLD:
                self._describe(path)
            case FileKind.FOREIGN:
                self._refuse(path)
            case FileKind.FOLDER | FileKind.OTHER:
                self._checkpoint.open(path)

    def open_with(self, first: Path, others: Iterable[Path]) -> None:
        """Open files that were dropped together: of the `others` only LoRAs beside a LoRA."""
        self.open(first)
        if is_picture(first) or self.kind(first) not in (FileKind.LORA, FileKind.OPAQUE):
            return
        for path in others:
            kind = self.kind(path)
            if kind is FileKind.LORA:
                self._lora.open(path)
            elif kind is FileKind.OPAQUE:
                self._read(path, may_be_checkpoint=False)

    def use_embedding(self, model: ModelInfo) -> None:
        """Write an embedding's name at the end of the prompt, unless it is there.

        One that no prompt finds where it lies, or whose name none can have, is explained instead.
        """
        path = Path(model.path)
        name = next(iter(model.trigger_words), path.stem)
        is_found = name in self._store.embeddings or not self._store.is_listed
        if is_found and self._can_be_named(name):
            self._name_embedding(name)
        else:
            self._explain_embedding(path, name)

    def _can_be_named(self, name: str) -> bool:
        return bool(spelled(name, convention_of(self._form.convention)))

    def _add_embedding(self, path: Path) -> None:
        """Name an embedding in the prompt; one that no prompt finds is copied to where it does."""
        name = path.stem
        if not self._can_be_named(name):
            self._explain_embedding(path, name)
        elif name in self._store.embeddings:
            self._name_embedding(name)
        else:
            self._background.run(lambda: _copy(path, self._embeddings), self._on_copied, must=True)

    def _on_copied(self, copied: Path | ErrorInfo) -> None:
        if isinstance(copied, ErrorInfo):
            self._notices.tell_error(copied)
            return
        self._store.refresh()
        folder = self.tr("It was copied into the folder {folder}.").format(folder=copied.parent)
        self._name_embedding(copied.stem, folder)

    def _name_embedding(self, name: str, *remarks: str) -> None:
        """Write a name at the end of the prompt, unless it is there, and tell of it."""
        convention, form = convention_of(self._form.convention), self._form
        if mention_of(form.prompt, name, self._store.embeddings, convention) is not None:
            known = self.tr("{name} is in the prompt already.").format(name=name[:80])
            self._notices.tell(known, details=remarks)
            return
        message = self.tr("{name} is in the prompt.").format(name=name[:80])

        def write() -> None:
            form.prompt = with_mention(form.prompt, name, convention)

        self._changes.apply(message, write, remarks)

    def _read(self, path: Path, *, may_be_checkpoint: bool) -> None:
        self._reading[str(path)] = may_be_checkpoint
        self._store.look(str(path))

    def _on_looked(self, path: str, answer: LoraInfo | ErrorInfo) -> None:
        may_be_checkpoint = self._reading.pop(path, None)
        if may_be_checkpoint is None:
            return
        file = Path(path)
        if isinstance(answer, LoraInfo) and not answer.problem:
            self._lora.open(file)
        elif isinstance(answer, LoraInfo) and answer.is_embedding:
            self._add_embedding(file)
        elif may_be_checkpoint:
            self._describe(file)

    def _describe(self, path: Path) -> None:
        """Have the engine say what a file is."""
        self._described[self._client.describe_model(str(path))] = path

    def _on_found(self, event: ModelsFound) -> None:
        path = self._described.pop(event.query, None)
        if path is None:
            return
        (model,) = event.models
        if model.kind in _MAY_BE_CHECKPOINTS:
            # What is wrong with a file that is none is told below the checkpoint's name.
            self._checkpoint.open(path)
        elif not self.use_model(model):
            told = self.tr("{name} has no place in the form.").format(name=path.name[:80])
            self._notices.tell(told, worded_both(model.problem, model.hint))

    def _on_undescribed(self, event: QueryFailed) -> None:
        path = self._described.pop(event.query, None)
        if path is not None:
            self._checkpoint.open(path)

    def _refuse(self, path: Path) -> None:
        self._notices.tell(
            self.tr("{name} cannot be used.").format(name=path.name[:80]), self.taken_files
        )

    def _explain_embedding(self, path: Path, name: str) -> None:
        convention = convention_of(self._form.convention)
        text = spelled(name, convention)
        if text:
            hint = self.tr("Its place is the folder {folder}. Write {spelled} in the prompt.")
        else:
            hint = self.tr("Prompts as in {tool} cannot have its name: rename {file}.")
        self._notices.tell(
            self.tr("{name} is an embedding: it acts where a prompt names it.").format(
                name=name[:80]
            ),
            hint.format(
                folder=self._embeddings,
                spelled=text,
                tool=convention.name.label,
                file=path.name[:80],
            ),
        )


def _copy(path: Path, folder: Path) -> Path | ErrorInfo:
    """Copy a file into a folder; return its copy's path, or the failure."""
    size = 0
    try:
        size = path.stat().st_size
        return copy_into(path, folder)
    except OSError as error:
        is_full = error.errno in FULL
        return ErrorInfo(
            ErrorCode.DISK_FULL if is_full else ErrorCode.OUTPUT_NOT_WRITABLE,
            translate("opening", "{name} could not be copied.").format(name=path.name[:80]),
            make_room(folder, size)
            if is_full
            else translate("opening", "See that the file can be read, and its folder written."),
            str(error),
        )
