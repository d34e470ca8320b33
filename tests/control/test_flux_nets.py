"""ControlNets of Flux.1 in files: which are read, what they fit, and pictures that they lead."""

from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from app.cli import run
from backends.base import Array, Precision
from backends.cpu import CpuBackend
from engine.api.control import ControlLayer, ControlResize
from engine.api.conventions import CONVENTIONS
from engine.api.features import OptionalSetting
from engine.api.preprocessors import ControlKind
from engine.api.values import ConventionName, ErrorCode
from engine.control.flux_nets import FluxNetModel
from engine.control.model import control_model
from engine.control.network import ControlForm
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.families import identify
from engine.graphs.control_residuals import TokenResidualForm
from engine.graphs.flux_control import FluxControlConfig
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve_job
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.control.painting import check_painting
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.flux.test_pictures import CLIP, CONTEXT, picture, write_checkpoint
from tests.families.listings import Listing, affine
from tests.pipeline.jobs import a_request
from tests.pipeline.jobs import run as run_job
from tests.pipeline.test_autoencoding import Small

# The last convolution of XLabs' layers for maps; between two is an activation.
_LAST = 14
SIZES = FluxSizes(64, 32, 256, CONTEXT, CLIP, 1, 0)


def xlabs(sizes: FluxSizes) -> Listing:
    """A network in XLabs' layout."""
    blocks = {
        name: shape
        for name, shape in files.original(sizes).items()
        if not name.startswith("final_layer.")
    }
    hints = {
        name: (16, 3 if number == 0 else 16, 3, 3) if name.endswith("weight") else (16,)
        for number in range(0, _LAST + 1, 2)
        for name in (f"input_hint_block.{number}.weight", f"input_hint_block.{number}.bias")
    }
    outs: Listing = {}
    for block in range(sizes.double):
        outs |= affine(f"controlnet_blocks.{block}", sizes.width, sizes.width)
    return {**blocks, **hints, **outs, **affine("pos_embed_input", sizes.width, sizes.channels)}


def painting(sizes: FluxSizes, cells: int = 4) -> Listing:
    """A network for inpainting; a token of its map has so many numbers of a mask."""
    blocks = {name: shape for name, shape in xlabs(sizes).items() if "hint" not in name}
    return blocks | affine("pos_embed_input", sizes.width, sizes.channels + cells)


def showing(listing: Listing) -> dict[str, Array]:
    """Numbers of a network whose residuals show: drawn weights are too small for 8 bits."""
    arrays = files.drawn(listing)
    return arrays | {name: 40 * array for name, array in arrays.items() if "net_blocks" in name}


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux") / "flux1-dev.safetensors")


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "flux-depth-controlnet-v3.safetensors"
    write_arrays(path, showing(xlabs(SIZES)))
    return path


