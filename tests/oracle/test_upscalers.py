"""Each upscaler beside spandrel's, from a file in the real layout to the enlarged picture."""
# pyright: basic
# spandrel and torch are absent from the environment that is type-checked.

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
if find_spec("spandrel") is None:
    pytest.skip("spandrel is not installed", allow_module_level=True)

from backends.base import Array, DType  # noqa: E402
from engine.upscalers.reading import read_upscaler  # noqa: E402
from engine.upscalers.running import padded_to, running  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.oracle.networks import TOLERANCES, float32_targets, label, run  # noqa: E402
from tests.oracle.spandrel_networks import (  # noqa: E402
    architecture,
    loaded,
    with_random_weights,
)
from tests.thinned import thinned  # noqa: E402
from tests.upscalers.small import new_esrgan, old_esrgan, picture, setting  # noqa: E402

FLOAT32 = float32_targets()


@dataclass(frozen=True)
class Reference:
    """A class of spandrel's with its arguments, and the scale and the name that files have."""

    module: str
    name: str
    arguments: dict[str, Any]
    scale: int
    title: str
    # Random weights times this: those of networks that add up without norms.
    gain: float = 1.0
    layout: Callable[[str], str] = str

    def made(self) -> Any:
        # SwinIR and OmniSR use meshgrid as it was before it asked for an order.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = architecture(self.module, self.name)(**self.arguments)
        return with_random_weights(made, self.gain)


def rrdb(scale: int, layout: Callable[[str], str] = str, **other: Any) -> Reference:
    factor = other.get("shuffle_factor", 1)
    arguments = {"num_filters": 8, "num_blocks": 2, "scale": scale, **other}
    arguments["in_nc"] = 3 * factor**2
    return Reference(
        "ESRGAN.__arch.RRDB", "RRDBNet", arguments, scale // factor, "ESRGAN", layout=layout
    )


def swin(scale: int, upsampler: str, **other: Any) -> Reference:
    arguments = {
        "img_size": 16, "embed_dim": 24, "depths": [2, 2], "num_heads": [2, 3], "window_size": 4,
        "mlp_ratio": 2.0, "upscale": scale, "upsampler": upsampler, **other,
    }  # fmt: skip
    real = scale // other.get("start_unshuffle", 1)
    return Reference("SwinIR.__arch.SwinIR", "SwinIR", arguments, real, "SwinIR")


def plksr(name: str, scale: int, **other: Any) -> Reference:
    arguments = {"dim": 16, "n_blocks": 2, "upscaling_factor": scale, "kernel_size": 7, **other}
    return Reference(f"PLKSR.__arch.{name}", name, arguments, scale, "PLKSR")


def span(scale: int, *, norm: bool) -> Reference:
    arguments = {
        "num_in_ch": 3, "num_out_ch": 3, "feature_channels": 12, "upscale": scale, "norm": norm,
    }  # fmt: skip
    return Reference("SPAN.__arch.span", "SPAN", arguments, scale, "SPAN", gain=0.5)


def compact(scale: int) -> Reference:
    arguments = {"num_feat": 8, "num_conv": 3, "upscale": scale}
    return Reference(
        "Compact.__arch.SRVGG", "SRVGGNetCompact", arguments, scale, "Real-ESRGAN Compact"
    )


def omni(*, pe: bool, window_size: int = 4) -> Reference:
    arguments = {
        "num_feat": 16, "block_num": 2, "pe": pe, "window_size": window_size, "res_num": 2,
        "up_scale": 2,
    }  # fmt: skip
    return Reference("OmniSR.__arch.OmniSR", "OmniSR", arguments, 2, "OmniSR")


