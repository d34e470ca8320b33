"""A named list of a few choices, each with a sentence."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from ui.panels.labelled_row import LabelledRow
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox


class ChoiceRow(LabelledRow):
    """A named list of choices, each with a sentence; `chosen` is called with the user's choice."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        choices: Sequence[tuple[Enum | None, str, str]],
        chosen: Callable[[Enum | None], None],
    ) -> None:
        """`choices` are values with their names and sentences."""
        self.box = ChoiceBox(theme)
        super().__init__(name, self.box)
        # No signal: one would make plain texts of values that are texts, too.
        self._chosen = chosen
        self._choices = tuple(choices)
        self._values: list[Enum | None] = []
        self._fill(choices)
        self.box.activated.connect(self._on_activated)

    def offer(self, values: Iterable[Enum] | None) -> None:
        """Show only the choices with these values, and the one without; None: all choices."""
        wanted = None if values is None else {None, *values}
        shown = [choice for choice in self._choices if wanted is None or choice[0] in wanted]
        if [value for value, _, _ in shown] != self._values:
            self.box.clear()
            self._fill(shown)

    def show_value(self, value: Enum | None) -> None:
        """Show a choice without calling `chosen`."""
        self.box.setCurrentIndex(self._values.index(value))

    def _fill(self, choices: Sequence[tuple[Enum | None, str, str]]) -> None:
        self._values = [value for value, _, _ in choices]
        for value, words, about in choices:
            self.box.add_choice(words, value, about)

    def _on_activated(self, at: int) -> None:
        self._chosen(self._values[at])
