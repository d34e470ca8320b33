"""The journal of the queue: the file and the kind of its entries."""

from pathlib import Path

import msgspec

from app.queue.job_list import Entry
from app.storage.journal import Journal, JournalKind, JournalWords
from engine.api.sentences import sentence
from engine.api.values import ErrorCode

_FILE = "queue.jsonl"
_WORDS = JournalWords(
    newer=sentence(
        "The queue was left by a newer version of Safelight, and this one starts without it."
    ),
    damaged=sentence("A part of the queue's file is damaged; jobs may be missing."),
    unreadable=sentence("The queue in {path} cannot be read: {reason}."),
    unwritable=sentence("The queue cannot be saved in {folder}: {reason}. It goes on without."),
)
_DECODER = msgspec.json.Decoder[Entry](Entry)  # pyright: ignore[reportArgumentType]
_KIND = JournalKind("queue", _DECODER, ErrorCode.QUEUE_UNREADABLE, _WORDS)


def queue_journal(state: Path) -> Journal[Entry]:
    """Return the journal of the queue in the folder `state`."""
    return Journal(state / _FILE, _KIND)
