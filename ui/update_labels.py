"""Descriptions of updates in the user's language."""

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QUrl

from app.commands.updates import UpdateStage, UpdateState
from app.updates.offers import Offer
from ui.labels import file_size, transfer_label

translate = QCoreApplication.translate


def stage_sentence(state: UpdateState) -> str:
    """Return a sentence on the stage of an update; empty before anything was asked for."""
    offer = state.offer
    match state.stage:
        case UpdateStage.IDLE:
            return ""
        case UpdateStage.CHECKING:
            return translate("updates", "Looking for a newer version…")
        case UpdateStage.UP_TO_DATE:
            return translate("updates", "This is the newest version.")
        case UpdateStage.OFFERED:
            text = translate("updates", "Safelight {version} is available.")
            return text.format(version=offer.version if offer else "")
        case UpdateStage.DOWNLOADING:
            return _downloading(offer, state.done_bytes)
        case UpdateStage.INSTALLING:
            return translate("updates", "Unpacking and trying it. This takes about a minute.")
        case UpdateStage.WAITING_FOR_RESTART:
            text = translate("updates", "Safelight {version} is ready. It starts the next time.")
            return text.format(version=state.next_version)


def offer_facts(offer: Offer) -> str:
    """Return the date of a version, what it takes, and where it comes from."""
    parts = [_day(offer.date)]
    size = file_size(offer.download_bytes)
    if offer.hosts:
        text = translate("updates", "{size} to download from {hosts}")
        parts.append(text.format(size=size, hosts=", ".join(offer.hosts)))
    else:
        parts.append(translate("updates", "{size} to copy").format(size=size))
    text = translate("updates", "{size} on disk")
    parts.append(text.format(size=file_size(offer.disk_bytes)))
    return " · ".join(filter(None, parts))


def place_sentence(place: str) -> str:
    """Return a sentence on where updates are looked for."""
    where = QUrl(place).host() if "://" in place else place
    text = translate(
        "updates", "Safelight asks {place} only when you do. Nothing about you or it is sent."
    )
    return text.format(place=where)


def _downloading(offer: Offer | None, done: int) -> str:
    total = offer.download_bytes if offer else 0
    return transfer_label(done, total, 0)


def _day(date: str) -> str:
    """Return a date as "2026-11-23" in the user's form; as it is if it is none."""
    day = QDate.fromString(date, "yyyy-MM-dd")
    return QLocale().toString(day, QLocale.FormatType.ShortFormat) if day.isValid() else date
