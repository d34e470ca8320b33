"""The outlooks of pictures to make larger, as the engine tells them: size, memory and time."""

from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from engine.api.messages import QueryFailed
from engine.api.upscale_messages import UpscalePlanned
from engine.api.upscaling import UpscaleOutlook, UpscaleRequest
from engine.api.values import ErrorInfo

# The outlooks of so many requests are kept, the latest ones.
_MOST = 2000


class UpscaleOutlooks(QObject):
    """The outlooks by request; `changed` is emitted when one is told or refused."""

    changed = Signal()

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._asked: dict[int, UpscaleRequest] = {}
        self._known: dict[UpscaleRequest, UpscaleOutlook | ErrorInfo] = {}
        client.upscale_planned.connect(self._on_planned)
        client.query_failed.connect(self._on_failed)

    def ask(self, request: UpscaleRequest) -> None:
        """Ask for the outlook of a request anew: memory and times change."""
        self._known.pop(request, None)
        self._asked[self._client.plan_upscale(request)] = request

    def of(self, request: UpscaleRequest) -> UpscaleOutlook | ErrorInfo | None:
        """Return the outlook of a request, or why it is refused; None while it is not known."""
        return self._known.get(request)

    def note(self, request: UpscaleRequest, outlook: UpscaleOutlook) -> None:
        """Keep an outlook for a request that makes the same picture."""
        self._keep(request, outlook)

    def seconds(self, request: UpscaleRequest) -> float | None:
        """Return the expected seconds of a request; None where they are not known."""
        outlook = self.of(request)
        return outlook.seconds if isinstance(outlook, UpscaleOutlook) else None

    def shape(self, request: UpscaleRequest) -> tuple[int, int]:
        """Return the width and height of the picture to be, in pixels; zeros if not known."""
        outlook = self.of(request)
        if isinstance(outlook, UpscaleOutlook):
            return outlook.width, outlook.height
        return request.size or (0, 0)

    def _on_planned(self, event: UpscalePlanned) -> None:
        request = self._asked.pop(event.query, None)
        if request is not None:
            self._keep(request, event.outlook)
            self.changed.emit()

    def _on_failed(self, event: QueryFailed) -> None:
        request = self._asked.pop(event.query, None)
        if request is not None:
            self._keep(request, event.error)
            self.changed.emit()

    def _keep(self, request: UpscaleRequest, outlook: UpscaleOutlook | ErrorInfo) -> None:
        self._known.pop(request, None)
        self._known[request] = outlook
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
