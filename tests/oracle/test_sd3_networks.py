"""The transformers of SD 3 and 3.5 beside diffusers'."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

from typing import Any

import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.graphs.control_residuals import JointForm  # noqa: E402
from engine.graphs.flux import wave_embedding  # noqa: E402
from engine.graphs.sd3 import Sd3Config, sd3  # noqa: E402
from tests.graphs.networks import wanted  # noqa: E402
from tests.oracle.networks import Case, check_all, label, normal, targets  # noqa: E402
from tests.oracle.sd3_folder import transformer  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
TIMESTEP, TOKENS = 731.25, 11
# SD 3 medium, SD 3.5 medium and large.
KINDS = {
    "medium": {},
    "medium 3.5": {"normalised": True, "dual_blocks": (0, 1)},
    "large": {"normalised": True},
}
SMALL = {
    "channels": 4,
    "width": 48,
    "heads": 3,
    "mlp_width": 192,
    "context_width": 40,
    "pooled_width": 24,
    "blocks": 3,
    "places": 9,
}


class Sd3Case(Case):
    """A `Case` whose modulations without a gate are in two halves, which diffusers holds in one."""

    def weights(self):
        state = self.module.state_dict()
        last = f"transformer_blocks.{len(self.module.transformer_blocks) - 1}"
        for name in ("norm_out", f"{last}.norm1_context"):
            for part in ("weight", "bias"):
                scale, shift = state.pop(f"{name}.linear.{part}").chunk(2)
                state[f"{name}.scale.{part}"], state[f"{name}.shift.{part}"] = scale, shift
        return {name: state[name].numpy() for name in wanted(self.emit)}


def sized(**changes) -> Sd3Config:
    fields: dict[str, Any] = {**SMALL, **changes}
    return Sd3Config(**fields)


def sd3_case(size: tuple[int, int], batch: int = 1, **changes) -> Case:
    config = sized(**changes)
    module = transformer(
        in_channels=config.channels,
        out_channels=config.channels,
        num_layers=config.blocks,
        attention_head_dim=config.head_width,
        num_attention_heads=config.heads,
        joint_attention_dim=config.context_width,
        caption_projection_dim=config.width,
        pooled_projection_dim=config.pooled_width,
        pos_embed_max_size=config.places,
        sample_size=2 * config.places,
        dual_attention_layers=config.dual_blocks,
        qk_norm="rms_norm" if config.normalised else None,
    )
    sample = normal(batch, config.channels, *size, seed=1)
    context = normal(2 * batch, TOKENS, config.context_width, seed=2)
    pooled = normal(2 * batch, config.pooled_width, seed=3)
    feeds = {
        "sample": sample,
        "timestep_embedding": wave_embedding(TIMESTEP),
        "context": context,
        "pooled": pooled,
        "places": module.pos_embed.cropped_pos_embed(*size)[0].numpy(),
    }

    def call(module):
        x, text, whole = (torch.from_numpy(a).to(module.dtype) for a in (sample, context, pooled))
        x = torch.cat([x, x])
        steps = torch.tensor([TIMESTEP]).expand(len(x))
        return module(x, text, whole, steps).sample

    return Sd3Case(lambda g: sd3(g, config), feeds, module, call)


@every_target
@pytest.mark.parametrize("kind", KINDS)
def test_a_transformer_of_any_size_equals_diffusers(target, kind: str) -> None:
    check_all(target, [sd3_case(size, **KINDS[kind]) for size in ((8, 12), (14, 6))])


@every_target
def test_a_batch_of_two_latents_has_both_under_each_context(target) -> None:
    sd3_case((8, 8), batch=2, **KINDS["medium 3.5"]).check(target)


@every_target
@pytest.mark.parametrize("to_last", [False, True])
def test_a_transformer_with_residuals_equals_diffusers(target, to_last: bool) -> None:
    """Stability AI's sd3.5 adds one after the last block, too; diffusers does not."""
    blocks, form, size = 6, JointForm(3, 0, to_last=to_last), (8, 12)
    config, alone = sized(blocks=blocks), sd3_case(size, blocks=blocks)
    given = [normal(2, *(side // 2 for side in size), config.width, seed=9 + n) for n in range(3)]
    led = [torch.from_numpy(array).flatten(1, 2) for array in given]

    def call(module):
        inputs = (alone.feeds[name] for name in ("sample", "context", "pooled"))
        x, text, whole = (torch.from_numpy(array).to(module.dtype) for array in inputs)
        steps, added = torch.tensor([TIMESTEP] * 2), [tensor.to(module.dtype) for tensor in led]

        def after_last(_, args):
            return args[0] + added[2], args[1]

        hook = module.norm_out.register_forward_pre_hook(after_last) if to_last else None
        made = module(torch.cat([x, x]), text, whole, steps, added).sample
        if hook is not None:
            hook.remove()
        return made

    residuals = {f"{form.name}.{number}": array for number, array in enumerate(given)}
    feeds = {**alone.feeds, **residuals}
    Sd3Case(lambda g: sd3(g, config, residuals=(form,)), feeds, alone.module, call).check(target)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("kind", "width", "places"), [("medium 3.5", 1536, 384), ("large", 2432, 192)]
)
def test_blocks_of_full_size_equal_diffusers(kind: str, width: int, places: int) -> None:
    """A joint block and the last one; in the medium network the first attends twice."""
    target = next(target for target in targets() if target.backend.name == "cpu")
    sizes = {
        "channels": 16,
        "width": width,
        "heads": width // 64,
        "mlp_width": 4 * width,
        "context_width": 4096,
        "pooled_width": 2048,
        "blocks": 2,
        "places": places,
    }
    dual = {"dual_blocks": (0,)} if KINDS[kind].get("dual_blocks") else {}
    sd3_case((16, 24), **{**KINDS[kind], **sizes, **dual}).check(target)
