"""The memory that the form's next picture would take, as the engine plans it."""

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.client import EngineClient
from app.field import Field
from app.form.generation import GenerationState
from engine.api.machine import MemoryOutlook
from engine.api.machine_messages import JobPlanned
from engine.api.messages import QueryFailed
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
        self, client: EngineClient, form: GenerationState, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._form = client, form
        self._query: int | None = None
        self._viewers = 0
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        client.job_planned.connect(self._on_planned)
        client.query_failed.connect(self._on_failed)
        for changed in (form.changed, client.job_finished, client.job_cancelled):
            changed.connect(self._on_changed)

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

    def _ask(self) -> None:
        self._query = self._client.plan_job(self._form.build_request())

    def _on_planned(self, event: JobPlanned) -> None:
        if event.query == self._query:
            self._query, self.problem = None, None
            self.outlook = event.outlook

    def _on_failed(self, event: QueryFailed) -> None:
        if event.query != self._query:
            return
        self._query = None
        # While a job runs, the last plan is as good as any.
        if event.error.code is not ErrorCode.NOT_AVAILABLE:
            self.outlook, self.problem = None, event.error
