"""Remedies for failures in the window: their words, and the actions of buttons."""

from enum import StrEnum
from typing import assert_never

from PySide6.QtCore import QCoreApplication

from app.notices.wording import worded
from engine.api.remedies import (
    CheckDevices,
    ChooseCheckpoint,
    ChooseFolder,
    ChooseStartPicture,
    DeclareFamily,
    InstallPack,
    InvertMask,
    MakeSmaller,
    NameLoraFolder,
    RaiseMemoryLimit,
    Remedy,
    SupplyParts,
    UseAnotherDevice,
    UseAnyDevice,
    UseAsPart,
)
from engine.api.values import ErrorCode, ErrorInfo
from engine.errors import EngineError

translate = QCoreApplication.translate


class NoticeAction(StrEnum):
    """The actions of a notice's buttons, in the order of the buttons."""

    RETRY_SMALLER = "retry_smaller"
    CHOOSE_FOLDER = "choose_folder"
    CHOOSE_CHECKPOINT = "choose_checkpoint"
    CHOOSE_START_PICTURE = "choose_start_picture"
    CHECK_DEVICES = "check_devices"
    LORA_FOLDERS = "lora_folders"
    RUNTIMES = "runtimes"
    UNDO_CHANGE = "undo_change"
    MAKE_AGAIN = "make_again"
    UNDO_TRASH = "undo_trash"
    CANCEL_ALL = "cancel_all"
    RETRY = "retry"


# Actions that make a picture again, and so need its job.
OF_A_JOB = frozenset({NoticeAction.RETRY, NoticeAction.RETRY_SMALLER, NoticeAction.CHOOSE_FOLDER})
# Failures that can pass by themselves, or after the user did something elsewhere, so that the same
# request may succeed later. All other failures are the request's or the file's own.
_PASSING = frozenset(
    {
        ErrorCode.CHECKPOINT_NOT_FOUND,
        ErrorCode.CHECKPOINT_UNREADABLE,
        ErrorCode.CHECKPOINT_TRUNCATED,
        ErrorCode.INPUT_IMAGE_UNREADABLE,
        ErrorCode.BACKEND_UNAVAILABLE,
        ErrorCode.BACKEND_FAILED,
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.OUTPUT_NOT_WRITABLE,
        ErrorCode.DISK_FULL,
        ErrorCode.CACHE_NOT_WRITABLE,
        ErrorCode.ENGINE_NOT_STARTED,
        ErrorCode.ENGINE_CRASHED,
        ErrorCode.PROTOCOL_BROKEN,
        ErrorCode.INTERNAL,
    }
)
# Failures that another checkpoint cures, even if the engine does not suggest one.
_OF_THE_CHECKPOINT = frozenset(
    {
        ErrorCode.CHECKPOINT_NOT_FOUND,
        ErrorCode.CHECKPOINT_UNREADABLE,
        ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
        ErrorCode.CHECKPOINT_TRUNCATED,
        ErrorCode.CHECKPOINT_CORRUPT,
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        ErrorCode.CHECKPOINT_INCOMPLETE,
    }
)


def advice(error: ErrorInfo) -> str:
    """Return the remedies for an error in a few sentences; empty where none is known."""
    return " ".join(filter(None, (worded(error.advice), *map(remedy_words, error.remedies))))


def actions(error: ErrorInfo, *, of_a_job: bool) -> tuple[NoticeAction, ...]:
    """Return the actions for an error, the best first; `of_a_job`: it ended a job."""
    found = [action for action in map(_action, error.remedies) if action is not None]
    if error.code in _OF_THE_CHECKPOINT:
        found.append(NoticeAction.CHOOSE_CHECKPOINT)
    if error.code in _PASSING:
        found.append(NoticeAction.RETRY)
    return tuple(dict.fromkeys(one for one in found if of_a_job or one not in OF_A_JOB))


def pack_wanted(error: ErrorInfo | None) -> str:
    """Return the id of the pack that is a remedy for an error; empty if none is."""
    remedies = error.remedies if error is not None else ()
    return next((one.pack for one in remedies if isinstance(one, InstallPack)), "")


def remedy_words(remedy: Remedy) -> str:  # noqa: C901 (a table)
    """Return a remedy in a sentence or two."""
    match remedy:
        case ChooseFolder():
            return translate("remedies", "Choose another folder for pictures.")
        case ChooseCheckpoint():
            return translate("remedies", "Choose a model.")
        case ChooseStartPicture():
            return translate("remedies", "Choose the picture to start from.")
        case InvertMask():
            return translate("remedies", "Open the mask and invert it.")
        case MakeSmaller():
            return translate("remedies", "Make the picture smaller.")
        case RaiseMemoryLimit():
            return translate("remedies", "Or make it anew, without the limit it came with.")
        case UseAnyDevice():
            return translate("remedies", "Make it anew: Safelight then chooses the device.")
        case UseAnotherDevice() | CheckDevices():
            return translate("remedies", "Have Safelight check the hardware again.")
        case InstallPack(pack=pack):
            return translate(
                "remedies", "The runtime {name} brings what it needs; “Runtimes” installs it."
            ).format(name=_title(pack))
        case SupplyParts():
            return translate("remedies", "Choose a file that has it, below the model's name.")
        case UseAsPart():
            return translate(
                "remedies", "Where that model lacks this part, it can be taken from this file."
            )
        case DeclareFamily():
            return translate(
                "remedies", "If you know which of these it is, say so in “About the model”."
            )
        case NameLoraFolder():
            return translate("remedies", "Or name the folder that has it.")
    assert_never(remedy)


def _title(pack: str) -> str:
    # Here, as the window starts sooner without it.
    from app.packs.catalogue import Catalogue

    try:
        return Catalogue.read().named(pack).title
    except EngineError:
        return pack


def _action(remedy: Remedy) -> NoticeAction | None:
    match remedy:
        case ChooseFolder():
            return NoticeAction.CHOOSE_FOLDER
        case ChooseCheckpoint():
            return NoticeAction.CHOOSE_CHECKPOINT
        case ChooseStartPicture():
            return NoticeAction.CHOOSE_START_PICTURE
        case MakeSmaller():
            return NoticeAction.RETRY_SMALLER
        case UseAnyDevice() | UseAnotherDevice() | CheckDevices():
            return NoticeAction.CHECK_DEVICES
        case NameLoraFolder():
            return NoticeAction.LORA_FOLDERS
        case InstallPack():
            return NoticeAction.RUNTIMES
        case _:
            return None
