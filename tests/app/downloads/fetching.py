"""Downloads as the tests begin them: small files, and little patience."""

import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.downloads.errors import DownloadError, DownloadProblem
from app.downloads.fetch import fetch
from app.downloads.source import Source
from app.downloads.terms import Terms

QUICK = Terms(tries=3, first_wait_s=0.01, longest_wait_s=0.02, loopback_http=True)
# For servers that stall. A busy machine may take an honest answer for a stall, but not so often.
IMPATIENT = msgspec.structs.replace(QUICK, stall_s=0.3, tries=50)
CONTENT = random.Random(7).randbytes(300_000)


def source_of(
    url: str, content: bytes = CONTENT, *mirrors: str, hosts: tuple[str, ...] = ()
) -> Source:
    """Return the source of a file with this content."""
    digest = hashlib.sha256(content).hexdigest()
    return Source(url, mirrors, "file.bin", len(content), digest, hosts)


def get(
    source: Source,
    folder: Path,
    terms: Terms = QUICK,
    cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int], None] = lambda count: None,
) -> bytes:
    """Download a file, and return its content."""
    path = fetch(source, folder, on_progress=on_progress, cancelled=cancelled, terms=terms)
    assert path == folder / source.file_name
    return path.read_bytes()


def problem_of(
    source: Source,
    folder: Path,
    terms: Terms = QUICK,
    cancelled: Callable[[], bool] = lambda: False,
) -> DownloadProblem:
    """Return why a download fails; its file must not be there."""
    try:
        get(source, folder, terms, cancelled)
    except DownloadError as error:
        assert not (folder / source.file_name).exists()
        return error.problem
    raise AssertionError("the file came")


def names_in(folder: Path) -> set[str]:
    """Return the names of the files in a folder."""
    return {path.name for path in folder.iterdir() if path.is_file()}
