"""The line of buttons for the chosen pictures: their marks, and what is done with them."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from app.gallery.rows import GalleryRow
from ui.actions import REUSING, ActionName, Actions
from ui.gallery.rating_field import RatingField
from ui.key_tips import show_key
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.word_button import WordButton

_FILE_BUTTONS = (
    (ActionName.COPY_PICTURE, "copy"),
    (ActionName.REVEAL, "reveal"),
    (ActionName.TRASH, "trash"),
)


class PictureBar(QWidget):
    """Buttons that show the marks of the chosen pictures and trigger the window's actions."""

    rated = Signal(int)

    def __init__(self, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self.favourite = MarkButton(theme, actions, ActionName.FAVOURITE, "heart", "heart_full")
        self.reject = MarkButton(theme, actions, ActionName.REJECT, "reject", "reject")
        self.rating = RatingField(theme)
        self.use = WordButton(theme, self.tr("Reuse"), "create")
        show_key(self.use, ActionName.USE_SETTINGS, actions[ActionName.USE_SETTINGS].text())
        self.reuse = IconButton(theme, "chevron", self.tr("What to use of it…"), outlined=True)
        self.menu = QMenu(self)
        for name in REUSING:
            self.menu.addAction(actions[name])
        self.start = WordButton(theme, self.tr("Start from this"), "picture")
        show_key(self.start, ActionName.START_FROM, actions[ActionName.START_FROM].text())
        self.compare = _button(theme, actions, ActionName.COMPARE, "side_by_side")
        self.files = [_button(theme, actions, name, icon) for name, icon in _FILE_BUTTONS]
        for button in (self.use, self.start):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._lay_out()
        self.rating.rated.connect(self.rated)
        self.use.clicked.connect(actions[ActionName.USE_SETTINGS].trigger)
        self.reuse.clicked.connect(self._show_menu)
        self.start.clicked.connect(actions[ActionName.START_FROM].trigger)

    def add(self, button: WordButton) -> None:
        """Add a button with words before those with icons; it is shown for any choice."""
        self._added.append(button)
        self._row.insertWidget(self._row.indexOf(self.compare), button)

    def show_rows(self, rows: Sequence[GalleryRow], count: int) -> None:
        """Show the marks that `rows` share; `count` is the number of chosen pictures."""
        is_single, are_several = count == 1, count > 1
        self.setVisible(count > 0)
        self.favourite.setChecked(bool(rows) and all(row.favourite for row in rows))
        self.reject.setChecked(bool(rows) and all(row.rejected for row in rows))
        ratings = {row.rating for row in rows}
        self.rating.setValue(ratings.pop() if len(ratings) == 1 else 0)
        for button in (self.use, self.reuse, self.start):
            button.setVisible(is_single)
        told = any(row.may_tell_settings for row in rows)
        shown = any(row.is_picture for row in rows)
        for button in (self.use, self.reuse):
            button.setEnabled(told)
        for button in (self.start, self.files[0], *self._added):
            button.setEnabled(shown)
        self.compare.setVisible(are_several)
        self.compare.setEnabled(count in COMPARED)
        self.files[0].setVisible(is_single)

    def show_words(self, *, shown: bool) -> None:
        """Show words on the buttons that have any, else their icons."""
        for button in (self.use, self.start, *self._added):
            button.show_words(shown=shown)

    def _lay_out(self) -> None:
        self._added: list[WordButton] = []
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(XS)
        for button in (self.favourite, self.reject, self.rating):
            row.addWidget(button)
        row.addSpacing(S)
        for button in (self.use, self.reuse, self.start, self.compare, *self.files):
            row.addWidget(button)

    def _show_menu(self) -> None:
        self.menu.popup(self.reuse.mapToGlobal(self.reuse.rect().topLeft()))


# The numbers of pictures that can be compared.
COMPARED = range(2, 5)


class MarkButton(IconButton):
    """A button that is pressed while the pictures have a mark, with an icon for either state."""

    def __init__(
        self, theme: Theme, actions: Actions, name: ActionName, icon: str, marked: str
    ) -> None:
        self._unmarked, self._marked = icon, marked
        super().__init__(theme, icon, actions[name].text(), checkable=True)
        show_key(self, name)
        self._action = actions[name]
        self.clicked.connect(self._on_clicked)
        self.toggled.connect(self._draw)

    def _on_clicked(self, on: bool) -> None:
        # The state follows the pictures, not the click.
        self.setChecked(not on)
        self._action.trigger()

    def _draw(self) -> None:
        colours = self._theme.colours
        icon = self._marked if self.isChecked() else self._unmarked
        self.setIcon(self._theme.icon(icon, colours.accent if self.isChecked() else colours.text))


def _button(theme: Theme, actions: Actions, name: ActionName, icon: str) -> IconButton:
    button = IconButton(theme, icon, actions[name].text())
    show_key(button, name)
    button.clicked.connect(actions[name].trigger)
    return button
