"""Programs on the bus of a session."""

import ctypes
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def owner(address: str, name: str) -> Generator[None]:
    """Have a name on the bus while the block runs."""
    library = ctypes.CDLL("libdbus-1.so.3")
    library.dbus_connection_open_private.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(library.dbus_connection_open_private(address.encode(), None))
    library.dbus_connection_set_exit_on_disconnect(connection, 0)
    assert library.dbus_bus_register(connection, None)
    # 1 is DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER.
    assert library.dbus_bus_request_name(connection, name.encode(), 0, None) == 1
    yield
    library.dbus_connection_close(connection)
    library.dbus_connection_unref(connection)
