"""Judges the heads of servers' answers: redirects, ranges, lengths, and times to wait."""

import re
from datetime import UTC, datetime
from urllib.parse import urljoin

import msgspec

from app.downloads.connection import Answer

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# The server has trouble that may pass; the others say that it will not give the file.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_DIGITS = re.compile(r"\d{1,19}")


class Span(msgspec.Struct, frozen=True):
    """The bytes of the file that an answer carries: from `begin` up to `end`, which is excluded."""

    begin: int
    end: int


def span_of(answer: Answer, asked: int, size: int) -> Span | None:
    """Return the bytes that a 200 or a 206 carries; None if it contradicts itself or the request.

    `asked` is the first byte that was asked for, `size` the file's size. A 200 carries the whole
    file, also where a part was asked for.
    """
    length = _DIGITS.fullmatch(answer.headers.get("content-length", ""))
    announced = int(length[0]) if length else None
    if answer.status == 200:
        return Span(0, size) if announced in (None, size) else None
    found = _RANGE.fullmatch(answer.headers.get("content-range", "").strip())
    if found is None or asked == 0:
        return None
    begin, last = int(found[1]), int(found[2])
    total = size if found[3] == "*" else int(found[3])
    if begin != asked or not begin <= last < size or total != size:
        return None
    return Span(begin, last + 1) if announced in (None, last + 1 - begin) else None


def validator_of(answer: Answer) -> str:
    """Return the header by which `If-Range` recognises the same file; empty if there is none.

    A weak ETag allows other bytes (RFC 9110, section 13.1.5); then the date of change serves.
    """
    etag = answer.headers.get("etag", "").strip()
    if etag.startswith('"'):
        return etag
    return answer.headers.get("last-modified", "").strip()


def is_same_file(answer: Answer, validator: str) -> bool:
    """False if an answer names another state of the file than `validator`, which may be empty."""
    name = "etag" if validator.startswith('"') else "last-modified"
    return not validator or answer.headers.get(name, validator).strip() == validator


def is_web_page(answer: Answer) -> bool:
    """True for HTML, which a network that asks for a sign-in gives in place of anything."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("text/html", "application/xhtml+xml")


def is_encoded(answer: Answer) -> bool:
    """True if the body is compressed, which was not asked for."""
    return answer.headers.get("content-encoding", "identity").strip().lower() != "identity"


def next_address(answer: Answer) -> str:
    """Return the absolute URL that a redirect leads to; empty if it names none."""
    place = answer.headers.get("location", "").strip()
    try:
        return urljoin(answer.url, place) if place else ""
    except ValueError:
        return ""


def wait_asked_s(answer: Answer) -> float | None:
    """Return the seconds of `Retry-After`, at least 0; None if there is none that makes sense.

    A date is measured from the server's own, so that this machine's clock does not matter.
    """
    text = answer.headers.get("retry-after", "").strip()
    if _DIGITS.fullmatch(text):
        return float(text)
    then, now = _date(text), _date(answer.headers.get("date", ""))
    if then is None:
        return None
    return max((then - (now or datetime.now(UTC))).total_seconds(), 0.0)


def _date(text: str) -> datetime | None:
    # Imported where it is needed: it takes as long as the rest of the room.
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
