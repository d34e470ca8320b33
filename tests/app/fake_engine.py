"""An engine that computes nothing and misbehaves as it is told: `python fake_engine.py PLAN`.

PLAN is the JSON of a `Plan`. It runs in isolated mode, like the real one.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import msgspec

from engine.api.conventions import convention_of
from engine.api.embedding_messages import DescribeEmbeddings, EmbeddingsDescribed
from engine.api.embeddings import EmbeddingInfo
from engine.api.lora_files import LoraInfo
from engine.api.map_messages import MakeMap, MapMade
from engine.api.messages import (
    PROTOCOL_VERSION,
    CancelJob,
    CheckPrompt,
    Command,
    Configure,
    DevicesFound,
    EngineFatal,
    Event,
    Hello,
    ImageSaved,
    InspectLora,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPhase,
    JobPreview,
    JobProgress,
    ListLoras,
    LoraInspected,
    LorasFound,
    LorasListed,
    PictureUnsaved,
    Ping,
    Pong,
    PromptChecked,
    QueryFailed,
    Ready,
    RunJob,
    Shutdown,
    VerifyDevices,
)
from engine.api.model_files import ModelInfo
from engine.api.model_messages import (
    DescribeModel,
    FindModel,
    ListModels,
    ModelFound,
    ModelsFound,
    ModelsListed,
)
from engine.api.record import GenerationRecord, ResolvedRequest, Timings
from engine.api.remedies import MakeSmaller
from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.upscale_messages import ImageUpscaled, RunUpscale
from engine.api.values import (
    ErrorCode,
    ErrorInfo,
    Phase,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
)
from engine.api.wire import FrameParser, decode_command, encode

_NO_TIME = Timings(load_s=0, compile_s=0, encode_s=0, denoise_s=0, decode_s=0, save_s=0, total_s=0)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is other than usual."""

    protocol: int = PROTOCOL_VERSION
    pack_problems: tuple[str, ...] = ()
    # Says nothing at all, or nothing after Hello.
    silent: bool = False
    never_ready: bool = False
    # What is said instead of Ready, before the exit with status 1.
    fatal: ErrorInfo | None = None
    # Goes on as if Shutdown and the end of its input were nothing.
    ignores_shutdown: bool = False
    # Written to stderr at the start.
    stderr: str = ""
    stderr_times: int = 1
    # Commands, Configure being the first, after which nothing more is read or said.
    deaf_after: int | None = None
    # Events, Hello being the first, after which it ends: by this signal, else with this status.
    ends_after: int | None = None
    by_signal: int | None = None
    status: int = 1
    # Bytes written to stdout after Ready, in one piece, so many times.
    raw: bytes = b""
    raw_times: int = 1
    # Plans are followed only while this file is not there; it is made at the first start.
    once: str | None = None
    # How a job goes.
    steps: int = 3
    step_seconds: float = 0.0
    # It ends in each job, with this status.
    dies_in_jobs: bool = False
    # Pictures of a longer side than this run out of memory.
    no_room_above: int | None = None
    # So many jobs fail with this error; those after them do not.
    job_error: ErrorInfo | None = None
    job_errors: int = 1
    # The bytes of the picture's file that is sent before that error, as no disk took it.
    unsaved_bytes: int = 0
    # Its one picture is saved, and then nothing is said any more.
    never_finishes: bool = False
    # Said of the job all at once, after the last step.
    previews: int = 0
    preview_side: int = 8
    # Prompts are read as the real engine reads them.
    reads_prompts: bool = False
    # The LoRA files that it lists; None: it lists none.
    loras: tuple[LoraInfo, ...] | None = None
    # The embeddings that it lists with them.
    embeddings: tuple[EmbeddingInfo, ...] = ()
    # The files of weights that it lists; None: it lists none.
    models: tuple[ModelInfo, ...] | None = None
    # The map that it makes of every picture: the path of a picture.
    map: str | None = None
    # The paths of moved files by their digests; none is found without.
    moved: tuple[tuple[str, str], ...] = ()


