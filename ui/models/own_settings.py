"""The line on the settings that the user used with a model, with a button that forgets them."""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.form.generation import NO_CHOICES, Choices
from app.session import Session
from ui.labels import size_label, steps_label
from ui.method_labels import method_name
from ui.theme.metrics import XS
from ui.widgets.labels import plain_label

# The settings that are named; of the others only their number is told.
_NAMED = frozenset({"steps", "sampler", "guidance", "width", "height"})


class OwnSettings(QWidget):
    """A line that is hidden where the user chose nothing with the model."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._changes = session, session.changes
        self._model: Path | None = None
        self.words = plain_label("", "note", wrap=True)
        self.forget = QPushButton(self.tr("Forget"))
        self.forget.setProperty("role", "link")
        self.forget.setAccessibleName(self.tr("Forget your settings with this model"))
        self.forget.setToolTip(self.tr("The model begins with its own settings again."))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addWidget(plain_label(self.tr("Your settings"), "caption"))
        column.addWidget(self.words)
        column.addWidget(self.forget, 0, Qt.AlignmentFlag.AlignLeading)
        self.forget.clicked.connect(self._forget)
        for signal in (self._changes.remembered_changed, session.generation.changed):
            signal.connect(self._refresh)

    def show_model(self, model: Path | None) -> None:
        """Show the settings of a checkpoint; None hides the line."""
        self._model = model
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Show the settings as they are now."""
        super().showEvent(event)
        self._refresh()

    def _forget(self) -> None:
        if self._model is not None:
            self._changes.forget(self._model)

    def _refresh(self) -> None:
        choices = NO_CHOICES if self._model is None else self._changes.remembered(self._model)
        self.words.setText(" · ".join(self._parts(choices)))
        self.setVisible(choices != NO_CHOICES)

    def _parts(self, choices: Choices) -> Iterator[str]:
        values = {name: getattr(choices, name) for name in choices.__struct_fields__}
        if values["steps"] is not None:
            yield steps_label(values["steps"])
        if values["sampler"] is not None:
            yield method_name(values["sampler"])
        if values["guidance"] is not None:
            guidance = self.locale().toString(values["guidance"], "g", 3)
            yield self.tr("guidance {guidance}").format(guidance=guidance)
        if values["width"] is not None and values["height"] is not None:
            yield size_label(values["width"], values["height"])
        others = sum(
            name not in _NAMED and value != getattr(NO_CHOICES, name)
            for name, value in values.items()
        )
        if others == 1:
            yield self.tr("1 more")
        elif others:
            yield self.tr("{n} more").format(n=others)
