"""The question for a picture that begins something in the form."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.paths import nearest_folder
from app.session import Session
from ui.files.chooser import FileChooser
from ui.files.kinds import picture_kinds


def ask_for_picture(
    parent: QWidget, session: Session, title: str, take: Callable[[Path], None]
) -> None:
    """Ask for a picture, and call `take` with its file, or with a PNG file of other formats."""
    folder = nearest_folder(session.output_pictures.folder)
    name = FileChooser.open_file(parent, title, folder, picture_kinds())
    if name:
        session.pictures.in_our_format(Path(name), take)
