"""The state of the engine for the window, and the commands that start and stop it."""

from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.engine.process import EngineState
from app.field import Field
from engine.api.values import ErrorInfo


class EngineStatus(QObject):
    """The state of the engine, and the reason why it was given up."""

    state_changed = Signal(object)
    problem_changed = Signal(object)

    state = Field(EngineState.STOPPED)
    # The reason why the engine is stopped for good; None while it is not.
    problem = Field[ErrorInfo | None](None)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        client.engine_state_changed.connect(self._on_state)
        client.engine_gave_up.connect(self._on_gave_up)

    def force_stop(self) -> None:
        """End the engine's process at once; another one is started."""
        self._client.force_stop()

    def start_again(self) -> None:
        """Start the engine after it was given up."""
        self.problem = None
        self._client.start_engine()

    def _on_state(self, state: EngineState) -> None:
        self.state = state
        if state is EngineState.READY:
            self.problem = None

    def _on_gave_up(self, problem: ErrorInfo) -> None:
        self.problem = problem
