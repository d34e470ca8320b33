"""A model to get on a first start: one that fits this computer, and the way to the others."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.downloads.links import read_link
from app.library.disk_room import DiskRoom
from app.library.first_models import FirstModel, first_models, suggested
from app.session import Session
from ui.download_labels import only_asked
from ui.models.first_card import (
    LicenceLink,
    first_model_facts,
    first_model_seconds,
    first_model_words,
)
from ui.theme.metrics import XS, S
from ui.widgets.labels import plain_label


class FirstOffer(QWidget):
    """A model with size, licence and time of a picture; a button looks it up, none downloads.

    `wanted` emits its address, or an empty one for the list of models.
    """

    wanted = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._model: FirstModel | None = None
        # Models lie on another disk than pictures where a person has moved either.
        self._disk = DiskRoom(session.checkpoints.models, session.background, self)
        self.words = plain_label("", "label", wrap=True)
        self.facts = plain_label("", "caption", wrap=True)
        self.licence = LicenceLink()
        self.get = QPushButton(self.tr("Get it…"))
        self.more = QPushButton(self.tr("Show others"))
        self._lay_out()
        self.get.clicked.connect(lambda: self.wanted.emit(self._model.url if self._model else ""))
        self.more.clicked.connect(lambda: self.wanted.emit(""))
        for signal in (
            session.devices.machine_changed,
            session.devices.devices_changed,
            session.checkpoints.families_changed,
            session.pace.changed,
            self._disk.free_bytes_changed,
        ):
            signal.connect(self._show)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Measure the room for models while one is offered."""
        super().showEvent(event)
        self._show()
        self._disk.refresh()

    def _lay_out(self) -> None:
        licence = QHBoxLayout()
        licence.addWidget(self.licence)
        licence.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        told = QVBoxLayout()
        told.setSpacing(XS)
        told.addWidget(self.words)
        told.addWidget(self.facts)
        told.addLayout(licence)
        column.addLayout(told)
        column.addStretch()
        column.addWidget(self.get)
        column.addWidget(self.more)

    def _show(self, *_: object) -> None:
        # It is told of each picture for as long as the window is there, and looks at all models.
        if not self.isVisible():
            return
        machine, model = self._session.devices.machine, None
        if machine is not None:
            room = machine.memory_total_bytes, self._disk.free_bytes
            model = suggested(first_models(), *room, partial(first_model_seconds, self._session))
        self._model = model
        for part in (self.facts, self.licence):
            part.setVisible(model is not None)
        self.get.setEnabled(model is not None)
        self.get.setVisible(model is not None or machine is None)
        if model is None:
            self.words.setText(
                self.tr("Full models draw people, animals and places in any style.")
                if machine is None
                else self.tr(
                    "Full models draw people, animals and places in any style, but this computer "
                    "has little room for one."
                )
            )
            return
        self._tell(model)

    def _tell(self, model: FirstModel) -> None:
        text = self.tr("{title}: {words}")
        self.words.setText(text.format(title=model.title, words=first_model_words(model)))
        self.facts.setText(" · ".join(first_model_facts(self._session, model)))
        self.licence.show_model(model)
        self.get.setAccessibleName(self.tr("Get {title}…").format(title=model.title))
        link = read_link(model.url)
        asks = only_asked(link.host) if link is not None else ""
        self.get.setToolTip(asks)
        self.get.setAccessibleDescription(asks)
