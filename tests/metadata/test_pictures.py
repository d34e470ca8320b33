"""The texts of JPEG and WebP files, and of PNG's EXIF: as tools write them, and made to harm."""

import io
import os
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from engine.api.sentences import Sentence, sentence
from engine.errors import EngineError
from engine.metadata.opening import PictureFault, open_picture
from engine.metadata.pictures import read_text_chunks
from engine.metadata.stealth import read_stealth
from engine.metadata.texts import MAX_TEXT_BYTES, MAX_TEXTS, TextChunk
from engine.pipeline.canvas.pictures import picture_size, read_picture
from engine.upscalers.pictures import picture_shape, read_pixels
from tests.metadata.readers.pictures import exif, jpeg, user_comment, webp
from tests.metadata.records import PNG, chunk, png_with

# Each example replaces the same file; a busy disk is no failure.
IN_ONE_FOLDER = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = "a cat, 猫\nSteps: 20"
COMMENT = TextChunk("exif:UserComment", TEXT)


def read(folder: Path, content: bytes) -> tuple[TextChunk, ...]:
    path = folder / "picture"
    path.write_bytes(content)
    return read_text_chunks(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"GIF89a", "it is no PNG, JPEG or WebP file, or its beginning is damaged"),
        (PNG[:45], "it is damaged or incomplete"),
    ],
)
def test_a_picture_that_cannot_be_opened_says_why_in_a_sentence_of_the_catalogues(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    with pytest.raises(EngineError) as caught:
        read_picture(path)
    (fault,) = (value for name, value in caught.value.text.values if name == "fault")
    assert isinstance(fault, Sentence)
    assert str(fault).startswith(reason)


@pytest.mark.parametrize(
    ("kind", "beginning"),
    [(b"iCCP", b"profile\0\0"), (b"zTXt", b"history\0\0"), (b"iTXt", b"history\0\1\0\0\0")],
)
def test_a_picture_with_a_large_profile_or_history_is_opened(
    tmp_path: Path, kind: bytes, beginning: bytes
) -> None:
    path = tmp_path / "picture.png"

    def write(unpacked: int) -> None:
        path.write_bytes(png_with(chunk(kind, beginning + zlib.compress(bytes(unpacked)))))

    write(8 << 20)
    assert read_picture(path).size == picture_size(path)
    write(20 << 20)
    with pytest.raises(EngineError, match="damaged"):
        read_picture(path)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "PNG"])
@pytest.mark.parametrize("damaged", [b"Exif\0\0a cat", b"Exif\0\0II*\0"])
def test_damaged_exif_is_no_reason_to_refuse_a_picture(
    tmp_path: Path, kind: str, damaged: bytes
) -> None:
    path = tmp_path / "picture"
    Image.new("RGB", (3, 2)).save(path, kind, exif=damaged)
    assert read_picture(path).size == picture_size(path) == (3, 2)
    assert read_pixels(path).shape == (2, 3, 3)
    assert picture_shape(path) == (3, 2, 3)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(EngineError, match="damaged"):
        read_picture(path)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "PNG"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_exif_inside_pillows_files_is_read(tmp_path: Path, kind: str, order: str) -> None:
    file = io.BytesIO()
    Image.new("RGB", (3, 2)).save(file, kind, exif=b"Exif\0\0" + user_comment(TEXT, order=order))
    assert read(tmp_path, file.getvalue()) == (COMMENT,)


def test_exif_written_by_pillow_is_read(tmp_path: Path) -> None:
    # As Fooocus and ComfyUI let it.
    written = Image.Exif()
    written[0x9286], written[0x0110] = "words", "prompt:{}"
    for kind in ("JPEG", "WEBP", "PNG"):
        file = io.BytesIO()
        Image.new("RGB", (3, 2)).save(file, kind, exif=written)
        found = {
            text_chunk.keyword: text_chunk.text for text_chunk in read(tmp_path, file.getvalue())
        }
        assert found == {"exif:UserComment": "words", "exif:Model": "prompt:{}"}


def test_jpeg_comments_and_xmp_are_read(tmp_path: Path) -> None:
    packet = (
        b"http://ns.adobe.com/xap/1.0/\0<x><sdcpp:parameters>a &lt; b &amp;lt;</sdcpp:parameters>"
    )
    content = jpeg(
        (0xFE, b"caf\xc3\xa9"),
        (0xE1, packet),
        (0xE2, b"ICC_PROFILE\0" + bytes(60_000)),
        (0xFE, b"parameters\0a: b\0\xff"),
    )
    assert read(tmp_path, content) == (
        TextChunk("jpeg:comment", "café"),
        TextChunk("xmp:parameters", "a < b &lt;"),
        TextChunk("parameters", "a: b"),
    )


def test_bytes_that_fill_up_before_a_segment_are_skipped(tmp_path: Path) -> None:
    plain = jpeg((0xFE, b"words"))
    filled = plain.replace(b"\xff\xfe", b"\xff\xff\xff\xfe")
    assert read(tmp_path, filled) == read(tmp_path, plain) == (TextChunk("jpeg:comment", "words"),)
    assert read(tmp_path, plain[:2] + b"\xff" * 50) == ()


