"""A failure as text to send to us, without the path of the home folder."""

import platform
from importlib.metadata import version
from pathlib import Path

from PySide6.QtCore import qVersion

from app.notices.remedies import advice
from engine.api.values import ErrorInfo

_LONGEST = 20_000


def error_report(error: ErrorInfo) -> str:
    """Return an error and the system's versions as text; the home folder is written as ~."""
    lines = (
        f"Safelight {version('safelight')}",
        f"{platform.platform()}, Python {platform.python_version()}, Qt {qVersion()}",
        f"Code: {error.code.value}",
        error.message,
        advice(error),
        error.detail,
    )
    text = "\n".join(line for line in lines if line)
    return text.replace(str(Path.home()), "~")[:_LONGEST]
