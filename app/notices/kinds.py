"""The kinds of failures: for each code a title, its meaning, and the actions that may mend it."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from app.notices.remedies import OF_A_JOB, NoticeAction, actions_of, advice
from app.notices.wording import worded
from engine.api.values import ErrorCode, ErrorInfo

_CONTEXT = "errors"
_A = NoticeAction


class ErrorKind(msgspec.Struct, frozen=True):
    """The texts of a code in English, and the actions for any failure of it, the best first.

    `meaning` is said of failures that bring no advice of their own.
    """

    title: object
    meaning: object
    actions: tuple[NoticeAction, ...] = ()


_OF_FILES = {
    ErrorCode.CHECKPOINT_NOT_FOUND: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The model is not where it was"),
        QT_TRANSLATE_NOOP("errors", "Say where its file is now, or choose another model."),
        (_A.FIND_CHECKPOINT, _A.CHOOSE_CHECKPOINT, _A.RETRY),
    ),
    ErrorCode.CHECKPOINT_UNREADABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The model cannot be read"),
        QT_TRANSLATE_NOOP("errors", "Its disk may be away, or another program may be using it."),
        (_A.RETRY, _A.CHOOSE_CHECKPOINT),
    ),
    ErrorCode.CHECKPOINT_NOT_SAFETENSORS: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "This file is no model"),
        QT_TRANSLATE_NOOP("errors", "Models are .safetensors, .gguf or .ckpt files, or folders."),
        (_A.CHOOSE_CHECKPOINT,),
    ),
    ErrorCode.CHECKPOINT_TRUNCATED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The model's file is incomplete"),
        QT_TRANSLATE_NOOP("errors", "Wait until its download has finished, or get it again."),
        (_A.CHOOSE_CHECKPOINT, _A.RETRY),
    ),
    ErrorCode.CHECKPOINT_CORRUPT: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "A file is damaged"),
        QT_TRANSLATE_NOOP("errors", "Get the file again; nothing else can mend it."),
        (_A.CHOOSE_CHECKPOINT,),
    ),
    ErrorCode.CHECKPOINT_UNKNOWN_FAMILY: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Safelight cannot use this model"),
        QT_TRANSLATE_NOOP("errors", "It is of a kind that this version does not know."),
        (_A.CHOOSE_CHECKPOINT,),
    ),
    ErrorCode.CHECKPOINT_INCOMPLETE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The model lacks a part"),
        QT_TRANSLATE_NOOP("errors", "The part can be taken from another file."),
        (_A.CHOOSE_CHECKPOINT,),
    ),
    ErrorCode.CHECKPOINT_MISMATCH: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "These files do not go together"),
        QT_TRANSLATE_NOOP("errors", "They were made for different models."),
        (_A.EDIT, _A.CHOOSE_CHECKPOINT),
    ),
    ErrorCode.LORA_MISMATCH: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The LoRA is for other models"),
        QT_TRANSLATE_NOOP("errors", "Take it out, or choose the model that it is for."),
        (_A.EDIT,),
    ),
    ErrorCode.LORA_NOT_FOUND: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "A LoRA was not found"),
        QT_TRANSLATE_NOOP("errors", "Name the folder that has it, or take it out."),
        (_A.LORA_FOLDERS, _A.EDIT),
    ),
    # The picture was made all the same.
    ErrorCode.LORA_REMARK: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "A LoRA acts in another way than was meant"),
        QT_TRANSLATE_NOOP("errors", "The picture was made all the same."),
    ),
    ErrorCode.EMBEDDING_REMARK: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "An embedding acts in another way than was meant"),
        QT_TRANSLATE_NOOP("errors", "The picture was made all the same."),
    ),
    ErrorCode.INPUT_IMAGE_UNREADABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "A picture cannot be read"),
        QT_TRANSLATE_NOOP("errors", "Choose the picture to start from again."),
        (_A.CHOOSE_START_PICTURE, _A.RETRY),
    ),
    ErrorCode.METADATA_MISSING: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The picture does not say how it was made"),
        QT_TRANSLATE_NOOP("errors", "Many websites take the settings out of pictures."),
        (_A.OPEN_PICTURE,),
    ),
}
_OF_MAKING = {
    ErrorCode.REQUEST_INVALID: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "A setting does not fit"),
        QT_TRANSLATE_NOOP("errors", "Change it in the form, then make the picture again."),
        (_A.EDIT,),
    ),
    ErrorCode.NOT_AVAILABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "That is not possible here"),
        QT_TRANSLATE_NOOP("errors", "Something is asked for that this Safelight cannot do."),
        (_A.EDIT,),
    ),
    ErrorCode.NUMERIC_FAILURE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The picture came out empty"),
        QT_TRANSLATE_NOOP("errors", "The numbers of this model got out of hand."),
        (_A.RETRY_NEW_SEED, _A.RETRY_ON_ANOTHER, _A.CHOOSE_CHECKPOINT),
    ),
    ErrorCode.OUT_OF_MEMORY: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Not enough memory"),
        QT_TRANSLATE_NOOP("errors", "A smaller picture needs less; so do fewer open programs."),
        (_A.RETRY_SMALLER, _A.FREE_MEMORY, _A.RETRY_ON_ANOTHER),
    ),
    ErrorCode.BACKEND_UNKNOWN: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "There is no such device"),
        QT_TRANSLATE_NOOP("errors", "The settings name a device that this Safelight lacks."),
        (_A.RETRY_ON_ANOTHER, _A.EDIT),
    ),
    ErrorCode.BACKEND_UNAVAILABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The device cannot be used"),
        QT_TRANSLATE_NOOP("errors", "A driver or a runtime may be missing."),
        (_A.RETRY_ON_ANOTHER, _A.CHECK_DEVICES, _A.RETRY),
    ),
    ErrorCode.BACKEND_FAILED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The device failed"),
        QT_TRANSLATE_NOOP("errors", "It, its driver or its runtime made a mistake."),
        (_A.RETRY_ON_ANOTHER, _A.CHECK_DEVICES, _A.RETRY),
    ),
    ErrorCode.REFIT_FAILED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "LoRAs take longer on this device"),
        QT_TRANSLATE_NOOP("errors", "Pictures are the same; only the way to them is another."),
        (_A.RETRY,),
    ),
    # Of pictures it is a note without buttons: another device makes them meanwhile.
    ErrorCode.PREPARING: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Something is being prepared"),
        QT_TRANSLATE_NOOP("errors", "Wait until it has finished."),
        (_A.RUNTIMES,),
    ),
    # A decision of the user's, which is told to nobody.
    ErrorCode.CANCELLED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Cancelled"),
        QT_TRANSLATE_NOOP("errors", "Nothing went wrong."),
    ),
}
_OF_DISKS = {
    ErrorCode.OUTPUT_NOT_WRITABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Nothing can be written there"),
        QT_TRANSLATE_NOOP("errors", "The folder may be protected, or its disk may be away."),
        (_A.CHOOSE_FOLDER, _A.RETRY),
    ),
    ErrorCode.DISK_FULL: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The disk is full"),
        QT_TRANSLATE_NOOP("errors", "Free some space, or use another disk."),
        (_A.FREE_SPACE, _A.RETRY),
    ),
    ErrorCode.CACHE_NOT_WRITABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The cache cannot be written"),
        QT_TRANSLATE_NOOP("errors", "Free some space on its disk."),
        (_A.FREE_SPACE, _A.RETRY),
    ),
    ErrorCode.WORKING_COPY_DAMAGED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The cache was damaged"),
        QT_TRANSLATE_NOOP("errors", "What was damaged is made anew."),
        (_A.RETRY, _A.FREE_SPACE),
    ),
    ErrorCode.QUEUE_UNREADABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The queue could not be read"),
        QT_TRANSLATE_NOOP("errors", "Pictures are safe; what waited may be lost."),
        (_A.SHOW_STATE,),
    ),
    ErrorCode.SESSION_UNREADABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Something that was kept could not be read"),
        QT_TRANSLATE_NOOP("errors", "Pictures and models are safe."),
        (_A.SHOW_STATE,),
    ),
    ErrorCode.SETTINGS_UNREADABLE: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "The settings could not be used"),
        QT_TRANSLATE_NOOP("errors", "Pictures and models are safe."),
        (_A.SHOW_SETTINGS,),
    ),
}
_OF_SAFELIGHT = {
    ErrorCode.ENGINE_NOT_STARTED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Safelight's engine does not start"),
        QT_TRANSLATE_NOOP("errors", "Without it no picture can be made."),
        (_A.RETRY, _A.UPDATES),
    ),
    ErrorCode.ENGINE_CRASHED: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Safelight's engine ended unexpectedly"),
        QT_TRANSLATE_NOOP("errors", "Finished pictures are safe."),
        (_A.RETRY, _A.RETRY_SMALLER, _A.RETRY_ON_ANOTHER),
    ),
    ErrorCode.PROTOCOL_MISMATCH: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Parts of Safelight are of different versions"),
        QT_TRANSLATE_NOOP("errors", "Install Safelight again."),
        (_A.UPDATES,),
    ),
    ErrorCode.PROTOCOL_BROKEN: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Parts of Safelight do not understand each other"),
        QT_TRANSLATE_NOOP("errors", "Try again; if it comes back, install Safelight again."),
        (_A.RETRY, _A.UPDATES),
    ),
    ErrorCode.INTERNAL: ErrorKind(
        QT_TRANSLATE_NOOP("errors", "Safelight made a mistake"),
        QT_TRANSLATE_NOOP("errors", "Copy the report and send it to us; then try again."),
        (_A.RETRY,),
    ),
}
KINDS: Mapping[ErrorCode, ErrorKind] = MappingProxyType(
    {**_OF_FILES, **_OF_MAKING, **_OF_DISKS, **_OF_SAFELIGHT}
)


def title(code: ErrorCode) -> str:
    """Return the title of failures with a code, which has no full stop."""
    return QCoreApplication.translate(_CONTEXT, str(KINDS[code].title))


def explanation(error: ErrorInfo) -> str:
    """Return the sentences on what to do about a failure, or else on what its code means."""
    return advice(error) or QCoreApplication.translate(_CONTEXT, str(KINDS[error.code].meaning))


def account(error: ErrorInfo) -> str:
    """Return the sentences on a failure and on what to do about it, for a place of its own."""
    return f"{worded(error.text)} {explanation(error)}"


def actions(error: ErrorInfo, *, of_a_job: bool) -> tuple[NoticeAction, ...]:
    """Return the actions for an error, the best first; `of_a_job`: it ended a job."""
    of_remedies = (action for remedy in error.remedies for action in actions_of(remedy))
    found = dict.fromkeys((*of_remedies, *KINDS[error.code].actions))
    return tuple(action for action in found if of_a_job or action not in OF_A_JOB)
