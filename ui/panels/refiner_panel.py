"""The choice of a refiner: a second checkpoint that finishes the picture."""

import msgspec
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.fields import bounds_of
from engine.api.request import RefinerChoice
from ui.item_models.refiner_item_model import RefinerItemModel
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label
from ui.widgets.number_field import DecimalField
from ui.widgets.slider_field import SliderField


class RefinerPanel(QWidget):
    """A list of checkpoints, and the fraction of the run after which the refiner takes over."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        """`parent` is needed: without one the list would open as a window of its own."""
        super().__init__(parent)
        self._session, self._state = session, session.generation
        self.model = RefinerItemModel(session, self)
        self.box = ChoiceBox(theme, of_files=True)
        self.box.setModel(self.model)
        self.label = buddy_label(self.tr("Refiner"), self.box)
        self.box.setToolTip(self.tr("A model that draws the last steps"))
        field = DecimalField(*bounds_of(RefinerChoice, "switch_at"), step=0.05)
        self.switch = SliderField(self.tr("Takes over at"), field, (0, 1))
        self.switch.setToolTip(self.tr("The part of the run after which it takes over"))
        self.labels = [self.label, self.switch.label]
        self._lay_out()
        self.box.activated.connect(self._on_chosen)
        self.switch.edited.connect(self._on_switch)
        self._state.changed.connect(self._on_form)
        store = session.models.store
        for signal in (session.checkpoints.changed, session.checkpoints.looked, store.changed):
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

    def _on_form(self, names: frozenset[str]) -> None:
        if names & {"refiner", "checkpoint"}:
            self._refresh()

    def _refresh(self, *_: object) -> None:
        refiner = self._state.refiner or RefinerChoice()
        answer = self._session.checkpoints.answer(self._state.checkpoint)
        is_refined = isinstance(answer, CheckpointInfo) and answer.features.refiner
        self.setVisible(is_refined or refiner.checkpoint is not None)
        if self.isHidden():
            return
        # The families of the files, of which only those that fit are offered.
        self._session.models.store.list_once()
        self.model.offer(self._state.checkpoint, refiner.checkpoint)
        self.box.setCurrentIndex(self.model.row_of(refiner.checkpoint))
        self.switch.setVisible(refiner.checkpoint is not None)
        self.switch.show_value(refiner.switch_at)

    def _on_chosen(self, row: int) -> None:
        path = self.model.path_at(row)
        refiner = self._state.refiner or RefinerChoice()
        chosen = msgspec.structs.replace(refiner, checkpoint=path)
        self._state.refiner = None if path is None else chosen

    def _on_switch(self, share: float) -> None:
        refiner = self._state.refiner or RefinerChoice()
        self._state.refiner = msgspec.structs.replace(refiner, switch_at=share)
