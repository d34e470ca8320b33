"""The Generate button, which says how many pictures it makes and how long they take."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QResizeEvent

from app.form.picture_time import TIMED
from app.session import Session
from ui.actions import ActionName, Actions
from ui.key_tips import follow_keys, with_key
from ui.keys import keys
from ui.labels import duration
from ui.theme.metrics import GENERATE_LEAST, GENERATE_WIDEST, XS, M
from ui.theme.theme import Theme
from ui.widgets.filled_button import FilledButton

# The text is kept this far from the shortcut, which is left out where there is no room for both.
_APART = 16
# The fields of the form that the words follow from.
_SAID = TIMED | {"count", "seed", "seed_locked"}


class GenerateButton(FilledButton):
    """The button; its shortcut is written at its trailing end."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__(role="primary")
        self._session, self._theme = session, theme
        self._key = ""
        self.setMinimumWidth(GENERATE_LEAST)
        self.setMaximumWidth(GENERATE_WIDEST)
        self.clicked.connect(actions[ActionName.GENERATE].trigger)
        for signal in (
            session.obstacle.found_changed,
            session.pace.changed,
            session.models.store.changed,
        ):
            signal.connect(self._refresh)
        session.generation.changed.connect(self._on_form)
        self._show_direction()
        follow_keys(self, GenerateButton._refresh)

    def keep_room(self, *, for_key: bool) -> None:
        """Be wide enough for an estimate with the shortcut beside it, or only for the least."""
        # Of one width, whatever is said: the dock stays calm while an estimate changes.
        time = self.tr("about {time}").format(time=duration(600))
        usual = [self.tr("Generate {n}").format(n=4), time]
        key = self._small_metrics().horizontalAdvance(self._key)
        wide = self._width_of(usual) + key + _APART
        self.setMinimumWidth(min(wide, GENERATE_WIDEST) if for_key else GENERATE_LEAST)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Begin the text at the other side where the reading direction changes."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._show_direction()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Say as much as there is room for."""
        super().resizeEvent(event)
        self._refresh()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the button, then its shortcut at the trailing end if there is room."""
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.setFont(self._small_font())
            if not self.shows_key:
                return
            colours = self._theme.colours
            painter.setPen(QColor(colours.on_accent if self.isEnabled() else colours.muted))
            side = (
                Qt.AlignmentFlag.AlignLeft if self.isRightToLeft() else Qt.AlignmentFlag.AlignRight
            )
            place = self.rect().adjusted(M, 0, -M, 0)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | side, self._key)

    @property
    def shows_key(self) -> bool:
        """True where there is room for the shortcut beside the words."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        width += self._small_metrics().horizontalAdvance(self._key)
        return width + 2 * M + _APART <= self.width()

    def _small_font(self) -> QFont:
        font = self.font()
        font.setBold(False)
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font

    def _small_metrics(self) -> QFontMetrics:
        return QFontMetrics(self._small_font())

    def _show_direction(self) -> None:
        # A stylesheet's `text-align` is of the screen: it is not mirrored.
        self.setProperty("mirrored", self.isRightToLeft())
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _SAID:
            self._refresh()

    def _refresh(self, *_: object) -> None:
        obstacle = self._session.obstacle.found
        self._key = keys().shown(ActionName.GENERATE)
        self.setEnabled(obstacle is None)
        words = self._words()
        self.setAccessibleName(" · ".join(words))
        told = with_key(self.accessibleName(), ActionName.GENERATE)
        self.setAccessibleDescription(self._key)
        self.setToolTip(told if obstacle is None else "")
        # A narrow dock has no room for how long it takes.
        while len(words) > 1 and self._width_of(words) > self.width():
            words.pop()
        self.setText(" · ".join(words))

    def _width_of(self, words: list[str]) -> int:
        return self.fontMetrics().horizontalAdvance(" · ".join(words)) + 2 * M + XS

    def _words(self) -> list[str]:
        form = self._session.generation
        words = [self.tr("Generate")]
        if form.count > 1:
            words = [self.tr("Generate {n}").format(n=form.count)]
        if form.seed_locked and form.seed is not None:
            words.append(self.tr("same seed"))
        seconds = self._session.picture_time.measured
        if seconds is not None:
            words.append(self.tr("about {time}").format(time=duration(form.count * seconds)))
        return words
