"""Actions that several pages have: each acts while it is the one that is seen."""

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit, QWidget


def while_seen(page: QWidget, act: Callable[[], None]) -> Callable[[], None]:
    """Return an act of a page that is done only while the page is seen."""

    def triggered() -> None:
        if page.isVisible():
            act()

    return triggered


def begin_search(page: QWidget, field: QLineEdit) -> Callable[[], None]:
    """Return the act that leads into a page's search, and replaces what it says."""

    def begin() -> None:
        field.setFocus()
        field.selectAll()

    return while_seen(page, begin)
