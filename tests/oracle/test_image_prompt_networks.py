"""CLIP's vision encoder, IP-Adapter and a UNet with image prompts beside their originals."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")

from backends.base import Array  # noqa: E402
from engine.graphs.clip_text import Activation  # noqa: E402
from engine.graphs.clip_vision import clip_vision  # noqa: E402
from engine.graphs.image_prompts import (  # noqa: E402
    STRENGTHS,
    ImagePromptShape,
    keys_name,
    mask_name,
    values_name,
)
from engine.graphs.ip_adapter import keys_output, values_output  # noqa: E402
from engine.graphs.unet import attending_layers, timestep_embedding, unet  # noqa: E402
from engine.image_prompts.adapters import ImageAdapter, read_adapter  # noqa: E402
from engine.weights.sources import mapped  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.graphs.networks import small_unet  # noqa: E402
from tests.image_prompts.files import CLIP, KINDS, PROJECTED, SEEN, SIDE, STATES  # noqa: E402
from tests.oracle.image_prompt_files import (  # noqa: E402
    adapter_state,
    vision_model,
    write_adapter,
)
from tests.oracle.networks import TOLERANCES, Case, check_all, label, normal, run, targets  # noqa: E402
from tests.oracle.test_networks import unet_case  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
# A UNet with two transformers at one level, so that layers of one width are several.
CONFIG = small_unet(linear=True, depth=2)


@every_target
@pytest.mark.parametrize("states", [False, True], ids=["embedding", "states"])
@pytest.mark.parametrize("activation", Activation)
def test_a_vision_encoder_equals_transformers(target, activation: Activation, states: bool) -> None:
    config = msgspec.structs.replace(CLIP, activation=activation)
    pixels = normal(2, 3, SIDE, SIDE, seed=1)

    def call(module):
        seen = module(torch.from_numpy(pixels).to(module.dtype), output_hidden_states=True)
        return seen.hidden_states[-2] if states else seen.image_embeds

    module = vision_model(activation.value)
    Case(lambda g: clip_vision(g, config, states=states), {"pixels": pixels}, module, call).check(
        target
    )


@pytest.fixture(scope="module")
def module():
    """Diffusers' UNet of this configuration."""
    return unet_case(CONFIG, (16, 16)).module


def adapter(folder: Path, module, kind: str, seed: int = 0) -> ImageAdapter:
    return read_adapter(
        write_adapter(folder / f"{kind}{seed}.bin", adapter_state(module, kind, seed))
    )


def seen_by(kind: str, seed: int = 2) -> Array:
    return (
        normal(2, PROJECTED, seed=seed)
        if kind == "standard"
        else normal(2, SEEN, STATES, seed=seed)
    )


def made(target: Target, image_adapter: ImageAdapter, seen: Array) -> dict[str, Array]:
    """The outputs of an adapter's network."""
    network = image_adapter.network(attending_layers(CONFIG), SEEN)
    arrays = {
        name: np.asarray(mapped(ref))
        for name, ref in image_adapter.weights(attending_layers(CONFIG)).items()
    }
    return run(target, network.emit, arrays, {"seen": seen})


@every_target
@pytest.mark.parametrize("kind", KINDS)
def test_the_tokens_of_an_adapter_equal_diffusers(target, tmp_path, module, kind: str) -> None:
    state = adapter_state(module, kind)
    theirs = module._convert_ip_adapter_image_proj_to_diffusers(
        state["image_proj"], low_cpu_mem_usage=False
    )
    seen = seen_by(kind)
    with torch.no_grad():
        expected = theirs(torch.from_numpy(seen)).numpy()
    tokens = made(target, adapter(tmp_path, module, kind), seen)["tokens"]
    assert tokens.shape == expected.shape
    assert relative_error(tokens, expected) <= TOLERANCES[target.backend.name, target.precision] * 2


@every_target
@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
def test_a_unet_with_two_image_prompts_equals_diffusers(target, tmp_path, masked: bool) -> None:
    size, strengths = (16, 24), (0.7, -0.4)
    case = unet_case(CONFIG, size, batch=1)
    module = case.module
    states = [adapter_state(module, kind, seed) for seed, kind in enumerate(("standard", "plus"))]
    adapters = [
        adapter(tmp_path, module, kind, seed) for seed, kind in enumerate(("standard", "plus"))
    ]
    seen = [seen_by(kind, seed=5) for kind in ("standard", "plus")]
    float_cpu = next(iter(t for t in targets() if t.backend.name == "cpu"))
    context = normal(2, 77, CONFIG.context_width, seed=2)
    feeds = {
        "sample": normal(1, CONFIG.in_channels, *size, seed=1),
        "timestep_embedding": timestep_embedding(CONFIG, 731.25),
        "context": context,
    }
    shapes = []
    for place, (image_adapter, pictures) in enumerate(zip(adapters, seen, strict=True)):
        outputs = made(float_cpu, image_adapter, pictures)
        for width in sorted(set(image_adapter.widths)):
            feeds[keys_name(place, width)] = outputs[keys_output(width)]
            feeds[values_name(place, width)] = outputs[values_output(width)]
        shapes.append(ImagePromptShape(outputs["tokens"].shape[1], masked))
    layers = attending_layers(CONFIG)
    feeds[STRENGTHS] = np.repeat(np.array([strengths], np.float32).T, len(layers), axis=1)
    masks = [normal(1, 1, *(8 * side for side in size), seed=seed) > 0 for seed in (8, 9)]
    for place, mask in enumerate(masks if masked else []):
        for level in {layer.level for layer in layers}:
            rows, columns = (side // 2**level for side in size)
            numbers = torch.from_numpy(mask.astype(np.float32))
            small = torch.nn.functional.interpolate(numbers, (rows, columns), mode="bicubic")
            feeds[mask_name(place, level)] = small.numpy().reshape(1, -1, 1)

    module._load_ip_adapter_weights(states, low_cpu_mem_usage=False)
    for processor in module.attn_processors.values():
        if hasattr(processor, "scale"):
            processor.scale = list(strengths)
    given = {"ip_adapter_masks": [torch.from_numpy(m.astype(np.float32)) for m in masks]}

    def call(module):
        sample = torch.from_numpy(feeds["sample"]).repeat(2, 1, 1, 1).to(module.dtype)
        embeds = [torch.from_numpy(array).to(module.dtype)[:, None] for array in seen]
        return module(
            sample,
            torch.tensor([731.25]),
            torch.from_numpy(context).to(module.dtype),
            added_cond_kwargs={"image_embeds": embeds},
            cross_attention_kwargs=given if masked else None,
        ).sample

    with_prompts = Case(lambda g: unet(g, CONFIG, image_prompts=shapes), feeds, module, call)
    check_all(target, [with_prompts])
