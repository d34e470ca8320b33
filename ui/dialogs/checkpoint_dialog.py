"""The dialog about a checkpoint: its facts, their evidence, and the user's declarations."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.library.checkpoint_declarations import NO_DECLARATION
from app.notices.remedies import advice
from app.notices.wording import worded
from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.values import ErrorInfo
from ui.checkpoint_labels import part_label, part_summary, prediction_line
from ui.labels import checkpoint_label, size_label, variant_label
from ui.panels.declaration_panel import DeclarationPanel
from ui.theme.metrics import XS, L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label, rule
from ui.widgets.scroll_area import scroll_area
from ui.window_place import room_for

_SIZE = QSize(560, 620)
Facts = list[tuple[str, str]]


class CheckpointDialog(QDialog):
    """A dialog with the facts about the chosen checkpoint; a declaration applies at once."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About the model"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.facts = scroll_area(self.tr("What is known of it"))
        self.declared = DeclarationPanel(session, theme)
        self.reset = QPushButton(self.tr("Auto-detect"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        self.reset.clicked.connect(self._take_back)
        self.close_button.clicked.connect(self.accept)
        session.checkpoints.families_changed.connect(self._refresh)
        session.checkpoints.looked.connect(self._refresh)
        session.generation.declaration_changed.connect(self._refresh)
        session.generation.checkpoint_changed.connect(self._refresh)
        self._refresh()

    def _lay_out(self) -> None:
        self.declared.setContentsMargins(L, 0, L, 0)
        about = self.tr(
            "Files do not always say what they are. If pictures come out as noise or washed out, "
            "say it here; it is remembered for this model."
        )
        words = plain_label(about, "caption", wrap=True)
        words.setContentsMargins(L, S, L, 0)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(L, M, L, M)
        buttons.addWidget(self.reset)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(0, L, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.facts, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(words)
        column.addWidget(self.declared)
        column.addLayout(buttons)
        self.close_button.setDefault(True)

    def _take_back(self) -> None:
        parts = self._session.generation.declaration.components
        self._session.checkpoint.declare(msgspec.structs.replace(NO_DECLARATION, components=parts))

    def _refresh(self) -> None:
        words = self._session.generation.declaration
        declared = msgspec.structs.replace(words, components=NO_DECLARATION.components)
        self.reset.setEnabled(declared != NO_DECLARATION)
        path = self._session.generation.checkpoint
        answer = self._session.checkpoints.answer(path)
        name = next(
            (
                checkpoint_label(entry)
                for entry in self._session.checkpoints.entries
                if entry.path == path
            ),
            path.name,
        )
        self.facts.setWidget(self._content(name, answer))

    def _title(self, family: str) -> str:
        return self._session.checkpoints.family_title(family)

    def _content(self, name: str, answer: CheckpointInfo | ErrorInfo | None) -> QWidget:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(L, 0, L, S)
        column.setSpacing(S)
        column.addWidget(plain_label(breakable(name), "heading", wrap=True))
        match answer:
            case CheckpointInfo():
                column.addWidget(_Table(self._facts(answer)))
                column.addWidget(plain_label(self.tr("Why"), "heading"))
                for line in reversed(answer.evidence):  # the conclusion first
                    column.addWidget(plain_label(breakable(worded(line)), "caption", wrap=True))
            case ErrorInfo():
                text = breakable(f"{worded(answer.text)} {advice(answer)}")
                column.addWidget(plain_label(text, "error", wrap=True))
            case None:
                column.addWidget(plain_label(self.tr("Reading the model…"), "caption"))
        column.addStretch()
        return content

    def _facts(self, info: CheckpointInfo) -> Facts:
        family = f"{self._title(info.family)} {variant_label(info.variant)}".strip()
        card = info.card
        facts: Facts = [
            (self.tr("Title"), card.title),
            (self.tr("Family"), family),
            (self.tr("Made from"), card.base_model),
            (self.tr("Prediction"), prediction_line(info)),
            (self.tr("Picture"), size_label(info.default_size, info.default_size)),
            *((part_label(part.name), part_summary(part)) for part in info.components),
            *((part_label(part), self.tr("missing")) for part in info.missing),
            (self.tr("Trained words"), ", ".join(card.trained_words)),
            (self.tr("Notes"), card.notes),
            (self.tr("SHA-256"), info.sha256 or ""),
        ]
        return [(name, text) for name, text in facts if text]


class _Table(QWidget):
    """A table of facts: names and values in two columns."""

    def __init__(self, facts: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, S)
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(XS)
        grid.setColumnStretch(1, 1)
        for row, (name, text) in enumerate(facts):
            label = plain_label(name, "label")
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            value = plain_label(breakable(text), wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(value, row, 1)
