"""The line below the pictures: how many there are, what is done with the chosen, tiles' size."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.gallery.rows import GalleryRow
from ui.actions import ActionName, Actions
from ui.gallery.grid_view import LEAST_SIDE, MOST_SIDE, SIDE_STEP
from ui.gallery.labels import chosen_label, reading_label
from ui.gallery.picture_bar import PictureBar
from ui.key_tips import follow_keys, show_key
from ui.keys import keys
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import plain_label
from ui.widgets.tab_order import controls_in, put_after
from ui.widgets.value_slider import ValueSlider

_SLIDER = 112


class Foot(QWidget):
    """Numbers, the buttons for the chosen pictures, and the slider of the tiles' size."""

    side_wanted = Signal(int)

    def __init__(self, theme: Theme, actions: Actions, make_bar: Callable[[], PictureBar]) -> None:
        """`make_bar` is called for the buttons when pictures are chosen for the first time."""
        super().__init__()
        self._make_bar = make_bar
        self._bar: PictureBar | None = None
        self.setProperty("role", "panel")
        self.reading = QProgressBar()
        self.reading.setTextVisible(False)
        self.reading.setAccessibleName(self.tr("Reading pictures"))
        self.reading.hide()
        self.numbers = plain_label("", "caption")
        folders, details = actions[ActionName.GALLERY_FOLDERS], actions[ActionName.DETAILS]
        self.folders = IconButton(theme, "folder", folders.text(), checkable=True)
        self.details = IconButton(theme, "info", details.text(), checkable=True)
        for button, name in (
            (self.folders, ActionName.GALLERY_FOLDERS),
            (self.details, ActionName.DETAILS),
        ):
            show_key(button, name)
            button.clicked.connect(actions[name].trigger)
        span = (float(LEAST_SIDE), float(MOST_SIDE))
        self.side = ValueSlider(span, SIDE_STEP, span)
        self.side.setFixedWidth(_SLIDER)
        self.side.setAccessibleName(self.tr("Size of thumbnails"))
        follow_keys(self, Foot._show_keys)
        self._is_browsing = True
        self._lay_out()
        self.side.valueChanged.connect(self._on_side)

    @property
    def bar(self) -> PictureBar:
        """The buttons for the chosen pictures, which are made for who asks."""
        if self._bar is None:
            self._bar = self._make_bar()
            inner = controls_in(self._bar)
            # Between the two stretches.
            self._row.insertWidget(self._row.indexOf(self.numbers) + 2, self._bar)
            put_after(self.folders, inner)
        return self._bar

    def show_side(self, side: int) -> None:
        """Show the present size of tiles."""
        self.side.setValue(side)

    def _show_keys(self) -> None:
        shown = map(keys().shown, (ActionName.SMALLER_TILES, ActionName.LARGER_TILES))
        words = self.tr("Size of thumbnails ({keys})").format(keys=" ".join(shown))
        self.side.setToolTip(words)

    def _on_side(self, side: float) -> None:
        self.side_wanted.emit(round(side))

    def show_choice(self, rows: Sequence[GalleryRow], chosen: int, count: int) -> None:
        """Show so many chosen pictures of all; `rows` are those whose marks are shown."""
        self.numbers.setText(chosen_label(chosen, count))
        if chosen or self._bar is not None:
            self.bar.show_rows(rows, chosen)
        self._fit()

    def show_reading(self, done: int, total: int) -> None:
        """Show how many pictures of new or changed ones are read."""
        is_reading = done < total
        self.reading.setVisible(is_reading)
        self.reading.setRange(0, max(total, 1))
        self.reading.setValue(done)
        if is_reading:
            words = reading_label(done, total)
            self.reading.setAccessibleDescription(words)
            self.numbers.setText(words)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave out what is least needed where there is no room for all."""
        super().resizeEvent(event)
        self._fit()

    def show_browsing(self, *, browsing: bool) -> None:
        """Show what belongs to the grid while it is seen."""
        self._is_browsing = browsing
        self.folders.setVisible(browsing)
        self._fit()

    def _fit(self) -> None:
        if self._bar is not None:
            self._bar.show_words(shown=True)
            self._bar.show_words(shown=self._room() >= 0)
        room = self._room()
        self.side.setVisible(self._is_browsing and room >= _SLIDER)
        self.numbers.setVisible(room - _SLIDER >= self.numbers.sizeHint().width())

    def _room(self) -> int:
        """Return the width that the buttons leave for the number of pictures and the slider."""
        buttons = 0 if self._bar is None else self._bar.sizeHint().width()
        return self.width() - buttons - 2 * self.details.width() - 8 * S

    def _lay_out(self) -> None:
        self._row = row = QHBoxLayout()
        row.setContentsMargins(S, S, M, S)
        row.setSpacing(S)
        row.addWidget(self.folders)
        row.addWidget(self.numbers)
        row.addStretch(1)
        row.addStretch(1)
        row.addWidget(self.side)
        row.addWidget(self.details)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.reading)
        column.addLayout(row)
