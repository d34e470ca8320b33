"""CLIP ViT-H/14 and the resampler of IP-Adapter Plus at full size, with random weights."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow]
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("diffusers")
from diffusers.models.embeddings import IPAdapterPlusImageProjection  # noqa: E402

from engine.graphs.clip_vision import ClipVisionConfig, clip_vision  # noqa: E402
from engine.graphs.ip_adapter import IpAdapterConfig, Resampler, ip_adapter  # noqa: E402
from tests.oracle.networks import Case, normal, targets  # noqa: E402

VIT_H = ClipVisionConfig(1280, 5120, 32, 16, 1024)


@pytest.fixture(scope="module")
def target():
    return next(candidate for candidate in targets() if candidate.backend.name == "cpu")


@pytest.mark.parametrize("states", [False, True], ids=["embedding", "states"])
def test_vit_h_equals_transformers(target, states: bool) -> None:
    torch.manual_seed(0)
    module = transformers.CLIPVisionModelWithProjection(
        transformers.CLIPVisionConfig(
            hidden_size=VIT_H.width,
            intermediate_size=VIT_H.mlp_width,
            num_hidden_layers=VIT_H.layers,
            num_attention_heads=VIT_H.heads,
            projection_dim=VIT_H.projected_width,
            patch_size=VIT_H.patch,
            hidden_act="gelu",
        )
    ).eval()
    pixels = normal(1, 3, VIT_H.side, VIT_H.side, seed=1)

    def call(module):
        seen = module(torch.from_numpy(pixels), output_hidden_states=True)
        return seen.hidden_states[-2] if states else seen.image_embeds

    Case(lambda g: clip_vision(g, VIT_H, states=states), {"pixels": pixels}, module, call).check(
        target
    )


@pytest.mark.parametrize(
    ("width", "heads", "context"), [(768, 12, 768), (1280, 20, 2048)], ids=["sd1", "sdxl"]
)
def test_the_resampler_equals_diffusers(target, width: int, heads: int, context: int) -> None:
    torch.manual_seed(0)
    module = IPAdapterPlusImageProjection(1280, context, width, 4, 64, heads, 16).eval()
    config = IpAdapterConfig(1280, context, Resampler(16, width, 4 * width, 4, heads))
    seen = normal(1, VIT_H.tokens, 1280, seed=1)
    Case(
        lambda g: ip_adapter(g, config, (), VIT_H.tokens),
        {"seen": seen},
        module,
        lambda module: module(torch.from_numpy(seen)),
    ).check(target)
