"""A row of the table of keys."""

import msgspec

from ui.key_scopes import Scope


class Entry(msgspec.Struct, frozen=True):
    """The words, the keys and the scope of an action."""

    text: object
    key: str
    scope: Scope = Scope.WINDOW
    # Further keys, which are not shown beside the words.
    also: tuple[str, ...] = ()
    # The key on a Mac where `key` is the system's there, or not on its keyboards. Ctrl is ⌘.
    on_mac: str = ""
    # The further keys on a Mac, where they are others.
    also_on_mac: tuple[str, ...] | None = None
    # The action goes on while its key is held; of the others one press is one deed.
    repeats: bool = False
