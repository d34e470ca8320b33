"""A job with an image prompt: its record, and the picture that is made again from it."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from engine.api.image_prompts import ImagePrompt
from engine.api.request import GenerateRequest
from engine.cancel import CancelToken
from engine.families import identify
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.metadata.readers import read_request
from engine.output import Destination
from tests.image_prompts.files import write_adapter, write_encoder, write_picture
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture
def request_with_prompt(tmp_path: Path) -> GenerateRequest:
    checkpoint = write_checkpoint(tmp_path / "tiny")
    attention = identify(checkpoint).architecture.attention
    assert attention is not None
    widths = [layer.width for layer in attention.layers]
    adapter = tmp_path / "plus.safetensors"
    write_adapter(adapter, "plus", widths, attention.context_width)
    write_encoder(tmp_path / "models" / "clip_vision" / "small")
    image = write_picture(tmp_path / "cat.png")
    prompt = ImagePrompt(image=str(image), adapter=str(adapter), weight=0.8, range=(0.0, 0.7))
    return a_request(checkpoint, image_prompts=(prompt,), backend="cpu")


def made(request: GenerateRequest, folder: Path, name: str) -> SavedImage:
    services = JobServices.in_cache(folder / "cache", models=folder / "models")
    saver = PictureSaver(Destination(folder / name))
    result = JobRunner(services).run(request, saver, SilentReporter(), CancelToken())
    assert not result.warnings
    (image,) = result.images
    return image


def pixels(image: SavedImage) -> Sequence[int]:
    with Image.open(image.path) as opened:
        return np.asarray(opened).tolist()


def test_a_record_has_the_image_prompt_and_makes_the_same_pixels(
    request_with_prompt: GenerateRequest, tmp_path: Path
) -> None:
    first = made(request_with_prompt, tmp_path, "first")
    reports = first.record.image_prompts
    assert reports
    assert reports is not msgspec.UNSET
    assert (reports[0].name, reports[0].weight) == ("plus", 0.8)
    again = read_request(first.path).request
    assert again.image_prompts[0].range == (0.0, 0.7)
    assert again.image_prompts[0].encoder
    second = made(again, tmp_path, "second")
    assert pixels(second) == pixels(first)
    without = msgspec.structs.replace(again, image_prompts=())
    plain = made(without, tmp_path, "plain")
    assert pixels(plain) != pixels(first)
    assert plain.record.image_prompts is msgspec.UNSET
