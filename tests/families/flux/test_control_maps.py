"""Flux.1 Canny and Depth: how they are told apart, and the map that they follow themselves."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from engine.api.control import ControlLayer, ControlMode
from engine.api.preprocessors import CannyOptions, ControlKind
from engine.api.request import CheckpointOverride
from engine.api.second_passes import SecondPass
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import identify
from engine.metadata.record import read_record
from engine.pipeline.control.own_map import own_map_warnings
from tests.families.flux.test_pictures import picture, write_checkpoint

CHANNELS = 128


@pytest.fixture(scope="module")
def canny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flux")
    return write_checkpoint(folder / "flux1-canny-dev.safetensors", channels=CHANNELS)


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
