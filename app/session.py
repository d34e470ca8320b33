"""The application without pixels: what the window draws and what it can ask for, wired together."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.engine.client import EngineClient
from app.engine.device_state import DeviceState
from app.engine.process import EngineProcess, EngineState
from app.field import Field
from app.form.changes import FormChanges
from app.form.generation import COMMON_SUGGESTIONS, STARTER_SUGGESTIONS, GenerationState
from app.form.obstacle import ObstacleState
from app.form.prompt_state import PromptStates
from app.form.session_memory import SessionMemory
from app.library.checkpoint_store import CheckpointStore
from app.library.checkpoint_words import CheckpointMemory, CheckpointWords
from app.library.gallery import GalleryStore, is_picture
from app.library.picture_trash import PictureTrash
from app.notices.notices import Notice, NoticeState
from app.notices.remedies import OF_A_JOB, NoticeAction
from app.paths import Paths
from app.queue.job_queue import Job, JobQueue, JobState
from app.queue.making import Making
from app.queue.progress import ProgressState
from app.queue.retries import Retries
from app.view import ViewState
from engine.api.checkpoints import CheckpointInfo
from engine.api.messages import ImageSaved, JobWarned
from engine.api.values import ErrorCode, ErrorInfo


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
        self.process = process
        self.client = client
        self.queue = queue
        self.background = Background(2, self)
        self.generation = GenerationState(starter, self)
        self._said = CheckpointMemory(paths.state)
        self.generation.words = self._said.of(starter)
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
        self.memory = SessionMemory(paths.state, self.generation, self.checkpoints, self)
        self._suggest(self.generation.checkpoint)
        self._looked_with = self.generation.components
        self._add_doers(paths)
        self._connect()

    def _add_doers(self, paths: Paths) -> None:
        """What does things with the state."""
        self.changes = FormChanges(
            self.generation,
            self.checkpoints,
            self.notices,
            self.background,
            paths.state / "masks",
            self,
        )
        self.obstacle = ObstacleState(self.generation, self.checkpoints, self.background, self)
        self.trash = PictureTrash(self.gallery, self.view, self.notices, self.background, self)
        self.making = Making(
            self.generation,
            self.checkpoints,
            self.queue,
            self.gallery,
            self.view,
            self.notices,
            self.background,
            lambda: self.output,
            self,
        )

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
        self.making.submitted.connect(self._on_submitted)
        queue.journal_failed.connect(self.notices.tell_error)
        queue.job_changed.connect(self._on_job_changed)
        self.background.failed.connect(self.notices.tell_error)
        self.generation.checkpoint_changed.connect(self._on_checkpoint_changed)
        self.generation.words_changed.connect(self._look)
        self.generation.extras_changed.connect(self._on_extras_changed)
        self.memory.failed.connect(self.notices.tell_error)
        self.checkpoints.looked.connect(self._on_looked)
        self.checkpoints.changed.connect(self._on_checkpoints)

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
        """The user comes back from elsewhere, where files may have been added, or taken away."""
        self.checkpoints.refresh()
        self.gallery.refresh()
        self.obstacle.look_again()
        if isinstance(self.checkpoints.answer(self.generation.checkpoint), ErrorInfo):
            # It may have been mended.
            self._look()

    def close(self) -> None:
        """Stop the engine; what waits in the queue is there at the next start. Takes up to 3 s."""
        self.memory.close()
        self.process.stop()
        self.process.wait_until_stopped()
        self.queue.close()
        self.background.close()

    def _tell_what_was_left(self) -> None:
        for problem in filter(None, (self._said.problem, self.memory.problem)):
            self.notices.tell_error(problem)
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

    def generate(self, *, front: bool = False, again: bool = False) -> None:
        """Put what the form says into the queue; with `again` also where that picture exists."""
        obstacle = self.obstacle.found
        if obstacle is not None:
            self.notices.tell_error(obstacle)
            # It may have been mended meanwhile.
            self.look_again()
            return
        self.making.generate(front=front, again=again)

    def cancel(self) -> None:
        """Stop the running job, or where none runs drop the one that would be next."""
        if self.making.withdraw():
            return
        job = self.queue.running or self.queue.first_waiting
        # A job that was submitted a moment ago is not in the list yet.
        name = job.id if job is not None else self.making.newest
        if name:
            self.progress.stop()
            self.queue.cancel(name)

    def cancel_all(self) -> None:
        """Stop the running job and empty the queue."""
        self.making.withdraw()
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
            self.changes.use_settings(path)
        else:
            self.open_checkpoint(path)

    def open_checkpoint(self, path: Path) -> None:
        """Use a checkpoint where it lies."""
        self.checkpoints.add(path)
        self.generation.checkpoint = path

    def say(self, words: CheckpointWords) -> None:
        """Take a person's word for what the chosen checkpoint is, now and whenever it is chosen."""
        self._said.keep(self.generation.checkpoint, words)
        self.generation.words = words

    def dismiss(self, notice: Notice) -> None:
        """The user has read it: of jobs that failed nothing is told again, at no later start."""
        self.notices.dismiss(notice.number)
        if notice.error is not None:
            for job in notice.subjects:
                self.queue.dismiss(job)

    def act(self, notice: Notice, action: NoticeAction) -> None:
        """Do what a notice offers, where that needs no choice, and take it away."""
        if action in OF_A_JOB:
            self.notices.dismiss(notice.number)
        else:
            self.dismiss(notice)
        match action:
            case NoticeAction.RETRY:
                self.retries.again(notice)
            case NoticeAction.RETRY_SMALLER:
                self.retries.smaller(notice)
            case NoticeAction.CHECK_DEVICES:
                self.devices.check_again()
            case NoticeAction.UNDO_CHANGE if notice.before is not None:
                self.changes.undo(notice.before)
            case NoticeAction.MAKE_AGAIN:
                self.generate(again=True)
            case NoticeAction.UNDO_TRASH:
                self.trash.undo(*notice.subjects)
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

    def _on_submitted(self) -> None:
        if self.engine_problem is not None:
            # Whoever asks for a picture wants an engine.
            self.start_again()

    def _on_job_added(self, job: Job) -> None:
        if job.id == self.making.newest:
            # So that its seed can be seen, and kept.
            self.generation.seed = job.request.seed

    def _on_job_changed(self, job: Job) -> None:
        if job.state is JobState.RUNNING:
            if self.progress.job != job.id:
                self.progress.begin(job.id)
            return
        self.progress.end(job.id)
        self._tell_failure(job)
        if job.error is not None and job.error.code is ErrorCode.CHECKPOINT_NOT_FOUND:
            # Perhaps the chosen one: then that is said where it is chosen, too.
            self.checkpoints.refresh()
        answer = self.checkpoints.answer(self.generation.checkpoint)
        if isinstance(answer, CheckpointInfo) and not answer.prediction_is_stated:
            # Its denoiser may have shown what it predicts.
            self._look()

    def _on_checkpoint_changed(self, path: Path) -> None:
        self.checkpoints.chosen = path
        self._suggest(path)
        before, self.generation.words = self.generation.words, self._said.of(path)
        if before == self.generation.words:
            # Again even where it is known: the file may have changed.
            self._look()

    def _suggest(self, path: Path) -> None:
        answer = self.checkpoints.answer(path)
        if isinstance(answer, CheckpointInfo):
            self.generation.suggest(answer)
        else:
            is_starter = path == self.checkpoints.starter
            self.generation.suggestions = STARTER_SUGGESTIONS if is_starter else COMMON_SUGGESTIONS

    def _on_checkpoints(self) -> None:
        """The chosen one may have gone, or have come back."""
        path = self.generation.checkpoint
        answer = self.checkpoints.answer(path)
        if self.checkpoints.is_gone(path) != isinstance(answer, ErrorInfo) and answer is not None:
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
