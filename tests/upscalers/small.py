"""Small upscalers with random weights, in the layouts of real files; made without torch."""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from backends.base import Array
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.compact import CompactConfig, compact
from engine.graphs.upscalers.omni_sr import OmniSrConfig, omni_sr
from engine.graphs.upscalers.plksr import PlkNorm, PlksrConfig, plksr
from engine.graphs.upscalers.rrdb import RrdbConfig, rrdb
from engine.graphs.upscalers.sampling import SamplingConfig
from engine.graphs.upscalers.span import SpanConfig, span
from engine.graphs.upscalers.swin_ir import Reconstruction, SwinIrConfig, swin_ir
from engine.upscalers.running import Setting
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights
from tests.guard.torch_zip import write_torch_zip

Emit = Callable[[GraphBuilder], None]
Layout = Callable[[str], str]

RRDB = RrdbConfig(channels=3, width=8, growth=4, blocks=2, doublings=2)
COMPACT = CompactConfig(channels=3, width=8, layers=2, scale=2)
SPAN = SpanConfig(channels=3, width=8, scale=2, norm=False)
PLKSR = PlksrConfig(width=8, blocks=2, scale=2, kernel=5, partial=2, mixer=(3, 1))
REAL_PLKSR = PlksrConfig(
    width=8, blocks=2, scale=2, kernel=5, partial=2, norm=PlkNorm.LAYER,
    sampling=SamplingConfig(12, 3, 2, 4),
)  # fmt: skip
SWIN_IR = SwinIrConfig(
    channels=3, width=12, depths=(2,), heads=(2,), window=4, mlp_width=24,
    reconstruction=Reconstruction.NEAREST_CONV, enlarges=4, features=8,
)  # fmt: skip
OMNI_SR = OmniSrConfig(channels=3, width=8, groups=1, blocks=1, window=4, scale=2)

EMITS: Mapping[str, Emit] = {
    "ESRGAN": partial(rrdb, config=RRDB),
    "Real-ESRGAN Compact": partial(compact, config=COMPACT),
    "SPAN": partial(span, config=SPAN),
    "PLKSR": partial(plksr, config=PLKSR),
    "RealPLKSR": partial(plksr, config=REAL_PLKSR),
    "SwinIR": partial(swin_ir, config=SWIN_IR),
    "OmniSR": partial(omni_sr, config=OMNI_SR),
}


@cache
def _drawn(name: str, seed: int) -> dict[str, Array]:
    return random_weights(EMITS[name], seed)


def arrays_of(name: str, seed: int = 0) -> dict[str, Array]:
    """The weights of a small network as they are called in files."""
    arrays = dict(_drawn(name, seed))
    if name == "SPAN":
        arrays["no_norm"] = np.zeros(1, np.float32)
    if name == "RealPLKSR":
        arrays["to_img.init_pos"] = _initial_places(2, 4)
    return arrays


def _initial_places(scale: int, groups: int) -> Array:
    """DySample's buffer `init_pos`: the place of each pixel within its cell."""
    ends = (-scale + 1) / 2, (scale - 1) / 2
    offsets = np.arange(ends[0], ends[1] + 1, dtype=np.float32) / scale
    both = np.stack(np.meshgrid(offsets, offsets, indexing="ij")).transpose(0, 2, 1)
    return np.tile(both, (1, groups, 1)).reshape(1, -1, 1, 1)


def file_of(folder: Path, name: str, layout: Layout = str, seed: int = 0) -> Path:
    """A safetensors file with a small network, its names changed by a layout."""
    path = folder / f"{name}.safetensors"
    write_arrays(path, {layout(key): array for key, array in arrays_of(name, seed).items()})
    return path


def torch_file_of(folder: Path, name: str, layout: Layout = str) -> Path:
    """A PyTorch file with a small network; its names are as they are listed, flat."""
    path = folder / f"{name}.pth"
    return write_torch_zip(path, {layout(key): array for key, array in arrays_of(name).items()})


def old_esrgan(name: str, config: RrdbConfig = RRDB) -> str:
    """The name in ESRGAN's old layout of a tensor of BasicSR's."""
    name = re.sub(r"body\.(\d+)\.rdb(\d)\.conv(\d)\.", r"model.1.sub.\1.RDB\2.conv\3.0.", name)
    name = name.replace("conv_body.", f"model.1.sub.{config.blocks}.")
    name = re.sub(r"conv_up(\d)\.", lambda match: f"model.{3 * int(match[1])}.", name)
    last = 3 * config.doublings + 4
    places = {"conv_first.": "model.0.", "conv_hr.": f"model.{last - 2}."}
    for new, old in {**places, "conv_last.": f"model.{last}."}.items():
        name = name.replace(new, old)
    return name


def new_esrgan(name: str) -> str:
    """The name in ESRGAN's new layout of a tensor of BasicSR's."""
    name = re.sub(r"body\.(\d+)\.rdb(\d)\.", r"RRDB_trunk.\1.RDB\2.", name)
    name = name.replace("conv_body.", "trunk_conv.").replace("conv_hr.", "HRconv.")
    return re.sub(r"conv_up(\d)\.", r"upconv\1.", name)


def setting(folder: Path, tile: int | None = None) -> Setting:
    """The processor."""
    backend = CpuBackend()
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(folder / "weights"))
    return Setting(compiler, CancelToken(), lambda _done, _total: None, tile)


def picture(height: int, width: int, seed: int = 0, channels: int = 3) -> Array:
    """A picture with soft shapes and some noise: planes in [0, 1]."""
    random = np.random.default_rng(seed)
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    planes = [
        np.sin(down / (5 + 3 * channel) + random.random()) * np.cos(across / (7 + 2 * channel))
        for channel in range(channels)
    ]
    noise = random.random((channels, height, width))
    return np.clip(0.5 + 0.35 * np.stack(planes) + 0.1 * (noise - 0.5), 0, 1).astype(np.float32)
