"""Files with the names and shapes of published ones, and the checkpoints that they lead.

A ControlNet of SD 1 has 340 tensors, as lllyasviel's `control_v11p_sd15_canny.pth`; the others
follow from the checkpoints that they are copies of.
"""

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from engine.control.control_nets import ControlNetModel
from engine.control.model import control_model
from engine.control.network import ControlForm
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from tests.checkpoints.files import write_sparse
from tests.families import listings

Listing = dict[str, tuple[int, ...]]

UNETS = {"sd1": listings.SD1, "sd2": listings.SD2, "sdxl": listings.SDXL}
CHECKPOINTS = {
    "sd1": listings.original(),
    "sd2": listings.sd2(),
    "sdxl": listings.sdxl(),
    "SSD-1B": listings.sdxl(listings.PRUNED_SDXL["SSD-1B"]),
    "KOALA-1B": listings.sdxl(listings.PRUNED_SDXL["KOALA-1B"]),
}
_COPIED = ("time_embed.", "label_emb.", "input_blocks.", "middle_block.")
_HINTS = ((16, 3), (16, 16), (32, 16), (32, 32), (96, 32), (96, 96), (256, 96), (320, 256))


def control_net(sizes: listings.UNetSizes, prefix: str = "") -> Listing:
    """The tensors of the original layout's ControlNet for a UNet."""
    found = {
        name: shape for name, shape in listings.ldm_unet(sizes).items() if name.startswith(_COPIED)
    }
    for place, (outer, inner) in enumerate(_HINTS):
        found |= listings.affine(f"input_hint_block.{2 * place}", outer, inner, 3, 3)
    widths = [sizes.width]
    for level, multiplier in enumerate(sizes.multipliers):
        halved = level < len(sizes.multipliers) - 1
        widths += [sizes.width * multiplier] * (sizes.blocks + halved)
    for place, width in enumerate(widths):
        found |= listings.affine(f"zero_convs.{place}.0", width, width, 1, 1)
    found |= listings.affine("middle_block_out.0", widths[-1], widths[-1], 1, 1)
    return listings.prefixed(prefix, found)


def control_lora(sizes: listings.UNetSizes, rank: int = 128) -> Listing:
    """The tensors of Stability AI's layout: low-rank factors in place of large weights."""
    lora: Listing = {"lora_controlnet": (1,)}
    for name, shape in control_net(sizes).items():
        own = name.startswith(("zero_convs", "middle_block_out", "input_hint_block"))
        if own or len(shape) == 1:
            lora[name] = shape
            continue
        layer, square = name.removesuffix(".weight"), (1,) * (len(shape) - 2)
        lora |= {f"{layer}.up": (shape[0], rank, *square), f"{layer}.down": (rank, *shape[1:])}
    return lora


def lllite(sizes: listings.UNetSizes) -> Listing:
    """The tensors of kohya's layout: modules on the way down and in the middle."""
    found: Listing = {}
    for name, shape in listings.ldm_unet(sizes).items():
        layer, _, place = name.removesuffix(".weight").rpartition(".attn")
        if place not in {"1.to_q", "1.to_k", "1.to_v", "2.to_q"} or name.startswith("output"):
            continue
        module = f"lllite_unet_{layer}.attn{place}".replace(".", "_")
        deep = name.startswith("middle") or int(name.split(".")[1]) > 6
        kernels = ((16, 3, 4), (16, 16, 4), (32, 16, 2)) if deep else ((16, 3, 4), (32, 16, 4))
        for number, (outer, inner, kernel) in enumerate(kernels):
            place = f"{module}.conditioning1.{2 * number}"
            found |= listings.affine(place, outer, inner, kernel, kernel)
        found |= listings.affine(f"{module}.down.0", 64, shape[1])
        found |= listings.affine(f"{module}.mid.0", 64, 32 + 64)
        found |= listings.affine(f"{module}.up.0", shape[1], 64)
    return found


