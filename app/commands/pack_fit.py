"""The packs that suit a machine, by its graphics cards, and their order of preference."""

from PySide6.QtCore import QCoreApplication

from app.notices.wording import worded_reason
from app.packs.catalogue import Pack
from engine.api.machine import AdapterInfo, MachineInfo

translate = QCoreApplication.translate

# The backend of a pack that any processor of the catalogue's platform runs.
_FOR_PROCESSORS = "intel_openvino"
# Builds of PyTorch are one backend, and each is for the cards of one maker.
_MAKERS = {
    "torch-cuda": "NVIDIA",
    "torch-rocm": "AMD",
    "torch-xpu": "Intel",
    "torch-mps": "Apple",
}
_LAST = 1000


def unfit_reason(pack: Pack, machine: MachineInfo | None) -> str:
    """Return why a pack cannot help this machine; empty if it may, or the machine is unknown."""
    if pack.unavailable:
        return worded_reason(translate("packs", pack.unavailable))
    if machine is None or _FOR_PROCESSORS in pack.backends or _rank(pack, machine) < _LAST:
        return ""
    return translate("packs", "This computer has no graphics card for it.")


def preference(pack: Pack, machine: MachineInfo | None) -> int:
    """Return a number that is lower the better a pack suits the machine."""
    return _LAST if machine is None else _rank(pack, machine)


def _rank(pack: Pack, machine: MachineInfo) -> int:
    ranks = (
        card.backends.index(backend)
        for card in machine.adapters
        for backend in pack.backends
        if backend in card.backends and _is_for(pack, card)
    )
    return min(ranks, default=_LAST)


def _is_for(pack: Pack, card: AdapterInfo) -> bool:
    return _MAKERS.get(pack.id, card.vendor) == card.vendor
