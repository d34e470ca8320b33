"""The way of the focus out of a widget whose parts come and go."""

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget


class FocusReturn(QObject):
    """Remembers where the focus was before it came into a widget, to lead it back there.

    Without it Qt gives the focus of a part that goes to the window's next control, which may be
    anywhere.
    """

    def __init__(self, inside: QWidget) -> None:
        super().__init__(inside)
        self._inside = inside
        self._before: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def lead_out_of(self, part: QWidget) -> None:
        """Lead the focus back, if a part that goes away has it."""
        focused = QApplication.focusWidget()
        before = self._before
        if focused is None or not (part is focused or part.isAncestorOf(focused)):
            return
        # A field that was scrolled away would be scrolled to.
        if before is not None and shiboken6.isValid(before) and _is_seen(before):
            before.setFocus()

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        came = now is not None and self._inside.isAncestorOf(now)
        if came and before is not None and not self._inside.isAncestorOf(before):
            self._before = before


def _is_seen(widget: QWidget) -> bool:
    return widget.isVisible() and not widget.visibleRegion().isEmpty()
