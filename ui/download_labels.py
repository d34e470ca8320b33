"""Descriptions of downloads in the user's language."""

from PySide6.QtCore import QCoreApplication

from app.downloads.entries import Download, DownloadState
from app.notices.wording import worded_both
from ui.labels import amount_label, file_size, transfer_label

translate = QCoreApplication.translate


def only_asked(host: str) -> str:
    """Return the sentence on what looking up a link of this host does."""
    text = translate("downloads", "Only {host} is asked, and nothing is downloaded yet.")
    return text.format(host=host)


def download_sentence(download: Download) -> str:
    """Return a line on the state of a download: how much, how fast, how long it takes."""
    amount = amount_label(download.bytes_done, download.size)
    match download.state:
        case DownloadState.WAITING:
            return translate("downloads", "Waits for the one before it")
        case DownloadState.RUNNING:
            return transfer_label(download.bytes_done, download.size, download.bytes_per_second)
        case DownloadState.VERIFYING:
            return translate("downloads", "Checking what has arrived · {amount}").format(
                amount=amount
            )
        case DownloadState.PAUSED:
            return translate("downloads", "Paused · {amount}").format(amount=amount)
        case DownloadState.DONE:
            return translate("downloads", "Here · {size}").format(size=file_size(download.size))
        case DownloadState.FAILED:
            problem = download.problem
            return worded_both(problem.text, problem.advice) if problem else ""
