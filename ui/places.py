"""The places of the window: a rail of buttons at the side, and the page of the open place."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

import msgspec
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.session import Session
from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.theme.metrics import RAIL_BUTTON, RAIL_BUTTON_LEAST, RAIL_ICON, WIDE, XS
from ui.theme.theme import Theme
from ui.widgets.labels import rule
from ui.widgets.stack import Stack


class Place(StrEnum):
    """The places of the window, in the order of their buttons."""

    CREATE = "create"
    GALLERY = "gallery"
    MODELS = "models"
    SETTINGS = "settings"


_SOFT_HYPHEN = "\u00ad"


class _Button(msgspec.Struct, frozen=True):
    """A place's button: its short name, its icon, and the action that it triggers."""

    text: object
    icon: str
    action: ActionName


_BUTTONS = {
    Place.CREATE: _Button(QT_TRANSLATE_NOOP("Places", "Create"), "create", ActionName.CREATE),
    Place.GALLERY: _Button(QT_TRANSLATE_NOOP("Places", "Gallery"), "gallery", ActionName.GALLERY),
    Place.MODELS: _Button(QT_TRANSLATE_NOOP("Places", "Models"), "models", ActionName.MODELS),
    Place.SETTINGS: _Button(
        QT_TRANSLATE_NOOP("Places", "Settings"), "settings", ActionName.SETTINGS
    ),
}


def _models(session: Session, theme: Theme, actions: Actions) -> QWidget:
    from ui.models.page import ModelsPage

    return ModelsPage(session, theme, actions)


def _gallery(session: Session, theme: Theme, actions: Actions) -> QWidget:
    from ui.gallery.page import GalleryPage

    return GalleryPage(session, theme, actions)


def _settings(session: Session, theme: Theme, actions: Actions) -> QWidget:
    from ui.settings.page import SettingsPage

    return SettingsPage(session, theme, actions)


MakePage = Callable[[Session, Theme, Actions], QWidget]
# The pages that are made when they are first opened; each imports its code then.
_LATER: dict[Place, MakePage] = {
    Place.GALLERY: _gallery,
    Place.MODELS: _models,
    Place.SETTINGS: _settings,
}


@runtime_checkable
class Working(Protocol):
    """A page with threads of its own."""

    def close_background(self) -> None:
        """Wait for the threads; called when the application ends."""
        ...


@runtime_checkable
class ShowingPicture(Protocol):
    """A page with a picture that actions on pictures are about."""

    @property
    def picture(self) -> str | None:
        """The picture's path; None without one."""
        ...


@runtime_checkable
class OpeningPicture(Protocol):
    """A page that shows pictures of its own list."""

    def open_picture(self, path: str) -> bool:
        """Show a picture; return False for one that is not the page's."""
        ...

    def choose_pictures(self, paths: Sequence[str]) -> None:
        """Choose pictures in the list, as far as they are the page's."""
        ...


@runtime_checkable
class Entered(Protocol):
    """A page with a control to begin at."""

    @property
    def entry(self) -> QWidget:
        """The control that a key leads to."""
        ...


@runtime_checkable
class LendingRoom(Protocol):
    """A page with controls that messages must not cover."""

    @property
    def room_for_messages(self) -> QWidget:
        """The part that messages may lie over."""
        ...


class Rail(QWidget):
    """A column of buttons, one for each place; the settings are at its bottom."""

    def __init__(self, theme: Theme, actions: Actions, places: list[Place]) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "rail")
        # A page that wants more room than there is must not shorten the names.
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(self.tr("Places"))
        self.buttons = {place: self._button(actions, place) for place in places}
        # Exclusive, so that the arrow keys move between the buttons.
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(XS, XS, XS, XS)
        column.setSpacing(XS)
        for place, button in self.buttons.items():
            self._group.addButton(button)
            if place is Place.SETTINGS:
                column.addStretch(1)
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        if Place.SETTINGS not in self.buttons:
            column.addStretch(1)
        theme.changed.connect(self._draw)
        self.show_names(shown=True)
        self._draw()

    def show_place(self, place: Place) -> None:
        """Mark the button of the open place."""
        self.buttons[place].setChecked(True)
        self._draw()

    def show_names(self, *, shown: bool) -> None:
        """Show the names under the icons; without them the rail is narrower."""
        styles = Qt.ToolButtonStyle
        style = styles.ToolButtonTextUnderIcon if shown else styles.ToolButtonIconOnly
        # A large font or a long name makes the rail wider: no name is cut off.
        least = RAIL_BUTTON if shown else RAIL_BUTTON_LEAST
        for button in self.buttons.values():
            button.setToolButtonStyle(style)
            button.setMinimumSize(least, least)

    def _button(self, actions: Actions, place: Place) -> QToolButton:
        words = _BUTTONS[place]
        button = QToolButton()
        button.setProperty("role", "place")
        button.setCheckable(True)
        button.setIconSize(QSize(RAIL_ICON, RAIL_ICON))
        name = QCoreApplication.translate("Places", str(words.text))
        # A long name has a second line from where its translator put a soft hyphen.
        button.setText(name.replace(_SOFT_HYPHEN, "-\n"))
        button.setAccessibleName(name.replace(_SOFT_HYPHEN, ""))
        show_key(button, words.action, actions[words.action].text())
        button.clicked.connect(actions[words.action].trigger)
        return button

    def _draw(self) -> None:
        colours = self._theme.colours
        for place, button in self.buttons.items():
            colour = colours.accent if button.isChecked() else colours.muted
            button.setIcon(self._theme.icon(_BUTTONS[place].icon, colour))


