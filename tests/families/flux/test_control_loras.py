"""Control-LoRAs of Flux.1: dev follows a map with them, in memory or over weights in blocks."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.cli import run as command
from backends.base import DType, Precision
from backends.cpu import CpuBackend
from engine.api.control import ControlLayer
from engine.api.lora import LoraChoice, LoraMode
from engine.api.lora_rules import LoraRules
from engine.api.preprocessors import ControlKind
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import Component, identify
from engine.families.lora_purpose import fit_lora, purpose_of, with_inputs_for
from engine.graphs.flux import FluxConfig
from engine.lora.file import LoraFile, read_lora
from engine.lora.folder import LoraLookup
from engine.pipeline.lora_patches import ActingLora, pass_loras
from engine.text.lora_tags import LoraUse
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.families.flux.files import drawn
from tests.families.flux.test_gguf import SIZES, parts_beside, write_pair
from tests.families.flux.test_pictures import write_checkpoint
from tests.families.gguf_parts import decibels
from tests.families.listings import Listing
from tests.pipeline.jobs import a_request, run

RANK = 4


def write_lora(path: Path, width: int = 64, channels: int = 128, head: int = 32) -> Path:
    """A control-LoRA as Black Forest Labs writes it, of some layers."""
    block = "double_blocks.0"
    listing: Listing = {f"{block}.img_attn.norm.query_norm.scale": (head,)}
    for layer, out, into in (
        ("img_in", width, channels),
        (f"{block}.img_attn.qkv", 3 * width, width),
        (f"{block}.img_mod.lin", 6 * width, width),
        ("single_blocks.0.linear2", width, 5 * width if width == 64 else 3 * width),
    ):
        listing |= {f"{layer}.lora_A.weight": (RANK, into), f"{layer}.lora_B.weight": (out, RANK)}
        listing[f"{layer}.lora_B.bias"] = (out,)
    arrays = drawn(listing)
    arrays |= {
        name: 3 * array for name, array in arrays.items() if name.startswith("img_in.lora_A")
    }
    write_arrays(path, arrays)
    return path


def read(path: Path) -> LoraFile:
    return read_lora(read_index(path))


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux") / "flux1-dev.safetensors")


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    levels = np.random.default_rng(2).integers(0, 256, (6, 9, 3), np.uint8)
    Image.fromarray(levels).resize((96, 64), Image.Resampling.NEAREST).save(tmp_path / "map.png")
    return tmp_path / "map.png"


@pytest.mark.parametrize(
    ("name", "variant", "guidance", "kind"),
    [
        ("flux1-canny-dev-lora", "canny", 30.0, ControlKind.CANNY),
        ("flux1-depth-dev-lora", "depth", 10.0, ControlKind.DEPTH),
        ("mine", "control", 10.0, None),
    ],
)
def test_dev_has_inputs_for_a_map_with_a_control_lora(
    dev: Path, tmp_path: Path, name: str, variant: str, guidance: float, kind: ControlKind | None
) -> None:
    checkpoint, file = identify(dev), read(write_lora(tmp_path / f"{name}.safetensors"))
    assert (purpose_of(file).families, purpose_of(file).takes_map) == (("flux1",), True)
    led = with_inputs_for(file, checkpoint)
    assert led is not None
    assert (led.variant, led.hints.guidance, led.digest) == (variant, guidance, checkpoint.digest)
    features = led.architecture.features
    assert features.follows_map
    assert features.own_map is kind
    config = led.components[Component.DENOISER].config
    assert isinstance(config, FluxConfig)
    assert config.in_channels == 128
    before, after = (
        as_source(network.components[Component.DENOISER].weights["x_embedder.weight"]).read()
        for network in (checkpoint, led)
    )
    np.testing.assert_array_equal(after, np.pad(before, ((0, 0), (0, 64))))
    assert fit_lora(file, led).unused == ()


def test_other_models_and_other_files_stay_as_they_are(dev: Path, tmp_path: Path) -> None:
    own = identify(write_checkpoint(tmp_path / "flux1-canny-dev.safetensors", channels=128))
    file = read(write_lora(tmp_path / "control.safetensors"))
    assert with_inputs_for(file, own) is own
    checkpoint = identify(dev)
    plain = read(write_lora(tmp_path / "plain.safetensors", channels=64))
    assert with_inputs_for(plain, checkpoint) is checkpoint
    assert not purpose_of(plain).takes_map


def test_a_model_without_those_inputs_refuses_the_file(dev: Path, tmp_path: Path) -> None:
    file = read(write_lora(tmp_path / "control.safetensors"))
    fill = identify(write_checkpoint(tmp_path / "fill.safetensors", channels=384))
    assert with_inputs_for(file, fill) is None
    for checkpoint in (fill, identify(dev)):
        with pytest.raises(EngineError, match="makes a model follow a map") as caught:
            fit_lora(file, checkpoint)
        assert caught.value.code is ErrorCode.LORA_MISMATCH


@pytest.mark.parametrize("mode", [LoraMode.SIDE, LoraMode.MERGE])
def test_matrices_go_beside_the_network_and_vectors_into_it(
    dev: Path, tmp_path: Path, mode: LoraMode
) -> None:
    file = read(write_lora(tmp_path / "control.safetensors"))
    led = with_inputs_for(file, identify(dev))
    assert led is not None
    lora = ActingLora(fit_lora(file, led), LoraUse("control", (0.8,), 0.8), LoraRules())
    patches = pass_loras([lora], led, mode, 2).stretches[0].patches[Component.DENOISER]
    merged = {name for name in patches.merged if name.endswith(".weight")}
    norm = "transformer_blocks.0.attn.norm_q.weight"
    if mode is LoraMode.MERGE:
        assert patches.branches is None
        assert "x_embedder.weight" in merged
        return
    assert patches.branches is not None
    assert "x_embedder" in patches.branches.layers
    assert merged == {norm}
    assert "x_embedder.bias" in patches.merged


def test_the_command_line_makes_a_picture_by_a_map_again(
    dev: Path, shown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lora = write_lora(tmp_path / "flux1-canny-dev-lora.safetensors")
    model = ["--model", str(dev), "--steps", "2", "--size", "64x64", "--backend", "cpu"]
    asked = ["generate", "a fox", *model, "--seed", "5", "--lora", str(lora)]
    assert command([*asked, "--out", str(tmp_path / "none.png")]) != 0
    assert "follows a map, and there is none" in capsys.readouterr().err
    black = tmp_path / "black.png"
    Image.new("RGB", (64, 64)).save(black)
    made: dict[str, NDArray[np.uint8]] = {}
    for name, image in (("first", shown), ("black", black)):
        out = tmp_path / f"{name}.png"
        assert command([*asked, "--control", str(image), "--out", str(out)]) == 0
        made[name] = np.asarray(Image.open(out))
    assert not np.array_equal(made["first"], made["black"])
    again = tmp_path / "again.png"
    first = str(tmp_path / "first.png")
    assert command(["generate", "--from", first, "--backend", "cpu", "--out", str(again)]) == 0
    np.testing.assert_array_equal(np.asarray(Image.open(again)), made["first"])


def test_a_control_lora_acts_beside_weights_in_blocks(tmp_path: Path, shown: Path) -> None:
    """At least 35 dB beside the picture of the dequantised weights."""
    flux, encoder, whole = write_pair(tmp_path, DType.Q8_0)
    lora = write_lora(tmp_path / "depth.safetensors", SIZES.width)
    asked = {
        "width": 96,
        "height": 64,
        "steps": 2,
        "convention": "comfy",
        "loras": (LoraChoice(file=str(lora)),),
        "lora_mode": LoraMode.SIDE,
        "controls": (ControlLayer(image=str(shown)),),
    }
    made = [
        run(
            a_request(path, **asked, components=parts),
            CpuBackend(),
            (Precision.F32,),
            lookup=LoraLookup(()),
        ).pixels[0]
        for path, parts in ((flux, parts_beside(tmp_path, encoder)), (whole, ComponentFiles()))
    ]
    assert made[0].std() > 1
    assert decibels(made[0], made[1]) > 35
