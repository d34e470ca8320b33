"""Flux.1 Canny and Depth: how they are told apart, and the map that they follow themselves."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from app.cli import run
from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.control import ControlLayer, ControlMode
from engine.api.preprocessors import CannyOptions, ControlKind
from engine.api.request import CheckpointOverride, ComponentFiles
from engine.api.second_passes import SecondPass
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import identify
from engine.families.identify import supply
from engine.pipeline.control.own_map import own_map_warnings, require_own_map
from engine.pipeline.job_checkpoints import JobCheckpoints
from tests.families.flux.test_pictures import picture, write_checkpoint
from tests.families.tiny_vaes import CONFIG, write_original
from tests.metadata.records import read_record
from tests.pipeline.jobs import a_request
from tests.pipeline.jobs import run as draw

CHANNELS = 128


@pytest.fixture(scope="module")
def canny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flux")
    return write_checkpoint(folder / "flux1-canny-dev.safetensors", channels=CHANNELS)


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux") / "flux1-dev.safetensors")


def drawn(path: Path, seed: int = 1) -> str:
    levels = np.random.default_rng(seed).integers(0, 256, (6, 9, 3), np.uint8)
    Image.fromarray(levels).resize((96, 64), Image.Resampling.NEAREST).save(path)
    return str(path)


@pytest.mark.parametrize(
    ("name", "card", "variant", "guidance", "kind"),
    [
        ("flux1-canny-dev-fp8", {}, "canny", 30.0, ControlKind.CANNY),
        ("FLUX.1-Depth-dev", {}, "depth", 10.0, ControlKind.DEPTH),
        ("edges", {"baseModel": "Flux.1 Canny"}, "canny", 30.0, ControlKind.CANNY),
        ("flux1-dev", {}, "control", 10.0, None),
    ],
)
def test_names_tell_canny_from_depth(
    tmp_path: Path,
    name: str,
    card: dict[str, str],
    variant: str,
    guidance: float,
    kind: ControlKind | None,
) -> None:
    path = write_checkpoint(tmp_path / f"{name}.safetensors", channels=CHANNELS)
    if card:
        path.with_suffix(".civitai.info").write_text(json.dumps(card))
    checkpoint = identify(path)
    assert (checkpoint.variant, checkpoint.hints.guidance) == (variant, guidance)
    features = checkpoint.architecture.features
    assert features.follows_map
    assert features.own_map is kind


def test_a_stated_variant_must_be_one_of_its_shapes(canny: Path) -> None:
    said = identify(canny, override=CheckpointOverride(variant="depth"))
    assert said.architecture.features.own_map is ControlKind.DEPTH
    with pytest.raises(EngineError, match="cannot be taken for kontext"):
        identify(canny, override=CheckpointOverride(variant="kontext"))


def test_a_picture_follows_its_map_and_that_of_a_second_pass(canny: Path, tmp_path: Path) -> None:
    layers = [
        ControlLayer(image=drawn(tmp_path / f"{seed}.png", seed), preprocessor=CannyOptions())
        for seed in (1, 2)
    ]
    asked = {"steps": 1, "second_passes": (SecondPass(scale=1.5, upscaler="lanczos"),)}
    made = [picture(canny, controls=(layer,), **asked) for layer in layers]
    assert made[0].shape == (96, 144, 3)
    assert not np.array_equal(made[0], made[1])
    tiled = {"steps": 1, "second_passes": (SecondPass(scale=2, upscaler="lanczos", tile=128),)}
    assert picture(canny, controls=layers[:1], **tiled).shape == (128, 192, 3)


def test_a_second_pass_may_be_the_only_one_that_follows_a_map(
    dev: Path, canny: Path, tmp_path: Path
) -> None:
    second = SecondPass(scale=1.5, upscaler="lanczos", checkpoint=str(canny), strength=0.9)
    usual = {"width": 96, "height": 64, "steps": 1, "second_passes": (second,)}
    with pytest.raises(EngineError, match=r"^flux1-canny-dev\.safetensors follows a map"):
        draw(a_request(dev, **usual), CpuBackend(), (Precision.F32,))
    layers = [ControlLayer(image=drawn(tmp_path / f"{seed}.png", seed)) for seed in (1, 2)]
    made = [
        draw(a_request(dev, controls=(layer,), **usual), CpuBackend(), (Precision.F32,)).pictures[0]
        for layer in layers
    ]
    assert not np.array_equal(made[0].pixels, made[1].pixels)
    (report,) = made[0].controls
    assert (report.name, report.kind) == ("flux1-canny-dev", ControlKind.CANNY)
    assert len(report.map_sha256) == len(report.image_sha256) == 64


def test_only_what_follows_a_map_needs_the_encoder_of_its_vae(
    dev: Path, canny: Path, tmp_path: Path
) -> None:
    layer = ControlLayer(image=drawn(tmp_path / "1.png"))
    first, follower = identify(dev), identify(canny)
    decoder = write_original(
        tmp_path, "taef1", config=msgspec.structs.replace(CONFIG, latent_channels=16)
    )
    decoder.with_name("taef1_encoder.safetensors").unlink()
    lacking = [
        supply(checkpoint, ComponentFiles(vae=str(decoder)), read_index)
        for checkpoint in (first, follower)
    ]
    assert require_own_map([layer], JobCheckpoints(lacking[0], (follower,))) is layer
    for checkpoints in (JobCheckpoints(lacking[1]), JobCheckpoints(first, (lacking[1],))):
        with pytest.raises(EngineError, match="decoder only"):
            require_own_map([layer], checkpoints)


@pytest.mark.parametrize("count", [0, 2])
def test_none_and_several_maps_are_refused(canny: Path, tmp_path: Path, count: int) -> None:
    layer = ControlLayer(image=drawn(tmp_path / "1.png"))
    with pytest.raises(EngineError, match="follows") as caught:
        picture(canny, controls=(layer,) * count)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


def test_a_mask_is_refused_and_a_weight_is_told(canny: Path, tmp_path: Path) -> None:
    image = drawn(tmp_path / "1.png")
    with pytest.raises(EngineError, match="whole picture"):
        picture(canny, controls=(ControlLayer(image=image, mask=image),))
    assert own_map_warnings(ControlLayer(image=image)) == ()
    for layer in (
        ControlLayer(image=image, weight=0.5),
        ControlLayer(image=image, range=(0.0, 0.5)),
        ControlLayer(image=image, mode=ControlMode.PROMPT),
    ):
        (told,) = own_map_warnings(layer)
        assert told.code is ErrorCode.NOT_AVAILABLE


def test_the_command_line_follows_a_map_and_makes_the_picture_again(
    canny: Path, tmp_path: Path
) -> None:
    image = drawn(tmp_path / "house.png")
    model = ["--model", str(canny), "--steps", "1", "--size", "64x64", "--backend", "cpu"]
    shown = ["--control", image, "--control-preprocessor", "canny"]
    outs = [tmp_path / name for name in ("first.png", "again.png")]
    assert run(["generate", "a fox", *model, *shown, "--out", str(outs[0])]) == 0
    record = read_record(outs[0])
    assert record is not None
    assert record.controls
    (layer,), (report,) = record.request.controls, record.controls
    assert (layer.image, layer.network) == (image, None)
    assert (report.name, report.kind) == ("flux1-canny-dev", ControlKind.CANNY)
    assert report.map_sha256
    assert report.image_sha256
    again = ["generate", "--from", str(outs[0]), "--backend", "cpu", "--out", str(outs[1])]
    assert run(again) == 0
    first, second = (np.asarray(Image.open(path)) for path in outs)
    assert np.array_equal(first, second)
