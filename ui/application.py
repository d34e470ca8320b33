"""The Qt application and its one window."""

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent, QFontDatabase
from PySide6.QtWidgets import QApplication

from app.listed_names import as_listed
from app.session import Session
from ui.languages.use import use_language
from ui.main_window import MainWindow
from ui.pictures import limit_decoders
from ui.theme.theme import Theme
from ui.window_place import put

# Desktops know a window's menu entry by it: Wayland's app_id, and the instance in X11's WM_CLASS,
# which Qt takes from the first argument. An installed app's own is "-c".
_DESKTOP_NAME = "safelight"


class Application(QApplication):
    """The QApplication, named Safelight; needs a display (see app.display)."""

    # Paths that macOS asks to open, which it does not pass as arguments.
    files_asked = Signal(list)

    def __init__(self) -> None:
        super().__init__([_DESKTOP_NAME])
        self.setApplicationName("Safelight")
        self.setApplicationDisplayName("Safelight")
        self.setDesktopFileName(_DESKTOP_NAME)
        limit_decoders()

    def event(self, event: QEvent) -> bool:
        """Take files from macOS; leave everything else to Qt."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.files_asked.emit([as_listed(event.file())])
            return True
        return super().event(event)


def has_fonts() -> bool:
    """Return True if any font is installed."""
    return bool(QFontDatabase.families())


def make_window(application: Application, session: Session) -> MainWindow:
    """Make the window, still hidden, at its last place, moved into the present screens."""
    use_language(application, session.settings.now.language)
    window = MainWindow(session, Theme(application))
    put(window, session.memory.place)
    return window
