"""The Qt application takes the files that macOS asks it to open."""

import os
import subprocess
import sys

# An application of its own: a process has only one, and that of the tests is a plain one.
PROGRAM = """
from PySide6.QtCore import QEvent, QUrl
from PySide6.QtGui import QFileOpenEvent
from ui.application import Application

application = Application()
asked = []
application.files_asked.connect(asked.extend)
taken = Application.sendEvent(application, QFileOpenEvent("/with space/ü.safetensors"))
Application.sendEvent(application, QFileOpenEvent(QUrl("https://host/a.safetensors")))
Application.sendEvent(application, QEvent(QEvent.Type.ApplicationActivate))
print(taken, asked)
"""


def test_a_file_that_macos_asks_to_open_is_passed_on() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", PROGRAM],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert done.stdout == "True ['/with space/ü.safetensors']\n"
