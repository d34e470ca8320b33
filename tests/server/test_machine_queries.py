"""The engine tells what it keeps on the disk, clears it, and plans the memory of a request."""

from pathlib import Path

import msgspec
import pytest

from engine.api.machine_messages import (
    CacheListed,
    CacheRebuilding,
    ClearCache,
    JobPlanned,
    ListCache,
    PlanJob,
    RebuildCache,
)
from engine.api.messages import CancelJob, JobCancelled, JobFinished, JobPhase, QueryFailed
from engine.api.values import ErrorCode, Phase
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import Conversation, scripted
from tests.server.scripted_engine import Plan
from tests.server.test_ending import LONG


@pytest.fixture
def talk(start: Start) -> Conversation:
    return start()


def test_a_request_is_planned_without_making_it(talk: Conversation, job: MakeJob) -> None:
    request = job("one").request
    talk.send(PlanJob(query=1, request=request))
    small = talk.wait_for(JobPlanned).outlook
    assert small.device
    assert small.peak_bytes > 0
    assert small.budget_bytes > 0
    large = msgspec.structs.replace(request, width=256, height=256)
    talk.send(PlanJob(query=2, request=large))
    planned = talk.wait_for(JobPlanned, lambda event: event.query == 2)
    assert planned.outlook.peak_bytes > small.peak_bytes
    talk.send(PlanJob(query=3, request=msgspec.structs.replace(request, checkpoint="/none.pt")))
    assert talk.wait_for(QueryFailed).error.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_nothing_is_planned_beside_a_job(start: Start, job: MakeJob) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(PlanJob(query=1, request=job("next").request))
    assert talk.wait_for(QueryFailed).error.code is ErrorCode.NOT_AVAILABLE
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)


def test_the_cache_is_listed_and_cleared_by_name(
    talk: Conversation, job: MakeJob, tmp_path: Path
) -> None:
    talk.send(ListCache(query=1))
    assert talk.wait_for(CacheListed).artifacts == ()
    talk.send(job("one"))
    talk.wait_for(JobFinished)
    talk.send(ListCache(query=2))
    found = talk.wait_for(CacheListed, lambda event: event.query == 2).artifacts
    talk.send(ClearCache(query=3, names=()))
    assert talk.wait_for(CacheListed, lambda event: event.query == 3).artifacts == found
    talk.send(ClearCache(query=4, names=tuple(artifact.name for artifact in found)))
    left = talk.wait_for(CacheListed, lambda event: event.query == 4).artifacts
    assert len(left) < len(found) or not found


def test_the_cache_of_a_checkpoint_is_rebuilt_with_progress(start: Start, tiny: Path) -> None:
    talk = start(scripted(Plan()))
    talk.send(RebuildCache(query=1, names=(), checkpoint=str(tiny)))
    answer = talk.wait_for(CacheListed)
    assert answer.query == 1
    steps = [(event.done, event.total) for event in talk.of(CacheRebuilding)]
    assert steps[0][0] == 0
    assert steps[-1][0] == steps[-1][1] >= 3
    talk.send(RebuildCache(query=2, names=(), checkpoint="/none.safetensors"))
    assert talk.wait_for(QueryFailed).error.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_nothing_is_rebuilt_beside_a_job(start: Start, job: MakeJob, tiny: Path) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(RebuildCache(query=1, names=(), checkpoint=str(tiny)))
    assert talk.wait_for(QueryFailed).error.code is ErrorCode.NOT_AVAILABLE
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
