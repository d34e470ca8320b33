"""The remedies for a failure, as values: the window and the command line word them.

A remedy is here where it is done differently in the two. A sentence that is true in both is the
hint of an `ErrorInfo`.
"""

from typing import TypeAlias

import msgspec


class _Remedy(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The type is the code: its name is the tag on the wire and in the journal."""


class ChooseFolder(_Remedy, frozen=True):
    """Save pictures to another folder."""


class ChooseCheckpoint(_Remedy, frozen=True):
    """Say which checkpoint is used."""


class ChooseStartPicture(_Remedy, frozen=True):
    """Say which picture is redrawn."""


class InvertMask(_Remedy, frozen=True):
    """Exchange what a mask paints and what it keeps."""


class MakeSmaller(_Remedy, frozen=True):
    """Ask for a smaller picture; what was too large, in pixels, where that is known."""

    width: int | None = None
    height: int | None = None


class RaiseMemoryLimit(_Remedy, frozen=True):
    """Allow more memory than was allowed."""


class UseAnyDevice(_Remedy, frozen=True):
    """Leave it to Safelight which device computes."""


class UseAnotherDevice(_Remedy, frozen=True):
    """Name another backend."""


class CheckDevices(_Remedy, frozen=True):
    """Have every device tried again, and forget which ones failed."""


class InstallPackages(_Remedy, frozen=True):
    """Install what a device needs, by the names that packages have on PyPI.

    "torch" is meant in the build for this machine's hardware.
    """

    packages: tuple[str, ...]


class PartFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that holds a part of a checkpoint; `component` as in `ComponentFiles`."""

    component: str
    path: str


class SupplyParts(_Remedy, frozen=True):
    """Take these parts from other files: a file of such a part alone, or any checkpoint with it.

    `components` as in `ComponentFiles`; `files` are the person's own that fit best, one for each
    part that is held by any.
    """

    components: tuple[str, ...]
    files: tuple[PartFile, ...] = ()


class UseAsPart(_Remedy, frozen=True):
    """Choose a checkpoint, and take one of these parts of it from this file."""

    components: tuple[str, ...]


class DeclareFamily(_Remedy, frozen=True):
    """Say of which family a file is, where its content leaves that open."""

    families: tuple[str, ...]


Remedy: TypeAlias = (
    ChooseFolder
    | ChooseCheckpoint
    | ChooseStartPicture
    | InvertMask
    | MakeSmaller
    | RaiseMemoryLimit
    | UseAnyDevice
    | UseAnotherDevice
    | CheckDevices
    | InstallPackages
    | SupplyParts
    | UseAsPart
    | DeclareFamily
)
