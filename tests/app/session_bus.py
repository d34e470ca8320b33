"""Programs on the bus of a session."""

import ctypes
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import Event, Thread

_WAIT_MS = 20


@contextmanager
def owner(address: str, name: str) -> Generator[None]:
    """Have a name on the bus while the block runs."""
    with _named(address, name):
        yield


@contextmanager
def _named(address: str, name: str) -> Generator[tuple[ctypes.CDLL, ctypes.c_void_p]]:
    """Return the library and a connection that has a name while the block runs."""
    library = ctypes.CDLL("libdbus-1.so.3")
    library.dbus_connection_open_private.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(library.dbus_connection_open_private(address.encode(), None))
    library.dbus_connection_set_exit_on_disconnect(connection, 0)
    assert library.dbus_bus_register(connection, None)
    # 1 is DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER.
    assert library.dbus_bus_request_name(connection, name.encode(), 0, None) == 1
    yield library, connection
    library.dbus_connection_close(connection)
    library.dbus_connection_unref(connection)


class Desktop:
    """A program that is asked to keep the computer awake, and notes who asked and with what."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        # The name of each that asked on the bus, its texts and its numbers.
        self.asked: list[tuple[str, tuple[str | int, ...]]] = []
        self._over = Event()

    @contextmanager
    def on(self, address: str, name: str) -> Generator[None]:
        """Be on the bus under this name while the block runs."""
        with _named(address, name) as (library, connection):
            thread = Thread(target=self._listen, args=(library, connection))
            thread.start()
            try:
                yield
            finally:
                self._over.set()
                thread.join()

    def _listen(self, library: ctypes.CDLL, connection: ctypes.c_void_p) -> None:
        library.dbus_connection_pop_message.restype = ctypes.c_void_p
        library.dbus_message_get_sender.restype = ctypes.c_char_p
        while not self._over.is_set():
            library.dbus_connection_read_write(connection, _WAIT_MS)
            while popped := library.dbus_connection_pop_message(connection):
                message = ctypes.c_void_p(popped)
                interface = self._interface.encode()
                if library.dbus_message_is_method_call(message, interface, b"Inhibit"):
                    sender = library.dbus_message_get_sender(message).decode()
                    self.asked.append((sender, tuple(_arguments(library, message))))
                library.dbus_message_unref(message)


def _arguments(library: ctypes.CDLL, message: ctypes.c_void_p) -> Iterator[str | int]:
    place = ctypes.create_string_buffer(128)  # DBusMessageIter, whose size is at most that
    more = library.dbus_message_iter_init(message, place)
    while more:
        if library.dbus_message_iter_get_arg_type(place) == ord("s"):
            text = ctypes.c_char_p()
            library.dbus_message_iter_get_basic(place, ctypes.byref(text))
            yield (text.value or b"").decode()
        else:
            number = ctypes.c_uint32()
            library.dbus_message_iter_get_basic(place, ctypes.byref(number))
            yield number.value
        more = library.dbus_message_iter_next(place)
