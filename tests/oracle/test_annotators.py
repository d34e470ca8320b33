"""Our networks of maps beside those of controlnet_aux and transformers, on the same weights."""
# pyright: basic, reportMissingImports=false
# torch and what follows are absent from the environment that is type-checked.

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.numpy import load_file  # noqa: E402
from transformers import (  # noqa: E402
    DepthAnythingConfig as TheirConfig,
)
from transformers import DepthAnythingForDepthEstimation, Dinov2Config  # noqa: E402

from backends.base import Array, Precision  # noqa: E402
from engine.graphs.annotators.depth_anything import (  # noqa: E402
    DepthAnythingConfig,
    depth_anything,
)
from engine.graphs.annotators.hed import hed  # noqa: E402
from engine.graphs.annotators.line_drawing import line_drawing  # noqa: E402
from engine.graphs.annotators.pidinet import PidinetConfig, pidinet  # noqa: E402
from tests.backends.samples import Target  # noqa: E402
from tests.graphs.networks import wanted  # noqa: E402
from tests.oracle.controlnet_aux import load  # noqa: E402
from tests.oracle.networks import Case, label, normal, targets  # noqa: E402

pytestmark = pytest.mark.oracle
HEIGHT, WIDTH = 64, 128


def every_target() -> Iterator[Target]:
    """Targets of float32 but torch's: maps are made on the processor."""
    for target in targets():
        if target.precision is Precision.F32 and target.backend.name != "torch_device":
            yield target


TARGETS = list(every_target())
each_target = pytest.mark.parametrize("target", TARGETS, ids=map(label, TARGETS))


def picture(scale: float = 1.0) -> Array:
    return np.float32(scale) * np.random.default_rng(3).random((1, 3, HEIGHT, WIDTH), np.float32)


def shaken(module: Any, gain: float = 1.0) -> Any:
    """A module in evaluation with random weights that keep activations near unit size.

    As modules begin, zeros and small weights would hide mistakes. Residual blocks without
    normalisation want a `gain` below 1.
    """
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in module.parameters():
            fan = value[0].numel() if value.ndim > 1 else 25
            value.copy_(torch.randn(value.shape, generator=random) * gain * (2 / fan) ** 0.5)
    return module.eval()


def check(case: Case, target: Target) -> None:
    """Compare on a target; the map is no flat one, on which any network would agree."""
    expected = case.expected()
    assert expected.std() > 0.1 * abs(expected.mean())
    case.check(target)


@each_target
def test_hed_is_controlnets(target: Target) -> None:
    module = shaken(load("hed").ControlNetHED_Apache2())
    image = picture(255)

    def mean(network: Any) -> Any:
        edges = network(torch.from_numpy(image))
        whole = [
            torch.nn.functional.interpolate(edge, (HEIGHT, WIDTH), mode="bilinear")
            for edge in edges
        ]
        return torch.stack(whole).mean(0)

    check(Case(hed, {"image": image}, module, mean), target)


@each_target
def test_a_line_drawing_is_that_of_informative_drawings(target: Target) -> None:
    module = shaken(load("lineart").Generator(3, 1, 3))
    image = picture()
    case = Case(line_drawing, {"image": image}, module, lambda m: m(torch.from_numpy(image)))
    check(case, target)


@each_target
@pytest.mark.parametrize("converted", [False, True])
def test_pidinet_is_the_original(target: Target, *, converted: bool) -> None:
    model = load("pidi").pidinet.__globals__
    if converted:
        kinds = ["cd", "ad", "rd", "cv"] * 4
        module = shaken(model["PiDiNet"](60, kinds, dil=24, sa=True, convert=True), 0.8)
    else:
        module = shaken(model["pidinet"](), 0.8)
    image = picture()
    emit = partial(pidinet, config=PidinetConfig(converted))
    case = Case(emit, {"image": image}, module, lambda m: m(torch.from_numpy(image))[-1])
    check(case, target)


def depth_module(config: DepthAnythingConfig, patches: int) -> Any:
    """Depth Anything of transformers, trained at `patches` x `patches`."""
    backbone = Dinov2Config(
        hidden_size=config.width,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        mlp_ratio=config.mlp_width // config.width,
        image_size=14 * patches,
        patch_size=14,
        out_indices=list(config.taps),
        reshape_hidden_states=False,
    )
    theirs = TheirConfig(
        backbone_config=backbone,
        reassemble_hidden_size=config.width,
        neck_hidden_sizes=list(config.necks),
        fusion_hidden_size=config.fusion_width,
        head_hidden_size=config.head_width,
    )
    return shaken(DepthAnythingForDepthEstimation(theirs))


TINY_DEPTH = DepthAnythingConfig(
    width=16,
    heads=2,
    mlp_width=32,
    layers=5,
    taps=(1, 2, 4, 5),
    necks=(4, 6, 8, 10),
    fusion_width=8,
    head_width=6,
)
# Depth Anything V2's files "small" and "base".
SMALL_DEPTH = DepthAnythingConfig(
    width=384,
    heads=6,
    mlp_width=1536,
    layers=12,
    taps=(3, 6, 9, 12),
    necks=(48, 96, 192, 384),
    fusion_width=64,
    head_width=32,
)
BASE_DEPTH = DepthAnythingConfig(
    width=768,
    heads=12,
    mlp_width=3072,
    layers=12,
    taps=(3, 6, 9, 12),
    necks=(96, 192, 384, 768),
    fusion_width=128,
    head_width=32,
)


@dataclass(frozen=True)
class _Stored(Case):
    """A network with the weights that transformers stores of it."""

    arrays: dict[str, Array] = field(default_factory=dict)

    def weights(self) -> dict[str, Array]:
        return {name: self.arrays[name] for name in wanted(self.emit)}


def check_depth(
    config: DepthAnythingConfig,
    trained: int,
    patches: tuple[int, int],
    target: Target,
    folder: Path,
) -> None:
    """Compare for a picture of so many patches, by a network that was trained at `trained`."""
    module = depth_module(config, trained)
    module.save_pretrained(folder)
    image = normal(1, 3, 14 * patches[0], 14 * patches[1])
    tokens = torch.zeros(1, 1 + patches[0] * patches[1], config.width)
    with torch.no_grad():
        embeddings = module.backbone.embeddings
        positions = embeddings.interpolate_pos_encoding(tokens, *image.shape[2:]).numpy()
    case = _Stored(
        partial(depth_anything, config=config),
        {"image": image, "positions": positions},
        module,
        lambda m: m(torch.from_numpy(image)).predicted_depth[:, None],
        arrays=load_file(folder / "model.safetensors"),
    )
    check(case, target)


@each_target
@pytest.mark.parametrize("patches", [(3, 3), (4, 7)])
def test_depth_anything_is_that_of_transformers(
    target: Target, patches: tuple[int, int], tmp_path: Path
) -> None:
    check_depth(TINY_DEPTH, 3, patches, target, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("config", [SMALL_DEPTH, BASE_DEPTH], ids=["small", "base"])
def test_depth_anything_of_full_size_is_that_of_transformers(
    config: DepthAnythingConfig, tmp_path: Path
) -> None:
    target = next(target for target in TARGETS if target.backend.name == "cpu")
    check_depth(config, 37, (37, 50), target, tmp_path)
