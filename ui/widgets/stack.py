"""Pages at one place, of which one is shown."""

from PySide6.QtWidgets import QStackedLayout, QWidget


class Stack(QWidget):
    """A widget of pages, used as Qt's own; screen readers pass it over.

    Of a QStackedWidget they say "layered pane", each time that the focus comes into it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pages = QStackedLayout(self)

    def addWidget(self, page: QWidget) -> None:  # noqa: N802 (Qt's name)
        """Add a page; the first one is shown."""
        self._pages.addWidget(page)

    def removeWidget(self, page: QWidget) -> None:  # noqa: N802 (Qt's name)
        """Take a page out."""
        self._pages.removeWidget(page)

    def setCurrentWidget(self, page: QWidget) -> None:  # noqa: N802 (Qt's name)
        """Show a page, and hide the one before."""
        self._pages.setCurrentWidget(page)

    def setCurrentIndex(self, number: int) -> None:  # noqa: N802 (Qt's name)
        """Show a page by its number."""
        self._pages.setCurrentIndex(number)

    def currentWidget(self) -> QWidget | None:  # noqa: N802 (Qt's name)
        """Return the page that is shown."""
        return self._pages.currentWidget()