class FakeEngine:
    """Speaks the protocol on stdin and stdout."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._wildcards: Path | None = None
        self._said = 0
        self._heard = 0
        self._failed = 0
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()

    def serve(self) -> None:
        plan = self._plan
        sys.stderr.write(plan.stderr * plan.stderr_times)
        sys.stderr.flush()
        if plan.silent:
            _sleep_for_ever()
        hello = Hello(
            version="fake",
            pid=os.getpid(),
            protocol=plan.protocol,
            pack_problems=plan.pack_problems,
        )
        self._say(hello)
        parser = FrameParser()
        while data := os.read(0, 1 << 16):
            for frame in parser.feed(data):
                self._take(decode_command(frame))
        if plan.ignores_shutdown:
            _sleep_for_ever()

    def _take(self, command: Command) -> None:
        self._heard += 1
        if self._plan.deaf_after is not None and self._heard > self._plan.deaf_after:
            _sleep_for_ever()
        match command:
            case Configure():
                self._wildcards = Path(command.wildcards) if command.wildcards else None
                self._get_ready()
            case Ping():
                self._say(Pong(sequence=command.sequence))
            case RunJob() | RunUpscale():
                threading.Thread(target=self._run, args=(command,), daemon=True).start()
            case CancelJob():
                self._cancelled.add(command.job)
            case Shutdown():
                self._shut_down()
            case _:
                self._answer(command)

    def _answer(self, command: Command) -> None:
        """Answer a query as the plan says; what it does not say is not available."""
        match command:
            case VerifyDevices():
                self._say(DevicesFound(query=command.query, devices=()))
            case CheckPrompt() if self._plan.reads_prompts:
                self._check(command)
            case ListLoras() | DescribeEmbeddings() if self._plan.loras is not None:
                self._list(command, self._plan.loras)
            case ListModels() if self._plan.models is not None:
                self._say(ModelsFound(query=command.query, models=self._plan.models))
                self._say(ModelsListed(query=command.query, folders=()))
            case DescribeModel() if self._plan.models is not None:
                self._say(ModelsFound(query=command.query, models=self._plan.models))
            case FindModel():
                path = dict(self._plan.moved).get(command.digest)
                self._say(ModelFound(query=command.query, path=path))
            case MakeMap() if self._plan.map is not None:
                made = MapMade(query=command.query, path=self._plan.map, width=64, height=64)
                self._say(made)
            case InspectLora() if (lora := self._lora(command.path)) is not None:
                self._say(LoraInspected(query=command.query, lora=lora))
            case _ if (query := getattr(command, "query", None)) is not None:
                error = ErrorInfo(ErrorCode.NOT_AVAILABLE, sentence("Not available."))
                self._say(QueryFailed(query=query, error=error))
            case _:
                pass

    def _lora(self, path: str) -> LoraInfo | None:
        return next((lora for lora in self._plan.loras or () if lora.path == path), None)

    def _check(self, command: CheckPrompt) -> None:
        # Here, as most tests need not wait for it to be imported.
        from engine.embeddings.embedding import Embedding
        from engine.embeddings.library import WithBundled
        from engine.text.checking import check_prompt

        named = {
            embedding.name: Embedding(embedding.name, {}) for embedding in self._plan.embeddings
        }
        check = check_prompt(command.question, self._wildcards, embeddings=WithBundled(named))
        self._say(PromptChecked(query=command.query, check=check))

    def _get_ready(self) -> None:
        plan = self._plan
        if plan.fatal is not None:
            self._say(EngineFatal(error=plan.fatal))
            os._exit(1)
        if plan.never_ready:
            return
        self._say(Ready())
        for _ in range(plan.raw_times):
            self._write(plan.raw)

    def _shut_down(self) -> None:
        if self._plan.ignores_shutdown:
            return
        with self._lock:
            os._exit(0)

    def _list(self, command: ListLoras | DescribeEmbeddings, loras: tuple[LoraInfo, ...]) -> None:
        if isinstance(command, DescribeEmbeddings):
            asked = tuple(
                embedding for embedding in self._plan.embeddings if embedding.name in command.names
            )
            self._say(EmbeddingsDescribed(query=command.query, embeddings=asked))
            return
        self._say(LorasFound(query=command.query, loras=loras))
        names = tuple(embedding.name for embedding in self._plan.embeddings)
        self._say(LorasListed(query=command.query, folders=(), embeddings=names))

    def _run(self, command: RunJob | RunUpscale) -> None:
        plan, name = self._plan, command.job
        self._say(JobPhase(job=name, phase=Phase.DENOISE))
        if plan.dies_in_jobs:
            os._exit(plan.status)
        if plan.job_error is not None and self._failed < plan.job_errors:
            self._failed += 1
            if plan.unsaved_bytes:
                unsaved = PictureUnsaved(job=name, name="1-cat.png")
                self._write(encode(unsaved, unsaved_file(plan.unsaved_bytes)))
            self._say(JobFailed(job=name, error=plan.job_error))
            return
        size = command.request.width or 0, command.request.height or 0
        if plan.no_room_above is not None and max(size) > plan.no_room_above:
            smaller = MakeSmaller(width=size[0], height=size[1])
            error = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "No memory.", remedies=(smaller,))
            self._say(JobFailed(job=name, error=error))
            return
        for step in range(plan.steps):
            self._say(JobProgress(job=name, done=step, total=plan.steps))
            if plan.step_seconds:
                time.sleep(plan.step_seconds)
            if name in self._cancelled:
                self._say(JobCancelled(job=name))
                return
        side = plan.preview_side
        previews = (
            encode(JobPreview(job=name, step=step, width=side, height=side), bytes(3 * side * side))
            for step in range(plan.previews)
        )
        self._write(b"".join(previews))
        self._say(_save(command))
        if not plan.never_finishes:
            self._say(JobFinished(job=name, device="fake", timings=_NO_TIME))

    def _say(self, event: Event) -> None:
        self._write(encode(event))
        self._said += 1
        if self._plan.ends_after is not None and self._said >= self._plan.ends_after:
            if self._plan.by_signal is not None:
                os.kill(os.getpid(), self._plan.by_signal)
            os._exit(self._plan.status)

    def _write(self, data: bytes) -> None:
        with self._lock:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(1, rest) :]


def _save(command: RunJob | RunUpscale) -> ImageSaved | ImageUpscaled:
    """Put a file where the picture would be, as the engine does: under its name only when whole."""
    folder = Path(command.folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{command.job}.png"
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(b"a picture")
    temporary.replace(path)
    if isinstance(command, RunUpscale):
        source = command.request.source
        return ImageUpscaled(job=command.job, path=str(path), source=source, width=64, height=64)
    return saved_image(command.job, str(path), command.request)


def unsaved_file(size: int) -> bytes:
    """The file of a picture that no disk took, of so many bytes."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def saved_image(
    job: str,
    path: str,
    request: GenerateRequest = GenerateRequest(prompt=""),  # noqa: B008 (immutable)
) -> ImageSaved:
    """The event for a picture of a job."""
    seed = request.seed or 0
    record = GenerationRecord(
        safelight="fake",
        request=_resolved(request, seed),
        family="sd1",
        prediction=PredictionType.EPSILON,
        device="fake",
        checkpoint_digest="",
    )
    return ImageSaved(job=job, path=path, seed=seed, width=64, height=64, record=record)


def _resolved(request: GenerateRequest, seed: int) -> ResolvedRequest:
    return ResolvedRequest(
        prompt=request.prompt,
        negative_prompt="",
        checkpoint="",
        components=request.components,
        width=64,
        height=64,
        steps=1,
        guidance=1.0,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.NORMAL,
        seed=seed,
        clip_skip=1,
        inputs=(),
        strength=1.0,
        convention=convention_of(request.convention),
        backend="fake",
        precision=PrecisionName.F32,
    )


def _sleep_for_ever() -> None:
    while True:
        time.sleep(3600)


def _present_plan(plan: Plan) -> Plan:
    """The plan, or after its first use no special one."""
    if plan.once is None:
        return plan
    try:
        Path(plan.once).touch(exist_ok=False)
    except FileExistsError:
        return Plan(steps=plan.steps, step_seconds=plan.step_seconds)
    return plan


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    FakeEngine(_present_plan(msgspec.json.decode(sys.argv[1], type=Plan))).serve()
