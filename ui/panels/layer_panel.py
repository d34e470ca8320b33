"""The control layers or the image prompts of the form: a card for each, and a way to add more."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QFrame, QPushButton, QVBoxLayout, QWidget

from app.commands.layers import LayerCommands
from app.decoding import decode
from app.form.layer_kinds import CONTROL_LAYERS
from app.form.layer_list import LayerRow
from app.paths import nearest_folder
from app.session import Session
from engine.api.control import ControlLayer
from engine.api.model_files import ModelInfo
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label

if TYPE_CHECKING:
    from ui.panels.layer_card import LayerCard

_PICTURES = "*.png *.jpg *.jpeg *.webp"
_WEIGHTS = "*.safetensors *.sft *.pth *.pt *.ckpt *.bin *.onnx"
# The longest side of the pictures in cards, in device pixels.
_SIDE = 320
# The thickness of the mark between cards.
_MARK = 3
# The pictures of so many files are remembered.
_MOST_PICTURES = 64


class LayerPanel(QWidget):
    """A heading with a card for each layer; without any, only the button to add one."""

    def __init__(self, session: Session, commands: LayerCommands, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self._list, self._commands = commands.list, commands
        self.cards: list[LayerCard] = []
        # By path; None for a file that is no picture, absent while it is read.
        self._images: dict[str, QImage | None] = {}
        self._reading: set[str] = set()
        is_control = commands.kind is CONTROL_LAYERS
        title = self.tr("Control layers") if is_control else self.tr("Image prompts")
        self.heading = plain_label(title, "label")
        self.no_files = plain_label("", "note", wrap=True)
        self.add = QPushButton()
        self.add.setProperty("role", "link")
        # Where a dragged card would go.
        self.mark = QFrame(self)
        self.mark.setProperty("role", "mark")
        self.mark.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.heading)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(S)
        column.addLayout(self._cards)
        column.addWidget(self.no_files)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)
        self._connect()
        self._refresh()

    def choose_picture(self) -> None:
        """Ask for a picture, and add it."""
        path = self._ask_for_picture(self._add_words(has_any=True))
        if path is not None:
            self._commands.open(path)

    def _connect(self) -> None:
        session = self._session
        self.add.clicked.connect(self.choose_picture)
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
        rows, kind = self._list.rows, self._list.kind
        offered = kind.is_offered(self._session.generation.suggestions.features)
        self.setVisible(bool(rows) or offered)
        self._make_cards(len(rows))
        for row, card in zip(rows, self.cards, strict=True):
            card.show_row(row)
            self._show_picture(row, card)
        self._show_maps()
        self.heading.setVisible(bool(rows))
        self.add.setText(self._add_words(has_any=bool(rows)))
        self._tell_lack(lacks=bool(rows) and self._list.is_listed and not self._list.offered)
        self._order_controls()

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

    def _make_cards(self, count: int) -> None:
        focused = self.focusWidget()
        lost = self.cards[count:]
        # Qt has none where nothing in the panel has the focus.
        had_focus = bool(focused) and any(card.isAncestorOf(focused) for card in lost)
        while len(self.cards) > count:
            card = self.cards.pop()
            card.hide()
            card.deleteLater()
        while len(self.cards) < count:
            card = self._make_card()
            self._cards.addWidget(card)
            # Qt would show it only later, after what is done with it now.
            card.show()
            self._connect_card(card, len(self.cards))
            self.cards.append(card)
        if had_focus:
            (self.cards[-1].remove if self.cards else self.add).setFocus()

    def _make_card(self) -> "LayerCard":
        # Here, as the window starts sooner without the cards.
        if self._list.kind is CONTROL_LAYERS:
            from ui.panels.control_card import ControlCard

            return ControlCard(self._session, self._list, self._theme)
        from ui.panels.image_prompt_card import ImagePromptCard

        return ImagePromptCard(self._session, self._list, self._theme)

    def _connect_card(self, card: "LayerCard", at: int) -> None:
        commands = self._commands

        def pick(info: ModelInfo) -> None:
            commands.choose_file(at, info)

        card.changed.connect(partial(commands.replace, at))
        card.picked.connect(pick)
        card.removed.connect(lambda: commands.remove(at))
        card.moved.connect(partial(self._move_by, at))
        card.dragged.connect(self._drag)
        card.dropped.connect(partial(self._drop, at))
        card.wants_picture.connect(lambda: self._choose_picture(at))
        card.wants_file.connect(lambda: self._choose_file(at))
        card.wants_path.connect(partial(self._choose_path, at))
        card.shown_over.connect(partial(self._show_over, at))

    def _move_by(self, at: int, steps: int) -> None:
        self._move(at, at + steps)

    def _drag(self, place: QPoint) -> None:
        """Mark the place between cards where a dragged one would go."""
        above = self._cards_above(place)
        edge = self.cards[above].y() if above < len(self.cards) else self._end_of_cards()
        self.mark.setGeometry(0, edge - S // 2 - 1, self.width(), _MARK)
        self.mark.raise_()
        self.mark.show()

    def _drop(self, at: int, place: QPoint) -> None:
        """Move a card to the place where its grip was let go."""
        self.mark.hide()
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

    def _show_picture(self, row: LayerRow, card: "LayerCard") -> None:
        self._with_image(row.layer.image, card.show_picture)

    def _show_maps(self, *_: object) -> None:
        over = self._session.view.map_over
        for at, (row, card) in enumerate(zip(self._list.rows, self.cards, strict=False)):
            if isinstance(row.layer, ControlLayer):
                self._show_map(row.layer, card, over=over == at)

    def _show_map(self, layer: ControlLayer, card: "LayerCard", *, over: bool) -> None:
        made = self._session.control_maps.of(layer)
        if made.error is not None:
            card.show_failure(made.error)
        elif not made.path:
            card.show_map(None, over=over)
        else:
            self._with_image(made.path, partial(_show_read_map, card, over))

    def _with_image(self, path: str, show: Callable[[QImage | None], None]) -> None:
        """Show a picture in a card now if it is read, else once it is."""
        if path in self._images:
            show(self._images[path])
            return
        if path in self._reading:
            return
        self._reading.add(path)

        def read() -> QImage | None:
            image = decode(path, QSize(_SIDE, _SIDE)).image
            return None if image.isNull() else image

        def take(image: QImage | None) -> None:
            self._reading.discard(path)
            self._images[path] = image
            for earlier in tuple(self._images)[:-_MOST_PICTURES]:
                del self._images[earlier]
            self._show_all()

        self._session.background.run(read, take)

    def _show_all(self) -> None:
        for row, card in zip(self._list.rows, self.cards, strict=False):
            if row.layer.image in self._images:
                card.show_picture(self._images[row.layer.image])
        self._show_maps()

    def _choose_picture(self, at: int) -> None:
        path = self._ask_for_picture(self.tr("Another picture"))
        if path is not None:
            self._commands.use_picture(at, path)

    def _choose_file(self, at: int) -> None:
        name = self.cards[at].name.text()
        path = self._ask(self.tr("The file for {name}").format(name=name[:80]), _WEIGHTS)
        if path is not None:
            self._commands.use_file(at, path)

    def _choose_path(self, at: int, name: str) -> None:
        """Ask for the file in a field of a layer, by the field's name."""
        if name == "mask":
            path = self._ask_for_picture(self.tr("A mask: white where it acts"))
        else:
            path = self._ask(self.tr("A file of weights"), _WEIGHTS)
        if path is not None:
            self._commands.change(at, **{name: str(path)})

    def _ask_for_picture(self, title: str) -> Path | None:
        folder = nearest_folder(self._session.gallery.folder)
        kinds = self.tr("Pictures ({endings})").format(endings=_PICTURES)
        name, _ = QFileDialog.getOpenFileName(self, title, folder, kinds)
        return Path(name) if name else None

    def _ask(self, title: str, endings: str) -> Path | None:
        folder = nearest_folder(self._session.checkpoints.models / self._list.kind.folder)
        name, _ = QFileDialog.getOpenFileName(self, title, folder, endings)
        return Path(name) if name else None

    def _order_controls(self) -> None:
        """Put new controls where they are seen; Qt has them after all others of the window."""
        before = self._control_above()
        controls = (control for card in self.cards for control in card.controls)
        for control in (*controls, self.add):
            if before is not None:
                self.setTabOrder(before, control)
            before = control

    def _control_above(self) -> QWidget | None:
        """Return the control before the panel in the order of the tab key; None without one."""
        window, above = self.window(), self.heading.previousInFocusChain()
        while above is not None and above is not window and above is not self.heading:
            is_reached = above.focusPolicy() & Qt.FocusPolicy.TabFocus
            if is_reached and not self.isAncestorOf(above):
                return above
            above = above.previousInFocusChain()
        return None


def _show_read_map(card: "LayerCard", over: bool, image: QImage | None) -> None:
    """Show a map that was read; one that is no picture is empty, not on its way."""
    card.show_map(QImage() if image is None else image, over=over)
