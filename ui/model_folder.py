"""The questions for a folder of models, and for the place of a model that is gone."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app.paths import nearest_folder
from app.session import Session
from engine.api.model_files import MODEL_SUFFIXES
from ui.files.chooser import FileChooser
from ui.files.kinds import model_kinds


def ask_for_folder(session: Session, parent: QWidget) -> Path | None:
    """Return the folder that the user chooses to be looked into for models; None if none."""
    title = QCoreApplication.translate("models", "A folder of models")
    start = nearest_folder(session.checkpoints.models)
    folder = FileChooser.open_folder(parent, title, start)
    return Path(folder) if folder else None


def ask_where(session: Session, parent: QWidget, missing: Path) -> str:
    """Ask where a model is now that is gone, which was a file or a folder; empty if nowhere."""
    title = QCoreApplication.translate("models", "Find {name}").format(name=missing.name[:80])
    near = Path(nearest_folder(missing.parent))
    # Far up it is as good as nowhere.
    known = near if near == missing.parent else session.checkpoints.models
    start = nearest_folder(known)
    if missing.suffix.lower() not in MODEL_SUFFIXES:
        return FileChooser.open_folder(parent, title, start)
    return FileChooser.open_file(parent, title, start, model_kinds())
