"""The list of updates: a channel's versions, and where their archives are."""

import sys
from datetime import date
from typing import Annotated

import msgspec

from app.updates.errors import UpdateCode, UpdateError
from app.versions.names import is_newer, is_version, order_of
from engine.api.sentences import sentence
from engine.untrusted_json import JsonError, decode_json

FORMAT = 1
MOST_BYTES = 1 << 20
_SHA256 = r"^[0-9a-f]{64}$"
_PLAIN_NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$"
_DATE = r"^\d{4}-\d{2}-\d{2}$"
# The notes of the first version, which tell all that there is, are above 20,000.
_MOST_NOTES = 100_000

Bytes = Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
Day = Annotated[str, msgspec.Meta(pattern=_DATE)]


class Archive(msgspec.Struct, frozen=True, kw_only=True):
    """A version's tree for one system, packed: `size` is the file's, `disk_bytes` the tree's.

    `system` is that of `sys.platform`, `machine` that of `this_machine`. `urls` are web addresses,
    or names beside the list.
    """

    system: str
    machine: str
    name: Annotated[str, msgspec.Meta(pattern=_PLAIN_NAME)]
    size: Bytes
    disk_bytes: Bytes
    sha256: Annotated[str, msgspec.Meta(pattern=_SHA256)]
    urls: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=16)]


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """A version. `minimum` is the oldest version that can go to it; `notes` are plain text."""

    version: str
    date: Day
    minimum: str
    notes: Annotated[str, msgspec.Meta(max_length=_MOST_NOTES)] = ""
    archives: tuple[Archive, ...] = ()


class UpdateList(msgspec.Struct, frozen=True, kw_only=True):
    """A channel's list. `sequence` grows with each list; from `expires` on it is not used."""

    format: int
    channel: str
    sequence: Annotated[int, msgspec.Meta(ge=1, le=1 << 53)]
    published: Day
    expires: Day
    releases: Annotated[tuple[Release, ...], msgspec.Meta(max_length=1000)]


_DECODER = msgspec.json.Decoder(UpdateList)


def read_list(content: bytes) -> UpdateList:
    """Decode the content of a signed list. Raises UpdateError(DAMAGED_LIST)."""
    try:
        read = decode_json(content, _DECODER)
        days = (read.published, read.expires, *(release.date for release in read.releases))
        for day in days:
            date.fromisoformat(day)
    except (JsonError, ValueError) as error:
        raise _senseless(str(error)) from error
    if read.format != FORMAT:
        raise _senseless(f"its format is {read.format}, ours {FORMAT}")
    names = [name for release in read.releases for name in (release.version, release.minimum)]
    if not all(map(is_version, names)):
        raise _senseless("a version's name makes no sense")
    return read


def require_current(read: UpdateList, channel: str, last_sequence: int, today: date) -> None:
    """Raise UpdateError unless the list is the channel's, not expired and not an older one.

    `last_sequence` is the highest that was seen: someone who can place files may keep a person
    from updates by an old list, whose signature is good.
    """
    if read.channel != channel:
        raise UpdateError(
            UpdateCode.OTHER_CHANNEL,
            sentence(
                "The list of updates is that of {found!r}, not of {wanted!r}.",
                found=read.channel,
                wanted=channel,
            ),
            sentence("Nothing of it is used."),
        )
    if read.sequence < last_sequence:
        raise UpdateError(
            UpdateCode.OLD_LIST,
            sentence("The list of updates is older than the one that was read before."),
            sentence("Nothing of it is used. Try again later."),
            f"number {read.sequence} after {last_sequence}",
        )
    if today >= date.fromisoformat(read.expires):
        raise UpdateError(
            UpdateCode.EXPIRED_LIST,
            sentence("The list of updates was valid until {day}.", day=read.expires),
            sentence("If this computer's date is right, try again later."),
        )


def best_release(
    read: UpdateList, version: str, system: str, machine: str
) -> tuple[Release, Archive] | None:
    """Return the newest release for a system that `version` can go to, with its archive."""
    fitting = [
        (release, archive)
        for release in read.releases
        if is_newer(release.version, version) and not is_newer(release.minimum, version)
        for archive in release.archives
        if (archive.system, archive.machine) == (system, machine)
    ]
    return max(fitting, key=lambda found: order_of(found[0].version), default=None)


def system_name() -> str:
    """Return this system's name: linux, win32 or darwin."""
    return sys.platform


def _senseless(reason: str) -> UpdateError:
    return UpdateError(
        UpdateCode.DAMAGED_LIST,
        sentence("The list of updates makes no sense to this version of Safelight."),
        sentence("A newer version may be able to read it: look where you got this one."),
        reason,
    )
