"""The application's language, as it was before a test chose another."""

from collections.abc import Generator
from contextlib import contextmanager

import shiboken6
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtWidgets import QApplication


@contextmanager
def kept_language(application: QApplication) -> Generator[None]:
    """Bring the application back to its words, way of writing and direction at the end."""
    locale, direction = QLocale(), application.layoutDirection()
    try:
        yield
    finally:
        for translator in application.findChildren(QTranslator):
            application.removeTranslator(translator)
            shiboken6.delete(translator)
        QLocale.setDefault(locale)
        application.setLayoutDirection(direction)
