"""A notice as a card with its buttons; that of a note leaves by itself."""

from functools import partial

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.commands.notices import NoticeCommands
from app.notices.notices import Notice
from app.notices.remedies import NoticeAction
from ui.copying import copy_text
from ui.notice_labels import action_label
from ui.theme.theme import Theme
from ui.widgets.notice_bar import NoticeBar

# A failure's best remedy, and at most two others.
_MOST_REMEDIES = 3
# How long a note stays: long enough to be read, and to reach its button.
_LEAST_MS, _PER_SIGN_MS, _FOR_A_BUTTON_MS, _MOST_MS = 5000, 50, 4000, 30_000


class NoticeCard(NoticeBar):
    """A card for one notice; `acted` emits the action of a button.

    A note emits `left` once it was long enough in sight; the time stops while the pointer or the
    focus is on it. Failures stay.
    """

    acted = Signal(object)
    left = Signal()

    def __init__(self, theme: Theme, commands: NoticeCommands, notice: Notice) -> None:
        is_failure = notice.error is not None
        super().__init__(theme, (lambda: commands.report(notice)) if is_failure else None)
        self.notice = notice
        self.remedies: dict[NoticeAction, QPushButton] = {}
        for action in notice.actions:
            label = action_label(action, commands, notice)
            if label and len(self.remedies) < _MOST_REMEDIES:
                button = self.add_button(label)
                button.clicked.connect(partial(self.acted.emit, action))
                if is_failure and not self.remedies:
                    button.setProperty("role", "action")
                self.remedies[action] = button
        self.tell(
            notice.message,
            notice.hint,
            failure=is_failure,
            title=notice.title,
            details=notice.details,
        )
        self.copy_all = self.add_button(self.tr("Copy all"))
        self.copy_all.setVisible(not self.says_all)
        self.copy_all.clicked.connect(self._copy_all)
        self._clock = QTimer(self, singleShot=True, interval=self._time_ms())
        self._clock.timeout.connect(self.left)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        if not is_failure:
            self._clock.start()
            application.focusChanged.connect(self._on_focus)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 (Qt's name)
        """Stay while the pointer is on the card."""
        super().enterEvent(event)
        self._clock.stop()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave some time after the pointer did."""
        super().leaveEvent(event)
        self._go_on()

    def tell_behind(self, count: int) -> None:
        """Say how many failures wait behind this card."""
        singular = self.tr("Another message is behind this one.")
        plural = self.tr("{n} more messages are behind this one.").format(n=count)
        self.behind.setText(singular if count == 1 else plural)
        self.behind.setVisible(count > 0)

    @property
    def is_leaving(self) -> bool:
        """True while the card's time passes."""
        return self._clock.isActive()

    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self.isAncestorOf(now):
            self._clock.stop()
        else:
            self._go_on()

    def _go_on(self) -> None:
        focused = QApplication.focusWidget()
        is_used = self.underMouse() or (isinstance(focused, QWidget) and self.isAncestorOf(focused))
        if self.notice.error is None and not is_used and not self._clock.isActive():
            self._clock.start()

    def _time_ms(self) -> int:
        notice = self.notice
        signs = len(notice.message) + len(notice.hint) + sum(map(len, notice.details))
        for_a_button = _FOR_A_BUTTON_MS if notice.actions else 0
        return min(_LEAST_MS + _PER_SIGN_MS * signs + for_a_button, _MOST_MS)

    def _copy_all(self) -> None:
        notice = self.notice
        lines = (notice.message, notice.hint, *notice.details)
        copy_text("\n".join(line for line in lines if line), self.copy_all)
