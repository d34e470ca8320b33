"""The accelerators that torch has here, or why there is none."""

from backends.base import Device
from backends.torch_device import TorchBackend

_SEEN = TorchBackend().probe()
ACCELERATORS: tuple[Device, ...] = tuple(d for d in _SEEN if d.id != "cpu" and d.usable)
REASON = "; ".join(d.unusable for d in _SEEN if d.unusable) or (
    f"{TorchBackend().fingerprint(_SEEN[-1])} has no accelerator here"
)
