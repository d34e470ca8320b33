"""A failure as text to send to us, without what is private to the user."""

import platform
from collections.abc import Iterable
from importlib.metadata import version

from PySide6.QtCore import qVersion

from app.redaction import redacted
from engine.api.values import ErrorInfo

_LONGEST = 20_000


def error_report(error: ErrorInfo, private: Iterable[str] = ()) -> str:
    """Return an error and the system's versions as text, in English as far as they have it.

    Left out are `private` texts, such as prompts, the names of pictures, of the home folder and of
    the user.
    """
    lines = (
        f"Safelight {version('safelight')}",
        f"{platform.platform()}, Python {platform.python_version()}, Qt {qVersion()}",
        f"Code: {error.code.value}",
        error.message,
        error.hint,
        *(type(remedy).__name__ for remedy in error.remedies),
        error.detail[:_LONGEST],
    )
    return redacted("\n".join(line for line in lines if line), private)[:_LONGEST]
