"""The display adapters that Windows lists at present, from DXCore through ctypes.

DXCore is part of Windows 10 2004 and later. Interfaces, the order of their methods and their
identifiers: dxcore_interface.h of Microsoft's DirectX-Headers. A method is called through the table
at the start of its object.
"""

import ctypes
import struct
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import msgspec

_FACTORY = UUID("78ee5945-c36e-4b13-a669-005dd11c0f06")
_LIST = UUID("526c7776-40e9-459b-b711-f32ad76dfc28")
_ADAPTER = UUID("f0db4c7f-fe5a-42a2-bd62-f2a6cf6fc83e")
# DXCore's attributes D3D11_GRAPHICS and D3D12_CORE_COMPUTE. Every adapter that computes has the
# second; adapters that only draw, and software adapters, have the first.
_GRAPHICS = UUID("8c47866b-7583-450d-f0f0-6bada895af4b")
_COMPUTE = UUID("248e2800-a793-4724-abaa-23a6de1be090")

# Positions in the objects' method tables; the first three methods are IUnknown's.
_RELEASE = 2
_CREATE_LIST = 3
_GET_ADAPTER, _ADAPTER_COUNT = 3, 4
_GET_PROPERTY, _PROPERTY_SIZE, _QUERY_STATE = 6, 7, 9

_VERSION, _DESCRIPTION, _HARDWARE_ID = 1, 2, 3
_DEDICATED, _SHARED, _IS_HARDWARE, _IS_INTEGRATED = 7, 9, 11, 12
_MEMORY_BUDGET = 1
_MOST_ADAPTERS, _MOST_BYTES = 64, 4096

_Pointer = ctypes.c_void_p


class DxcoreAdapter(msgspec.Struct, frozen=True):
    """An adapter's properties, sizes in bytes; None means that it lacks the property."""

    luid: bytes
    description: str
    vendor: int
    device: int
    driver_version: str
    dedicated: int
    shared: int
    hardware: bool
    integrated: bool | None
    # The system's budget of this process in the adapter's own memory, and its use of it now.
    budget: int | None = None
    usage: int | None = None


def read_dxcore() -> tuple[DxcoreAdapter, ...] | None:
    """Return the adapters of this machine; None if the system has no DXCore."""
    if sys.platform != "win32":
        return None
    try:
        library = ctypes.WinDLL("dxcore.dll")
    except OSError:
        return None
    factory = _Pointer()
    library.DXCoreCreateAdapterFactory.argtypes = (_Pointer, _Pointer)
    status = library.DXCoreCreateAdapterFactory(_guid(_FACTORY), ctypes.byref(factory))
    if status < 0 or not factory.value:
        return None
    with _released(factory):
        return adapters_of(factory)


def adapters_of(factory: ctypes.c_void_p) -> tuple[DxcoreAdapter, ...] | None:
    """Return every adapter that draws or computes, each once; None if no list can be read."""
    found: dict[bytes, DxcoreAdapter] = {}
    listed = False
    for attribute in (_GRAPHICS, _COMPUTE):
        adapters = _Pointer()
        create = _method(factory, _CREATE_LIST, ctypes.c_int32, ctypes.c_uint32, _Pointer, _Pointer)
        wanted, kind = _guid(attribute), _guid(_LIST)
        if create(1, _address(wanted), _address(kind), ctypes.byref(adapters)) < 0:
            continue
        listed = True
        with _released(adapters):
            for adapter in _each(adapters):
                found.setdefault(adapter.luid, adapter)
    return tuple(found.values()) if listed else None


def _each(adapters: ctypes.c_void_p) -> Iterator[DxcoreAdapter]:
    count = _method(adapters, _ADAPTER_COUNT, ctypes.c_uint32)()
    get = _method(adapters, _GET_ADAPTER, ctypes.c_int32, ctypes.c_uint32, _Pointer)
    kind = _guid(_ADAPTER)
    for index in range(min(count, _MOST_ADAPTERS)):
        adapter = _Pointer()
        if get(index, _address(kind), ctypes.byref(adapter)) < 0:
            continue
        with _released(adapter):
            yield _properties(adapter)


