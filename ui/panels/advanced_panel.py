"""The part of the form that folds: what most pictures leave to the checkpoint and the engine."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.session import Session
from ui.advanced_labels import advanced_summary, left_out_summary
from ui.panels.advanced_rows import AdvancedRows, keep_open
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label
from ui.widgets.late_section import LateSection

# The name under which an open section is kept.
_ADVANCED = "advanced"
# Fields of the form that change at each key, and nothing here follows from.
_TEXTS = frozenset({"prompt", "negative_prompt"})


class AdvancedPanel(QWidget):
    """The advanced settings, whose heading says what differs from the defaults."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = session.generation
        self.section = LateSection(
            theme, self.tr("Advanced"), partial(AdvancedRows, session, theme)
        )
        self.left_out = plain_label("", "note", wrap=True)
        self.reset = QPushButton(self.tr("Reset to model defaults"))
        self.reset.setProperty("role", "link")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.section)
        column.addWidget(self.left_out)
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeading)
        keep_open(self.section, _ADVANCED, session.memory)
        self.section.open(_ADVANCED in session.memory.layout.sections)
        self.reset.clicked.connect(session.changes.reset)
        self._state.changed.connect(self._on_form)
        self._refresh()

    @property
    def rows(self) -> AdvancedRows:
        """The rows of the section."""
        return self.section.whole

    def _on_form(self, names: frozenset[str]) -> None:
        if names - _TEXTS:
            self._refresh()

    def _refresh(self) -> None:
        self.reset.setVisible(self._state.has_choices)
        self.section.head.tell(advanced_summary(self._state))
        left_out = left_out_summary(self._state)
        text = self.tr("This model cannot do this, so it is left out: {settings}")
        self.left_out.setText(text.format(settings=left_out))
        self.left_out.setVisible(bool(left_out))
        if self.section.present is not None:
            self.section.present.refresh()
