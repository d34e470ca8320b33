"""The order in which the tab key leads to controls that are made later than their neighbours."""

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def is_reached(control: QWidget) -> bool:
    """Return True if the tab key leads to a control."""
    return bool(control.focusPolicy() & Qt.FocusPolicy.TabFocus)


def controls_in(content: QWidget) -> list[QWidget]:
    """Return what the tab key leads to in a widget that is in no window yet, in order."""
    order: list[QWidget] = []
    control = content.nextInFocusChain()
    while control is not None and control is not content:
        if is_reached(control) and control.focusProxy() is None:
            order.append(control)
        control = control.nextInFocusChain()
    return order


def put_after(before: QWidget | None, controls: Iterable[QWidget]) -> None:
    """Put controls in this order after another; Qt has new ones after all others of the window."""
    for first, second in pairwise(controls if before is None else (before, *controls)):
        QWidget.setTabOrder(first, second)
