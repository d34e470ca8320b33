"""Updates as the window shows them: their state, and the commands of a person."""

from collections.abc import Callable
from enum import StrEnum
from threading import Event
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.commands.state import AppState
from app.engine.process import EngineState
from app.field import Field
from app.notices.wording import worded
from app.updates.errors import UpdateCode, UpdateError
from app.updates.news import News
from app.updates.offers import Offer
from app.updates.running import RunningVersion
from app.updates.updates import Updates
from engine.api.values import ErrorInfo

Result = TypeVar("Result")
# A result, or the reason why there is none.
Outcome = tuple[Result | None, UpdateError | None]


class UpdateStage(StrEnum):
    """The stages on the way to a new version."""

    # Nothing was asked for yet, or the last command failed: then there is a `problem`.
    IDLE = "idle"
    CHECKING = "checking"
    UP_TO_DATE = "up_to_date"
    # `offer` can be installed.
    OFFERED = "offered"
    DOWNLOADING = "downloading"
    # It is unpacked and tried; this cannot be stopped.
    INSTALLING = "installing"
    # `next_version` begins with the next start of Safelight.
    WAITING_FOR_RESTART = "waiting_for_restart"


class UpdateState(QObject):
    """The state of updates. The window draws it."""

    stage_changed = Signal(object)
    offer_changed = Signal(object)
    done_bytes_changed = Signal(object)
    problem_changed = Signal(object)
    next_version_changed = Signal(object)
    back_to_changed = Signal(object)
    automatic_changed = Signal(object)

    stage = Field(UpdateStage.IDLE)
    # The newer version that was found: version, date, notes, download_bytes, disk_bytes, hosts.
    offer = Field[Offer | None](None)
    # The part of the download that has arrived.
    done_bytes = Field(0)
    # Why the last command failed: its message and hint are sentences for a person.
    problem = Field[UpdateError | None](None)
    # The version of the next start where it is not the present one; empty otherwise.
    next_version = Field("")
    # The version that "Go back to ..." leads to; empty if there is none.
    back_to = Field("")
    # A check once a day at the start; off unless a person switched it on.
    automatic = Field(False)


