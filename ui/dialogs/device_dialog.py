"""The dialog around the answers about this computer."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.session import Session
from ui.settings.devices_section import DevicesSection
from ui.theme.metrics import L, M
from ui.widgets.labels import rule
from ui.widgets.scroll_area import scroll_area
from ui.window_place import room_for

_SIZE = QSize(620, 680)


class DeviceDialog(QDialog):
    """A dialog that shows a `DevicesSection`."""

    def __init__(
        self, session: Session, parent: QWidget, show_runtimes: Callable[[str], object]
    ) -> None:
        """`show_runtimes` opens the list of runtimes at a pack."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Devices"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.section = DevicesSection(session, show_runtimes)
        self.section.setContentsMargins(L, L, L, L)
        self.close_button = QPushButton(self.tr("Close"))
        area = scroll_area(self.tr("Devices"))
        area.setWidget(self.section)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(L, M, L, M)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(area, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addLayout(buttons)
        self.close_button.setDefault(True)
        self.close_button.clicked.connect(self.accept)
