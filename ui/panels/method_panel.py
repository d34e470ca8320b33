"""Sampler and schedule: ours to choose, or left to the checkpoint."""

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.generation import GenerationState
from engine.api.values import SamplerName, ScheduleName
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label


class MethodPanel(QWidget):
    """Two lists; their first entry is the checkpoint's own choice and says which that is."""

    def __init__(self, state: GenerationState, theme: Theme) -> None:
        super().__init__()
        self._state = state
        self.sampler = ChoiceBox(theme)
        self.schedule = ChoiceBox(theme)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        self.labels: list[QLabel] = []
        layout.setColumnStretch(1, 1)
        rows = ((self.tr("Sampler"), self.sampler), (self.tr("Schedule"), self.schedule))
        for row, (name, box) in enumerate(rows):
            self.labels.append(buddy_label(name, box))
            layout.addWidget(self.labels[-1], row, 0)
            layout.addWidget(box, row, 1)
        for box, values in ((self.sampler, SamplerName), (self.schedule, ScheduleName)):
            box.addItem("", None)
            for value in values:
                box.addItem(value.label, value)
        # Chosen by the user only: `activated` is silent where we set the row.
        self.sampler.activated.connect(self._on_sampler)
        self.schedule.activated.connect(self._on_schedule)
        state.effective_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        state, effective = self._state, self._state.effective
        suggested = state.suggestions.settings[0].sampler
        self.sampler.setItemText(0, self._automatic(suggested.label))
        schedule = effective.schedule.label if state.schedule is None else ""
        self.schedule.setItemText(0, self._automatic(schedule))
        self.sampler.setCurrentIndex(_row(list(SamplerName), state.sampler))
        self.schedule.setCurrentIndex(_row(list(ScheduleName), state.schedule))

    def _automatic(self, label: str) -> str:
        return self.tr("Auto · {name}").format(name=label) if label else self.tr("Auto")

    def _on_sampler(self, row: int) -> None:
        self._state.sampler = self.sampler.itemData(row)

    def _on_schedule(self, row: int) -> None:
        self._state.schedule = self.schedule.itemData(row)


def _row(values: list[SamplerName] | list[ScheduleName], value: object) -> int:
    return 0 if value is None else 1 + [*values].index(value)  # pyright: ignore[reportArgumentType]
