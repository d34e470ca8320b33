"""The Qt application and its one window."""

import sys

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from app.session import Session
from ui.main_window import MainWindow
from ui.pictures import limit_decoders
from ui.theme.theme import Theme

_SIZE = (1280, 832)


def make_application() -> QApplication:
    """The QApplication; there must be a display (see app.display)."""
    application = QApplication(sys.argv[:1])
    application.setApplicationName("Safelight")
    application.setApplicationDisplayName("Safelight")
    application.setDesktopFileName("safelight")
    limit_decoders()
    return application


def has_fonts() -> bool:
    """Whether there is anything to write with."""
    return bool(QFontDatabase.families())


def make_window(application: QApplication, session: Session) -> MainWindow:
    """The window, as large as is comfortable on this screen; not shown yet."""
    window = MainWindow(session, Theme(application))
    room = application.primaryScreen().availableSize()
    window.resize(min(_SIZE[0], room.width()), min(_SIZE[1], room.height()))
    return window
