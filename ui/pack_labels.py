"""Descriptions of packs in the user's language; their titles are the catalogue's."""

from PySide6.QtCore import QCoreApplication

from app.commands.pack_rows import PackAction, PackRow, PackStage, Terms, standing
from app.notices.remedies import advice
from app.notices.wording import worded
from ui.labels import amount_label, file_size, transfer_label

translate = QCoreApplication.translate


def action_label(action: PackAction, row: PackRow) -> str:
    """Return the text of an action's button."""
    match action:
        case PackAction.INSTALL if row.is_proprietary:
            return translate("packs", "Accept and install")
        case PackAction.INSTALL | PackAction.RESUME if row.problem is not None:
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
    """Return what a pack is for, what it was measured to bring, and what it needs."""
    parts = [translate("packs", row.summary)]
    if row.gain and not row.reason and not row.installed:
        parts.append(translate("packs", "Measured: {gain}.").format(gain=_gain(row)))
    if row.needs and not row.installed:
        needs = translate("packs", row.needs)
        needs = f"{needs[:1].lower()}{needs[1:]}"
        parts.append(translate("packs", "Needs {needs}").format(needs=needs))
    return " ".join(parts)


def cost(row: PackRow) -> str:
    """Return what a pack takes: the download, where it comes from, the disk, the licence."""
    parts: list[str] = []
    if row.download_bytes:
        text = translate("packs", "{size} to download from {hosts}")
        hosts = ", ".join(row.hosts)
        parts.append(text.format(size=file_size(row.download_bytes), hosts=hosts))
    parts.append(translate("packs", "{size} on disk").format(size=file_size(row.disk_bytes)))
    names = [_licence(terms) for terms in row.licences]
    if names:
        parts.append(translate("packs", "licence: {names}").format(names=", ".join(names)))
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
            return _installed(row)


def short_stage(row: PackRow) -> str:
    """Return the state of a pack under way in a few words."""
    total = row.progress.total_bytes
    if row.stage is PackStage.DOWNLOADING and total:
        percent = row.progress.done_bytes * 100 // total
        return translate("packs", "downloading, {n} %").format(n=percent)
    if row.stage is PackStage.TRYING:
        return translate("packs", "being tried")
    return translate("packs", "being installed")


def problem_sentences(row: PackRow) -> str:
    """Return what went wrong in the last attempt and what to do; empty if nothing did."""
    if row.problem is None:
        return ""
    return f"{worded(row.problem.text)} {advice(row.problem)}".strip()


def offer_sentences(row: PackRow) -> tuple[str, str]:
    """Return the offer of a pack on the first start: what it brings, and what it takes."""
    text = translate("packs", "{title} suits this computer.").format(title=row.title)
    if not row.gain:
        return f"{text} {translate('packs', row.summary)}", cost(row)
    gain = translate("packs", "Measured: {gain}.").format(gain=_gain(row))
    return f"{text} {gain}", cost(row)


def _gain(row: PackRow) -> str:
    return translate("packs", row.gain)


def _licence(terms: Terms) -> str:
    if not terms.is_proprietary:
        return terms.name
    return translate("packs", "{name} (proprietary)").format(name=terms.name)


def _installed(row: PackRow) -> str:
    text = translate("packs", "Version {version}, {size} on disk.")
    facts = text.format(version=row.installed, size=file_size(row.disk_bytes))
    return f"{standing(row)} {facts}"
