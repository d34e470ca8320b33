"""The line below the form: the device in use, or the runtime that is being installed."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.session import Session
from ui.actions import ActionName, Actions
from ui.device_labels import device_name
from ui.pack_labels import short_stage
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel


class DevicePanel(QWidget):
    """A line that shows `DeviceState`, or a pack under way; its button opens the runtimes."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._state, self._packs = session.devices, session.packs
        self.setProperty("role", "panel")
        self.words = ElidedLabel("caption")
        self.open = IconButton(theme, "chip", self.tr("Runtimes…"))
        self.open.set_name(self.tr("Runtimes…"), actions.key(ActionName.RUNTIMES))
        row = QHBoxLayout(self)
        row.setContentsMargins(M, XS, S, XS)
        row.setSpacing(S)
        row.addWidget(self.words, 1)
        row.addWidget(self.open)
        self.open.clicked.connect(actions[ActionName.RUNTIMES].trigger)
        for signal in (
            self._state.devices_changed,
            self._state.choice_changed,
            self._state.checking_changed,
            self._packs.changed,
        ):
            signal.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        chosen = self._state.chosen
        text = device_name(chosen) if chosen else ""
        tip = self._state.choice
        if self._state.checking:
            text = self.tr("Checking your hardware, once…")
            tip = self.tr("Pictures can be made meanwhile.")
        busy = self._packs.busy
        if busy is not None:
            text = f"{busy.title} · {short_stage(busy)}"
        self.words.setText(text)
        self.words.setToolTip(tip)
        self.open.setAccessibleDescription(f"{text} {tip}".strip())
