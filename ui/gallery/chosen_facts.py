"""Facts about several pictures together: what they share, what differs, how much they take."""

from collections import Counter
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.gallery.rows import GalleryRow
from ui.gallery.labels import count_label, model_label, stars_label, tool_label
from ui.labels import file_size, size_label
from ui.picture_facts import Fact

translate = QCoreApplication.translate

# The most pictures that are looked at, and the most values that are named of one setting.
MOST_TOLD = 500
_MOST_VALUES = 4


def chosen_facts(rows: Sequence[GalleryRow], count: int) -> tuple[Fact, ...]:
    """Return the facts of `count` chosen pictures, of which `rows` are the first."""
    facts = [
        Fact(translate("facts", "Together"), _together(rows, count)),
        Fact(translate("facts", "Saved"), _days(rows)),
        Fact(translate("facts", "Size"), _counted(_size(row) for row in rows)),
        Fact(translate("facts", "Model"), _counted(model_label(row) for row in rows)),
        Fact(translate("facts", "LoRAs"), _counted(lora for row in rows for lora in row.loras)),
        Fact(translate("facts", "Made by"), _counted(tool_label(row.tool) for row in rows)),
        Fact(translate("facts", "Rating"), _ratings(rows)),
    ]
    alike, different = _compared(rows)
    facts += alike
    facts.append(Fact(translate("facts", "Different"), ", ".join(different)))
    return tuple(fact for fact in facts if fact.text)


def _together(rows: Sequence[GalleryRow], count: int) -> str:
    size = file_size(sum(row.size for row in rows))
    words = f"{count_label(len(rows))} · {size}"
    if count <= len(rows):
        return words
    text = translate("facts", "{pictures} of {n} that are chosen")
    return text.format(pictures=words, n=QLocale().toString(count))


def _days(rows: Sequence[GalleryRow]) -> str:
    """Return the day of the pictures, or the first and the last of their days."""
    times = [row.modified_ns for row in rows]
    days = [_day(times_ns) for times_ns in (min(times), max(times))]
    if days[0] == days[1]:
        return days[0]
    return translate("facts", "{first} to {last}").format(first=days[0], last=days[1])


def _day(modified_ns: int) -> str:
    moment = QDateTime.fromMSecsSinceEpoch(modified_ns // 1_000_000)
    return QLocale().toString(moment.date(), QLocale.FormatType.ShortFormat)


def _size(row: GalleryRow) -> str:
    return size_label(row.width, row.height) if row.width else ""


def _ratings(rows: Sequence[GalleryRow]) -> str:
    if not any(row.rating for row in rows):
        return ""
    return _counted(stars_label(row.rating) for row in rows)


def _counted(values: Iterable[str]) -> str:
    """Return the different values in lines, the most frequent first, each with its number."""
    counts = Counter(value for value in values if value)
    if len(counts) == 1:
        return next(iter(counts))
    locale = QLocale()
    lines = [f"{value} ({locale.toString(n)})" for value, n in counts.most_common(_MOST_VALUES)]
    if len(counts) > _MOST_VALUES:
        more = translate("facts", "and {n} more")
        lines.append(more.format(n=locale.toString(len(counts) - _MOST_VALUES)))
    return "\n".join(lines)


def _compared(rows: Sequence[GalleryRow]) -> tuple[list[Fact], list[str]]:
    """Return the texts and the seed that the pictures share, and the names of those that differ."""
    told = {
        translate("facts", "Prompt"): {row.prompt for row in rows},
        translate("facts", "Negative prompt"): {row.negative for row in rows},
        translate("facts", "Seed"): {"" if row.seed is None else str(row.seed) for row in rows},
    }
    alike = [Fact(name, *values) for name, values in told.items() if len(values) == 1]
    more = {
        translate("facts", "Model"): {row.model for row in rows},
        translate("facts", "LoRAs"): {row.loras for row in rows},
        translate("facts", "Size"): {(row.width, row.height) for row in rows},
    }
    return alike, [name for name, values in (told | more).items() if len(values) > 1]
