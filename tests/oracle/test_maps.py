"""Whole maps by networks beside the detectors of controlnet_aux, from the files they read."""
# pyright: basic, reportMissingImports=false
# torch and what follows are absent from the environment that is type-checked.

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
cv2 = pytest.importorskip("cv2")
transformers = pytest.importorskip("transformers")

from safetensors.numpy import load_file  # noqa: E402

from backends.base import Array  # noqa: E402
from engine.api import preprocessors as api  # noqa: E402
from engine.preprocessors.depth_files import positions_for  # noqa: E402
from engine.preprocessors.run import make_map  # noqa: E402
from tests.oracle.controlnet_aux import load  # noqa: E402
from tests.oracle.test_annotators import shaken  # noqa: E402
from tests.preprocessors.annotator_files import loaded  # noqa: E402
from tests.preprocessors.pictures import Pixels, shapes  # noqa: E402

LOG = logging.getLogger(__name__)
# Sides that are multiples of 64: controlnet_aux resizes others in another way than the extension.
PICTURE: Pixels = shapes(192, 128)
RESOLUTION = 128


def saved(module: Any, path: Path, prefix: str = "") -> Path:
    """A module's weights in a file of torch."""
    state = {prefix + name: value for name, value in module.state_dict().items()}
    torch.save({"state_dict": state} if prefix else state, path)
    return path


def hed(folder: Path) -> tuple[Path, Any]:
    module = shaken(load("hed").ControlNetHED_Apache2())
    with torch.no_grad():
        for name, value in module.named_parameters():
            # Logits around zero, whose edges are neither all black nor all white.
            value *= 0.02 if "projection" in name else 1
    return saved(module, folder / "ControlNetHED.pth"), load("hed").HEDdetector(module)


def pidinet(folder: Path) -> tuple[Path, Any]:
    module = shaken(load("pidi").pidinet(), 0.8)
    path = saved(module, folder / "table5_pidinet.pth", "module.")
    return path, load("pidi").PidiNetDetector(module)


def lineart(folder: Path) -> tuple[Path, Any]:
    module = shaken(load("lineart").Generator(3, 1, 3))
    return saved(module, folder / "sk_model.pth"), load("lineart").LineartDetector(module, module)


Make = Callable[[Path], tuple[Path, Any]]


