"""Descriptions of the machine's hardware in the user's language."""

from PySide6.QtCore import QCoreApplication

from engine.api.machine import AdapterInfo, MachineInfo
from ui.labels import file_size

translate = QCoreApplication.translate


def processor_words(machine: MachineInfo) -> str:
    """Return the processor and the memory."""
    memory = file_size(machine.memory_total_bytes)
    return " · ".join(
        (machine.processor, translate("machine", "{size} of memory").format(size=memory))
    )


def adapter_words(adapter: AdapterInfo) -> str:
    """Return a graphics card with its memory and driver, or why it cannot be used."""
    parts = [adapter.name]
    if adapter.integrated:
        parts.append(translate("machine", "shares the computer's memory"))
    elif adapter.memory_total_bytes is not None:
        parts.append(file_size(adapter.memory_total_bytes))
    driver = " ".join(filter(None, (adapter.driver, adapter.driver_version)))
    if driver:
        parts.append(translate("machine", "driver {name}").format(name=driver))
    if adapter.unusable:
        text = translate("machine", "not for pictures: {reason}")
        parts.append(text.format(reason=adapter.unusable))
    return " · ".join(parts)
