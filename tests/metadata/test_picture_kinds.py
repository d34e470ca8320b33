"""The kind of a picture file is told by its first bytes, whatever its name says."""

import os
from pathlib import Path

import pytest

from engine.metadata.picture_kinds import PictureKind, kind_of_file, kind_of_head

KINDS = {
    b"\x89PNG\r\n\x1a\n\0\0\0\r": PictureKind.PNG,
    b"\xff\xd8\xff\xe0": PictureKind.JPEG,
    b"RIFF\x24\0\0\0WEBP": PictureKind.WEBP,
    b"GIF87a\1\0\1\0": PictureKind.GIF,
    b"GIF89a\1\0\1\0": PictureKind.GIF,
    b"\0\0\0\x1cftypavif": PictureKind.AVIF,
    b"\0\0\0\x1cftypavis": PictureKind.AVIF,
    b"\0\0\0\x1cftypheic": None,
    b"RIFF\x24\0\0\0WAVE": None,
    b"GIF90a\1\0\1\0": None,
    b"<html>": None,
    b"": None,
}


@pytest.mark.parametrize(("head", "kind"), KINDS.items())
def test_a_head_tells_the_kind(tmp_path: Path, head: bytes, kind: PictureKind | None) -> None:
    assert kind_of_head(head) is kind
    assert kind_of_head(head + bytes(100)) is kind
    file = tmp_path / "named otherwise.txt"
    file.write_bytes(head)
    assert kind_of_file(file) is kind


def test_no_kind_is_told_where_nothing_can_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "missing", tmp_path / "fifo", Path("null\0")):
        assert kind_of_file(path) is None
