"""Networks with FreeU, guided attention and wrapping edges beside diffusers' and torch's own."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from dataclasses import replace
from functools import partial

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.models.attention_processor import PAGIdentitySelfAttnProcessor2_0  # noqa: E402
from diffusers.models.unets import unet_2d_blocks  # noqa: E402
from diffusers.pipelines.deprecated.stable_diffusion_sag.pipeline_stable_diffusion_sag import (  # noqa: E402
    CrossAttnStoreProcessor,
)
from diffusers.utils.torch_utils import fourier_filter  # noqa: E402

from engine.graphs.free_u import SCALES, FreeU, waves  # noqa: E402
from engine.graphs.unet import UNetBlock, UNetConfig, free_u_inputs, unet  # noqa: E402
from engine.graphs.unet_changes import ATTENTION, PERTURBED, NetworkChanges  # noqa: E402
from engine.graphs.vae import VaeConfig  # noqa: E402
from tests.graphs.networks import small_unet  # noqa: E402
from tests.oracle.networks import (  # noqa: E402
    Case,
    check_all,
    in_float32,
    label,
    targets,
    thinned_targets,
)
from tests.oracle.test_networks import decoder_case, encoder_case, unet_case  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
B1, B2, S1, S2 = SCALES_OF_TEST = (1.4, 1.6, 0.9, 0.2)
# Levels twice and four times as wide as the first, of which the last is at two stages.
STAGED = msgspec.structs.replace(
    small_unet(layers=2),
    down=tuple(
        msgspec.structs.replace(block, width=width)
        for block, width in zip(small_unet(layers=2).down, (32, 64, 128), strict=True)
    ),
    mid=UNetBlock(128, (1,), 4, False),
    up=tuple(
        msgspec.structs.replace(block, width=width)
        for block, width in zip(small_unet(layers=2).up, (128, 64, 32), strict=True)
    ),
)
SIZES = ((16, 16), (17, 23), (4, 8))


def changed(case: Case, config: UNetConfig, changes: NetworkChanges, feeds) -> Case:
    return replace(
        case, emit=lambda g: unet(g, config, changes=changes), feeds={**case.feeds, **feeds}
    )


def free_u_case(config: UNetConfig, form: FreeU, size: tuple[int, int]) -> Case:
    case = unet_case(config, size)
    feeds = {
        SCALES: np.array(SCALES_OF_TEST, np.float32),
        **free_u_inputs(config, form, size),
    }
    return changed(case, config, NetworkChanges(free_u=form), feeds)


@pytest.mark.parametrize("size", [(8, 8), (5, 12), (2, 2), (1, 3)], ids=str)
def test_the_low_frequencies_of_freeu_equal_a_fourier_filters(size: tuple[int, int]) -> None:
    x = torch.randn(2, 3, *size, generator=torch.Generator().manual_seed(0))
    rows, columns = (torch.from_numpy(waves(side)) for side in size)
    quarter = torch.tensor([[0.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    found = rows[:3] @ x @ columns[:3].T
    found = found - quarter @ found @ quarter.T
    ours = x + (0.3 - 1) * (rows[3:].T @ found @ columns[3:])
    theirs = fourier_filter(x, threshold=1, scale=0.3)
    assert (ours - theirs).norm() <= 1e-5 * theirs.norm()


@every_target
def test_a_unet_with_freeu_equals_diffusers(target) -> None:
    form = FreeU(follows_mean=False, by_width=False)
    cases = [free_u_case(STAGED, form, size) for size in SIZES]
    for case in cases:
        case.module.enable_freeu(s1=S1, s2=S2, b1=B1, b2=B2)
    check_all(target, cases)


def comfys_free_u(follows_mean: bool):
    """ComfyUI's `output_block_patch` of FreeU and FreeU_V2, in the place of diffusers'."""
    scales = {4 * 32: (B1, S1), 2 * 32: (B2, S2)}

    def apply(_block, h, hsp, **_):
        scale = scales.get(h.shape[1])
        if scale is None:
            return h, hsp
        factor = scale[0]
        if follows_mean:
            mean = h.mean(1).unsqueeze(1)
            flat = mean.view(len(mean), -1)
            least, most = (extreme.view(-1, 1, 1, 1) for extreme in (flat.amin(1), flat.amax(1)))
            factor = (scale[0] - 1) * (mean - least) / (most - least) + 1
        half = h.shape[1] // 2
        h = torch.cat([h[:, :half] * factor, h[:, half:]], 1)
        return h, fourier_filter(hsp, threshold=1, scale=scale[1])

    return apply


# Another test has these in every precision; `make thorough` has them in each, too.
@thinned_targets("follows_mean", [True, False], targets(), in_float32)
def test_a_unet_with_freeu_equals_comfyuis_nodes(target, monkeypatch, follows_mean: bool) -> None:
    monkeypatch.setattr(unet_2d_blocks, "apply_freeu", comfys_free_u(follows_mean))
    form = FreeU(follows_mean=follows_mean, by_width=True)
    cases = [free_u_case(STAGED, form, size) for size in SIZES]
    for case in cases:
        case.module.enable_freeu(s1=S1, s2=S2, b1=B1, b2=B2)
    check_all(target, cases)


@thinned_targets(
    "layer", ["mid_block", "down_blocks.1", "up_blocks.0.attentions.1"], targets(), in_float32
)
def test_perturbed_rows_of_a_unet_equal_diffusers(target, layer: str) -> None:
    config, changes = small_unet(layers=2, depth=2), NetworkChanges(perturbed=(layer,))
    feeds = {PERTURBED: np.array([0, 1], np.float32).reshape(2, 1, 1)}
    case = changed(unet_case(config, (17, 23)), config, changes, feeds)
    for name, module in case.module.named_modules():
        if name.startswith(layer) and name.endswith("attn1"):
            module.processor = PAGIdentitySelfAttnProcessor2_0()
    case.check(target)


@every_target
def test_the_attention_that_cells_of_the_middle_receive_equals_diffusers(target) -> None:
    config = small_unet(depth=2)
    case = changed(unet_case(config, (17, 23)), config, NetworkChanges(shows_attention=True), {})
    forward, store = case.call, CrossAttnStoreProcessor()

    def call(module):
        module.mid_block.attentions[0].transformer_blocks[0].attn1.processor = store
        forward(module)
        maps = store.attention_probs
        return maps.reshape(2, -1, *maps.shape[1:]).mean(1).sum(1)

    replace(case, call=call, output=ATTENTION).check(target)


def wrapping(module, wraps: tuple[bool, bool]):
    """Make convolutions pad as A1111's tiling does: where they pad themselves, with other edges."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.Conv2d):
            layer._conv_forward = partial(padded, layer, wraps)
    return module


