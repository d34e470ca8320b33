"""Another program with files to drag: `python -m tests.monkey.basket X Y`.

A small window at a place of the screen; each line of its input is the next file, as JSON.
"""

import json
import sys
import threading
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

SIZE = 30


class Basket(QWidget):
    """Begins a drag of its file when it is pressed."""

    def __init__(self, x: int, y: int) -> None:
        # No window manager may move it, or let the application cover it.
        super().__init__(
            None, Qt.WindowType.X11BypassWindowManagerHint | Qt.WindowType.WindowStaysOnTopHint
        )
        self.path = ""
        self.setGeometry(x, y, SIZE, SIZE)
        self.setStyleSheet("background: orange")

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Drag the file as a file manager does."""
        super().mousePressEvent(event)
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(self.path)])
        drag = QDrag(self)
        drag.setMimeData(data)
        actions = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction | Qt.DropAction.LinkAction
        print(drag.exec(actions, Qt.DropAction.MoveAction).name, flush=True)  # noqa: T201


class _Input(QObject):
    line = Signal(str)
    ended = Signal()


def main() -> None:
    """Run until the input ends."""
    application = QApplication([Path(__file__).stem])
    basket, told = Basket(int(sys.argv[1]), int(sys.argv[2])), _Input()

    def take(path: str) -> None:
        basket.path = path
        print("taken", flush=True)  # noqa: T201

    def read() -> None:
        for line in sys.stdin:
            told.line.emit(json.loads(line))
        told.ended.emit()

    told.line.connect(take)
    told.ended.connect(application.quit)
    basket.show()
    threading.Thread(target=read, daemon=True).start()
    application.exec()


if __name__ == "__main__":
    main()
