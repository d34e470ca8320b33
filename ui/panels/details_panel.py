"""The pane on the page of Create that tells how the picture was made."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.session import Session
from ui.picture_facts import PictureTexts, read_texts
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.picture_details import PictureDetails


class DetailsPanel(QWidget):
    """The facts of the picture that is shown, read by another thread while the pane is open."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        # Of the facts that are shown, or being read.
        self._wanted: tuple[str, float | None] | None = None
        self.details = PictureDetails(theme)
        # There while the pane stands in the place of the form.
        self.back = QPushButton(self.tr("Back to the form"))
        self.back.setProperty("role", "link")
        self.setProperty("role", "panel")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        top = QVBoxLayout()
        top.setContentsMargins(M, S, M, 0)
        top.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeading)
        column.addLayout(top)
        column.addWidget(self.details, 1)
        session.view.path_changed.connect(self._refresh)
        # A picture's time is known a moment after it is saved.
        session.progress.ended.connect(self._refresh)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Read the facts of the picture that was chosen meanwhile."""
        super().showEvent(event)
        self._refresh()

    def _refresh(self) -> None:
        path = self._session.view.path
        if not self.isVisible():
            return
        if path is None:
            self._wanted = None
            self.details.show_facts(())
            return
        seconds = self._session.making_times.seconds(path)
        wanted = path, seconds
        if wanted == self._wanted:
            return
        self._wanted = wanted

        def show(texts: PictureTexts) -> None:
            if wanted == self._wanted:
                self.details.show_facts(*texts)

        self._session.background.run(lambda: read_texts(path, seconds), show)
