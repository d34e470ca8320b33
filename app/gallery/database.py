"""The index: a SQLite file that can be deleted at any time, as it is made of the files again.

A file that is damaged is put aside, and one of another version is deleted. In WAL mode readers
never wait for the writer; on network drives, where WAL does not work, they may.
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Condition

from PySide6.QtCore import QStorageInfo

from app.gallery.letter_pairs import letter_pairs
from app.storage.aside import put_aside

FILE = "index.sqlite"
_APPLICATION = 0x53614C69  # "SaLi", to tell this file from every other
VERSION = 4
PATIENCE_S = 5.0
# File systems over a network, by the names that Linux, macOS and Windows give them.
_NETWORK = ("nfs", "cifs", "smb", "sshfs", "afpfs", "webdav", "davfs", "9p", "fuse.rclone", "afs")
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_SCHEMA = """
CREATE TABLE folders(
  id INTEGER PRIMARY KEY,
  path BLOB NOT NULL UNIQUE,
  -- the folder's time of change when it was listed; 0: list it again
  listed_ns INTEGER NOT NULL,
  -- the file system that it was on
  device INTEGER NOT NULL
) STRICT;
CREATE TABLE pictures(
  id INTEGER PRIMARY KEY,
  folder INTEGER NOT NULL REFERENCES folders(id),
  name BLOB NOT NULL,
  sort_name TEXT NOT NULL COLLATE NOCASE,
  modified_ns INTEGER NOT NULL,
  size INTEGER NOT NULL,
  -- the time of change of the sidecar beside it; 0: there is none
  sidecar_ns INTEGER NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  identity BLOB,
  model TEXT NOT NULL,
  tool TEXT NOT NULL,
  seed TEXT,
  trouble TEXT NOT NULL,
  missing INTEGER NOT NULL DEFAULT 0,
  rating INTEGER NOT NULL,
  favourite INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  UNIQUE(folder, name)
) STRICT;
CREATE INDEX pictures_by_identity ON pictures(identity);
-- Enough for the usual question, all that are not rejected, without a look at the table.
CREATE INDEX pictures_by_time ON pictures(rejected, modified_ns, id);
-- The same for the order by name.
CREATE INDEX pictures_by_name ON pictures(rejected, sort_name, modified_ns DESC, id DESC);
CREATE TABLE texts(
  id INTEGER PRIMARY KEY,
  prompt TEXT NOT NULL,
  negative TEXT NOT NULL,
  model TEXT NOT NULL,
  loras TEXT NOT NULL,
  name TEXT NOT NULL,
  tool TEXT NOT NULL
) STRICT;
CREATE TABLE uses(
  lora TEXT NOT NULL,
  picture INTEGER NOT NULL,
  PRIMARY KEY(lora, picture)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_by_picture ON uses(picture);
CREATE VIRTUAL TABLE words USING fts5(
  prompt, negative, model, loras, name, tool,
  content='texts', content_rowid='id', tokenize='trigram'
);
-- The letters and pairs of letters that each picture's texts have: trigrams find no shorter words.
CREATE VIRTUAL TABLE letters USING fts5(
  pairs, content='', detail=none, columnsize=0, tokenize='ascii'
);
CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN
  INSERT INTO words(rowid, prompt, negative, model, loras, name, tool)
  VALUES (new.id, new.prompt, new.negative, new.model, new.loras, new.name, new.tool);
  INSERT INTO letters(rowid, pairs) VALUES (
    new.id,
    letter_pairs(new.prompt, new.negative, new.model, new.loras, new.name, new.tool)
  );
END;
CREATE TRIGGER texts_gone AFTER DELETE ON texts BEGIN
  INSERT INTO words(words, rowid, prompt, negative, model, loras, name, tool)
  VALUES ('delete', old.id, old.prompt, old.negative, old.model, old.loras, old.name, old.tool);
  INSERT INTO letters(letters, rowid, pairs) VALUES (
    'delete', old.id,
    letter_pairs(old.prompt, old.negative, old.model, old.loras, old.name, old.tool)
  );
END;
-- Another number after each change of a picture, and in each index: a list that was made at the
-- same number is still right.
CREATE TABLE changes(number INTEGER NOT NULL) STRICT;
INSERT INTO changes VALUES (random() / 2);
CREATE TRIGGER picture_added AFTER INSERT ON pictures BEGIN
  UPDATE changes SET number = number + 1;
END;
CREATE TRIGGER picture_changed AFTER UPDATE ON pictures BEGIN
  UPDATE changes SET number = number + 1;
END;
CREATE TRIGGER picture_gone AFTER DELETE ON pictures BEGIN
  UPDATE changes SET number = number + 1;
END;
"""


class IndexBusyError(Exception):
    """Another program holds the index; it may be free later."""


class IndexDamagedError(Exception):
    """The index makes no sense; `str()` is the technical reason."""


@contextmanager
def index_errors() -> Generator[None]:
    """Raise IndexBusyError or IndexDamagedError for SQLite's errors that mean that.

    Other errors, of a disk that is full or gone, stay sqlite3.Error.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # of SQLite's message about a name that lost its letters
        raise IndexDamagedError(str(error)) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _BUSY:
            raise IndexBusyError(str(error)) from error
        # A schema that lost a letter is an error of our statement.
        if code is None or code & 0xFF in _DAMAGE | {sqlite3.SQLITE_ERROR}:
            raise IndexDamagedError(str(error)) from error
        raise


class _Users:
    """Users, on several threads of this process, that have an index open for a moment."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._count = 0
        self._shut = False

    @contextmanager
    def one_more(self) -> Generator[None]:
        """Count as a user; waits while nobody may be one."""
        with self._changed:
            self._changed.wait_for(lambda: not self._shut)
            self._count += 1
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    @contextmanager
    def none(self) -> Generator[None]:
        """Wait until there is no user, and let none come meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: not self._shut and self._count == 0)
            self._shut = True
        try:
            yield
        finally:
            with self._changed:
                self._shut = False
                self._changed.notify_all()