@pytest.fixture(scope="module")
def painter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network for inpainting under a name that tells another kind."""
    path = tmp_path_factory.mktemp("painter") / "flux-depth-controlnet-v3.safetensors"
    write_arrays(path, showing(painting(SIZES)))
    return path


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    levels = np.random.default_rng(2).integers(0, 256, (6, 9, 3), np.uint8)
    Image.fromarray(levels).resize((96, 64), Image.Resampling.NEAREST).save(tmp_path / "map.png")
    return tmp_path / "map.png"


def test_a_network_of_xlabs_is_read_with_joined_layers_cut(net: Path) -> None:
    found = read_control_network(net)
    assert (found.form, found.family, found.kind) == (
        ControlForm.CONTROL_NET,
        "flux1",
        ControlKind.DEPTH,
    )
    assert isinstance(found.sizes, FluxControlConfig)
    assert found.sizes.embeds_pixels
    assert found.sizes.form == TokenResidualForm(1, 0, in_turn=True)
    assert "input_hint_block.conv_out.weight" in found.weights
    key = as_source(found.weights["transformer_blocks.0.attn.to_k.weight"])
    assert key.shape == (64, 64)


def test_a_network_with_a_mask_among_its_numbers_paints_a_part(
    painter: Path, net: Path, tmp_path: Path
) -> None:
    found = read_control_network(painter)
    assert found.sees_mask
    assert (found.kind, found.stated_kind) == (ControlKind.INPAINT, ControlKind.INPAINT)
    other = read_control_network(net)
    assert (other.sees_mask, other.stated_kind) == (False, None)
    pixels, kinds = xlabs(SIZES), {"controlnet_mode_embedder.weight": (5, SIZES.width)}
    wide = affine("pos_embed_input", SIZES.width, SIZES.channels + 4)
    for listing in (painting(SIZES, 8), pixels | wide, painting(SIZES) | kinds):
        write_arrays(tmp_path / "net.safetensors", files.drawn(listing))
        with pytest.raises(EngineError, match="numbers of a map"):
            read_control_network(tmp_path / "net.safetensors")


def test_a_network_for_inpainting_sees_both_prompts_and_a_mean(
    painter: Path, net: Path, dev: Path
) -> None:
    checkpoint = identify(dev)
    alone = {
        (path == painter, tool): control_model(read_control_network(path), checkpoint, tool)
        for path in (painter, net)
        for tool in ConventionName
    }
    seen = {
        key: model.sees_prompt_alone(CONVENTIONS[key[1]].control) for key, model in alone.items()
    }
    assert {key for key, only in seen.items() if only} == {(False, ConventionName.DIFFUSERS)}
    assert {paints for (paints, _), model in alone.items() if model.draws_latent} == {False}


def test_a_painted_part_and_what_is_kept_act_on_the_picture(
    painter: Path, dev: Path, shown: Path
) -> None:
    check_painting(picture, dev, painter, shown)


def test_a_network_for_inpainting_paints_whatever_kind_is_asked_for(
    painter: Path, dev: Path, shown: Path
) -> None:
    mask = shown.with_name("mask.png")
    Image.fromarray(np.full((64, 96), 255, np.uint8)).save(mask)
    asked = ControlLayer(image=str(shown), network=str(painter), mask=str(mask))
    usual, depth = (
        picture(dev, controls=(msgspec.structs.replace(asked, kind=kind),), steps=1)
        for kind in (None, ControlKind.DEPTH)
    )
    np.testing.assert_array_equal(depth, usual)


@pytest.mark.parametrize(
    ("level", "resize", "told"),
    [
        (None, ControlResize.CROP, True),
        (90, ControlResize.STRETCH, True),
        (255, ControlResize.CROP, False),
        (None, ControlResize.FILL, False),
    ],
)
def test_a_picture_of_which_nothing_is_painted_gives_a_warning(
    painter: Path, dev: Path, shown: Path, level: int | None, resize: ControlResize, *, told: bool
) -> None:
    mask = shown.with_name("mask.png")
    if level is not None:
        Image.fromarray(np.full((64, 96), level, np.uint8)).save(mask)
    layer = ControlLayer(
        image=str(shown),
        network=str(painter),
        mask=None if level is None else str(mask),
        resize=resize,
    )
    request = a_request(dev, controls=(layer,))
    read = read_job(resolve_job(request, load_checkpoints(request))).controls
    assert bool(read.warnings) is told
    assert all("it keeps all of it" in str(warning.text) for warning in read.warnings)
    (painting,) = read.acting
    assert painting.mask is not None
    assert (painting.paints, painting.acts_in_part) == (True, False)


def test_a_network_without_a_mask_sees_the_whole_picture_where_a_part_is_painted(
    net: Path, dev: Path, shown: Path
) -> None:
    """diffusers and ComfyUI blank nothing for it; its VAE would see levels below black."""
    mask = shown.with_name("mask.png")
    Image.fromarray(np.full((64, 96), 255, np.uint8)).save(mask)
    whole = ControlLayer(image=str(shown), network=str(net))
    asked = msgspec.structs.replace(whole, kind=ControlKind.INPAINT, mask=str(mask))
    usual, told = (picture(dev, controls=(layer,), steps=1) for layer in (whole, asked))
    np.testing.assert_array_equal(told, usual)
    request = a_request(dev, controls=(asked,))
    read = read_job(resolve_job(request, load_checkpoints(request))).controls
    assert ["it follows all of" in str(warning.text) for warning in read.warnings] == [True]
    (following,) = read.acting
    assert (following.paints, following.acts_in_part) == (False, True)


def test_residuals_are_for_several_blocks_each() -> None:
    union = TokenResidualForm(5, 10)
    assert [union.of_double(block, 19) for block in (0, 3, 4, 18)] == [0, 0, 1, 4]
    assert [union.of_single(block, 38) for block in (0, 3, 4, 37)] == [5, 5, 6, 14]
    in_turn = TokenResidualForm(2, 0, in_turn=True)
    assert [in_turn.of_double(block, 19) for block in (0, 1, 2, 18)] == [0, 1, 0, 0]
    assert in_turn.of_single(3, 38) is None


def test_a_network_of_other_sizes_and_one_for_guidance_are_refused(
    net: Path, dev: Path, tmp_path: Path
) -> None:
    checkpoint = identify(dev)
    assert OptionalSetting.CONTROLS in checkpoint.architecture.features.options
    assert isinstance(control_model(read_control_network(net), checkpoint), FluxNetModel)
    schnell = identify(write_checkpoint(tmp_path / "schnell.safetensors", guidance=False))
    wider = tmp_path / "wider.safetensors"
    write_arrays(wider, files.drawn(xlabs(FluxSizes(64, 32, 256, CONTEXT + 8, CLIP, 1, 0))))
    for path, other in ((net, schnell), (wider, checkpoint)):
        with pytest.raises(EngineError, match="other sizes") as caught:
            control_model(read_control_network(path), other)
        assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_a_network_that_lacks_a_layer_is_refused(tmp_path: Path) -> None:
    arrays = files.drawn(xlabs(FluxSizes(64, 32, 256, CONTEXT, CLIP, 1, 0)))
    del arrays["controlnet_blocks.0.weight"]
    write_arrays(tmp_path / "net.safetensors", arrays)
    with pytest.raises(EngineError, match="controlnet_blocks"):
        read_control_network(tmp_path / "net.safetensors")


def test_weight_range_and_mask_act_on_the_picture(net: Path, dev: Path, shown: Path) -> None:
    mask = shown.with_name("mask.png")
    left = np.zeros((64, 96), np.uint8)
    left[:, :48] = 255
    Image.fromarray(left).save(mask)
    whole = ControlLayer(image=str(shown), network=str(net))
    other = {
        "none": (),
        "whole": (whole,),
        "weak": (ControlLayer(image=str(shown), network=str(net), weight=0.3),),
        "early": (ControlLayer(image=str(shown), network=str(net), range=(0.0, 0.5)),),
        "left": (ControlLayer(image=str(shown), network=str(net), mask=str(mask)),),
    }
    made = {name: picture(dev, controls=layers) for name, layers in other.items()}
    pairs = combinations(made, 2)
    assert [pair for pair in pairs if np.array_equal(made[pair[0]], made[pair[1]])] == []


def test_maps_are_encoded_in_the_tiles_of_pictures(dev: Path, tmp_path: Path) -> None:
    levels = np.random.default_rng(2).integers(0, 256, (256, 320, 3), np.uint8)
    Image.fromarray(levels).save(tmp_path / "map.png")
    listing = xlabs(FluxSizes(64, 32, 256, CONTEXT, CLIP, 1, 0))
    latent = {name: shape for name, shape in listing.items() if "hint" not in name}
    write_arrays(
        tmp_path / "net.safetensors", {n: 5 * array for n, array in files.drawn(latent).items()}
    )
    led = ControlLayer(image=str(tmp_path / "map.png"), network=str(tmp_path / "net.safetensors"))
    request = a_request(dev, width=320, height=256, steps=1, controls=(led,))
    plain = run_job(msgspec.structs.replace(request, controls=()), CpuBackend()).pixels[0]
    # There is no memory for the encoder of a whole picture.
    backends = CpuBackend(), Small("vae_encoder")
    whole, tiled = (
        run_job(msgspec.structs.replace(request, vae_tile=tile), backend, (Precision.F32,)).pixels[
            0
        ]
        for tile, backend in zip((None, 256), backends, strict=True)
    )
    assert "vae_encoder_shell" in backends[1].loads
    assert np.abs(whole.astype(int) - tiled).max() <= 2 < np.abs(whole.astype(int) - plain).max()


def test_the_command_line_makes_a_led_picture_again(
    net: Path, dev: Path, shown: Path, tmp_path: Path
) -> None:
    model = ["--model", str(dev), "--steps", "1", "--size", "64x64", "--backend", "cpu"]
    control = ["--control", str(shown), "--control-model", str(net)]
    outs = [tmp_path / name for name in ("first.png", "again.png")]
    assert run(["generate", "a fox", *model, *control, "--out", str(outs[0])]) == 0
    again = ["generate", "--from", str(outs[0]), "--backend", "cpu", "--out", str(outs[1])]
    assert run(again) == 0
    first, second = (np.asarray(Image.open(path)) for path in outs)
    assert np.array_equal(first, second)
