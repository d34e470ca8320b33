"""The keys of the actions: shown, changed by pressing others, taken from each other, reset."""

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.notices.remedies import NoticeAction
from app.session import Session
from ui.action_names import ActionName
from ui.action_table import entry_of, text_of, usual_keys
from ui.key_scopes import LISTED, Scope
from ui.key_texts import is_key, pastes, portable, shown_key
from ui.keys import keys
from ui.settings.fixed_keys import fixed_keys
from ui.settings.rows import Section, SettingRow
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label

translate = QCoreApplication.translate
_KEY_WIDTH = 170
# The least width in pixels of an action's name beside its key.
_LEAST = 150
_MODIFIERS = (
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_Meta,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_unknown,
)
_COMMANDING = ("Ctrl+", "Alt+", "Meta+")
# Keys without a modifier that nothing is typed with.
_FREE = frozenset({"Del", "Ins", "Pause", *(f"F{number}" for number in range(1, 36))})
_BACK = "Esc"
# Keys that move in lists and fields, and that a picture alone has no need of.
_MOVING = frozenset({"Left", "Right", "Up", "Down", "PgUp", "PgDown", "Home", "End", "Space"})


class KeyButton(QPushButton):
    """A button with a key on it. Pressed, it waits for other keys; Esc keeps the key as it was."""

    # QKeySequence: the keys that were pressed; an empty one for Backspace, which means no key.
    pressed_keys = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._key = name, ""
        self.setCheckable(True)
        self.setMinimumWidth(_KEY_WIDTH)
        self.setProperty("role", "choice")
        self.toggled.connect(self._on_toggled)

    def show_key(self, key: str) -> None:
        """Show a key in the system's notation; "" for none."""
        self._key = key
        self._refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Take all keys while waiting, also those of actions and of Tab."""
        if isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress:
                self._take(event)
                return True
        elif event.type() is QEvent.Type.FocusOut:
            self.setChecked(False)
        return super().eventFilter(watched, event)

    def _on_toggled(self, waits: bool) -> None:
        # A handler of all events would be called for each of all buttons as the page is shown.
        (self.installEventFilter if waits else self.removeEventFilter)(self)
        self._refresh()

    def _take(self, event: QKeyEvent) -> None:
        if event.key() in _MODIFIERS:
            return
        self.setChecked(False)
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if plain and event.key() == Qt.Key.Key_Escape:
            return
        if plain and event.key() == Qt.Key.Key_Backspace:
            self.pressed_keys.emit(QKeySequence())
            return
        keypad = Qt.KeyboardModifier.KeypadModifier
        modifiers = event.modifiers() & ~keypad
        self.pressed_keys.emit(QKeySequence(event.key() | modifiers.value))

    def _refresh(self) -> None:
        waits = self.isChecked()
        self.setText(self.tr("Press the new keys…") if waits else self._key or self.tr("No key"))
        key = self._key or self.tr("no key")
        self.setAccessibleName(self.tr("{action}: {key}").format(action=self._name, key=key))


class Clash(QWidget):
    """The reason why a key was refused, and a button that takes it from the other action."""

    def __init__(self) -> None:
        super().__init__()
        self.problem = plain_label("", "error", wrap=True)
        self.take_over = QPushButton()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.problem, 1)
        row.addWidget(self.take_over)

    def tell(self, problem: str, button: str) -> None:
        """Show a reason, and the button unless it has no text; nothing without a reason."""
        self.problem.setText(breakable(problem))
        self.take_over.setText(button)
        self.take_over.setVisible(bool(button))
        self.setVisible(bool(problem))


class ShortcutRow(SettingRow):
    """An action with its key; `chosen` emits a key that may be used, "" for none."""

    # str: a portable key.
    chosen = Signal(str)
    # ActionName, str: a key that another action has, and that the user wants here all the same.
    taken_over = Signal(object, str)
    reset = Signal()

    def __init__(self, theme: Theme, name: ActionName) -> None:
        self.name, self._scope = name, entry_of(name).scope
        text = text_of(name)
        self.key = KeyButton(text)
        self.back = _back_button(theme)
        self.also = plain_label("", "caption")
        super().__init__(text, "", [self.key, self.back], below=self.also, least=_LEAST)
        self.key.setAccessibleDescription(self._scope.words)
        # Made when a key is refused: there are many rows, and most never have one.
        self.clash: Clash | None = None
        self._wanted = QKeySequence()
        self.key.setToolTip(self.tr("Press this button, then the keys. Backspace: no key."))
        self.key.pressed_keys.connect(self.want)
        self.back.clicked.connect(self.reset)
        keys().changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the action's key as it is."""
        usual = usual_keys(self.name)[0]
        shown = dict.fromkeys(map(shown_key, keys().of(self.name)))
        first, *also = shown or [""]
        self.key.show_key(first)
        self.also.setText(self.tr("also {keys}").format(keys=", ".join(also)))
        self.also.setVisible(bool(also))
        self._words = f"{self.title.text()} {self._scope.words} {' '.join(shown)}".casefold()
        self.back.set_name(self.tr("Use {key} again").format(key=shown_key(usual)))
        self.back.setVisible(portable(keys().first(self.name)) != portable(usual))
        self._tell("")

    def want(self, key: QKeySequence) -> None:
        """Use a key for the action, unless it types or pastes, or a menu or another one has it."""
        self._wanted = key
        owner = keys().owner(key, self.name) if not key.isEmpty() else None
        if owner is self.name:
            self.refresh()
        elif not key.isEmpty() and (not is_key(key) or _is_typed(key, self.name)):
            words = self.tr("{key} alone is for typing and moving about. Add Ctrl or Alt to it.")
            self._tell(words.format(key=shown_key(key)))
        elif pastes(key):
            self._tell(self.tr("{key} pastes, in every program.").format(key=shown_key(key)))
        elif menu := keys().opened_by(key):
            words = self.tr("{key} opens the menu “{menu}”.")
            self._tell(words.format(key=shown_key(key), menu=menu))
        elif owner is not None:
            words = self.tr("{key} is the key of “{action}”: {scope}.")
            scope = entry_of(owner).scope.words
            words = words.format(key=shown_key(key), action=text_of(owner), scope=scope)
            self._tell(words, self.tr("Use it here"))
        else:
            self.chosen.emit(portable(key))

    def _on_take_over(self) -> None:
        owner = keys().owner(self._wanted, self.name)
        if owner is not None:
            self.taken_over.emit(owner, portable(self._wanted))

    def _tell(self, problem: str, button: str = "") -> None:
        if problem and self.clash is None:
            self.clash = Clash()
            self.clash.take_over.clicked.connect(self._on_take_over)
            self.column.addWidget(self.clash)
        if self.clash is not None:
            self.clash.tell(problem, button)


