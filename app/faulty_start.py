"""Words for a start that fails: on the standard error stream, and where there is none in a box."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn, ParamSpec

_ERROR_ICON = 0x10
P = ParamSpec("P")


def say(message: str, hint: str) -> int:
    """Say why nothing opens, and what to do; return the exit status for it."""
    print(f"{message} {hint}", file=sys.stderr)  # noqa: T201
    if sys.platform == "win32" and _has_no_console():
        ctypes.windll.user32.MessageBoxW(None, f"{message}\n\n{hint}", "Safelight", _ERROR_ICON)
    if sys.platform == "darwin" and len(sys.argv) == 1 and not os.isatty(2):
        subprocess.run(alert_command(message, hint), check=False)
    return 1


def alert_command(message: str, hint: str) -> list[str]:
    """Return the command that shows a box on macOS, where the window's error stream is unseen."""
    script = ("on run {said, hint}", "display alert said message hint as critical", "end run")
    lines = (part for line in script for part in ("-e", line))
    return ["/usr/bin/osascript", *lines, message, hint]


def say_of_import(start: Callable[P, NoReturn]) -> Callable[P, NoReturn]:
    """Make a start say which file of the installation is missing or refused if an import fails."""

    @wraps(start)
    def explained(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        try:
            start(*args, **kwargs)
        except ImportError as error:
            # Not at the top: Python's path may still begin with the folder of other programs.
            from app.installation import explain

            sys.exit(say(*explain(error)))

    return explained


def _has_no_console() -> bool:
    return Path(sys.executable).stem.lower() == "pythonw"
