"""The networks of Flux.1 beside diffusers'."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.graphs.flux import FluxConfig, flux, wave_embedding  # noqa: E402
from engine.graphs.flux_positions import rotations, side_by_side  # noqa: E402
from tests.oracle.networks import Case, check_all, label, normal, targets  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
TIMESTEP, GUIDANCE = 731.25, 3.5
TOKENS = 11


def small(**changes) -> FluxConfig:
    sizes = {
        "in_channels": 16,
        "out_channels": 16,
        "width": 48,
        "heads": 3,
        "mlp_width": 192,
        "context_width": 40,
        "pooled_width": 24,
        "double_blocks": 2,
        "single_blocks": 2,
        "axes": (4, 6, 6),
    }
    return FluxConfig(**(sizes | changes))


def module_of(config: FluxConfig):
    """diffusers' network with random weights, its norms and biases off their first values."""
    torch.manual_seed(0)
    module = diffusers.FluxTransformer2DModel(
        in_channels=config.in_channels,
        out_channels=config.out_channels,
        num_layers=config.double_blocks,
        num_single_layers=config.single_blocks,
        attention_head_dim=config.head_width,
        num_attention_heads=config.heads,
        joint_attention_dim=config.context_width,
        pooled_projection_dim=config.pooled_width,
        guidance_embeds=config.takes_guidance,
        axes_dims_rope=config.axes,
    ).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.2 * torch.randn(tensor.shape))
        elif "norm" in name or "embedder" in name:
            tensor.data.mul_(3)
    return module


class FluxCase(Case):
    """A `Case` whose last modulation is in two halves, which diffusers holds in one."""

    def weights(self):
        state = self.module.state_dict()
        for part in ("weight", "bias"):
            scale, shift = state.pop(f"norm_out.linear.{part}").chunk(2)
            state[f"norm_out.scale.{part}"], state[f"norm_out.shift.{part}"] = scale, shift
        return {name: tensor.numpy() for name, tensor in state.items()}


Cells = tuple[int, int]


def flux_case(
    config: FluxConfig, size: Cells, batch: int = 1, references: tuple[Cells, ...] = ()
) -> Case:
    module = module_of(config)
    sample = normal(batch, config.in_channels // 4, *size, seed=1)
    context = normal(2 * batch, TOKENS, config.context_width, seed=2)
    pooled = normal(2 * batch, config.pooled_width, seed=3)
    feeds = {
        "sample": sample,
        "timestep_embedding": wave_embedding(TIMESTEP),
        "context": context,
        "pooled": pooled,
        **rotations(config, size, references),
    }
    shown = [
        normal(1, config.in_channels // 4, *cells, seed=4 + i) for i, cells in enumerate(references)
    ]
    if shown:
        feeds["references"] = side_by_side(shown)
    if config.takes_guidance:
        feeds["guidance_embedding"] = wave_embedding(1000 * GUIDANCE)
    pipeline = diffusers.FluxPipeline

    def call(module):
        x, text, whole = (torch.from_numpy(a).to(module.dtype) for a in (sample, context, pooled))
        x, sizes = torch.cat([x, x]), (2 * batch, config.in_channels // 4, *size)
        ids = pipeline._prepare_latent_image_ids(1, size[0] // 2, size[1] // 2, "cpu", x.dtype)
        packed, own = pipeline._pack_latents(x, *sizes), ids.shape[0]
        for picture, (height, width), (down, right) in zip(
            shown, references, comfys_offsets(references), strict=True
        ):
            latent = torch.from_numpy(picture).to(module.dtype).repeat(len(x), 1, 1, 1)
            row = pipeline._pack_latents(latent, *latent.shape)
            more = pipeline._prepare_latent_image_ids(1, height // 2, width // 2, "cpu", x.dtype)
            more = more + torch.tensor([1, (down + 1) // 2, (right + 1) // 2])
            packed, ids = torch.cat([packed, row], dim=1), torch.cat([ids, more])
        found = module(
            packed,
            text,
            whole,
            torch.tensor([TIMESTEP / 1000]).expand(len(x)),
            img_ids=ids,
            txt_ids=torch.zeros(TOKENS, 3),
            guidance=torch.full((len(x),), GUIDANCE) if config.takes_guidance else None,
        ).sample[:, :own]
        return pipeline._unpack_latents(found, 8 * size[0], 8 * size[1], 8)

    has_references = bool(references)
    return FluxCase(lambda g: flux(g, config, references=has_references), feeds, module, call)


def comfys_offsets(references: tuple[Cells, ...]) -> list[Cells]:
    """The first row and column in cells of each picture, as ComfyUI's method "offset" counts."""
    found, tall, wide = [], 0, 0
    for height, width in references:
        beside = height + tall > width + wide
        down, right = (0, wide) if beside else (tall, 0)
        tall, wide = max(tall, height + down), max(wide, width + right)
        found.append((down, right))
    return found


@every_target
@pytest.mark.parametrize("config", [small(), small(takes_guidance=False)], ids=["dev", "schnell"])
def test_a_transformer_of_any_size_equals_diffusers(target, config: FluxConfig) -> None:
    check_all(target, [flux_case(config, size) for size in ((8, 12), (14, 6))])


@every_target
def test_a_batch_of_two_latents_has_both_under_each_context(target) -> None:
    flux_case(small(), (8, 8), batch=2).check(target)


@every_target
@pytest.mark.parametrize(
    "references",
    [((6, 10),), ((6, 10), (4, 4)), ((10, 6), (10, 4), (6, 6))],
    ids=["one", "below", "beside"],
)
def test_tokens_of_reference_pictures_equal_diffusers(target, references) -> None:
    flux_case(small(), (8, 12), references=references).check(target)


def test_the_next_reference_picture_lies_where_the_whole_stays_shorter() -> None:
    assert comfys_offsets(((10, 6), (10, 4), (6, 6))) == [(0, 0), (0, 6), (10, 0)]
    assert comfys_offsets(((6, 10), (4, 4))) == [(0, 0), (6, 0)]
