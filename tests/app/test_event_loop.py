"""An error within an event handler is reported; the window goes on."""

import subprocess
import sys

# A text's conversion fails in C, where Python before 3.12 makes no exception of it yet.
PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
from app.event_loop import run_events

class Widget(QWidget):
    def resizeEvent(self, event):
        int("x")

application = QApplication([])
sys.excepthook = lambda kind, error, trace: print(repr(error))
widget = Widget()
QTimer.singleShot(0, widget.show)
QTimer.singleShot(0, lambda: widget.resize(50, 60))
QTimer.singleShot(0, application.quit)
sys.exit(run_events(application))
"""


def test_an_error_of_c_code_in_an_event_handler_does_not_end_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "ValueError" in done.stdout + done.stderr
