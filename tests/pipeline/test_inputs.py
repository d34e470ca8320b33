"""Pictures as they come: turned, transparent, deep, palettes, and those that are none."""

import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.pipeline.canvas.pictures import picture_size, read_image

# Wider than high: red, green, blue, grey from the top left in reading order.
QUARTERS = np.zeros((16, 32, 3), np.uint8)
QUARTERS[:8, :16, 0] = QUARTERS[:8, 16:, 1] = QUARTERS[8:, :16, 2] = 255
QUARTERS[8:, 16:] = 128


def encoded(form: str, image: Image.Image | None = None, **options: object) -> bytes:
    buffer = BytesIO()
    (image or Image.fromarray(QUARTERS)).save(buffer, form, **options)
    return buffer.getvalue()


def save(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def assert_unreadable(path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        read_image(path, 64, 64)
    assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert str(path) in caught.value.message
    assert caught.value.hint


def levels(pixels: np.ndarray) -> np.ndarray:
    """[1, 3, height, width] in [-1, 1] as [height, width, 3] of 256 levels."""
    return (pixels[0].transpose(1, 2, 0) + 1) * 127.5


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_read_whatever_its_name(tmp_path: Path, form: str) -> None:
    path = save(
        tmp_path / "Bild ohne Endung 画", encoded(form, lossless=True, quality=100, subsampling=0)
    )
    pixels = read_image(path, 32, 16)
    assert pixels.dtype == np.float32
    assert pixels.shape == (1, 3, 16, 32)
    assert pixels.flags.c_contiguous
    tolerance = 4 if form == "JPEG" else 1e-4
    np.testing.assert_allclose(levels(pixels), QUARTERS, rtol=0, atol=tolerance)


def test_a_picture_of_another_size_is_resized(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", encoded("PNG"))
    pixels = levels(read_image(path, 128, 256))
    assert pixels.shape == (256, 128, 3)
    np.testing.assert_allclose(pixels[60, 20], [255, 0, 0], rtol=0, atol=1)
    np.testing.assert_allclose(pixels[200, 100], [128, 128, 128], rtol=0, atol=1)


ORIENTATIONS: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda seen: seen,
    2: lambda seen: seen[:, ::-1],
    3: lambda seen: seen[::-1, ::-1],
    4: lambda seen: seen[::-1],
    5: lambda seen: seen.transpose(1, 0, 2),
    6: lambda seen: np.rot90(seen, 1),
    7: lambda seen: seen[::-1, ::-1].transpose(1, 0, 2),
    8: lambda seen: np.rot90(seen, -1),
}


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_picture_is_turned_as_its_exif_states(tmp_path: Path, orientation: int) -> None:
    """The stored picture is turned the inverse way."""
    stored = np.ascontiguousarray(ORIENTATIONS[orientation](QUARTERS))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = save(tmp_path / "a.png", encoded("PNG", Image.fromarray(stored), exif=exif))
    np.testing.assert_allclose(levels(read_image(path, 32, 16)), QUARTERS, rtol=0, atol=1e-4)


def _rgba() -> Image.Image:
    alpha = np.full((16, 32, 1), 255, np.uint8)
    alpha[:8, 16:], alpha[8:, 16:] = 0, 127
    return Image.fromarray(np.concatenate([QUARTERS, alpha], axis=2))


def test_transparency_is_laid_on_white(tmp_path: Path) -> None:
    pixels = levels(read_image(save(tmp_path / "a.png", encoded("PNG", _rgba())), 32, 16))
    np.testing.assert_allclose(pixels[2, 2], [255, 0, 0], rtol=0, atol=1)
    np.testing.assert_allclose(pixels[2, 30], [255, 255, 255], rtol=0, atol=1)
    np.testing.assert_allclose(pixels[14, 30], [192, 192, 192], rtol=0, atol=1.5)


def test_a_transparent_colour_of_a_palette_is_laid_on_white(tmp_path: Path) -> None:
    indexed = Image.fromarray(QUARTERS).quantize(4)
    first = indexed.getpixel((0, 0))
    path = save(tmp_path / "a.png", encoded("PNG", indexed, transparency=first))
    pixels = levels(read_image(path, 32, 16))
    np.testing.assert_allclose(pixels[2, 2], [255, 255, 255], rtol=0, atol=1)
    np.testing.assert_allclose(pixels[2, 30], [0, 255, 0], rtol=0, atol=1)


def test_a_transparent_grey_of_16_bits_is_laid_on_white(tmp_path: Path) -> None:
    grey = np.full((16, 32), 20_000, np.uint16)
    # Equal to the others in 8 bits.
    grey[:8] = 20_001
    encoding = encoded("PNG", Image.fromarray(grey), transparency=20_001)
    pixels = levels(read_image(save(tmp_path / "a.png", encoding), 32, 16))
    np.testing.assert_allclose(pixels[2, 2], [255, 255, 255], rtol=0, atol=1)
    np.testing.assert_allclose(pixels[14, 2], [77, 77, 77], rtol=0, atol=1)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "1", "I;16", "CMYK"])
