"""The engine's supervision, with an engine that misbehaves on request."""

import os
import signal
import sys
import time
from pathlib import Path

import msgspec
import pytest

from app.engine.connection import EngineCommand
from app.engine.process import EngineState
from engine.api.messages import (
    DevicesFound,
    ImageSaved,
    JobFinished,
    JobProgress,
    Ping,
    RunJob,
    VerifyDevices,
)
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo
from engine.api.wire import MAX_HEADER_BYTES
from engine.errors import EngineError
from tests.app.conftest import Supervise
from tests.app.fake_engine import Plan
from tests.app.supervised import QUICK, Supervised, is_alive

READY, STOPPED = EngineState.READY, EngineState.STOPPED
STARTING, RESTARTING = EngineState.STARTING, EngineState.RESTARTING
NOT_ANSWERING = EngineState.NOT_ANSWERING


def run_job(engine: Supervised, name: str = "job") -> None:
    request = GenerateRequest(prompt="a red house", seed=7)
    out = str(engine.folder / "out")
    assert engine.process.send(RunJob(job=name, request=request, folder=out))


# --- start and stop ---


def test_an_engine_starts_and_answers(supervise: Supervise) -> None:
    engine = supervise().start()
    assert engine.told.states == [STARTING, READY]
    engine.process.send(VerifyDevices(query=4))
    assert engine.wait_for(DevicesFound)[0].query == 4


def test_no_command_is_sent_before_the_engine_is_ready(supervise: Supervise) -> None:
    engine = supervise()
    assert not engine.process.send(Ping(sequence=1))
    engine.process.start()
    assert not engine.process.send(Ping(sequence=1))


def test_a_command_too_large_for_a_frame_is_refused_and_harms_nothing(
    supervise: Supervise,
) -> None:
    engine = supervise().start()
    long = GenerateRequest(prompt="x" * (MAX_HEADER_BYTES + 1))
    with pytest.raises(EngineError) as caught:
        engine.process.send(RunJob(job="a", request=long, folder=""))
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    engine.process.send(VerifyDevices(query=1))
    engine.wait_for(DevicesFound)


def test_stops_on_request_and_says_so(supervise: Supervise) -> None:
    engine = supervise().start()
    pid = engine.pid
    engine.process.stop()
    assert engine.process.state is STOPPED
    engine.wait(lambda: bool(engine.told.ends))
    assert engine.told.ends[0].requested
    assert engine.told.crashes == []
    assert not is_alive(pid)


def test_an_engine_that_ignores_shutdown_is_killed(supervise: Supervise) -> None:
    engine = supervise(Plan(ignores_shutdown=True), new=True).start()
    pid = engine.pid
    engine.process.stop()
    engine.wait(lambda: bool(engine.told.ends))
    assert engine.told.ends[0].requested
    assert not is_alive(pid)


@pytest.mark.parametrize("plan", [Plan(), Plan(ignores_shutdown=True)])
def test_the_end_of_the_app_can_wait_for_it(supervise: Supervise, plan: Plan) -> None:
    engine = supervise(plan, new=True).start()
    pid = engine.pid
    engine.process.stop()
    engine.process.wait_until_stopped()
    assert len(engine.told.ends) == 1
    assert not is_alive(pid)


def test_events_are_received_while_the_engine_stops(supervise: Supervise) -> None:
    engine = supervise(Plan(ignores_shutdown=True, step_seconds=0.05)).start()
    run_job(engine)
    engine.process.stop()
    engine.wait_for(JobFinished)


def test_can_be_started_again_while_it_still_stops(supervise: Supervise) -> None:
    engine = supervise(Plan(ignores_shutdown=True)).start()
    pid = engine.pid
    engine.process.stop()
    engine.start()
    assert engine.pid != pid
    assert not is_alive(pid)


def test_stopping_while_it_starts(supervise: Supervise) -> None:
    engine = supervise(Plan(silent=True))
    engine.process.start()
    engine.process.stop()
    engine.wait(lambda: bool(engine.told.ends))
    assert engine.told.states == [STARTING, STOPPED]
    assert engine.told.crashes == []


