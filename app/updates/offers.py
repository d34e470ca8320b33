"""A newer version that can be had, as a person is shown it before anything is downloaded."""

import msgspec


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A newer version. `date` is as "2026-11-23", sizes are in bytes; `notes` are plain text.

    `hosts` are the machines that are asked for it; none where it comes from a folder.
    `gone_back_from`: a person, or the version itself by not starting, has left it before.
    """

    version: str
    date: str
    notes: str
    download_bytes: int
    disk_bytes: int
    hosts: tuple[str, ...] = ()
    gone_back_from: bool = False
    file_name: str
    sha256: str
    urls: tuple[str, ...]
