"""The messages between app and engine: the app sends commands, the engine sends events.

Each message is a tagged struct whose tag is its class name. The app sends `Configure` after the
engine's `Hello`; nothing but `Ping` is answered before `Ready`. A query is a command with a `query`
number. Its answer, the event named in its docstring or `QueryFailed`, has the same number. Queries
are answered in order, also while a job runs. The last event of a job is exactly one of
`JobFinished`, `JobCancelled` and `JobFailed`.
"""

from typing import TypeAlias

from engine.api.checkpoints import CheckpointInfo, FamilyName
from engine.api.embedding_messages import DescribeEmbeddings, EmbeddingsDescribed
from engine.api.lora_messages import (
    InspectLora,
    ListLoras,
    LoraInspected,
    LorasFound,
    LorasListed,
)
from engine.api.machine import DeviceInfo, MachineInfo
from engine.api.machine_messages import (
    CacheListed,
    CacheRebuilding,
    ClearCache,
    JobPlanned,
    ListCache,
    PlanJob,
    RebuildCache,
)
from engine.api.map_messages import CancelMap, MakeMap, MapMade
from engine.api.message import Message
from engine.api.model_messages import ModelAnswer, ModelHashing, ModelQuery, ModelsFound
from engine.api.prompts import PromptCheck, PromptQuestion
from engine.api.record import GenerationRecord, Timings
from engine.api.request import CheckpointOverride, ComponentFiles, GenerateRequest
from engine.api.saving import Saving
from engine.api.upscale_messages import ImageUpscaled, PlanUpscale, RunUpscale, UpscalePlanned
from engine.api.values import ErrorInfo, Phase

# Increased whenever a message changes incompatibly; app and engine must have the same version.
PROTOCOL_VERSION = 18


# --- commands ---------------------------------------------------------------------------------


class Configure(Message, frozen=True, kw_only=True):
    """Set the engine's folders: the first command. Answered by Ready or EngineFatal.

    `cache` holds artifacts that can be rebuilt, `wildcards` the word lists of prompts, `models`
    the checkpoints. `lora_folders` are looked into for LoRAs after the usual folders below
    `models`, `embedding_folders` for embeddings before the usual ones.
    """

    cache: str
    wildcards: str | None = None
    models: str | None = None
    lora_folders: tuple[str, ...] = ()
    embedding_folders: tuple[str, ...] = ()
    protocol: int = PROTOCOL_VERSION


class ScanDevices(Message, frozen=True, kw_only=True):
    """List the devices that each backend sees. Answered by DevicesFound."""

    query: int


class VerifyDevices(Message, frozen=True, kw_only=True):
    """Run a trial on each usable device that never had one.

    `again` repeats the trial on all devices and forgets their failures. Answered by DevicesFound,
    out of order: other queries are answered in the meantime.
    """

    query: int
    again: bool = False


class InspectCheckpoint(Message, frozen=True, kw_only=True):
    """Identify a checkpoint file or folder by its header. Answered by CheckpointInspected."""

    query: int
    path: str
    components: ComponentFiles = ComponentFiles()
    override: CheckpointOverride = CheckpointOverride()
    # False for a checkpoint that is only looked at: then its file is not hashed for later pictures.
    will_be_used: bool = True


class CheckPrompt(Message, frozen=True, kw_only=True):
    """Count the tokens of a prompt and look for mistakes in it. Answered by PromptChecked."""

    query: int
    question: PromptQuestion


class RunJob(Message, frozen=True, kw_only=True):
    """Make the pictures of a request and save them in `folder`; jobs run in order, one by one.

    Without `previews` no JobPreview is sent, and no time spent on them.
    """

    job: str
    request: GenerateRequest
    folder: str
    saving: Saving = Saving()
    previews: bool = True


class CancelJob(Message, frozen=True, kw_only=True):
    """Stop a job, running or waiting. A job that is unknown or over is ignored."""

    job: str


class Ping(Message, frozen=True, kw_only=True):
    """Ask for a sign of life. Answered at once by Pong, also while a job runs."""

    sequence: int


class Shutdown(Message, frozen=True, kw_only=True):
    """Cancel the running job and exit."""


# --- events -----------------------------------------------------------------------------------


class Hello(Message, frozen=True, kw_only=True):
    """The engine has started: the first event.

    `pack_problems` are sentences on active runtime packs that it runs without.
    """

    version: str
    pid: int
    protocol: int = PROTOCOL_VERSION
    pack_problems: tuple[str, ...] = ()


class Ready(Message, frozen=True, kw_only=True):
    """The engine is configured and takes jobs."""


class FamiliesKnown(Message, frozen=True, kw_only=True):
    """The families that the engine runs; sent once, after Ready and before every answer."""

    families: tuple[FamilyName, ...]


class DevicesFound(Message, frozen=True, kw_only=True):
    """All devices: first those that "auto" may take, in its order of preference.

    `choice` is the reason why "auto" prefers the first.
    """

    query: int
    devices: tuple[DeviceInfo, ...]
    choice: str = ""
    machine: MachineInfo | None = None
    # True if "auto" has no results for some devices yet: send VerifyDevices to get them.
    news: bool = False


