"""The marks of pictures: kept in a journal by the pictures' identity, and known by heart."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from app.gallery.rows import MOST_STARS, NO_MARKS, Marking, Marks
from app.storage.journal import Journal, JournalKind, JournalWords, JournalWriter
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo

FILE = "marks.jsonl"
_IDENTITY = 32  # hexadecimal digits
# The journal is written anew once it has this many entries beside those that count.
_MOST_OUTDATED = 2000
_WORDS = JournalWords(
    newer=sentence(
        "The stars and favourites were left by a newer version of Safelight, and this one starts"
        " without them."
    ),
    damaged=sentence("A part of the file of stars and favourites is damaged; some may be missing."),
    unreadable=sentence("The stars and favourites in {path} cannot be read: {reason}."),
    unwritable=sentence(
        "Stars and favourites cannot be saved in {folder}: {reason}. They hold until the"
        " window is closed."
    ),
)


class _Entry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A line of the journal: the marks of a picture from a time on, in ns since 1970."""

    identity: str
    at: int
    rating: int = 0
    favourite: bool = False
    rejected: bool = False


class Marked(msgspec.Struct, frozen=True, gc=False):
    """Marks, and the time when they were given, in ns since 1970."""

    marks: Marks
    at: int


_KIND = JournalKind("marks", msgspec.json.Decoder(_Entry), ErrorCode.SESSION_UNREADABLE, _WORDS)


class MarkStore:
    """The marks of all pictures, with a journal that is written on a thread of its own.

    Setting is for one thread; reading is for any. `failed` gets the ErrorInfo of a disk that does
    not take the journal, on the journal's thread.
    """

    def __init__(
        self,
        state: Path,
        failed: Callable[[ErrorInfo], None],
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Read the journal in the folder `state`; takes 0.4 s for 100,000 marks."""
        journal = Journal(state / FILE, _KIND)
        content = journal.read()
        self.problem = content.problem
        self._clock = clock
        self._marked = {
            bytes.fromhex(entry.identity): Marked(
                Marks(entry.rating, entry.favourite, entry.rejected), entry.at
            )
            for entry in content.entries
            if _is_sound(entry)
        }
        outdated = len(content.entries) - len(self._marked)
        if outdated > _MOST_OUTDATED or content.problem is not None:
            trouble = journal.rewrite(
                _entry(identity, marked) for identity, marked in self._marked.items()
            )
            self.problem = self.problem or trouble
        else:
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._writer = JournalWriter(journal, lambda _number: None, failed)

    def of(self, identity: bytes | None) -> Marks:
        """Return the marks of a picture."""
        marked = self._marked.get(identity) if identity is not None else None
        return marked.marks if marked is not None else NO_MARKS

    def marked(self, identities: Iterable[bytes]) -> dict[bytes, Marked]:
        """Return the marks of pictures that were marked, with their times."""
        return {identity: self._marked[identity] for identity in identities}

    def at(self, identity: bytes) -> int:
        """Return the time when a picture was last marked, in ns since 1970; 0 for never."""
        marked = self._marked.get(identity)
        return marked.at if marked is not None else 0

    def all(self) -> tuple[tuple[bytes, Marks], ...]:
        """Return every picture's marks."""
        return tuple((identity, marked.marks) for identity, marked in self._marked.copy().items())

    def set(self, marks: Mapping[bytes, Marks]) -> Marking:
        """Give marks by identity; return the change, of those that differ."""
        changed = {identity: mark for identity, mark in marks.items() if self.of(identity) != mark}
        before = tuple((identity, self.of(identity)) for identity in changed)
        now = self._clock()
        for identity, mark in changed.items():
            self._marked[identity] = Marked(mark, now)
            self._writer.append(_entry(identity, self._marked[identity]))
        return Marking(before, tuple(changed.values()))

    def close(self) -> None:
        """Write what was set, and end the thread."""
        self._writer.close()


def changed_marks(
    store: MarkStore, identities: Iterable[bytes], change: Callable[[Marks], Marks]
) -> dict[bytes, Marks]:
    """Return the marks of pictures after a change of each."""
    return {identity: change(store.of(identity)) for identity in identities}


def undone_marks(store: MarkStore, marking: Marking) -> dict[bytes, Marks]:
    """Return the marks without a change; what was marked otherwise since then stays."""
    changes = zip(marking.before, marking.after, strict=True)
    return {
        identity: _without(store.of(identity), before, after)
        for (identity, before), after in changes
    }


def _without(now: Marks, before: Marks, after: Marks) -> Marks:
    values = {
        name: getattr(before if getattr(now, name) == getattr(after, name) else now, name)
        for name in Marks.__struct_fields__
    }
    return Marks(**values)


def _entry(identity: bytes, marked: Marked) -> _Entry:
    marks = marked.marks
    return _Entry(identity.hex(), marked.at, marks.rating, marks.favourite, marks.rejected)


def _is_sound(entry: _Entry) -> bool:
    is_hex = len(entry.identity) == _IDENTITY and all(
        digit in "0123456789abcdef" for digit in entry.identity
    )
    return is_hex and 0 <= entry.rating <= MOST_STARS
