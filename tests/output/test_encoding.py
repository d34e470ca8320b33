"""Pictures of each format carry the same texts, which our readers read back."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from PIL import Image

from engine.api.record import GenerationRecord
from engine.api.saving import PictureFormat
from engine.metadata.pictures import read_text_chunks
from engine.metadata.readers import read_request
from engine.metadata.readers.a1111 import from_a1111
from engine.metadata.record import record_chunks
from engine.output.encoding import encode_picture
from tests.metadata.records import PLAIN, PLAIN_REQUEST, RECORDS, read_record

PIXELS = np.tile(np.arange(64, dtype=np.uint8)[:, None, None] * 4, (1, 64, 3))
LOSSY = pytest.mark.parametrize("form", [PictureFormat.WEBP, PictureFormat.JPEG])


def write(folder: Path, record: GenerationRecord, form: PictureFormat, quality: int = 92) -> Path:
    path = folder / f"picture{form.suffix}"
    path.write_bytes(encode_picture(PIXELS, record_chunks(record), form, quality))
    return path


@LOSSY
@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(record=RECORDS)
def test_a_record_survives_in_every_format(
    tmp_path: Path, form: PictureFormat, record: GenerationRecord
) -> None:
    assert read_record(write(tmp_path, record, form)) == record


@LOSSY
def test_other_tools_find_their_text_in_every_format(tmp_path: Path, form: PictureFormat) -> None:
    imported = from_a1111(read_text_chunks(write(tmp_path, PLAIN, form)))
    assert imported is not None
    assert imported.request.prompt == PLAIN.request.prompt
    assert imported.request.steps == PLAIN.request.steps
    with Image.open(tmp_path / f"picture{form.suffix}") as image:
        # As piexif, which other tools read with, finds it: a UserComment in UTF-16.
        comment = image.getexif().get_ifd(0x8769)[0x9286]
    assert comment.startswith(b"UNICODE\0")
    assert "Steps: 20" in comment[8:].decode("utf-16-be")


@LOSSY
def test_a_prompt_of_a_million_characters_survives(tmp_path: Path, form: PictureFormat) -> None:
    request = msgspec.structs.replace(PLAIN_REQUEST, prompt="😀" * 1_000_000)
    record = msgspec.structs.replace(PLAIN, request=request)
    path = write(tmp_path, record, form)
    assert read_record(path) == record
    assert read_request(path).record == record
    with Image.open(path) as image:
        assert image.convert("RGB").size == (64, 64)


@LOSSY
def test_the_quality_decides_on_the_size_and_the_pixels(
    tmp_path: Path, form: PictureFormat
) -> None:
    sizes = [write(tmp_path, PLAIN, form, quality).stat().st_size for quality in (10, 95)]
    assert sizes[0] < sizes[1]


def test_webp_of_the_highest_quality_keeps_every_pixel(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    path = tmp_path / "picture.webp"
    path.write_bytes(encode_picture(noise, (), PictureFormat.WEBP, 100))
    with Image.open(path) as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), noise)
