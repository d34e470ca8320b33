"""The empty canvas: three ways to a first picture, and what the computer can do."""

from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPainterPath, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.engine.machine_use import used_adapter
from app.form.examples import StarterExample
from app.session import Session
from ui.actions import ActionName, Actions
from ui.first_postcards import POSTCARDS, picture_file
from ui.key_tips import show_key
from ui.machine_labels import device_sentence, found_words, picture_time
from ui.panels.first_folders import FirstFolders
from ui.panels.first_offer import FirstOffer
from ui.theme.icons import draw, icon_source
from ui.theme.metrics import RADIUS, XS, L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label
from ui.widgets.scroll_area import scroll_area

# Below this width the cards are one below the other.
_ABREAST = 660
# From this width on the postcards are in one row, where the cards are not beside one another.
_IN_A_ROW = 545
_MOST_WIDTH = 860
_POSTCARD, _COLUMNS = 64, 3
_LAMP = 56


class FirstRun(QWidget):
    """Three cards of equal rank: try the starter, use a model of one's own, get one."""

    # The address of a model that a person wants, or an empty one for the list of models.
    model_wanted = Signal(str)

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.setProperty("role", "canvas")
        self.found = plain_label("", "caption", wrap=True)
        self.found.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.postcards = [self._postcard(card) for card in POSTCARDS]
        self.use_file = QPushButton(self.tr("Choose a file…"))
        show_key(self.use_file, ActionName.OPEN)
        self.folders = FirstFolders(session, actions)
        self.offer = FirstOffer(session)
        self.cards = [self._try_it(), self._use_mine(), self._get_one()]
        self._lay_out()
        # Without the page of models there is nothing to show.
        models = actions[ActionName.MODELS]
        models.changed.connect(lambda: self.cards[2].setVisible(models.isVisible()))
        self.cards[2].setVisible(models.isVisible())
        self.use_file.clicked.connect(actions[ActionName.OPEN].trigger)
        self.offer.wanted.connect(self.model_wanted)
        for signal in (
            session.devices.machine_changed,
            session.devices.devices_changed,
            session.devices.checking_changed,
            session.disk.free_bytes_changed,
            session.picture_time.changed,
        ):
            signal.connect(self._tell)
        self._tell()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Put the cards beside or below one another."""
        super().resizeEvent(event)
        self._arrange(abreast=self.width() >= _ABREAST)

    def _arrange(self, *, abreast: bool) -> None:
        to = QBoxLayout.Direction
        self._row.setDirection(to.LeftToRight if abreast else to.TopToBottom)
        self._lamp.setVisible(abreast)
        fits = not abreast and self.width() >= _IN_A_ROW
        columns = len(self.postcards) if fits else _COLUMNS
        for at, button in enumerate(self.postcards):
            self._grid.addWidget(button, at // columns, at % columns)

    def _lay_out(self) -> None:
        title = plain_label(self.tr("Make your first picture"), "title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lamp = QLabel()
        self._lamp.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._theme.changed.connect(self._draw)
        self._draw()
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(M)
        for card in self.cards:
            self._row.addWidget(card, 1)
        content = QWidget()
        content.setProperty("role", "canvas")
        content.setMaximumWidth(_MOST_WIDTH)
        column = QVBoxLayout(content)
        column.setContentsMargins(L, L, L, L)
        column.setSpacing(M)
        column.addStretch()
        column.addWidget(self._lamp)
        column.addWidget(title)
        column.addLayout(self._row)
        column.addWidget(self.found)
        column.addStretch()
        middle = QWidget()
        middle.setProperty("role", "canvas")
        around = QBoxLayout(QBoxLayout.Direction.LeftToRight, middle)
        around.setContentsMargins(0, 0, 0, 0)
        around.addStretch()
        around.addWidget(content, 100)
        around.addStretch()
        area = scroll_area(self.tr("Ways to a first picture"))
        area.setWidget(middle)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _try_it(self) -> QFrame:
        card, column = _card(
            self.tr("Try it now"),
            self.tr(
                "Click a postcard: the small model that comes with Safelight draws one like it."
            ),
        )
        self._grid = QGridLayout()
        self._grid.setSpacing(XS)
        row = QHBoxLayout()
        row.addLayout(self._grid)
        row.addStretch()
        column.addStretch()
        column.addLayout(row)
        return card

    def _use_mine(self) -> QFrame:
        card, column = _card(
            self.tr("Use a model I have"),
            self.tr(
                "Models are files that know how things look. Choose one, or drop it on this "
                "window: it is used where it lies."
            ),
        )
        column.addStretch()
        column.addWidget(self.use_file)
        column.addWidget(self.folders)
        return card

    def _get_one(self) -> QFrame:
        card, column = _card(self.tr("Get one"))
        column.addWidget(self.offer, 1)
        return card

    def _postcard(self, card: StarterExample) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "postcard")
        button.setIcon(QIcon(_rounded(picture_file(card).read_bytes())))
        button.setIconSize(QSize(_POSTCARD, _POSTCARD))
        # The prompt itself is in the starter's language.
        words = self.tr("Draw “{prompt}”").format(prompt=card.prompt)
        button.setAccessibleName(words)
        button.setToolTip(words)
        make = partial(self._session.first_picture.make, card.prompt)
        button.clicked.connect(lambda: make())
        return button

    def _draw(self) -> None:
        colour = self._theme.colours.accent
        self._lamp.setPixmap(draw(icon_source("lamp"), colour, _LAMP, self.devicePixelRatioF()))

    def _tell(self, *_: object) -> None:
        devices = self._session.devices
        machine = devices.machine
        if machine is None:
            self.found.setText(self.tr("Looking at your hardware…"))
            return
        room = devices.memory_free_bytes, self._session.disk.free_bytes
        sentences: list[str] = []
        if devices.chosen is None or used_adapter(machine, devices.chosen) is None:
            sentences.append(device_sentence(machine, devices.chosen))
        seconds = self._session.picture_time.of_form
        if devices.checking:
            sentences.append(self.tr("Its speed is being measured, once."))
        elif seconds is not None:
            sentences.append(picture_time(seconds))
        # Wrapped as one text they left a single word for the second line.
        lines = found_words(machine, *room), " ".join(sentences)
        self.found.setText("\n".join(breakable(line) for line in lines if line))


def _card(title: str, sentence: str = "") -> tuple[QFrame, QVBoxLayout]:
    """Make a card with a heading and, if any, a sentence; return it with its column."""
    card = QFrame()
    card.setProperty("role", "card")
    column = QVBoxLayout(card)
    column.setContentsMargins(M, M, M, M)
    column.setSpacing(S)
    # Wrapped, so that a long one does not take width from the other cards.
    column.addWidget(plain_label(title, "heading", wrap=True))
    if sentence:
        column.addWidget(plain_label(sentence, "label", wrap=True))
        column.addSpacing(XS)
    return card, column


def _rounded(content: bytes) -> QPixmap:
    """Return a picture with round corners, at the resolution of its file."""
    picture = QPixmap()
    picture.loadFromData(content)
    rounded = QPixmap(picture.size())
    rounded.fill(Qt.GlobalColor.transparent)
    shape = QPainterPath()
    radius = RADIUS * picture.width() / _POSTCARD
    shape.addRoundedRect(QRectF(picture.rect()), radius, radius)
    with QPainter(rounded) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(shape)
        painter.drawPixmap(0, 0, picture)
    return rounded