class UpdateCommands(QObject):
    """Looks for a new version, installs it, and goes back; all of it on another thread."""

    # The person asked for a restart: the window closes, and Safelight starts again.
    restart_asked = Signal()
    _arrived = Signal(int)
    _installing = Signal()

    def __init__(
        self,
        updates: Updates,
        running: RunningVersion,
        state: AppState,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._updates, self._running, self._notices = updates, running, state.notices
        self.state = UpdateState(self)
        self._background = Background(1, self)
        self._background.failed.connect(self._on_fault)
        self._cancelled = Event()
        # True once a person asked for a restart.
        self.restarts = False
        state.client.engine_state_changed.connect(self._on_engine_state)
        state.client.image_saved.connect(self._on_picture)
        self._arrived.connect(self._on_arrived)
        self._installing.connect(self._on_installing)

    @property
    def place(self) -> str:
        """The web address or folder that is asked for updates, to be shown; empty if none is."""
        return self._updates.place

    @property
    def version(self) -> str:
        """The version that runs."""
        return self._updates.version

    @property
    def available(self) -> bool:
        """True if this Safelight was installed, and can have another version beside it."""
        return self._updates.available

    @property
    def is_busy(self) -> bool:
        """True while a command is carried out."""
        busy = (UpdateStage.CHECKING, UpdateStage.DOWNLOADING, UpdateStage.INSTALLING)
        return self.state.stage in busy

    def start(self) -> None:
        """Read the versions, tell of one that failed, and check if that is due."""
        self._read_versions()
        self.state.automatic = self._updates.automatic
        self._background.run(self._updates.news, self._on_news)
        if self._updates.is_check_due():
            self.check()

    def check(self) -> None:
        """Ask `place` for a newer version."""
        if self.is_busy:
            return
        self.state.problem = None
        self.state.stage = UpdateStage.CHECKING
        self._cancelled.clear()
        self._background.run(
            lambda: _outcome(lambda: self._updates.check(self._cancelled.is_set)),
            self._on_checked,
        )

    def install(self) -> None:
        """Download the offer and install it beside this version, for the next start."""
        offer = self.state.offer
        if offer is None or self.is_busy:
            return
        self.state.problem = None
        self.state.done_bytes = 0
        self.state.stage = UpdateStage.DOWNLOADING
        self._cancelled.clear()

        def install() -> None:
            self._updates.install(
                offer,
                on_progress=self._arrived.emit,
                on_arrival=self._installing.emit,
                cancelled=self._cancelled.is_set,
            )

        self._background.run(lambda: _outcome(install), self._on_installed)

    def cancel(self) -> None:
        """Stop the check or the download; what has arrived is kept for the next time."""
        self._cancelled.set()

    def go_back(self) -> None:
        """Use the version before this one from the next start on."""
        if not self.is_busy:
            self.state.problem = None
            self._background.run(lambda: _outcome(self._updates.go_back), self._on_gone_back)

    def set_automatic(self, automatic: bool) -> None:
        """Switch the daily check on or off."""
        self.state.automatic = automatic
        self._background.run(
            lambda: _outcome(lambda: self._updates.set_automatic(automatic=automatic)), self._tell
        )

    def restart(self) -> None:
        """Have the app close and start again, with the version that is then due."""
        self.restarts = True
        self.restart_asked.emit()

    def close(self) -> None:
        """Stop a download and wait for what runs."""
        self._cancelled.set()
        self._background.close()

    def _on_engine_state(self, engine: EngineState) -> None:
        if engine is EngineState.READY:
            self._background.run(self._running.started, _nothing)

    def _on_picture(self) -> None:
        self._background.run(self._running.proved, _nothing)

    def _on_fault(self, problem: ErrorInfo) -> None:
        """Tell of a bug of ours, after which nothing is under way."""
        self._notices.tell_error(problem)
        self._read_versions()
        if self.is_busy:
            self.state.stage = UpdateStage.OFFERED if self.state.offer else UpdateStage.IDLE

    def _on_news(self, news: list[News]) -> None:
        for item in news:
            self._notices.tell(worded(item.text), worded(item.advice))

    def _on_checked(self, outcome: Outcome[Offer | None]) -> None:
        offer, problem = outcome
        self.state.offer = offer
        self._end(UpdateStage.OFFERED if offer else UpdateStage.UP_TO_DATE, problem)

    def _on_arrived(self, count: int) -> None:
        self.state.done_bytes = count

    def _on_installing(self) -> None:
        self.state.stage = UpdateStage.INSTALLING

    def _on_installed(self, outcome: Outcome[None]) -> None:
        self._read_versions()
        if outcome[1] is None:
            self.state.offer = None
            self.state.stage = UpdateStage.WAITING_FOR_RESTART
            return
        cancelled = outcome[1].code is UpdateCode.CANCELLED
        self.state.problem = None if cancelled else outcome[1]
        self.state.stage = UpdateStage.OFFERED

    def _on_gone_back(self, outcome: Outcome[str]) -> None:
        self._read_versions()
        goal, problem = outcome
        here = goal == self.version
        self._end(UpdateStage.IDLE if here else UpdateStage.WAITING_FOR_RESTART, problem)

    def _end(self, stage: UpdateStage, problem: UpdateError | None) -> None:
        self.state.problem = problem
        self.state.stage = UpdateStage.IDLE if problem else stage

    def _read_versions(self) -> None:
        self.state.next_version = self._updates.next_version
        self.state.back_to = self._updates.back_to

    def _tell(self, outcome: Outcome[None]) -> None:
        self.state.problem = outcome[1]


def _nothing(_: None) -> None:
    """Take the result of a function that has none."""


def _outcome(function: Callable[[], Result]) -> Outcome[Result]:
    """Return a function's result and None, or None and the UpdateError that it raised."""
    try:
        return function(), None
    except UpdateError as error:
        return None, error
