"""The bus of a Linux desktop's session: who is on it."""

import ctypes
from collections.abc import Mapping
from pathlib import Path

# D-Bus's reference implementation, which Qt loads, too.
_LIBRARY = "libdbus-1.so.3"


def bus_address(variables: Mapping[str, str]) -> str:
    """Return the address of the session's bus; empty if there is none."""
    usual = Path(variables.get("XDG_RUNTIME_DIR", "/nonexistent")) / "bus"
    told = variables.get("DBUS_SESSION_BUS_ADDRESS", "")
    return told or (f"unix:path={usual}" if usual.exists() else "")


def has_owner(address: str, name: str) -> bool:
    """Return True if a program on the bus has a name; it is not started if none has.

    False also where the bus cannot be reached.
    """
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    library.dbus_connection_open_private.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(library.dbus_connection_open_private(address.encode(), None))
    if not connection:
        return False
    library.dbus_connection_set_exit_on_disconnect(connection, 0)
    try:
        is_on_bus = bool(library.dbus_bus_register(connection, None))
        return is_on_bus and library.dbus_bus_name_has_owner(connection, name.encode(), None) == 1
    finally:
        library.dbus_connection_close(connection)
        library.dbus_connection_unref(connection)
