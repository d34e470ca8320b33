"""The device in use, in a person's words, or the runtime that is being installed."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton

from app.notices.wording import worded_reason
from app.session import Session
from ui.actions import ActionName, Actions
from ui.device_labels import device_name, short_device_name
from ui.key_tips import follow_keys, with_key
from ui.labels import step_duration
from ui.pack_labels import short_stage
from ui.theme.metrics import CONTROL_HEIGHT, ICON
from ui.theme.theme import Theme
from ui.widgets.labels import plain_tooltip

_WIDEST = 240


class DeviceButton(QToolButton):
    """A button that shows `DeviceState`, or a pack under way, and opens its list."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._state, self._packs, self._pace = session.devices, session.packs, session.pace
        self._theme, self._actions = theme, actions
        self._is_wide = True
        self._words = ""
        self.setIconSize(QSize(ICON, ICON))
        self.setFixedHeight(CONTROL_HEIGHT)
        self.setProperty("role", "status")
        self.clicked.connect(self._open)
        for signal in (
            self._state.devices_changed,
            self._state.choice_changed,
            self._state.checking_changed,
            self._packs.changed,
            self._pace.changed,
        ):
            signal.connect(self._refresh)
        theme.changed.connect(self._refresh)
        follow_keys(self, DeviceButton._refresh)

    def show_words(self, *, shown: bool) -> None:
        """Show the words beside the icon, or the icon alone where the dock is narrow."""
        self._is_wide = shown
        self._refresh()

    def _open(self) -> None:
        installs = self._packs.busy is not None
        self._actions[ActionName.RUNTIMES if installs else ActionName.DEVICES].trigger()

    def _refresh(self, *_: object) -> None:
        chosen, choice = self._state.chosen, self._state.choice
        words = short_device_name(chosen) if chosen else ""
        if words and self._pace.seconds_per_step is not None:
            words = f"{words} · {step_duration(self._pace.seconds_per_step)}"
        tip = "\n".join(
            filter(None, (device_name(chosen) if chosen else "", worded_reason(choice)))
        )
        if self._state.checking:
            words = self.tr("Checking your hardware, once…")
            tip = self.tr("Pictures can be made meanwhile.")
        if self._packs.busy is not None:
            words = f"{self._packs.busy.title} · {short_stage(self._packs.busy)}"
        self._words = words
        self.setIcon(self._theme.icon("chip"))
        beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        alone = Qt.ToolButtonStyle.ToolButtonIconOnly
        self.setToolButtonStyle(beside if self._is_wide and words else alone)
        elide = Qt.TextElideMode.ElideRight
        # An ampersand in a name is no mnemonic.
        self.setText(self.fontMetrics().elidedText(words, elide, _WIDEST).replace("&", "&&"))
        name = self.tr("Devices…")
        self.setToolTip(plain_tooltip(words, tip, with_key(name, ActionName.DEVICES)))
        self.setAccessibleName(words or name)
        self.setAccessibleDescription(tip)
