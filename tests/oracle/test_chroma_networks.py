"""The transformer of Chroma beside diffusers'."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' own, of a name that its network imports.
    pytest.mark.filterwarnings("ignore:`FluxPosEmbed` is deprecated:FutureWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.graphs.chroma import ChromaConfig, chroma, modulation_waves  # noqa: E402
from engine.graphs.flux_positions import rotations  # noqa: E402
from tests.oracle.chroma_folder import transformer  # noqa: E402
from tests.oracle.networks import Case, check_all, label, normal, targets  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
TIMESTEP, TOKENS, UNSEEN = 731.25, 11, -3e4
SMALL = {
    "in_channels": 16,
    "out_channels": 16,
    "width": 48,
    "heads": 3,
    "mlp_width": 192,
    "context_width": 40,
    "double_blocks": 2,
    "single_blocks": 2,
    "axes": (4, 6, 6),
    "waves": 16,
    "approximator_width": 48,
    "approximator_layers": 2,
}


def chroma_case(size: tuple[int, int], *, batch: int = 1, hides: bool = False, **changes) -> Case:
    """Without `hides` masks act as diffusers' numbers do; with it they leave positions out."""
    config = ChromaConfig(**(SMALL | changes))
    module = transformer(
        in_channels=config.in_channels,
        num_layers=config.double_blocks,
        num_single_layers=config.single_blocks,
        attention_head_dim=config.head_width,
        num_attention_heads=config.heads,
        joint_attention_dim=config.context_width,
        axes_dims_rope=config.axes,
        approximator_num_channels=config.waves,
        approximator_hidden_dim=config.approximator_width,
        approximator_layers=config.approximator_layers,
    )
    rows, patches = 2 * batch, size[0] * size[1] // 4
    sample = normal(batch, config.in_channels // 4, *size, seed=1)
    context = normal(rows, TOKENS, config.context_width, seed=2)
    seen = np.ones((rows, TOKENS + patches), np.float32)
    seen[::2, 5:TOKENS] = 0
    seen[1::2, 8:TOKENS] = 0
    queries = np.ones_like(seen) if hides else seen
    feeds = {
        "sample": sample,
        "modulation_waves": modulation_waves(config, TIMESTEP),
        "context": context,
        "key_bias": np.where(seen > 0, 0, UNSEEN if hides else -1.0)
        .astype(np.float32)
        .reshape(rows, 1, 1, -1),
        "query_share": queries.reshape(rows, 1, -1, 1),
        **rotations(config, size),
    }
    pipeline = diffusers.FluxPipeline

    def call(module):
        x, text = (torch.from_numpy(a).to(module.dtype) for a in (sample, context))
        x, sizes = torch.cat([x, x]), (rows, config.in_channels // 4, *size)
        mask = torch.from_numpy(seen).to(module.dtype)
        ids = pipeline._prepare_latent_image_ids(1, size[0] // 2, size[1] // 2, "cpu", x.dtype)
        found = module(
            pipeline._pack_latents(x, *sizes),
            text,
            torch.tensor([TIMESTEP / 1000]).expand(len(x)),
            img_ids=ids,
            txt_ids=torch.zeros(TOKENS, 3),
            attention_mask=mask.bool() if hides else mask,
        ).sample
        return pipeline._unpack_latents(found, 8 * size[0], 8 * size[1], 8)

    return Case(lambda g: chroma(g, config), feeds, module, call)


@every_target
def test_a_transformer_of_any_size_equals_diffusers(target) -> None:
    check_all(target, [chroma_case(size) for size in ((8, 12), (14, 6))])


@every_target
def test_a_batch_of_two_latents_has_both_under_each_context(target) -> None:
    chroma_case((8, 8), batch=2).check(target)


def test_hidden_positions_equal_a_mask_of_truths() -> None:
    target = next(target for target in targets() if target.backend.name == "cpu")
    chroma_case((8, 8), hides=True).check(target)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_blocks_of_full_size_equal_diffusers() -> None:
    """One double and one single block, and an approximator of one layer."""
    target = next(target for target in targets() if target.backend.name == "cpu")
    chroma_case(
        (16, 24),
        in_channels=64,
        out_channels=64,
        width=3072,
        heads=24,
        mlp_width=12288,
        context_width=4096,
        double_blocks=1,
        single_blocks=1,
        axes=(16, 56, 56),
        waves=64,
        approximator_width=5120,
        approximator_layers=1,
    ).check(target)
