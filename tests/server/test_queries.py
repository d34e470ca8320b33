"""What the app may ask, also while a job runs."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from app.paths import starter_checkpoint
from backends.base import DType
from backends.registry import BACKENDS
from engine.api.conventions import CONVENTIONS
from engine.api.messages import (
    ArtifactsListed,
    CancelJob,
    CheckpointHashed,
    CheckpointInspected,
    CheckPrompt,
    ClearArtifacts,
    DevicesFound,
    DeviceVerdict,
    ImageSaved,
    InspectCheckpoint,
    InstallPack,
    JobCancelled,
    JobPhase,
    JobPlanned,
    ListArtifacts,
    MemoryReport,
    Ping,
    PlanJob,
    Pong,
    PromptChecked,
    QueryFailed,
    ReleaseMemory,
    RemovePack,
    ScanDevices,
    VerifyDevices,
)
from engine.api.prompts import HintKind, PromptQuestion
from engine.api.request import ComponentFiles, GenerateRequest
from engine.api.values import ConventionName, ErrorCode, Phase
from engine.families.identify import identify
from engine.jobs.runner import JobRunner
from engine.jobs.services import JobServices
from engine.metadata.infotext import parse_infotext
from engine.metadata.pictures import read_text_chunks
from engine.pipeline.inspection import inspect
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import Conversation, scripted
from tests.server.test_ending import LONG
from tests.single_file import write_single_file


@pytest.fixture
def talk(start: Start) -> Conversation:
    return start()


def test_devices(talk: Conversation) -> None:
    talk.send(ScanDevices(query=4))
    found = talk.wait_for(DevicesFound)
    assert found.query == 4
    assert {device.backend for device in found.devices} == {r.name for r in BACKENDS}
    by_name = {device.backend: device for device in found.devices}
    # The processor needs no trial to be used; of what was not tried there is only the name.
    assert found.devices[0].backend == "cpu"
    assert by_name["cpu"].memory_total_bytes > 0
    assert not by_name["intel_openvino"].checked
    assert by_name["intel_openvino"].unusable == "It was not looked at yet."
    assert found.news


def test_verdicts_are_earned_beside_a_job_and_other_queries(start: Start, job: MakeJob) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(VerifyDevices(query=5), ListArtifacts(query=6))
    talk.wait_for(ArtifactsListed)
    assert talk.of(DeviceVerdict) == []
    found = talk.wait_for(DevicesFound)
    assert found.query == 5
    verdicts = talk.of(DeviceVerdict)
    assert verdicts[0].backend == "cpu"
    assert all(verdict.usable and verdict.reason for verdict in verdicts)
    assert all(f.milliseconds > 0 for verdict in verdicts for f in verdict.figures)
    remaining = [verdict.remaining for verdict in verdicts]
    assert remaining == sorted(remaining, reverse=True)
    assert found.choice
    tried = {(verdict.backend, verdict.device) for verdict in verdicts}
    assert {(d.backend, d.name) for d in found.devices if d.figures} == tried
    # A job was running: the figures hold until there is a quiet moment.
    assert found.news
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    talk.shut_down()


def test_checkpoints(talk: Conversation, tiny: Path) -> None:
    starter = starter_checkpoint()
    talk.send(InspectCheckpoint(query=1, path=str(starter)))
    answer = talk.wait_for(CheckpointInspected)
    assert answer.checkpoint == inspect(identify(starter))
    talk.send(InspectCheckpoint(query=2, path=str(tiny / "nothing.safetensors")))
    failed = talk.wait_for(QueryFailed)
    assert (failed.query, failed.error.code) == (2, ErrorCode.CHECKPOINT_NOT_FOUND)


def test_the_hash_of_a_checkpoint_is_told_and_written_into_its_pictures(
    talk: Conversation, job: MakeJob, tmp_path: Path
) -> None:
    path = write_single_file(tmp_path / "one.safetensors")
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    talk.send(InspectCheckpoint(query=1, path=str(path)))
    assert talk.wait_for(CheckpointInspected).checkpoint.sha256 is None
    told = talk.wait_for(CheckpointHashed, lambda event: event.sha256 is not None)
    size = path.stat().st_size
    assert (told.path, told.done_bytes, told.total_bytes) == (str(path), size, size)
    assert told.sha256 == expected
    assert all(0 < event.done_bytes <= size for event in talk.of(CheckpointHashed))
    talk.send(InspectCheckpoint(query=2, path=str(path)), job("one", checkpoint=str(path)))
    known = talk.wait_for(CheckpointInspected, lambda event: event.query == 2)
    assert known.checkpoint.sha256 == expected
    saved = talk.wait_for(ImageSaved)
    assert saved.record.checkpoint_sha256 == expected
    text = next(c.text for c in read_text_chunks(Path(saved.path)) if c.keyword == "parameters")
    assert parse_infotext(text).get("Model hash") == expected[:10]


def test_a_checkpoint_whose_name_is_not_utf_8(talk: Conversation, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.safetensors"))
    try:
        write_single_file(tmp_path / "one.safetensors").rename(path)
    except OSError:
        pytest.skip("names are UTF-8 here")
    talk.send(InspectCheckpoint(query=1, path=str(path)))
    assert talk.wait_for(CheckpointInspected).checkpoint.path == str(path)
    told = talk.wait_for(CheckpointHashed, lambda event: event.sha256 is not None)
    assert told.path == str(path)


def test_a_checkpoint_with_parts_from_elsewhere(talk: Conversation, tiny: Path) -> None:
    components = ComponentFiles(vae=str(tiny / "vae"))
    talk.send(InspectCheckpoint(query=3, path=str(tiny), components=components))
    evidence = talk.wait_for(CheckpointInspected).checkpoint.evidence
    assert any("VAE from vae" in line for line in evidence)


def test_prompts(talk: Conversation) -> None:
    text = "a (red <lora:x:1> house"
    question = PromptQuestion(text=text, convention=CONVENTIONS[ConventionName.A1111])
    talk.send(CheckPrompt(query=6, question=question))
    answer = talk.wait_for(PromptChecked)
    assert (answer.query, answer.check.text, answer.check.used) == (6, text, 3)
    kinds = [hint.kind for hint in answer.check.hints]
    assert kinds == [HintKind.UNPAIRED, HintKind.NETWORK]


def test_plans(talk: Conversation, job: MakeJob) -> None:
    request = job("", backend="cpu").request
    talk.send(PlanJob(query=1, request=request))
    plan = talk.wait_for(JobPlanned)
    assert 0 < plan.peak_bytes < plan.budget_bytes
    assert plan.weights == "memory"
    assert plan.device
    talk.send(PlanJob(query=2, request=GenerateRequest(prompt="")))
    assert talk.wait_for(QueryFailed).error.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_artifacts_are_listed_and_cleared(talk: Conversation, tmp_path: Path) -> None:
    weights = write_arrays(tmp_path / "half.safetensors", {"w": np.ones(2)}, DType.F16)
    copies = WorkingCopies(tmp_path / "cache" / "weights")
    for key in ("first", "second", "third"):
        copies.make(key, weights, DType.F32, lambda _done, _total: None)
    talk.send(ListArtifacts(query=1), ClearArtifacts(query=2, names=("second", "../../half")))
    listed = talk.wait_for(ArtifactsListed, lambda event: event.query == 1)
    assert [artifact.name for artifact in listed.artifacts] == ["first", "second", "third"]
    assert all(artifact.bytes > 8 and artifact.last_used > 1e9 for artifact in listed.artifacts)
    left = talk.wait_for(ArtifactsListed, lambda event: event.query == 2)
    assert [artifact.name for artifact in left.artifacts] == ["first", "third"]
    talk.send(ClearArtifacts(query=3))
    none = talk.wait_for(ArtifactsListed, lambda event: event.query == 3)
    assert none.artifacts == ()
    assert (tmp_path / "half.safetensors").exists()


def test_memory(talk: Conversation) -> None:
    talk.send(ReleaseMemory(query=1))
    report = talk.wait_for(MemoryReport)
    assert 0 < report.free_bytes <= report.total_bytes
    assert report.private_bytes is None or report.private_bytes > 0


def test_packs_are_not_available(talk: Conversation) -> None:
    talk.send(InstallPack(query=1, pack="cuda"), RemovePack(query=2, pack="cuda"))
    talk.wait_for(QueryFailed, lambda event: event.query == 2)
    failures = talk.of(QueryFailed)
    assert [event.query for event in failures] == [1, 2]
    assert {event.error.code for event in failures} == {ErrorCode.NOT_AVAILABLE}
    assert all(event.error.hint for event in failures)


def test_everything_is_answered_while_a_job_runs(start: Start, job: MakeJob, tiny: Path) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(Ping(sequence=1))
    talk.wait_for(Pong)
    talk.send(
        InspectCheckpoint(query=1, path=str(tiny)),
        ScanDevices(query=2),
        PlanJob(query=3, request=job("").request),
        ListArtifacts(query=4),
        ReleaseMemory(query=5),
    )
    talk.wait_for(MemoryReport)
    asked = (CheckpointInspected, DevicesFound, JobPlanned, ArtifactsListed, MemoryReport)
    answers = [event for event in talk.events if isinstance(event, asked)]
    assert [event.query for event in answers] == [1, 2, 3, 4, 5]
    assert talk.of(QueryFailed) == []
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    talk.shut_down()


def test_a_copy_that_a_job_uses_is_not_cleared(start: Start, job: MakeJob, tmp_path: Path) -> None:
    talk = start(scripted(LONG))
    # A little less memory than converted weights need, so that working copies are made.
    plan = JobRunner(JobServices.in_cache(tmp_path)).plan(job("", starter=True).request).memory
    talk.send(job("long", starter=True, memory_limit_bytes=plan.peak_bytes - 1))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(ClearArtifacts(query=1))
    kept = talk.wait_for(ArtifactsListed).artifacts
    assert len(kept) == 2  # of the text encoder and of the denoiser
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    talk.send(ClearArtifacts(query=2))
    assert talk.wait_for(ArtifactsListed, lambda event: event.query == 2).artifacts == ()
