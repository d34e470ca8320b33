"""Pictures with layers and second passes, made again from their records: the same pixels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.api.control import ControlLayer, ControlMode
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import CannyOptions, HedOptions, ReferenceOptions
from engine.api.request import GenerateRequest, GuidanceOptions, RefinerChoice
from engine.api.saving import PictureFormat, Saving
from engine.api.second_passes import SecondPass
from engine.cancel import CancelToken
from engine.families import identify
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.metadata.readers import read_request
from engine.output import Destination
from engine.preprocessors.annotators import AnnotatorKind
from tests.checkpoints.arrays import write_arrays
from tests.image_prompts.files import write_adapter, write_encoder, write_picture
from tests.metadata.records import read_record
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.jobs import RoomyResidency, a_request
from tests.preprocessors.annotator_files import stored
from tests.thinned import thinned
from tests.tiny_checkpoint import write_checkpoint
from tests.upscalers.small import file_of


class Studio:
    """A folder of models and pictures, and what makes pictures with them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.models = folder, folder / "models"
        self.models.mkdir()
        self.checkpoint = write_checkpoint(folder / "tiny")
        self.other = write_checkpoint(folder / "other", seed=5)
        self.net = write_control_net(self.models / "net.safetensors", self.checkpoint)
        write_control_net(self.models / "another.safetensors", self.checkpoint, 9)
        attention = identify(self.checkpoint).architecture.attention
        assert attention is not None
        self.adapter = self.models / "plus.safetensors"
        widths = [layer.width for layer in attention.layers]
        write_adapter(self.adapter, "plus", widths, attention.context_width)
        self.encoder = write_encoder(self.models / "clip_vision" / "small")
        self.upscaler = file_of(self.models, "SPAN")
        self.weights = self.models / "ControlNetHED.pth"
        write_arrays(self.weights, stored(AnnotatorKind.HED))
        self.map = write_map(folder / "map.png")
        self.cat = write_picture(folder / "cat.png")
        self.services = JobServices.in_cache(
            folder / "cache", models=self.models, residency=RoomyResidency()
        )
        self._count = 0
        _, self.plain = self.made(self.request())

    def made(
        self, request: GenerateRequest, format_: PictureFormat = PictureFormat.PNG
    ) -> tuple[Path, NDArray[np.uint8]]:
        """The file of a request's picture, and its pixels."""
        self._count += 1
        target = Destination(self.folder / str(self._count))
        saver = PictureSaver(target, Saving(format=format_))
        result = JobRunner(self.services).run(request, saver, SilentReporter(), CancelToken())
        assert not result.warnings
        (image,) = result.images
        with Image.open(image.path) as opened:
            return image.path, np.asarray(opened.convert("RGB"))

    def layer(self, **changes: object) -> ControlLayer:
        layer = ControlLayer(image=str(self.map), network=str(self.net))
        return msgspec.structs.replace(layer, **changes)

    def request(self, **fields: object) -> GenerateRequest:
        return a_request(self.checkpoint, backend="cpu", **({"steps": 2} | fields))


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    return Studio(tmp_path_factory.mktemp("studio"))


Fields = Callable[[Studio], dict[str, Any]]
CASES: dict[str, Fields] = {
    "map": lambda at: {"controls": (at.layer(weight=0.8, mode=ControlMode.PROMPT),)},
    "plain_preprocessor": lambda at: {
        "controls": (at.layer(preprocessor=CannyOptions(low=40, high=90)),)
    },
    "preprocessor_with_weights": lambda at: {
        "controls": (at.layer(preprocessor=HedOptions(resolution=64)), at.layer(range=(0.0, 0.5)))
    },
    "reference": lambda at: {
        "controls": (
            at.layer(network=None, preprocessor=ReferenceOptions(style_fidelity=0.8), weight=0.9),
        )
    },
    "image_prompt": lambda at: {
        "image_prompts": (ImagePrompt(image=str(at.cat), adapter=str(at.adapter), weight=0.7),)
    },
    "latent_pass": lambda at: {"second_passes": (SecondPass(scale=1.25, strength=0.6),)},
    "upscaler_pass": lambda at: {
        "second_passes": (SecondPass(scale=1.25, upscaler=str(at.upscaler), strength=0.5, steps=2),)
    },
    "pass_with_own_checkpoint": lambda at: {
        "second_passes": (
            SecondPass(scale=1.25, upscaler="lanczos", checkpoint=str(at.other), seed=9),
        )
    },
    "perturbed_attention": lambda _: {
        "guidance_options": GuidanceOptions(pag_scale=3.0, pag_range=(0.0, 0.8))
    },
    "self_attention": lambda _: {"guidance_options": GuidanceOptions(sag_scale=0.8)},
    "freeu": lambda _: {"denoiser_options": DenoiserOptions(freeu=FreeUVersion.V2)},
    "seamless": lambda _: {"denoiser_options": DenoiserOptions(tiling=Tiling.X)},
}


