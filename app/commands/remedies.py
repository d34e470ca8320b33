"""Commands for notices: dismiss them, and do what they offer."""

from pathlib import Path

from app.commands.jobs import JobCommands
from app.commands.retries import Retries
from app.commands.state import AppState
from app.engine.device_state import DeviceState
from app.notices.notices import Notice
from app.notices.remedies import OF_A_JOB, NoticeAction


class NoticeCommands:
    """Runs the actions of a notice's buttons."""

    def __init__(self, state: AppState, jobs: JobCommands, devices: DeviceState) -> None:
        self._notices, self._queue, self._gallery = state.notices, state.queue, state.gallery
        self._jobs, self._devices = jobs, devices
        self._retries = Retries(state.queue, state.view)

    def dismiss(self, notice: Notice) -> None:
        """Remove a notice and its failed jobs, so that no later start reports them."""
        self._notices.dismiss(notice.number)
        if notice.error is not None:
            for job in notice.subjects:
                self._queue.dismiss(job)

    def act(self, notice: Notice, action: NoticeAction) -> None:
        """Run an action of a notice and remove the notice.

        Actions that need a choice first are left to the window: `save_elsewhere`, and choosing a
        checkpoint or a picture.
        """
        if action in OF_A_JOB:
            self._notices.dismiss(notice.number)
        else:
            self.dismiss(notice)
        match action:
            case NoticeAction.RETRY:
                self._retries.again(notice)
            case NoticeAction.RETRY_SMALLER:
                self._retries.smaller(notice)
            case NoticeAction.CHECK_DEVICES:
                self._devices.check_again()
            case NoticeAction.UNDO_CHANGE | NoticeAction.UNDO_TRASH if notice.undo is not None:
                notice.undo()
            case NoticeAction.MAKE_AGAIN:
                self._jobs.generate(again=True)
            case NoticeAction.CANCEL_ALL:
                self._jobs.cancel_all()
            case _:
                pass

    def undo_latest(self) -> None:
        """Revert the change that the latest notice in sight reports, if one can be reverted."""
        undone = [notice for notice in self._notices.notices if notice.undo is not None]
        if undone:
            self.dismiss(undone[-1])
            undo = undone[-1].undo
            assert undo is not None
            undo()

    def save_elsewhere(self, notice: Notice, folder: Path) -> None:
        """Save pictures to another folder from now on, first those of the notice."""
        self._notices.dismiss(notice.number)
        self._gallery.open(folder)
        self._retries.elsewhere(notice, folder)

    def smaller_sizes(self, notice: Notice) -> frozenset[tuple[int, int]]:
        """Return the smaller sizes to which a notice's pictures may change; empty if unknown."""
        return self._retries.smaller_sizes(notice)