@pytest.mark.parametrize(
    ("make", "options", "their_options"),
    [
        (lineart, api.LineartOptions(resolution=RESOLUTION), {}),
        (hed, api.HedOptions(resolution=RESOLUTION), {}),
        (hed, api.HedOptions(resolution=RESOLUTION, safe=True), {"safe": True}),
        (hed, api.ScribbleHedOptions(resolution=RESOLUTION), {"scribble": True}),
        (pidinet, api.PidinetOptions(resolution=RESOLUTION), {}),
        (pidinet, api.PidinetOptions(resolution=RESOLUTION, safe=True), {"safe": True}),
        (pidinet, api.ScribblePidinetOptions(resolution=RESOLUTION), {"scribble": True}),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_map_is_that_of_controlnet_aux(
    make: Make, options: api.MapOptions, their_options: dict[str, bool], tmp_path: Path
) -> None:
    path, detector = make(tmp_path)
    theirs = detector(
        PICTURE,
        detect_resolution=RESOLUTION,
        image_resolution=RESOLUTION,
        output_type="np",
        **their_options,
    )
    theirs = np.broadcast_to(theirs.reshape(*theirs.shape[:2], -1), PICTURE.shape)
    network = loaded(path)
    ours = make_map(PICTURE, options, network)
    network.close()
    assert np.ptp(theirs) > 100
    differences = np.abs(ours.astype(int) - theirs)
    LOG.info("%d levels at most, %.1e of all", differences.max(), (differences > 0).mean())
    # Numbers are cut to levels, and thresholds are sharp.
    assert (differences > 0).mean() < 2e-3


def depth_model(width: int = 128) -> Any:
    """Depth Anything V2 as small as its files are recognised, with positions of 37 x 37 patches."""
    backbone = transformers.Dinov2Config(
        hidden_size=width,
        num_hidden_layers=12,
        num_attention_heads=width // 64,
        mlp_ratio=2,
        image_size=518,
        patch_size=14,
        out_indices=[3, 6, 9, 12],
        reshape_hidden_states=False,
    )
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=width,
        neck_hidden_sizes=[8, 12, 16, 20],
        fusion_hidden_size=16,
        head_hidden_size=8,
    )
    return shaken(transformers.DepthAnythingForDepthEstimation(config))


def their_depth(depth: Callable[[Any], Any], picture: Pixels) -> Pixels:
    """The steps of sd-webui-controlnet, with RGB, around a network."""
    height, width = picture.shape[:2]
    scale = max(518 / height, 518 / width)
    size = [max(int(np.round(side * scale / 14) * 14), 518) for side in (width, height)]
    seen = cv2.resize(picture / 255.0, size, interpolation=cv2.INTER_CUBIC)
    normal = (seen - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    image = torch.from_numpy(normal.transpose(2, 0, 1)[None].astype(np.float32))
    with torch.no_grad():
        near = depth(image)[None]
        near = torch.nn.functional.interpolate(
            near, (height, width), mode="bilinear", align_corners=False
        )[0, 0]
    near = (near - near.min()) / (near.max() - near.min()) * 255.0
    return np.repeat(near.numpy().astype(np.uint8)[:, :, None], 3, axis=2)


def test_depth_is_that_of_transformers(tmp_path: Path) -> None:
    model = depth_model()
    model.save_pretrained(tmp_path)
    network = loaded(tmp_path / "model.safetensors")
    ours = make_map(PICTURE, api.DepthOptions(resolution=RESOLUTION), network)
    network.close()
    theirs = their_depth(lambda image: model(image).predicted_depth, PICTURE)
    differences = np.abs(ours.astype(int) - theirs)
    LOG.info("%d levels at most, %.1e of all", differences.max(), (differences > 0).mean())
    assert differences.max() <= 1
    assert (differences > 0).mean() < 2e-3


def as_original(stored: dict[str, Array]) -> dict[str, Any]:
    """Weights of transformers by the names in the files of Depth Anything's authors."""
    names = (
        (r"backbone\.embeddings\.position_embeddings", "pretrained.pos_embed"),
        (r"backbone\.embeddings\.patch_embeddings\.projection", "pretrained.patch_embed.proj"),
        (r"backbone\.embeddings\.", "pretrained."),
        (r"backbone\.layernorm", "pretrained.norm"),
        (r"backbone\.encoder\.layer\.", "pretrained.blocks."),
        (r"attention\.output\.dense", "attn.proj"),
        (r"layer_scale(\d)\.lambda1", r"ls\1.gamma"),
        (r"neck\.reassemble_stage\.layers\.(\d)\.projection", r"depth_head.projects.\1"),
        (r"neck\.reassemble_stage\.layers\.(\d)\.resize", r"depth_head.resize_layers.\1"),
        *((rf"neck\.convs\.{i}", f"depth_head.scratch.layer{i + 1}_rn") for i in range(4)),
        *(
            (rf"neck\.fusion_stage\.layers\.{i}", f"depth_head.scratch.refinenet{4 - i}")
            for i in range(4)
        ),
        (r"residual_layer(\d)\.convolution(\d)", r"resConfUnit\1.conv\2"),
        (r"(refinenet\d)\.projection", r"\1.out_conv"),
        (r"head\.conv1", "depth_head.scratch.output_conv1"),
        (r"head\.conv2", "depth_head.scratch.output_conv2.0"),
        (r"head\.conv3", "depth_head.scratch.output_conv2.2"),
    )
    state: dict[str, Any] = {}
    for name, array in stored.items():
        if ".attention.attention." in name:
            continue
        for pattern, original in names:
            name = re.sub(r"\A" + pattern if "neck" in pattern else pattern, original, name)
        state[name] = torch.from_numpy(array)
    for layer in range(12):
        for kind in ("weight", "bias"):
            own = f"backbone.encoder.layer.{layer}.attention.attention"
            parts = [stored[f"{own}.{part}.{kind}"] for part in ("query", "key", "value")]
            state[f"pretrained.blocks.{layer}.attn.qkv.{kind}"] = torch.from_numpy(
                np.concatenate(parts)
            )
    return state


def with_original_positions(model: Any) -> Any:
    """A model of transformers whose positions are interpolated as the original's."""
    embeddings = model.backbone.embeddings

    def interpolated(_tokens: Any, height: int, width: int) -> Any:
        return torch.from_numpy(their_positions(embeddings, height // 14, width // 14))

    embeddings.interpolate_pos_encoding = interpolated
    return model


def their_positions(embeddings: Any, rows: int, columns: int) -> Array:
    """PyTorch's interpolation by a factor, as DINOv2's `interpolate_offset` of 0.1 makes it."""
    whole = embeddings.position_embeddings.detach()
    side = round((whole.shape[1] - 1) ** 0.5)
    grid = whole[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2)
    factor = ((rows + 0.1) / side, (columns + 0.1) / side)
    made = torch.nn.functional.interpolate(grid, scale_factor=factor, mode="bicubic")
    assert made.shape[2:] == (rows, columns)
    flat = made.permute(0, 2, 3, 1).reshape(1, rows * columns, -1)
    return torch.cat((whole[:, :1], flat), dim=1).numpy()


@pytest.mark.parametrize("patches", [(37, 55), (37, 37), (61, 37), (10, 3)])
def test_positions_are_those_of_dinov2(patches: tuple[int, int]) -> None:
    embeddings = depth_model(64).backbone.embeddings
    trained = embeddings.position_embeddings.detach().numpy()
    tokens = torch.zeros(1, 1 + patches[0] * patches[1], 64)
    sides = (14 * patches[0], 14 * patches[1])
    by_size = embeddings.interpolate_pos_encoding(tokens, *sides).detach().numpy()
    assert np.abs(positions_for(trained, *patches, 0.0) - by_size).max() < 1e-5
    if patches != (37, 37):
        theirs = their_positions(embeddings, *patches)
        assert np.abs(positions_for(trained, *patches, 0.1) - theirs).max() < 1e-5


def test_an_original_file_makes_the_original_depth(tmp_path: Path) -> None:
    model = depth_model()
    model.save_pretrained(tmp_path)
    path = tmp_path / "depth_anything_v2_vits.pth"
    torch.save(as_original(load_file(tmp_path / "model.safetensors")), path)
    network = loaded(path)
    ours = make_map(PICTURE, api.DepthOptions(resolution=RESOLUTION), network)
    network.close()
    original = with_original_positions(model)
    theirs = their_depth(lambda image: original(image).predicted_depth, PICTURE)
    differences = np.abs(ours.astype(int) - theirs)
    LOG.info("%d levels at most, %.1e of all", differences.max(), (differences > 0).mean())
    assert differences.max() <= 1
    assert (differences > 0).mean() < 2e-3
