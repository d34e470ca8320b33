"""XMP sidecars: stars and rejection beside a picture, as darktable and Lightroom keep them.

`xmp:Rating` is 0 to 5, or -1 for a rejected picture. A packet is never parsed as XML, whose
entities and namespaces a hostile file could use; everything in it but the rating stays as it is.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from app.gallery.listing import sidecar_names
from app.gallery.rows import MOST_STARS, Marks
from engine.durable import replace_file
from engine.regular_file import read_bounded

_MOST_BYTES = 4 << 20
_REJECTED = -1
# As an attribute and as an element.
_RATING = re.compile(
    rb"""(xmp:Rating\s{0,9}=\s{0,9}["'])\s{0,9}(-?\d{1,3}(?:\.\d{1,3})?)\s{0,9}(?=["'])"""
    rb"""|(<xmp:Rating>)\s{0,9}(-?\d{1,3}(?:\.\d{1,3})?)\s{0,9}(?=</xmp:Rating>)"""
)
_DESCRIPTION = re.compile(rb"<rdf:Description\b")
_NAMESPACE = b'xmlns:xmp="http://ns.adobe.com/xap/1.0/"'
_PACKET = b"""<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="%d"/>
 </rdf:RDF>
</x:xmpmeta>
"""


def read_sidecar(picture: str) -> Marks | None:
    """Return the stars and the rejection in a picture's newest sidecar; None if it tells none."""
    path = _existing(picture)
    if path is None:
        return None
    try:
        match = _RATING.search(read_bounded(path, _MOST_BYTES))
    except (OSError, ValueError):
        return None
    if match is None:
        return None
    rating = round(float(match[2] or match[4]))
    return Marks(max(0, min(rating, MOST_STARS)), rejected=rating <= _REJECTED)


def write_sidecar(picture: str, marks: Marks, at: int) -> None:
    """Write stars and rejection beside a picture, keeping all else in a sidecar that is there.

    The sidecar is as old as the marks, which are of the time `at`, in ns since 1970: else it would
    seem to tell of more than those that came before it was written. Raises OSError, and ValueError
    for a sidecar that is no XMP, which stays as it is.
    """
    rating = _REJECTED if marks.rejected else marks.rating
    path = _existing(picture)
    if path is None:
        if rating != 0:
            folder, name = os.path.split(picture)
            _replace(Path(folder, sidecar_names(name)[0]), _PACKET % rating, at)
        return
    before = read_bounded(path, _MOST_BYTES)
    after = _with_rating(before, rating)
    if after != before:
        _replace(path, after, at)


def _replace(path: Path, content: bytes, at: int) -> None:
    replace_file(path, content, durable=True)
    with suppress(OSError):  # of a drive that keeps times of its own
        os.utime(path, ns=(at, at))


def _with_rating(packet: bytes, rating: int) -> bytes:
    number = str(rating).encode()
    if _RATING.search(packet):
        return _RATING.sub(lambda match: (match[1] or match[3]) + number, packet)
    description = _DESCRIPTION.search(packet)
    if description is None:
        raise ValueError("The sidecar is no XMP.")
    namespace = b"" if b"xmlns:xmp=" in packet else b" " + _NAMESPACE
    added = namespace + b' xmp:Rating="' + number + b'"'
    return packet[: description.end()] + added + packet[description.end() :]


def _existing(picture: str) -> Path | None:
    """Return a picture's sidecar, the one that was changed last."""
    folder, name = os.path.split(picture)
    found: list[tuple[int, Path]] = []
    for sidecar in sidecar_names(name):
        path = Path(folder, sidecar)
        try:
            found.append((path.stat().st_mtime_ns, path))
        except OSError:
            continue
    return max(found)[1] if found else None
