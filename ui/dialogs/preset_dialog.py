"""The dialog that saves settings of the form as a preset."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.form.presets import MOST_NAME, PresetPart, preset_name
from app.session import Session
from ui.preset_labels import part_name
from ui.theme.metrics import CONTROL_HEIGHT, XS, L, M, S
from ui.widgets.labels import buddy_label, plain_label
from ui.widgets.line_field import LineField
from ui.widgets.tick_box import TickBox
from ui.window_place import room_for

_SIZE = QSize(420, 320)


class PresetDialog(QDialog):
    """A dialog for the name of a preset and the parts that it holds."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Save as a preset"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.name = LineField(MOST_NAME)
        self.name.setFixedHeight(CONTROL_HEIGHT)
        self.name.setPlaceholderText(self.tr("For example: Portrait, 30 steps"))
        self.parts = {part: TickBox(part_name(part)) for part in PresetPart}
        self.parts[PresetPart.SETTINGS].setChecked(True)
        self.remark = plain_label("", "caption", wrap=True)
        self.save = QPushButton(self.tr("Save"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self._lay_out()
        self.name.textChanged.connect(self._refresh)
        for box in self.parts.values():
            box.toggled.connect(self._refresh)
        self.save.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        self._refresh()

    def accept(self) -> None:
        """Save the preset and close."""
        self._session.presets.save(self.name.text(), self._chosen())
        super().accept()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        buttons.addStretch()
        buttons.addWidget(self.save)
        buttons.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(XS)
        column.addWidget(buddy_label(self.tr("Name"), self.name))
        column.addWidget(self.name)
        column.addSpacing(S)
        column.addWidget(plain_label(self.tr("What it holds"), "label"))
        for box in self.parts.values():
            column.addWidget(box)
        column.addStretch()
        column.addWidget(self.remark)
        column.addLayout(buttons)
        # The remark's line is kept free, so that nothing moves when it appears.
        self.remark.setMinimumHeight(2 * self.remark.fontMetrics().lineSpacing())
        self.save.setDefault(True)

    def _chosen(self) -> list[PresetPart]:
        return [part for part, box in self.parts.items() if box.isChecked()]

    def _refresh(self) -> None:
        name = preset_name(self.name.text())
        self.save.setEnabled(bool(name) and bool(self._chosen()))
        is_known = self._session.presets.store.named(name) is not None
        text = self.tr("There is a preset of this name: it will be replaced.")
        self.remark.setText(text if is_known else "")
        self.save.setText(self.tr("Replace") if is_known else self.tr("Save"))
