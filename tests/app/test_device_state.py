"""New devices are tried once, in the background; the list shown is the engine's."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QObject, Signal

from app.engine.device_state import DeviceState
from app.engine.process import EngineState
from engine.api.machine import DeviceInfo
from engine.api.messages import DevicesFound, JobFinished, JobWarned, QueryFailed
from engine.api.record import Timings
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import fake_command

FAST = DeviceInfo(
    backend="nvidia_cuda",
    name="RTX 3060",
    precisions=("f16",),
    automatic=True,
    runtime="",
    memory_total_bytes=12 << 30,
    memory_free_bytes=12 << 30,
)
NO_TIME = Timings(load_s=0, compile_s=0, encode_s=0, denoise_s=0, decode_s=0, save_s=0, total_s=0)
WARNING = ErrorInfo(ErrorCode.BACKEND_FAILED, "CUDA failed; ONNX Runtime goes on.")


class Client(QObject):
    """The signals and questions of an EngineClient."""

    engine_state_changed = Signal(object)
    devices_found = Signal(object)
    query_failed = Signal(object)
    job_finished = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def scan_devices(self) -> int:
        self.asked.append("scan")
        return len(self.asked)

    def verify_devices(self, *, again: bool = False) -> int:
        self.asked.append("again" if again else "new")
        return len(self.asked)

    def answer(self, *devices: DeviceInfo, news: bool = False, choice: str = "") -> None:
        """The answer to the last question."""
        query = len(self.asked)
        event = DevicesFound(query=query, devices=devices, news=news, choice=choice)
        self.devices_found.emit(event)


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def state(client: Client) -> DeviceState:
    state = DeviceState(client)  # pyright: ignore[reportArgumentType]
    client.engine_state_changed.emit(EngineState.READY)
    return state


def test_a_new_device_is_tried_once(client: Client, state: DeviceState) -> None:
    told: list[bool] = []
    state.checking_changed.connect(told.append)
    client.answer(FAST, news=True)
    assert client.asked == ["scan", "new"]
    assert state.checking
    # Something still is: figures were taken beside a job.
    client.answer(FAST, news=True, choice="1.9x faster than PyTorch here")
    assert client.asked == ["scan", "new"]
    assert (state.devices, state.choice) == ((FAST,), "1.9x faster than PyTorch here")
    assert state.chosen is FAST
    assert told == [True, False]
    client.engine_state_changed.emit(EngineState.READY)
    client.answer(FAST, news=True)
    assert client.asked == ["scan", "new", "scan", "new"]


def test_no_device_is_tried_where_none_is_new(client: Client, state: DeviceState) -> None:
    client.answer(FAST)
    assert client.asked == ["scan"]
    assert not state.checking
    state.check_again()
    assert client.asked == ["scan", "again"]
    assert state.checking


def test_answers_to_others_are_not_for_us(client: Client, state: DeviceState) -> None:
    client.devices_found.emit(DevicesFound(query=99, devices=(FAST,), news=True))
    assert (client.asked, state.devices) == (["scan"], ())


ENDS: list[Callable[[Client], Any]] = [
    lambda client: client.query_failed.emit(QueryFailed(query=2, error=WARNING)),
    lambda client: client.engine_state_changed.emit(EngineState.RESTARTING),
]


@pytest.mark.parametrize("end", ENDS)
def test_the_wait_for_devices_ends(
    client: Client, state: DeviceState, end: Callable[[Client], Any]
) -> None:
    client.answer(FAST, news=True)
    assert state.checking
    end(client)
    assert not state.checking


def _finished(*warnings: ErrorInfo) -> JobFinished:
    return JobFinished(job="a", device="", timings=NO_TIME, warnings=warnings)


def test_a_job_that_changed_the_device_has_them_looked_at(
    client: Client, state: DeviceState
) -> None:
    client.answer(FAST)
    remark = ErrorInfo(ErrorCode.LORA_REMARK, "2 of the keys were not applied.")
    for warnings in ((), (remark,)):
        client.job_finished.emit(_finished(*warnings))
    assert client.asked == ["scan"]
    client.job_finished.emit(_finished(remark, WARNING))
    assert client.asked == ["scan", "scan"]


def test_no_device_is_chosen_where_none_works(client: Client, state: DeviceState) -> None:
    assert state.chosen is None
    client.answer(msgspec.structs.replace(FAST, unusable="It crashed (SIGSEGV)."))
    assert state.chosen is None


def test_the_session_says_that_another_device_took_over(tmp_path: Any, qtbot: Any) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()))
    other = ErrorInfo(ErrorCode.NOT_AVAILABLE, "<lora:ink> had no effect.")
    for warning in (other, WARNING):
        staged.client.job_warned.emit(JobWarned(job="a", warning=warning))
    assert [notice.error for notice in staged.session.notices.notices] == [WARNING]
    staged.end()