def test_every_kind_of_pixel_becomes_rgb(tmp_path: Path, mode: str) -> None:
    """A grey ramp, darker on the left."""
    ramp = np.tile(np.arange(0, 256, 8, dtype=np.uint8), (16, 1))
    image = Image.fromarray(ramp)
    if mode == "I;16":
        image = Image.fromarray(ramp.astype(np.uint16) * 257)
        assert image.mode == mode
    else:
        image = image.convert("RGB").convert(mode) if mode == "CMYK" else image.convert(mode)
    form = "JPEG" if mode == "CMYK" else "PNG"
    pixels = levels(read_image(save(tmp_path / "a", encoded(form, image)), 32, 16))
    assert np.ptp(pixels, axis=2).max() <= 3  # grey
    tolerance = 255 if mode == "1" else 4
    np.testing.assert_allclose(pixels[8, :, 0], ramp[0], rtol=0, atol=tolerance)
    assert pixels[:, :8].mean() < pixels[:, -8:].mean() - 100


def test_a_bomb_is_refused_by_its_header(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    for side in (10_000, 20_000, 2**31 - 1):
        header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
        content += chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
        path = save(tmp_path / f"{side}.png", content)
        assert_unreadable(path)
        with pytest.raises(EngineError, match="claims more than 89 million pixels"):
            picture_size(path)


def test_the_first_frame_of_an_animation_is_used(tmp_path: Path) -> None:
    frames = [Image.fromarray(QUARTERS), Image.new("RGB", (32, 16), "black")]
    for form, options in ("PNG", {}), ("WEBP", {"lossless": True}):
        moving = encoded(form, frames[0], save_all=True, append_images=frames[1:], **options)
        pixels = levels(read_image(save(tmp_path / "a", moving), 32, 16))
        np.testing.assert_allclose(pixels, QUARTERS, rtol=0, atol=1e-4)


def test_a_profile_of_colours_that_is_damaged_is_no_reason_to_refuse(tmp_path: Path) -> None:
    for form in ("PNG", "JPEG", "WEBP"):
        assert outcome(save(tmp_path / "a", encoded(form, icc_profile=b"no profile"))) is None


def test_a_whole_picture_of_more_than_89_megapixels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("1", (10_000, 9_000)).save(path)
    assert path.stat().st_size < 100_000
    assert_unreadable(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\x10\0\0\0WEBPVP8 ", b"<svg/>", bytes(999)],
)
def test_a_file_without_a_picture_is_refused(tmp_path: Path, content: bytes) -> None:
    assert_unreadable(save(tmp_path / "a.png", content))


def test_other_formats_are_refused(tmp_path: Path) -> None:
    for form in ("GIF", "BMP", "TIFF"):
        assert_unreadable(save(tmp_path / "a.png", encoded(form)))


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    assert_unreadable(tmp_path / "nowhere.png")
    assert_unreadable(tmp_path)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_truncated_picture_is_refused(tmp_path: Path, form: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    content = encoded(form, Image.fromarray(noise))
    for length in (20, len(content) // 3, len(content) // 2, len(content) - 60):
        assert_unreadable(save(tmp_path / f"{length}", content[:length]))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_damage_gives_a_picture_or_an_error_and_nothing_else(tmp_path: Path, form: str) -> None:
    random = np.random.default_rng(0)
    exif = Image.Exif()
    exif[0x0112] = 6
    content = encoded(form, exif=exif)
    outcomes: list[ErrorCode | None] = []
    for _ in range(150):
        damaged = bytearray(content)
        for place in random.integers(0, len(content), 3):
            damaged[place] = random.integers(0, 256)
        outcomes.append(outcome(save(tmp_path / "damaged", bytes(damaged))))
    assert set(outcomes) <= {None, ErrorCode.INPUT_IMAGE_UNREADABLE}
    assert ErrorCode.INPUT_IMAGE_UNREADABLE in outcomes


def outcome(path: Path) -> ErrorCode | None:
    try:
        assert read_image(path, 16, 16).shape == (1, 3, 16, 16)
    except EngineError as error:
        return error.code
    return None
