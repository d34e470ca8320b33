"""The question for a folder of models."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.paths import nearest_folder
from app.session import Session


def ask_for_folder(session: Session, parent: QWidget) -> Path | None:
    """Return the folder that the user chooses to be looked into for models; None if none."""
    title = QCoreApplication.translate("models", "A folder of models")
    start = nearest_folder(session.checkpoints.models)
    folder = QFileDialog.getExistingDirectory(parent, title, start)
    return Path(folder) if folder else None
