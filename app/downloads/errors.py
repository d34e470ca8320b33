"""Failures of downloads: codes, the facts that go with them, and their sentences."""

from enum import StrEnum

import msgspec

from engine.api.sentences import NO_WORDS, InEnglish, Sentence, completed, sentence


class DownloadCode(StrEnum):
    """The code of every way in which a download can end without its file."""

    CANCELLED = "cancelled"
    ADDRESS_REFUSED = "address_refused"
    REDIRECT_REFUSED = "redirect_refused"
    NO_CONNECTION = "no_connection"
    CERTIFICATE = "certificate"
    PROXY = "proxy"
    DROPPED = "dropped"
    STALLED = "stalled"
    STATUS = "status"
    BUSY = "busy"
    WEB_PAGE = "web_page"
    WRONG_ANSWER = "wrong_answer"
    WRONG_SIZE = "wrong_size"
    WRONG_HASH = "wrong_hash"
    DISK_FULL = "disk_full"
    NOT_WRITABLE = "not_writable"
    INTERNAL = "internal"


_MESSAGES = {
    DownloadCode.CANCELLED: sentence("The download of {file} was stopped."),
    DownloadCode.ADDRESS_REFUSED: sentence(
        "{file} is not downloaded from {host}: the connection would not be encrypted."
    ),
    DownloadCode.REDIRECT_REFUSED: sentence(
        "{host} sends the download of {file} elsewhere, to {detail}."
    ),
    DownloadCode.NO_CONNECTION: sentence("There is no connection to {host}."),
    DownloadCode.CERTIFICATE: sentence("{host} could not prove that it is {host}."),
    DownloadCode.PROXY: sentence("The proxy of this network does not lead to {host}."),
    DownloadCode.DROPPED: sentence("The connection to {host} broke off again and again."),
    DownloadCode.STALLED: sentence("{host} stopped sending."),
    DownloadCode.STATUS: sentence("{host} does not give out {file} (status {status})."),
    DownloadCode.BUSY: sentence("{host} is too busy to send {file} now."),
    DownloadCode.WEB_PAGE: sentence("A web page came in place of {file}."),
    DownloadCode.WRONG_ANSWER: sentence("{host} gave an answer for {file} that makes no sense."),
    DownloadCode.WRONG_SIZE: sentence(
        "{host} has another file under the name {file}: its size differs."
    ),
    DownloadCode.WRONG_HASH: sentence(
        "{host} has another file under the name {file}: its hash differs."
    ),
    DownloadCode.DISK_FULL: sentence(
        "There is no room for {file} in {folder}: {needed} more are needed."
    ),
    DownloadCode.NOT_WRITABLE: sentence("{file} cannot be written in {folder}: {detail}."),
    DownloadCode.INTERNAL: sentence(
        "Something went wrong inside Safelight while it downloaded {file}."
    ),
}
_SIGN_IN = sentence(
    "If this network asks for a sign-in first, do so in a web browser, then try again."
)
_LATER = sentence("Try again later; what has arrived is kept.")
_HINTS = {
    DownloadCode.REDIRECT_REFUSED: sentence(
        "If this network asks for a sign-in first, do so in a web browser, then try again. Where a"
        " site sends its files from another place by now, look its link up again; what has arrived"
        " is kept."
    ),
    DownloadCode.NO_CONNECTION: sentence(
        "See that this computer is online, then try again; what has arrived is kept."
    ),
    DownloadCode.CERTIFICATE: sentence(
        "If this computer's date is wrong, set it right. If this network inspects connections,"
        " its certificate must be among those that this system trusts, or in the file that"
        " the variable SSL_CERT_FILE names. On Linux the package ca-certificates has the usual"
        " ones."
    ),
    DownloadCode.PROXY: sentence(
        "See that the proxy in the system's settings is right;"
        " the variable HTTPS_PROXY names another."
    ),
    DownloadCode.DROPPED: _LATER,
    DownloadCode.STALLED: _LATER,
    DownloadCode.STATUS: sentence(
        "Try again later; its page, or a newer version of Safelight, may know another address."
    ),
    DownloadCode.BUSY: _LATER,
    DownloadCode.WEB_PAGE: _SIGN_IN,
    DownloadCode.WRONG_ANSWER: sentence("Try again later."),
    DownloadCode.WRONG_SIZE: sentence("Nothing of it is used. Try again later."),
    DownloadCode.WRONG_HASH: sentence("Nothing of it is used. Try again later."),
    DownloadCode.DISK_FULL: sentence("Free some space, then go on; what has arrived is kept."),
    DownloadCode.NOT_WRITABLE: sentence(
        "See that the folder is there and can be written, then try again."
    ),
    DownloadCode.INTERNAL: sentence("Copy the report and send it to us; then try again."),
}


class DownloadProblem(msgspec.Struct, InEnglish, frozen=True, kw_only=True):
    """A failed download as data: it can be kept and worded later.

    `bytes_needed` is the room that is missing on the disk, `status` an HTTP status, `detail` the
    technical cause for a report, or the end of the message where a sentence has one.
    """

    code: DownloadCode
    file: str = ""
    host: str = ""
    folder: str = ""
    bytes_needed: int = 0
    status: int = 0
    detail: str = ""

    @property
    def text(self) -> Sentence:
        """A sentence for a person on what happened."""
        return completed(
            _MESSAGES[self.code],
            file=self.file,
            host=self.host,
            folder=self.folder,
            status=str(self.status),
            needed=in_megabytes(self.bytes_needed),
            detail=self.detail,
        )

    @property
    def advice(self) -> Sentence:
        """A sentence on what to do about it; empty if there is nothing to do."""
        return _HINTS.get(self.code, NO_WORDS)


class DownloadError(Exception):
    """A download ended without its file."""

    def __init__(self, problem: DownloadProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem

    @property
    def code(self) -> DownloadCode:
        """The kind of failure."""
        return self.problem.code


def in_megabytes(count: int) -> Sentence:
    """Return a number of bytes as a person reads it, rounded up to whole megabytes."""
    return sentence("{n:,} MB", n=-(-count // 1_000_000))
