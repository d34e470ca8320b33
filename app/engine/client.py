"""The engine as the app sees it: a method for each command, a signal for each event."""

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from app.engine.end import EngineEnd
from app.engine.process import EngineProcess, EngineState
from engine.api.embedding_messages import DescribeEmbeddings, EmbeddingsDescribed
from engine.api.machine_messages import CacheRebuilding, RebuildCache
from engine.api.map_messages import CancelMap, MakeMap, MapMade
from engine.api.messages import (
    Answer,
    CacheListed,
    CancelJob,
    CheckpointHashed,
    CheckpointInspected,
    CheckPrompt,
    ClearCache,
    DevicesFound,
    Event,
    FamiliesKnown,
    ImageSaved,
    InspectCheckpoint,
    InspectLora,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPhase,
    JobPlanned,
    JobPreview,
    JobProgress,
    JobWarned,
    ListCache,
    ListLoras,
    LoraInspected,
    LorasFound,
    LorasListed,
    PictureUnsaved,
    PlanJob,
    PromptChecked,
    Query,
    QueryFailed,
    RunJob,
    ScanDevices,
    VerifyDevices,
)
from engine.api.model_messages import (
    DescribeModel,
    FindModel,
    HashModel,
    ListModels,
    ModelFound,
    ModelHashed,
    ModelHashing,
    ModelsFound,
    ModelsListed,
)
from engine.api.preprocessors import MapOptions, MapTarget
from engine.api.prompts import PromptQuestion
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles, GenerateRequest
from engine.api.saving import Saving
from engine.api.upscale_messages import ImageUpscaled, PlanUpscale, RunUpscale, UpscalePlanned
from engine.api.upscaling import UpscaleRequest
from engine.api.values import ErrorInfo
from engine.errors import Cancelled, EngineError


