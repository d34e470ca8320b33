"""The networks of SD 2 and SDXL beside diffusers' and transformers', read from what these save."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

from engine.families import Component, IdentifiedCheckpoint, identify

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")

from engine.graphs.clip_text import ClipTextConfig, clip_text  # noqa: E402
from engine.graphs.unet import UNetConfig, guidance_embedding, size_embedding, timestep_embedding  # noqa: E402
from engine.graphs.unet import unet as unet_graph  # noqa: E402
from tests.oracle.networks import Case, label, normal, targets  # noqa: E402
from tests.oracle.sdxl_folder import (  # noqa: E402
    NARROW,
    PROJECTED,
    WAVES,
    WIDE,
    text_model,
    unet_module,
)

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
SIZES = (1024.0, 768.0, 0.0, 16.0, 512.0, 1536.0)


UNETS = {
    "SDXL": {},
    "SSD-1B": {
        "mid_block_type": "UNetMidBlock2D",
        "reverse_transformer_layers_per_block": ((1, 2, 3), 0),
    },
    "KOALA": {"mid_block_type": None, "layers_per_block": 1},
    "inpainting": {"in_channels": 9},
    "LCM": {"time_cond_proj_dim": 21},
}
GUIDANCE = 8.0


def saved(folder: Path, unet=None) -> IdentifiedCheckpoint:
    """The checkpoint found in a folder with SDXL's text encoders and this UNet, or SDXL's."""
    unet = unet or unet_module()
    unet.save_pretrained(folder / "unet")
    text_model(NARROW, projects=False).save_pretrained(folder / "text_encoder")
    text_model(WIDE, projects=True).save_pretrained(folder / "text_encoder_2")
    return identify(folder)


def unet_case(checkpoint: IdentifiedCheckpoint, module, size: tuple[int, int]) -> Case:
    config = checkpoint.components[Component.DENOISER].config
    assert isinstance(config, UNetConfig)
    sample, context = normal(1, config.in_channels, *size), normal(2, 77, config.context_width)
    pooled = normal(2, PROJECTED, seed=3)
    waves = np.stack([size_embedding(SIZES, WAVES)] * 2)
    feeds = {
        "sample": sample,
        "timestep_embedding": timestep_embedding(config, 731.25),
        "context": context,
        "added": np.concatenate([pooled, waves], axis=1),
    }

    if config.guidance_width:
        feeds["guidance_embedding"] = guidance_embedding(config, GUIDANCE)

    def call(module):
        x, text, whole = (torch.from_numpy(a).to(module.dtype) for a in (sample, context, pooled))
        told = {"text_embeds": whole, "time_ids": torch.tensor([SIZES] * 2)}
        both = torch.cat([x, x])
        guidance = torch.tensor([GUIDANCE - 1] * 2)
        width = config.guidance_width
        embed = diffusers.StableDiffusionXLPipeline.get_guidance_scale_embedding
        cond = embed(None, guidance, width).to(module.dtype) if width else None
        time = torch.tensor([731.25])
        return module(both, time, text, timestep_cond=cond, added_cond_kwargs=told).sample

    return Case(lambda g: unet_graph(g, config), feeds, module, call)


@every_target
@pytest.mark.parametrize(
    ("name", "size"), [("SDXL", (16, 16)), *((name, (17, 23)) for name in UNETS)], ids=str
)
def test_an_sdxl_unet_equals_diffusers(
    target, name: str, size: tuple[int, int], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    module = unet_module(**UNETS[name])
    unet_case(saved(tmp_path, module), module, size).check(target)


def text_case(component: Component, module, config: ClipTextConfig, output: str) -> Case:
    rng = np.random.default_rng(0)
    tokens = rng.integers(1, 60, (2, 77))
    ends = (9, 76)
    for row, end in enumerate(ends):
        tokens[row, 0], tokens[row, end], tokens[row, end + 1 :] = 60, 61, 0
    feeds: dict = {"tokens": tokens}
    if component is Component.TEXT_ENCODER_2:
        feeds["end"] = np.eye(77, dtype=np.float32)[list(ends)]

    def call(module):
        found = module(torch.from_numpy(tokens), output_hidden_states=True)
        return found.hidden_states[-2] if output == "last_hidden_state" else found.text_embeds

    def emit(g):
        clip_text(g, config, 2, final_norm=False)

    # transformers 5 has it in the names of the one with a projection only.
    prefix = "" if component is Component.TEXT_ENCODER_2 else "text_model."
    return Case(emit, feeds, module, call, prefix, output)


@every_target
@pytest.mark.parametrize(
    ("component", "output"),
    [
        (Component.TEXT_ENCODER, "last_hidden_state"),
        (Component.TEXT_ENCODER_2, "last_hidden_state"),
        (Component.TEXT_ENCODER_2, "pooled"),
    ],
)
def test_sdxls_text_encoders_equal_transformers(
    target, component: Component, output: str, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    wide = component is Component.TEXT_ENCODER_2
    source = saved(tmp_path).components[component]
    kind = transformers.CLIPTextModelWithProjection if wide else transformers.CLIPTextModel
    module = kind.from_pretrained(tmp_path / component.value).eval()
    config = source.config
    assert isinstance(config, ClipTextConfig)
    text_case(component, module, config, output).check(target)
