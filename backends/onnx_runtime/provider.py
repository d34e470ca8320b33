"""An execution provider of ONNX Runtime, and how to ask for it."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# (the runtime ships no complete types)

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime as ort

CPU = "CPUExecutionProvider"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider built into the wheel, or one of a plug-in, which lists `devices`."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    # Those of a plug-in that the session is to run on; empty for providers built into the wheel.
    devices: "tuple[ort.OrtEpDevice, ...]" = ()
    # Entries of the session's configuration.
    config: Mapping[str, str] = field(default_factory=dict[str, str])