class ScopeRow(SettingRow):
    """The heading of keys that work in one part of the window."""

    def __init__(self, title: str) -> None:
        super().__init__(title, "")
        self.title.setProperty("role", "heading")

    def matches(self, words: Sequence[str]) -> bool:
        """Return False: the search finds the keys below by the heading's words."""
        return False


class Shortcuts:
    """The rows of all actions, and what they change in the settings."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self._session, self._theme = session, theme
        self.rows: dict[ActionName, ShortcutRow] = {}
        self.reset = QPushButton(translate("Settings", "Reset all keys"))
        self.reset.clicked.connect(self._reset_all)

    def section(self) -> Section:
        """Return the section of the page."""
        return Section(translate("Settings", "Shortcuts"), self._make_rows())

    def _make_rows(self) -> Iterator[SettingRow]:
        about = translate("Settings", "Press a key's button, then the new keys.")
        yield SettingRow(
            translate("Settings", "All keys"),
            about,
            [self.reset],
            words=translate("Settings", "shortcuts keyboard"),
        )
        for scope in LISTED:
            yield ScopeRow(scope.words)
            for name in ActionName:
                if entry_of(name).scope is scope:
                    yield self._row(name)
        yield ScopeRow(translate("Settings", "Keys that stay as they are"))
        for title, key in fixed_keys():
            yield self._fixed(title, key)

    def _row(self, name: ActionName) -> ShortcutRow:
        row = self.rows[name] = ShortcutRow(self._theme, name)
        row.chosen.connect(partial(self._choose, name))
        row.taken_over.connect(partial(self._take_over, name))
        row.reset.connect(partial(self._reset, name))
        return row

    def _fixed(self, title: str, shown: str) -> SettingRow:
        """Return the row of a key that cannot be changed."""
        key = KeyButton(title)
        key.show_key(shown)
        key.setEnabled(False)
        back = _back_button(self._theme)
        row = SettingRow(title, "", [key, back], least=_LEAST, words=shown)
        back.hide()
        return row

    def set_keys(self, keys: dict[ActionName, str]) -> None:
        """Give actions these keys, "" for none; the usual one of an action is not kept."""
        chosen = dict(self._session.settings.now.shortcuts)
        for name, key in keys.items():
            if key == portable(usual_keys(name)[0]):
                chosen.pop(name.value, None)
            else:
                chosen[name.value] = key
        self._session.settings.change(shortcuts=chosen)

    def _choose(self, name: ActionName, key: str) -> None:
        self.set_keys({name: key})

    def _take_over(self, name: ActionName, owner: ActionName, key: str) -> None:
        # An action may have a second key, which it keeps.
        is_shown = portable(keys().first(owner)) == key
        self.set_keys({owner: "", name: key} if is_shown else {name: key})

    def _reset(self, name: ActionName) -> None:
        usual = usual_keys(name)[0]
        owner = keys().owner(usual, name)
        if owner is not None and owner is not name:
            self.rows[name].want(usual)
        else:
            self.set_keys({name: portable(usual)})

    def _reset_all(self) -> None:
        settings = self._session.settings
        before = settings.now.shortcuts
        if not before:
            return
        settings.change(shortcuts={})
        self._session.notices.tell(
            translate("Settings", "All keys are the usual ones again."),
            actions=(NoticeAction.UNDO_CHANGE,),
            undo=lambda: settings.change(shortcuts=before),
        )


def _back_button(theme: Theme) -> IconButton:
    """Return a button for the usual key; its place stays, so that keys are below each other."""
    button = IconButton(theme, "undo", "")
    policy = button.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    button.setSizePolicy(policy)
    return button


def _is_typed(key: QKeySequence, name: ActionName) -> bool:
    """Return True for a key that text fields and lists need where the action's key works."""
    scope, text = entry_of(name).scope, portable(key)
    if text in map(portable, usual_keys(name)) or (scope is Scope.VIEWER and text in _MOVING):
        return False
    if text == _BACK:
        # It leads back there.
        return scope.is_part
    text = text.removeprefix("Shift+")
    if scope.takes_letters and len(text) == 1:
        return False
    return not text.startswith(_COMMANDING) and text not in _FREE | {_BACK}
