"""The bus of a Linux desktop's session: who is on it, and what they are asked."""

import ctypes
from collections.abc import Mapping
from pathlib import Path

import msgspec

# D-Bus's reference implementation, which Qt loads, too.
_LIBRARY = "libdbus-1.so.3"
# The types of arguments, as D-Bus writes them, and what ends a list of these.
_TEXT, _NUMBER, _END = ord("s"), ord("u"), 0


class BusCall(msgspec.Struct, frozen=True):
    """A question to a program on the bus; its numbers are unsigned and have 32 bits."""

    name: str
    path: str
    interface: str
    method: str
    arguments: tuple[str | int, ...] = ()


class BusConnection:
    """A connection to the bus. Once it is closed, desktops undo what was asked over it."""

    def __init__(self, address: str) -> None:
        """Raises OSError where the bus cannot be reached."""
        self._library = library = ctypes.CDLL(_LIBRARY)
        library.dbus_connection_open_private.restype = ctypes.c_void_p
        library.dbus_message_new_method_call.restype = ctypes.c_void_p
        opened = library.dbus_connection_open_private(address.encode(), None)
        if not opened:
            raise OSError(f"no bus at {address}")
        self._connection = ctypes.c_void_p(opened)
        library.dbus_connection_set_exit_on_disconnect(self._connection, 0)
        if not library.dbus_bus_register(self._connection, None):
            self.close()
            raise OSError(f"the bus at {address} does not answer")

    def has_owner(self, name: str) -> bool:
        """Return True if a program on the bus has a name; it is not started if none has."""
        found = self._library.dbus_bus_name_has_owner(self._connection, name.encode(), None)
        return found == 1

    def send(self, call: BusCall) -> None:
        """Ask a program something, without waiting for its answer."""
        library = self._library
        target = (call.name, call.path, call.interface, call.method)
        made = library.dbus_message_new_method_call(*(text.encode() for text in target))
        message = ctypes.c_void_p(made)
        listed: list[object] = []
        for value in call.arguments:
            if isinstance(value, str):
                listed += [_TEXT, ctypes.byref(ctypes.c_char_p(value.encode()))]
            else:
                listed += [_NUMBER, ctypes.byref(ctypes.c_uint32(value))]
        library.dbus_message_append_args(message, *listed, _END)
        library.dbus_message_set_auto_start(message, 0)
        library.dbus_message_set_no_reply(message, 1)
        library.dbus_connection_send(self._connection, message, None)
        library.dbus_connection_flush(self._connection)
        library.dbus_message_unref(message)

    def close(self) -> None:
        """Leave the bus."""
        self._library.dbus_connection_close(self._connection)
        self._library.dbus_connection_unref(self._connection)


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
        connection = BusConnection(address)
    except OSError:
        return False
    try:
        return connection.has_owner(name)
    finally:
        connection.close()
