"""Queries are answered, also while a job runs."""

import hashlib
import os
from pathlib import Path

import msgspec
import pytest

from app.paths import starter_checkpoint
from backends.registry import BACKENDS
from engine.api.conventions import CONVENTIONS
from engine.api.messages import (
    Answer,
    CancelJob,
    CheckpointHashed,
    CheckpointInspected,
    CheckPrompt,
    DevicesFound,
    ImageSaved,
    InspectCheckpoint,
    JobCancelled,
    JobPhase,
    Ping,
    Pong,
    PromptChecked,
    QueryFailed,
    ScanDevices,
    VerifyDevices,
)
from engine.api.prompts import HintKind, PromptQuestion
from engine.api.request import ComponentFiles
from engine.api.values import ConventionName, ErrorCode, Phase
from engine.compile.cache import NetworkCache
from engine.families.identify import identify
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.job_memory import MemoryAllowance
from engine.jobs.job_plan import plan_job
from engine.jobs.services import JobServices
from engine.metadata.infotext import parse_infotext
from engine.metadata.pictures import read_text_chunks
from engine.pipeline.inspection import inspect
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve_job
from tests.app.known_hardware import write_verdicts
from tests.checkpoints.files import write_sparse
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import Conversation, scripted
from tests.server.scripted_engine import Plan
from tests.server.test_ending import LONG
from tests.single_file import write_single_file

QUESTION = PromptQuestion(
    text="a (red <hypernet:x:1> house", convention=CONVENTIONS[ConventionName.A1111]
)


@pytest.fixture
def talk(start: Start) -> Conversation:
    return start()


def test_a_scan_lists_the_devices_of_every_backend(talk: Conversation) -> None:
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


def test_verdicts_are_earned_beside_a_job_and_other_queries(
    start: Start, job: MakeJob, tmp_path: Path
) -> None:
    # One trial, of the processor: `safelight doctor` has those of the others.
    write_verdicts(tmp_path / "cache", untried="cpu")
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(VerifyDevices(query=5), CheckPrompt(query=6, question=QUESTION))
    talk.wait_for(PromptChecked)
    assert talk.of(DevicesFound) == []
    found = talk.wait_for(DevicesFound)
    assert found.query == 5
    tried = [device for device in found.devices if device.figures]
    assert [device.backend for device in tried] == ["cpu"]
    assert all(device.checked and device.verdict for device in tried)
    assert all(figure.milliseconds > 0 for device in tried for figure in device.figures)
    assert found.choice
    # A job was running: the figures hold until there is a quiet moment.
    assert found.news
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    talk.shut_down()


def test_an_inspected_checkpoint_is_described_and_a_missing_one_refused(
    talk: Conversation, tiny: Path
) -> None:
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
    assert any("VAE from vae" in str(line) for line in evidence)


def test_a_family_that_cannot_be_loaded_is_named_and_the_others_work(
    start: Start, tiny: Path, tmp_path: Path
) -> None:
    talk = start(scripted(Plan(families=("tests.families.absent",))))
    strange = write_sparse(tmp_path / "strange.safetensors", {"blocks.0.weight": (4, 4)})
    talk.send(
        InspectCheckpoint(query=1, path=str(tiny)), InspectCheckpoint(query=2, path=str(strange))
    )
    assert talk.wait_for(CheckpointInspected).checkpoint.family == "sd1"
    error = talk.wait_for(QueryFailed).error
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert "could not be loaded: absent (ModuleNotFoundError: " in error.hint


def test_a_prompt_is_checked_while_it_is_typed(talk: Conversation) -> None:
    talk.send(CheckPrompt(query=6, question=QUESTION))
    answer = talk.wait_for(PromptChecked)
    assert (answer.query, answer.check.text, answer.check.used) == (6, QUESTION.text, 3)
    kinds = [hint.kind for hint in answer.check.hints]
    assert kinds == [HintKind.UNPAIRED, HintKind.NETWORK]


def test_brackets_of_a_prompt_that_is_all_text_need_no_partner(talk: Conversation) -> None:
    question = msgspec.structs.replace(QUESTION, family="zimage")
    talk.send(CheckPrompt(query=6, question=question))
    hints = talk.wait_for(PromptChecked).check.hints
    assert [hint.kind for hint in hints] == [HintKind.NETWORK]
    invoke = CONVENTIONS[ConventionName.INVOKE]
    question = msgspec.structs.replace(question, convention=invoke, text='("a", "b").and(1) (')
    talk.send(
        CheckPrompt(query=7, question=question),
        CheckPrompt(query=8, question=msgspec.structs.replace(question, family="sd1")),
    )
    talk.wait_for(PromptChecked, lambda answer: answer.query == 8)
    found = {answer.query: answer.check.hints for answer in talk.of(PromptChecked)}
    assert found[7] == ()
    assert [hint.kind for hint in found[8]] == [HintKind.REFUSED, HintKind.UNPAIRED]


def test_everything_is_answered_while_a_job_runs(start: Start, job: MakeJob, tiny: Path) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.send(Ping(sequence=1))
    talk.wait_for(Pong)
    talk.send(
        InspectCheckpoint(query=1, path=str(tiny)),
        ScanDevices(query=2),
        CheckPrompt(query=3, question=QUESTION),
    )
    talk.wait_for(PromptChecked)
    answers = [event for event in talk.events if isinstance(event, Answer)]
    assert [event.query for event in answers] == [1, 2, 3]
    assert talk.of(QueryFailed) == []
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    talk.shut_down()


def test_a_copy_that_a_job_uses_is_not_cleared(start: Start, job: MakeJob, tmp_path: Path) -> None:
    talk = start(scripted(LONG))
    # A little less memory than converted weights need, so that working copies are made.
    services, request = JobServices.in_cache(tmp_path), job("", starter=True).request
    read = read_job(resolve_job(request, load_checkpoints(request)))
    (first, *_) = services.devices.candidates(request.backend)
    plan = plan_job(read, first, services, MemoryAllowance())
    talk.send(job("long", starter=True, memory_limit_bytes=plan.memory.peak_bytes - 1))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    # As `safelight cache clear` does, in a process of its own.
    cache = NetworkCache(tmp_path / "cache")
    cache.remove()
    assert len(cache.listed()) == 2  # of the text encoder and of the denoiser
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    cache.remove()
    assert cache.listed() == ()
