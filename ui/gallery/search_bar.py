"""The search field and the filters beside it, which make a query together."""

from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec
from PySide6.QtCore import QDate, QLocale, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gallery.habits import GalleryHabits
from app.gallery.query import GalleryQuery, Order, Rejected, Shape
from app.gallery.rows import MOST_STARS, Count, Facets
from ui.gallery.filter_button import Chip, Choice, FilterButton
from ui.gallery.labels import count_label, stars_label
from ui.gallery.recent_button import RecentButton
from ui.theme.metrics import CONTROL_HEIGHT, M, S
from ui.theme.theme import Theme
from ui.widgets.flow_layout import FlowLayout
from ui.widgets.labels import plain_label
from ui.widgets.line_field import MOST_SEARCHED, LineField

# More would not be looked through in a menu.
_MOST_CHOICES, _MOST_MONTHS = 40, 24
_LONGEST_NAME = 40
_ANY = GalleryQuery()


class SearchBar(QWidget):
    """The field for words, and a button for each filter. `wanted` emits the `GalleryQuery`."""

    wanted = Signal(object)
    # The user wants to go from the field to what it found.
    left = Signal()

    def __init__(self, habits: GalleryHabits, theme: Theme) -> None:
        super().__init__()
        self._facets = Facets()
        self._habits = habits
        self._theme = theme
        self.query = _ANY
        # The search that was kept last, which the present one goes on from.
        self._kept: GalleryQuery | None = None
        self.words = _WordsField(habits)
        self._sign = QAction(self)
        self.words.addAction(self._sign, QLineEdit.ActionPosition.LeadingPosition)
        for button in self.words.findChildren(QToolButton):
            # To Qt the sign is a button, too.
            button.setAccessibleName(button.accessibleName() or self.words.accessibleName())
        self.clear = QPushButton(self.tr("Clear"))
        self.clear.setProperty("role", "link")
        self.clear.setToolTip(self.tr("Show all pictures again"))
        # The number of pictures that a search found: the foot has no room for it beside buttons.
        self.found = plain_label("", "caption")
        self.favourites = Chip()
        self.favourites.setText(self.tr("Favourites"))
        self.favourites.setCheckable(True)
        self._make_filters()
        self.recent = RecentButton(theme, habits, self._said)
        self._typed = QTimer(self, singleShot=True)
        self._lay_out()
        self._typed.timeout.connect(self._take_words)
        self.words.textChanged.connect(self._typed.start)
        self.words.returnPressed.connect(self._go)
        self.words.went_down.connect(self._go)
        self.words.recent_wanted.connect(self.recent.showMenu)
        self.recent.chosen.connect(self._search_again)
        self.words.cleared.connect(self.forget)
        self.clear.clicked.connect(self.forget)
        self.favourites.clicked.connect(self._on_favourites)
        theme.changed.connect(self._draw)
        self._draw()
        self._refresh()
        self.offer(self._facets)

    def forget(self) -> None:
        """Show all pictures again: no words and no filters; the order and the folder stay."""
        # What was thrown away by mistake is among the recent searches.
        self._take_words()
        self._keep()
        self._kept = None
        self.words.clear()
        self._typed.stop()
        self._use(self._everything)

    def show_found(self, count: int) -> None:
        """Show how many pictures the search found."""
        self.found.setText(count_label(count))

    def look_into(self, folder: Path | None, with_subfolders: bool) -> None:
        """Show the pictures of one folder only, or of all."""
        self._narrow(folder=folder, with_subfolders=with_subfolders)

    @property
    def narrows(self) -> bool:
        """True if words or filters hide pictures, beside the folder, or will in a moment."""
        return self._typed.isActive() or self.query != self._everything

    @property
    def _everything(self) -> GalleryQuery:
        """The query without words and filters."""
        now = self.query
        return GalleryQuery(order=now.order, folder=now.folder, with_subfolders=now.with_subfolders)

    def offer(self, facets: Facets) -> None:
        """Offer only filters that pictures differ in."""
        self._facets = facets
        for button, counts in (
            (self.model, facets.models),
            (self.lora, facets.loras),
            (self.tool, facets.tools),
        ):
            button.setVisible(bool(counts))
        # Nothing is hidden before a picture was rejected.
        is_used = self.query.rejected is not Rejected.HIDDEN
        self.rejected.setVisible(bool(facets.rejected) or is_used)

    def _make_filters(self) -> None:
        theme = self._theme
        self.model = FilterButton(theme, self.tr("Model"), self._models)
        self.lora = FilterButton(theme, self.tr("LoRA"), self._loras)
        self.tool = FilterButton(theme, self.tr("Made by"), self._tools)
        self.date = FilterButton(theme, self.tr("Date"), self._dates)
        self.shape = FilterButton(theme, self.tr("Size"), self._shapes)
        self.rating = FilterButton(theme, self.tr("Rating"), self._ratings)
        self.rejected = FilterButton(theme, self.tr("Rejected"), self._rejections)
        self.order = FilterButton(theme, self.tr("Newest first"), self._orders)
        self.filters = (
            self.model,
            self.lora,
            self.tool,
            self.date,
            self.shape,
            self.rating,
            self.rejected,
            self.order,
        )
        for button in self.filters:
            button.chosen.connect(self._choose)

    def _on_favourites(self, on: bool) -> None:
        self._choose({"favourites": on})

    def _choose(self, fields: dict[str, object]) -> None:
        self._narrow(**fields)
        self._keep()

    def _search_again(self, query: GalleryQuery) -> None:
        """Search as once before, in the folder and the order of now."""
        now = self.query
        self._kept = query
        self.words.setText(query.words)
        self._typed.stop()
        self._use(
            msgspec.structs.replace(
                query,
                order=now.order,
                folder=now.folder,
                with_subfolders=now.with_subfolders,
            )
        )
        self._keep()

    def _keep(self) -> None:
        """Keep the search, in place of the one that it goes on from; nothing keeps no search."""
        if self.narrows:
            self._habits.keep_search(self.query, self._kept)
            self._kept = self.query
            self.recent.refresh()

    def _said(self, query: GalleryQuery) -> str:
        """Return the words and filters of a query as text."""
        filters = (button.said(query) for button in self.filters if button is not self.order)
        favourites = self.favourites.text() if query.favourites else ""
        return " · ".join(filter(None, (query.words, *filters, favourites)))

    def _lay_out(self) -> None:
        filters = QWidget()
        flow = FlowLayout(S)
        filters.setLayout(flow)
        flow.addWidget(self.recent)
        for button in self.filters:
            if button is self.rejected:
                flow.addWidget(self.favourites)
            if button is not self.order:
                flow.addWidget(button)
        height = self.favourites.sizeHint().height()
        for widget in (self.found, self.clear):
            widget.setFixedHeight(height)
            flow.addWidget(widget)
        line = QHBoxLayout()
        line.setSpacing(S)
        line.addWidget(self.words, 1)
        line.addWidget(self.order)
        column = QVBoxLayout(self)
        column.setContentsMargins(M, S, M, S)
        column.setSpacing(S)
        column.addLayout(line)
        column.addWidget(filters)

    def _take_words(self) -> None:
        """Search for the words, in the turn after what a paste or an input method brings at once.

        There is no pause beyond that: a search of words that are typed on is given up for the next.
        """
        self._narrow(words=self.words.text().strip())

    def _go(self) -> None:
        """Keep the search, and go to what it found."""
        self._typed.stop()
        self._take_words()
        self._keep()
        self.left.emit()

    def _narrow(self, **changes: object) -> None:
        self._use(msgspec.structs.replace(self.query, **changes))

    def _use(self, query: GalleryQuery) -> None:
        if query != self.query:
            self.query = query
            self._refresh()
            self.wanted.emit(query)

    def _refresh(self) -> None:
        for button in self.filters:
            button.show_query(self.query)
        self.favourites.setChecked(self.query.favourites)
        for widget in (self.clear, self.found):
            widget.setVisible(self.narrows)

    def _models(self) -> list[Choice | None]:
        return _counted(self.tr("Any model"), "model", self._facets.models)

    def _loras(self) -> list[Choice | None]:
        return _counted(self.tr("With or without LoRAs"), "lora", self._facets.loras)

    def _tools(self) -> list[Choice | None]:
        return _counted(self.tr("Any program"), "tool", self._facets.tools)

    def _dates(self) -> list[Choice | None]:
        today = datetime.now().astimezone().date()
        return [
            Choice(self.tr("Any date"), {"since": None, "until": None}),
            _since(self.tr("Today"), today),
            _since(self.tr("The last 7 days"), today - timedelta(days=6)),
            _since(self.tr("The last 30 days"), today - timedelta(days=29)),
            _since(self.tr("This year"), date(today.year, 1, 1)),
            None,
            *_months(self._facets.days),
        ]

    def _shapes(self) -> list[Choice | None]:
        locale = QLocale()
        larger = self.tr("At least {n} MP")
        return [
            Choice(self.tr("Any size"), {"shape": Shape.ANY, "least_megapixels": 0.0}),
            Choice(self.tr("Square"), {"shape": Shape.SQUARE, "least_megapixels": 0.0}),
            Choice(self.tr("Portrait"), {"shape": Shape.PORTRAIT, "least_megapixels": 0.0}),
            Choice(self.tr("Landscape"), {"shape": Shape.LANDSCAPE, "least_megapixels": 0.0}),
            None,
            *(
                Choice(
                    larger.format(n=locale.toString(size, "g", 2)),
                    {"shape": Shape.ANY, "least_megapixels": size},
                )
                for size in (0.5, 1.0, 2.0, 4.0)
            ),
        ]

    def _ratings(self) -> list[Choice | None]:
        more = self.tr("{stars} and more")
        return [
            Choice(self.tr("Any rating"), {"least_rating": 0}),
            *(
                Choice(more.format(stars=stars_label(n)), {"least_rating": n})
                for n in range(1, MOST_STARS)
            ),
            Choice(stars_label(MOST_STARS), {"least_rating": MOST_STARS}),
        ]

    def _rejections(self) -> list[Choice | None]:
        return [
            Choice(self.tr("Hide rejected pictures"), {"rejected": Rejected.HIDDEN}),
            Choice(
                self.tr("Show rejected pictures, too"),
                {"rejected": Rejected.SHOWN},
                self.tr("With rejected"),
            ),
            Choice(
                self.tr("Show only rejected pictures"),
                {"rejected": Rejected.ONLY},
                self.tr("Only rejected"),
            ),
        ]

    def _orders(self) -> list[Choice | None]:
        return [
            Choice(self.tr("Newest first"), {"order": Order.NEWEST}),
            Choice(self.tr("Oldest first"), {"order": Order.OLDEST}),
            Choice(self.tr("Best rated first"), {"order": Order.BEST_RATED}),
            Choice(self.tr("By name"), {"order": Order.NAME}),
        ]

    def _draw(self) -> None:
        colour = self._theme.colours.muted
        self._sign.setIcon(self._theme.icon("search", colour))
        self.favourites.setIcon(self._theme.icon("heart"))


