"""pytest-qt's bot, which sees sooner what a test waits for."""

from collections.abc import Callable

from PySide6.QtCore import QDeadlineTimer, QElapsedTimer, QEventLoop, QTimer
from pytestqt.qtbot import QtBot

# pytest-qt looks every 10, and most tests of a session wait for something.
_LOOK_MS = 2


class Bot(QtBot):
    """Waits for conditions, at which it looks often."""

    def waitUntil(  # noqa: N802 (pytest-qt's name)
        self, callback: Callable[[], bool | None], *, timeout: int = 5000
    ) -> None:
        """Let events happen until a condition is true. Raises TimeoutError after `timeout` ms."""
        if callback():
            return
        deadline, loop, timer = QDeadlineTimer(timeout), QEventLoop(), QTimer()
        clock, raised = QElapsedTimer(), list[Exception]()

        def look() -> None:
            timer.stop()  # the condition itself may let events happen
            clock.start()
            try:
                is_over = callback()
            except Exception as error:  # noqa: BLE001 (Qt would only print it)
                is_over = False
                raised.append(error)
            if not is_over and deadline.hasExpired():
                raised.append(TimeoutError(f"nothing came in {timeout} ms"))
            if is_over or raised:
                loop.quit()
            # A look that takes long leaves time for what it waits for.
            timer.start(max(_LOOK_MS, 2 * clock.elapsed()))

        timer.timeout.connect(look)
        timer.start(_LOOK_MS)
        loop.exec()
        timer.stop()
        if raised:
            raise raised[0]
