"""The application without widgets: its state and its commands, wired together."""

from pathlib import Path

from PySide6.QtCore import QObject

from app.background import Background
from app.commands.announcements import Announcements
from app.commands.checkpoints import CheckpointCommands
from app.commands.downloads import DownloadCommands
from app.commands.jobs import JobCommands
from app.commands.loras import LoraCommands
from app.commands.opening import Opening
from app.commands.packs import PackCommands
from app.commands.pictures import PictureCommands
from app.commands.remedies import NoticeCommands
from app.commands.state import AppState
from app.commands.updates import UpdateCommands
from app.downloads.terms import USUAL_TERMS, Terms
from app.engine.client import EngineClient
from app.engine.device_state import DeviceState
from app.engine.process import EngineProcess
from app.engine.status import EngineStatus
from app.form.changes import FormChanges
from app.form.generation import GenerationState
from app.form.lora_list import LoraList
from app.form.obstacle import ObstacleState
from app.form.prompt_state import PromptStates
from app.form.session_memory import SessionMemory
from app.library.checkpoint_declarations import CheckpointMemory
from app.library.checkpoint_store import CheckpointStore
from app.library.gallery import GalleryStore
from app.library.lora_memory import LoraMemory
from app.library.lora_store import LoraStore
from app.notices.notices import NoticeState
from app.paths import Paths
from app.queue.job_queue import Job, JobQueue, JobState
from app.queue.progress import ProgressState
from app.updates.running import RunningVersion
from app.updates.updates import Updates
from app.versions.trees import own_tree
from app.view import ViewState
from engine.api.values import ErrorCode


class Session(QObject):
    """The long-lived objects of the window, which draws their state and calls their commands."""

    def __init__(
        self,
        paths: Paths,
        starter: Path,
        process: EngineProcess,
        client: EngineClient,
        queue: JobQueue,
        parent: QObject | None = None,
        terms: Terms = USUAL_TERMS,
    ) -> None:
        super().__init__(parent)
        self.process, self.client, self.queue = process, client, queue
        self.background = Background(2, self)
        self.engine = EngineStatus(client, self)
        self.devices = DeviceState(client, self)
        self.generation = GenerationState(starter, self)
        self.checkpoints = CheckpointStore(
            client, self.background, models=paths.models, starter=starter, parent=self
        )
        self._lora_memory = LoraMemory(paths.state)
        self.loras = LoraStore(client, self._lora_memory, paths.loras, self)
        self.gallery = GalleryStore(paths.output, self.background, self)
        self.progress = ProgressState(parent=self)
        self.notices = NoticeState(self)
        self.view = ViewState(self)
        self.downloads = DownloadCommands(paths.state, self, terms)
        self._checkpoint_memory = CheckpointMemory(paths.state)
        # Before SessionMemory restores the last session, which has a declaration of its own.
        self.generation.declaration = self._checkpoint_memory.of(starter)
        self.memory = SessionMemory(paths.state, self.generation, self.checkpoints, self)
        self.prompts = PromptStates(client, self.generation, self.checkpoints, self)
        self.obstacle = ObstacleState(self.generation, self.checkpoints, self.background, self)
        self.lora_list = LoraList(self.generation, self.loras, self.checkpoints, self)
        self._add_commands(paths, terms)
        self._connect()

    def _add_commands(self, paths: Paths, terms: Terms) -> None:
        state = AppState(
            background=self.background,
            client=self.client,
            engine=self.engine,
            queue=self.queue,
            progress=self.progress,
            form=self.generation,
            checkpoints=self.checkpoints,
            gallery=self.gallery,
            view=self.view,
            notices=self.notices,
        )
        masks = paths.state / "masks"
        self.changes = FormChanges(
            self.generation, self.checkpoints, self.notices, self.background, masks, self
        )
        self.jobs = JobCommands(state, self.obstacle, self)
        self.pictures = PictureCommands(state, self.changes, self)
        self.checkpoint = CheckpointCommands(state, self._checkpoint_memory, self)
        self.lora = LoraCommands(state, self.loras, self.lora_list, self.changes, self)
        self.opening = Opening(state, self.loras, self.pictures, self.checkpoint, self.lora, self)
        self.packs = PackCommands(state, self.devices, self.downloads, paths, terms, self)
        self.remedies = NoticeCommands(state, self.jobs, self.devices)
        tree = own_tree()
        updates = Updates(paths.versions, paths.state, tree)
        self.updates = UpdateCommands(updates, RunningVersion(paths.versions, tree), state, self)
        self._announcements = Announcements(state, self.jobs, self)

    def _connect(self) -> None:
        self.client.job_phase.connect(self.progress.on_phase)
        self.client.job_progress.connect(self.progress.on_progress)
        self.client.job_preview.connect(self.progress.on_preview)
        self.queue.job_changed.connect(self._on_job_changed)
        self.memory.failed.connect(self.notices.tell_error)
        self.jobs.refused.connect(self.look_again)

    def start(self) -> None:
        """Start the engine and read the folders; call it once the window is shown."""
        # First, so that the engine starts with the user's folders.
        self.loras.refresh()
        self.process.start()
        self.checkpoint.inspect()
        self.checkpoints.refresh()
        self.gallery.refresh()
        self.prompts.start()
        self.downloads.start()
        self.packs.start()
        stores = (self._checkpoint_memory, self._lora_memory, self.memory)
        memories = (*stores, self.downloads, self.packs)
        self._announcements.tell_what_was_left(*(memory.problem for memory in memories))
        self.updates.start()

    def look_again(self) -> None:
        """Read folders and files again, which the user may have changed in another program."""
        self.gallery.refresh()
        self.obstacle.look_again()
        self.checkpoint.look_again()
        self.lora_list.look_again()

    def open_file(self, path: Path) -> None:
        """Open a file that was dropped or chosen, as the kind of file it is."""
        self.opening.open(path)

    def close(self) -> None:
        """Stop the engine; waiting jobs are kept for the next start. Takes up to 3 s."""
        self.memory.close()
        self.updates.close()
        self.process.stop()
        self.process.wait_until_stopped()
        self.queue.close()
        self.packs.close()
        self.downloads.close()
        self.background.close()

    def _on_job_changed(self, job: Job) -> None:
        if job.state is JobState.RUNNING:
            if self.progress.job != job.id:
                self.progress.begin(job.id)
            return
        self.progress.end(job.id)
        if job.error is not None and job.error.code is ErrorCode.CHECKPOINT_NOT_FOUND:
            # Then the list of checkpoints shows the chosen one as missing, too.
            self.checkpoints.refresh()
        self.checkpoint.inspect_prediction()
