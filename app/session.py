"""The application without widgets: its state and its commands, wired together."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from app.background import Background
from app.commands.announcements import Announcements
from app.commands.checkpoints import CheckpointCommands
from app.commands.downloads import DownloadCommands
from app.commands.embeddings import EmbeddingCommands
from app.commands.first_picture import FirstPicture
from app.commands.jobs import JobCommands
from app.commands.layers import LayerCommands
from app.commands.loras import LoraCommands
from app.commands.model_rooms import ModelRooms
from app.commands.models import ModelCommands, Use
from app.commands.notices import NoticeCommands
from app.commands.opening import Opening
from app.commands.packs import PackCommands
from app.commands.picture_folders import PictureFolders
from app.commands.pictures import PictureCommands
from app.commands.presets import PresetCommands
from app.commands.prompts import PromptCommands
from app.commands.queue import QueueCommands
from app.commands.references import ReferenceCommands
from app.commands.retries import save_what_is_held
from app.commands.second_passes import SecondPassCommands
from app.commands.state import AppState
from app.commands.updates import UpdateCommands
from app.commands.upscales import UpscaleCommands
from app.downloads.contacts import Contacts, noting_terms
from app.downloads.site_keys import SiteKeys
from app.downloads.terms import USUAL_TERMS, Terms
from app.engine.cache_state import CacheState
from app.engine.client import EngineClient
from app.engine.device_state import DeviceState
from app.engine.process import EngineProcess
from app.engine.status import EngineStatus
from app.form.changes import FormChanges
from app.form.edited_pictures import EditedPictures
from app.form.embedding_list import EmbeddingList
from app.form.generation import GenerationState
from app.form.layer_kinds import CONTROL_LAYERS, IMAGE_PROMPTS, LayerKind
from app.form.layer_list import LayerList
from app.form.layer_maps import LayerMaps
from app.form.lora_list import LoraList
from app.form.map_previews import MapPreviews
from app.form.masks import MASKS, PASTED
from app.form.memory_outlook import OutlookState
from app.form.model_settings import ModelSettingsMemory
from app.form.obstacle import ObstacleState
from app.form.painting import Painting
from app.form.picture_time import PictureTime
from app.form.presets import PresetStore
from app.form.prompt_history import PromptHistory
from app.form.prompt_state import PromptStates
from app.form.session_memory import SessionMemory
from app.form.used_pictures import UsedPictures
from app.gallery.habits import GalleryHabits
from app.library.checkpoint_declarations import CheckpointMemory
from app.library.checkpoint_store import CheckpointStore
from app.library.disk_room import DiskRoom
from app.library.embedding_store import EmbeddingStore
from app.library.lora_memory import LoraMemory
from app.library.lora_store import LoraStore
from app.library.making_times import MakingTimes
from app.library.output_pictures import OutputPictures
from app.library.upscale_outlooks import UpscaleOutlooks
from app.library.wildcards import WildcardStore
from app.notices.notices import NoticeState
from app.paths import Paths
from app.queue.batch import Batch
from app.queue.job_queue import JobQueue
from app.queue.jobs import Job, JobState
from app.queue.pace import Pace
from app.queue.progress import ProgressState
from app.settings_state import SettingsState
from app.updates.running import RunningVersion
from app.updates.updates import Updates
from app.versions.trees import own_tree
from app.view import ViewState
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.values import ErrorCode

if TYPE_CHECKING:
    from app.gallery.index import GalleryIndex


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
        self._paths = paths
        self._site_keys = SiteKeys(paths.state)
        terms = msgspec.structs.replace(terms, key_of=self._site_keys.of)
        self._terms = noting_terms(paths.state, terms)
        self.contacts, self.logs = Contacts(paths.state), paths.logs
        self.state_folder = paths.state
        self.settings = SettingsState(paths.config, self)
        self.background = Background(2, self)
        self.engine = EngineStatus(client, self)
        self.devices = DeviceState(client, self)
        self.generation = GenerationState(starter, self)
        self._add_stores(starter)
        self.progress = ProgressState(parent=self)
        self.batch = Batch(queue, self)
        self.notices = NoticeState(self)
        self.view = ViewState(self)
        self.downloads = DownloadCommands(paths.state, self, self._terms)
        self._add_memories()
        self._add_form_state()
        self._add_commands()
        self._connect()
        self._use_settings()

    def _add_stores(self, starter: Path) -> None:
        paths = self._paths
        self._lora_memory = LoraMemory(paths.state)
        self.checkpoints = CheckpointStore(
            self.client,
            self.background,
            models=paths.models,
            starter=starter,
            folders=lambda: self._lora_memory.folders,
            parent=self,
        )
        self.loras = LoraStore(self.client, self._lora_memory, self.background, paths.loras, self)
        self.embeddings = EmbeddingStore(self.client, self.loras, self)
        self.wildcards = WildcardStore(paths.wildcards, self.background, self)
        self.output_pictures = OutputPictures(paths.output, self.background, self)
        self.gallery_habits = GalleryHabits(paths.state)

    def _add_memories(self) -> None:
        paths, starter = self._paths, self.checkpoints.starter
        self.making_times = MakingTimes(self.client, self)
        self.pace = Pace(
            self.client,
            paths.state,
            self.checkpoints.features,
            self,
            parameters_of=self._parameters_of,
        )
        self._checkpoint_memory = CheckpointMemory(paths.state)
        # Before SessionMemory restores the last session, which has a declaration of its own.
        self.generation.declaration = self._checkpoint_memory.of(starter)
        self.memory = SessionMemory(paths.state, self.generation, self.checkpoints, self)
        self._model_settings = ModelSettingsMemory(paths.state, self.generation, starter, self)
        self._presets = PresetStore(paths.state, self)
        self._history = PromptHistory(paths.state, parent=self)
        # Those below are written at every change, and at the end where a disk was full.
        self._stores = (self._checkpoint_memory, self._lora_memory, self.gallery_habits)
        # Files that are written soon after things change, and at the end.
        self._kept = (
            self.settings,
            self.memory,
            self._model_settings,
            self._presets,
            self._history,
        )

    def _parameters_of(self, path: str) -> float | None:
        """Return the parameters that a file's network uses in each step, if they are known."""
        known = self.checkpoints.parameters(path)
        if known is not None:
            return known
        info = self.models.store.info(path)
        return None if info is None else info.step_parameters

    def _add_form_state(self) -> None:
        form, checkpoints = self.generation, self.checkpoints
        form.features_of_file = checkpoints.features
        self.prompts = PromptStates(self.client, form, checkpoints, self.embeddings, self)
        self.obstacle = ObstacleState(form, checkpoints, self.background, self)
        self.lora_list = LoraList(form, self.loras, checkpoints, self)
        self.embedding_list = EmbeddingList(form, self.embeddings, checkpoints, self)
        self.cache = CacheState(self.client, self)
        self.outlook = OutlookState(self.client, form, self.devices, self)
        self.upscale_outlooks = UpscaleOutlooks(self.client, self)
        self.maps = MapPreviews(self.client, self)
        self.edited = EditedPictures(form, self.background, self)
        self.control_maps = LayerMaps(form, self.maps, self.edited, self)
        self.disk = DiskRoom(self._paths.output, self.background, self)
        self._folders = PictureFolders(
            self._paths, self.settings, self.output_pictures, self.disk, self.notices, self
        )
        self.picture_time = PictureTime(
            form, checkpoints, self.devices, self.pace, self._parameters_of, self
        )
        memories = self._model_settings, self._checkpoint_memory
        self.changes = FormChanges(
            form, checkpoints, *memories, self.notices, self.background, self
        )

    def _add_commands(self) -> None:
        paths, state = self._paths, self._app_state()
        self.presets = PresetCommands(state, self._presets, self)
        self.earlier = PromptCommands(state, self._history, self)
        self.painting = Painting(
            self.generation, self.notices, self.background, paths.state / MASKS, self
        )
        self._add_queue(state)
        self.pictures = PictureCommands(state, paths.state / PASTED, self)
        self.checkpoint = CheckpointCommands(state, self._checkpoint_memory, self)
        self.lora = LoraCommands(state, self.loras, self.lora_list, self)
        self.embedding = EmbeddingCommands(state, self.embeddings, self)
        self.references = ReferenceCommands(state, self)
        self._add_models(state)
        self.packs = PackCommands(state, self.devices, self.downloads, paths, self._terms, self)
        self.remedies = NoticeCommands(
            state,
            self.jobs,
            self.jobs_in_queue,
            self.checkpoint,
            self.devices,
            self._folders.save_in,
        )
        self._add_updates(state)
        self._announcements = Announcements(state, self.jobs, self)

    def _app_state(self) -> AppState:
        """Return the objects that most commands act on."""
        return AppState(
            background=self.background,
            client=self.client,
            engine=self.engine,
            queue=self.queue,
            progress=self.progress,
            form=self.generation,
            changes=self.changes,
            checkpoints=self.checkpoints,
            output_pictures=self.output_pictures,
            view=self.view,
            notices=self.notices,
        )

    def _add_queue(self, state: AppState) -> None:
        self._used = UsedPictures(self._paths.state)
        self._used.note(*self.queue.jobs)
        self.queue.job_added.connect(self._used.note)
        self.jobs = JobCommands(state, self.obstacle, self.painting, self)
        self.first_picture = FirstPicture(self.changes, self.jobs, self)
        self.jobs_in_queue = QueueCommands(
            state, self.pace, self.devices, self.upscale_outlooks, self
        )

    def _add_updates(self, state: AppState) -> None:
        paths, tree = self._paths, own_tree()
        updates = Updates(paths.versions, paths.state, tree, terms=self._terms)
        self.updates = UpdateCommands(updates, RunningVersion(paths.versions, tree), state, self)

    def _add_models(self, state: AppState) -> None:
        self.opening = Opening(state, self.loras, self.pictures, self.checkpoint, self.lora, self)
        self.models = ModelRooms(
            self._paths, state, self.loras, self.downloads, self._site_keys, self._terms, self
        )
        self.upscales = UpscaleCommands(
            state, self.models.store, self.upscale_outlooks, self.pictures.to_trash, self
        )
        self.control_list, self.control = self._layers(CONTROL_LAYERS, state)
        self.image_prompt_list, self.image_prompt = self._layers(IMAGE_PROMPTS, state)
        self.second_pass = SecondPassCommands(state, self)
        self.model = ModelCommands(
            state,
            self.models,
            self._checkpoint_memory,
            self.checkpoint,
            self._uses(),
            self,
        )
        self.opening.use_model = self.model.use

    def _uses(self) -> dict[ModelKind, Use]:
        """Return what is done with the user's models that are no checkpoints and no parts."""

        def use_upscaler(model: ModelInfo) -> None:
            self.upscales.latest = model.path
            self.second_pass.use_upscaler(model)

        return {
            ModelKind.LORA: lambda model: self.lora.open(Path(model.path)),
            ModelKind.EMBEDDING: self.opening.use_embedding,
            ModelKind.CONTROLNET: self.control.use_model,
            ModelKind.IP_ADAPTER: self.image_prompt.use_model,
            ModelKind.VISION_ENCODER: self.image_prompt.use_encoder,
            ModelKind.UPSCALER: use_upscaler,
        }

    def _layers(self, kind: LayerKind, state: AppState) -> tuple[LayerList, LayerCommands]:
        """Return the list of a kind of layer, and the commands for it."""
        layers = LayerList(
            kind,
            self.generation,
            self.models.store,
            self.checkpoints,
            self.models.moved,
            self.lora_list,
            self,
        )
        return layers, LayerCommands(state, layers, self)

    def _connect(self) -> None:
        self.client.job_phase.connect(self.progress.on_phase)
        self.client.job_progress.connect(self.progress.on_progress)
        self.client.job_preview.connect(self.progress.on_preview)
        self.progress.ended.connect(self.checkpoint.inspect_prediction)
        self.models.store.changed.connect(self.picture_time.look_again)
        self.queue.job_changed.connect(self._on_job_changed)
        for kept in (*self._kept, self.pace):
            kept.failed.connect(self.notices.tell_error)
        self.settings.changed.connect(self._use_settings)
        self.wildcards.failed.connect(self.notices.tell_error)
        self.cache.failed.connect(self.notices.tell_error)
        self.wildcards.changed.connect(self.prompts.look_again)
        self.jobs.refused.connect(self.look_again)
        trash = self.pictures.to_trash
        trash.trashed.connect(self.batch.on_trashed)
        trash.restored.connect(self.batch.on_restored)

    def start(self) -> None:
        """Start the engine and read the folders; call it once the window is shown."""
        # First, so that the engine starts with the user's folders.
        self.loras.refresh()
        self.process.start()
        self.checkpoint.inspect()
        self.checkpoints.refresh()
        self.output_pictures.refresh()
        self.wildcards.refresh()
        for layers in (self.control_list, self.image_prompt_list):
            layers.start()
        self.disk.refresh()
        self.prompts.start()
        self.downloads.start()
        self.packs.start()
        stores = (*self._stores, *self._kept, *self.models.memories)
        memories = (*stores, self.downloads, self.packs)
        self._announcements.tell_what_was_left(*(memory.problem for memory in memories))
        self.updates.start()
        self.background.run(self._used.remove_unused, lambda _: None)

    @property
    def gallery_index(self) -> "GalleryIndex":
        """The pictures of all folders, which are opened, and made, by the first who asks."""
        return self._folders.index

    def look_again(self) -> None:
        """Read folders and files again, which the user may have changed in another program."""
        self.settings.look_again()
        self._folders.look_again()
        of_form = (self.obstacle, self.checkpoint, self.edited, self.control_maps, self.lora_list)
        for files in (*of_form, self.models.moved):
            files.look_again()
        self.wildcards.refresh()

    def open_file(self, path: Path) -> None:
        """Open a file that was dropped or chosen, as the kind of file it is."""
        self.opening.open(path)

    def close(self) -> None:
        """Stop the engine; waiting jobs are kept for the next start. Takes up to 3 s."""
        for kept in (*self._kept, *self._stores, *self.models.memories, self.pace):
            kept.close()
        self.updates.close()
        self.models.getting.close()
        self.process.stop()
        self.process.wait_until_stopped()
        save_what_is_held(self.queue)
        self.queue.close()
        self.packs.close()
        self.downloads.close()
        self._folders.close()
        self.background.close()

    def _use_settings(self, *_: object) -> None:
        """Have the next pictures made as the settings say."""
        now = self.settings.now
        self.client.saving, self.client.previews = now.saving, now.previews

    def _on_job_changed(self, job: Job) -> None:
        if job.state is JobState.RUNNING:
            if self.progress.job != job.id:
                self.progress.begin(job.id, self.jobs_in_queue.pass_steps(job.request))
            return
        self.progress.end(job.id)
        if job.error is not None and job.error.code is ErrorCode.CHECKPOINT_NOT_FOUND:
            # Then the list of checkpoints shows the chosen one as missing, too.
            self.checkpoints.refresh()