_USERS = _Users()


@contextmanager
def opened(path: Path, *, patience_s: float | None = None) -> Generator[sqlite3.Connection]:
    """Open an index for a moment, which is not put aside meanwhile; `patience_s` as `connect` has.

    An index whose folder is gone is as good as damaged: it can be made again. Raises
    IndexBusyError, IndexDamagedError and sqlite3.Error.
    """
    with _USERS.one_more(), index_errors():
        if not path.parent.is_dir():
            raise IndexDamagedError(f"no folder {path.parent}")
        connection = connect(path) if patience_s is None else connect(path, patience_s=patience_s)
        with closing(connection):
            yield connection


def connect(path: Path, *, patience_s: float = PATIENCE_S) -> sqlite3.Connection:
    """Open a connection for one thread at a time. Raises sqlite3.Error.

    Every statement is a transaction of its own unless BEGIN says otherwise.
    """
    connection = sqlite3.connect(
        path, timeout=patience_s, isolation_level=None, check_same_thread=False
    )
    # Texts of a damaged file need not be UTF-8.
    connection.text_factory = _decoded
    connection.create_function("letter_pairs", -1, letter_pairs, deterministic=True)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16000")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def prepare(folder: Path) -> Path | None:
    """Make the index in a folder usable; return the path of a file that was put aside.

    The folder is made. Raises OSError, sqlite3.Error and IndexBusyError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / FILE
    try:
        if not _prepare(path):
            # An update's: nothing in it is lost, since it is made of the files again.
            _delete(path)
            _prepare(path)
    except IndexDamagedError:
        aside = set_aside(path)
        _prepare(path)
        return aside
    return None


def make_again(path: Path) -> None:
    """Put an index aside and make an empty one in its place, once nobody here has it open.

    SQLite reports a failing disk to whoever looks into a file that is renamed under it, and
    Windows refuses to rename it. Raises as `prepare` does.
    """
    with _USERS.none():
        set_aside(path)
        prepare(path.parent)


def set_aside(path: Path) -> Path | None:
    """Rename the index away, for an expert to look into; only the latest such file is kept."""
    for earlier in path.parent.glob(f"{path.name}.damaged-*"):
        with suppress(OSError):
            earlier.unlink()
    _delete_rest(path)
    aside = put_aside(path, "damaged")
    if aside is None:
        path.unlink(missing_ok=True)
    return aside


def _delete(path: Path) -> None:
    _delete_rest(path)
    path.unlink(missing_ok=True)


def _delete_rest(path: Path) -> None:
    """Delete the files that SQLite keeps beside the index."""
    for rest in ("-wal", "-shm", "-journal"):
        with suppress(OSError):
            path.with_name(path.name + rest).unlink()


def check(path: Path) -> None:
    """Read the whole index. Raises IndexDamagedError where it contradicts itself.

    A name that differs from its entry in an index of SQLite's would never be mended: the file is
    written under the one and shown under the other. Takes 1 s for 50,000 pictures.
    """
    with index_errors(), closing(connect(path)) as connection:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != ("ok",):
        raise IndexDamagedError(str(found))


def _prepare(path: Path) -> bool:
    """Make the tables of a new index; return False for an index of another version."""
    with index_errors(), closing(connect(path)) as connection:
        mode = "TRUNCATE" if on_network(path.parent) else "WAL"
        connection.execute(f"PRAGMA journal_mode = {mode}")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if (application, version, tables) == (0, 0, 0):
            connection.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA}"
                f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
            )
        elif application != _APPLICATION:
            raise IndexDamagedError(f"application {application}, version {version}")
        return (application, version) in ((0, 0), (_APPLICATION, VERSION))


def on_network(folder: Path) -> bool:
    """Return True if a folder is on a drive of another computer."""
    if str(folder).startswith(("\\\\", "//")):
        return True
    kind = bytes(QStorageInfo(str(folder)).fileSystemType().data()).decode("ascii", "replace")
    return kind.lower().removeprefix("fuse.").startswith(_NETWORK)
