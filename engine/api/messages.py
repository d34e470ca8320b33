"""What the app and the engine say to each other: commands one way, events the other.

Each message is a tagged struct whose tag is its class name. The app sends `Configure` after the
engine's `Hello`; nothing but `Ping` is answered before `Ready`. Commands that ask carry a `query`
number that comes back in the answer, which is the event named here or `QueryFailed`; they are
answered in order, also while a job runs. A job ends in exactly one of `JobFinished`, `JobCancelled`
and `JobFailed`, which is the last that is said of it.
"""

from typing import TypeAlias

import msgspec

from engine.api.checkpoints import CheckpointInfo, FamilyName
from engine.api.machine import DeviceInfo
from engine.api.prompts import PromptCheck, PromptQuestion
from engine.api.record import GenerationRecord, Timings
from engine.api.request import CheckpointOverride, ComponentFiles, GenerateRequest
from engine.api.values import ErrorInfo, Phase

# Raised whenever a message changes in a way the other side would misread; both must have the same.
PROTOCOL_VERSION = 10


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What every message is: immutable, with its class name as tag."""


# --- commands ---------------------------------------------------------------------------------


class Configure(Message, frozen=True, kw_only=True):
    """First command. Answered by Ready or EngineFatal.

    The folders for what can be made again, of lists of words that prompts name, and of checkpoints.
    """

    cache: str
    wildcards: str | None = None
    models: str | None = None
    protocol: int = PROTOCOL_VERSION


class ScanDevices(Message, frozen=True, kw_only=True):
    """Which devices each backend sees. Answered by DevicesFound."""

    query: int


class VerifyDevices(Message, frozen=True, kw_only=True):
    """Try each usable device that was never tried; `again` tries all, and forgets their failures.

    Answered by DevicesFound, out of the order of queries: the answers to others come in between.
    """

    query: int
    again: bool = False


class InspectCheckpoint(Message, frozen=True, kw_only=True):
    """What a file or folder is, from its header. Answered by CheckpointInspected."""

    query: int
    path: str
    components: ComponentFiles = ComponentFiles()
    override: CheckpointOverride = CheckpointOverride()


class CheckPrompt(Message, frozen=True, kw_only=True):
    """What there is to say of a prompt that is being written. Answered by PromptChecked."""

    query: int
    question: PromptQuestion


class RunJob(Message, frozen=True, kw_only=True):
    """Make the pictures of a request into a folder; jobs run one by one in the order they came."""

    job: str
    request: GenerateRequest
    folder: str


class CancelJob(Message, frozen=True, kw_only=True):
    """Stop a job, running or waiting. A job that is unknown or over is ignored."""

    job: str


class Ping(Message, frozen=True, kw_only=True):
    """Are you there? Answered at once by Pong, whatever else is going on."""

    sequence: int


class Shutdown(Message, frozen=True, kw_only=True):
    """Cancel what is running and exit."""


# --- events -----------------------------------------------------------------------------------


class Hello(Message, frozen=True, kw_only=True):
    """First event: who is speaking."""

    version: str
    pid: int
    protocol: int = PROTOCOL_VERSION


class Ready(Message, frozen=True, kw_only=True):
    """The engine is configured and takes jobs."""


class FamiliesKnown(Message, frozen=True, kw_only=True):
    """The families that the engine runs; once, after Ready and before every answer."""

    families: tuple[FamilyName, ...]


class DevicesFound(Message, frozen=True, kw_only=True):
    """Every device, those first that "auto" takes, in its order; `choice` is why the first."""

    query: int
    devices: tuple[DeviceInfo, ...]
    choice: str = ""
    # Devices that "auto" does not know yet: VerifyDevices is worth asking.
    news: bool = False


class CheckpointInspected(Message, frozen=True, kw_only=True):
    """The answer to InspectCheckpoint."""

    query: int
    checkpoint: CheckpointInfo


class CheckpointHashed(Message, frozen=True, kw_only=True):
    """How far the hash of a checkpoint that was inspected or used is; at its end what it is.

    `sha256` is of the whole file, as other tools know it.
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

    `expected_s` is how long it should take, `after_s` what comes after it to the job's end: learnt
    from earlier jobs, None where none was like it. `once`: it will be quicker from now on.
    """

    job: str
    phase: Phase
    expected_s: float | None = None
    after_s: float | None = None
    once: bool = False


class JobProgress(Message, frozen=True, kw_only=True):
    """How far the current phase is; `total` is None where the runtime does not tell."""

    job: str
    done: int
    total: int | None


class JobWarned(Message, frozen=True, kw_only=True):
    """What failed and is worked around, or why another device does the job; at once.

    The job's ending repeats it.
    """

    job: str
    warning: ErrorInfo


class JobPreview(Message, frozen=True, kw_only=True):
    """The picture so far, small. The frame's payload is RGB, 3 * width * height bytes.

    May be dropped, where the app reads slowly or steps are quick.
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
    # What failed and was worked around.
    warnings: tuple[ErrorInfo, ...] = ()


class JobCancelled(Message, frozen=True, kw_only=True):
    """The job was stopped on request; pictures saved before stay saved."""

    job: str


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
    | RunJob
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
    | JobPhase
    | JobProgress
    | JobWarned
    | JobPreview
    | ImageSaved
    | JobFinished
    | JobCancelled
    | JobFailed
    | LogRecord
    | Pong
    | QueryFailed
    | EngineFatal
)
# Commands that ask, and the events that answer them; both have a `query` number.
Query: TypeAlias = ScanDevices | VerifyDevices | InspectCheckpoint | CheckPrompt
Answer: TypeAlias = DevicesFound | CheckpointInspected | PromptChecked | QueryFailed
