"""EXIF data as tools write it, and as nobody should."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.metadata.exif import decode_user_comment, exif_texts
from engine.metadata.texts import TextChunk
from tests.metadata.readers.pictures import exif, user_comment

TEXT = "a cat, 猫 é\nSteps: 20"


def texts(data: bytes) -> list[TextChunk]:
    return list(exif_texts(data))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("prefix", [b"", b"Exif\0\0"])
def test_a_user_comment_is_read_in_both_byte_orders(order: str, prefix: bytes) -> None:
    data = prefix + user_comment(TEXT, order=order)
    assert texts(data) == [TextChunk("exif:UserComment", TEXT)]


@pytest.mark.parametrize("written", ["utf-16-be", "utf-16-le", "utf-16"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_byte_order_of_utf16_is_found_by_its_zeros(written: str, order: str) -> None:
    assert decode_user_comment(b"UNICODE\0" + TEXT.encode(written), order) == TEXT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"ASCII\0\0\0plain", "plain"),
        (b"ASCII\0\0\0caf\xc3\xa9", "café"),
        (b"\0" * 8 + b"caf\xe9", "café"),
        (b"JIS\0\0\0\0\0" + "猫".encode("iso2022_jp"), "猫"),
        (b"no prefix at all\0", "no prefix at all"),
        (b"UNICODE\0", ""),
        (b"UNICODE\0\xd8\x41", "\ufffd"),
        (b"UNICODE\0a", "\ufffd"),
        (b"", ""),
    ],
)
def test_a_user_comments_mark_names_its_encoding(value: bytes, text: str) -> None:
    assert decode_user_comment(value, ">") == text


def test_tags_of_both_directories_are_read() -> None:
    first = {0x010E: (2, b"description\0"), 0x0110: (2, b"abc\0"), 0x0112: (3, b"\0\1")}
    found = texts(exif(first, {0x9286: (7, b"ASCII\0\0\0x"), 0x927C: (7, b"note")}))
    assert [(text_chunk.keyword, text_chunk.text) for text_chunk in found] == [
        ("exif:ImageDescription", "description"),
        ("exif:Model", "abc"),
        ("exif:MakerNote", "note"),
        ("exif:UserComment", "x"),
    ]


GOOD = user_comment("x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"MM\0*",
        b"XX\0*" + GOOD[4:],
        GOOD[:8],
        GOOD[:20],
        GOOD[:-1],
        b"MM\0*" + struct.pack(">I", 2**32 - 1),
        b"MM\0*" + struct.pack(">I", 0),
        # A directory that holds itself, and a value of four gigabytes.
        b"MM\0*" + struct.pack(">IHHHIII", 8, 1, 0x8769, 4, 1, 8, 0),
        b"MM\0*" + struct.pack(">IHHHIII", 8, 1, 0x0110, 2, 2**32 - 1, 8, 0),
        # A text that is numbers.
        exif({0x0110: (3, b"\0\1\0\2\0\3")}, {}),
    ],
)
def test_malformed_data_has_no_texts(data: bytes) -> None:
    assert texts(data) == []


# Quadratic work would take minutes.
@pytest.mark.timeout(60)
def test_many_entries_of_the_same_bytes_are_read_within_bounds() -> None:
    entry = struct.pack(">HHII", 0x0110, 2, 1 << 20, 8)
    data = b"MM\0*" + struct.pack(">IH", 8, 60_000) + entry * 60_000 + bytes(1 << 20)
    assert len(texts(data)) == 1


@given(data=st.binary(max_size=300), cut=st.integers(0, 60))
def test_random_bytes_give_texts_or_none(data: bytes, cut: int) -> None:
    for order in (b"MM\0*\0\0\0\x08", b"II*\0\x08\0\0\0"):
        assert all(exif_text.text for exif_text in exif_texts(order + data))
    assert all(exif_text.text for exif_text in exif_texts(GOOD[:cut] + data))
