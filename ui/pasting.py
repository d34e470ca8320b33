"""Pictures and files in the clipboard, pasted anywhere in the window as if they were dropped."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QImage, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.form.masks import PASTED, keep_pasted
from app.form.picture_settings import tells_settings
from app.session import Session
from engine.api.values import ErrorInfo
from ui.drops import DropOffer, Drops, taken_files
from ui.pictures import png_of


class Pasting(QObject):
    """The action that pastes; text fields keep the key for what they can take themselves."""

    def __init__(self, session: Session, drops: Drops, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._drops, self._window = session, drops, window
        # The question that is open; None while there is none.
        self.menu: QMenu | None = None
        self.action = QAction(self.tr("Paste a picture or a model"), window)
        self.action.setShortcut(QKeySequence(QKeySequence.StandardKey.Paste))
        self.action.triggered.connect(self._paste)
        window.addAction(self.action)

    def _paste(self) -> None:
        data = QGuiApplication.clipboard().mimeData()
        files, text = taken_files(data), data.text()
        image = QImage() if files else QGuiApplication.clipboard().image()
        if files:
            self._offer(self._drops.offers(files[0], others=files[1:]))
        elif image.isNull() and tells_settings(text):
            self._drops.take(DropOffer("", "", lambda: self._session.pictures.use_text(text)))
        elif image.isNull():
            self._session.notices.tell(
                self.tr("There is nothing to paste here."),
                self.tr("Copy a picture, or the file of a picture or a model, before."),
            )
        else:
            folder = self._session.state_folder / PASTED
            self._session.background.run(lambda: keep_pasted(folder, png_of(image)), self._on_kept)

    def _on_kept(self, kept: Path | ErrorInfo) -> None:
        if isinstance(kept, ErrorInfo):
            self._session.notices.tell_error(kept)
        else:
            # Its settings stayed in the file that it was copied from.
            self._offer(self._drops.offers(kept, ours=True))

    def _offer(self, offers: Sequence[DropOffer]) -> None:
        """Do what is offered, after a question if that is more than one thing."""
        if len(offers) == 1:
            self._drops.take(offers[0])
            return
        self.menu = menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.destroyed.connect(self._forget)
        for offer in offers:
            action = menu.addAction(offer.title)
            action.triggered.connect(lambda _=False, chosen=offer: self._drops.take(chosen))
        half = QPoint(menu.sizeHint().width() // 2, menu.sizeHint().height() // 2)
        menu.popup(self._window.mapToGlobal(self._window.rect().center()) - half)
        # So that Enter takes it.
        menu.setActiveAction(menu.actions()[0])

    def _forget(self) -> None:
        self.menu = None
