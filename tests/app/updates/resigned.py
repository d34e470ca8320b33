"""Offers whose archive has another content than the makers packed, as if they had signed that."""

import hashlib
from pathlib import Path

import msgspec

from app.updates.offers import Offer


def with_content(offer: Offer, archive: Path, content: bytes) -> Offer:
    """Replace an archive's content, and return the offer with its size and hash."""
    archive.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return msgspec.structs.replace(offer, download_bytes=len(content), sha256=digest)
