"""A section whose content is made when it is first opened, so that what has it is made sooner."""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.theme.theme import Theme
from ui.widgets.section import Section
from ui.widgets.tab_order import controls_in, put_after

ContentT = TypeVar("ContentT", bound=QWidget)


class LateSection(Section, Generic[ContentT]):
    """A section that makes its content itself, once."""

    # The content is there, and not yet shown.
    made = Signal()

    def __init__(self, theme: Theme, title: str, make: Callable[[], ContentT]) -> None:
        super().__init__(theme, title, QWidget())
        self._make = make
        self.present: ContentT | None = None
        self.head.opened.connect(self._on_opened)

    @property
    def whole(self) -> ContentT:
        """The content, which is made for who asks; `present` is None until then."""
        if self.present is None:
            self.present = self._make()
            inner = controls_in(self.present)
            column = QVBoxLayout(self.content)
            column.setContentsMargins(0, 0, 0, 0)
            column.addWidget(self.present)
            put_after(self.head, inner)
            self.made.emit()
        return self.present

    def _on_opened(self, is_open: bool) -> None:
        if is_open:
            self.whole.show()
