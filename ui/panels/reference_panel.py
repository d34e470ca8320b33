"""The reference pictures of the form: a card for each, and a button to add one."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gallery.rows import Trouble
from app.session import Session
from ui.drop_spots import DropSpot
from ui.gallery.labels import unreadable_picture
from ui.panels.card_list import CardList, ListedCard
from ui.panels.card_pictures import CardPictures
from ui.panels.picture_question import ask_for_picture
from ui.pictures import ReadPicture, read_chosen
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label, plain_tooltip
from ui.widgets.thumbnail_view import ThumbnailView

_SIDE = 40


class ReferenceCard(ListedCard):
    """A card of a reference picture: its thumbnail and its name."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.thumbnail = ThumbnailView(theme, _SIDE)
        self.name = ElidedLabel()
        self.remove = IconButton(theme, "close", self.tr("Remove"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.thumbnail)
        row.addWidget(self.name, 1)
        row.addWidget(self.remove)
        self.remove.clicked.connect(self.removed)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        return (self.remove,)

    def show_path(self, path: str) -> None:
        """Show the name of a file."""
        name = Path(path).name
        self.name.setText(name)
        self.name.setToolTip(plain_tooltip(path))
        self.setAccessibleName(name)
        self.remove.setAccessibleName(f"{self.tr('Remove')}: {name}")

    def show_picture(self, picture: QImage | None) -> None:
        """Show the picture, or none where it cannot be read."""
        self.thumbnail.show_layers(*([] if picture is None else [picture]))


class ReferencePanel(CardList[ReferenceCard]):
    """A card for each reference picture; hidden for models that take none, if there is none."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self._commands = session.references
        self._pictures = CardPictures(session.background, session.edited, self)
        self.heading.setText(self.tr("Reference pictures"))
        self.about = plain_label("", "caption", wrap=True)
        self.put_below(self.about)
        self.add.clicked.connect(self.choose_picture)
        self._pictures.read.connect(self._show_pictures)
        session.generation.inputs_changed.connect(self._refresh)
        session.generation.suggestions_changed.connect(self._refresh)
        self._refresh()

    def choose_picture(self) -> None:
        """Ask for a picture, and add it."""
        ask_for_picture(self, self._session, self.tr("A reference picture"), self.take)

    def take(self, path: Path) -> None:
        """Add a picture, as soon as its size is read."""
        side = QSize(_SIDE, _SIDE)

        self._session.background.run(lambda: read_chosen(str(path), side), self._add)

    def drop_spots(self) -> Iterator[DropSpot]:
        """Return the button, which takes a picture."""
        if self._commands.has_room:
            yield DropSpot(self.add, self.tr("Show it to the model"), self.take)

    def make_card(self, at: int) -> ReferenceCard:
        """Return a card that takes its picture out of the list."""
        card = ReferenceCard(self._theme)
        card.removed.connect(partial(self._commands.remove, at))
        return card

    def _add(self, read: tuple[ReadPicture, Trouble | None]) -> None:
        picture, trouble = read
        if trouble is not None:
            self._session.notices.tell_error(unreadable_picture(picture.path, trouble))
        else:
            self._commands.add(picture.path, picture.width, picture.height)

    def _refresh(self, *_: object) -> None:
        paths, most = self._commands.paths, self._commands.most
        self.show_count(len(paths))
        self.setVisible(bool(paths) or most > 0)
        for path, card in zip(paths, self.cards, strict=False):
            card.show_path(path)
        self._show_pictures()
        self.heading.setVisible(bool(paths))
        self.add.setVisible(self._commands.has_room)
        self.add.setText(
            self.tr("Add a reference picture…")
            if paths
            else self.tr("Reference pictures: change or combine pictures…")
        )
        self.about.setText(self._words(len(paths), most))
        self.about.setVisible(bool(self.about.text()))
        self.order_controls()

    def _words(self, count: int, most: int) -> str:
        """Return what is left out of the list; empty if nothing is."""
        if not count or self._session.generation.suggestions.is_guess:
            return ""
        if not most:
            return self.tr("This model takes no reference pictures: they are left out.")
        if count > most:
            return self.tr("This model takes {n} of them: the others are left out.").format(n=most)
        return ""

    def _show_pictures(self) -> None:
        for path, card in zip(self._commands.paths, self.cards, strict=False):
            self._pictures.show(path, card.show_picture)
