"""ControlNets of SD 3 and 3.5 in files: which are read, what they fit, and pictures by them."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from onnx.shape_inference import infer_shapes
from PIL import Image

from app.cli import run
from backends.base import Array, DType, Precision
from engine.api.control import ControlLayer
from engine.api.features import OptionalSetting
from engine.api.preprocessors import ControlKind
from engine.api.values import ConventionName, ErrorCode
from engine.control.model import control_model
from engine.control.network import ControlForm, ControlNetwork, Sd3NetSizes
from engine.control.reading import read_control_network
from engine.control.sd3_nets import Sd3NetModel, comfy_places
from engine.errors import EngineError
from engine.families import identify
from engine.families.latents import EncodedImage
from engine.graphs.control_residuals import JointForm
from engine.graphs.operators import GraphBuilder
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.control.painting import check_painting
from tests.families.flux.files import drawn
from tests.families.flux.test_pictures import write_checkpoint as flux_checkpoint
from tests.families.listings import Listing, affine
from tests.families.sd3.test_pictures import picture, whole
from tests.graphs.networks import PLAIN

WIDTH, CONTEXT, POOLED, PLACES = 64, 136, 128, 16
TOOLS = list(ConventionName)


def common(blocks: int, channels: int = 16) -> Listing:
    """The layers that both kinds of networks have by the same names."""
    names: Listing = affine("pos_embed_input.proj", WIDTH, channels, 2, 2)
    for name, inner in (("timestep", 256), ("text", POOLED)):
        layers = f"time_text_embed.{name}_embedder.linear_"
        names |= affine(f"{layers}1", WIDTH, inner) | affine(f"{layers}2", WIDTH, WIDTH)
    for block in range(blocks):
        names |= affine(f"controlnet_blocks.{block}", WIDTH, WIDTH)
    return names


def stability(blocks: int = 2) -> Listing:
    """A network of Stability AI's for SD 3.5 large, which holds a first layer that goes unused."""
    names = common(blocks) | affine("pos_embed.proj", WIDTH, 16, 2, 2)
    for block in range(blocks):
        inner = f"transformer_blocks.{block}"
        names |= affine(f"{inner}.adaLN_modulation.1", 6 * WIDTH, WIDTH)
        names |= affine(f"{inner}.attn.qkv", 3 * WIDTH, WIDTH)
        names |= affine(f"{inner}.attn.proj", WIDTH, WIDTH)
        names |= affine(f"{inner}.mlp.fc1", 4 * WIDTH, WIDTH)
        names |= affine(f"{inner}.mlp.fc2", WIDTH, 4 * WIDTH)
    return names


def joint(blocks: int = 2, channels: int = 16, context: int = CONTEXT) -> Listing:
    """A network of InstantX in diffusers' layout; with 17 channels of a map, one of alimama's."""
    names = common(blocks, channels) | affine("pos_embed.proj", WIDTH, 16, 2, 2)
    names |= {"pos_embed.pos_embed": (1, PLACES**2, WIDTH)}
    names |= affine("context_embedder", WIDTH, context)
    for block in range(blocks):
        inner = f"transformer_blocks.{block}"
        for part in ("norm1", "norm1_context"):
            names |= affine(f"{inner}.{part}.linear", 6 * WIDTH, WIDTH)
        layers = [f"{kind}_{part}" for kind in ("to", "add") for part in "qkv"]
        names |= affine(f"{inner}.attn.to_add_out", WIDTH, WIDTH)
        for layer in (*layers, "to_out.0"):
            ending = "_proj" if layer.startswith("add") else ""
            names |= affine(f"{inner}.attn.{layer}{ending}", WIDTH, WIDTH)
        for part in ("ff", "ff_context"):
            names |= affine(f"{inner}.{part}.net.0.proj", 4 * WIDTH, WIDTH)
            names |= affine(f"{inner}.{part}.net.2", WIDTH, 4 * WIDTH)
    return names