# One of each kind of file and of pass: what is in a record by itself needs no picture of its own.
OFTEN = ("preprocessor_with_weights", "reference", "image_prompt", "pass_with_own_checkpoint")


@pytest.mark.parametrize("case", thinned(CASES, OFTEN))
def test_a_record_makes_the_same_pixels(studio: Studio, case: str) -> None:
    request = studio.request(**CASES[case](studio))
    path, pixels = studio.made(request)
    found = read_request(path)
    assert found.warnings == ()
    np.testing.assert_array_equal(studio.made(found.request)[1], pixels)
    plain = studio.plain
    assert plain.shape != pixels.shape or (plain != pixels).any()


@pytest.mark.parametrize(
    "format_", thinned([PictureFormat.WEBP, PictureFormat.JPEG], [PictureFormat.JPEG])
)
def test_a_record_in_each_format_makes_the_same_pixels(
    studio: Studio, format_: PictureFormat
) -> None:
    fields = CASES["map"](studio) | CASES["image_prompt"](studio) | CASES["upscaler_pass"](studio)
    request = studio.request(**fields)
    _, pixels = studio.made(request)
    path, _ = studio.made(request, format_)
    assert path.suffix == format_.suffix
    np.testing.assert_array_equal(studio.made(read_request(path).request)[1], pixels)


@pytest.mark.parametrize(
    ("case", "file"),
    thinned(
        [
            ("map", "net"),
            ("preprocessor_with_weights", "weights"),
            ("image_prompt", "adapter"),
            ("image_prompt", "encoder"),
            ("upscaler_pass", "upscaler"),
        ],
        [("map", "net"), ("image_prompt", "encoder"), ("upscaler_pass", "upscaler")],
    ),
)
def test_a_renamed_file_makes_the_same_pixels(studio: Studio, case: str, file: str) -> None:
    path, pixels = studio.made(studio.request(**CASES[case](studio)))
    before: Path = getattr(studio, file)
    moved = before.rename(before.with_name(f"renamed{before.suffix}"))
    try:
        np.testing.assert_array_equal(studio.made(read_request(path).request)[1], pixels)
    finally:
        moved.rename(before)


def test_a_record_names_no_checkpoint_for_a_pass_that_chose_none(studio: Studio) -> None:
    fields = CASES["reference"](studio) | CASES["latent_pass"](studio)
    path, _ = studio.made(studio.request(**fields))
    (second,) = read_request(path).request.second_passes
    assert (second.checkpoint, second.checkpoint_digest) == (None, None)


def test_a_record_identifies_each_checkpoint_that_drew(studio: Studio) -> None:
    refiner = RefinerChoice(checkpoint=str(studio.other), switch_at=0.5)
    fields = CASES["pass_with_own_checkpoint"](studio)
    path, _ = studio.made(studio.request(refiner=refiner, **fields))
    record = read_record(path)
    assert record is not None
    digest = identify(studio.other).digest
    assert record.checkpoint_digest == identify(studio.checkpoint).digest != digest
    assert record.refiner_digest == digest
    assert [second.checkpoint_digest for second in record.second_passes or ()] == [digest]
