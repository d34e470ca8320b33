"""A download in the list: its title, how far it is, and its buttons."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout

from app.commands.downloads import DownloadCommands
from app.downloads.entries import ACTIVE, Download, DownloadState
from ui.download_labels import download_sentence
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label

_STEPS = 1000


class DownloadRow(QFrame):
    """A row that shows a `Download`; its widgets stay the same from state to state."""

    def __init__(self, theme: Theme, download: Download, downloads: DownloadCommands) -> None:
        super().__init__()
        self.setProperty("role", "card")
        name = download.id
        self.title = plain_label(breakable(download.title), wrap=True)
        hosts = ", ".join(download.hosts)
        self.hosts = plain_label(self.tr("From {hosts}").format(hosts=hosts), "caption", wrap=True)
        self.state = plain_label("", "caption", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, _STEPS)
        self.bar.setAccessibleName(self.tr("Progress of {title}").format(title=download.title))
        self.pause = IconButton(
            theme, "pause", self.tr("Pause {title}").format(title=download.title)
        )
        self.resume = IconButton(
            theme, "resume", self.tr("Continue {title}").format(title=download.title)
        )
        self.remove = IconButton(
            theme, "close", self.tr("Remove {title} from the list").format(title=download.title)
        )
        self.pause.clicked.connect(lambda: downloads.pause(name))
        self.resume.clicked.connect(lambda: downloads.resume(name))
        self.remove.clicked.connect(lambda: downloads.remove(name))
        self._lay_out()
        self.show_download(download)

    def show_download(self, download: Download) -> None:
        """Show the present state of the download."""
        state = download.state
        self.state.setText(breakable(download_sentence(download)))
        role = "error" if state is DownloadState.FAILED else "caption"
        if self.state.property("role") != role:
            self.state.setProperty("role", role)
            self.state.style().unpolish(self.state)
            self.state.style().polish(self.state)
        self.bar.setValue(download.bytes_done * _STEPS // max(download.size, 1))
        self.bar.setVisible(state is not DownloadState.DONE)
        self.pause.setVisible(state in ACTIVE or state is DownloadState.WAITING)
        self.resume.setVisible(state in (DownloadState.PAUSED, DownloadState.FAILED))

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(XS)
        words.addWidget(self.title)
        words.addWidget(self.hosts)
        first = QHBoxLayout()
        first.setSpacing(S)
        first.addLayout(words, 1)
        for button in (self.pause, self.resume, self.remove):
            first.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(M, S, M, M)
        column.setSpacing(S)
        column.addLayout(first)
        column.addWidget(self.bar)
        column.addWidget(self.state)
