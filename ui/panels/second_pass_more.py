"""The folded rows of a second pass: its method, exact size, tiles, seed, model and prompts."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.form.generation import MOST_CHARACTERS
from app.session import Session
from engine.api.features import Features
from engine.api.fields import fields_of
from engine.api.second_passes import Resampling, SecondPass
from engine.api.values import SamplerName, ScheduleName
from ui.choice_labels import automatic
from ui.listed_files import checkpoint_files
from ui.method_labels import method_name, sampler_about, schedule_about
from ui.panels.choice_row import ChoiceRow
from ui.panels.file_choice import FileChoice
from ui.panels.labelled_row import LabelledRow
from ui.panels.option_rows import FieldRow, FieldWords
from ui.prompt_help import help_writing
from ui.second_pass_labels import upscaler_words
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import align, buddy_label
from ui.widgets.prompt_edit import PromptEdit

_PROMPT_LINES = (2, 6)


class SecondPassMore(QWidget):
    """The rows; they show a pass, and tell of the user's changes of its fields."""

    def __init__(
        self, session: Session, theme: Theme, change: Callable[[str, object], None]
    ) -> None:
        """`change` takes the name of a field and its value."""
        super().__init__()
        self._session, self._theme, self._change = session, theme, change
        self.numbers = self._numbers()
        self.sampler, self.schedule = self._methods()
        resamplings = [(method, *upscaler_words(method.value)) for method in Resampling]
        self.resampling = ChoiceRow(
            theme, self.tr("To the size by"), resamplings, partial(change, "resampling")
        )
        self.checkpoint = FileChoice(theme)
        self._checkpoint = LabelledRow(self.tr("Model"), self.checkpoint)
        self.prompt = PromptEdit(theme, _PROMPT_LINES, MOST_CHARACTERS)
        self.negative = PromptEdit(theme, _PROMPT_LINES, MOST_CHARACTERS)
        for edit in (self.prompt, self.negative):
            help_writing(edit, session)
        self._lay_out()
        self.checkpoint.picked.connect(partial(change, "checkpoint"))
        self.prompt.textChanged.connect(lambda: self._on_prompt("prompt", self.prompt))
        self.negative.textChanged.connect(lambda: self._on_prompt("negative_prompt", self.negative))

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        methods = self.sampler.box, self.schedule.box, self.resampling.box
        numbers = (row.control for row in self.numbers.values())
        return (*methods, *numbers, self.checkpoint, self.prompt, self.negative)

    def show_pass(self, shown: SecondPass, checkpoint: str | None, features: Features) -> None:
        """Show a pass, whose `checkpoint` is in this file; None for the first pass's.

        Samplers and schedules are those in the checkpoint's `features`, and those of the pass.
        """
        for name, row in self.numbers.items():
            row.show_value(getattr(shown, name))
        self._show_method(self.sampler, shown.sampler, features.samplers)
        self._show_method(self.schedule, shown.schedule, features.schedules)
        self.resampling.show_value(shown.resampling)
        session = self._session
        self.checkpoint.show_files(
            lambda: checkpoint_files(session, checkpoint),
            checkpoint,
            session.checkpoints.entries,
            checkpoint,
        )
        for edit, text in ((self.prompt, shown.prompt), (self.negative, shown.negative_prompt)):
            if edit.toPlainText() != (text or ""):
                with QSignalBlocker(edit):
                    edit.setPlainText(text or "")

    def _numbers(self) -> dict[str, FieldRow]:
        names = {
            "guidance": (self.tr("Guidance"), self.tr("Empty for that of the first pass.")),
            "width": (
                self.tr("Width"),
                self.tr("In place of the factor; the height follows while it is empty."),
            ),
            "height": (
                self.tr("Height"),
                self.tr("In place of the factor; the width follows while it is empty."),
            ),
            "tile": (
                self.tr("Tiles"),
                self.tr("The side of tiles that are redrawn one by one; empty for the whole."),
            ),
            "seed": (self.tr("Seed"), self.tr("Empty for noise of the picture's own seed.")),
        }
        return {
            name: number_row(name, FieldWords(*words), self._theme, self._change)
            for name, words in names.items()
        }

    def _methods(self) -> tuple[ChoiceRow, ChoiceRow]:
        same = (None, automatic(), self.tr("As in the first pass."))
        samplers = [
            (sampler, method_name(sampler), sampler_about(sampler)) for sampler in SamplerName
        ]
        schedules = [
            (schedule, method_name(schedule), schedule_about(schedule)) for schedule in ScheduleName
        ]
        sampler, schedule = (partial(self._change, name) for name in ("sampler", "schedule"))
        return (
            ChoiceRow(self._theme, self.tr("Sampler"), [same, *samplers], sampler),
            ChoiceRow(self._theme, self.tr("Schedule"), [same, *schedules], schedule),
        )

    def _show_method(
        self, row: ChoiceRow, chosen: Enum | None, works: Sequence[Enum] | None
    ) -> None:
        own = () if chosen is None else (chosen,)
        row.offer(None if works is None else (*works, *own))
        row.show_value(chosen)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        methods = self.sampler, self.schedule, self.resampling
        for row in (*methods, *self.numbers.values(), self._checkpoint):
            column.addWidget(row)
        for edit, name in (
            (self.prompt, self.tr("Prompt of this pass")),
            (self.negative, self.tr("Negative prompt of this pass")),
        ):
            edit.setPlaceholderText(self.tr("As in the first pass"))
            column.addWidget(buddy_label(name, edit))
            column.addWidget(edit)
        numbers = (row.label for row in self.numbers.values())
        align((*numbers, *(row.label for row in methods), self._checkpoint.label))

    def _on_prompt(self, name: str, edit: PromptEdit) -> None:
        self._change(name, edit.toPlainText() or None)


def number_row(
    name: str, words: FieldWords, theme: Theme, change: Callable[[str, object], None]
) -> FieldRow:
    """Make the row of a number of a second pass; `change` takes its name and its value."""
    return FieldRow(fields_of(SecondPass)[name], words, theme, partial(change, name))
