"""Commands out, one signal per event in, and an answer to every query."""

import inspect
import re
from pathlib import Path
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot

from app.engine.client import EngineClient
from app.engine.process import EngineState
from engine.api.messages import (
    CancelJob,
    Command,
    DevicesFound,
    EngineFatal,
    Event,
    Hello,
    InspectCheckpoint,
    JobPreview,
    LogRecord,
    Pong,
    QueryFailed,
    Ready,
    RunJob,
)
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode
from tests.api.strategies import events
from tests.app.conftest import Supervise
from tests.app.silent_process import CRASH, SilentProcess
from tests.app.supervised import PATIENCE_MS

# What the supervision keeps to itself, by design or because others send it.
OF_SUPERVISION = (Hello, Ready, Pong, EngineFatal, LogRecord)
# A job of an upscale is sent by the method of any job.
NOT_ASKED_HERE = {"Configure", "Ping", "RunUpscale", "Shutdown"}
FOUND = DevicesFound(query=1, devices=())


def connect(client: EngineClient, name: str) -> list[Any]:
    heard: list[Any] = []
    signal = getattr(client, name)
    assert isinstance(signal, SignalInstance)
    signal.connect(heard.append)
    return heard


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=events.filter(lambda event: not isinstance(event, OF_SUPERVISION)))
def test_an_event_is_told_by_the_signal_of_its_name(
    event: Event, tmp_path: Path, qtbot: QtBot
) -> None:
    process = SilentProcess(tmp_path)
    client = EngineClient(process)
    heard: list[Event] = []
    signal = getattr(client, snake_case(type(event).__name__))
    assert isinstance(signal, SignalInstance)
    signal.connect(lambda event, *_: heard.append(event))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    process.say(event)
    assert heard == [event]


def test_each_command_has_a_method(tmp_path: Path, qtbot: QtBot) -> None:
    process = SilentProcess(tmp_path)
    client = EngineClient(process)
    values = {
        "job_id": "a",
        "request": GenerateRequest(prompt=""),
        "folder": Path("o"),
        "path": "/p",
    }
    wanted = {command.__name__ for command in get_args(Command)} - NOT_ASKED_HERE
    for name in wanted:
        method = getattr(client, snake_case(name))
        needed = [
            values.get(parameter.name, "x")
            for parameter in inspect.signature(method).parameters.values()
            if parameter.default is inspect.Parameter.empty
        ]
        method(*needed)
    qtbot.waitUntil(lambda: len(process.sent) == len(wanted), timeout=PATIENCE_MS)
    assert {type(command).__name__ for command in process.sent} == wanted


def test_jobs_go_out_and_events_come_in(tmp_path: Path, qtbot: QtBot) -> None:
    process = SilentProcess(tmp_path)
    client = EngineClient(process)
    request = GenerateRequest(prompt="a house")
    assert client.run_job("a", request, Path("out"))
    assert client.cancel_job("a")
    assert process.sent == [RunJob(job="a", request=request, folder="out"), CancelJob(job="a")]
    heard: list[tuple[JobPreview, bytes]] = []
    client.job_preview.connect(lambda event, pixels: heard.append((event, pixels)))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    preview = JobPreview(job="a", step=1, width=1, height=1)
    process.received.emit(preview, b"rgb")
    assert heard == [(preview, b"rgb")]


def test_a_job_finds_no_engine_that_is_not_there(tmp_path: Path, qtbot: QtBot) -> None:
    client = EngineClient(SilentProcess(tmp_path, EngineState.STARTING))
    assert not client.run_job("a", GenerateRequest(prompt=""), Path("out"))
    assert not client.cancel_job("a")


def test_queries_have_numbers_of_their_own_and_wait_for_the_engine(
    tmp_path: Path, qtbot: QtBot
) -> None:
    process = SilentProcess(tmp_path, EngineState.STARTING)
    client = EngineClient(process)
    numbers = [client.inspect_checkpoint("/a"), client.scan_devices(), client.verify_devices()]
    assert len(set(numbers)) == 3
    assert process.sent == []
    process.become(EngineState.READY)
    assert [getattr(command, "query", None) for command in process.sent] == numbers
    asked = process.sent[0]
    assert isinstance(asked, InspectCheckpoint)
    assert asked.path == "/a"


def test_a_query_without_an_answer_fails_when_the_engine_ends(tmp_path: Path, qtbot: QtBot) -> None:
    process = SilentProcess(tmp_path)
    client = EngineClient(process)
    failed, answered = connect(client, "query_failed"), connect(client, "devices_found")
    first, second = client.verify_devices(), client.scan_devices()
    qtbot.waitUntil(lambda: len(process.sent) == 2, timeout=PATIENCE_MS)
    process.say(FOUND)
    process.crash()
    late = client.scan_devices()
    assert [event.query for event in answered] == [first]
    assert failed == [QueryFailed(query=second, error=CRASH)]
    process.become(EngineState.READY)
    process.crash()
    assert failed[1:] == [QueryFailed(query=late, error=CRASH)]


def test_a_query_that_waits_fails_when_the_engine_is_given_up(tmp_path: Path, qtbot: QtBot) -> None:
    process = SilentProcess(tmp_path, EngineState.RESTARTING)
    client = EngineClient(process)
    failed, given_up = connect(client, "query_failed"), connect(client, "engine_gave_up")
    query = client.scan_devices()
    process.gave_up.emit(CRASH)
    assert failed == [QueryFailed(query=query, error=CRASH)]
    assert given_up == [CRASH]


def test_a_query_that_cannot_be_sent_fails_alone(supervise: Supervise) -> None:
    engine = supervise().start()
    failed = connect(engine.client, "query_failed")
    answered = connect(engine.client, "devices_found")
    bad, good = engine.client.inspect_checkpoint("x" * (5 << 20)), engine.client.verify_devices()
    engine.wait(lambda: bool(answered))
    assert [(event.query, event.error.code) for event in failed] == [
        (bad, ErrorCode.REQUEST_INVALID)
    ]
    assert answered[0].query == good


def test_states_and_ends_of_the_engine_are_passed_on(supervise: Supervise) -> None:
    engine = supervise()
    names = ("engine_state_changed", "engine_ended", "engine_crashed")
    states, ends, crashes = (connect(engine.client, name) for name in names)
    engine.start()
    assert engine.client.engine_state is EngineState.READY
    engine.client.force_stop()
    engine.wait(lambda: states[-1] is EngineState.READY)
    assert len(ends) == 1
    assert crashes == []
    engine.process.stop()
    engine.client.start_engine()
    engine.wait(lambda: engine.client.engine_state is EngineState.READY)
