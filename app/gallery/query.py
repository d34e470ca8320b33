"""The pictures that are asked for, and SQL that finds them."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from enum import StrEnum, auto
from itertools import islice
from pathlib import Path

import msgspec

from app.gallery.letter_pairs import letter_pairs
from app.gallery.storable import stored_path, stored_text
from engine.metadata.size_text import read_size

# The characters of a word that a trigram index can find.
_TRIGRAM = 3
_MOST_WORDS = 20
# A size with spaces, as the window shows it, is one word.
_WORD = re.compile(r'(-?)(?:"([^"]*)"?|([0-9]{1,9} [xX\u00d7] [0-9]{1,9}(?!\S)|\S+))')
# The marks of direction around a size that is copied from the window.
_ISOLATES = dict.fromkeys(range(0x2066, 0x206A))
_NS = 1_000_000_000
# Later, or earlier, than any file; within SQLite's integers.
_FAR_NS = 1 << 62
# A year, a month or a day as people write them, and as each language's short dates are: 2026,
# 2026-11, 11/2026, 2026-11-23, 23.11.26, 23/11/2026, and 11/23/26 in America.
_YEAR, _SHORT_YEAR = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d{2})"
_MONTH, _DAY = r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_DATES = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"{_YEAR}(?P<month>)(?P<day>)",
        rf"{_YEAR}([-/.]){_MONTH}(?:\2{_DAY})?",
        rf"{_MONTH}[./]{_YEAR}(?P<day>)",
        rf"{_DAY}([-/.]){_MONTH}\2{_SHORT_YEAR}",
        rf"{_MONTH}/{_DAY}/{_SHORT_YEAR}",
    )
)
_CENTURY = 2000


class Order(StrEnum):
    """The order of pictures; those that are equal in it come newest first."""

    NEWEST = auto()
    OLDEST = auto()
    BEST_RATED = auto()
    NAME = auto()


class Rejected(StrEnum):
    """The place of rejected pictures in a search."""

    HIDDEN = auto()
    SHOWN = auto()
    ONLY = auto()


class Shape(StrEnum):
    """The shape of pictures; a square is at most 2 % wider or higher than that."""

    ANY = auto()
    PORTRAIT = auto()
    LANDSCAPE = auto()
    SQUARE = auto()


class GalleryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The pictures that are wanted; all conditions hold together, the defaults ask for nothing.

    Every word of `words` must occur in the prompt, the negative prompt, the model's, a LoRA's, the
    tool's or the file's name, in any case and also within words; "several words" in quotes are one.
    A word like 512x768 also finds that size, a number also that seed, and one like 2026-11 also
    what was saved then. Nothing is found that a word with a minus before it finds. `since` and
    `until` are local days, both included.
    """

    words: str = ""
    model: str = ""
    lora: str = ""
    tool: str = ""
    least_rating: int = 0
    favourites: bool = False
    rejected: Rejected = Rejected.HIDDEN
    since: date | None = None
    until: date | None = None
    least_megapixels: float = 0.0
    shape: Shape = Shape.ANY
    # Pictures in this folder, and in those below it.
    folder: Path | None = None
    with_subfolders: bool = True
    order: Order = Order.NEWEST


class Condition(msgspec.Struct, frozen=True):
    """An SQL expression over `pictures`, or a statement, and its parameters."""

    sql: str
    values: tuple[object, ...] = ()


_ORDERS = {
    Order.NEWEST: "modified_ns DESC, id DESC",
    Order.OLDEST: "modified_ns, id",
    Order.BEST_RATED: "rating DESC, favourite DESC, modified_ns DESC, id DESC",
    Order.NAME: "sort_name, modified_ns DESC, id DESC",
}
_REJECTED = {Rejected.HIDDEN: "rejected = 0", Rejected.SHOWN: "1", Rejected.ONLY: "rejected = 1"}
_SHAPES = {
    Shape.ANY: "1",
    Shape.PORTRAIT: "height * 100 > width * 102",
    Shape.LANDSCAPE: "width * 100 > height * 102",
    Shape.SQUARE: "width * 100 <= height * 102 AND height * 100 <= width * 102",
}


def list_statement(query: GalleryQuery) -> Condition:
    """Return the statement that lists the pictures of a query, whatever its words are.

    It gives one row: ids and times in order, each as a JSON array. In one row, because SQLite finds
    all of that without Python's lock.
    """
    conditions = _facts(query)
    where = " AND ".join(f"({condition.sql})" for condition in conditions)
    values = tuple(value for condition in conditions for value in condition.values)
    return Condition(
        "SELECT json_group_array(id), json_group_array(modified_ns) FROM"
        f" (SELECT id, modified_ns FROM pictures WHERE {where} ORDER BY {_ORDERS[query.order]})",
        values,
    )


class WordStatements(msgspec.Struct, frozen=True):
    """Statements of one row each, ids as a JSON array, of the words of a query.

    Pictures in all of `wanted` and in none of `unwanted` are found. The ids are in no order, and
    with those of pictures that a query leaves out otherwise: to have SQLite keep those that another
    statement lists takes several times as long.
    """

    wanted: tuple[Condition, ...]
    unwanted: tuple[Condition, ...]


def word_statements(text: str) -> WordStatements:
    """Return the statements for the words, and the words after a minus, of a text."""
    words, unwanted = _words(text)
    others = {word: _other_ways(word) for word in words}
    together = [word for word in words if len(word) >= _TRIGRAM and not others[word]]
    wanted = [_matching(together)] if together else []
    wanted += [_with_word(word, others[word]) for word in words if word not in together]
    without = (_with_word(word, _other_ways(word)) for word in unwanted)
    return WordStatements(_arrays(wanted), _arrays(without))