def adapter(channels: int, unshuffle: int) -> Listing:
    """The tensors of TencentARC's full adapter, whose residual blocks are numbered in a row."""
    widths = (320, 640, 1280, 1280)
    found = listings.affine("conv_in", 320, channels * unshuffle**2, 3, 3)
    before = 320
    for place, width in enumerate(width for width in widths for _ in range(2)):
        if width != before:
            found |= listings.affine(f"body.{place}.in_conv", width, before, 1, 1)
        found |= listings.affine(f"body.{place}.block1", width, width, 3, 3)
        found |= listings.affine(f"body.{place}.block2", width, width, 1, 1)
        before = width
    return found


def checkpoint(folder: Path, name: str) -> IdentifiedCheckpoint:
    return identify(write_sparse(folder / "checkpoint.safetensors", CHECKPOINTS[name]))


def written(folder: Path, listing: Mapping[str, tuple[int, ...]]) -> Path:
    return write_sparse(folder / "network.safetensors", listing)


def test_a_control_net_of_sd_1_has_the_tensors_of_the_published_one() -> None:
    listing = control_net(listings.SD1, "control_model.")
    assert len(listing) == 340
    assert sum(int(np.prod(shape)) for shape in listing.values()) == 361_279_120


@pytest.mark.parametrize("family", UNETS)
def test_a_control_net_leads_its_family(tmp_path: Path, family: str) -> None:
    network = read_control_network(written(tmp_path, control_net(UNETS[family])))
    assert (network.form, network.family) == (ControlForm.CONTROL_NET, family)
    model = control_model(network, checkpoint(tmp_path, family))
    assert isinstance(model, ControlNetModel)
    assert model.outputs == (10 if family == "sdxl" else 13)
    heads = {"sd1": (8, 8, 8, 8), "sd2": (5, 10, 20, 20), "sdxl": (5, 10, 20)}[family]
    assert tuple(block.heads for block in model.config.encoder.down) == heads


@pytest.mark.parametrize(("family", "other"), list(permutations(UNETS, 2)))
def test_a_control_net_leads_no_other_family(tmp_path: Path, family: str, other: str) -> None:
    network = read_control_network(written(tmp_path, control_net(UNETS[family])))
    with pytest.raises(EngineError, match="is a ControlNet for"):
        control_model(network, checkpoint(tmp_path, other))


def test_sdxls_control_net_leads_ssd_1b_but_not_koala(tmp_path: Path) -> None:
    network = read_control_network(written(tmp_path, control_net(listings.SDXL)))
    control_model(network, checkpoint(tmp_path, "SSD-1B"))
    with pytest.raises(EngineError, match="other sizes"):
        control_model(network, checkpoint(tmp_path, "KOALA-1B"))


@pytest.mark.parametrize("family", UNETS)
def test_a_control_lora_leads_its_family(tmp_path: Path, family: str) -> None:
    network = read_control_network(written(tmp_path, control_lora(UNETS[family])))
    assert (network.form, network.family) == (ControlForm.CONTROL_LORA, family)
    model = control_model(network, checkpoint(tmp_path, family))
    assert isinstance(model, ControlNetModel)
    step = model.denoising(512, 512)
    assert sum(len(weight.parts()) > 1 for weight in step.weights.values()) == len(network.changes)


def test_a_lllite_leads_sdxl_alone(tmp_path: Path) -> None:
    network = read_control_network(written(tmp_path, lllite(listings.SDXL)))
    assert network.form is ControlForm.LLLITE
    model = control_model(network, checkpoint(tmp_path, "sdxl"))
    assert model.map_size(1032, 1024) == (1056, 1024)
    with pytest.raises(EngineError, match="is a ControlNet-LLLite for SDXL"):
        control_model(network, checkpoint(tmp_path, "sd1"))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("family", "unshuffle"), [("sd1", 8), ("sdxl", 16)])
def test_an_adapter_leads_its_family(
    tmp_path: Path, family: str, unshuffle: int, channels: int
) -> None:
    network = read_control_network(written(tmp_path, adapter(channels, unshuffle)))
    assert (network.form, network.family) == (ControlForm.ADAPTER, family)
    control_model(network, checkpoint(tmp_path, family))
    with pytest.raises(EngineError, match="is a T2I-Adapter for"):
        control_model(network, checkpoint(tmp_path, "sd2"))
