"""Descriptions of packs in the user's language; their titles and purposes are the catalogue's."""

from PySide6.QtCore import QCoreApplication

from app.commands.pack_rows import PackAction, PackRow, PackStage
from app.notices.remedies import advice
from ui.labels import amount_label, file_size, transfer_label

translate = QCoreApplication.translate


def action_label(action: PackAction, row: PackRow) -> str:
    """Return the text of an action's button."""
    match action:
        case PackAction.INSTALL if row.is_proprietary:
            return translate("packs", "Accept and install")
        case PackAction.INSTALL if row.problem is not None:
            return translate("packs", "Try again")
        case PackAction.GO_BACK:
            return translate("packs", "Go back to {version}").format(version=row.previous)
        case PackAction.UPGRADE:
            return translate("packs", "Install {version}").format(version=row.version)
        case _:
            return {
                PackAction.INSTALL: translate("packs", "Install"),
                PackAction.USE_NOW: translate("packs", "Use it now"),
                PackAction.PAUSE: translate("packs", "Pause"),
                PackAction.RESUME: translate("packs", "Resume"),
                PackAction.CANCEL: translate("packs", "Cancel"),
                PackAction.REPAIR: translate("packs", "Repair"),
                PackAction.REMOVE: translate("packs", "Remove"),
            }[action]


def purpose(row: PackRow) -> str:
    """Return what a pack is for, and what it was measured to bring or else what it needs."""
    if row.gain and not row.reason:
        return f"{row.summary} {row.gain}"
    return f"{row.summary} {row.needs}".strip()


def cost(row: PackRow) -> str:
    """Return what a pack takes: the download, where it comes from, the disk, the licence."""
    parts: list[str] = []
    if row.download_bytes:
        text = translate("packs", "{size} to download from {hosts}")
        hosts = ", ".join(row.hosts)
        parts.append(text.format(size=file_size(row.download_bytes), hosts=hosts))
    parts.append(translate("packs", "{size} on disk").format(size=file_size(row.disk_bytes)))
    names = ", ".join(terms.name for terms in row.licences)
    if row.is_proprietary:
        parts.append(translate("packs", "proprietary licence: {names}").format(names=names))
    elif names:
        parts.append(translate("packs", "licence: {names}").format(names=names))
    return " · ".join(parts)


def stage_sentence(row: PackRow) -> str:
    """Return a sentence on the state of a pack; empty before it is installed."""
    at = row.progress
    match row.stage:
        case PackStage.AVAILABLE:
            return row.reason
        case PackStage.WAITING:
            return translate("packs", "Waits for the other installation")
        case PackStage.DOWNLOADING:
            return transfer_label(at.done_bytes, at.total_bytes, at.bytes_per_second)
        case PackStage.PAUSED:
            amount = amount_label(at.done_bytes, at.total_bytes)
            return translate("packs", "Paused · {amount}").format(amount=amount)
        case PackStage.VERIFYING:
            return translate("packs", "Checking that every byte has arrived as it should")
        case PackStage.UNPACKING:
            return translate("packs", "Unpacking")
        case PackStage.TRYING:
            return translate("packs", "Trying it on this computer, which takes about a minute")
        case PackStage.READY:
            return translate("packs", "Works here. It is used once the pictures in hand are made.")
        case PackStage.INSTALLED:
            return row.result or _installed(row)


def problem_sentences(row: PackRow) -> str:
    """Return what went wrong in the last attempt and what to do; empty if nothing did."""
    if row.problem is None:
        return ""
    return f"{row.problem.message} {advice(row.problem)}".strip()


def offer_sentences(row: PackRow) -> tuple[str, str]:
    """Return the offer of a pack on the first start: what it brings, and what it takes."""
    text = translate("packs", "{title} suits this computer.")
    return f"{text.format(title=row.title)} {row.gain}".strip(), cost(row)


def _installed(row: PackRow) -> str:
    if row.is_used:
        text = translate("packs", "In use: version {version}, {size} on disk.")
    else:
        text = translate("packs", "Installed: version {version}, {size} on disk.")
    return text.format(version=row.installed, size=file_size(row.disk_bytes))