# --- handshake ---


def test_another_version_is_given_up_at_once(supervise: Supervise) -> None:
    engine = supervise(Plan(protocol=99))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.given_up))
    error = engine.told.given_up[0]
    assert error.code is ErrorCode.PROTOCOL_MISMATCH
    assert "another version" in error.message
    assert error.hint
    assert engine.told.states == [STARTING, STOPPED]
    assert len(engine.told.ends) == 1


def test_an_engine_that_refuses_our_version_is_given_up_at_once(supervise: Supervise) -> None:
    refusal = ErrorInfo(ErrorCode.PROTOCOL_MISMATCH, "The app is of another version.", "Install.")
    engine = supervise(Plan(fatal=refusal))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.given_up))
    assert engine.told.given_up == [refusal]


def test_the_reason_the_engine_gives_is_the_one_that_is_told(supervise: Supervise) -> None:
    reason = ErrorInfo(ErrorCode.ENGINE_NOT_STARTED, "A part of Safelight is missing.", "Install.")
    engine = supervise(Plan(fatal=reason))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.crashes))
    assert engine.told.crashes[0] == reason


@pytest.mark.parametrize("plan", [Plan(silent=True), Plan(never_ready=True)])
def test_an_engine_that_never_gets_ready_is_given_up(supervise: Supervise, plan: Plan) -> None:
    engine = supervise(plan, msgspec.structs.replace(QUICK, handshake_ms=300))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.given_up))
    assert len(engine.told.crashes) == 3
    assert engine.told.given_up[0].code is ErrorCode.ENGINE_NOT_STARTED
    assert READY not in engine.told.states


def test_a_program_that_is_not_there_is_given_up_at_once(supervise: Supervise) -> None:
    engine = supervise(command=EngineCommand("/nonexistent/engine"))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.given_up))
    assert engine.told.given_up[0].code is ErrorCode.ENGINE_NOT_STARTED
    assert "/nonexistent/engine" in engine.told.given_up[0].detail
    assert engine.process.state is STOPPED


# --- silence ---


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
def test_a_stopped_process_does_not_answer_and_comes_back(supervise: Supervise) -> None:
    engine = supervise().start()
    os.kill(engine.pid, signal.SIGSTOP)
    engine.wait(lambda: engine.process.state is NOT_ANSWERING)
    os.kill(engine.pid, signal.SIGCONT)
    engine.wait(lambda: engine.process.state is READY)
    assert engine.told.states == [STARTING, READY, NOT_ANSWERING, READY]
    assert engine.told.ends == []


def test_force_stop_ends_what_hangs_and_starts_another(
    supervise: Supervise, tmp_path: Path
) -> None:
    # It hears Configure and a Ping, and then nothing.
    engine = supervise(Plan(deaf_after=2, once=str(tmp_path / "once"))).start()
    pid = engine.pid
    engine.wait(lambda: engine.process.state is NOT_ANSWERING)
    engine.process.force_stop()
    assert engine.process.state is RESTARTING
    engine.wait(lambda: engine.process.state is READY)
    assert engine.pid != pid
    assert not is_alive(pid)
    assert engine.told.crashes == []
    assert [end.requested for end in engine.told.ends] == [False]


def test_a_stall_of_the_app_is_not_blamed_on_the_engine(supervise: Supervise) -> None:
    engine = supervise().start()
    # Long enough for many pings to have been due.
    time.sleep(20 * QUICK.ping_ms / 1000)
    engine.process.send(VerifyDevices(query=1))
    engine.wait_for(DevicesFound)
    assert engine.told.states == [STARTING, READY]


