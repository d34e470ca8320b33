"""The button "Upscale ▾", which opens the popup over the pictures that are meant."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QPoint, QRect

from app.session import Session
from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.theme.theme import Theme
from ui.widgets.word_button import WordButton

if TYPE_CHECKING:
    from ui.upscale_popup import UpscalePopup

translate = QCoreApplication.translate


class UpscaleButton(WordButton):
    """The button of a page; the action opens the same popup where the page is seen."""

    def __init__(
        self,
        session: Session,
        theme: Theme,
        actions: Actions,
        pictures: Callable[[], Sequence[str]],
    ) -> None:
        """`pictures` returns the paths of those that are meant; none while the page is hidden."""
        super().__init__(theme, translate("upscale", "Upscale ▾"), "grow")
        self._session, self._theme, self._pictures = session, theme, pictures
        # Made when it is first opened.
        self.popup: UpscalePopup | None = None
        self.setAccessibleName(self.tr("Upscale"))
        action = actions[ActionName.UPSCALE]
        show_key(self, ActionName.UPSCALE, action.text())
        action.triggered.connect(self._open)
        self.clicked.connect(action.trigger)

    def _open(self) -> None:
        pictures = self._pictures()
        if not pictures:
            return
        if self.popup is None:
            # Here, as the window starts sooner without its popups.
            from ui.upscale_popup import UpscalePopup

            self.popup = UpscalePopup(self._session, self._theme, self)
        corner = self.mapToGlobal(QPoint(0, 0))
        place = QRect(corner, self.size())
        if not self.isVisible():
            place = QRect(self.window().mapToGlobal(self.window().rect().center()), place.size())
        self.popup.open_for(pictures, place)
