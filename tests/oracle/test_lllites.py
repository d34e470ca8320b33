"""A denoiser led by ControlNet-LLLites beside diffusers' UNet with hooks before its projections.

The arithmetic of one module is compared with kohya's own in `tests/control/test_lllites.py`.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from torch.nn import functional  # noqa: E402

from backends.base import Array, DType  # noqa: E402
from engine.control.lllites import LlliteInputs, LlliteModel  # noqa: E402
from engine.control.model import control_model  # noqa: E402
from engine.control.reading import read_control_network  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.families.shared.unet.original_names import original_layers  # noqa: E402
from engine.graphs.unet import UNetConfig, size_embedding, unet  # noqa: E402
from engine.graphs.unet_changes import NetworkChanges  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.control.lllite_sample import module_weights  # noqa: E402
from tests.oracle.networks import TOLERANCES, float32_targets, label, normal, run  # noqa: E402
from tests.oracle.sdxl_folder import PROJECTED, WAVES, unet_module  # noqa: E402

FLOAT32 = float32_targets()
SIZES = (1024.0, 768.0, 0.0, 16.0, 512.0, 1536.0)
STRENGTHS = (0.8, 0.3)


def layers_of(module) -> list[str]:
    """The projections that kohya's networks act on: all but keys and values of the text."""
    return [
        name
        for name, _ in module.named_modules()
        if name.endswith((".attn1.to_q", ".attn1.to_k", ".attn1.to_v", ".attn2.to_q"))
        and not name.startswith("up_blocks")
    ]


def lllite_file(path: Path, module) -> dict[str, dict[str, Array]]:
    """Write a network for all of these layers; return its tensors by layer."""
    originals = original_layers([name for name, _ in module.named_modules()])
    by_layer, arrays = {}, {}
    for seed, layer in enumerate(layers_of(module)):
        by_layer[layer] = module_weights(2, "", 64, seed)
        name = "lllite_unet_" + originals[layer].replace(".", "_")
        arrays |= {f"{name}.{part}": array for part, array in by_layer[layer].items()}
    write_arrays(path, arrays)
    return by_layer


def hooked(module, weights: dict[str, Array], image, strengths) -> None:
    """Add to a projection's input what a module makes of it and of the map."""
    w = {name: torch.from_numpy(array) for name, array in weights.items()}

    def embedded():
        x = functional.conv2d(
            image * 2 - 1, w["conditioning1.0.weight"], w["conditioning1.0.bias"], stride=4
        )
        x = functional.relu(x)
        x = functional.conv2d(x, w["conditioning1.2.weight"], w["conditioning1.2.bias"], stride=4)
        return x.flatten(2).transpose(1, 2)

    def layer(x, name: str):
        return functional.linear(x, w[f"{name}.0.weight"], w[f"{name}.0.bias"])

    def before(_, given):
        (x,) = given
        of_map = embedded().expand(len(x), -1, -1)
        mixed = torch.cat([of_map, functional.relu(layer(x, "down"))], dim=2)
        added = layer(functional.relu(layer(mixed, "mid")), "up")
        return (x + added * torch.tensor(strengths)[:, None, None],)

    module.register_forward_pre_hook(before)


@pytest.mark.parametrize("target", FLOAT32, ids=label)
def test_a_denoiser_with_modules_equals_diffusers(target: Target, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = unet_module(cross_attention_dim=2048)
    module.save_pretrained(tmp_path / "a" / "unet")
    by_layer = lllite_file(tmp_path / "lllite.safetensors", module)
    checkpoint = identify(tmp_path / "a")
    model = control_model(read_control_network(tmp_path / "lllite.safetensors"), checkpoint)
    assert isinstance(model, LlliteModel)
    image = np.random.default_rng(5).random((1, 3, 128, 96), np.float32)
    sample, context = normal(1, 4, 16, 12, seed=1), normal(2, 77, 2048, seed=2)
    pooled, waves = normal(2, PROJECTED, seed=3), np.stack([size_embedding(SIZES, WAVES)] * 2)

    for name, layer in module.named_modules():
        if name in by_layer:
            hooked(layer, by_layer[name], torch.from_numpy(image), STRENGTHS)
    with torch.no_grad():
        told = {"text_embeds": torch.from_numpy(pooled), "time_ids": torch.tensor([SIZES] * 2)}
        both = torch.from_numpy(np.repeat(sample, 2, axis=0))
        time, text = torch.tensor(731.25), torch.from_numpy(context)
        expected = module(both, time, text, added_cond_kwargs=told).sample.numpy()

    embedding = model.embedding(128, 96)
    weights = {name: weight.read_as(DType.F32) for name, weight in embedding.weights.items()}
    inputs = LlliteInputs.of([model])
    maps = run(target, embedding.emit, weights, {"map": image})
    config = checkpoint.components[Component.DENOISER].config
    assert isinstance(config, UNetConfig)
    own = checkpoint.components[Component.DENOISER].weights
    feeds = {
        "sample": sample,
        "timestep_embedding": size_embedding([731.25], 32)[None],
        "context": context,
        "added": np.concatenate([pooled, waves], axis=1),
        **inputs.factors,
        **inputs.of_maps([maps]),
        **inputs.weights([STRENGTHS]),
    }
    made = run(
        target,
        lambda g: unet(g, config, changes=NetworkChanges(lllite=inputs.layers)),
        {name: as_source(weight).read_as(DType.F32) for name, weight in own.items()},
        feeds,
    )["prediction"]
    allowed = TOLERANCES[target.backend.name, target.precision]
    assert relative_error(made, expected) <= allowed
