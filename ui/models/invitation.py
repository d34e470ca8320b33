"""An invitation to bring models along, while there are none but the starter."""

from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout

from ui.theme.metrics import L, M, S
from ui.widgets.flow_layout import FlowLayout
from ui.widgets.labels import plain_label


class Invitation(QFrame):
    """A sentence on what a model is, and a button for each way to have one."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.get = QPushButton(self.tr("Get a model"))
        self.get.setProperty("role", "action")
        self.folder = QPushButton(self.tr("Add a folder of models…"))
        self.file = QPushButton(self.tr("Open a file…"))
        self._heading = plain_label(self.tr("Bring your own models"), "heading")
        self._words = plain_label(
            self.tr(
                "A model is a file that has learnt to draw from many pictures; people share "
                "theirs on sites such as Civitai and Hugging Face. Those that other programs have "
                "put on this computer can be used where they are."
            ),
            "label",
            wrap=True,
        )
        buttons = FlowLayout(S)
        for button in (self.get, self.folder, self.file):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(L, M, L, M)
        column.setSpacing(S)
        column.addWidget(self._heading)
        column.addWidget(self._words)
        column.addSpacing(S)
        column.addLayout(buttons)

    def show_words(self, *, shown: bool) -> None:
        """Show the sentence over the buttons, or the buttons alone where there is little room."""
        self._heading.setVisible(shown)
        self._words.setVisible(shown)