class EngineClient(QObject):
    """The engine's commands as methods, and its events as typed signals.

    A query returns its number. It may be sent at any time and waits for an engine that is ready.
    Each query gets an answer: `query_failed` if the engine ends before it answers or is given up.
    """

    # Each carries the event; `job_preview` and `picture_unsaved` also the payload.
    families_known = Signal(object)
    devices_found = Signal(object)
    checkpoint_inspected = Signal(object)
    checkpoint_hashed = Signal(object)
    prompt_checked = Signal(object)
    loras_found = Signal(object)
    loras_listed = Signal(object)
    lora_inspected = Signal(object)
    embeddings_described = Signal(object)
    models_found = Signal(object)
    models_listed = Signal(object)
    model_hashed = Signal(object)
    model_found = Signal(object)
    model_hashing = Signal(object)
    cache_listed = Signal(object)
    cache_rebuilding = Signal(object)
    job_planned = Signal(object)
    map_made = Signal(object)
    job_phase = Signal(object)
    job_progress = Signal(object)
    job_warned = Signal(object)
    job_preview = Signal(object, object)
    picture_unsaved = Signal(object, object)
    image_saved = Signal(object)
    image_upscaled = Signal(object)
    upscale_planned = Signal(object)
    job_finished = Signal(object)
    job_cancelled = Signal(object)
    job_failed = Signal(object)
    query_failed = Signal(object)

    # EngineState
    engine_state_changed = Signal(object)
    # EngineEnd: the process has ended, on request or not; none of its events follows
    engine_ended = Signal(object)
    # ErrorInfo: the process ended without a request
    engine_crashed = Signal(object)
    # ErrorInfo: the engine will not be restarted automatically
    engine_gave_up = Signal(object)

    def __init__(self, process: EngineProcess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process = process
        # How the pictures of the next jobs are written, and whether they are shown meanwhile.
        self.saving, self.previews = Saving(), True
        self._last_query = 0
        # Queries the engine has not been sent yet, and those it has not answered.
        self._waiting: dict[int, Query] = {}
        self._asked: set[int] = set()
        self._signals = self._by_event()
        process.received.connect(self._on_received)
        process.state_changed.connect(self._on_state_changed)
        process.ended.connect(self._on_ended)
        process.crashed.connect(self.engine_crashed)
        process.gave_up.connect(self._on_gave_up)

    def _by_event(self) -> dict[type[Event], SignalInstance]:
        return {
            FamiliesKnown: self.families_known,
            DevicesFound: self.devices_found,
            CheckpointInspected: self.checkpoint_inspected,
            CheckpointHashed: self.checkpoint_hashed,
            PromptChecked: self.prompt_checked,
            LorasFound: self.loras_found,
            LorasListed: self.loras_listed,
            LoraInspected: self.lora_inspected,
            EmbeddingsDescribed: self.embeddings_described,
            ModelsFound: self.models_found,
            ModelsListed: self.models_listed,
            ModelHashed: self.model_hashed,
            ModelFound: self.model_found,
            ModelHashing: self.model_hashing,
            CacheListed: self.cache_listed,
            CacheRebuilding: self.cache_rebuilding,
            JobPlanned: self.job_planned,
            MapMade: self.map_made,
            JobPhase: self.job_phase,
            JobProgress: self.job_progress,
            JobWarned: self.job_warned,
            ImageSaved: self.image_saved,
            ImageUpscaled: self.image_upscaled,
            UpscalePlanned: self.upscale_planned,
            JobFinished: self.job_finished,
            JobCancelled: self.job_cancelled,
            JobFailed: self.job_failed,
            QueryFailed: self.query_failed,
        }

    @property
    def engine_state(self) -> EngineState:
        """The state of the engine."""
        return self._process.state

    @property
    def pack_problems(self) -> tuple[str, ...]:
        """Sentences on active runtime packs that the present engine runs without."""
        hello = self._process.hello
        return hello.pack_problems if hello is not None else ()

    def run_job(self, job_id: str, request: GenerateRequest | UpscaleRequest, folder: Path) -> bool:
        """Have pictures made, or made larger, into a folder; return False if no engine takes it.

        Raises EngineError(REQUEST_INVALID) for a request that is too long to be sent.
        """
        if isinstance(request, UpscaleRequest):
            return self._process.send(
                RunUpscale(job=job_id, request=request, folder=str(folder), saving=self.saving)
            )
        return self._process.send(
            RunJob(
                job=job_id,
                request=request,
                folder=str(folder),
                saving=self.saving,
                previews=self.previews,
            )
        )

    def cancel_job(self, job_id: str) -> bool:
        """Ask the engine to stop a job; return False if there is no engine."""
        return self._process.send(CancelJob(job=job_id))

    def inspect_checkpoint(
        self,
        path: str,
        components: ComponentFiles | None = None,
        override: CheckpointOverride = NO_OVERRIDE,
        *,
        will_be_used: bool = True,
    ) -> int:
        """Ask what a file or folder is; `checkpoint_inspected` answers."""
        return self._ask(
            lambda query: InspectCheckpoint(
                query=query,
                path=path,
                components=components or ComponentFiles(),
                override=override,
                will_be_used=will_be_used,
            ),
        )

    def check_prompt(self, question: PromptQuestion) -> int:
        """Ask for a check of a prompt; `prompt_checked` answers."""
        return self._ask(lambda query: CheckPrompt(query=query, question=question))

    def list_loras(self, folders: Iterable[str]) -> int:
        """Ask for the LoRA files in the usual folders and in these; jobs look there, too.

        `loras_found` carries them, `loras_listed` answers.
        """
        wanted = tuple(folders)
        self._process.use_lora_folders(wanted)
        return self._ask(lambda query: ListLoras(query=query, folders=wanted))

    def inspect_lora(self, path: str) -> int:
        """Ask for the description of a file that may be a LoRA; `lora_inspected` answers."""
        return self._ask(lambda query: InspectLora(query=query, path=path))

    def describe_embeddings(self, names: Iterable[str]) -> int:
        """Ask for the descriptions of embeddings by name; `embeddings_described` answers."""
        return self._ask(lambda query: DescribeEmbeddings(query=query, names=tuple(names)))

    def list_models(self, folders: Iterable[str]) -> int:
        """Ask for the files of weights in the folder of models and in these.

        `models_found` carries them, `models_listed` answers.
        """
        return self._ask(lambda query: ListModels(query=query, folders=tuple(folders)))

    def describe_model(self, path: str) -> int:
        """Ask what a file of weights is, wherever it lies; `models_found` answers."""
        return self._ask(lambda query: DescribeModel(query=query, path=path))

    def hash_model(self, path: str) -> int:
        """Ask for a file's SHA-256; `model_hashed` answers, or else `model_hashing` later."""
        return self._ask(lambda query: HashModel(query=query, path=path))

    def find_model(self, stated: str, digest: str) -> int:
        """Ask for the file that was at a path, by its digest; `model_found` answers."""
        return self._ask(lambda query: FindModel(query=query, stated=stated, digest=digest))

    def list_cache(self) -> int:
        """Ask for the artifacts in the cache; `cache_listed` answers."""
        return self._ask(lambda query: ListCache(query=query))

    def clear_cache(self, names: Iterable[str]) -> int:
        """Ask to delete artifacts by their names; `cache_listed` answers with what is left."""
        return self._ask(lambda query: ClearCache(query=query, names=tuple(names)))

    def rebuild_cache(self, names: Iterable[str], checkpoint: str) -> int:
        """Ask to prepare a checkpoint's networks anew; `cache_rebuilding`, then `cache_listed`."""
        return self._ask(
            lambda query: RebuildCache(query=query, names=tuple(names), checkpoint=checkpoint)
        )

    def plan_job(self, request: GenerateRequest) -> int:
        """Ask for the memory plan of a request; `job_planned` answers."""
        return self._ask(lambda query: PlanJob(query=query, request=request))

    def make_map(
        self,
        image: str,
        options: MapOptions,
        weights: str | None = None,
        target: MapTarget | None = None,
    ) -> int:
        """Ask for the map of a picture; `map_made` answers. See `MakeMap`."""
        return self._ask(
            lambda query: MakeMap(
                query=query, image=image, options=options, weights=weights, target=target
            )
        )

    def cancel_map(self, query: int) -> None:
        """Ask to stop a map; its query fails with CANCELLED unless it was answered before."""
        if self._waiting.pop(query, None):
            self._fail_queries({query}, Cancelled().info)
        else:
            self._process.send(CancelMap(query=query))

    def plan_upscale(self, request: UpscaleRequest) -> int:
        """Ask what making a picture larger takes; `upscale_planned` answers."""
        return self._ask(lambda query: PlanUpscale(query=query, request=request))

    def scan_devices(self) -> int:
        """Ask which devices each backend finds; `devices_found` answers."""
        return self._ask(lambda query: ScanDevices(query=query))

    def verify_devices(self, *, again: bool = False) -> int:
        """Ask for a trial of new devices, or with `again` of all; `devices_found` answers."""
        return self._ask(lambda query: VerifyDevices(query=query, again=again))

    def force_stop(self) -> None:
        """Kill the engine, whatever it does; another one is started."""
        self._process.force_stop()

    def restart_engine(self) -> None:
        """Exchange the engine for a new one, which has the packs that are active now."""
        self._process.restart()

    def start_engine(self) -> None:
        """Start the engine if it is stopped or was given up."""
        self._process.start()

    def _ask(self, make: Callable[[int], Query]) -> int:
        """Queue the query that is made with the next number to be sent; return the number."""
        self._last_query += 1
        self._waiting[self._last_query] = make(self._last_query)
        # Not at once: the caller must know the number before it can come back.
        QTimer.singleShot(0, self, self._send_waiting)
        return self._last_query

    def _send_waiting(self) -> None:
        if self.engine_state is not EngineState.READY:
            return
        waiting, self._waiting = self._waiting, {}
        for query, command in waiting.items():
            self._asked.add(query)
            try:
                self._process.send(command)
            except EngineError as error:
                self._fail_queries({query}, error.info)

    def _on_received(self, event: Event, payload: bytes) -> None:
        if isinstance(event, Answer):
            self._asked.discard(event.query)
        if isinstance(event, JobPreview):
            self.job_preview.emit(event, payload)
        elif isinstance(event, PictureUnsaved):
            self.picture_unsaved.emit(event, payload)
        else:
            self._signals[type(event)].emit(event)

    def _on_state_changed(self, state: EngineState) -> None:
        self.engine_state_changed.emit(state)
        self._send_waiting()

    def _on_ended(self, end: EngineEnd) -> None:
        self._fail_queries(self._asked, end.error)
        self.engine_ended.emit(end)

    def _on_gave_up(self, error: ErrorInfo) -> None:
        waiting, self._waiting = self._waiting, {}
        self._fail_queries(waiting, error)
        self.engine_gave_up.emit(error)

    def _fail_queries(self, queries: Iterable[int], error: ErrorInfo) -> None:
        for query in sorted(queries):
            self._asked.discard(query)
            self.query_failed.emit(QueryFailed(query=query, error=error))
