"""The list of downloads, which go on while it is closed."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.commands.downloads import DownloadCommands
from ui.panels.download_row import DownloadRow
from ui.theme.metrics import L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label, rule
from ui.widgets.scroll_area import scroll_area
from ui.window_place import room_for

_SIZE = QSize(480, 420)


class DownloadsDialog(QDialog):
    """A dialog beside the window with a row for each download."""

    def __init__(self, downloads: DownloadCommands, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._downloads, self._theme = downloads, theme
        self.by_name: dict[str, DownloadRow] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Downloads"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.nothing = plain_label(
            self.tr("Nothing is being downloaded. Safelight downloads only what you ask for."),
            "caption",
            wrap=True,
        )
        self.rows = scroll_area(self.tr("Downloads"))
        self.list = QVBoxLayout()
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        downloads.changed.connect(self._refresh)
        downloads.removed.connect(self._refresh)
        self.close_button.clicked.connect(self.accept)
        self._refresh()

    def _lay_out(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(L, L, L, M)
        column.addWidget(self.nothing)
        self.list.setSpacing(S)
        column.addLayout(self.list)
        column.addStretch()
        self.rows.setWidget(content)
        foot = QHBoxLayout()
        foot.setContentsMargins(L, M, L, M)
        foot.addStretch()
        foot.addWidget(self.close_button)
        whole = QVBoxLayout(self)
        whole.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.rows, 1)
        whole.addWidget(rule(Qt.Orientation.Horizontal))
        whole.addLayout(foot)
        self.close_button.setAutoDefault(False)

    def _refresh(self) -> None:
        entries = self._downloads.entries
        for name in self.by_name.keys() - {entry.id for entry in entries}:
            row = self.by_name.pop(name)
            self.list.removeWidget(row)
            row.deleteLater()
        for entry in entries:
            if entry.id in self.by_name:
                self.by_name[entry.id].show_download(entry)
            else:
                row = DownloadRow(self._theme, entry, self._downloads)
                self.by_name[entry.id] = row
                self.list.addWidget(row)
        self.nothing.setVisible(not entries)
