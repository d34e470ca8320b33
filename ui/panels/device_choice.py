"""The choice of the device that computes: the best one, or one that the user names."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.session import Session
from ui.choice_labels import automatic
from ui.device_labels import device_name, device_pace
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label

_AUTOMATIC = "auto"


class DeviceChoice(QWidget):
    """A list of the devices that can be used; the first entry names the one that is preferred."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._form, self._devices = session.generation, session.devices
        self.box = ChoiceBox(theme)
        self.label = buddy_label(self.tr("Device"), self.box)
        self.box.setToolTip(self.tr("What computes the pictures; Auto is the fastest."))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.label)
        row.addWidget(self.box, 1)
        self.box.activated.connect(self._on_chosen)
        self._devices.devices_changed.connect(self._refresh)
        self._form.backend_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self, *_: object) -> None:
        chosen = self._devices.chosen
        first = automatic()
        if chosen is not None:
            first = self.tr("Auto · {name}").format(name=device_name(chosen))
        entries = {_AUTOMATIC: first}
        for device in self._devices.devices:
            if not device.unusable:
                entries.setdefault(device.backend, device_name(device))
        # A device that is not there now stays chosen, and says so.
        wanted = self._form.backend
        entries.setdefault(wanted, self.tr("{name} (not found)").format(name=wanted))
        self.box.clear()
        times = {device.backend: device_pace(device) for device in reversed(self._devices.devices)}
        times[_AUTOMATIC] = self.tr("The fastest device with correct results.")
        for backend, name in entries.items():
            self.box.add_choice(name, backend, times.get(backend, ""))
        self.box.setCurrentIndex(self.box.findData(wanted))

    def _on_chosen(self, row: int) -> None:
        self._form.backend = self.box.itemData(row)
