"""The application with a probe: for each line, a Python expression, it prints its value as JSON."""

import json
import sys
import threading
import traceback
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, Signal

import ui.application
from app.__main__ import open_window
from app.session import Session
from ui.application import Application
from ui.main_window import MainWindow

_make_window = ui.application.make_window


class Probe(QObject):
    """Evaluates on the window's thread what is read on another one."""

    asked = Signal(str)

    def __init__(
        self, application: Application, session: Session, window: MainWindow, **further: Any
    ) -> None:
        """Answer for this window; `further` names may be used in expressions, too."""
        super().__init__(window)
        self._names: dict[str, Any] = {
            "application": application,
            "session": session,
            "window": window,
            "form": window.form,
            "state": session.generation,
            "QtCore": QtCore,
            "QtGui": QtGui,
            "QtWidgets": QtWidgets,
            **further,
        }
        self.asked.connect(self.answer)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            self.asked.emit(line)

    def answer(self, line: str) -> None:
        """Print the value of an expression, or the error in it."""
        try:
            value = eval(json.loads(line), self._names)
            answer = json.dumps({"value": value}, default=str)
        except Exception:  # noqa: BLE001 (it is the test's, which is told)
            answer = json.dumps({"error": traceback.format_exc()})
        print(answer, flush=True)  # noqa: T201


def _make_probed_window(application: Application, session: Session) -> MainWindow:
    window = _make_window(application, session)
    Probe(application, session, window)
    return window


if __name__ == "__main__":
    ui.application.make_window = _make_probed_window
    sys.exit(open_window(sys.argv[1:]))