def _properties(adapter: ctypes.c_void_p) -> DxcoreAdapter:
    vendor, device, _, _ = struct.unpack("=IIII", _property(adapter, _HARDWARE_ID, 16))
    version = struct.unpack("=HHHH", _property(adapter, _VERSION, 8))
    integrated = _property(adapter, _IS_INTEGRATED, 1, default=b"?")
    budget, usage = _budget(adapter)
    return DxcoreAdapter(
        luid=_property(adapter, 0, 8),
        description=_text(adapter),
        vendor=vendor,
        device=device,
        # Least significant part first.
        driver_version=".".join(str(part) for part in reversed(version)),
        dedicated=struct.unpack("=Q", _property(adapter, _DEDICATED, 8))[0],
        shared=struct.unpack("=Q", _property(adapter, _SHARED, 8))[0],
        hardware=_property(adapter, _IS_HARDWARE, 1) != b"\0",
        integrated=None if integrated == b"?" else integrated != b"\0",
        budget=budget,
        usage=usage,
    )


def _property(
    adapter: ctypes.c_void_p, number: int, size: int, default: bytes | None = None
) -> bytes:
    """Return a property of a known size; zeros, or the default, if the adapter lacks it."""
    get = _method(adapter, _GET_PROPERTY, ctypes.c_int32, ctypes.c_uint32, ctypes.c_size_t)
    value = ctypes.create_string_buffer(size)
    failed = get(number, size, ctypes.byref(value)) < 0
    return (default or b"\0" * size) if failed else value.raw


def _text(adapter: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    ask = _method(adapter, _PROPERTY_SIZE, ctypes.c_int32, ctypes.c_uint32)
    if ask(_DESCRIPTION, ctypes.byref(size)) < 0 or not 0 < size.value <= _MOST_BYTES:
        return ""
    text = _property(adapter, _DESCRIPTION, size.value)
    return text.partition(b"\0")[0].decode(errors="replace")


def _budget(adapter: ctypes.c_void_p) -> tuple[int | None, int | None]:
    """Return budget and usage of the first node's own memory."""
    query = _method(
        adapter,
        _QUERY_STATE,
        ctypes.c_int32,
        ctypes.c_uint32,
        ctypes.c_size_t,
        _Pointer,
        ctypes.c_size_t,
    )
    wanted, answer = ctypes.create_string_buffer(8), ctypes.create_string_buffer(32)
    if query(_MEMORY_BUDGET, 8, _address(wanted), 32, ctypes.byref(answer)) < 0:
        return None, None
    budget, usage = struct.unpack_from("=QQ", answer.raw)
    return budget, usage


@contextmanager
def _released(reference: ctypes.c_void_p) -> Generator[None]:
    try:
        yield
    finally:
        _method(reference, _RELEASE, ctypes.c_uint32)()


def _method(reference: ctypes.c_void_p, place: int, result: Any, *arguments: Any) -> Any:
    """Return the COM method at position `place`; an out pointer may follow its arguments."""
    table = ctypes.cast(reference, ctypes.POINTER(_Pointer))[0]
    address = ctypes.cast(table, ctypes.POINTER(_Pointer))[place]
    # On 64-bit systems COM's calling convention is C's.
    shape = (_Pointer, *arguments)

    def call(*values: Any) -> Any:
        kinds = shape + (_Pointer,) * (len(values) - len(arguments))
        return ctypes.CFUNCTYPE(result, *kinds)(address)(reference, *values)

    return call


def _guid(value: UUID) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(value.bytes_le, 16)


def _address(buffer: ctypes.Array[ctypes.c_char]) -> ctypes.c_void_p:
    return ctypes.cast(buffer, _Pointer)
