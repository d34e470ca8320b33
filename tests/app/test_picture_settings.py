"""Settings from a picture, with a checkpoint that is there, elsewhere, or gone."""

import os
from pathlib import Path

import msgspec
import pytest

from app.form.generation import MOST_CHARACTERS
from app.form.picture_settings import PictureSettings, read_settings
from engine.api.values import ErrorCode, ErrorInfo
from engine.metadata.png import TextChunk, insert_text_chunks
from engine.metadata.record import record_chunks
from tests.metadata.readers.pictures import user_comment, webp
from tests.metadata.records import PLAIN, PNG

STARTER = Path("/where/the/starter/is")
DIGEST = "d" * 64


def picture(folder: Path, checkpoint: str, digest: str = "other") -> Path:
    request = msgspec.structs.replace(PLAIN.request, checkpoint=checkpoint)
    record = msgspec.structs.replace(PLAIN, request=request, checkpoint_digest=digest)
    path = folder / "picture.png"
    path.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    return path


def read(path: Path) -> PictureSettings:
    settings = read_settings(path, STARTER, DIGEST)
    assert isinstance(settings, PictureSettings)
    return settings


def test_a_checkpoint_that_is_there_is_used(tmp_path: Path) -> None:
    checkpoint = tmp_path / "there.safetensors"
    checkpoint.touch()
    settings = read(picture(tmp_path, str(checkpoint)))
    assert settings.request.checkpoint == str(checkpoint)
    assert settings.remarks == ()


def test_the_starter_is_known_by_its_content(tmp_path: Path) -> None:
    settings = read(picture(tmp_path, "/another/installation/starter", DIGEST))
    assert settings.request.checkpoint == str(STARTER)
    assert settings.remarks == ()


@pytest.mark.parametrize("gone", ["/gone/mix.safetensors", "x" * 5000, ""])
def test_a_checkpoint_that_is_gone_is_told_and_the_chosen_one_kept(
    tmp_path: Path, gone: str
) -> None:
    settings = read(picture(tmp_path, gone))
    if gone:
        assert settings.request.checkpoint is None
        assert "not there" in settings.remarks[-1]


@pytest.mark.skipif(os.name != "posix", reason="such names are only possible there")
def test_a_hostile_path_is_only_a_path(tmp_path: Path) -> None:
    settings = read(picture(tmp_path, "//server/share/<img src='file:///etc/passwd'>"))
    assert settings.request.checkpoint is None


def test_text_of_other_tools_is_read(tmp_path: Path) -> None:
    path = tmp_path / "other.png"
    text = "a cat\nSteps: 12, Sampler: Euler a, CFG scale: 5, Seed: 3, Size: 512x768, Model: mix"
    path.write_bytes(insert_text_chunks(PNG, [TextChunk("parameters", text)]))
    settings = read(path)
    assert (settings.request.prompt, settings.request.steps) == ("a cat", 12)
    assert any("mix" in remark for remark in settings.remarks)


def test_a_text_too_long_to_edit_is_shortened_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "long.png"
    text = "word " * 100_000
    path.write_bytes(insert_text_chunks(PNG, [TextChunk("parameters", text)]))
    settings = read(path)
    assert settings.request.prompt == text[:MOST_CHARACTERS]
    assert "10000" in settings.remarks[-1]


def test_a_picture_without_settings_is_an_error(tmp_path: Path) -> None:
    plain = tmp_path / "plain.png"
    plain.write_bytes(PNG)
    for path, code in (
        (plain, ErrorCode.METADATA_MISSING),
        (tmp_path / "missing.png", ErrorCode.INPUT_IMAGE_UNREADABLE),
    ):
        error = read_settings(path, STARTER, None)
        assert isinstance(error, ErrorInfo)
        assert error.code is code
        assert error.hint


def test_settings_of_other_tools_come_with_their_remarks(tmp_path: Path) -> None:
    path = tmp_path / "a.webp"
    path.write_bytes(webp((b"EXIF", user_comment("a cat\nSteps: 5, Sampler: IPNDM, Seed: 8"))))
    settings = read(path)
    assert (settings.request.prompt, settings.request.seed) == ("a cat", 8)
    assert settings.remarks == ('"Sampler: IPNDM" was not taken over.',)