def padded(layer, wraps: tuple[bool, bool], x, weight, bias):
    """A convolution with the padding of each axis done by itself (asymmetric-tiling-sd-webui)."""
    height, width = layer.padding
    modes = ["circular" if wrap else "constant" for wrap in wraps]
    x = torch.nn.functional.pad(x, (0, 0, height, height), mode=modes[0])
    x = torch.nn.functional.pad(x, (width, width, 0, 0), mode=modes[1])
    return torch.nn.functional.conv2d(x, weight, bias, layer.stride)


def wrapped(case: Case, wraps: tuple[bool, bool]) -> Case:
    def emit(g) -> None:
        g.wraps = wraps
        case.emit(g)

    return replace(case, emit=emit, module=wrapping(case.module, wraps))


AXES = [(True, True), (True, False), (False, True)]


@thinned_targets("wraps", AXES, targets())
def test_a_unet_that_wraps_equals_torchs_circular_padding(target, wraps) -> None:
    cases = [unet_case(small_unet(), size) for size in ((16, 16), (17, 23))]
    check_all(target, [wrapped(case, wraps) for case in cases])


@thinned_targets("wraps", AXES, targets())
@pytest.mark.parametrize("case", [decoder_case, encoder_case])
def test_a_vae_that_wraps_equals_torchs_circular_padding(target, case, wraps) -> None:
    config = VaeConfig(4, (16, 32, 32), 1, 8)
    wrapped(case(config, (7, 10)), wraps).check(target)


def test_circular_padding_mode_is_what_the_reference_pads() -> None:
    config = VaeConfig(4, (16, 32), 1, 8)
    ours, theirs = decoder_case(config, (6, 8)), decoder_case(config, (6, 8))
    for layer in theirs.module.modules():
        if isinstance(layer, torch.nn.Conv2d):
            layer.padding_mode = "circular"
    wrapping(ours.module, (True, True))
    assert np.allclose(ours.expected(), theirs.expected(), atol=1e-6)
