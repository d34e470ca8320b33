"""The devices of this machine, scanned after each start of the engine."""

from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.engine.process import EngineState
from app.field import Field
from engine.api.machine import DeviceInfo, MachineInfo
from engine.api.messages import DevicesFound, JobFinished, QueryFailed
from engine.api.values import ErrorCode

# Warnings of jobs after which the engine may put the devices in another order.
_OF_DEVICES = frozenset({ErrorCode.BACKEND_FAILED, ErrorCode.PREPARING})


class DeviceState(QObject):
    """All devices, in the order that "auto" takes them; `choice` is why the first comes first.

    New devices are tried in the background, once for each start of the engine; `checking` is true
    meanwhile. A job that warns of its device, after which others may come first, has them
    scanned again.
    """

    devices_changed = Signal(object)
    choice_changed = Signal(str)
    checking_changed = Signal(bool)
    machine_changed = Signal(object)

    devices = Field[tuple[DeviceInfo, ...]](())
    choice = Field("")
    checking = Field(default=False)
    # The hardware; None until the first scan.
    machine = Field[MachineInfo | None](None)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._query: int | None = None
        self._checked = False
        client.engine_state_changed.connect(self._on_engine_state)
        client.devices_found.connect(self._on_found)
        client.query_failed.connect(self._on_failed)
        client.job_finished.connect(self._on_job_finished)

    @property
    def chosen(self) -> DeviceInfo | None:
        """The device that "auto" takes now; None if it takes none."""
        first = next(iter(self.devices), None)
        return first if first is not None and first.automatic and not first.unusable else None

    @property
    def memory_free_bytes(self) -> int | None:
        """The computer's free memory at the last scan; None before it."""
        return next(
            (device.memory_free_bytes for device in self.devices if device.backend == "cpu"), None
        )

    def check_again(self) -> None:
        """Have every device tried anew, and forget which ones failed."""
        self._check(again=True)

    def _check(self, *, again: bool) -> None:
        self._checked = True
        self.checking = True
        self._query = self._client.verify_devices(again=again)

    def _on_engine_state(self, state: EngineState) -> None:
        if state is EngineState.READY:
            self._checked = False
            self._query = self._client.scan_devices()
        elif state is not EngineState.NOT_ANSWERING:
            self._query = None
            self.checking = False

    def _on_found(self, event: DevicesFound) -> None:
        if event.query != self._query:
            return
        self._query = None
        self.machine = event.machine or self.machine
        self.choice = event.choice
        self.devices = event.devices
        self.checking = False
        if event.news and not self._checked:
            self._check(again=False)

    def _on_failed(self, event: QueryFailed) -> None:
        if event.query == self._query:
            self._query = None
            self.checking = False

    def _on_job_finished(self, event: JobFinished) -> None:
        of_devices = any(warning.code in _OF_DEVICES for warning in event.warnings)
        if of_devices and self._query is None:
            self._query = self._client.scan_devices()