def test_texts_after_the_scan_are_ignored(tmp_path: Path) -> None:
    assert read(tmp_path, jpeg() + struct.pack(">BBH", 0xFF, 0xFE, 6) + b"late") == ()


def test_only_the_first_exif_and_xmp_of_webp_are_read(tmp_path: Path) -> None:
    other = user_comment("other")
    packet = b"<sdcpp:parameters>x</sdcpp:parameters>"
    found = read(tmp_path, webp((b"XMP ", packet), (b"EXIF", user_comment(TEXT)), (b"EXIF", other)))
    assert found == (TextChunk("xmp:parameters", "x"), COMMENT)


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"<sdcpp:parameters>no end",
        b"no start</sdcpp:parameters>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>',
        b"<sdcpp:parameters>" * 100_000,
    ],
)
def test_other_xmp_has_no_text(tmp_path: Path, packet: bytes) -> None:
    assert read(tmp_path, webp((b"XMP ", packet))) == ()


def test_entities_defined_by_a_packet_are_not_expanded(tmp_path: Path) -> None:
    packet = b"<sdcpp:parameters>&a;&#65;&quot;</sdcpp:parameters>"
    assert read(tmp_path, webp((b"XMP ", packet))) == (TextChunk("xmp:parameters", '&a;&#65;"'),)


@pytest.mark.parametrize("length", [12, 1_000_000_000, 2**31, 2**32 - 1])
def test_a_length_beyond_the_file_ends_the_reading(tmp_path: Path, length: int) -> None:
    lie = struct.pack("<4sI", b"EXIF", length) + b"MM\0*"
    assert read(tmp_path, webp((b"XMP ", b"")) + lie) == ()
    assert read(tmp_path, b"\xff\xd8\xff\xe1\xff\xffExif\0\0MM\0*") == ()
    assert read(tmp_path, b"\xff\xd8\xff\xe1\0\0\xff\xfe\0\0\xff\xfe\0\1") in (
        (),
        (TextChunk("jpeg:comment", ""),) * 2,
    )


# Quadratic work would take minutes.
@pytest.mark.timeout(60)
def test_a_hundred_thousand_parts_are_read_within_bounds(tmp_path: Path) -> None:
    found = read(tmp_path, jpeg(*[(0xFE, b"x")] * 100_000))
    assert len(found) == MAX_TEXTS
    assert read(tmp_path, jpeg(*[(0xE5, b"")] * 100_000, (0xFE, b"x"))) == ()
    assert read(tmp_path, webp(*[(b"ANMF", b"")] * 300_000, (b"EXIF", user_comment("x")))) == ()


def test_the_total_of_texts_is_bounded(tmp_path: Path) -> None:
    half = "x" * (MAX_TEXT_BYTES // 2)
    data = exif({0x010E: (2, half.encode()), 0x0110: (2, half.encode()), 0x0131: (2, b"more")}, {})
    path = tmp_path / "picture"
    for content in (webp((b"EXIF", data)), png_with(chunk(b"eXIf", data))):
        path.write_bytes(content)
        tracemalloc.start()
        found = read_text_chunks(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == ()
        assert peak < 2 * MAX_TEXT_BYTES


WHOLE = (
    jpeg((0xFE, b"x"), (0xE1, b"Exif\0\0" + user_comment("y"))),
    webp((b"EXIF", user_comment("y")), (b"XMP ", b"<sdcpp:parameters>x</sdcpp:parameters>")),
    png_with(chunk(b"eXIf", user_comment("y"))),
)


@IN_ONE_FOLDER
@given(whole=st.sampled_from(WHOLE), cut=st.integers(12, 200), junk=st.binary(max_size=60))
def test_random_bytes_give_texts_or_none(
    tmp_path: Path, whole: bytes, cut: int, junk: bytes
) -> None:
    assert len(read(tmp_path, whole)) in (1, 2)
    assert all(text_chunk.keyword for text_chunk in read(tmp_path, whole[:cut] + junk))
    assert all(
        text_chunk.keyword
        for text_chunk in read(tmp_path, whole[:cut] + junk + whole[cut + len(junk) :])
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_picture_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    os.mkfifo(path)
    with pytest.raises(EngineError, match="it is a pipe"):
        read_text_chunks(path)
    assert read_stealth(path) == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_the_reason_of_what_is_no_file_is_a_sentence_of_ours(tmp_path: Path) -> None:
    """Words of the system or of Python would stay English in every language."""
    pipe = tmp_path / "a.png"
    os.mkfifo(pipe)
    for path, reason in (
        (pipe, "it is a pipe"),
        (Path("/dev/null"), "it is a device"),
        (tmp_path, "it is a folder"),
    ):
        with pytest.raises(PictureFault) as caught, open_picture(path):
            pass
        assert caught.value.reason == sentence(reason)
