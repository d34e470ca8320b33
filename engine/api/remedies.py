"""The remedies for a failure, as values; the window and the command line put them into words.

A remedy has a type here if the two need different words for it. Advice that reads the same in
both is the `hint` of an `ErrorInfo`.
"""

from typing import TypeAlias

import msgspec


class _Remedy(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The base of all remedies; the class name is the tag on the wire and in the journal."""


class ChooseFolder(_Remedy, frozen=True):
    """Save pictures to another folder."""


class MoveKept(_Remedy, frozen=True):
    """Move the finished picture from the file that it was kept in to another folder."""

    path: str


class SaveHeld(_Remedy, frozen=True):
    """Save the finished picture, which the app holds in memory, to another folder."""


class ChooseCheckpoint(_Remedy, frozen=True):
    """Choose the checkpoint."""


class ChooseStartPicture(_Remedy, frozen=True):
    """Choose the picture to start from."""


class StartFrom(_Remedy, frozen=True):
    """Start from this picture, whose settings are not known."""

    path: str


class InvertMask(_Remedy, frozen=True):
    """Swap the painted and the kept area of the mask."""


class MakeSmaller(_Remedy, frozen=True):
    """Ask for a smaller picture than the given size in pixels; None if it is not known.

    `fitting` is the width and height of the largest that fits, where that is known.
    """

    width: int | None = None
    height: int | None = None
    fitting: tuple[int, int] | None = None


class RaiseMemoryLimit(_Remedy, frozen=True):
    """Raise the memory limit of the request."""


class FreeCache(_Remedy, frozen=True):
    """Clear what is kept in the cache, or keep that on another disk."""


class UseAnyDevice(_Remedy, frozen=True):
    """Let Safelight choose the device."""


class UseAnotherDevice(_Remedy, frozen=True):
    """Name another backend."""


class CheckDevices(_Remedy, frozen=True):
    """Repeat the trial of every device and forget earlier failures."""


class InstallPack(_Remedy, frozen=True):
    """Install the runtime pack that a device needs, by its id in installers/packs.toml."""

    pack: str


class PartFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file with a part of a checkpoint; `component` is a field name of `ComponentFiles`."""

    component: str
    path: str


class SupplyParts(_Remedy, frozen=True):
    """Take missing parts from other files: each from a file of the part or another checkpoint.

    `components` are field names of `ComponentFiles`; `files` are the user's best fitting files,
    at most one for each part.
    """

    components: tuple[str, ...]
    files: tuple[PartFile, ...] = ()


class UseAsPart(_Remedy, frozen=True):
    """Choose a checkpoint, and use this file, which is none, as one of these parts of it."""

    components: tuple[str, ...]


class DeclareFamily(_Remedy, frozen=True):
    """Declare the family of a file whose content fits several."""

    families: tuple[str, ...]


class DeclareControlKind(_Remedy, frozen=True):
    """Say what the map of a control layer shows: one of these kinds."""

    kinds: tuple[str, ...]


class NameLoraFolder(_Remedy, frozen=True):
    """Name the folder that a LoRA's file is in."""


Remedy: TypeAlias = (
    ChooseFolder
    | MoveKept
    | SaveHeld
    | ChooseCheckpoint
    | ChooseStartPicture
    | StartFrom
    | InvertMask
    | MakeSmaller
    | RaiseMemoryLimit
    | FreeCache
    | UseAnyDevice
    | UseAnotherDevice
    | CheckDevices
    | InstallPack
    | SupplyParts
    | UseAsPart
    | DeclareFamily
    | DeclareControlKind
    | NameLoraFolder
)
