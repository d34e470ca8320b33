"""A row of the form: a label, and the control that it names."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.theme.metrics import S
from ui.widgets.labels import buddy_label


class LabelledRow(QWidget):
    """A label before a control, which takes the rest of the row."""

    def __init__(self, name: str, control: QWidget) -> None:
        super().__init__()
        self.label = buddy_label(name, control)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.label)
        row.addWidget(control, 1)
