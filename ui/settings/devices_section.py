"""The answers about this computer: what makes the pictures, how fast, and what would help."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.commands.pack_rows import PackStage
from app.engine.speed import SD_1_5, SDXL, seconds_per_picture
from app.session import Session
from engine.api.machine import DeviceInfo
from ui.device_labels import device_name, device_times, device_words
from ui.labels import duration
from ui.machine_labels import device_sentence, found_words
from ui.outlook_labels import outlook_words
from ui.pack_labels import purpose
from ui.settings.cache_table import CacheTable
from ui.slices import Slices
from ui.theme.metrics import XS, M, S
from ui.widgets.labels import breakable, plain_label


class DevicesSection(QWidget):
    """Sentences on the device, the times, the packs and the memory; the cache; every runtime."""

    def __init__(self, session: Session, show_runtimes: Callable[[str], object]) -> None:
        """`show_runtimes` opens the list of runtimes at a pack."""
        super().__init__()
        self._session = session
        self._show_runtimes = show_runtimes
        self.used = plain_label("", "heading", wrap=True)
        self.found = plain_label("", "caption", wrap=True)
        self.times = plain_label("", wrap=True)
        self.faster = plain_label("", wrap=True)
        self.runtimes = QPushButton(self.tr("Runtimes…"))
        self.memory = plain_label("", wrap=True)
        self.cache = CacheTable(session)
        self.again = QPushButton(self.tr("Check again"))
        self.all_shown = QPushButton()
        self.rows = QVBoxLayout()
        self._listed: list[tuple[DeviceInfo, str]] = []
        self._lay_out()
        self._connect()
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Have the memory planned and the cache listed while they are seen."""
        super().showEvent(event)
        self._session.outlook.want(wanted=True)
        self._session.cache.refresh()
        self._session.disk.refresh()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 (Qt's name)
        """Plan no more."""
        super().hideEvent(event)
        self._session.outlook.want(wanted=False)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(M)
        buttons = QHBoxLayout()
        buttons.addWidget(self.again)
        buttons.addStretch()
        column.addWidget(self._card("", self.used, self.found, buttons))
        column.addWidget(self._card(self.tr("How long a picture takes"), self.times))
        row = QHBoxLayout()
        row.addWidget(self.runtimes)
        row.addStretch()
        column.addWidget(self._card(self.tr("What would make it faster"), self.faster, row))
        column.addWidget(self._card(self.tr("Memory of the next picture"), self.memory))
        column.addWidget(self._card(self.tr("Kept on the disk to be quicker"), self.cache))
        self.all_shown.setProperty("role", "link")
        self.all_shown.setCheckable(True)
        column.addWidget(self.all_shown, 0, Qt.AlignmentFlag.AlignLeading)
        self.rows.setSpacing(M)
        column.addLayout(self.rows)
        column.addStretch()
        for button in (self.again, self.runtimes, self.all_shown):
            button.setAutoDefault(False)

    def _card(self, title: str, *parts: QWidget | QHBoxLayout) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(XS)
        if title:
            column.addWidget(plain_label(title, "heading", wrap=True))
        for part in parts:
            if isinstance(part, QWidget):
                column.addWidget(part)
            else:
                column.addSpacing(XS)
                column.addLayout(part)
        return card

    def _connect(self) -> None:
        session = self._session
        for signal in (
            session.devices.devices_changed,
            session.devices.choice_changed,
            session.devices.checking_changed,
            session.devices.machine_changed,
            session.disk.free_bytes_changed,
            session.packs.changed,
        ):
            signal.connect(self._refresh)
        # Each change of the form changes them; the other parts stay as they are.
        session.picture_time.changed.connect(self._tell_times)
        for signal in (session.outlook.outlook_changed, session.outlook.problem_changed):
            signal.connect(self._tell_memory)
        self.again.clicked.connect(session.devices.check_again)
        self.runtimes.clicked.connect(lambda: self._show_runtimes(self._best_pack()))
        self.all_shown.toggled.connect(self._show_rows)
        self._tell_memory()

    def _refresh(self, *_: object) -> None:
        devices = self._session.devices
        self.again.setEnabled(not devices.checking)
        self.again.setText(self.tr("Checking…") if devices.checking else self.tr("Check again"))
        if devices.machine is None:
            self.used.setText(self.tr("Looking at your hardware…"))
        else:
            self.used.setText(breakable(device_sentence(devices.machine, devices.chosen)))
            room = devices.memory_free_bytes, self._session.disk.free_bytes
            self.found.setText(breakable(found_words(devices.machine, *room)))
        self._tell_times()
        self.faster.setText(breakable(self._faster()))
        self._show_rows()

    def _times(self) -> str:
        device = self._session.devices.chosen
        usual = (
            (self.tr("Stable Diffusion 1.5, 512 px, 20 steps"), SD_1_5),
            (self.tr("SDXL, 1024 px, 20 steps"), SDXL),
        )
        kinds = [(name, device and seconds_per_picture(device, kind)) for name, kind in usual]
        next_one = self.tr("The next picture, as the form is now")
        about = self.tr("{name}: about {time}")
        of_trial = about
        if device is not None and device.disturbed:
            of_trial = self.tr("{name}: about {time}, measured while the computer was busy")
        told = [(of_trial, *known) for known in kinds]
        told.append((about, next_one, self._session.picture_time.of_form))
        known = [
            text.format(name=name, time=duration(seconds))
            for text, name, seconds in told
            if seconds is not None
        ]
        return "\n".join(known) or self.tr("That is known once the hardware has been checked.")

    def _tell_times(self) -> None:
        self.times.setText(self._times())

    def _best_pack(self) -> str:
        """Return the id of the first runtime that suits and is not installed; empty if none."""
        rows = self._session.packs.rows
        wanted = (row.id for row in rows if not row.reason and row.stage is PackStage.AVAILABLE)
        return next(wanted, "")

    def _faster(self) -> str:
        if self._session.devices.machine is None:
            return self.tr("That is known once the hardware has been checked.")
        best = self._best_pack()
        row = next((row for row in self._session.packs.rows if row.id == best), None)
        if row is None:
            return self.tr("Every runtime that suits this computer is installed.")
        return self.tr("{title} can be installed. {purpose}").format(
            title=row.title, purpose=purpose(row)
        )

    def _tell_memory(self, *_: object) -> None:
        outlook = self._session.outlook
        self.memory.setText(breakable(outlook_words(outlook.outlook, outlook.problem)))

    def _show_rows(self, *_: object) -> None:
        state, shown = self._session.devices, self.all_shown.isChecked()
        text = self.tr("Hide all runtimes") if shown else self.tr("All runtimes ({n})")
        self.all_shown.setText(text.format(n=len(state.devices)))
        self.all_shown.setVisible(bool(state.devices))
        listed = [
            (device, state.choice if device is state.chosen else "")
            for device in (state.devices if shown else ())
        ]
        if listed != self._listed:
            self._listed = listed
            _empty(self.rows)
            Slices(self._make_rows(listed), self)

    def _make_rows(self, listed: list[tuple[DeviceInfo, str]]) -> Iterator[None]:
        """Make the rows of devices, one for each value, unless others are wanted meanwhile."""
        for device, choice in listed:
            if listed is not self._listed:
                return
            self.rows.addWidget(DeviceRow(device, choice))
            yield


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


def _empty(layout: QVBoxLayout) -> None:
    while (item := layout.takeAt(0)) is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
        widget = item.widget()
        if widget is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
            widget.deleteLater()
