"""The network of Z-Image beside diffusers'."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.graphs.flux import wave_embedding  # noqa: E402
from engine.graphs.zimage import ZImageConfig, size_inputs, zimage  # noqa: E402
from tests.oracle.networks import Case, check_all, label, normal, targets  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
LEVEL = 0.73125


def small(**changes) -> ZImageConfig:
    sizes = {
        "channels": 16,
        "width": 96,
        "heads": 3,
        "mlp_width": 256,
        "context_width": 40,
        "embedded_width": 1024,
        "embedding_width": 96,
        "layers": 2,
        "refiners": 1,
        "axes": (8, 12, 12),
    }
    return ZImageConfig(**(sizes | changes))


def module_of(config: ZImageConfig):
    """diffusers' network with random weights, its norms and biases off their first values."""
    torch.manual_seed(0)
    module = diffusers.ZImageTransformer2DModel(
        in_channels=config.channels,
        dim=config.width,
        n_layers=config.layers,
        n_refiner_layers=config.refiners,
        n_heads=config.heads,
        n_kv_heads=config.heads,
        cap_feat_dim=config.context_width,
        axes_dims=list(config.axes),
        axes_lens=[512, 64, 64],
    ).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1 or "pad_token" in name:
            tensor.data.add_(0.2 * torch.randn(tensor.shape))
        elif "adaLN" in name or "embedder" in name:
            tensor.data.mul_(2)
    return module


def text_inputs(context, counts):
    """The inputs of texts of these numbers of tokens in rows that may be longer."""
    numbers = np.arange(context.shape[1])
    filled = np.array([count + -count % 32 for count in counts])
    return {
        "context": context,
        "is_token": (numbers < np.array(counts)[:, None]).astype(np.float32),
        "is_seen": (numbers < filled[:, None]).astype(np.float32),
        "frame": filled[:, None] + 1,
    }


def zimage_case(config: ZImageConfig, size, counts=(11, 40), tokens=96, batch=1) -> Case:
    module = module_of(config)
    sample = normal(batch, config.channels, *size, seed=1)
    context = normal(len(counts), tokens, config.context_width, seed=2)
    feeds = {
        "sample": sample,
        "timestep_embedding": wave_embedding(1000 * (1 - LEVEL)),
        **text_inputs(context, counts),
        **size_inputs(config, size),
    }

    def call(module):
        x = torch.from_numpy(np.concatenate([sample] * (len(counts) // batch))).to(module.dtype)
        texts = [
            torch.from_numpy(states[:count]).to(module.dtype)
            for states, count in zip(context, counts, strict=True)
        ]
        times = torch.full((len(x),), 1 - LEVEL)
        found = module(list(x.unsqueeze(2).unbind(0)), times, texts, return_dict=False)[0]
        return -torch.stack(found).squeeze(2)

    return Case(lambda g: zimage(g, config), feeds, module, call)


@every_target
def test_a_transformer_of_any_size_equals_diffusers(target) -> None:
    sizes = ((8, 12), (14, 6), (16, 16))
    check_all(target, [zimage_case(small(), size) for size in sizes])


@every_target
def test_a_text_that_fills_its_row_equals_diffusers(target) -> None:
    zimage_case(small(), (8, 8), counts=(32,), tokens=32).check(target)


@every_target
def test_a_batch_of_two_latents_has_both_under_each_context(target) -> None:
    zimage_case(small(), (8, 8), counts=(5, 5, 70, 70), batch=2).check(target)
