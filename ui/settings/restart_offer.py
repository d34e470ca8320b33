"""The offer to restart now, where a setting is used from the next start on."""

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.session import Session
from ui.bind import bind_shown
from ui.theme.metrics import S
from ui.widgets.labels import plain_label


class RestartOffer(QWidget):
    """A button and what it does; there while a setting differs from the one that is in use."""

    def __init__(self, session: Session, name: str) -> None:
        super().__init__()
        settings = session.settings
        words = self.tr("The form is kept, and the queue goes on: a running picture begins anew.")
        self.restart = QPushButton(self.tr("Restart now"))
        self.restart.setAccessibleDescription(words)
        self.restart.clicked.connect(session.updates.restart)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.restart)
        row.addWidget(plain_label(words, "caption", wrap=True), 1)

        def differs() -> bool:
            return getattr(settings.now, name) != getattr(settings.at_start, name)

        bind_shown(self, settings.changed, differs, self.setVisible)
