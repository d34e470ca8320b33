"""The bounds of the monkey: one folder, no other programs, no network.

Python's own reports of what it is about to do are the fence, so that code that nobody thought of
stands before it too. What Qt does by itself is replaced.
"""

import errno
import os
import random
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QProcess
from PySide6.QtGui import QDesktopServices

from app.commands.updates import UpdateCommands
from ui.files.chooser import FileChooser

Tell = Callable[[str], None]
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Events that change files, by the places of the paths in their arguments.
_CHANGING = {
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
}
# Ourselves, and what Python's `platform` asks for the processor's name.
_HARMLESS = (sys.executable, "uname")
_PROGRAMS = ("os.exec", "os.posix_spawn", "os.system", "os.startfile", "webbrowser.open")


class Fence:
    """Refuses what leads out of a folder, and tells of it."""

    def __init__(self, folder: Path, tell: Tell) -> None:
        self._roots = (str(folder.resolve()), "/dev/", "/proc/self/")
        self._tell = tell
        sys.addaudithook(self._judge)

    def _judge(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING:
                self._keep_inside(event, path)
        elif event in _CHANGING:
            for place in _CHANGING[event]:
                self._keep_inside(event, arguments[place])
        elif event == "subprocess.Popen":
            if arguments[0] not in _HARMLESS:
                self._refuse(event, str(arguments[0]))
        elif event in _PROGRAMS:
            self._refuse(event, str(arguments[:1]))
        elif event == "socket.getaddrinfo":
            raise socket.gaierror(socket.EAI_FAIL, "the monkey has no network")
        elif event == "socket.connect" and arguments[0].family != socket.AF_UNIX:
            raise OSError(errno.ENETUNREACH, "the monkey has no network")

    def _keep_inside(self, event: str, path: object) -> None:
        if isinstance(path, (str, bytes, os.PathLike)):
            named = cast("str | bytes | os.PathLike[str]", path)
            real = os.path.realpath(os.fsdecode(named))
            if not f"{real}/".startswith(self._roots):
                self._refuse(event, real)

    def _refuse(self, event: str, text: str) -> None:
        self._tell(f"{event}: {text}")
        raise PermissionError(errno.EACCES, f"outside the monkey's bounds: {event}", text)


def answer_for_others(folder: Path, seed: int) -> None:
    """Have the dialogs of files choose at random in the folder, and nothing be opened elsewhere."""
    choose = random.Random(seed)

    def file(*_: object, **__: object) -> str:
        files = sorted(str(path) for path in folder.rglob("*") if path.is_file())
        return choose.choice([*files, ""])

    def place(*_: object, **__: object) -> str:
        folders = sorted(str(path) for path in folder.rglob("*") if path.is_dir())
        return choose.choice([*folders, ""])

    def new_file(*_: object, **__: object) -> str:
        return str(folder / f"saved {choose.randrange(100)}")

    def nothing(*_: object, **__: object) -> bool:
        return True

    def nothing_started(*_: object, **__: object) -> tuple[bool, int]:
        return True, 0

    replaced: tuple[tuple[type, str, object], ...] = (
        (FileChooser, "open_file", file),
        (FileChooser, "open_folder", place),
        (FileChooser, "save_file", new_file),
        (QDesktopServices, "openUrl", nothing),
        (QProcess, "startDetached", nothing_started),
        # A window that starts anew would be seen as one that ended.
        (UpdateCommands, "restart", nothing),
    )
    for owner, name, ours in replaced:
        setattr(owner, name, staticmethod(ours))  # pyright: ignore[reportArgumentType]
