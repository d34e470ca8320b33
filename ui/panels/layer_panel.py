"""The control layers or the image prompts of the form: a card for each, and a way to add more."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame

from app.commands.layers import LayerCommands
from app.form.layer_kinds import CONTROL_LAYERS
from app.paths import nearest_folder
from app.session import Session
from engine.api.control import ControlLayer
from engine.api.model_files import ModelInfo
from ui.drop_spots import DropSpot
from ui.files.chooser import FileChooser
from ui.files.kinds import NETWORK_PATTERNS
from ui.panels.card_list import CardList
from ui.panels.card_pictures import CardPictures
from ui.panels.picture_question import ask_for_picture
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.edge_scroll import EdgeScroll
from ui.widgets.labels import breakable, plain_label

if TYPE_CHECKING:
    from ui.panels.layer_card import LayerCard

# The thickness of the mark between cards.
_MARK = 3


class LayerPanel(CardList["LayerCard"]):
    """A card for each layer of a kind; what is missing is said below them."""

    def __init__(
        self, session: Session, commands: LayerCommands, theme: Theme, scrolling: EdgeScroll
    ) -> None:
        """`scrolling` moves the form while a card is dragged to its edge."""
        super().__init__()
        self._session, self._theme, self._scrolling = session, theme, scrolling
        self._list, self._commands = commands.list, commands
        self._pictures = CardPictures(session.background, session.edited, self)
        is_control = commands.kind is CONTROL_LAYERS
        self.heading.setText(self.tr("Control layers") if is_control else self.tr("Image prompts"))
        self.no_files = plain_label("", "note", wrap=True)
        self.put_below(self.no_files)
        # Where a dragged card would go.
        self.mark = QFrame(self)
        self.mark.setProperty("role", "mark")
        self.mark.hide()
        self._connect()
        self._refresh()

    def choose_picture(self) -> None:
        """Ask for a picture, and add it."""
        self._ask_for_picture(self._add_words(has_any=True), self._commands.open)

    def drop_spots(self) -> Iterator[DropSpot]:
        """Return what takes a picture: each card, and the panel for one more."""
        for at, card in enumerate(self.cards):
            has_picture = bool(self._list.rows[at].layer.image)
            words = self.tr("Replace the picture") if has_picture else self.tr("Use this picture")
            yield DropSpot(card, words, partial(self._commands.use_picture, at))
        if self._commands.is_offered:
            words = (
                self.tr("Follow this picture")
                if self._list.kind is CONTROL_LAYERS
                else self.tr("Use as an image prompt")
            )
            yield DropSpot(self.add, words, self._commands.open)

    def _connect(self) -> None:
        session = self._session
        self.add.clicked.connect(self.choose_picture)
        self._pictures.read.connect(self._show_pictures)
        self._scrolling.scrolled.connect(self._on_scrolled)
        self._commands.shown.connect(self.reveal)
        for signal in (
            self._list.rows_changed,
            self._list.offered_changed,
            session.checkpoints.families_changed,
            session.generation.suggestions_changed,
            session.models.store.listing_changed,
        ):
            signal.connect(self._refresh)
        if self._list.kind is CONTROL_LAYERS:
            session.control_maps.changed.connect(self._show_maps)
            session.view.map_over_changed.connect(self._show_maps)

    def _refresh(self, *_: object) -> None:
        rows, offered = self._list.rows, self._commands.is_offered
        self.show_count(len(rows))
        self.setVisible(bool(rows) or offered)
        for row, card in zip(rows, self.cards, strict=False):
            card.show_row(row)
        self._show_pictures()
        self.heading.setVisible(bool(rows))
        self.add.setVisible(offered)
        self.add.setText(self._add_words(has_any=bool(rows)))
        needs_files = bool(rows) and self._list.own_features is None
        self._tell_lack(lacks=needs_files and self._list.is_listed and not self._list.offered)
        self.order_controls()

    def _tell_lack(self, *, lacks: bool) -> None:
        """Tell where files may be put if the user's folders have none."""
        self.no_files.setVisible(lacks)
        if lacks:
            # Here, as the window starts sooner without the words of the cards.
            from ui.layer_labels import no_files_words

            kind = self._list.kind
            folder = self._session.checkpoints.models / kind.folder
            self.no_files.setText(breakable(no_files_words(kind, folder)))

    def _add_words(self, *, has_any: bool) -> str:
        """Return the words of the button that adds a layer; without any they explain it."""
        if self._list.kind is CONTROL_LAYERS:
            if has_any:
                return self.tr("Add a control layer…")
            return self.tr("Control: follow the lines or depth of a picture…")
        if has_any:
            return self.tr("Add an image prompt…")
        return self.tr("Image prompt: a picture as a prompt…")

    def make_card(self, at: int) -> "LayerCard":
        """Return a card that changes the layer at a place."""
        # Here, as the window starts sooner without the cards.
        if self._list.kind is CONTROL_LAYERS:
            from ui.panels.control_card import ControlCard as Card
        else:
            from ui.panels.image_prompt_card import ImagePromptCard as Card

        card, commands = Card(self._session, self._list, self._theme), self._commands

        def pick(info: ModelInfo | None) -> None:
            if info is None:
                commands.choose_model(at)
            else:
                commands.choose_file(at, info)

        card.changed.connect(partial(commands.replace, at))
        card.picked.connect(pick)
        card.removed.connect(partial(commands.remove, at))
        card.controls_changed.connect(self.order_controls)
        card.grip.stepped.connect(partial(self._move_by, at))
        card.grip.dragged.connect(self._drag)
        card.grip.dropped.connect(partial(self._drop, at))
        card.grip.given_up.connect(self._end_drag)
        card.wants_picture.connect(partial(self._choose_picture, at))
        card.wants_file.connect(partial(self._choose_file, at))
        card.wants_path.connect(partial(self._choose_path, at))
        card.shown_over.connect(partial(self._show_over, at))
        # Before it is seen, or it would be laid out once empty and once more with its texts.
        card.show_row(self._list.rows[at])
        return card

    def _move_by(self, at: int, steps: int) -> None:
        self._move(at, at + steps)

    def _drag(self, place: QPoint) -> None:
        """Mark where a dragged card would go; the form follows it."""
        self._scrolling.follow(place)
        self._mark(place)

    def _mark(self, place: QPoint) -> None:
        above = self._cards_above(place)
        edge = self.cards[above].y() if above < len(self.cards) else self._end_of_cards()
        self.mark.setGeometry(0, edge - S // 2 - 1, self.width(), _MARK)
        self.mark.raise_()
        self.mark.show()

    def _on_scrolled(self, place: QPoint) -> None:
        if not self.mark.isHidden():
            self._mark(place)

    def _end_drag(self) -> None:
        self._scrolling.stop()
        self.mark.hide()

    def _drop(self, at: int, place: QPoint) -> None:
        """Move a card to the place where its grip was let go."""
        self._end_drag()
        above = self._cards_above(place)
        self._move(at, above - (above > at))

    def _cards_above(self, place: QPoint) -> int:
        """Return the number of cards whose middles are above a place of the screen."""
        y = self.mapFromGlobal(place).y()
        return sum(card.geometry().center().y() < y for card in self.cards)

    def _end_of_cards(self) -> int:
        return self.cards[-1].geometry().bottom() + S

    def _show_over(self, at: int, on: bool) -> None:
        self._session.view.show_map(at if on else None)

    def _move(self, at: int, to: int) -> None:
        """Move a card; the focus stays on its grip."""
        if not 0 <= to < len(self.cards):
            return
        had_focus = self.cards[at].grip.hasFocus()
        self._commands.move(at, to)
        if had_focus:
            self.cards[to].grip.setFocus()

    def _show_pictures(self) -> None:
        for row, card in zip(self._list.rows, self.cards, strict=False):
            if row.layer.image:
                self._pictures.show(row.layer.image, card.show_picture)
            else:
                card.show_no_picture()
        self._show_maps()

    def _show_maps(self, *_: object) -> None:
        over = self._session.view.map_over
        for at, (row, card) in enumerate(zip(self._list.rows, self.cards, strict=False)):
            if isinstance(row.layer, ControlLayer):
                self._show_map(row.layer, card, over=over == at)

    def _show_map(self, layer: ControlLayer, card: "LayerCard", *, over: bool) -> None:
        made = self._session.control_maps.of(layer)
        if not layer.image:
            card.show_map(QImage(), over=False)
        elif made.error is not None:
            card.show_failure(made.error)
        elif not made.path:
            card.show_map(None, over=over)
        else:
            self._pictures.show(made.path, partial(_show_read_map, card, over))

    def _choose_picture(self, at: int) -> None:
        use = partial(self._commands.use_picture, at)
        self._ask_for_picture(self.tr("Another picture"), use)

    def _choose_file(self, at: int) -> None:
        name = self.cards[at].name.text()
        path = self._ask(self.tr("The file for {name}").format(name=name[:80]), NETWORK_PATTERNS)
        if path is not None:
            self._commands.use_file(at, path)

    def _choose_path(self, at: int, name: str) -> None:
        """Ask for the file in a field of a layer, by the field's name."""

        def change(path: Path) -> None:
            self._commands.change(at, **{name: str(path)})

        if name == "mask":
            self._ask_for_picture(self.tr("A mask: white where it acts"), change)
        elif name == "further":
            add = partial(self._commands.add_further, at)
            self._ask_for_picture(self.tr("A picture that is seen together with the first"), add)
        elif (path := self._ask(self.tr("A file of weights"), NETWORK_PATTERNS)) is not None:
            change(path)

    def _ask_for_picture(self, title: str, take: Callable[[Path], None]) -> None:
        ask_for_picture(self, self._session, title, take)

    def _ask(self, title: str, endings: str) -> Path | None:
        folder = nearest_folder(self._session.checkpoints.models / self._list.kind.folder)
        name = FileChooser.open_file(self, title, folder, endings)
        return Path(name) if name else None


def _show_read_map(card: "LayerCard", over: bool, image: QImage | None) -> None:
    """Show a map that was read; one that is no picture is empty, not on its way."""
    card.show_map(QImage() if image is None else image, over=over)