class _WordsField(LineField):
    """The field for words; Down opens recent searches, or goes on to the pictures."""

    went_down = Signal()
    recent_wanted = Signal()
    # Esc in a field with words or with filters beside it.
    cleared = Signal()

    def __init__(self, habits: GalleryHabits) -> None:
        super().__init__(MOST_SEARCHED)
        self._habits = habits
        self.setPlaceholderText(self.tr("Search prompts, models, programs, dates, seeds, names…"))
        how = self.tr(
            "Every word must be found: in the prompts, or in the name of the model, a LoRA, the "
            "program or the file. A date is written as 2026-11-23, 2026-11 or 2026, a size as "
            "512x768, a seed as its number. Words in quotes belong together; a word with a minus "
            "before it must not be found."
        )
        self.setToolTip(how)
        self.setAccessibleDescription(how)
        self.setAccessibleName(self.tr("Search"))
        self.setClearButtonEnabled(True)
        self.setFixedHeight(CONTROL_HEIGHT)

    def keyPressEvent(self, arg__1: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Go down to recent searches, in an empty field, or to the pictures; clear by Esc."""
        match arg__1.key():
            case Qt.Key.Key_Down if not self.text() and self._habits.habits.searches:
                self.recent_wanted.emit()
            case Qt.Key.Key_Down:
                self.went_down.emit()
            case Qt.Key.Key_Escape:
                self.cleared.emit()
            case _:
                super().keyPressEvent(arg__1)


def _counted(anything: str, field: str, counts: Sequence[Count]) -> list[Choice | None]:
    """Return a choice for each name with its number of pictures, the most frequent first."""
    locale = QLocale()
    return [
        Choice(anything, {field: ""}),
        None,
        *(
            Choice(
                f"{entry.name[:_LONGEST_NAME]}  ({locale.toString(entry.count)})",
                {field: entry.name},
                entry.name,
            )
            for entry in counts[:_MOST_CHOICES]
        ),
    ]


def _since(text: str, day: date) -> Choice:
    return Choice(text, {"since": day, "until": None})


def _months(days: Sequence[Count]) -> list[Choice]:
    """Return a choice for each of the latest months with pictures."""
    months: dict[tuple[int, int], int] = {}
    for day in days:
        found = date.fromisoformat(day.name)
        month = (found.year, found.month)
        months[month] = months.get(month, 0) + day.count
    locale = QLocale()
    choices: list[Choice] = []
    for (year, month), count in list(months.items())[:_MOST_MONTHS]:
        name = locale.toString(QDate(year, month, 1), "MMMM yyyy")
        span = {"since": date(year, month, 1), "until": _last_day(year, month)}
        choices.append(Choice(f"{name}  ({locale.toString(count)})", span, name))
    return choices


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])