def _with_word(word: str, others: Sequence[Condition]) -> Condition:
    """Return the ids of pictures that a word finds: in texts, or in other ways."""
    in_texts = _matching([word]) if len(word) >= _TRIGRAM else _with_letters(word)
    return _any((in_texts, *others))


def _arrays(selections: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(
        Condition(f"SELECT json_group_array(id) FROM ({selection.sql})", selection.values)
        for selection in selections
    )


def _facts(query: GalleryQuery) -> list[Condition]:
    found = [Condition(_REJECTED[query.rejected]), Condition(_SHAPES[query.shape])]
    for column, name in (("model", query.model), ("tool", query.tool)):
        if name:
            found.append(Condition(f"{column} = ?", (stored_text(name),)))
    if query.lora:
        uses = "id IN (SELECT picture FROM uses WHERE lora = ?)"
        found.append(Condition(uses, (stored_text(query.lora),)))
    if query.least_rating > 0:
        found.append(Condition("rating >= ?", (query.least_rating,)))
    if query.favourites:
        found.append(Condition("favourite = 1"))
    if query.least_megapixels > 0:
        found.append(Condition("width * height >= ?", (round(query.least_megapixels * 1e6),)))
    return found + _places(query)


def _places(query: GalleryQuery) -> list[Condition]:
    """Return the conditions on time and folder."""
    found: list[Condition] = []
    if query.since is not None:
        found.append(Condition("modified_ns >= ?", (midnight_ns(query.since),)))
    if query.until is not None and query.until < date.max:
        end = midnight_ns(query.until + timedelta(days=1))
        found.append(Condition("modified_ns < ?", (end,)))
    if query.folder is not None:
        path, *start = below(query.folder)
        wanted = Condition("path = ?", (path,))
        if query.with_subfolders:
            wanted = Condition("path = ? OR substr(path, 1, ?) = ?", (path, *start))
        sql = f"folder IN (SELECT id FROM folders WHERE {wanted.sql})"
        found.append(Condition(sql, wanted.values))
    return found


def below(folder: Path) -> tuple[bytes, int, bytes]:
    """Return the parameters of `path = ? OR substr(path, 1, ?) = ?`: a folder and those below."""
    path = stored_path(str(folder))
    start = stored_path(str(folder / "_"))[:-1]
    return path, len(start), start


def midnight_ns(day: date) -> int:
    """Return the local start of a day in ns since 1970."""
    try:
        found = int(datetime.combine(day, time()).astimezone().timestamp()) * _NS
        return max(-_FAR_NS, min(found, _FAR_NS))
    except (OSError, OverflowError, ValueError):  # days that the system's clock does not know
        return -_FAR_NS if day.year < 1970 else _FAR_NS


def _words(text: str) -> tuple[list[str], list[str]]:
    """Return the words and quoted phrases of a text, each once, and those after a minus."""
    found: tuple[dict[str, None], dict[str, None]] = ({}, {})
    parts = _WORD.findall(text.translate(_ISOLATES))
    for minus, phrase, word in islice(dict.fromkeys(parts), _MOST_WORDS):
        stored = stored_text(phrase or word)
        # A minus alone is the beginning of a word that is not typed yet.
        if stored not in ("", "-"):
            found[bool(minus)][stored] = None
    return list(found[False]), list(found[True])


def _other_ways(word: str) -> list[Condition]:
    """Return selections of ids by which a word finds pictures, beside those of texts."""
    ways: list[Condition] = []
    size = read_size(word)
    if size is not None:
        ways.append(_selection("width = ? AND height = ?", size))
    if word.isascii() and word.isdigit():
        ways.append(_selection("seed = ?", (word.lstrip("0") or "0",)))
    for first, after in read_dates(word):
        times = midnight_ns(first), midnight_ns(after)
        ways.append(_selection("modified_ns >= ? AND modified_ns < ?", times))
    return ways


def _selection(where: str, values: tuple[object, ...]) -> Condition:
    return Condition(f"SELECT id FROM pictures WHERE {where}", values)


def _any(ways: Sequence[Condition]) -> Condition:
    return Condition(
        " UNION ALL ".join(way.sql for way in ways),
        tuple(value for way in ways for value in way.values),
    )


def read_dates(word: str) -> tuple[tuple[date, date], ...]:
    """Return the spans of time that a word means: the first day, and the one after the last.

    There is none for other words, and two for one like 1/2/2026, which is read either way.
    """
    matches = filter(None, (pattern.fullmatch(word) for pattern in _DATES))
    return tuple(dict.fromkeys(filter(None, map(_span, matches))))


def _span(match: re.Match[str]) -> tuple[date, date] | None:
    """Return the days that a match stands for; None for the 13th month and the like."""
    year, month, day = (int(match[name] or 0) for name in ("year", "month", "day"))
    if len(match["year"]) < len(str(_CENTURY)):
        year += _CENTURY
    try:
        first = date(year, month or 1, day or 1)
        if day:
            return first, first + timedelta(days=1)
        months = year * 12 + month if month else year * 12 + 12
        return first, date(months // 12, months % 12 + 1, 1)
    except (OverflowError, ValueError):
        return None


def _matching(words: Sequence[str]) -> Condition:
    """Return the ids of pictures with all words, each of three characters at least, in texts."""
    phrases = ('"' + word.replace('"', '""') + '"' for word in words)
    sql = "SELECT rowid AS id FROM words WHERE words MATCH ?"
    return Condition(sql, (" ".join(phrases),))


def _with_letters(word: str) -> Condition:
    """Return the ids of pictures with one or two letters that follow each other in a text."""
    sql = "SELECT rowid AS id FROM letters WHERE letters MATCH ?"
    return Condition(sql, (letter_pairs(word),))
