"""Remedies for failures in the window: their words, and the actions of buttons."""

from enum import StrEnum
from pathlib import Path
from typing import assert_never

from PySide6.QtCore import QCoreApplication

from app.notices.wording import worded
from engine.api.remedies import (
    CheckDevices,
    ChooseCheckpoint,
    ChooseFolder,
    ChooseStartPicture,
    DeclareControlKind,
    DeclareFamily,
    FreeCache,
    InstallPack,
    InvertMask,
    MakeSmaller,
    MoveKept,
    NameLoraFolder,
    RaiseMemoryLimit,
    Remedy,
    SaveHeld,
    StartFrom,
    SupplyParts,
    UseAnotherDevice,
    UseAnyDevice,
    UseAsPart,
)
from engine.api.values import ErrorInfo
from engine.errors import EngineError

translate = QCoreApplication.translate


class NoticeAction(StrEnum):
    """The actions of a notice's buttons."""

    RETRY = "retry"
    RETRY_SMALLER = "retry_smaller"
    RETRY_UNLIMITED = "retry_unlimited"
    RETRY_INVERTED = "retry_inverted"
    RETRY_NEW_SEED = "retry_new_seed"
    RETRY_ON_ANOTHER = "retry_on_another"
    FREE_MEMORY = "free_memory"
    CHOOSE_FOLDER = "choose_folder"
    EDIT = "edit"
    SUPPLY_PARTS = "supply_parts"
    FIND_CHECKPOINT = "find_checkpoint"
    CHOOSE_CHECKPOINT = "choose_checkpoint"
    ABOUT_CHECKPOINT = "about_checkpoint"
    CHOOSE_START_PICTURE = "choose_start_picture"
    START_FROM = "start_from"
    OPEN_PICTURE = "open_picture"
    CHECK_DEVICES = "check_devices"
    FREE_SPACE = "free_space"
    LORA_FOLDERS = "lora_folders"
    RUNTIMES = "runtimes"
    UPDATES = "updates"
    SHOW_STATE = "show_state"
    SHOW_SETTINGS = "show_settings"
    UNDO_CHANGE = "undo_change"
    MAKE_AGAIN = "make_again"
    UNDO_TRASH = "undo_trash"
    CANCEL_ALL = "cancel_all"
    RESUME = "resume"
    SHOW_PICTURES = "show_pictures"


# Actions that make a picture again, or change its settings, and so need its job.
OF_A_JOB = frozenset(
    {
        NoticeAction.RETRY,
        NoticeAction.RETRY_SMALLER,
        NoticeAction.RETRY_UNLIMITED,
        NoticeAction.RETRY_INVERTED,
        NoticeAction.RETRY_NEW_SEED,
        NoticeAction.RETRY_ON_ANOTHER,
        NoticeAction.FREE_MEMORY,
        NoticeAction.CHOOSE_FOLDER,
        NoticeAction.EDIT,
        NoticeAction.SUPPLY_PARTS,
    }
)


def advice(error: ErrorInfo) -> str:
    """Return the remedies for an error in a few sentences; empty where none is known."""
    return " ".join(filter(None, (worded(error.advice), *map(remedy_words, error.remedies))))


