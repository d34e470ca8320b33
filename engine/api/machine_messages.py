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


class JobPlanned(Message, frozen=True, kw_only=True):
    """The answer to PlanJob."""

    query: int
    outlook: MemoryOutlook
