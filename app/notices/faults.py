"""Faults of our own: logged, and told to the user, instead of lost."""

import logging
import sys
from types import TracebackType

from PySide6.QtCore import QCoreApplication

from app.notices.notices import NoticeState
from engine.api.values import ErrorCode, ErrorInfo

translate = QCoreApplication.translate
_log = logging.getLogger(__name__)


def fault(error: BaseException) -> ErrorInfo:
    """Return the error to show for an unexpected exception."""
    return ErrorInfo(
        ErrorCode.INTERNAL,
        translate("faults", "Something went wrong inside Safelight."),
        translate("faults", "Copy the report and send it to us; then try again."),
        f"{type(error).__name__}: {error}",
    )


def report_faults(notices: NoticeState) -> None:
    """Show a notice of each exception that leaves an event handler; the application goes on.

    One that comes of showing another is logged only: each would bring the next.
    """
    is_telling = False

    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        nonlocal is_telling
        _log.error("unexpected", exc_info=(kind, error, trace))
        if is_telling:
            return
        is_telling = True
        try:
            notices.tell_error(fault(error))
        finally:
            is_telling = False

    sys.excepthook = report
