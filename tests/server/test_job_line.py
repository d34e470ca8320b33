"""The line of jobs, by itself."""

from threading import Event, Thread

import pytest

from engine.api.messages import JobFinished, Message, RunJob
from engine.api.record import Timings
from engine.api.request import GenerateRequest
from engine.cancel import CancelToken
from engine.server import job_line
from engine.server.job_line import JobLine

SOON = 20.0
NO_TIME = Timings(load_s=0, compile_s=0, encode_s=0, denoise_s=0, decode_s=0, save_s=0, total_s=0)


def test_memory_is_given_back_once_when_no_job_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_line, "REST_AFTER_S", 0.02)
    rested, done = Event(), Event()
    rests: list[bool] = []

    def put(event: Message, payload: bytes = b"", *, wait: bool = True) -> None:
        pass

    def work(command: RunJob, token: CancelToken) -> JobFinished:
        done.set()
        return JobFinished(job=command.job, device="", timings=NO_TIME, warnings=())

    def rest() -> None:
        rests.append(done.is_set())
        rested.set()

    line = JobLine(put)
    thread = Thread(target=line.run, args=(work, rest))
    thread.start()
    assert rested.wait(SOON)
    rested.clear()
    line.add(RunJob(job="one", request=GenerateRequest(prompt=""), folder=""))
    assert done.wait(SOON)
    assert rested.wait(SOON)
    line.close()
    thread.join(SOON)
    assert not thread.is_alive()
    # Once before the job and once after it, however long the line stood still.
    assert rests == [False, True]
