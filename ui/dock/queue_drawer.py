"""The queue as a drawer over the page: its jobs in order, and what can be done with them."""

from functools import partial

from PySide6.QtCore import QEvent, QLocale, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.queue.jobs import JobState
from app.session import Session
from ui.action_table import text_of
from ui.actions import ActionName, Actions
from ui.dock.queue_actions import QueueAction
from ui.dock.queue_list import QueueList
from ui.escape_key import is_escape_wanted
from ui.item_models.queue_item_model import QueueItemModel
from ui.key_tips import show_key
from ui.labels import duration
from ui.queue_changes import on_queue_changes
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.flow_layout import FlowLayout
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import plain_label, rule

_SUMMARY_MS = 60


class QueueDrawer(QFrame):
    """The drawer at the trailing side; `closed` is emitted by its button and by Esc."""

    closed = Signal()

    def __init__(
        self,
        session: Session,
        theme: Theme,
        actions: Actions,
        pictures: ThumbnailStore,
        covered: QWidget,
    ) -> None:
        """`covered` is the widget over which the drawer lies."""
        super().__init__(covered)
        self._session, self._commands = session, session.jobs_in_queue
        self.setProperty("role", "drawer")
        self.setAccessibleName(self.tr("Queue"))
        self.jobs = QueueItemModel(session, pictures, self)
        self.list = QueueList(theme, self.jobs, self._commands)
        self.summary = plain_label("", "caption", wrap=True)
        self.empty = plain_label(self.tr("Nothing waits. Generate puts pictures here."), "label")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pause = QPushButton()
        self.cancel_all = QPushButton(self.tr("Cancel all"))
        show_key(self.cancel_all, ActionName.CANCEL_ALL)
        self.cancel_all.clicked.connect(actions[ActionName.CANCEL_ALL].trigger)
        self.clear_failed = QPushButton(self.tr("Clear failed"))
        self.clear_finished = QPushButton(self.tr("Clear finished"))
        self.smaller = QPushButton()
        self.buttons = {
            action.name: IconButton(theme, action.icon, text_of(action.name))
            for action in self._actions
        }
        self.dismiss = IconButton(theme, "close", self.tr("Close the queue"))
        self._lay_out()
        self._connect()
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Close the drawer with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Esc before the window's action that cancels a picture."""
        if is_escape_wanted(event):
            event.accept()
            return True
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Follow the queue from now on."""
        super().showEvent(event)
        self.raise_()
        self.jobs.show(shown=True)
        self._refresh()
        self._show_summary()
        if not self.list.currentIndex().isValid() and self.jobs.rowCount():
            self.list.setCurrentIndex(self.jobs.index(0))
        # Esc closes the drawer from either of them.
        (self.list if self.jobs.rowCount() else self.dismiss).setFocus()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 (Qt's name)
        """Follow the queue no longer."""
        super().hideEvent(event)
        self.jobs.show(shown=False)

    @property
    def _actions(self) -> tuple[QueueAction, ...]:
        return self.list.queue_actions

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(M, S, S, 0)
        top.addWidget(plain_label(self.tr("Queue"), "heading"), 1)
        top.addWidget(self.dismiss)
        whole = FlowLayout(S)
        for button in (self.pause, self.cancel_all, self.clear_failed, self.clear_finished):
            whole.addWidget(button)
        # Its last button has words, for which a narrow drawer has no room beside the others.
        of_jobs = FlowLayout(XS)
        for button in (*self.buttons.values(), self.smaller):
            of_jobs.addWidget(button)
        below = QVBoxLayout()
        below.setContentsMargins(S, XS, S, XS)
        below.addLayout(of_jobs)
        middle = QVBoxLayout()
        middle.setContentsMargins(M, 0, M, S)
        middle.setSpacing(S)
        middle.addWidget(self.summary)
        middle.addLayout(whole)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addLayout(middle)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.list, 1)
        column.addWidget(self.empty, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addLayout(below)

    def _connect(self) -> None:
        for action in self._actions:
            button = self.buttons[action.name]
            show_key(button, action.name)
            button.clicked.connect(partial(self.list.act, action))
        commands = self._commands
        self.pause.clicked.connect(lambda: commands.pause(paused=not self._session.queue.paused))
        self.clear_failed.clicked.connect(lambda: commands.clear(JobState.FAILED))
        self.clear_finished.clicked.connect(lambda: commands.clear(JobState.DONE))
        self.smaller.clicked.connect(self.list.retry_smaller)
        self.dismiss.clicked.connect(self.closed)
        self.list.selectionModel().selectionChanged.connect(self._show_buttons)
        on_queue_changes(self._session.queue, self, self._refresh)
        # In another turn than the list's: it takes as long.
        on_queue_changes(self._session.queue, self, self._show_summary, _SUMMARY_MS)

    def _refresh(self) -> None:
        if not self.isVisible():
            return
        states = {state for state, count in self._commands.states.items() if count}
        paused = self._session.queue.paused
        self.pause.setText(self.tr("Resume") if paused else self.tr("Pause"))
        self.cancel_all.setEnabled(not all(state.is_over for state in states))
        self.clear_failed.setVisible(JobState.FAILED in states)
        self.clear_finished.setVisible(JobState.DONE in states)
        is_empty = self.jobs.rowCount() == 0
        self.list.setVisible(not is_empty)
        self.empty.setVisible(is_empty)
        self._show_buttons()

    def _show_summary(self) -> None:
        if self.isVisible():
            parts = self._summary(), self._over()
            self.summary.setText(" · ".join(filter(None, parts)))

    def _show_buttons(self, *_: object) -> None:
        selected = self.list.selected
        for action in self._actions:
            self.buttons[action.name].setEnabled(action.fits(selected))
        words = self.list.smaller_words(selected)
        self.smaller.setText(words)
        self.smaller.setVisible(bool(words))

    def _over(self) -> str:
        """Return how many pictures are finished and failed; empty without any.

        Those that were taken off the queue or cancelled do not count: the list has none of them.
        """
        counts = self._commands.states
        words = {
            JobState.DONE: self.tr("{n} finished"),
            JobState.FAILED: self.tr("{n} failed"),
        }
        number = QLocale().toString
        parts = [
            text.format(n=number(counts[state])) for state, text in words.items() if counts[state]
        ]
        return " · ".join(parts)

    def _summary(self) -> str:
        """Return how many pictures are left, and how long they take where that is known."""
        under_way = self._commands.under_way
        if not under_way:
            return self.tr("No picture is waiting")
        parts = [self.tr("One picture to make")]
        if len(under_way) > 1:
            parts = [self.tr("{n} pictures to make").format(n=len(under_way))]
        seconds = self._commands.total_seconds(under_way)
        if seconds is not None:
            parts.append(self.tr("about {time} in all").format(time=duration(seconds)))
        if self._session.queue.paused:
            parts.append(self.tr("paused"))
        return " · ".join(parts)
