"""The engine's description of its machine: devices, and the files it keeps on the disk."""

import msgspec

from engine.api.values import ArtifactKind


class AdapterInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A display adapter; empty texts and None mean that the system does not report the value.

    `pci` is maker and model, such as "10de:2684". `architecture` is "sm_89" or "gfx1103".
    `backends` are those that may use it, the preferred first; `unusable` is the reason why none can
    compute on the adapter, else empty.
    """

    vendor: str
    name: str
    pci: str = ""
    memory_total_bytes: int | None = None
    driver: str = ""
    driver_version: str = ""
    integrated: bool | None = None
    architecture: str = ""
    backends: tuple[str, ...] = ()
    unusable: str = ""


class MachineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The hardware of this machine, whether or not a backend can use it."""

    processor: str
    memory_total_bytes: int
    adapters: tuple[AdapterInfo, ...] = ()


class PrecisionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A device's measurements in one precision: the median time of its runs, and its error.

    `difference` is the L2 distance from the cpu backend's float32 result, divided by the norm of
    that result. `problem` is the reason not to use the device in this precision, else empty.
    """

    precision: str
    milliseconds: float = 0.0
    difference: float = 0.0
    problem: str = ""


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A device as one backend sees it; `unusable` is the reason it cannot be used, else empty.

    `install` names the runtime packs, the best first, any of which would make it usable; none where
    something else is missing.
    `checked` is True if the device has had its trial run, and `verdict` is a sentence on the
    result. `failure` is the reason why a job had to move to another device. `disturbed`: its times
    were measured while the computer was busy, and will be measured again. A device that was never
    probed, because probing might crash the process, has only the backend's name.
    """

    backend: str
    name: str
    precisions: tuple[str, ...]
    # True if "auto" may choose the device.
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
    disturbed: bool = False


class PackVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a runtime pack's trial in a process of its own.

    `sentence` says how its devices did, that it starts and finds none, or why it does not work.
    """

    works: bool
    sentence: str


class ArtifactInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact in the cache, which can be rebuilt; `last_used` is in seconds since 1970.

    `network` and `checkpoint`, its sources, are empty if unknown; `device` is empty if the
    artifact serves every device.
    """

    name: str
    kind: ArtifactKind
    bytes: int
    last_used: float
    network: str = ""
    checkpoint: str = ""
    device: str = ""


class MemoryOutlook(msgspec.Struct, frozen=True, kw_only=True):
    """The memory plan of a job on the device that "auto" takes, in bytes of the memory it uses.

    `peak_bytes` is the estimated peak, `budget_bytes` the part of the free memory that may be used.
    `stays_loaded`: the networks stay loaded for the next job. `takes_turns`: denoiser and VAE are
    loaded one after the other. `tiles`: the VAE works in tiles. The bits are those of the weights
    of large layers, 16 where none are rounded. `streams`: weights that do not fit the device are
    copied to it in each run.
    """

    device: str
    peak_bytes: int
    budget_bytes: int
    stays_loaded: bool = False
    takes_turns: bool = False
    tiles: bool = False
    text_encoder_bits: int = 16
    denoiser_bits: int = 16
    streams: bool = False
