"""The zoom of a view, in its corner: a button for less, the percentage, a button for more."""

from PySide6.QtCore import QEvent, QLocale, QObject
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from ui.action_names import ActionName
from ui.key_tips import show_key
from ui.theme.metrics import M
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.placing import put_in_corner
from ui.widgets.zoom_view import ZoomView

# Events after which the view's corner, or the buttons' size, may be another.
_MOVING = (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.LayoutDirectionChange)


class ZoomBar(QFrame):
    """Buttons for the zoom of a `ZoomView`; the percentage goes from fitted to 100 % and back."""

    def __init__(self, view: ZoomView, theme: Theme) -> None:
        super().__init__(view)
        self._view = view
        self.setProperty("role", "floating")
        self.smaller = IconButton(theme, "minus", self.tr("Zoom out"))
        show_key(self.smaller, ActionName.ZOOM_OUT)
        self.larger = IconButton(theme, "plus", self.tr("Zoom in"))
        show_key(self.larger, ActionName.ZOOM_IN)
        self.percent = QPushButton()
        self.percent.setProperty("role", "flat")
        widest = self.fontMetrics().horizontalAdvance(self._text(1600))
        self.percent.setMinimumWidth(widest + self.fontMetrics().averageCharWidth() * 3)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for button in (self.smaller, self.percent, self.larger):
            row.addWidget(button)
        self.smaller.clicked.connect(view.zoom_out)
        self.larger.clicked.connect(view.zoom_in)
        self.percent.clicked.connect(lambda: view.toggle_fit())
        view.scale_changed.connect(self._refresh)
        view.installEventFilter(self)
        self._refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Stay in the corner of the view."""
        if event.type() in _MOVING:
            put_in_corner(self, self._view.rect(), M)
        return super().eventFilter(watched, event)

    def _refresh(self) -> None:
        self.percent.setText(self._text(round(self._view.scale * 100)))
        if self._view.is_fitted:
            name = self.tr("Fitted, {percent}: show at 100 %").format(percent=self.percent.text())
            key = ActionName.ZOOM_ACTUAL
        else:
            name = self.tr("{percent}: fit into the window").format(percent=self.percent.text())
            key = ActionName.ZOOM_FIT
        self.percent.setAccessibleName(name)
        show_key(self.percent, key)

    def _text(self, percent: int) -> str:
        return self.tr("{n} %").format(n=QLocale().toString(percent))