def actions_of(remedy: Remedy) -> tuple[NoticeAction, ...]:  # noqa: C901 (a table)
    """Return the actions that carry a remedy out."""
    match remedy:
        case ChooseFolder() | MoveKept() | SaveHeld():
            return (NoticeAction.CHOOSE_FOLDER,)
        case ChooseCheckpoint() | UseAsPart():
            return (NoticeAction.CHOOSE_CHECKPOINT,)
        case ChooseStartPicture():
            return (NoticeAction.CHOOSE_START_PICTURE,)
        case StartFrom():
            return (NoticeAction.START_FROM,)
        case InvertMask():
            return (NoticeAction.RETRY_INVERTED,)
        case MakeSmaller():
            return (NoticeAction.RETRY_SMALLER,)
        case RaiseMemoryLimit():
            return (NoticeAction.RETRY_UNLIMITED,)
        case FreeCache():
            return (NoticeAction.FREE_SPACE,)
        case UseAnyDevice() | UseAnotherDevice():
            return (NoticeAction.RETRY_ON_ANOTHER, NoticeAction.CHECK_DEVICES)
        case CheckDevices():
            return (NoticeAction.CHECK_DEVICES,)
        case InstallPack():
            return (NoticeAction.RUNTIMES,)
        case SupplyParts():
            return (NoticeAction.SUPPLY_PARTS,)
        case DeclareFamily():
            return (NoticeAction.ABOUT_CHECKPOINT,)
        case DeclareControlKind():
            return (NoticeAction.EDIT,)
        case NameLoraFolder():
            return (NoticeAction.LORA_FOLDERS,)
    assert_never(remedy)


def start_picture(error: ErrorInfo | None) -> str:
    """Return the picture that a failure offers to start from; empty if none."""
    remedies = error.remedies if error is not None else ()
    return next((remedy.path for remedy in remedies if isinstance(remedy, StartFrom)), "")


def pack_wanted(error: ErrorInfo | None) -> str:
    """Return the id of the pack that is a remedy for an error; empty if none is."""
    remedies = error.remedies if error is not None else ()
    return next((remedy.pack for remedy in remedies if isinstance(remedy, InstallPack)), "")


def remedy_words(remedy: Remedy) -> str:  # noqa: C901 (a table)
    """Return a remedy in a sentence or two."""
    match remedy:
        case ChooseFolder():
            return translate("remedies", "Choose another folder for pictures.")
        case MoveKept(path=path):
            return _keeping(path)
        case SaveHeld():
            return _holding()
        case ChooseCheckpoint():
            return translate("remedies", "Choose a model.")
        case ChooseStartPicture():
            return translate("remedies", "Choose the picture to start from.")
        case StartFrom():
            return translate("remedies", "Or start from it: it is redrawn, all of it or a part.")
        case InvertMask():
            return translate("remedies", "Open the mask and invert it.")
        case MakeSmaller():
            return translate("remedies", "Make the picture smaller.")
        case RaiseMemoryLimit():
            return translate("remedies", "Or make it anew, without the limit it came with.")
        case FreeCache():
            return translate("remedies", "“Clear the cache…” shows what can be made anew.")
        case UseAnyDevice():
            return translate("remedies", "Make it anew: Safelight then chooses the device.")
        case UseAnotherDevice():
            return translate("remedies", "Another device can make it.")
        case CheckDevices():
            return translate("remedies", "Have Safelight check the hardware again.")
        case InstallPack(pack=pack):
            return _installing(pack)
        case SupplyParts() | UseAsPart() | DeclareFamily() | DeclareControlKind():
            return _telling_of_files(remedy)
        case NameLoraFolder():
            return translate("remedies", "Or name the folder that has it.")
    assert_never(remedy)


def _telling_of_files(
    remedy: SupplyParts | UseAsPart | DeclareFamily | DeclareControlKind,
) -> str:
    match remedy:
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
        case DeclareControlKind():
            return translate("remedies", "Choose the kind of the map in its control layer.")


def _keeping(path: str) -> str:
    return translate(
        "remedies",
        "The picture is finished and kept in {folder}: once there is room, “Try again” saves it.",
    ).format(folder=Path(path).parent)


def _holding() -> str:
    return translate(
        "remedies",
        "The picture is finished and held in memory until Safelight closes: once there is room, "
        "“Try again” saves it.",
    )


def _installing(pack: str) -> str:
    return translate(
        "remedies", "The runtime {name} brings what it needs; “Runtimes” installs it."
    ).format(name=_title(pack))


def _title(pack: str) -> str:
    # Here, as the window starts sooner without it.
    from app.packs.catalogue import Catalogue

    try:
        return Catalogue.read().named(pack).title
    except EngineError:
        return pack
