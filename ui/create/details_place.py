"""The place of the details on the page of Create: beside the picture, or in that of the form."""

from math import ceil

from PySide6.QtCore import QObject

from app.session import Session
from ui.actions import ActionName, Actions
from ui.create.side_splitter import SideSplitter
from ui.panels.canvas_panel import CanvasPanel
from ui.theme.metrics import LEAST_SHARE

_WIDTH = 300
# The pane's largest part of the canvas, for windows that are too narrow for anything.
_MOST = 0.4
_NO_LIMIT = 16_777_215  # Qt's QWIDGETSIZE_MAX


class DetailsPlace(QObject):
    """Puts the details beside the picture where form and details leave it its part of the window.

    Elsewhere they take the form's place, and the picture stays as it is. Whatever leads to the
    form then closes them, and so does folding the side that they are in.
    """

    def __init__(
        self, session: Session, actions: Actions, sides: SideSplitter, canvas: CanvasPanel
    ) -> None:
        super().__init__(canvas)
        self._view, self._memory = session.view, session.memory
        self._sides, self._canvas, self._pane = sides, canvas, canvas.details
        self._view.details = self._memory.layout.details
        self._view.details_changed.connect(self._on_details)
        actions[ActionName.DETAILS].triggered.connect(self._toggle)
        self._pane.back.clicked.connect(self.show_form)
        sides.folded.connect(self._on_folded)
        canvas.resized.connect(self._put)
        canvas.put_beside(self._pane)
        self._put()

    @property
    def in_side(self) -> bool:
        """True while the details stand in the place of the form."""
        is_beside = self._canvas.isAncestorOf(self._pane)
        return self._view.details and self._sides.isAncestorOf(self._pane) and not is_beside

    def show_form(self) -> None:
        """Close the details if they stand in the place of the form."""
        if self.in_side:
            self._view.details = False

    @property
    def _room(self) -> int:
        """The width for the form where the details stand beside the picture, in pixels."""
        window = self._sides.window()
        picture = LEAST_SHARE * window.width() * window.height() / max(1, self._canvas.height())
        return self._sides.width() - self._sides.handle(1).width() - _WIDTH - ceil(picture)

    @property
    def _fits_beside(self) -> bool:
        return self._room >= self._sides.least_width

    def _put(self) -> None:
        """Put the pane where it belongs in the window as it is.

        What is closed stays where it was: to move takes on the style sheet anew, up to 50 ms.
        """
        shown = self._view.details
        in_side = shown and not self._sides.is_folded and not self._fits_beside
        self._pane.back.setVisible(in_side)
        if in_side:
            self._fix_width(0, _NO_LIMIT)
            self._sides.show_instead(self._pane, self._pane.back)
        else:
            self._sides.show_instead(None)
        if shown and not in_side:
            self._canvas.put_beside(self._pane)
            width = min(_WIDTH, round(self._canvas.width() * _MOST))
            self._fix_width(width, width)
        self._pane.setVisible(shown)
        # The side may be dragged as far as the picture keeps its part.
        self._sides.limit(self._room if shown and not in_side else None)

    def _fix_width(self, least: int, most: int) -> None:
        self._pane.setMinimumWidth(least)
        self._pane.setMaximumWidth(most)

    def _on_details(self, shown: bool) -> None:
        self._memory.keep_layout(details=shown)
        self._put()

    def _on_folded(self) -> None:
        if self._view.details and not self._fits_beside:
            # Folded away with the side that they were in, or in the way of the form.
            self._view.details = False
        else:
            self._put()

    def _toggle(self) -> None:
        # Another page shows details of its own.
        if self._canvas.isVisible():
            self._view.details = not self._view.details
