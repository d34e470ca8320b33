"""The engine ends when asked, when the app is gone, when it is killed, whatever hangs."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from PIL import Image

from engine.api.messages import (
    CancelJob,
    EngineFatal,
    Hello,
    ImageSaved,
    JobCancelled,
    JobFinished,
    JobPhase,
    JobProgress,
    Ping,
    Pong,
    Shutdown,
)
from engine.api.values import ErrorCode, Phase
from engine.parent import watch
from tests.forks import forked
from tests.metadata.records import read_record
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import PATIENCE_S, UNYIELDING, scripted
from tests.server.scripted_engine import Misdeed, Plan
from tests.server.test_jobs import FOREVER, pictures

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")
NOTHING = Plan()
LONG = Plan(networks={"denoiser": Misdeed(run_seconds=FOREVER)})


# --- the app goes away, or asks ---


def test_the_end_of_the_pipe_ends_an_idle_engine(start: Start) -> None:
    talk = start(scripted(NOTHING))
    talk.hang_up()
    assert talk.wait_for_end() == 0


def test_the_end_of_the_pipe_ends_one_that_was_never_configured(start: Start) -> None:
    talk = start(scripted(NOTHING), ready=False)
    talk.hang_up()
    assert talk.wait_for_end() == 0


def test_the_end_of_the_pipe_ends_a_job(start: Start, job: MakeJob) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.hang_up()
    assert talk.wait_for_end() == 0
    assert [event.job for event in talk.of(JobCancelled)] == ["long"]


def test_shutdown_cancels_what_runs_and_what_waits(start: Start, job: MakeJob) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"), job("waiting"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.shut_down()
    assert {event.job for event in talk.of(JobCancelled)} == {"long", "waiting"}


def test_an_app_that_no_longer_reads_ends_it(start: Start) -> None:
    talk = start(scripted(NOTHING), ready=False, reads=False)
    assert talk.process.stdout is not None
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, talk.process.stdout.fileno())  # closes the reading end of the pipe
    os.close(null)
    talk.send(Ping(sequence=1))
    assert talk.process.wait(PATIENCE_S) == 0


def test_an_engine_that_hangs_is_ended_by_force_and_writes_its_stacks(
    start: Start, job: MakeJob, tmp_path: Path
) -> None:
    gate = tmp_path / "never"
    talk = start(scripted(Plan(gate=str(gate), grace_s=1)))
    talk.send(job("stuck"))
    while not Path(f"{gate}.reached").exists():
        time.sleep(0.01)
    talk.send(Shutdown())
    assert talk.wait_for_end() == 1
    assert "_before_probe" in talk.stderr()


def test_a_hang_that_keeps_the_interpreter_is_ended_too(
    start: Start, job: MakeJob, tmp_path: Path
) -> None:
    """The wish to end is heard before; then no more Python is needed."""
    gate = tmp_path / "gate"
    talk = start(scripted(Plan(hung=True, gate=str(gate), grace_s=1)))
    talk.send(job("stuck"), job("waiting"))
    talk.wait_for(JobPhase)
    talk.send(Shutdown())
    talk.wait_for(JobCancelled, lambda event: event.job == "waiting")
    gate.touch()
    assert talk.wait_for_end() == 1


def test_a_bug_in_the_reader_is_told_before_the_engine_ends(start: Start) -> None:
    talk = start(scripted(Plan(buggy=True)))
    talk.send(CancelJob(job="any"))
    error = talk.wait_for(EngineFatal).error
    assert error.code is ErrorCode.INTERNAL
    assert "ZeroDivisionError" in error.detail
    assert talk.wait_for_end() == 1


@linux_only
def test_ctrl_c_in_the_app_s_terminal_is_not_the_engine_s_business(
    start: Start, job: MakeJob
) -> None:
    talk = start((*scripted(LONG, new=True), "--parent", str(os.getpid())))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    talk.process.send_signal(signal.SIGINT)
    talk.send(Ping(sequence=1))
    talk.wait_for(Pong)
    talk.send(CancelJob(job="long"), job("next"))
    talk.wait_for(JobPhase, lambda event: event.job == "next" and event.phase is Phase.DENOISE)


def test_ctrl_c_ends_an_engine_of_its_own(start: Start, job: MakeJob) -> None:
    talk = start(scripted(LONG))
    talk.send(job("long"))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    os.kill(talk.wait_for(Hello).pid, signal.SIGINT)
    assert talk.wait_for_end() == 0
    assert [event.job for event in talk.of(JobCancelled)] == ["long"]


# --- the app dies ---

_APP = """
import os, subprocess, sys, time
command = [*sys.argv[1:], "--parent", str(os.getpid())]
engine = subprocess.Popen(command, stdout=subprocess.PIPE)
assert os.read(engine.stdout.fileno(), 1)
print("it says hello", flush=True)
time.sleep(600)
"""


@linux_only
def test_the_engine_dies_with_an_app_that_is_killed(tmp_path: Path) -> None:
    """Though its pipe is still open, as if a native call kept it from being read."""
    commands, open_end = os.pipe()
    life, held = os.pipe()
    app = subprocess.Popen(
        [sys.executable, "-c", _APP, *UNYIELDING],
        stdin=commands,
        stdout=subprocess.PIPE,
        stderr=held,
    )
    assert app.stdout is not None
    assert app.stdout.readline() == b"it says hello\n"
    # With the app gone, nobody but the engine holds the other end: its stderr.
    os.close(held)
    app.kill()
    app.wait(PATIENCE_S)
    assert _ends(life), "the engine lives on"
    app.stdout.close()
    for descriptor in (commands, open_end, life):
        os.close(descriptor)


def _ends(descriptor: int) -> bool:
    """Return True once every writer of a pipe is gone."""

    def read() -> None:
        while os.read(descriptor, 1 << 16):
            pass

    thread = Thread(target=read, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    return not thread.is_alive()


@linux_only
def test_an_engine_whose_app_died_before_it_started_ends_at_once(start: Start) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait(PATIENCE_S)
    talk = start((*UNYIELDING, "--parent", str(dead.pid)), ready=False)
    assert talk.wait_for_end() == 0
    assert talk.events == []


@linux_only
def test_the_right_parent_is_no_reason_to_end(start: Start) -> None:
    talk = start(forked("-m", "engine", "--parent", str(os.getpid())))
    talk.send(Ping(sequence=1))
    talk.wait_for(Pong)


def test_watching_a_parent_calls_when_another_took_its_place() -> None:
    parents, calls = iter([7, 7, 1]), list[str]()
    watch(7, lambda: next(parents), lambda: calls.append("gone"), every_s=0)
    assert calls == ["gone"]
    assert list(parents) == []


# --- kill -9 ---


@pytest.mark.parametrize("seed", range(8))
def test_a_killed_engine_leaves_whole_pictures_only(
    start: Start, job: MakeJob, tmp_path: Path, seed: int
) -> None:
    """At a random event, and a random moment after it: mid-step, mid-frame, mid-write."""
    rng = random.Random(seed)
    talk = start()
    talk.send(job("many", count=10_000, steps=2))
    kind = rng.choice([JobPhase, JobProgress, ImageSaved])
    count = rng.randrange(1, 40)
    talk.wait_for(kind, lambda _event: len(talk.of(kind)) >= count)
    for _ in range(rng.randrange(2000)):  # a moment of no fixed length
        pass
    talk.process.kill()
    talk.wait_for_end()
    found = pictures(tmp_path)
    for path in found:
        with Image.open(path) as image:
            image.load()
        assert read_record(path) is not None
    told = {Path(event.path) for event in talk.of(ImageSaved)}
    assert told <= set(found)
    assert talk.of(JobFinished) == []