REFERENCES = {
    "rrdb_1": rrdb(1),
    "rrdb_2": rrdb(2),
    "rrdb_4": rrdb(4),
    "rrdb_8": rrdb(8),
    "rrdb_unshuffled_2": rrdb(4, shuffle_factor=2),
    "rrdb_unshuffled_1": rrdb(4, shuffle_factor=4),
    "rrdb_plus": rrdb(4, plus=True),
    "compact_1": compact(1),
    "compact_4": compact(4),
    "span_norm_2": span(2, norm=True),
    "span_plain_4": span(4, norm=False),
    "plksr_ccm": plksr("PLKSR", 2, ccm_type="CCM"),
    "plksr_iccm": plksr("PLKSR", 3, ccm_type="ICCM"),
    "plksr_dccm_no_attention": plksr("PLKSR", 4, ccm_type="DCCM", use_ea=False),
    "real_plksr_layer_norm": plksr("RealPLKSR", 2, layer_norm=True),
    "real_plksr_group_norm": plksr("RealPLKSR", 4),
    "real_plksr_sampled_2": plksr("RealPLKSR", 2, layer_norm=True, dysample=True),
    "real_plksr_sampled_3": plksr("RealPLKSR", 3, dysample=True),
    "real_plksr_sampled_1": plksr("RealPLKSR", 1, layer_norm=True, dysample=True),
    "swin_shuffled_3": swin(3, "pixelshuffle"),
    "swin_shuffled_4": swin(4, "pixelshuffle"),
    "swin_direct": swin(2, "pixelshuffledirect"),
    "swin_nearest": swin(4, "nearest+conv"),
    "swin_nearest_thin": swin(2, "nearest+conv", resi_connection="3conv"),
    "swin_jpeg": swin(1, "", window_size=7, img_size=14, img_range=255.0),
    "omni": omni(pe=True),
    "omni_window_8": omni(pe=True, window_size=8),
    "omni_no_positions": omni(pe=False, window_size=8),
}
every_reference = pytest.mark.parametrize("name", REFERENCES)


def state_of(module: Any) -> dict[str, Array]:
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def file_of(folder: Path, state: dict[str, Array]) -> Path:
    types = {
        name: DType.I64 if array.dtype == np.int64 else DType.F32 for name, array in state.items()
    }
    write_arrays(folder / "network.safetensors", state, types)
    return folder / "network.safetensors"


def exact(module: Any, image: Array) -> Array:
    """The reference's result in float64, where it computes in that."""
    with torch.no_grad():
        try:
            return module.double()(torch.from_numpy(image.astype(np.float64))).numpy()
        finally:
            module.float()


@every_reference
def test_a_file_enlarges_a_picture_as_spandrel_does(tmp_path: Path, name: str) -> None:
    reference = REFERENCES[name]
    module = reference.made()
    upscaler = read_upscaler(file_of(tmp_path, state_of(module)))
    assert (upscaler.architecture, upscaler.network.scale) == (reference.title, reference.scale)
    # Sides that no window and no shuffle divides; the original fills them as we do.
    image = picture(25, 30)
    expected = exact(module, image[None])[0]
    with running(upscaler, setting(tmp_path)) as run:
        ours = run.enlarge(image)
    assert ours.shape == expected.shape
    assert relative_error(ours, expected) < 1e-5


@every_reference
def test_spandrel_reads_the_same_from_the_file(name: str) -> None:
    reference = REFERENCES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = loaded(dict(reference.made().state_dict()))
    assert found.scale == reference.scale


@pytest.mark.parametrize("layout", [old_esrgan, new_esrgan], ids=["old", "new"])
def test_an_esrgans_layouts_are_read_as_by_spandrel(
    tmp_path: Path, layout: Callable[[str], str]
) -> None:
    """spandrel's class has the old names."""
    module = REFERENCES["rrdb_4"].made()
    ours = read_upscaler(file_of(tmp_path, state_of(module)))
    found = {name: weight.shape for name, weight in ours.network.weights.items()}
    state = {layout(name): torch.zeros(shape) for name, shape in found.items()}
    theirs = loaded(state).model.state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in theirs.items()} == {
        name: array.shape for name, array in state_of(module).items()
    }


# The processor computes each of them above.
_OTHERS = [target for target in FLOAT32 if target.backend.name != "cpu"]
OFTEN = [(name, _OTHERS[number % len(_OTHERS)]) for number, name in enumerate(REFERENCES)]


@pytest.mark.parametrize(
    ("name", "target"),
    thinned(product(REFERENCES, FLOAT32), OFTEN, pytest.mark.slow),
    ids=lambda given: given if isinstance(given, str) else label(given),
)
def test_each_backend_computes_the_network(tmp_path: Path, target: Target, name: str) -> None:
    module = REFERENCES[name].made()
    state = state_of(module)
    network = read_upscaler(file_of(tmp_path, state)).network
    image = padded_to(picture(24, 32), network.needs)
    weights = {
        key: np.fromfile(weight.path, np.float32, weight.elements, offset=weight.offset).reshape(
            weight.shape
        )
        for key, weight in network.weights.items()
    }
    (ours,) = run(target, network.emit, weights, {"image": image[None]}).values()
    expected = exact(module, image[None])
    assert relative_error(ours, expected) < TOLERANCES[target.backend.name, target.precision]
