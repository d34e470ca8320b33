"""A change of colours in windows that are there, widget by widget."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


def restyle(windows: Sequence[QWidget]) -> Iterator[None]:
    """Return the work of giving dressed windows the palette's new colours, begun at once.

    Each window keeps its picture until all of it that is in sight has them; then comes the rest.
    """
    for window in windows:
        window.setUpdatesEnabled(False)
    return _restyle(windows)


def _restyle(windows: Sequence[QWidget]) -> Iterator[None]:
    # Between the slices, widgets and windows are deleted.
    found = [(window, *window.findChildren(QWidget)) for window in windows if isValid(window)]
    everything = [widget for of_window in found for widget in of_window]
    in_sight = [not widget.visibleRegion().isEmpty() for widget in everything]
    yield
    for wanted in (True, False):
        for widget, is_seen in zip(everything, in_sight, strict=True):
            if is_seen is wanted and isValid(widget):
                _take_colours(widget)
                yield
        for window in filter(isValid, windows):
            window.setUpdatesEnabled(True)


def _take_colours(widget: QWidget) -> None:
    # What was never shown takes the colours of the time when it is.
    if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        # The sheet's rules for a widget are kept with the colours that they had at first.
        widget.style().polish(widget)
        widget.update()
