"""Small pictures kept in a file of their own, which can be deleted at any time.

They are kept by the identity of their pictures, so that renaming and moving make none anew.
"""

import sqlite3
from contextlib import suppress
from pathlib import Path
from queue import Empty, LifoQueue
from zlib import crc32

from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QImage, QPainter

from app.decoding import decode, decode_jpeg
from app.gallery.rows import GalleryRow
from app.gallery.storable import stored_path

FILE = "thumbnails.sqlite"
# The longer sides of kept pictures, in pixels.
SIDES = (256, 512)
_QUALITY = 85
# The bytes of a checksum.
_SUM = 4
_MOST_BYTES = 1 << 30
# The share of the bound that is freed when it is reached.
_FREED = 8
_PATIENCE_S = 2.0
_BEHIND = 0xFF808080  # where a picture is transparent
_SCHEMA = """
CREATE TABLE IF NOT EXISTS thumbnails(
  identity BLOB NOT NULL, side INTEGER NOT NULL, jpeg BLOB NOT NULL, PRIMARY KEY(identity, side)
) STRICT;
CREATE TABLE IF NOT EXISTS failures(
  path BLOB PRIMARY KEY, modified_ns INTEGER NOT NULL, size INTEGER NOT NULL
) STRICT;
"""
# SQLite's message about a name that lost its letters may be no text.
_ERRORS = (sqlite3.Error, UnicodeDecodeError)


class ThumbnailFiles:
    """Thumbnails on disk, made when they are missing; for several threads at once.

    Without a disk that takes them, they are made each time.
    """

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        """`folder` need not exist. The oldest thumbnails go once all take `most_bytes`."""
        self._path = folder / FILE
        self._most_bytes = most_bytes
        self._free: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._bytes: int | None = None

    def read(self, row: GalleryRow, side: int) -> QImage:
        """Return a picture whose longer side is that of SIDES which suffices for `side` pixels.

        Smaller pictures keep their size. The image is null if the file cannot be read; then it is
        not tried again until it is changed. Takes up to a second: not for the GUI thread.
        """
        wanted = next((size for size in SIDES if size >= side), SIDES[-1])
        connection = self._connection()
        if connection is None or row.identity is None:
            return _make(row.path, wanted)
        try:
            image = self._read(connection, row, row.identity, wanted)
        except _ERRORS as error:
            connection.close()
            self._recover(error)
            return _make(row.path, wanted)
        self._free.put(connection)
        return image

    def close(self) -> None:
        """Let go of the file."""
        with suppress(Empty):
            while True:
                self._free.get_nowait().close()

    def _read(
        self, connection: sqlite3.Connection, row: GalleryRow, identity: bytes, side: int
    ) -> QImage:
        found = connection.execute(
            "SELECT jpeg FROM thumbnails WHERE identity = ? AND side >= ? ORDER BY side LIMIT 1",
            (identity, side),
        ).fetchone()
        image = _decoded(found[0]) if found else QImage()
        if not image.isNull():
            return image
        state = (stored_path(row.path), row.modified_ns, row.size)
        if connection.execute(
            "SELECT 1 FROM failures WHERE (path, modified_ns, size) = (?, ?, ?)", state
        ).fetchone():
            return image
        image = _make(row.path, side)
        if image.isNull():
            connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", state)
        else:
            self._keep(connection, identity, side, _encoded(image))
        return image

    def _keep(
        self, connection: sqlite3.Connection, identity: bytes, side: int, jpeg: bytes
    ) -> None:
        self._make_room(connection, len(jpeg))
        connection.execute(
            "INSERT OR REPLACE INTO thumbnails VALUES (?, ?, ?)", (identity, side, jpeg)
        )

    def _make_room(self, connection: sqlite3.Connection, needed: int) -> None:
        """Delete the oldest thumbnails if another one of `needed` bytes exceeds the bound."""
        if self._bytes is None:
            self._bytes = _bytes(connection)
        self._bytes += needed
        if self._bytes <= self._most_bytes:
            return
        connection.execute(
            "DELETE FROM thumbnails WHERE rowid IN"
            " (SELECT rowid FROM thumbnails ORDER BY rowid"
            "  LIMIT (SELECT 1 + count(*) / ? FROM thumbnails))",
            (_FREED,),
        )
        self._bytes = _bytes(connection) + needed

    def _connection(self) -> sqlite3.Connection | None:
        """Return a free connection, or a new one; None if there can be none."""
        with suppress(Empty):
            return self._free.get_nowait()
        try:
            return self._connect()
        except (OSError, *_ERRORS) as error:
            self._recover(error)
            return None

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
        )
        try:
            # A thumbnail that a power cut takes is made again.
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(_SCHEMA)
        except _ERRORS:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        """Delete a damaged file, for it to be made again."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
        if code in damage or isinstance(error, UnicodeDecodeError):
            self.close()
            self._bytes = None
            with suppress(OSError):
                self._path.unlink()


def _bytes(connection: sqlite3.Connection) -> int:
    (total,) = connection.execute(
        "SELECT coalesce(sum(length(jpeg)), 0) FROM thumbnails"
    ).fetchone()
    return total


def _make(path: str, side: int) -> QImage:
    """Decode a picture, scaled down to fit a square, without transparency; null if it fails."""
    image = decode(path, QSize(side, side)).image
    if image.isNull():
        return image
    # A new picture, as a copy would carry the metadata's texts into each thumbnail.
    flat = QImage(image.size(), QImage.Format.Format_RGB32)
    flat.fill(_BEHIND)
    painter = QPainter(flat)
    painter.drawImage(0, 0, image)
    painter.end()
    return flat


def _decoded(kept: object) -> QImage:
    """Return a thumbnail; null if it is not as it was kept: a JPEG may lie about its size."""
    if not isinstance(kept, bytes) or kept[:_SUM] != _sum(kept[_SUM:]):
        return QImage()
    return decode_jpeg(kept[_SUM:])


def _encoded(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # PySide takes a str here, whatever its stubs say.
    image.save(buffer, "JPEG", _QUALITY)  # pyright: ignore[reportCallIssue, reportArgumentType]
    jpeg = bytes(buffer.data().data())
    return _sum(jpeg) + jpeg


def _sum(jpeg: bytes) -> bytes:
    """Return a checksum of a JPEG, which is kept before it."""
    return crc32(jpeg).to_bytes(_SUM, "big")