class Places(QWidget):
    """The rail and the pages. A page is made when its place is first opened, and then kept.

    The window makes the page of Create itself: its actions and drops fill the form.
    """

    # Another place was opened.
    opened = Signal()

    def __init__(
        self, session: Session, theme: Theme, actions: Actions, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._theme, self._actions = session, theme, actions
        self._pages: dict[Place, QWidget] = {}
        self._stack = Stack()
        offered = [place for place in Place if place is Place.CREATE or place in _LATER]
        self.rail = Rail(theme, actions, offered)
        for place, button in _BUTTONS.items():
            actions[button.action].setVisible(place in offered)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addWidget(rule(Qt.Orientation.Vertical))
        row.addWidget(self._stack, 1)

    @property
    def room(self) -> QWidget:
        """The parent of the pages."""
        return self._stack

    def begin(self, create: QWidget) -> None:
        """Take the page of Create, and open the place that was open when the window closed."""
        self._pages[Place.CREATE] = create
        self._stack.addWidget(create)
        for place in self.rail.buttons:
            action = self._actions[_BUTTONS[place].action]
            action.triggered.connect(lambda _=False, to=place: self.open(to))
        kept = self._session.memory.layout.place
        self.open(next((place for place in self.rail.buttons if place == kept), Place.CREATE))

    @property
    def place(self) -> Place:
        """The open place."""
        shown = self._stack.currentWidget()
        return next(place for place, page in self._pages.items() if page is shown)

    @property
    def page(self) -> QWidget:
        """The page of the open place."""
        return self._pages[self.place]

    @property
    def picture(self) -> str | None:
        """The path of the picture that the open page is about; None without one."""
        return self.page.picture if isinstance(self.page, ShowingPicture) else None

    def open_picture(self, path: str) -> bool:
        """Have the open page show a picture; return False if it has no place for it."""
        return isinstance(self.page, OpeningPicture) and self.page.open_picture(path)

    def choose_pictures(self, paths: Sequence[str]) -> None:
        """Have the open page show pictures among the others, chosen."""
        if isinstance(self.page, OpeningPicture):
            self.page.choose_pictures(paths)

    @property
    def room_for_messages(self) -> QWidget:
        """The part of the open page that messages may lie over."""
        return self.page.room_for_messages if isinstance(self.page, LendingRoom) else self.page

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave out the names of the places where the window is narrow."""
        super().resizeEvent(event)
        self.rail.show_names(shown=event.size().width() >= WIDE)

    def open(self, place: Place) -> None:
        """Show a place's page; the next start opens it again."""
        page = self._page(place)
        self._stack.setCurrentWidget(page)
        focused = self.window().focusWidget() or self
        # A key leads into the page; a button of the rail keeps the focus, and leads to the next.
        if not (self.rail.isAncestorOf(focused) or page.isAncestorOf(focused)):
            first = page.entry if isinstance(page, Entered) else page
            first.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.rail.show_place(place)
        self._session.memory.keep_layout(place=place.value)
        self.opened.emit()

    def close_background(self) -> None:
        """Wait for the threads of the pages that were opened."""
        for page in self._pages.values():
            if isinstance(page, Working):
                page.close_background()

    def _page(self, place: Place) -> QWidget:
        if place not in self._pages:
            page = _LATER[place](self._session, self._theme, self._actions)
            self._pages[place] = page
            self._stack.addWidget(page)
        return self._pages[place]