def written(path: Path, listing: Listing, kind: int | None = None) -> Path:
    """A file of a network whose residuals show, with the number of its kind of maps."""
    arrays: dict[str, Array] = drawn(listing)
    # Drawn weights are too small to show in 8 bits.
    arrays |= {name: 20 * array for name, array in arrays.items() if "controlnet_blocks" in name}
    dtypes = dict.fromkeys(arrays, DType.F32)
    if kind is not None:
        arrays["control_type"], dtypes["control_type"] = np.array([kind], np.int32), DType.I32
    write_arrays(path, arrays, dtypes)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sd3") / "tiny_sd3.safetensors"
    write_arrays(path, drawn(whole()))
    return path


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("nets")
    return {
        "joint": written(folder / "sd3_pose.safetensors", joint()),
        "canny": written(folder / "canny_8b.safetensors", stability(), 1),
        "depth": written(folder / "eight.safetensors", stability(), 2),
    }


@pytest.fixture(scope="module")
def painter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network for inpainting under a name that tells another kind."""
    folder = tmp_path_factory.mktemp("painter")
    return written(folder / "sd3_pose.safetensors", joint(channels=17))


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    levels = np.random.default_rng(2).integers(0, 256, (6, 9, 3), np.uint8)
    Image.fromarray(levels).resize((96, 64), Image.Resampling.NEAREST).save(tmp_path / "map.png")
    return tmp_path / "map.png"


def sizes_of(network: ControlNetwork) -> Sd3NetSizes:
    assert isinstance(network.sizes, Sd3NetSizes)
    return network.sizes


def test_files_tell_their_blocks_and_the_kind_of_their_maps(nets: dict[str, Path]) -> None:
    pose, canny, depth = (read_control_network(path) for path in nets.values())
    assert {(network.form, network.family) for network in (pose, canny, depth)} == {
        (ControlForm.CONTROL_NET, "sd3")
    }
    assert [network.kind for network in (pose, canny, depth)] == [
        ControlKind.POSE,
        ControlKind.CANNY,
        ControlKind.DEPTH,
    ]
    assert [sizes_of(network).kind for network in (pose, canny)] == [None, ControlKind.CANNY]
    config = sizes_of(canny).config
    assert (config.joint, config.borrows_tokens, config.ignores_pooled) == (False, True, False)
    config = sizes_of(pose).config
    assert (config.joint, config.borrows_tokens, config.ignores_pooled) == (True, False, True)
    assert config.places == PLACES
    key = as_source(canny.weights["transformer_blocks.1.attn.to_k.weight"])
    joined = drawn(stability())["transformer_blocks.1.attn.qkv.weight"]
    np.testing.assert_array_equal(key.read(), joined[WIDTH : 2 * WIDTH])


def test_a_number_of_no_known_kind_leaves_the_name(tmp_path: Path) -> None:
    path = written(tmp_path / "blur.safetensors", stability(), 9)
    assert read_control_network(path).kind is ControlKind.TILE


def test_other_models_other_sizes_and_more_than_a_mask_are_refused(
    nets: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    checkpoint = identify(model)
    assert OptionalSetting.CONTROLS in checkpoint.architecture.features.options
    assert isinstance(control_model(read_control_network(nets["joint"]), checkpoint), Sd3NetModel)
    flux = identify(flux_checkpoint(tmp_path / "flux.safetensors"))
    wider = written(tmp_path / "wider.safetensors", joint(context=CONTEXT + 8))
    longer = written(tmp_path / "longer.safetensors", stability(4))
    for path, other, words in (
        (nets["joint"], flux, "a ControlNet for SD 3.x, but"),
        (wider, checkpoint, "other sizes"),
        (longer, checkpoint, "other sizes"),
    ):
        with pytest.raises(EngineError, match=words) as caught:
            control_model(read_control_network(path), other)
        assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    with pytest.raises(EngineError, match="of a kind that is not run"):
        read_control_network(written(tmp_path / "wide.safetensors", joint(channels=18)))


@pytest.mark.parametrize(
    "lost", ["controlnet_blocks.1.weight", "transformer_blocks.0.attn.qkv.bias"]
)
def test_a_network_that_lacks_a_layer_is_refused(tmp_path: Path, lost: str) -> None:
    listing = {name: shape for name, shape in stability().items() if name != lost}
    with pytest.raises(EngineError, match="is missing"):
        read_control_network(written(tmp_path / "net.safetensors", listing))


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({}, ""),
        ({"force_zeros_for_pooled_projection": False}, ""),
        ({"num_layers": 3}, "num_layers = 3"),
        ({"use_pos_embed": False}, "use_pos_embed = False"),
        ({"patch_size": 4}, "patch_size = 4"),
    ],
)
def test_a_folder_states_what_tensors_do_not(
    tmp_path: Path, said: dict[str, object], match: str
) -> None:
    folder = tmp_path / "sd3.5-canny"
    folder.mkdir()
    written(folder / "diffusion_pytorch_model.safetensors", joint())
    stated = {
        "num_layers": 2,
        "num_attention_heads": 2,
        "attention_head_dim": 32,
        "joint_attention_dim": CONTEXT,
        "pooled_projection_dim": POOLED,
    }
    (folder / "config.json").write_text(json.dumps(stated | said))
    if match:
        with pytest.raises(EngineError, match=match):
            read_control_network(folder)
        return
    found = read_control_network(folder)
    assert (found.name, found.kind) == ("sd3.5-canny", ControlKind.CANNY)
    assert sizes_of(found).config.heads == 2
    assert sizes_of(found).config.ignores_pooled is not bool(said)


def test_maps_are_encoded_as_each_tool_does(nets: dict[str, Path], model: Path) -> None:
    checkpoint, maps = identify(model), np.array([0.0, 0.25, 1.0], np.float32).reshape(1, 1, 1, 3)
    told: dict[str, list[float]] = {}
    for name, path in nets.items():
        for tool in TOOLS:
            found = control_model(read_control_network(path), checkpoint, tool)
            made = found.shown(maps, [ControlKind.DEPTH])["image"]
            told[f"{name} {tool.value}"] = made.reshape(-1).tolist()
    usual, edges, inverse = [-1.0, -0.5, 1.0], [0.5, 32.375, 128.0], [1.0, 0.5, -1.0]
    assert told == {
        **{f"joint {tool.value}": usual for tool in TOOLS},
        **{f"canny {tool.value}": edges for tool in TOOLS},
        **{f"depth {tool.value}": inverse for tool in TOOLS},
        "canny comfy": [0.0, 63.75, 255.0],
        "depth diffusers": usual,
    }


def test_a_network_with_a_channel_more_paints_a_part(painter: Path, nets: dict[str, Path]) -> None:
    found = read_control_network(painter)
    assert found.sees_mask
    assert (found.kind, found.stated_kind) == (ControlKind.INPAINT, ControlKind.INPAINT)
    config = sizes_of(found).config
    assert (config.channels, config.joint, config.ignores_pooled) == (16, True, True)
    others = [read_control_network(path) for path in nets.values()]
    assert not any(network.sees_mask for network in others)
    assert [network.stated_kind for network in others] == [
        None,
        ControlKind.CANNY,
        ControlKind.DEPTH,
    ]


def test_latents_of_painted_pictures_lack_the_shift_in_comfy_alone(
    painter: Path, nets: dict[str, Path], model: Path
) -> None:
    checkpoint = identify(model)
    form = checkpoint.latent
    latent = EncodedImage.exactly(np.ones((1, 16, 2, 2), np.float32), form)
    told: dict[str, float] = {}
    for name, path in (("painter", painter), ("pose", nets["joint"])):
        for tool in TOOLS:
            seen = control_model(read_control_network(path), checkpoint, tool).encoded(latent)
            told[f"{name} {tool.value}"] = round(float(seen.mean[0, 0, 0, 0]), 4)
    plain, shifted = round(form.scale, 4), round(form.scale * (1 - form.shift), 4)
    assert plain != shifted
    assert told == {
        **{f"painter {tool.value}": shifted for tool in TOOLS},
        **{f"pose {tool.value}": plain for tool in TOOLS},
        "painter comfy": plain,
    }


def test_a_painted_part_and_what_is_kept_act_on_the_picture(
    painter: Path, model: Path, shown: Path
) -> None:
    check_painting(picture, model, painter, shown)


def test_residuals_are_spread_over_the_blocks() -> None:
    few = JointForm(6, 0)
    assert [few.of_double(block, 24) for block in (0, 3, 4, 22, 23)] == [0, 0, 1, 5, None]
    large = JointForm(19, 0, to_last=True)
    assert [large.of_double(block, 38) for block in (0, 1, 2, 36, 37)] == [0, 0, 1, 18, 18]
    assert JointForm(19, 0).of_double(37, 38) is None
    assert large.name != JointForm(19, 0).name


@pytest.mark.parametrize("name", ["joint", "canny", "painter"])
def test_networks_are_emitted_in_16_bits(
    nets: dict[str, Path], painter: Path, model: Path, name: str
) -> None:
    path = {**nets, "painter": painter}[name]
    found = control_model(read_control_network(path), identify(model))
    step = found.denoising(64, 96)
    assert step is not None
    g = GraphBuilder("control", step.weights, PLAIN, DType.F16, Precision.F16)
    step.emit(g)
    graph = ModelProto.FromString(g.build({}).model)
    infer_shapes(graph, check_type=True, strict_mode=True)


def test_diffusers_alone_adds_nothing_after_the_last_block(
    nets: dict[str, Path], model: Path
) -> None:
    checkpoint = identify(model)
    told = {
        (name, tool): control_model(read_control_network(path), checkpoint, tool).residuals
        for name, path in nets.items()
        for tool in TOOLS
    }
    assert {key for key, form in told.items() if form == JointForm(2, 0, to_last=True)} == {
        (name, tool)
        for name in ("canny", "depth")
        for tool in TOOLS
        if tool is not ConventionName.DIFFUSERS
    }


def test_places_are_those_of_the_model_but_in_comfy(nets: dict[str, Path], model: Path) -> None:
    checkpoint, network = identify(model), read_control_network(nets["depth"])
    made = {
        tool: control_model(network, checkpoint, tool).size_inputs(64, 96)["places"]
        for tool in TOOLS
    }
    own = checkpoint.architecture.denoiser.size_inputs(64, 96)["places"]
    for tool, places in made.items():
        assert np.array_equal(places, own) is (tool is not ConventionName.COMFY)
    np.testing.assert_array_equal(made[ConventionName.COMFY], comfy_places(4, 6, WIDTH))


def test_comfys_places_go_from_0_to_15_along_the_shorter_side() -> None:
    places = comfy_places(4, 6, 8)
    # At the left the column is 7.5 - 7.5 * 6 / 4; the second wave turns a hundredth as fast.
    first, second = -3.75, -0.0375
    column = [np.sin(first), np.sin(second), np.cos(first), np.cos(second)]
    np.testing.assert_allclose(places[0], [*column, 0, 0, 1, 1], atol=1e-6)
    last = places[-1][4:]
    np.testing.assert_allclose(last, [np.sin(15), np.sin(0.15), np.cos(15), np.cos(0.15)], 1e-5)


@pytest.mark.parametrize("name", ["joint", "canny"])
def test_weight_range_and_mask_act_on_the_picture(
    nets: dict[str, Path], model: Path, shown: Path, name: str
) -> None:
    mask, net = shown.with_name("mask.png"), str(nets[name])
    left = np.zeros((64, 96), np.uint8)
    left[:, :48] = 255
    Image.fromarray(left).save(mask)
    other = {
        "none": (),
        "whole": (ControlLayer(image=str(shown), network=net),),
        "weak": (ControlLayer(image=str(shown), network=net, weight=0.3),),
        "early": (ControlLayer(image=str(shown), network=net, range=(0.0, 0.5)),),
        "left": (ControlLayer(image=str(shown), network=net, mask=str(mask)),),
    }
    made = {name: picture(model, controls=layers) for name, layers in other.items()}
    pairs = combinations(made, 2)
    assert [pair for pair in pairs if np.array_equal(made[pair[0]], made[pair[1]])] == []


def test_the_command_line_tells_of_a_network_and_makes_its_picture_again(
    nets: dict[str, Path],
    model: Path,
    shown: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["inspect", str(nets["canny"])]) == 0
    assert "a ControlNet for SD 3.x" in capsys.readouterr().out
    asked = ["--model", str(model), "--steps", "1", "--size", "64x64", "--backend", "cpu"]
    control = ["--control", str(shown), "--control-model", str(nets["canny"])]
    outs = [tmp_path / name for name in ("first.png", "again.png")]
    assert run(["generate", "a fox", *asked, *control, "--out", str(outs[0])]) == 0
    again = ["generate", "--from", str(outs[0]), "--backend", "cpu", "--out", str(outs[1])]
    assert run(again) == 0
    first, second = (np.asarray(Image.open(path)) for path in outs)
    assert np.array_equal(first, second)
