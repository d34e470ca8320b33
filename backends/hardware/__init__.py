"""The hardware of this machine, read from the operating system without any vendor's SDK."""

from backends.hardware.adapter import Adapter, PciId, of_maker
from backends.hardware.host import (
    core_cache_bytes,
    cpu_cores,
    cpu_name,
    host_memory,
    private_bytes,
)
from backends.hardware.listing import list_adapters
from backends.hardware.opinions import second_opinions
from backends.hardware.processor_use import ProcessorTimes, processor_times
from backends.hardware.reading import closed_reason, rocm_closed_reason
from backends.hardware.visible import visible_cards, with_hidden

__all__ = [
    "Adapter",
    "PciId",
    "ProcessorTimes",
    "closed_reason",
    "core_cache_bytes",
    "cpu_cores",
    "cpu_name",
    "host_memory",
    "list_adapters",
    "of_maker",
    "private_bytes",
    "processor_times",
    "rocm_closed_reason",
    "second_opinions",
    "visible_cards",
    "with_hidden",
]
