"""The place of the settings: a search and the sections at the side, the rows beside them."""

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.session import Session
from ui.actions import ActionName, Actions
from ui.settings.about import about_section
from ui.settings.privacy import privacy_section
from ui.settings.rows import Section, SettingRow
from ui.settings.sections import (
    folders_section,
    look_section,
    machine_section,
    pictures_section,
    updates_section,
)
from ui.settings.shortcuts import Shortcuts
from ui.shared_keys import begin_search
from ui.slices import Slices
from ui.spoken import say
from ui.theme.metrics import CONTROL_HEIGHT, L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label, rule
from ui.widgets.line_field import MOST_SEARCHED, LineField
from ui.widgets.measured_column import MeasuredColumn
from ui.widgets.scroll_area import scroll_area

_NAVIGATION_WIDTH = 200
_CONTENT_WIDTH = 760
# The rows that are shown together, and the sections that are there at once: what is styled and
# laid out in one turn.
_TOGETHER = 3
_FIRST_SECTIONS = 1
_RESTING_MS = 600


class SettingsPage(QWidget):
    """Every setting in one list. A search marks what it finds and scrolls there; Enter goes on.

    The rows are made a few at a time while nothing else happens, or all when they are asked for.
    """

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._actions = session, actions
        self.shortcuts = Shortcuts(session, theme)
        self.sections = self._make_sections(theme)
        self.search = LineField(MOST_SEARCHED)
        self.search.setPlaceholderText(self.tr("Search settings"))
        self.search.setAccessibleName(self.tr("Search settings"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedHeight(CONTROL_HEIGHT)
        self.count = plain_label("", "caption", wrap=True)
        self.navigation = QListWidget()
        self.navigation.setAccessibleName(self.tr("Sections of the settings"))
        self.navigation.setProperty("role", "places")
        for section in self.sections:
            item = QListWidgetItem(section.title, self.navigation)
            # The stylesheet's height comes too late for a list that is not yet shown.
            item.setSizeHint(QSize(0, CONTROL_HEIGHT))
        self.area = scroll_area(self.tr("Settings"))
        self.headings = [plain_label(section.title, "title") for section in self.sections]
        self._rows = QWidget()
        self._columns = [QVBoxLayout() for _ in self.sections]
        self._unfinished = list(range(len(self.sections)))
        self._together: list[SettingRow] = []
        # When the typing rests: each letter finds something else.
        self._saying = QTimer(self, singleShot=True, interval=_RESTING_MS)
        self._saying.timeout.connect(self._say_found)
        # What a person asked for before all rows were there.
        self._waiting: Callable[[], None] | None = None
        self._found: list[SettingRow] = []
        self._shown = 0
        self._lay_out()
        self._connect()
        # What is seen at once.
        while self._unfinished and self._unfinished[0] < _FIRST_SECTIONS:
            self._make_row()
        self._filling = Slices(self._make_rows(), self)

    @property
    def entry(self) -> QWidget:
        """The control that a key leads to."""
        return self.search

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Go on with the rows."""
        super().showEvent(event)
        self._filling.rest(rests=False)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 (Qt's name)
        """Make no more rows meanwhile: all of them would be laid out at once when it is seen."""
        super().hideEvent(event)
        self._filling.rest(rests=True)

    def complete(self) -> None:
        """Make all rows that are not there yet."""
        if not self._unfinished:
            return
        # Hidden, so that all of it is laid out once.
        self._rows.hide()
        self._filling.finish()
        self._rows.show()
        # What is scrolled to has its place only once it is laid out.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def look_for(self, words: str) -> None:
        """Mark the rows with all of these words, and scroll to the first."""
        self._once_complete(partial(self._mark, words))

    def _mark(self, words: str) -> None:
        wanted = words.casefold().split()
        rows = [row for section in self.sections for row in section.made]
        self._found = [row for row in rows if wanted and row.matches(wanted)]
        for row in rows:
            row.mark(row in self._found)
        self._shown = 0
        self._tell(bool(wanted))
        if self._found:
            self._scroll_to(self._found[0])

    def show_shortcuts(self) -> None:
        """Scroll to the shortcuts."""
        # The page may not have been laid out yet.
        QTimer.singleShot(0, self, lambda: self._once_complete(self._go_to_shortcuts))

    def _make_rows(self) -> Iterator[None]:
        """Make the rows that are not there yet, one for each value."""
        while self._unfinished:
            self._make_row()
            yield
        if self._waiting is not None:
            self._waiting()

    def _once_complete(self, act: Callable[[], None]) -> None:
        """Act on all rows, once they are there; the latest act counts."""
        if self._unfinished:
            self._waiting = act
        else:
            act()

    def _make_row(self) -> None:
        """Make a row; show it with others, as all of the page is laid out for it."""
        at = self._unfinished[0]
        row = self.sections[at].make_next()
        if row is None:
            self._unfinished.pop(0)
        else:
            self._together.append(row)
        if self._together and (row is None or len(self._together) == _TOGETHER):
            self._show_rows(at)

    def _show_rows(self, at: int) -> None:
        inner, section = self._columns[at], QWidget()
        column = MeasuredColumn()
        section.setLayout(column)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for row in self._together:
            if column.count() or inner.count():
                column.addWidget(rule(Qt.Orientation.Horizontal))
            column.addWidget(row)
        self._together = []
        inner.addWidget(section)
        for widget in (self.headings[at], section):
            # Qt would show it only later, and lay out its neighbours without it until then.
            widget.show()
        if self.isVisible():
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def _make_sections(self, theme: Theme) -> tuple[Section, ...]:
        session, actions = self._session, self._actions
        return (
            look_section(session, theme),
            pictures_section(session, theme),
            folders_section(session, theme, self.window),
            machine_section(session, theme, actions, self.window),
            updates_section(session, actions),
            self.shortcuts.section(),
            privacy_section(session),
            about_section(session, theme),
        )

    def _go_to_shortcuts(self) -> None:
        first = self.shortcuts.rows[ActionName.CREATE]
        first.key.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._go_to(self._section_of(first))

    def _section_of(self, row: SettingRow) -> int:
        return next(at for at, section in enumerate(self.sections) if row in section.made)

    def _lay_out(self) -> None:
        side = QWidget()
        side.setProperty("role", "panel")
        side.setFixedWidth(_NAVIGATION_WIDTH)
        column = QVBoxLayout(side)
        column.setContentsMargins(M, M, S, M)
        column.setSpacing(S)
        for widget in (self.search, self.count):
            column.addWidget(widget)
        column.addWidget(self.navigation, 1)
        self.count.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(side)
        row.addWidget(rule(Qt.Orientation.Vertical))
        row.addWidget(self.area, 1)
        # Into the area that is in its place: a move styles everything anew that moves along.
        whole, rows = QWidget(), self._rows
        self.area.setWidget(whole)
        beside = QHBoxLayout(whole)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(rows, 1)
        beside.addStretch()
        self._fill(rows)

    def _fill(self, rows: QWidget) -> None:
        rows.setMaximumWidth(_CONTENT_WIDTH)
        column = QVBoxLayout(rows)
        column.setContentsMargins(L, L, L, L)
        column.setSpacing(0)
        for heading, inner in zip(self.headings, self._columns, strict=True):
            heading.hide()
            column.addWidget(heading)
            inner.setContentsMargins(0, S, 0, L)
            inner.setSpacing(0)
            column.addLayout(inner)
        column.addStretch()

    def _connect(self) -> None:
        self.search.textChanged.connect(self.look_for)
        self.search.returnPressed.connect(self._next)
        self.navigation.setCurrentRow(0)
        self.navigation.currentRowChanged.connect(self._go_to)
        self.navigation.itemClicked.connect(self._on_clicked)
        self.area.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.addAction(self._actions[ActionName.FIND])
        self._actions[ActionName.FIND].triggered.connect(begin_search(self, self.search))
        self.search.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Go down from the search to what it found."""
        is_press = event.type() is QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self._enter_found()
            return True
        return super().eventFilter(watched, event)

    def _on_clicked(self, *_: object) -> None:
        self._go_to(self.navigation.currentRow())

    def _next(self) -> None:
        if self._found:
            self._shown = (self._shown + 1) % len(self._found)
            self._scroll_to(self._found[self._shown])
            self._tell(True)

    def _tell(self, searching: bool) -> None:
        count = len(self._found)
        if count:
            words = self.tr("{number} of {count}. Enter shows the next.")
            words = words if count > 1 else self.tr("1 setting found.")
            text = words.format(number=self._shown + 1, count=count)
        else:
            text = self.tr("No setting has these words.")
        self.count.setText(text)
        self.count.setVisible(searching)
        if searching:
            self._saying.start()
        else:
            self._saying.stop()

    def _say_found(self) -> None:
        found = self._found[self._shown].title.text() if self._found else ""
        say(self.count, " ".join(filter(None, (found, self.count.text()))))

    def _enter_found(self) -> None:
        """Give the focus to the control of the setting that is shown as found."""
        if self._found:
            controls = self._found[self._shown].findChildren(QWidget)
            by_tab = Qt.FocusPolicy.TabFocus
            for control in controls:
                if control.focusPolicy() & by_tab and control.isEnabled() and control.isVisible():
                    control.setFocus(Qt.FocusReason.TabFocusReason)
                    return

    def _go_to(self, section: int) -> None:
        if 0 <= section < len(self.headings):
            self._mark_section(section)
            self._once_complete(lambda: self._scroll_top(self.headings[section], M))

    def _scroll_to(self, row: SettingRow) -> None:
        self._scroll_top(row, self.area.viewport().height() // 4)
        self._mark_section(self._section_of(row))

    def _scroll_top(self, widget: QWidget, above: int) -> None:
        content = self.area.widget()
        if content is not None:
            top = widget.mapTo(content, QPoint(0, 0)).y()
            self.area.verticalScrollBar().setValue(top - above)

    def _on_scrolled(self, value: int) -> None:
        """Mark the section that is at the top, or the last one at the end."""
        content = self.area.widget()
        if content is None or self.navigation.hasFocus():
            return
        tops = [heading.mapTo(content, QPoint(0, 0)).y() for heading in self.headings]
        passed = [
            number
            for number, top in enumerate(tops)
            if top <= value + L + M and self.sections[number].made
        ]
        at_end = value == self.area.verticalScrollBar().maximum() > 0
        self._mark_section(len(tops) - 1 if at_end else max(passed, default=0))

    def _mark_section(self, section: int) -> None:
        self.navigation.blockSignals(True)
        self.navigation.setCurrentRow(section)
        self.navigation.blockSignals(False)
