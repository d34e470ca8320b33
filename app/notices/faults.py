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
    """An exception that nobody expected, as something to tell."""
    return ErrorInfo(
        ErrorCode.INTERNAL,
        translate("faults", "Something went wrong inside Safelight."),
        translate("faults", "Copy the report and send it to us; then try again."),
        f"{type(error).__name__}: {error}",
    )


def report_faults(notices: NoticeState) -> None:
    """From now on tell of exceptions that come out of event handlers; the application goes on."""

    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _log.error("unexpected", exc_info=(kind, error, trace))
        notices.tell_error(fault(error))

    sys.excepthook = report
