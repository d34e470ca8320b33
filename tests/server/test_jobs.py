"""Jobs: in order, each with one ending, stoppable at any time, with previews."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from engine.api.messages import (
    CancelJob,
    EngineFatal,
    ImageSaved,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPhase,
    JobPreview,
    JobProgress,
    LogRecord,
    Ping,
    Pong,
    QueryFailed,
    ScanDevices,
)
from engine.api.values import ErrorCode, Phase
from tests.metadata.records import read_record
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import Conversation, scripted
from tests.server.scripted_engine import Misdeed, Plan

FOREVER = 600.0


def phases(talk: Conversation, job: str) -> list[Phase]:
    return [event.phase for event in talk.of(JobPhase) if event.job == job]


def pictures(folder: Path) -> list[Path]:
    """Everything with a name a person would take for a picture."""
    out = folder / "out"
    return [p for p in out.iterdir() if not p.name.startswith(".")] if out.exists() else []


def test_a_job_is_told_from_beginning_to_end(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("one", steps=4))
    finished = talk.wait_for(JobFinished)
    talk.shut_down()
    assert phases(talk, "one") == [
        Phase.LOAD,
        *(Phase.COMPILE, Phase.ENCODE),
        *(Phase.COMPILE, Phase.DENOISE),
        *(Phase.COMPILE, Phase.DECODE),
        Phase.SAVE,
    ]
    assert [(p.done, p.total) for p in talk.of(JobProgress)] == [(i, 4) for i in range(5)]
    (saved,) = talk.of(ImageSaved)
    assert (saved.seed, saved.width, saved.height) == (7, 64, 64)
    assert read_record(Path(saved.path)) == saved.record
    assert pictures(talk.folder) == [Path(saved.path)]
    assert finished.timings.total_s > 0
    assert [record.level for record in talk.of(LogRecord)] == ["info"]
    assert finished.device


def test_progress_of_a_thousand_weights_is_reported_by_percent(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("one", starter=True))  # half precision, which the null backend has converted
    talk.wait_for(JobFinished)
    told: list[list[JobProgress]] = []
    for event in talk.events:
        if isinstance(event, JobPhase):
            told.append([])
        elif isinstance(event, JobProgress):
            told[-1].append(event)
    conversions = [part for part in told if part and part[0].total != 3]
    assert len(conversions) == 3
    # Of what is loaded ahead only what is left is told, while it is waited for.
    assert sum(len(part) > 10 for part in conversions) >= 2
    for part in conversions:
        assert len(part) <= 101
        assert part[-1].done == part[-1].total
        assert all(before.done < after.done for before, after in pairwise(part))


def test_two_jobs_run_in_order_and_end_once_each(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("first", count=2, seed=1), job("second", seed=5))
    talk.wait_for(JobFinished, lambda event: event.job == "second")
    talk.shut_down()
    assert [event.job for event in talk.of(JobFinished)] == ["first", "second"]
    assert [(event.job, event.seed) for event in talk.of(ImageSaved)] == [
        ("first", 1),
        ("first", 2),
        ("second", 5),
    ]


def test_each_job_ends_once_whatever_is_sent(start: Start, job: MakeJob) -> None:
    """Jobs that finish, fail, and are cancelled at random: the invariants are `check_stream`'s."""
    talk = start(scripted(Plan(networks={"denoiser": Misdeed(run_seconds=0.005)})))
    rng = random.Random(3)
    names = [f"job {number}" for number in range(30)]
    for name in names:
        bad = rng.random() < 0.2
        talk.send(job(name, steps=0 if bad else rng.choice([1, 5])))
        if rng.random() < 0.4:
            talk.send(CancelJob(job=rng.choice(names)))
    talk.wait_for(JobFailed)
    for name in rng.sample(names, 10):
        talk.send(CancelJob(job=name))
    talk.send(job("last"))
    talk.wait_for(JobFinished, lambda event: event.job == "last")
    talk.shut_down()
    kinds = {type(event) for event in talk.events}
    assert {JobFinished, JobFailed, JobCancelled} <= kinds


def test_a_job_may_come_again_when_it_is_over_but_not_before(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("same", seed=1))
    talk.wait_for(JobFinished)
    talk.send(job("same", seed=2))
    talk.wait_for(ImageSaved, lambda event: event.seed == 2)
    talk.send(job("long", steps=1000), job("long"))
    assert talk.wait_for(EngineFatal).error.code is ErrorCode.PROTOCOL_BROKEN
    assert talk.wait_for_end() == 1


def test_a_wrong_request_fails_and_the_next_job_runs(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("wrong", steps=0), job("lost", checkpoint="/nowhere.safetensors"), job("right"))
    talk.wait_for(JobFinished)
    talk.shut_down()
    codes = {event.job: event.error.code for event in talk.of(JobFailed)}
    assert codes == {
        "wrong": ErrorCode.REQUEST_INVALID,
        "lost": ErrorCode.CHECKPOINT_NOT_FOUND,
    }


