"""The memory that the form's next picture would take, as the engine plans it."""

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.client import EngineClient
from app.engine.device_state import DeviceState
from app.field import Field
from app.form.generation import GenerationState
from engine.api.machine import MemoryOutlook
from engine.api.machine_messages import JobPlanned
from engine.api.messages import QueryFailed
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo

# The form is planned after this pause in its changes.
_PAUSE_MS = 400


class OutlookState(QObject):
    """The memory plan of the form while somebody wants it; the problem where there is no plan."""

    outlook_changed = Signal(object)
    problem_changed = Signal(object)

    outlook = Field[MemoryOutlook | None](None)
    problem = Field[ErrorInfo | None](None)

    def __init__(
        self,
        client: EngineClient,
        form: GenerationState,
        devices: DeviceState,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._form, self._devices = client, form, devices
        self._query: int | None = None
        # The request of the last plan, without its texts; None where it must be planned anew.
        self._planned: GenerateRequest | None = None
        # That of the query under way, and of the plan that is told.
        self._asked: GenerateRequest | None = None
        self._told: GenerateRequest | None = None
        self._viewers = 0
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        client.job_planned.connect(self._on_planned)
        client.query_failed.connect(self._on_failed)
        form.changed.connect(self._on_changed)
        for changed in (
            client.job_finished,
            client.job_cancelled,
            client.job_failed,
            client.engine_state_changed,
            devices.devices_changed,
            devices.checking_changed,
        ):
            changed.connect(self._on_other_memory)

    @property
    def is_wanted(self) -> bool:
        """True while anybody sees the plan."""
        return self._viewers > 0

    def want(self, *, wanted: bool) -> None:
        """Count one more who sees the plan, or one fewer.

        The form is planned now and after each change of it while anybody sees it.
        """
        self._viewers += 1 if wanted else -1
        if wanted:
            self._ask()
        elif not self.is_wanted:
            self._pause.stop()

    def _on_changed(self, *_: object) -> None:
        if self.is_wanted:
            self._pause.start()

    def _on_other_memory(self, *_: object) -> None:
        """Plan anew, as other memory may be free, or another device be taken."""
        self._planned = None
        self._on_changed()

    def _ask(self) -> None:
        """Ask for a plan, unless only texts have changed, or the devices are not known yet."""
        request = self._form.build_request()
        # Their lengths matter little, and they change with each word.
        shape = msgspec.structs.replace(request, prompt="", negative_prompt="", seed=None)
        if shape != self._planned and self._devices.devices and not self._devices.checking:
            self._planned = self._asked = shape
            self._query = self._client.plan_job(request)

    def _on_planned(self, event: JobPlanned) -> None:
        if event.query == self._query:
            self._query, self.problem = None, None
            self._told, self.outlook = self._asked, event.outlook

    def _on_failed(self, event: QueryFailed) -> None:
        if event.query != self._query:
            return
        self._query = None
        # While a job runs nothing is planned; the last plan holds for the same picture.
        if event.error.code is not ErrorCode.NOT_AVAILABLE:
            self.outlook, self.problem = None, event.error
        elif self._asked != self._told:
            self.outlook = self.problem = None
