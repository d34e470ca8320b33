"""Commands that make pictures larger, and tell before what that takes."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QLocale, QObject, Signal

from app.commands.picture_trash import PictureTrash
from app.commands.state import AppState
from app.library.model_store import ModelStore
from app.library.upscale_outlooks import UpscaleOutlooks
from app.notices.remedies import NoticeAction
from app.queue.job_queue import batch_of
from app.queue.jobs import Job
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.upscale_messages import ImageUpscaled
from engine.api.upscaling import UpscaleOutlook, UpscaleRequest
from engine.api.values import ErrorInfo
from engine.errors import EngineError
from engine.file_paths import exists

# Of more pictures the first tell for the others.
MOST_ASKED = 24


class UpscaleCommands(QObject):
    """Queues pictures to be made larger; each is saved in the folder of the one before."""

    # The list of upscalers, or an outlook, is another.
    changed = Signal()

    def __init__(
        self,
        state: AppState,
        models: ModelStore,
        outlooks: UpscaleOutlooks,
        trash: PictureTrash,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._state, self._models, self._outlooks, self._trash = state, models, outlooks, trash
        # The upscaler that was chosen last: a file's path, or a method.
        self.latest = ""
        # Jobs of one picture, whose end is told.
        self._alone: set[str] = set()
        # The jobs that are not over of those that were queued together, and what they saved.
        self._together: dict[str, _Together] = {}
        state.queue.job_changed.connect(self._on_changed)
        state.queue.job_removed.connect(self._on_over)
        models.changed.connect(self.changed)
        models.listing_changed.connect(self.changed)
        outlooks.changed.connect(self.changed)
        state.client.image_upscaled.connect(self._on_saved)

    @property
    def upscalers(self) -> tuple[ModelInfo, ...]:
        """The upscalers' files in the user's folders that can be used, by name."""
        usable = (
            model for model in self._models.models
            if model.kind is ModelKind.UPSCALER and model.is_read and not model.problem
        )  # fmt: skip
        return tuple(sorted(usable, key=lambda model: model.name.lower()))

    @property
    def is_listing(self) -> bool:
        """True while the user's files are listed for the first time."""
        return not self._models.is_listed

    def look(self) -> None:
        """List the upscalers if they are not listed yet."""
        if not (self._models.is_listed or self._models.is_listing):
            self._models.refresh()

    def ask(self, requests: Sequence[UpscaleRequest]) -> None:
        """Ask what requests take; of many pictures the first tell for all."""
        for request in requests[:MOST_ASKED]:
            self._outlooks.ask(request)

    def outlook(self, request: UpscaleRequest) -> UpscaleOutlook | ErrorInfo | None:
        """Return the outlook of a request, or why it is refused; None while it is not known."""
        return self._outlooks.of(request)

    def start(self, requests: Sequence[UpscaleRequest]) -> None:
        """Queue pictures to be made larger."""
        try:
            jobs = self._state.queue.submit_upscales(
                (self._exact(request), self._folder(Path(request.source))) for request in requests
            )
        except EngineError as error:
            self._state.notices.tell_error(error.info)
            return
        if len(jobs) == 1:
            self._alone.update(jobs)
        elif jobs:
            self._together[batch_of(jobs[0])] = _Together(len(jobs), set(jobs))
        if self._state.engine.problem is not None:
            self._state.engine.start_again()

    def show_original(self, path: str) -> None:
        """Show the picture that one was made larger from, where that is known and there."""

        def find() -> str | None:
            return original_of(Path(path))

        def show(found: str | None) -> None:
            if found is not None:
                self.original_found.emit(found)
                return
            self._state.notices.tell(
                self.tr("The picture before is not known."),
                self.tr("This picture was not made larger here, or the one before is gone."),
            )

        self._state.background.run(find, show)

    # str: the path of the picture before one that was made larger.
    original_found = Signal(str)

    def _exact(self, request: UpscaleRequest) -> UpscaleRequest:
        """Return a request with the size that was told, which the queue shows, too."""
        told = self._outlooks.of(request)
        if not isinstance(told, UpscaleOutlook):
            return request
        exact = msgspec.structs.replace(
            request, width=told.width, height=told.height, scale=None, longest=None
        )
        self._outlooks.note(exact, told)
        return exact

    def _folder(self, source: Path) -> Path:
        """Return the folder of a picture; the pictures' own where nothing can be written there."""
        folder = source.parent
        return folder if os.access(folder, os.W_OK) else self._state.output_pictures.folder

    def _on_saved(self, event: ImageUpscaled) -> None:
        view = self._state.view
        self._state.output_pictures.refresh_soon()
        if view.path == event.source:
            view.choose(event.path)
        if event.job not in self._alone:
            return
        self._alone.discard(event.job)
        message = self.tr("{name} is saved, {width} by {height} pixels.").format(
            name=Path(event.path).name[:80], width=event.width, height=event.height
        )

        def undo() -> None:
            self._trash.move([event.path])

        hint = self.tr("It is beside the picture before, which stays as it is.")
        if not _is_beside(event.path, event.source):
            hint = ""
        self._state.notices.tell(message, hint, actions=(NoticeAction.UNDO_CHANGE,), undo=undo)

    def _on_changed(self, job: Job) -> None:
        if not job.state.is_over:
            return
        together = self._together.get(batch_of(job.id))
        source = job.upscale.source if job.upscale is not None else ""
        if together is not None and not all(_is_beside(path, source) for path in job.images):
            together.is_beside = False
        self._on_over(job.id, job.images)

    def _on_over(self, job: str, saved: tuple[str, ...] = ()) -> None:
        """Tell what became of pictures that were queued together, once the last of them is over."""
        name = batch_of(job)
        together = self._together.get(name)
        if together is None or job not in together.left:
            return
        together.left.discard(job)
        together.saved.extend(saved)
        if not together.left:
            del self._together[name]
            self._tell_together(together)

    def _tell_together(self, together: "_Together") -> None:
        count, saved = together.count, tuple(together.saved)
        if not saved:
            return
        message = self.tr("{n} pictures are upscaled.").format(n=QLocale().toString(count))
        if len(saved) < count:
            message = self.tr("{n} of {count} pictures are upscaled.").format(
                n=QLocale().toString(len(saved)), count=QLocale().toString(count)
            )

        def undo() -> None:
            self._trash.move(saved)

        hint = self.tr("They are beside the pictures before, which stay as they are.")
        if not together.is_beside:
            hint = ""
        self._state.notices.tell(
            message,
            hint,
            actions=(NoticeAction.SHOW_PICTURES, NoticeAction.UNDO_CHANGE),
            pictures=saved,
            undo=undo,
        )


class _Together(msgspec.Struct):
    """Pictures that were queued together: how many, the jobs that are not over, what was saved.

    `is_beside` is false if a picture was saved in another folder than the one before.
    """

    count: int
    left: set[str]
    saved: list[str] = msgspec.field(default_factory=list[str])
    is_beside: bool = True


def _is_beside(saved: str, source: str) -> bool:
    return Path(saved).parent == Path(source).parent


def original_of(path: Path) -> str | None:
    """Return the picture that one was made larger from, where it is or beside it; else None."""
    # The readers of other tools' pictures come along, which the start does without.
    from engine.metadata.upscales import read_upscales

    try:
        reports = read_upscales(path)
    except EngineError:
        return None
    source = reports[-1].source if reports else None
    if not source:
        return None
    places = (Path(source), path.parent / Path(source).name)
    return next((str(place) for place in places if place != path and exists(place)), None)
