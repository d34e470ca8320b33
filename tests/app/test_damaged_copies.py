"""Working copies that were damaged on the disk: whatever is in them, the picture stays the same."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from engine.api.values import ErrorCode
from tests.metadata.records import read_record

_SMALL = ("--steps", "2", "--size", "64x64", "--seed", "7", "--backend", "cpu")


def _copies(folder: Path) -> Iterator[Path]:
    return (folder / "cache" / "weights").glob("*.safetensors")


def _picture(path: Path) -> np.ndarray:
    # Else the text encoder would not be loaded for a prompt that is known.
    shutil.rmtree(path.parent / "cache" / "encoded", ignore_errors=True)
    assert run(["generate", "a red house", "--out", str(path), *_SMALL]) == 0
    with Image.open(path) as image:
        return np.asarray(image)


def _flip(path: Path, place: float, length: int) -> None:
    content = bytearray(path.read_bytes())
    start = min(int(place * len(content)), len(content) - length)
    for position in range(start, start + length):
        content[position] ^= 0xA5
    path.write_bytes(content)


def test_damaged_copies_make_no_picture_and_are_made_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "expected"):  # what the first wrote beside may not be whole at its end
        expected = _picture(tmp_path / f"{name}.png")
    copies = {path: path.read_bytes() for path in sorted(_copies(tmp_path))}
    assert len(copies) == 3
    for path, place in zip(copies, (0.25, 0.5, 1.0), strict=True):
        _flip(path, place, 64 if place == 0.5 else 1)
    assert np.array_equal(_picture(tmp_path / "damaged.png"), expected)
    record = read_record(tmp_path / "damaged.png")
    assert record is not None
    assert [warning.code for warning in record.warnings] == [ErrorCode.WORKING_COPY_DAMAGED]
    assert "was damaged" in capfd.readouterr().err
    # Numbers that are none end every precision, and would be called the checkpoint's fault.
    (decoder,) = (path for path in copies if "vae_decoder" in path.name)
    half = len(copies[decoder]) // 2
    decoder.write_bytes(copies[decoder][:half] + b"\xff" * (len(copies[decoder]) - half))
    assert np.array_equal(_picture(tmp_path / "broken.png"), expected)
    assert np.array_equal(_picture(tmp_path / "after.png"), expected)
    after = read_record(tmp_path / "after.png")
    assert after is not None
    assert after.warnings == ()
    assert {path: path.read_bytes() for path in copies} == copies
