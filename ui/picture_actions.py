"""Actions on a picture's file outside of this application."""

import subprocess
import sys
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData, QProcess, QStandardPaths, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.background import Background
from app.notices.notices import NoticeState
from ui.copying import tell_copied
from ui.pictures import ReadPicture, read_whole

translate = QCoreApplication.translate


def reveal(path: str, notices: NoticeState) -> None:
    """Show a file, selected, in the system's file manager; if that fails, open its folder."""
    if sys.platform == "win32":
        # Explorer parses its command line in its own way, so it gets one string.
        subprocess.Popen(f'explorer /select,"{Path(path)}"')
    elif sys.platform == "darwin":
        QProcess.startDetached("open", ["-R", path])
    else:
        _reveal_by_bus(path, notices)


def copy_path(path: str) -> None:
    """Put a file's path into the clipboard."""
    QGuiApplication.clipboard().setText(path)


def copy_picture(path: str, background: Background) -> None:
    """Put a picture into the clipboard, as an image and as a file."""

    def copy(picture: ReadPicture) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(path)])
        if not picture.image.isNull():
            data.setImageData(picture.image)
        QGuiApplication.clipboard().setMimeData(data)
        tell_copied()

    background.run(lambda: read_whole(path), copy)


def _reveal_by_bus(path: str, notices: NoticeState) -> None:
    """Ask the desktop's file manager on Linux by D-Bus; where none answers, open the folder."""
    folder = str(Path(path).parent)
    program = QStandardPaths.findExecutable("dbus-send")
    if not program:
        open_folder(folder, notices)
        return
    # It splits lists at commas.
    url = QUrl.fromLocalFile(path).toEncoded().toStdString().replace(",", "%2C")
    arguments = [
        "--session",
        # Without a reply it says nothing of a desktop that has no such file manager.
        "--print-reply",
        "--dest=org.freedesktop.FileManager1",
        "--type=method_call",
        "/org/freedesktop/FileManager1",
        "org.freedesktop.FileManager1.ShowItems",
        f"array:string:{url}",
        "string:",
    ]
    asking = QProcess(QGuiApplication.instance())
    asking.finished.connect(partial(_on_asked, asking, folder, notices))
    asking.start(program, arguments)


def _on_asked(
    asking: QProcess,
    folder: str,
    notices: NoticeState,
    exit_code: int,
    status: QProcess.ExitStatus,
) -> None:
    asking.deleteLater()
    if exit_code or status is not QProcess.ExitStatus.NormalExit:
        open_folder(folder, notices)


def open_folder(path: str, notices: NoticeState) -> None:
    """Open a folder in the system's file manager; where there is none, say where the folder is."""
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
        notices.tell(translate("files", "No program on this computer shows folders."), path)
