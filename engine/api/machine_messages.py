"""Messages on what the engine keeps on the disk, and on the memory that a job would take."""

from engine.api.machine import ArtifactInfo, MemoryOutlook
from engine.api.message import Message
from engine.api.request import GenerateRequest


class ListCache(Message, frozen=True, kw_only=True):
    """List the artifacts in the cache. Answered by CacheListed."""

    query: int


class ClearCache(Message, frozen=True, kw_only=True):
    """Delete artifacts by their names; those that a job uses stay. Answered by CacheListed."""

    query: int
    names: tuple[str, ...]


class RebuildCache(Message, frozen=True, kw_only=True):
    """Delete a checkpoint's artifacts by their names, and prepare its networks again at once.

    They are prepared for the checkpoint's usual size, on the device that "auto" takes.
    Answered by CacheListed; CacheRebuilding tells how far it is. It fails with NOT_AVAILABLE while
    a job runs.
    """

    query: int
    names: tuple[str, ...]
    checkpoint: str


class PlanJob(Message, frozen=True, kw_only=True):
    """Plan the memory of a request's pictures without making them. Answered by JobPlanned.

    It fails with NOT_AVAILABLE while a job runs, whose memory is not free.
    """

    query: int
    request: GenerateRequest


class CacheListed(Message, frozen=True, kw_only=True):
    """The artifacts in the cache."""

    query: int
    artifacts: tuple[ArtifactInfo, ...]


class CacheRebuilding(Message, frozen=True, kw_only=True):
    """Progress of RebuildCache: `done` of `total` networks are prepared."""

    query: int
    done: int
    total: int


class JobPlanned(Message, frozen=True, kw_only=True):
    """The answer to PlanJob."""

    query: int
    outlook: MemoryOutlook
