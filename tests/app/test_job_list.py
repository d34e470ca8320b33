"""The list of jobs against a plain list, and what becomes of a job in each case."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queue.job_list import (
    AllCancelAsked,
    Entry,
    JobList,
    Submitted,
)
from app.queue.jobs import (
    CancelAsked,
    Cancelled,
    Failed,
    Finished,
    Job,
    JobState,
    Lost,
    Recovered,
    Retried,
    Returned,
    Saved,
    Started,
)
from engine.api.request import GenerateRequest, SeedOptions
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.requests import generation_of

ERROR = ErrorInfo(ErrorCode.ENGINE_CRASHED, "The engine crashed.")
A = "a"


def submitted(*names: str, front: bool = False, prompt: str = "a house") -> Submitted:
    seeds = tuple(range(10, 10 + len(names)))
    request = GenerateRequest(prompt=prompt)
    return Submitted(jobs=names, seeds=seeds, request=request, folder="out", front=front)


def submitted_list(names: list[str], front: bool) -> Submitted:
    return submitted(*names, front=front)


def after(*entries: Entry) -> JobList:
    jobs = JobList()
    for entry in entries:
        jobs.apply(entry)
    return jobs


def job_after(*entries: Entry) -> Job:
    job = after(submitted(A), *entries).get(A)
    assert job is not None
    return job


def names(jobs: JobList) -> list[str]:
    return [job.id for job in jobs.snapshot]


# --- a job ---

START, LOSE = Started(job=A), Lost(job=A, error=ERROR)
MOVED = Recovered(job=A, path="/new/1.png")
SAVE, CANCEL = Saved(job=A, path="a.png"), CancelAsked(job=A)


@pytest.mark.parametrize(
    ("entries", "state", "attempts"),
    [
        ([], JobState.WAITING, 0),
        ([START], JobState.RUNNING, 1),
        ([START, Finished(job=A)], JobState.DONE, 1),
        ([START, Failed(job=A, error=ERROR)], JobState.FAILED, 1),
        ([START, CANCEL], JobState.RUNNING, 1),
        ([START, CANCEL, Cancelled(job=A)], JobState.CANCELLED, 1),
        # By an engine that ends.
        ([START, Cancelled(job=A)], JobState.WAITING, 0),
        ([START, CANCEL, Finished(job=A)], JobState.DONE, 1),
        ([START, CANCEL, Failed(job=A, error=ERROR)], JobState.FAILED, 1),
        ([CANCEL], JobState.CANCELLED, 0),
        ([CANCEL, START], JobState.CANCELLED, 0),
        ([START, LOSE], JobState.WAITING, 1),
        ([START, LOSE, START], JobState.RUNNING, 2),
        ([START, LOSE, START, LOSE], JobState.FAILED, 2),
        ([START, LOSE, LOSE], JobState.WAITING, 1),
        ([START, SAVE, LOSE], JobState.DONE, 1),
        ([START, CANCEL, LOSE], JobState.CANCELLED, 1),
        ([START, CANCEL, SAVE, LOSE], JobState.DONE, 1),
        ([START, Returned(job=A)], JobState.WAITING, 0),
        ([START, LOSE, START, Returned(job=A)], JobState.WAITING, 1),
        ([START, SAVE, Returned(job=A)], JobState.DONE, 1),
        ([START, CANCEL, Returned(job=A)], JobState.CANCELLED, 1),
        ([START, LOSE, START, LOSE, Retried(job=A)], JobState.WAITING, 0),
        ([CANCEL, Retried(job=A)], JobState.WAITING, 0),
        ([START, Retried(job=A)], JobState.RUNNING, 1),
        ([START, Finished(job=A), Retried(job=A)], JobState.DONE, 1),
        ([START, Failed(job=A, error=ERROR), MOVED], JobState.DONE, 1),
        ([START, MOVED], JobState.RUNNING, 1),
        ([Finished(job=A)], JobState.WAITING, 0),
        ([START, Finished(job=A), LOSE, CANCEL, START], JobState.DONE, 1),
    ],
)
def test_a_job_is_listed_in_each_of_its_states(
    entries: list[Entry], state: JobState, attempts: int
) -> None:
    job = job_after(*entries)
    assert (job.state, job.attempts) == (state, attempts)
    assert (job.error is not None) == (state is JobState.FAILED)


def test_a_job_that_is_asked_to_stop_says_so_until_it_is_over() -> None:
    assert job_after(START, CANCEL).cancelling
    assert not job_after(START, CANCEL, Cancelled(job=A)).cancelling
    assert not job_after(CANCEL).cancelling


def test_a_picture_that_was_moved_lies_where_it_was_moved_to() -> None:
    job = job_after(START, Failed(job=A, error=ERROR), MOVED)
    assert (job.images, job.folder) == (("/new/1.png",), Path("/new"))


def test_a_job_tried_again_owes_nothing_to_its_first_life() -> None:
    job = job_after(START, SAVE, Failed(job=A, error=ERROR), Retried(job=A))
    assert job == job_after()


# --- the list ---


def test_a_batch_becomes_jobs_with_seeds_of_their_own() -> None:
    jobs = after(submitted("a", "b", "c")).snapshot
    assert [generation_of(job).seed for job in jobs] == [10, 11, 12]
    assert {generation_of(job).count for job in jobs} == {1}


def test_a_batch_of_variations_has_one_seed_and_is_written_down_together() -> None:
    seeds = SeedOptions(variation_strength=0.2)
    request = GenerateRequest(prompt="a house", seed=5, seed_options=seeds)
    jobs = after(Submitted(jobs=("a", "b", "c"), seeds=(10, 11, 12), request=request, folder="out"))
    requests = [generation_of(job) for job in jobs.snapshot]
    assert {made.seed for made in requests} == {5}
    assert [made.seed_options.variation_seed for made in requests] == [10, 11, 12]
    (entry,) = jobs.entries()
    assert after(entry).snapshot == jobs.snapshot


def test_front_is_before_all_that_wait_and_after_what_runs() -> None:
    jobs = after(
        submitted("a", "b", "c"),
        Started(job="a"),
        submitted("x", "y", front=True),
    )
    assert names(jobs) == ["a", "x", "y", "b", "c"]


def test_only_one_runs() -> None:
    jobs = after(submitted("a", "b"), Started(job="a"), Started(job="b"))
    assert jobs.running == jobs.get("a")
    assert jobs.first_waiting == jobs.get("b")


def test_the_first_that_waits_is_next() -> None:
    jobs = after(submitted("a", "b", "c"), CancelAsked(job="a"))
    assert jobs.first_waiting == jobs.get("b")


def test_cancelling_all_spares_what_is_over() -> None:
    jobs = after(submitted(*"abcd"), Started(job="a"), Finished(job="a"), Started(job="b"))
    change = jobs.apply(AllCancelAsked())
    assert [job.id for job in change.changed] == ["b", "c", "d"]
    assert [job.state for job in jobs.snapshot] == [
        *(JobState.DONE, JobState.RUNNING, JobState.CANCELLED, JobState.CANCELLED)
    ]


def test_the_same_id_is_not_taken_twice() -> None:
    jobs = after(submitted("a", "a"), submitted("a"))
    assert names(jobs) == ["a"]


# --- any entries ---

NAMES = st.sampled_from("abcdef")


ENTRIES = st.one_of(
    st.builds(submitted_list, st.lists(NAMES, max_size=4), st.booleans()),
    *(st.builds(kind, job=NAMES) for kind in (Started, Finished, Cancelled, Returned)),
    *(st.builds(kind, job=NAMES) for kind in (CancelAsked, Retried)),
    *(st.builds(kind, job=NAMES, error=st.just(ERROR)) for kind in (Lost, Failed)),
    st.builds(Saved, job=NAMES, path=NAMES),
    st.just(AllCancelAsked()),
)


@given(st.lists(ENTRIES, max_size=40))
def test_changes_tell_everything(happened: list[Entry]) -> None:
    """A list kept up to date by the changes is equal to the snapshot."""
    jobs = JobList()
    shown: dict[str, Job] = {}
    for entry in happened:
        before = names(jobs)
        change = jobs.apply(entry)
        shown |= {job.id: job for job in (*change.added, *change.changed)}
        for name in change.removed:
            del shown[name]
        assert shown == {job.id: job for job in jobs.snapshot}
        kept = [name for name in before if name in shown]
        order_kept = [name for name in names(jobs) if name in before] == kept
        assert order_kept
        running = [job for job in jobs.snapshot if job.state is JobState.RUNNING]
        assert running == ([] if jobs.running is None else [jobs.running])


@given(st.lists(ENTRIES, max_size=40))
def test_a_list_can_be_written_down_and_made_again(happened: list[Entry]) -> None:
    jobs = after(*happened)
    if jobs.running is not None:
        jobs.apply(Returned(job=jobs.running.id))
    assert after(*jobs.entries()).snapshot == jobs.snapshot


def test_jobs_submitted_together_are_written_down_together() -> None:
    jobs = after(submitted(*"abc"), submitted("d", prompt="a horse"), submitted("e", "f"))
    assert len(list(jobs.entries())) == 3
    alone = msgspec.json.encode(list(after(submitted("a")).entries()))
    assert len(msgspec.json.encode(list(jobs.entries()))) < 3.1 * len(alone)


@pytest.mark.parametrize(("end", "most"), [(CancelAsked, 10_000), (Finished, 1000)])
def test_the_jobs_that_were_over_first_leave_a_list_of_too_many(
    end: type[CancelAsked | Finished], most: int
) -> None:
    ids = [str(number) for number in range(most + 2)]
    jobs = after(submitted(*ids))
    gone: list[str] = []
    # Not in the order of the list.
    for name in reversed(ids):
        jobs.apply(Started(job=name))
        if end is CancelAsked:
            jobs.apply(CancelAsked(job=name))
            jobs.apply(Cancelled(job=name))
        else:
            gone += jobs.apply(end(job=name)).removed
    assert names(jobs) == ids[:most]
    assert gone in ([], [ids[-1], ids[-2]])


def test_a_list_counts_its_jobs_by_state() -> None:
    jobs = after(submitted("a", "b", "c", "d"), CancelAsked(job="a"), Started(job="b"))
    assert [jobs.count(state) for state in JobState] == [2, 1, 0, 0, 1]
    jobs.apply(Finished(job="b"))
    jobs.apply(Retried(job="a"))
    assert [jobs.count(state) for state in JobState] == [3, 0, 1, 0, 0]
    jobs.drop((JobState.DONE,))
    assert jobs.count(JobState.DONE) == 0
