"""An execution provider of ONNX Runtime, with its options."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# (the runtime ships no complete types)

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import onnxruntime as ort

CPU = "CPUExecutionProvider"


class Provider(msgspec.Struct, frozen=True):
    """A provider built into the wheel, or one of a plug-in, with its `devices`."""

    name: str
    options: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    # The plug-in's devices for the session; empty for providers built into the wheel.
    devices: "tuple[ort.OrtEpDevice, ...]" = ()
    # Entries of the session's configuration.
    config: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
