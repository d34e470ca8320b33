"""Texts of the Gallery about pictures, all of them plain."""

from datetime import date
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.gallery.rows import FolderState, GalleryRow, Trouble
from app.paths import starter_checkpoint
from engine.api.values import ErrorCode, ErrorInfo
from ui.labels import size_label, when

translate = QCoreApplication.translate

# Pictures of other programs say on their tile what made them; ours need not.
_OWN_TOOL = "Safelight"
_TOLD_CHARACTERS = 200


def trouble_label(trouble: Trouble) -> str:
    """Return a sentence on why a picture cannot be shown."""
    return {
        Trouble.MISSING: translate("gallery", "Its folder cannot be reached."),
        Trouble.UNREADABLE: translate("gallery", "It may not be read."),
        Trouble.EMPTY: translate("gallery", "The file is empty."),
        Trouble.OTHER_FORMAT: translate("gallery", "It is no PNG, JPEG or WebP."),
        Trouble.DAMAGED: translate("gallery", "The file is damaged."),
        Trouble.TOO_LARGE: translate("gallery", "It is too large to be shown."),
    }[trouble]


def unreadable_picture(path: str, trouble: Trouble) -> ErrorInfo:
    """Return the error for a file that was chosen as a picture and cannot be shown."""
    message = translate("gallery", "{name} cannot be read as a picture.")
    advice = translate("gallery", "Choose another PNG, JPEG or WebP file.")
    hint = f"{trouble_label(trouble)} {advice}"
    text = message.format(name=Path(path).name[:80])
    return ErrorInfo(ErrorCode.INPUT_IMAGE_UNREADABLE, text, hint)


def folder_label(state: FolderState) -> str:
    """Return a remark on a folder's state, empty if all is well."""
    return {
        FolderState.WAITING: translate("gallery", "waiting"),
        FolderState.SCANNING: translate("gallery", "being read"),
        FolderState.READY: "",
        FolderState.READ_ONLY: translate("gallery", "read-only"),
        FolderState.MISSING: translate("gallery", "cannot be reached"),
    }[state]


def tool_label(tool: str) -> str:
    """Return the name of the other program that made a picture, empty for our own and unknown."""
    return "" if tool == _OWN_TOOL else tool


def model_label(row: GalleryRow) -> str:
    """Return the name of the model that made a picture; the starter's file has none of its own."""
    is_starter = row.model == starter_checkpoint().name and row.tool == _OWN_TOOL
    return translate("labels", "Safelight starter") if is_starter else row.model


def count_label(count: int) -> str:
    """Return a number of pictures in words."""
    if count == 1:
        return translate("gallery", "1 picture")
    return translate("gallery", "{n} pictures").format(n=QLocale().toString(count))


def chosen_label(chosen: int, count: int) -> str:
    """Return how many pictures of how many are chosen, or only how many there are."""
    if chosen < 2:
        return count_label(count)
    locale = QLocale()
    return translate("gallery", "{n} of {all} chosen").format(
        n=locale.toString(chosen), all=locale.toString(count)
    )


def chosen_words(count: int) -> str:
    """Return a sentence on how many pictures are chosen, none or several."""
    if count == 0:
        return translate("gallery", "No picture is chosen")
    return translate("gallery", "{n} pictures are chosen").format(n=QLocale().toString(count))


def reading_label(done: int, total: int) -> str:
    """Return how many pictures of new or changed ones are read."""
    locale = QLocale()
    return translate("gallery", "Reading pictures: {done} of {total}").format(
        done=locale.toString(done), total=locale.toString(total)
    )


def day_label(day: date, today: date) -> str:
    """Return a day as a heading."""
    match (today - day).days:
        case 0:
            return translate("gallery", "Today")
        case 1:
            return translate("gallery", "Yesterday")
        case _:
            shown = QDate(day.year, day.month, day.day)
            return QLocale().toString(shown, QLocale.FormatType.LongFormat)


def stars_label(rating: int) -> str:
    """Return a rating in words."""
    if rating == 0:
        return translate("gallery", "no stars")
    if rating == 1:
        return translate("gallery", "1 star")
    return translate("gallery", "{n} stars").format(n=rating)


def name_of(row: GalleryRow) -> str:
    """Return the name of a picture's file."""
    return Path(row.path).name


def position_label(number: int, count: int) -> str:
    """Return which of the pictures one is."""
    locale = QLocale()
    return translate("gallery", "{n} of {all}").format(
        n=locale.toString(number), all=locale.toString(count)
    )


def spoken(row: GalleryRow) -> str:
    """Return what a screen reader says of a picture: prompt, model, date, marks, trouble."""
    parts = [" ".join(row.prompt[:_TOLD_CHARACTERS].split()) or name_of(row)]
    if row.model:
        parts.append(model_label(row))
    if tool_label(row.tool):
        parts.append(translate("gallery", "made by {tool}").format(tool=row.tool))
    parts.append(when(row.modified_ns))
    parts += marks_words(row)
    if row.trouble is not None:
        parts.append(trouble_label(row.trouble))
    return ", ".join(parts)


def marks_words(row: GalleryRow) -> list[str]:
    """Return a picture's marks in words: its stars if it has any, favourite, rejected."""
    parts = [stars_label(row.rating)] if row.rating else []
    if row.favourite:
        parts.append(translate("gallery", "favourite"))
    if row.rejected:
        parts.append(translate("gallery", "rejected"))
    return parts


def hover_lines(row: GalleryRow) -> tuple[str, ...]:
    """Return the lines of a tile's tooltip."""
    facts = [size_label(row.width, row.height)] if row.width else []
    facts += [text for text in (model_label(row), tool_label(row.tool)) if text]
    lines = (
        " ".join(row.prompt[:_TOLD_CHARACTERS].split()),
        " · ".join(facts),
        f"{name_of(row)} · {when(row.modified_ns)}",
        ", ".join(marks_words(row)),
    )
    return tuple(line for line in lines if line)
