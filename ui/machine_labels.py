"""Descriptions of the machine's hardware in the user's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.engine.machine_use import idle_adapter, used_adapter
from app.notices.wording import worded_reason
from engine.api.machine import AdapterInfo, DeviceInfo, MachineInfo
from ui.labels import duration, file_size

translate = QCoreApplication.translate
# A sentence names so many graphics cards.
_MOST_CARDS = 2
# Below it an estimate is less than what reading a model and saving a picture take.
_FEW_SECONDS = 3.0


def processor_words(machine: MachineInfo) -> str:
    """Return the processor and the memory."""
    memory = _round_size(machine.memory_total_bytes)
    return " · ".join(
        (machine.processor, translate("machine", "{size} of memory").format(size=memory))
    )


def adapter_words(adapter: AdapterInfo) -> str:
    """Return a graphics card with its memory and driver, or why it cannot be used."""
    parts = [adapter.name]
    if adapter.integrated:
        parts.append(translate("machine", "shares the computer's memory"))
    elif adapter.memory_total_bytes is not None:
        parts.append(_round_size(adapter.memory_total_bytes))
    driver = " ".join(filter(None, (adapter.driver, adapter.driver_version)))
    if driver:
        parts.append(translate("machine", "driver {name}").format(name=driver))
    if adapter.unusable:
        text = translate("machine", "not for pictures: {reason}")
        parts.append(text.format(reason=worded_reason(adapter.unusable)))
    return " · ".join(parts)


def found_words(machine: MachineInfo, memory_free: int | None, disk_free: int | None) -> str:
    """Return a sentence on the hardware that was found, with the memory and the disk's room."""
    cards = [adapter for adapter in machine.adapters if not adapter.unusable]
    parts = [_card_words(card) for card in cards[:_MOST_CARDS]]
    if not parts:
        parts.append(machine.processor or translate("machine", "a processor"))
    memory = translate("machine", "{size} of memory").format(
        size=_round_size(machine.memory_total_bytes)
    )
    # 0 where the system does not say it.
    if memory_free:
        text = translate("machine", "{size} of memory ({free} free)")
        memory = text.format(
            size=_round_size(machine.memory_total_bytes), free=_round_size(memory_free)
        )
    parts.append(memory)
    if disk_free is not None:
        parts.append(
            translate("machine", "{size} free on the disk").format(size=_round_size(disk_free))
        )
    return translate("machine", "Found: {things}.").format(things=", ".join(parts))


def device_sentence(machine: MachineInfo, device: DeviceInfo | None) -> str:
    """Return a sentence on whether a graphics card makes the pictures."""
    if device is None:
        return translate("machine", "Nothing here can make pictures yet.")
    used = used_adapter(machine, device)
    if used is not None:
        text = translate("machine", "Your graphics card {name} is used.")
        if used.integrated:
            text = translate("machine", "The graphics of your processor, {name}, are used.")
        return text.format(name=used.name)
    idle = idle_adapter(machine, device)
    if idle is not None:
        text = translate("machine", "Your graphics card {name} is not used yet.")
        return text.format(name=idle.name)
    return translate("machine", "There is no graphics card to use: the processor makes pictures.")


def picture_time(seconds: float) -> str:
    """Return a sentence on the time of a picture."""
    if seconds < _FEW_SECONDS:
        return translate("machine", "A picture takes a few seconds.")
    return translate("machine", "A picture takes about {time}.").format(time=duration(seconds))


def _card_words(card: AdapterInfo) -> str:
    if card.integrated or card.memory_total_bytes is None:
        return card.name
    text = translate("machine", "{name} with {size}")
    return text.format(name=card.name, size=_round_size(card.memory_total_bytes))


def _round_size(size: int) -> str:
    """Return bytes in whole gigabytes from two on, as people know their hardware."""
    if size >= 2 << 30:
        return translate("machine", "{n} GB").format(n=QLocale().toString(round(size / (1 << 30))))
    return file_size(size)
