"""The base of the messages between app and engine."""

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The base of every message: immutable, with its class name as tag."""
