"""DXCore, played by objects whose tables of methods are in the order of dxcore_interface.h."""

import ctypes
import struct
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from backends.hardware import dxcore
from backends.hardware.dxcore import DxcoreAdapter

_FAILED = -2147467259  # E_FAIL
_GRAPHICS = UUID("8c47866b-7583-450d-f0f0-6bada895af4b")
_COMPUTE = UUID("248e2800-a793-4724-abaa-23a6de1be090")
_U32, _SIZE, _PLACE = ctypes.c_uint32, ctypes.c_size_t, ctypes.c_void_p


class Com:
    """A COM object: its first word points to a table of functions. Counts its releases."""

    def __init__(self, methods: Sequence[Any]) -> None:
        self.released = 0
        self._keep = [method or ctypes.CFUNCTYPE(ctypes.c_int32)() for method in self._unknown()]
        self._keep += [method or ctypes.CFUNCTYPE(ctypes.c_int32)() for method in methods]
        addresses = [ctypes.cast(method, _PLACE).value or 0 for method in self._keep]
        self._table = (_PLACE * len(addresses))(*addresses)
        self._object = _PLACE(ctypes.addressof(self._table))
        self.place = ctypes.addressof(self._object)

    def _unknown(self) -> list[Any]:
        def release(_this: int) -> int:
            self.released += 1
            return 0

        return [None, None, ctypes.CFUNCTYPE(_U32, _PLACE)(release)]

    def give(self, place: int) -> int:
        ctypes.memmove(place, struct.pack("=Q", self.place), 8)
        return 0


def adapter(properties: Mapping[int, bytes], budget: bytes | None = None) -> Com:
    def get(_this: int, number: int, size: int, place: int) -> int:
        value = properties.get(number)
        if value is None or len(value) != size:
            return _FAILED
        ctypes.memmove(place, value, size)
        return 0

    def size_of(_this: int, number: int, place: int) -> int:
        ctypes.memmove(place, struct.pack("=Q", len(properties[number])), 8)
        return 0

    def query(_this: int, state: int, given: int, details: int, size: int, place: int) -> int:
        assert (state, given, size) == (1, 8, 32)
        assert ctypes.string_at(details, 8) == bytes(8)  # node 0, local memory
        if budget is None:
            return _FAILED
        ctypes.memmove(place, budget, size)
        return 0

    result = ctypes.c_int32
    return Com(
        [
            None,  # IsValid
            None,  # IsAttributeSupported
            None,  # IsPropertySupported
            ctypes.CFUNCTYPE(result, _PLACE, _U32, _SIZE, _PLACE)(get),
            ctypes.CFUNCTYPE(result, _PLACE, _U32, _PLACE)(size_of),
            None,  # IsQueryStateSupported
            ctypes.CFUNCTYPE(result, _PLACE, _U32, _SIZE, _PLACE, _SIZE, _PLACE)(query),
        ]
    )


def listed(adapters: Sequence[Com]) -> Com:
    def get(_this: int, index: int, _kind: int, place: int) -> int:
        return adapters[index].give(place)

    def count(_this: int) -> int:
        return len(adapters)

    return Com(
        [
            ctypes.CFUNCTYPE(ctypes.c_int32, _PLACE, _U32, _PLACE, _PLACE)(get),
            ctypes.CFUNCTYPE(_U32, _PLACE)(count),
        ]
    )


def factory(lists: Mapping[UUID, Com]) -> Com:
    def create(_this: int, count: int, wanted: int, _kind: int, place: int) -> int:
        assert count == 1
        found = lists.get(UUID(bytes_le=ctypes.string_at(wanted, 16)))
        return found.give(place) if found else _FAILED

    return Com([ctypes.CFUNCTYPE(ctypes.c_int32, _PLACE, _U32, _PLACE, _PLACE, _PLACE)(create)])


def card() -> Com:
    return adapter(
        {
            0: struct.pack("=Q", 0x1234),
            # 32.0.15.6094, the least significant part first
            1: struct.pack("=HHHH", 6094, 15, 0, 32),
            2: b"NVIDIA GeForce RTX 4060 Laptop GPU\0",
            3: struct.pack("=IIII", 0x10DE, 0x28E0, 0x1A58, 0xA1),
            7: struct.pack("=Q", 7957 << 20),
            9: struct.pack("=Q", 16230 << 20),
            11: b"\1",
            12: b"\0",
        },
        struct.pack("=QQQQ", 7000 << 20, 100 << 20, 0, 0),
    )


CARD = DxcoreAdapter(
    luid=struct.pack("=Q", 0x1234),
    description="NVIDIA GeForce RTX 4060 Laptop GPU",
    vendor=0x10DE,
    device=0x28E0,
    driver_version="32.0.15.6094",
    dedicated=7957 << 20,
    shared=16230 << 20,
    hardware=True,
    integrated=False,
    budget=7000 << 20,
    usage=100 << 20,
)


def test_an_adapter_that_draws_and_computes_is_listed_once() -> None:
    both = card()
    lists = {_GRAPHICS: listed([both]), _COMPUTE: listed([both])}
    top = factory(lists)
    assert dxcore.adapters_of(_PLACE(top.place)) == (CARD,)
    assert both.released == 2
    assert [adapter_list.released for adapter_list in lists.values()] == [1, 1]


def test_a_property_that_an_adapter_lacks_is_zero_or_unknown() -> None:
    software = adapter({0: bytes(8), 2: b"Microsoft Basic Render Driver\0", 11: b"\0"})
    top = factory({_GRAPHICS: listed([software])})
    assert dxcore.adapters_of(_PLACE(top.place)) == (
        DxcoreAdapter(
            luid=bytes(8),
            description="Microsoft Basic Render Driver",
            vendor=0,
            device=0,
            driver_version="0.0.0.0",
            dedicated=0,
            shared=0,
            hardware=False,
            integrated=None,
        ),
    )


def test_a_missing_list_is_none_and_not_empty() -> None:
    assert dxcore.adapters_of(_PLACE(factory({}).place)) is None
    assert dxcore.adapters_of(_PLACE(factory({_COMPUTE: listed([])}).place)) == ()
