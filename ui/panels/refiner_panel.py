"""The choice of a refiner: a second checkpoint that finishes the picture."""

from pathlib import Path

import msgspec
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.library.checkpoints import ListedCheckpoint
from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.fields import bounds_of
from engine.api.request import RefinerChoice
from ui.checkpoint_labels import model_about
from ui.labels import checkpoint_label
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label
from ui.widgets.number_field import DecimalField
from ui.widgets.slider_field import SliderField

_NAMED_SO = "refiner"


class RefinerPanel(QWidget):
    """A list of checkpoints, and the fraction of the run after which the refiner takes over."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._state = session, session.generation
        self.box = ChoiceBox(theme)
        self.label = buddy_label(self.tr("Refiner"), self.box)
        self.box.setToolTip(self.tr("A model that draws the last steps"))
        field = DecimalField(*bounds_of(RefinerChoice, "switch_at"), step=0.05)
        self.switch = SliderField(self.tr("From"), field, (0, 1))
        self.switch.setToolTip(self.tr("The part of the run after which it takes over"))
        self.labels = [self.label, self.switch.label]
        self._filled: list[tuple[str, str]] | None = None
        self._lay_out()
        self.box.activated.connect(self._on_chosen)
        self.switch.edited.connect(self._on_switch)
        for signal in (
            self._state.refiner_changed,
            self._state.checkpoint_changed,
            session.checkpoints.changed,
            session.checkpoints.looked,
        ):
            signal.connect(self._refresh)
        self._refresh()

    def _lay_out(self) -> None:
        row = QGridLayout()
        row.setSpacing(S)
        row.setColumnStretch(1, 1)
        row.addWidget(self.label, 0, 0)
        row.addWidget(self.box, 0, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addLayout(row)
        column.addWidget(self.switch)

    def _refresh(self, *_: object) -> None:
        refiner = self._state.refiner or RefinerChoice()
        answer = self._session.checkpoints.answer(self._state.checkpoint)
        is_refined = isinstance(answer, CheckpointInfo) and answer.features.refiner
        self.setVisible(is_refined or refiner.checkpoint is not None)
        self._fill(self._offered(refiner.checkpoint))
        self.box.setCurrentIndex(max(0, self.box.findData(refiner.checkpoint)))
        self.switch.setVisible(refiner.checkpoint is not None)
        self.switch.show_value(refiner.switch_at)

    def _fill(self, offered: list[tuple[str, str]]) -> None:
        if offered == self._filled:
            return
        self._filled = offered
        self.box.clear()
        self.box.addItem(self.tr("None"), None)
        for path, name in offered:
            about = model_about(self._session, ListedCheckpoint(name, Path(path)))
            self.box.add_choice(name, path, about)

    def _offered(self, chosen: str | None) -> list[tuple[str, str]]:
        """Return (path, name) of possible refiners; first those with "refiner" in their names."""
        store, current = self._session.checkpoints, self._state.checkpoint
        entries = [entry for entry in store.entries if entry.path != current]
        fitting = (entry for entry in entries if self._may_refine(entry.path))
        offered = [(str(entry.path), checkpoint_label(entry)) for entry in fitting]
        if chosen is not None and all(path != chosen for path, _ in offered):
            offered.append((chosen, Path(chosen).stem))
        return sorted(offered, key=lambda one: _NAMED_SO not in one[1].lower())

    def _may_refine(self, path: Path) -> bool:
        """Return True unless the checkpoint is known not to be a refiner."""
        answer = self._session.checkpoints.answer(path)
        return not isinstance(answer, CheckpointInfo) or answer.features.refines

    def _on_chosen(self, row: int) -> None:
        path = self.box.itemData(row)
        refiner = self._state.refiner or RefinerChoice()
        chosen = msgspec.structs.replace(refiner, checkpoint=path)
        self._state.refiner = None if path is None else chosen

    def _on_switch(self, share: float) -> None:
        refiner = self._state.refiner or RefinerChoice()
        self._state.refiner = msgspec.structs.replace(refiner, switch_at=share)
