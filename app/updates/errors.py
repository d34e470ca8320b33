"""Failures of updates: codes, and their sentences for a person."""

from enum import StrEnum

from engine.api.sentences import NO_WORDS, InEnglish, Sentence, sentence


class UpdateCode(StrEnum):
    """The code of every way in which an update can end without a new version."""

    NOT_INSTALLED = "not_installed"
    NO_PLACE = "no_place"
    UNREACHABLE = "unreachable"
    NOT_SIGNED = "not_signed"
    DAMAGED_LIST = "damaged_list"
    OTHER_CHANNEL = "other_channel"
    OLD_LIST = "old_list"
    EXPIRED_LIST = "expired_list"
    DOWNLOAD = "download"
    BAD_ARCHIVE = "bad_archive"
    DOES_NOT_RUN = "does_not_run"
    DISK_FULL = "disk_full"
    NOT_WRITABLE = "not_writable"
    BUSY = "busy"
    NO_WAY_BACK = "no_way_back"
    CANCELLED = "cancelled"


class UpdateError(InEnglish, Exception):
    """An update that did not happen: a code, what happened, and what to do about it.

    `detail` is the technical cause, for a report.
    """

    def __init__(
        self, code: UpdateCode, text: Sentence, advice: Sentence = NO_WORDS, detail: str = ""
    ) -> None:
        super().__init__(str(text))
        self.code = code
        self.text = text
        self.advice = advice
        self.detail = detail


def cancelled_error() -> UpdateError:
    """Return the error for an update that a person stopped."""
    return UpdateError(
        UpdateCode.CANCELLED, sentence("The update was stopped."), sentence("This version stays.")
    )
