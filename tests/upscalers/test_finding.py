"""Upscalers are found by the names that people and other tools' pictures give them."""

from pathlib import Path

import pytest

from app.cli.upscaler_files import find_upscaler
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.upscalers.finding import find_by_name
from tests.checkpoints.files import write_sparse
from tests.jobs.test_lora_index import KEYS
from tests.upscalers.small import torch_file_of


@pytest.mark.parametrize("below", ["upscale_models", "ESRGAN", "mine", "."])
@pytest.mark.parametrize(
    "name", ["RealESRGAN_x4plus", "realesrgan_x4plus.pth", "R-ESRGAN 4x+", "x/RealESRGAN_x4plus"]
)
def test_an_upscaler_is_found_by_its_name_wherever_it_lies(
    tmp_path: Path, below: str, name: str
) -> None:
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    path = torch_file_of(folder, "ESRGAN").rename(folder / "RealESRGAN_x4plus.pth")
    assert find_by_name(name, [tmp_path]) == path


def test_another_file_of_the_name_is_no_upscaler(tmp_path: Path) -> None:
    write_sparse(tmp_path / "sharp.safetensors", KEYS)
    assert find_by_name("sharp", [tmp_path]) is None
    with pytest.raises(EngineError, match="There is no upscaler sharp") as caught:
        find_upscaler("sharp", [tmp_path])
    assert caught.value.code is ErrorCode.CHECKPOINT_NOT_FOUND
    # What may be a path is told as one.
    assert find_upscaler("sharp.pth", [tmp_path]).name == "sharp.pth"