class CheckpointInspected(Message, frozen=True, kw_only=True):
    """The answer to InspectCheckpoint."""

    query: int
    checkpoint: CheckpointInfo


class CheckpointHashed(Message, frozen=True, kw_only=True):
    """Progress of hashing a checkpoint that was inspected or used.

    `sha256`, set at the end only, is the hash of the whole file, as in other tools.
    """

    path: str
    done_bytes: int
    total_bytes: int
    sha256: str | None = None


class PromptChecked(Message, frozen=True, kw_only=True):
    """The answer to CheckPrompt."""

    query: int
    check: PromptCheck


class JobPhase(Message, frozen=True, kw_only=True):
    """A phase of a job begins.

    `expected_s` is the expected duration of the phase, `after_s` that of the rest of the job after
    it, both estimated from similar earlier jobs and None without one. `once` is True if the phase
    will be quicker in later jobs.
    """

    job: str
    phase: Phase
    expected_s: float | None = None
    after_s: float | None = None
    once: bool = False


class JobProgress(Message, frozen=True, kw_only=True):
    """Progress of the current phase; `total` is None if the runtime does not report it."""

    job: str
    done: int
    total: int | None


class JobWarned(Message, frozen=True, kw_only=True):
    """A failure that the job works around, or the reason why another device runs it.

    Sent as soon as it happens; `JobFinished` repeats it.
    """

    job: str
    warning: ErrorInfo


class JobPreview(Message, frozen=True, kw_only=True):
    """A small preview of the unfinished picture. The payload is RGB, 3 * width * height bytes.

    Previews may be dropped if the app reads slowly or steps are quick.
    """

    job: str
    step: int
    width: int
    height: int


class ImageSaved(Message, frozen=True, kw_only=True):
    """A picture is durably on disk."""

    job: str
    path: str
    seed: int
    width: int
    height: int
    record: GenerationRecord


class JobFinished(Message, frozen=True, kw_only=True):
    """Every picture of the job is saved."""

    job: str
    device: str
    timings: Timings
    # The failures that were worked around.
    warnings: tuple[ErrorInfo, ...] = ()


class JobCancelled(Message, frozen=True, kw_only=True):
    """The job was stopped on request; pictures saved before stay saved."""

    job: str


class PictureUnsaved(Message, frozen=True, kw_only=True):
    """A finished picture that no disk took; the job fails. The payload is its file, of this name.

    It is not sent where the file is larger than a frame may be.
    """

    job: str
    name: str


class JobFailed(Message, frozen=True, kw_only=True):
    """The job could not be finished; pictures saved before stay saved."""

    job: str
    error: ErrorInfo


class LogRecord(Message, frozen=True, kw_only=True):
    """A line for the app's log."""

    level: str
    logger: str
    text: str


class Pong(Message, frozen=True, kw_only=True):
    """The answer to Ping."""

    sequence: int


class QueryFailed(Message, frozen=True, kw_only=True):
    """A command with a `query` number could not be answered."""

    query: int
    error: ErrorInfo


class EngineFatal(Message, frozen=True, kw_only=True):
    """The engine cannot go on, and exits."""

    error: ErrorInfo


Command: TypeAlias = (
    Configure
    | ScanDevices
    | VerifyDevices
    | InspectCheckpoint
    | CheckPrompt
    | ListLoras
    | InspectLora
    | DescribeEmbeddings
    | ModelQuery
    | ListCache
    | ClearCache
    | RebuildCache
    | PlanJob
    | MakeMap
    | CancelMap
    | PlanUpscale
    | RunJob
    | RunUpscale
    | CancelJob
    | Ping
    | Shutdown
)
Event: TypeAlias = (
    Hello
    | Ready
    | FamiliesKnown
    | DevicesFound
    | CheckpointInspected
    | CheckpointHashed
    | PromptChecked
    | LorasFound
    | LorasListed
    | LoraInspected
    | EmbeddingsDescribed
    | ModelsFound
    | ModelAnswer
    | ModelHashing
    | CacheListed
    | CacheRebuilding
    | JobPlanned
    | MapMade
    | UpscalePlanned
    | JobPhase
    | JobProgress
    | JobWarned
    | JobPreview
    | ImageSaved
    | ImageUpscaled
    | PictureUnsaved
    | JobFinished
    | JobCancelled
    | JobFailed
    | LogRecord
    | Pong
    | QueryFailed
    | EngineFatal
)
# Queries and their answers; both have a `query` number.
Query: TypeAlias = (
    ScanDevices
    | VerifyDevices
    | InspectCheckpoint
    | CheckPrompt
    | ListLoras
    | InspectLora
    | DescribeEmbeddings
    | ModelQuery
    | ListCache
    | ClearCache
    | RebuildCache
    | PlanJob
    | MakeMap
    | PlanUpscale
)
Answer: TypeAlias = (
    DevicesFound
    | CheckpointInspected
    | PromptChecked
    | LorasListed
    | LoraInspected
    | EmbeddingsDescribed
    | ModelAnswer
    | CacheListed
    | JobPlanned
    | MapMade
    | UpscalePlanned
    | QueryFailed
)