def test_an_unexpected_exception_fails_the_job_and_the_engine_goes_on(
    start: Start, job: MakeJob
) -> None:
    talk = start(scripted(Plan(broken=True)))
    talk.send(job("broken"), ScanDevices(query=1))
    error = talk.wait_for(JobFailed).error
    assert error.code is ErrorCode.INTERNAL
    assert error.hint
    assert "ZeroDivisionError" in error.detail
    assert "scripted_engine.py" in error.detail  # where it happened
    assert talk.wait_for(QueryFailed).error.code is ErrorCode.INTERNAL
    talk.send(Ping(sequence=1))
    talk.wait_for(Pong)
    talk.shut_down()


# --- cancel ---


def test_cancel_while_loading(start: Start, job: MakeJob, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    talk = start(scripted(Plan(gate=str(gate))))
    talk.send(job("one"))
    talk.wait_for(JobPhase)
    talk.send(CancelJob(job="one"), Ping(sequence=1))
    talk.wait_for(Pong)
    gate.touch()
    talk.wait_for(JobCancelled)
    assert phases(talk, "one") == [Phase.LOAD]
    talk.shut_down()


PHASE_OF: dict[str, Phase] = {
    "text_encoder": Phase.ENCODE,
    "denoiser": Phase.DENOISE,
    "vae_decoder": Phase.DECODE,
}
NETWORKS = tuple(PHASE_OF)


@pytest.mark.parametrize("network", NETWORKS)
def test_cancel_while_compiling(start: Start, job: MakeJob, network: str) -> None:
    talk = start(scripted(Plan(networks={network: Misdeed(load_seconds=FOREVER)})))
    talk.send(job("one"))
    nth = NETWORKS.index(network) + 1
    talk.wait_for(JobPhase, lambda _e: phases(talk, "one").count(Phase.COMPILE) == nth)
    talk.send(CancelJob(job="one"))
    talk.wait_for(JobCancelled)
    assert phases(talk, "one")[-1] is Phase.COMPILE
    talk.shut_down()


@pytest.mark.parametrize("network", NETWORKS)
def test_cancel_inside_a_run(start: Start, job: MakeJob, network: str) -> None:
    """Encode, denoise and decode."""
    talk = start(scripted(Plan(networks={network: Misdeed(run_seconds=FOREVER)})))
    talk.send(job("one"))
    talk.wait_for(JobPhase, lambda event: event.phase is PHASE_OF[network])
    talk.send(CancelJob(job="one"))
    talk.wait_for(JobCancelled)
    assert phases(talk, "one")[-1] is PHASE_OF[network]
    assert pictures(talk.folder) == []
    talk.send(job("one", checkpoint="/nowhere"))  # the engine is none the worse for it
    talk.wait_for(JobFailed)


def test_cancel_between_steps(start: Start, job: MakeJob) -> None:
    talk = start(scripted(Plan(networks={"denoiser": Misdeed(run_seconds=0.02)})))
    talk.send(job("one", steps=1000))
    talk.wait_for(JobProgress, lambda event: event.done == 3)
    talk.send(CancelJob(job="one"))
    talk.wait_for(JobCancelled)
    assert talk.of(JobProgress)[-1].done < 1000
    talk.shut_down()


def test_cancel_between_pictures_keeps_those_that_are_saved(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("many", count=5000, steps=1))
    talk.wait_for(ImageSaved, lambda event: event.seed == 9)
    talk.send(CancelJob(job="many"))
    talk.wait_for(JobCancelled)
    talk.shut_down()
    saved = sorted(Path(event.path) for event in talk.of(ImageSaved))
    assert 3 <= len(saved) < 5000
    assert sorted(pictures(talk.folder)) == saved
    for path in saved:
        with Image.open(path) as image:
            image.load()


def test_waiting_jobs_are_cancelled_at_once_and_the_running_one_goes_on(
    start: Start, job: MakeJob
) -> None:
    talk = start(scripted(Plan(networks={"vae_decoder": Misdeed(run_seconds=FOREVER)})))
    talk.send(job("running"), job("waiting"), job("third"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DECODE)
    talk.send(CancelJob(job="waiting"), CancelJob(job="nobody"))
    assert talk.wait_for(JobCancelled).job == "waiting"
    assert phases(talk, "waiting") == []
    talk.send(CancelJob(job="running"))
    talk.wait_for(JobPhase, lambda event: event.job == "third")
    talk.shut_down()
    assert [event.job for event in talk.of(JobCancelled)] == ["waiting", "running", "third"]


# --- previews ---


def test_previews_show_the_picture_so_far(start: Start, job: MakeJob) -> None:
    talk = start(scripted(Plan(networks={"denoiser": Misdeed(run_seconds=0.03)})))
    talk.send(job("one", starter=True, steps=40, width=128, height=64))
    finished = talk.wait_for(JobFinished)
    talk.shut_down()
    shown = [heard for heard in talk.heard if isinstance(heard.event, JobPreview)]
    events = [heard.event for heard in shown if isinstance(heard.event, JobPreview)]
    assert all((event.width, event.height) == (16, 8) for event in events)
    assert all(len(heard.payload) == 3 * 16 * 8 for heard in shown)
    assert all(before.step < after.step for before, after in pairwise(events))
    # One at once, then at most four in a second.
    assert 1 < len(events) <= 1 + 4 * finished.timings.denoise_s


def test_a_checkpoint_whose_latents_nobody_can_show_has_no_previews(
    start: Start, job: MakeJob
) -> None:
    talk = start()
    talk.send(job("one"))
    talk.wait_for(JobFinished)
    assert talk.of(JobPreview) == []
