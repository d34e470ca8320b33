"""A row that takes a person's own key for a site."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from app.downloads.site_keys import PAGES
from app.session import Session
from ui.theme.metrics import CONTROL_HEIGHT, S
from ui.widgets.labels import buddy_label
from ui.widgets.line_field import LineField


class SiteKeyRow(QWidget):
    """A field for the key of one host; hidden where no site wants one."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._host = ""
        self.key = LineField()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setFixedHeight(CONTROL_HEIGHT)
        self.label = buddy_label(self.tr("Your key"), self.key)
        self.keep = QPushButton(self.tr("Keep it"))
        self.page = QPushButton(self.tr("Where to make one"))
        self.page.setProperty("role", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.label)
        row.addWidget(self.key, 1)
        row.addWidget(self.keep)
        row.addWidget(self.page)
        self.keep.clicked.connect(self._keep)
        self.key.returnPressed.connect(self._keep)
        self.page.clicked.connect(self._open_page)
        self.hide()

    def show_host(self, host: str) -> None:
        """Ask for the key of a host; an empty one hides the row."""
        self._host = host if host in PAGES else ""
        self.setVisible(bool(self._host) and self.parentWidget() is not None)
        if self._host:
            self.label.setText(self.tr("Your key for {host}").format(host=self._host))

    def _keep(self) -> None:
        try:
            self._session.models.getting.keep_key(self._host, self.key.text())
        except ValueError:
            self.key.selectAll()
            return
        self.key.clear()

    def _open_page(self) -> None:
        QDesktopServices.openUrl(QUrl(PAGES[self._host]))
