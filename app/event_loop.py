"""The event loop of the window."""

import sys

from PySide6.QtCore import QCoreApplication


class _LoopRunsError(Exception):
    """Handled as long as the loop runs; nothing has failed."""


def run_events(application: QCoreApplication) -> int:
    """Handle events until the application quits; return its status.

    Before Python 3.12, an error that C code raises, as of `int("x")`, is a class and a text until
    somebody handles it, but where another exception is being handled. PySide takes that text for
    the exception where it leaves an event handler, and the process ends by SIGSEGV (6.11's
    sbkerrors.cpp, `prependToExceptionMessage`). So there the loop runs while one is handled.
    """
    if sys.version_info >= (3, 12):
        return application.exec()
    try:
        raise _LoopRunsError  # noqa: TRY301 (to be handled, not to be told)
    except _LoopRunsError:
        return application.exec()
