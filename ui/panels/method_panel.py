"""The choice of sampler and schedule, or the checkpoint's own, and of the tool to follow."""

from collections.abc import Callable, Collection, Mapping

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.form.generation import GenerationState
from engine.api.conventions import Convention, choice_of
from engine.api.values import ConventionName, SamplerName, ScheduleName
from ui.method_labels import (
    SAMPLER_GROUPS,
    SCHEDULE_GROUPS,
    group_label,
    method_name,
    sampler_about,
    schedule_about,
    tool_about,
    tool_label,
)
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label


class MethodPanel(QWidget):
    """Lists of samplers, schedules and tools.

    The first entry of the first two lists, "Auto", names the checkpoint's own choice.
    """

    def __init__(self, state: GenerationState, theme: Theme) -> None:
        super().__init__()
        self._state = state
        self.sampler = ChoiceBox(theme)
        self.schedule = ChoiceBox(theme)
        self.tool = ChoiceBox(theme)
        # The values of the tools' list, in order.
        self.tools: tuple[ConventionName | Convention, ...] = ()
        self.tool.setAccessibleName(self.tr("Match results of"))
        self.labels: list[QLabel] = []
        self._lay_out()
        self._filled: tuple[object, object] | None = None
        # `activated` is emitted for the user's choices only, not for rows set by the program.
        self.sampler.activated.connect(self._on_sampler)
        self.schedule.activated.connect(self._on_schedule)
        self.tool.activated.connect(self._on_tool)
        state.effective_changed.connect(self._show)
        state.convention_changed.connect(self._show_tool)
        self._show()
        self._show_tool()

    def _lay_out(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        layout.setColumnStretch(1, 1)
        rows = (
            (self.tr("Sampler"), self.sampler),
            (self.tr("Schedule"), self.schedule),
            (self.tr("Match results of"), self.tool),
        )
        for row, (name, box) in enumerate(rows):
            self.labels.append(buddy_label(name, box))
            layout.addWidget(self.labels[-1], row, 0)
            layout.addWidget(box, row, 1)

    def _show(self) -> None:
        state, effective = self._state, self._state.effective
        self._fill()
        suggested = state.suggestions.settings[0].sampler
        self.sampler.setItemText(0, self._automatic(method_name(suggested)))
        # A method that does not work with the checkpoint is not in the list, and left to it.
        sampler, schedule = (
            max(0, box.findData(chosen))
            for box, chosen in ((self.sampler, state.sampler), (self.schedule, state.schedule))
        )
        automatic = "" if schedule else method_name(effective.schedule)
        self.schedule.setItemText(0, self._automatic(automatic))
        self.sampler.setCurrentIndex(sampler)
        self.schedule.setCurrentIndex(schedule)
        _describe(self.sampler, sampler_about(effective.sampler))
        _describe(self.schedule, schedule_about(effective.schedule))

    def _fill(self) -> None:
        """Fill the lists with the samplers and schedules that work with the checkpoint."""
        features = self._state.suggestions.features
        offered = features.samplers, features.schedules
        if offered == self._filled:
            return
        self._filled = offered
        _fill(self.sampler, SAMPLER_GROUPS, sampler_about, features.samplers)
        _fill(self.schedule, SCHEDULE_GROUPS, schedule_about, features.schedules)

    def _show_tool(self) -> None:
        chosen = self._state.convention
        plain = choice_of(chosen) if isinstance(chosen, Convention) else chosen
        # Conventions adopted from a picture come first, until another tool is chosen.
        self.tools = (*((plain,) if isinstance(plain, Convention) else ()), *ConventionName)
        self.tool.clear()
        for value in self.tools:
            self.tool.add_choice(tool_label(value), None, tool_about(value))
        self.tool.setCurrentIndex(self.tools.index(plain))
        why = self.tr("The same settings give other pictures in other programs.")
        _describe(self.tool, f"{why} {tool_about(plain)}")

    def _automatic(self, label: str) -> str:
        return self.tr("Auto · {name}").format(name=label) if label else self.tr("Auto")

    def _on_sampler(self, row: int) -> None:
        # Qt returns the value as a plain str.
        value = self.sampler.itemData(row)
        self._state.sampler = None if value is None else SamplerName(value)

    def _on_schedule(self, row: int) -> None:
        value = self.schedule.itemData(row)
        self._state.schedule = None if value is None else ScheduleName(value)

    def _on_tool(self, row: int) -> None:
        self._state.convention = self.tools[row]


def _fill(
    box: ChoiceBox,
    groups: Mapping[str, tuple[SamplerName, ...]] | Mapping[str, tuple[ScheduleName, ...]],
    about: Callable[..., str],
    offered: Collection[SamplerName] | Collection[ScheduleName] | None,
) -> None:
    """Fill a list with all values, or those in `offered`, under the headings of their groups."""
    box.clear()
    box.addItem("", None)
    for name, values in groups.items():
        shown = [value for value in values if offered is None or value in offered]
        if shown:
            box.add_heading(group_label(name))
        for value in shown:
            box.add_choice(method_name(value), value, about(value))


def _describe(box: ChoiceBox, text: str) -> None:
    box.setToolTip(text)
    box.setAccessibleDescription(text)
