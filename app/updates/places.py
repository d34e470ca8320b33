"""Places that have updates: a web address, or a folder. A place has one list for each channel."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from app.downloads.errors import DownloadError
from app.downloads.fetch import fetch
from app.downloads.source import Source, host_of
from app.downloads.terms import USUAL_TERMS, Terms
from app.downloads.texts import address_in, read_text
from app.updates.errors import UpdateCode, UpdateError, cancelled_error
from app.updates.manifest import MOST_BYTES, Archive
from app.updates.offers import Offer
from engine.api.sentences import sentence
from engine.durable import put_in_place, sync_file
from engine.regular_file import open_regular, read_bounded

PLACE_VARIABLE = "SAFELIGHT_UPDATES"
_CHUNK_BYTES = 1 << 20


def is_web(place: str) -> bool:
    """Return True for a web address, False for a folder."""
    return place.startswith(("https://", "http://"))


def list_name(channel: str) -> str:
    """Return the file name of a channel's list."""
    return f"safelight-{channel}.updates"


def signed_list(
    place: str, channel: str, cancelled: Callable[[], bool], terms: Terms = USUAL_TERMS
) -> bytes:
    """Return a channel's signed list as it is there. Raises UpdateError(UNREACHABLE)."""
    name = list_name(channel)
    try:
        if not is_web(place):
            return read_bounded(Path(place) / name, MOST_BYTES)
        return read_text(address_in(place, name), MOST_BYTES, cancelled, terms)
    except DownloadError as error:
        raise UpdateError(
            UpdateCode.UNREACHABLE, error.problem.text, error.problem.advice, error.problem.detail
        ) from error
    except (OSError, ValueError) as error:
        raise UpdateError(
            UpdateCode.UNREACHABLE,
            sentence("There is no list of updates at {place}.", place=place),
            sentence("See that the address or folder is right, then try again."),
            str(error),
        ) from error


def urls_of(archive: Archive, place: str) -> tuple[str, ...]:
    """Return an archive's web addresses or paths, those beside the list relative to `place`."""
    if is_web(place):
        return tuple(address_in(place, url) for url in archive.urls)
    names = (url for url in archive.urls if not is_web(url) and url == os.path.basename(url))  # noqa: PTH119
    return (*(str(Path(place) / name) for name in names), *filter(is_web, archive.urls))


def hosts_of(urls: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hosts of web addresses. Raises ValueError for one that makes no sense."""
    return tuple(dict.fromkeys(host_of(url) for url in urls if is_web(url)))


def get_archive(
    offer: Offer,
    folder: Path,
    on_progress: Callable[[int], None],
    cancelled: Callable[[], bool],
    terms: Terms = USUAL_TERMS,
) -> Path:
    """Download or copy an offer's archive into a folder, verified; return its path.

    Raises UpdateError, and OSError of the disk.
    """
    local = [url for url in offer.urls if not is_web(url)]
    if local:
        return _copied(Path(local[0]), offer, folder, on_progress, cancelled)
    first, *mirrors = offer.urls
    source = Source(first, tuple(mirrors), offer.file_name, offer.download_bytes, offer.sha256)
    try:
        return fetch(source, folder, on_progress=on_progress, cancelled=cancelled, terms=terms)
    except DownloadError as error:
        if cancelled():
            raise cancelled_error() from error
        problem = error.problem
        raise UpdateError(
            UpdateCode.DOWNLOAD, problem.text, problem.advice, problem.detail
        ) from error


def _copied(
    path: Path,
    offer: Offer,
    folder: Path,
    on_progress: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> Path:
    """Copy a file, because one on a stick or a share may change or go while it is unpacked."""
    part = folder / f"{offer.file_name}.part"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        source = open_regular(path)
    except OSError as error:
        raise _wrong(offer, f"{error.strerror}: {path}") from error
    digest, copied = hashlib.sha256(), 0
    with source, part.open("wb") as file:
        while chunk := source.read(_CHUNK_BYTES):
            if cancelled():
                raise cancelled_error()
            digest.update(chunk)
            file.write(chunk)
            copied += len(chunk)
            on_progress(copied)
        file.flush()
        sync_file(file.fileno())
    if (copied, digest.hexdigest()) != (offer.download_bytes, offer.sha256):
        part.unlink()
        raise _wrong(offer, f"{path} has {copied} bytes and SHA-256 {digest.hexdigest()}")
    put_in_place(part, folder / offer.file_name)
    return folder / offer.file_name


def _wrong(offer: Offer, detail: str) -> UpdateError:
    return UpdateError(
        UpdateCode.DOWNLOAD,
        sentence("The archive of version {version} is missing or damaged.", version=offer.version),
        sentence("Nothing of it is used. Copy the folder of updates again, or try again later."),
        detail,
    )
