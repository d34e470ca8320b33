"""The dialog with the devices, their trial results, the one in use and a button for new trials."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.engine.device_state import DeviceState
from engine.api.machine import DeviceInfo
from ui.device_labels import device_name, device_times, device_words
from ui.theme.metrics import XS, L, M, S
from ui.widgets.labels import breakable, plain_label, rule
from ui.widgets.scroll_area import scroll_area
from ui.window_place import room_for

_SIZE = QSize(560, 500)


class DeviceDialog(QDialog):
    """A dialog that shows `DeviceState` while it is open."""

    def __init__(self, state: DeviceState, parent: QWidget) -> None:
        super().__init__(parent)
        self._state = state
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Devices"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.rows = scroll_area(self.tr("Devices"))
        self.again = QPushButton(self.tr("Check again"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        self.again.clicked.connect(state.check_again)
        self.close_button.clicked.connect(self.accept)
        for signal in (state.devices_changed, state.choice_changed, state.checking_changed):
            signal.connect(self._refresh)
        self._refresh()

    def _lay_out(self) -> None:
        about = self.tr(
            "The fastest device with correct results is used. Times are of the main blocks of "
            "Stable Diffusion 1.5, two pictures of 512 pixels at once."
        )
        buttons = QHBoxLayout()
        buttons.setContentsMargins(L, M, L, M)
        buttons.addWidget(self.again)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(0, L, 0, 0)
        column.setSpacing(S)
        words = plain_label(about, "caption", wrap=True)
        words.setContentsMargins(L, 0, L, 0)
        column.addWidget(words)
        column.addWidget(self.rows, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addLayout(buttons)
        self.close_button.setDefault(True)

    def _refresh(self) -> None:
        state = self._state
        self.again.setEnabled(not state.checking)
        self.again.setText(self.tr("Checking…") if state.checking else self.tr("Check again"))
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(L, S, L, S)
        column.setSpacing(M)
        for device in state.devices:
            choice = state.choice if device is state.chosen else ""
            column.addWidget(DeviceRow(device, choice))
        column.addStretch()
        self.rows.setWidget(content)


class DeviceRow(QWidget):
    """A row for a device: its name and times, and below them the result of its trial."""

    def __init__(self, device: DeviceInfo, choice: str) -> None:
        super().__init__()
        usable = not device.unusable
        self.name = plain_label(
            breakable(device_name(device)), "heading" if choice else "" if usable else "label"
        )
        self.times = plain_label(device_times(device), "" if usable else "label")
        self.words = plain_label(breakable(device_words(device, choice)), "caption", wrap=True)
        first = QHBoxLayout()
        first.setSpacing(S)
        first.addWidget(self.name, 1)
        first.addWidget(self.times)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addLayout(first)
        column.addWidget(self.words)
