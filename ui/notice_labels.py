"""The words on the buttons of notices."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from app.commands.notices import NoticeCommands
from app.commands.retries import fitting_files
from app.notices.notices import Notice
from app.notices.remedies import NoticeAction
from ui.device_labels import short_device_name
from ui.labels import size_label

translate = QCoreApplication.translate
# The longest name of a file on a button.
_LONGEST = 32

_A = NoticeAction
_TEXTS: Mapping[NoticeAction, object] = MappingProxyType(
    {
        _A.RETRY: QT_TRANSLATE_NOOP("notices", "Try again"),
        _A.RETRY_UNLIMITED: QT_TRANSLATE_NOOP("notices", "Try without the memory limit"),
        _A.RETRY_INVERTED: QT_TRANSLATE_NOOP("notices", "Invert the mask and try again"),
        _A.RETRY_NEW_SEED: QT_TRANSLATE_NOOP("notices", "Try another seed"),
        _A.FREE_MEMORY: QT_TRANSLATE_NOOP("notices", "Free memory and try again"),
        _A.CHOOSE_FOLDER: QT_TRANSLATE_NOOP("notices", "Choose another folder…"),
        _A.EDIT: QT_TRANSLATE_NOOP("notices", "Change the settings"),
        _A.CHOOSE_CHECKPOINT: QT_TRANSLATE_NOOP("notices", "Choose a model…"),
        _A.ABOUT_CHECKPOINT: QT_TRANSLATE_NOOP("notices", "Say what it is…"),
        _A.CHOOSE_START_PICTURE: QT_TRANSLATE_NOOP("notices", "Choose a picture…"),
        _A.START_FROM: QT_TRANSLATE_NOOP("notices", "Start from it"),
        _A.OPEN_PICTURE: QT_TRANSLATE_NOOP("notices", "Choose another picture…"),
        _A.CHECK_DEVICES: QT_TRANSLATE_NOOP("notices", "Check the hardware again"),
        _A.FREE_SPACE: QT_TRANSLATE_NOOP("notices", "Clear the cache…"),
        _A.LORA_FOLDERS: QT_TRANSLATE_NOOP("notices", "LoRA folders…"),
        _A.RUNTIMES: QT_TRANSLATE_NOOP("notices", "Runtimes…"),
        _A.UPDATES: QT_TRANSLATE_NOOP("notices", "Check for updates…"),
        _A.SHOW_STATE: QT_TRANSLATE_NOOP("notices", "Show the folder"),
        _A.SHOW_SETTINGS: QT_TRANSLATE_NOOP("notices", "Show the folder"),
        _A.UNDO_CHANGE: QT_TRANSLATE_NOOP("notices", "Undo"),
        _A.MAKE_AGAIN: QT_TRANSLATE_NOOP("notices", "Make it again"),
        _A.UNDO_TRASH: QT_TRANSLATE_NOOP("notices", "Put back"),
        _A.CANCEL_ALL: QT_TRANSLATE_NOOP("notices", "Cancel all"),
        _A.RESUME: QT_TRANSLATE_NOOP("notices", "Resume"),
        _A.SHOW_PICTURES: QT_TRANSLATE_NOOP("notices", "Show"),
    }
)


def action_label(action: NoticeAction, commands: NoticeCommands, notice: Notice) -> str:
    """Return the text of an action's button; empty if the action is impossible."""
    match action:
        case NoticeAction.RETRY_SMALLER:
            return _smaller(commands.smaller_sizes(notice))
        case NoticeAction.RETRY_ON_ANOTHER:
            return _on_another(commands, notice)
        case NoticeAction.FIND_CHECKPOINT:
            missing = commands.missing_checkpoint(notice)
            return translate("notices", "Find the file…") if missing is not None else ""
        case NoticeAction.CHOOSE_CHECKPOINT if not commands.is_about_checkpoint(notice):
            return ""
        case NoticeAction.SUPPLY_PARTS:
            files = fitting_files(notice)
            if not files:
                return translate("notices", "Choose a file with it…")
            text = translate("notices", "Use {name}")
            return text.format(name=_unmarked(_shortened(Path(files[0].path).name)))
        case _:
            return translate("notices", str(_TEXTS[action]))


def _smaller(sizes: frozenset[tuple[int, int]]) -> str:
    if len(sizes) > 1:
        return translate("notices", "Try smaller sizes")
    text = translate("notices", "Try {size}")
    return "".join(text.format(size=size_label(*size)) for size in sizes)


def _on_another(commands: NoticeCommands, notice: Notice) -> str:
    device = commands.other_device(notice)
    if device is None:
        return ""
    if device.name == commands.failed_hardware:
        # The same hardware by another runtime.
        return translate("notices", "Make it with {runtime}").format(
            runtime=_unmarked(device.title or device.backend)
        )
    name = _unmarked(short_device_name(device))
    return translate("notices", "Make it on {device}").format(device=name)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _unmarked(name: str) -> str:
    """Return a name whose ampersands mark no key."""
    return name.replace("&", "&&")
