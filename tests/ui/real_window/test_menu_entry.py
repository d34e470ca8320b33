"""The desktop knows which menu entry a window belongs to, and so its icon in the task bar."""

import re

from installers.linux.packages import DESKTOP_ENTRY
from tests.ui.real_window.person import RealWindow


def test_the_window_has_the_class_that_the_menu_entry_names(real_window: RealWindow) -> None:
    named = re.findall(r"^StartupWMClass=(.*)$", DESKTOP_ENTRY, re.MULTILINE)
    assert len(named) == 1
    assert len(real_window.windows_of(named[0])) == 1
    assert real_window.ask("QtGui.QGuiApplication.desktopFileName()") == named[0]
