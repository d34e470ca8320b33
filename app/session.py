"""The application without pixels: what the window draws and what it can ask for, wired together."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.checkpoint_store import CheckpointStore
from app.checkpoint_words import CheckpointMemory, CheckpointWords
from app.device_state import DeviceState
from app.engine_client import EngineClient
from app.engine_process import EngineProcess, EngineState
from app.field import Field
from app.gallery import GalleryStore, is_picture
from app.generation import (
    COMMON_SUGGESTIONS,
    STARTER_SUGGESTIONS,
    GenerationState,
    settings_of,
)
from app.job_queue import Job, JobQueue, JobState
from app.masks import keep_mask
from app.notices import Notice, NoticeState
from app.paths import Paths
from app.picture_settings import PictureSettings, read_settings
from app.progress import ProgressState
from app.prompt_state import PromptStates
from app.remedies import NoticeAction
from app.retries import Retries
from app.trash import Trashed, move_to_trash, restore
from app.view import ViewState
from engine.api.checkpoints import CheckpointInfo
from engine.api.messages import ImageSaved, JobWarned
from engine.api.values import ErrorCode, ErrorInfo
from engine.errors import EngineError


class Session(QObject):
    """Everything the window needs, as long-lived objects and as things to do.

    The window draws these and calls what is below; nothing of it lives in widgets.
    """

    engine_state_changed = Signal(object)
    engine_problem_changed = Signal(object)

    engine_state = Field(EngineState.STOPPED)
    # Why the engine is stopped for good, None while it is not.
    engine_problem = Field[ErrorInfo | None](None)

    def __init__(
        self,
        paths: Paths,
        starter: Path,
        process: EngineProcess,
        client: EngineClient,
        queue: JobQueue,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.output = paths.output
        self._masks = paths.state / "masks"
        self.process = process
        self.client = client
        self.queue = queue
        self.background = Background(2, self)
        self.generation = GenerationState(starter, self)
        self._memory = CheckpointMemory(paths.state)
        self.generation.words = self._memory.of(starter)
        self.checkpoints = CheckpointStore(
            client, self.background, models=paths.models, starter=starter, parent=self
        )
        self.prompts = PromptStates(client, self.generation, self.checkpoints, self)
        self.gallery = GalleryStore(paths.output, self.background, self)
        self.gallery.inserted.connect(self._on_pictures_found)
        self.gallery.was_reset.connect(self._on_pictures_found)
        self.devices = DeviceState(client, self)
        self.progress = ProgressState(parent=self)
        self.notices = NoticeState(self)
        self.view = ViewState(self)
        self.retries = Retries(queue, self.view)
        self._newest = ""
        self._looked_with = self.generation.components
        self._connect()

    def _connect(self) -> None:
        client, queue, progress = self.client, self.queue, self.progress
        client.engine_state_changed.connect(self._on_engine_state)
        client.engine_crashed.connect(self._on_engine_crashed)
        client.engine_gave_up.connect(self._on_engine_gave_up)
        client.job_phase.connect(progress.on_phase)
        client.job_progress.connect(progress.on_progress)
        client.job_preview.connect(progress.on_preview)
        client.image_saved.connect(self._on_image_saved)
        client.job_warned.connect(self._on_job_warned)
        queue.job_added.connect(self._on_job_added)
        queue.journal_failed.connect(self.notices.tell_error)
        queue.job_changed.connect(self._on_job_changed)
        self.background.failed.connect(self.notices.tell_error)
        self.generation.checkpoint_changed.connect(self._on_checkpoint_changed)
        self.generation.words_changed.connect(self._look)
        self.generation.extras_changed.connect(self._on_extras_changed)
        self.checkpoints.looked.connect(self._on_looked)

    # --- beginning and end ---

    def start(self) -> None:
        """Start the engine and read the folders; to be called once the window is there."""
        self.process.start()
        self._look()
        self.checkpoints.refresh()
        self.gallery.refresh()
        self.prompts.start()
        self._tell_what_was_left()

    def look_again(self) -> None:
        """The user comes back from elsewhere, where files may have been added."""
        self.checkpoints.refresh()
        self.gallery.refresh()

    def close(self) -> None:
        """Stop the engine; what waits in the queue is there at the next start. Takes up to 3 s."""
        self.process.stop()
        self.process.wait_until_stopped()
        self.queue.close()
        self.background.close()

    def _tell_what_was_left(self) -> None:
        if self._memory.problem is not None:
            self.notices.tell_error(self._memory.problem)
        for job in self.queue.jobs:
            self._tell_failure(job)
        waiting = self.waiting
        if waiting:
            self.notices.tell(
                self.tr("Continuing {n} pictures from last time.").format(n=waiting)
                if waiting > 1
                else self.tr("Continuing a picture from last time."),
                actions=(NoticeAction.CANCEL_ALL,),
            )

    def _tell_failure(self, job: Job) -> None:
        if job.state is JobState.FAILED and job.error is not None:
            self.notices.tell_error(job.error, job=job.id)

    # --- making pictures ---

    def generate(self, *, front: bool = False) -> None:
        """Put what the form says into the queue."""
        request = self.generation.build_request()
        try:
            ids = self.queue.submit(request, f"{self.output}{os.sep}", front=front)
        except EngineError as error:
            self.notices.tell_error(error.info)
            return
        self._newest = ids[0]
        self.view.follow()
        if self.engine_problem is not None:
            # Whoever asks for a picture wants an engine.
            self.start_again()

    def cancel(self) -> None:
        """Stop the running job, or where none runs drop the one that would be next."""
        job = self.queue.running or self.queue.first_waiting
        # A job that was submitted a moment ago is not in the list yet.
        name = job.id if job is not None else self._newest
        if name:
            self.progress.stop()
            self.queue.cancel(name)

    def cancel_all(self) -> None:
        """Stop the running job and empty the queue."""
        self.progress.stop()
        self.queue.cancel_all()

    @property
    def is_live(self) -> bool:
        """Whether the canvas follows a job that is running."""
        return self.view.live and self.progress.job is not None

    @property
    def waiting(self) -> int:
        """Jobs that have not begun."""
        return sum(job.state is JobState.WAITING for job in self.queue.jobs)

    # --- the engine ---

    def force_stop(self) -> None:
        """End the engine's process whatever it does; it starts again."""
        self.client.force_stop()

    def start_again(self) -> None:
        """Try the engine again after it was given up."""
        self.engine_problem = None
        self.client.start_engine()

    # --- files ---

    def open_path(self, path: Path) -> None:
        """What a person dropped or opened: a picture gives its settings, all else is a checkpoint.

        Nothing is copied.
        """
        if is_picture(path):
            self.use_settings(path)
        else:
            self.open_checkpoint(path)

    def open_checkpoint(self, path: Path) -> None:
        """Use a checkpoint where it lies."""
        self.checkpoints.add(path)
        self.generation.checkpoint = path

    def say(self, words: CheckpointWords) -> None:
        """Take a person's word for what the chosen checkpoint is, now and whenever it is chosen."""
        self._memory.keep(self.generation.checkpoint, words)
        self.generation.words = words

    def use_settings(self, path: Path) -> None:
        """Fill the form from a picture's metadata, read off this thread."""
        starter = self.checkpoints.starter
        answer = self.checkpoints.answer(starter)
        digest = answer.digest if isinstance(answer, CheckpointInfo) else None
        self.background.run(lambda: read_settings(path, starter, digest), self._on_settings)

    def paint_within(self, make_png: Callable[[], bytes]) -> None:
        """Paint within a mask once it is made and kept, off this thread."""
        self.background.run(lambda: keep_mask(self._masks, make_png()), self._on_mask_kept)

    def trash(self, path: str) -> None:
        """Move a picture to the system's trash."""

        following = self._neighbour(path)
        if path == self.view.path:
            self.view.path = following

        self.background.run(lambda: move_to_trash(path), self._on_trashed)

    def undo_trash(self, trash_path: str, path: str) -> None:
        """Put a picture back where it was."""
        self.background.run(
            lambda: restore(trash_path, path),
            lambda restored: self._on_restored(path, restored=restored),
        )

    def act(self, notice: Notice, action: NoticeAction) -> None:
        """Do what a notice offers, where that needs no choice, and take it away."""
        self.notices.dismiss(notice.number)
        match action:
            case NoticeAction.RETRY:
                self.retries.again(notice)
            case NoticeAction.RETRY_SMALLER:
                self.retries.smaller(notice)
            case NoticeAction.CHECK_DEVICES:
                self.devices.check_again()
            case NoticeAction.UNDO_TRASH:
                self.undo_trash(*notice.subjects)
            case NoticeAction.CANCEL_ALL:
                self.cancel_all()
            case _:
                pass

    def save_elsewhere(self, notice: Notice, folder: Path) -> None:
        """Save pictures to another folder from now on, first the one that could not be saved."""
        self.notices.dismiss(notice.number)
        self.output = folder
        self.gallery.open(folder)
        self.retries.elsewhere(notice, folder)

    def _neighbour(self, path: str) -> str | None:
        """The picture to look at when this one is gone."""
        row = self.gallery.row_of(path)
        if row is None or len(self.gallery) < 2:
            return None
        return self.gallery[row + 1 if row + 1 < len(self.gallery) else row - 1].path

    def _on_trashed(self, trashed: Trashed) -> None:
        self.gallery.refresh()
        name = Path(trashed.path).name
        if trashed.moved:
            undo = (NoticeAction.UNDO_TRASH,) if trashed.trash_path else ()
            self.notices.tell(
                self.tr("{name} is in the trash.").format(name=name),
                actions=undo,
                subjects=(trashed.trash_path, trashed.path),
            )
        else:
            self.notices.tell_error(
                ErrorInfo(
                    ErrorCode.OUTPUT_NOT_WRITABLE,
                    self.tr("{name} could not be moved to the trash.").format(name=name),
                    self.tr("Delete it in the file manager; this folder may have no trash."),
                )
            )

    def _on_restored(self, path: str, *, restored: bool) -> None:
        self.gallery.refresh()
        if not restored:
            name = Path(path).name
            self.notices.tell(
                self.tr("{name} could not be put back.").format(name=name),
                self.tr("It is still in the trash of your system."),
            )

    def _on_settings(self, settings: PictureSettings | ErrorInfo) -> None:
        if isinstance(settings, ErrorInfo):
            self.notices.tell_error(settings)
            return
        if settings.request.checkpoint is not None:
            self.checkpoints.add(Path(settings.request.checkpoint))
        self.generation.load_request(settings_of(settings.request))
        if settings.remarks:
            self.notices.tell(
                self.tr("The picture's settings are in the form."), details=settings.remarks
            )

    def _on_mask_kept(self, kept: Path | ErrorInfo) -> None:
        if isinstance(kept, ErrorInfo):
            self.notices.tell_error(kept)
        else:
            self.generation.paint_within(str(kept))

    # --- what happens ---

    def _on_pictures_found(self) -> None:
        """Begin with the newest picture rather than with an empty canvas."""
        if self.view.path is None and not self.view.live and len(self.gallery) > 0:
            self.view.path = self.gallery[0].path

    def _on_engine_state(self, state: EngineState) -> None:
        self.engine_state = state
        if state is EngineState.READY:
            self.engine_problem = None

    def _on_engine_crashed(self, error: ErrorInfo) -> None:
        # Where it is given up, that is told instead.
        if self.client.engine_state is not EngineState.STOPPED:
            again = self.tr("It was started again.")
            hint = " ".join(filter(None, (again, error.hint)))
            self.notices.tell_error(msgspec.structs.replace(error, hint=hint))

    def _on_engine_gave_up(self, problem: ErrorInfo) -> None:
        self.engine_problem = problem

    def _on_job_warned(self, event: JobWarned) -> None:
        """At once: why this picture takes longer than the next one will, or one device failed."""
        if event.warning.code is ErrorCode.PREPARING:
            self.notices.tell(event.warning.message, event.warning.hint)
        elif event.warning.code in (ErrorCode.BACKEND_FAILED, ErrorCode.OUT_OF_MEMORY):
            self.notices.tell_error(event.warning)

    def _on_image_saved(self, event: ImageSaved) -> None:
        self.gallery.refresh_soon()
        self.view.on_saved(event.path)

    def _on_job_added(self, job: Job) -> None:
        if job.id == self._newest:
            # So that its seed can be seen, and kept.
            self.generation.seed = job.request.seed

    def _on_job_changed(self, job: Job) -> None:
        if job.state is JobState.RUNNING:
            if self.progress.job != job.id:
                self.progress.begin(job.id)
            return
        self.progress.end(job.id)
        self._tell_failure(job)
        answer = self.checkpoints.answer(self.generation.checkpoint)
        if isinstance(answer, CheckpointInfo) and not answer.prediction_is_stated:
            # Its denoiser may have shown what it predicts.
            self._look()

    def _on_checkpoint_changed(self, path: Path) -> None:
        answer = self.checkpoints.answer(path)
        if isinstance(answer, CheckpointInfo):
            self.generation.suggest(answer)
        else:
            is_starter = path == self.checkpoints.starter
            self.generation.suggestions = STARTER_SUGGESTIONS if is_starter else COMMON_SUGGESTIONS
        before, self.generation.words = self.generation.words, self._memory.of(path)
        if before == self.generation.words:
            # Again even where it is known: the file may have changed.
            self._look()

    def _look(self) -> None:
        """Have the engine look at the chosen checkpoint, with its parts and as is said."""
        form = self.generation
        self._looked_with = form.components
        self.checkpoints.look(form.checkpoint, form.components, form.words.override)

    def _on_extras_changed(self) -> None:
        if self.generation.components != self._looked_with:
            self._look()

    def _on_looked(self, path: Path, answer: CheckpointInfo | ErrorInfo) -> None:
        if path == self.generation.checkpoint and isinstance(answer, CheckpointInfo):
            self.generation.suggest(answer)
