"""The dock: how many pictures, from which seed, Generate, what runs, the queue and the device."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.session import Session
from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest
from ui.actions import ActionName, Actions
from ui.bind import bind_shown
from ui.dock.device_button import DeviceButton
from ui.dock.generate_button import GenerateButton
from ui.dock.queue_button import QueueButton
from ui.dock.status_panel import StatusPanel
from ui.key_tips import show_key
from ui.queue_changes import on_queue_changes
from ui.theme.metrics import DOCK_HEIGHT, WIDE, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.seed_field import SeedField
from ui.widgets.stepper import Stepper

# From these widths on, in pixels, Generate has its key beside an estimate, and the fields have
# their labels. Where a window is not narrow, queue and device have their names and more room.
_KEYED, _WIDER = 1340, 1400


class Dock(QWidget):
    """The bar at the bottom of the window."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._state = session, session.generation
        self.setProperty("role", "dock")
        self.setAccessibleName(self.tr("Make pictures"))
        least, most = bounds_of(GenerateRequest, "count").whole
        self.count = Stepper(theme, self.tr("Pictures"), least, most)
        self.seed = SeedField(theme)
        self.generate = GenerateButton(session, theme, actions)
        self.status = StatusPanel(session)
        self.cancel = IconButton(theme, "stop", self.tr("Cancel"), outlined=True)
        show_key(self.cancel, ActionName.CANCEL)
        self.queue = QueueButton(session, theme, actions)
        self.device = DeviceButton(session, theme, actions)
        self._lay_out()
        self._bind(actions)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave out the words that have no room."""
        super().resizeEvent(event)
        width = event.size().width()
        for button in (self.queue, self.device):
            button.show_words(shown=width >= WIDE)
        self._row.setSpacing(M if width >= WIDE else S)
        self.seed.keep_room(for_all=width >= WIDE)
        self.generate.keep_room(for_key=width >= _KEYED)
        for label in (self.count.label, self.seed.label):
            label.setVisible(width >= _WIDER)

    def _lay_out(self) -> None:
        self.setFixedHeight(DOCK_HEIGHT)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(S, 0, S, 0)
        row.addWidget(self.count)
        row.addWidget(self.seed)
        row.addWidget(self.generate, 3)
        row.addWidget(self.status, 4)
        row.addWidget(self.cancel)
        row.addWidget(self.queue)
        row.addWidget(self.device)

    def _bind(self, actions: Actions) -> None:
        state = self._state
        bind_shown(self.count, state.count_changed, lambda: state.count, self.count.show_value)
        self.count.edited.connect(self._on_count)
        state.seed_changed.connect(self._show_seed)
        state.seed_locked_changed.connect(self._show_seed)
        self.seed.edited.connect(self._on_seed)
        self.seed.locked.connect(self._on_locked)
        for button, name in (
            (self.seed.dice, ActionName.NEW_SEED),
            (self.seed.lock, ActionName.KEEP_SEED),
        ):
            show_key(button, name)
            actions[name].triggered.connect(button.click)
        self._show_seed()
        self.cancel.clicked.connect(actions[ActionName.CANCEL].trigger)
        on_queue_changes(self._session.queue, self, self._show_cancel)
        self._show_cancel()

    def _show_seed(self) -> None:
        self.seed.show_seed(self._state.seed, locked=self._state.seed_locked)

    def _show_cancel(self) -> None:
        queue = self._session.queue
        self.cancel.setEnabled(queue.running is not None or queue.first_waiting is not None)

    def _on_count(self, count: int) -> None:
        self._state.count = count

    def _on_seed(self, seed: int | None) -> None:
        # A typed seed is locked, or a new one would replace it.
        self._state.seed = seed
        self._state.seed_locked = seed is not None

    def _on_locked(self, locked: bool) -> None:
        self._state.seed_locked = locked and self._state.seed is not None
