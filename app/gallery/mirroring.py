"""Marks copied to where searches and other programs see them: the index, and XMP sidecars."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from app.gallery.database import connect, index_errors
from app.gallery.marks import MarkStore
from app.gallery.reading import paths_of
from app.gallery.rows import NO_MARKS, Marks
from app.gallery.sidecars import write_sidecar
from app.gallery.writing import transaction, write_marks
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo


def mirror(
    index: Path, marks: Iterable[tuple[bytes, Marks]], at: int, *, sidecars: bool
) -> ErrorInfo | None:
    """Copy marks, by identity, to the index; with `sidecars`, also beside the pictures.

    They were given at the time `at`, in ns since 1970.
    Returns why sidecars could not be written. Raises IndexBusyError, IndexDamagedError and
    sqlite3.Error.
    """
    by_identity = dict(marks)
    with index_errors(), closing(connect(index)) as connection:
        transaction(connection, lambda: write_marks(connection, by_identity.items()))
        if not sidecars:
            return None
        paths = paths_of(connection, by_identity)
    failed: list[tuple[str, Exception]] = []
    for path, identity in paths:
        try:
            write_sidecar(path, by_identity[identity], at)
        except (OSError, ValueError) as error:
            failed.append((path, error))
    if not failed:
        return None
    path, error = failed[0]
    return ErrorInfo(
        ErrorCode.OUTPUT_NOT_WRITABLE,
        sentence("The stars of {n:,} pictures could not be written beside them.", n=len(failed)),
        sentence("They are kept by Safelight all the same."),
        f"{path}: {error}",
    )


def mirror_all(index: Path, store: MarkStore) -> None:
    """Give every picture in the index the marks of the journal, which may know more or less.

    Raises IndexBusyError, IndexDamagedError and sqlite3.Error.
    """
    with index_errors(), closing(connect(index)) as connection:
        rows = connection.execute(
            "SELECT DISTINCT identity, rating, favourite, rejected FROM pictures"
            " WHERE identity IS NOT NULL AND (rating > 0 OR favourite OR rejected)"
        ).fetchall()
        shown = {row[0]: Marks(row[1], bool(row[2]), bool(row[3])) for row in rows}
        kept = dict(store.all())
        differing = {
            identity: kept.get(identity, NO_MARKS)
            for identity in kept.keys() | shown.keys()
            if kept.get(identity, NO_MARKS) != shown.get(identity, NO_MARKS)
        }
        transaction(connection, lambda: write_marks(connection, differing.items()))
