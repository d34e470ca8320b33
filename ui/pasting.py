"""Pictures and files in the clipboard, pasted anywhere in the window as if they were dropped."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QImage, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.form.masks import keep_pasted
from app.session import Session
from engine.api.values import ErrorInfo
from ui.drops import DropOffer, Drops, dropped_files


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
        files = dropped_files(data)
        image = QImage() if files else QGuiApplication.clipboard().image()
        if files:
            self._offer(files)
        elif image.isNull():
            self._session.notices.tell(
                self.tr("There is nothing to paste here."),
                self.tr("Copy a picture, or the file of a picture or a model, before."),
            )
        else:
            folder = self._session.state_folder / "pasted"
            self._session.background.run(lambda: keep_pasted(folder, _png(image)), self._on_kept)

    def _on_kept(self, kept: Path | ErrorInfo) -> None:
        if isinstance(kept, ErrorInfo):
            self._session.notices.tell_error(kept)
        else:
            self._offer([kept])

    def _offer(self, files: Sequence[Path]) -> None:
        """Act on the files, after a question if there are several ways to."""
        offers = self._drops.offers(files[0], others=files[1:])
        if len(offers) == 1:
            self._take(offers[0])
            return
        self.menu = menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.destroyed.connect(self._forget)
        for offer in offers:
            action = menu.addAction(offer.title)
            action.triggered.connect(lambda _=False, one=offer: self._take(one))
        half = QPoint(menu.sizeHint().width() // 2, menu.sizeHint().height() // 2)
        menu.popup(self._window.mapToGlobal(self._window.rect().center()) - half)
        # So that Enter takes it.
        menu.setActiveAction(menu.actions()[0])

    def _forget(self) -> None:
        self.menu = None

    def _take(self, offer: DropOffer) -> None:
        if offer.take is None:
            self._session.notices.tell(f"{offer.title}.", offer.sentence)
        else:
            self._drops.take(offer)


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())
