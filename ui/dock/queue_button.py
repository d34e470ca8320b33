"""The button of the queue, with the number of pictures in it; it opens the drawer."""

from PySide6.QtCore import QLocale, QSize, Qt
from PySide6.QtWidgets import QToolButton

from app.queue.jobs import JobState
from app.session import Session
from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.queue_changes import on_queue_changes
from ui.theme.metrics import CONTROL_HEIGHT, ICON
from ui.theme.theme import Theme


class QueueButton(QToolButton):
    """A button that is pressed while the drawer is open."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._queue, self._theme = session.queue, theme
        self.setCheckable(True)
        self.setIconSize(QSize(ICON, ICON))
        self.setFixedHeight(CONTROL_HEIGHT)
        self.setProperty("role", "status")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._is_wide = True
        self.clicked.connect(actions[ActionName.QUEUE].trigger)
        on_queue_changes(self._queue, self, self._refresh)
        theme.changed.connect(self._refresh)
        self._refresh()

    def show_words(self, *, shown: bool) -> None:
        """Show the name, or only the number of pictures that wait."""
        if shown != self._is_wide:
            self._is_wide = shown
            self._refresh()

    def _refresh(self) -> None:
        states = [job.state for job in self._queue.jobs]
        waiting = states.count(JobState.WAITING)
        failed = states.count(JobState.FAILED)
        self.setText(self._words(waiting))
        icon, colour = "queue", self._theme.colours.text
        if failed:
            icon, colour = "warning", self._theme.colours.error
        elif self._queue.paused:
            icon = "pause"
        self.setIcon(self._theme.icon(icon, colour))
        told = [self.tr("%n waiting", "", waiting)]
        if failed:
            told.append(self.tr("%n failed", "", failed))
        if self._queue.paused:
            told.append(self.tr("paused"))
        name = self.tr("Queue: {state}").format(state=", ".join(told))
        self.setAccessibleName(name)
        show_key(self, ActionName.QUEUE)

    def _words(self, waiting: int) -> str:
        if not self._is_wide:
            return QLocale().toString(waiting) if waiting else ""
        if self._queue.paused and waiting:
            return self.tr("Paused · {n}").format(n=waiting)
        if self._queue.paused:
            return self.tr("Paused")
        return self.tr("Queue · {n}").format(n=waiting) if waiting else self.tr("Queue")
