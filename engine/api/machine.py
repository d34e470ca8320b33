"""The engine's description of its machine: devices, and the files it keeps on the disk."""

import msgspec

from engine.api.values import ArtifactKind


class PrecisionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A device's figures in one precision: the median of its runs, and its error.

    `difference` is relative to the length of the cpu backend's float32 result. `problem` is the
    reason not to use the device in this precision, empty where it is right.
    """

    precision: str
    milliseconds: float = 0.0
    difference: float = 0.0
    problem: str = ""


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A device as one backend sees it; `unusable` is the reason it cannot be used, else empty.

    `install` names the packages on PyPI that would change that, where some are all that is missing.
    `verdict` says in a sentence how it did when it was run, `checked` whether it was; `failure`
    why a job had to go on elsewhere. Of what was never looked at, in case it takes the whole
    process with it, there is only the backend's name.
    """

    backend: str
    name: str
    precisions: tuple[str, ...]
    # Whether "auto" may choose it.
    automatic: bool
    runtime: str
    memory_total_bytes: int
    memory_free_bytes: int
    unusable: str = ""
    install: tuple[str, ...] = ()
    title: str = ""
    checked: bool = True
    figures: tuple[PrecisionFigures, ...] = ()
    verdict: str = ""
    failure: str = ""


class ArtifactInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Something in the cache that can be made again; `last_used` in seconds since 1970.

    What it was made of is empty where it is not known, `device` where it serves every one.
    """

    name: str
    kind: ArtifactKind
    bytes: int
    last_used: float
    network: str = ""
    checkpoint: str = ""
    device: str = ""