# --- crashes ---


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_engine_is_noticed_and_replaced(supervise: Supervise) -> None:
    engine = supervise().start()
    pid = engine.pid
    os.kill(pid, signal.SIGKILL)
    engine.wait(lambda: bool(engine.told.crashes))
    assert engine.told.crashes[0].code is ErrorCode.ENGINE_CRASHED
    engine.wait(lambda: engine.process.state is READY)
    assert engine.pid != pid
    assert engine.told.states == [STARTING, READY, RESTARTING, STARTING, READY]


@pytest.mark.skipif(sys.platform == "win32", reason="exit codes are worded differently there")
@pytest.mark.parametrize(
    ("plan", "words", "technical"),
    [
        (Plan(by_signal=9), "was ended by the system", "signal 9 (SIGKILL)"),
        (Plan(by_signal=11), "crashed inside native code", "signal 11 (SIGSEGV)"),
        (Plan(by_signal=6), "was aborted", "signal 6 (SIGABRT)"),
        (Plan(by_signal=10), "ended unexpectedly", "signal 10 (SIGUSR1)"),
        (Plan(status=3), "ended unexpectedly", "exit status 3"),
        (Plan(status=0), "ended unexpectedly", "exit status 0"),
    ],
)
def test_a_crash_is_told_in_words(
    supervise: Supervise, plan: Plan, words: str, technical: str
) -> None:
    # Hello and Ready, and the end at the first Pong.
    last_words = "".join(f"line {number} \x1b[31m\n" for number in range(300))
    engine = supervise(msgspec.structs.replace(plan, ends_after=3, stderr=last_words)).start()
    engine.wait(lambda: bool(engine.told.crashes))
    error = engine.told.crashes[0]
    assert words in error.message
    first, *lines = error.detail.splitlines()
    assert first == technical
    assert lines == [f"line {number} [31m" for number in range(280, 300)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_three_crashes_in_a_short_while_end_it_until_it_is_started_again(
    supervise: Supervise,
) -> None:
    engine = supervise(Plan(ends_after=3, by_signal=9)).start()
    engine.wait(lambda: bool(engine.told.given_up))
    assert len(engine.told.crashes) == 3
    assert "3 times" in engine.told.given_up[0].message
    assert "ended by the system" in engine.told.given_up[0].message
    assert engine.process.state is STOPPED
    engine.start()
    engine.wait(lambda: len(engine.told.given_up) == 2)
    assert len(engine.told.crashes) == 6


def test_crashes_far_apart_do_not_end_it(supervise: Supervise) -> None:
    engine = supervise(
        Plan(ends_after=3), msgspec.structs.replace(QUICK, crash_window_s=0.0)
    ).start()
    engine.wait(lambda: len(engine.told.crashes) >= 5)
    assert engine.told.given_up == []


def test_events_before_a_crash_are_received_before_the_end(supervise: Supervise) -> None:
    # Hello, Ready, JobPhase, 200 times JobProgress, ImageSaved, and dead before JobFinished.
    plan = Plan(steps=200, ends_after=204, by_signal=9)
    engine = supervise(plan, msgspec.structs.replace(QUICK, ping_ms=60_000)).start()
    run_job(engine)
    engine.wait(lambda: bool(engine.told.crashes))
    assert len(engine.told.of(JobProgress)) == 200
    assert len(engine.told.of(ImageSaved)) == 1


def test_stderr_of_the_engine_is_logged_in_files_of_bounded_size(
    supervise: Supervise,
) -> None:
    text = "x" * 999 + "\nthe end\n"
    engine = supervise(Plan(stderr=text, stderr_times=13_000)).start()
    engine.wait(lambda: engine.process.last_lines[-1:] == ("the end",))
    assert len(engine.process.last_lines) == 200
    assert max(map(len, engine.process.last_lines)) == 500
    engine.end()
    files = list(engine.logs.iterdir())
    assert {file.name for file in files} == {
        "engine.log",
        *(f"engine.log.{n}" for n in range(1, 5)),
    }
    assert max(file.stat().st_size for file in files) <= 2_000_000
    assert (engine.logs / "engine.log").read_text().endswith("the end\n")
