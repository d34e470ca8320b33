"""The keys of IP-Adapter files, and the names of diffusers that canonical names follow.

Sources: github.com/tencent-ailab/IP-Adapter (`ip_adapter/`), diffusers `loaders/unet.py`
(`_convert_ip_adapter_image_proj_to_diffusers`).
"""

import re
from collections.abc import Mapping

import msgspec

from backends.base import FileSlice

Tensors = Mapping[str, FileSlice]

# The prefixes of the projection and of the layers: of files for use, and of training's own.
_PROJECTIONS = ("image_proj.", "image_proj_model.")
_LAYERS = ("ip_adapter.", "adapter_modules.")
_LAYER = re.compile(r"(\d+)\.to_(k|v)_ip\.weight")
# A layer of the resampler: its attention, and its MLP.
_ATTENTION = re.compile(r"layers\.(\d+)\.(?:0|attn)\.to_(q|kv|k|v|out)(?:\.0)?\.weight")
_PARTS = (
    (re.compile(r"layers\.(\d+)\.0\.norm1\."), r"layers.\1.ln0."),
    (re.compile(r"layers\.(\d+)\.0\.norm2\."), r"layers.\1.ln1."),
    (re.compile(r"layers\.(\d+)\.1\.0\."), r"layers.\1.ff.0."),
    (re.compile(r"layers\.(\d+)\.1\.1\."), r"layers.\1.ff.1.net.0.proj."),
    (re.compile(r"layers\.(\d+)\.1\.3\."), r"layers.\1.ff.1.net.2."),
    # The MLP of full face, and the linear layer of the first adapters.
    (re.compile(r"proj\.0\."), "ff.net.0.proj."),
    (re.compile(r"proj\.2\."), "ff.net.2."),
    (re.compile(r"proj\.3\."), "norm."),
    (re.compile(r"proj\.(?=weight|bias)"), "image_embeds."),
)


class AdapterTensors(msgspec.Struct, frozen=True):
    """The tensors of an adapter.

    `projection` has those of the image projection by canonical names, `keys` and `values` the
    layers of the denoiser by their numbers in the file. `others` are the rest, by their own names.
    """

    projection: Tensors
    keys: Mapping[int, FileSlice]
    values: Mapping[int, FileSlice]
    others: frozenset[str]


def adapter_tensors(tensors: Tensors) -> AdapterTensors:
    """Sort a file's tensors."""
    projection: dict[str, FileSlice] = {}
    layers: dict[str, dict[int, FileSlice]] = {"k": {}, "v": {}}
    others: set[str] = set()
    for name, tensor in tensors.items():
        rest = _without(name, _PROJECTIONS)
        if rest:
            projection |= _named(rest, tensor)
            continue
        layer = _LAYER.fullmatch(_without(name, _LAYERS))
        if layer is None:
            others.add(name)
        else:
            layers[layer[2]][int(layer[1])] = tensor
    return AdapterTensors(projection, layers["k"], layers["v"], frozenset(others))


def _without(name: str, prefixes: tuple[str, ...]) -> str:
    """Return a name without the first of the prefixes that it has; "" if it has none."""
    found = next((prefix for prefix in prefixes if name.startswith(prefix)), None)
    return "" if found is None else name.removeprefix(found)


def _named(name: str, tensor: FileSlice) -> dict[str, FileSlice]:
    """Return a tensor of the projection under its canonical name, or as keys and values."""
    attention = _ATTENTION.fullmatch(name)
    if attention is None:
        for pattern, wanted in _PARTS:
            if pattern.match(name):
                return {pattern.sub(wanted, name, count=1): tensor}
        return {name: tensor}
    layer, part = f"layers.{attention[1]}.attn", attention[2]
    if part == "out":
        return {f"{layer}.to_out.0.weight": tensor}
    if part != "kv":
        return {f"{layer}.to_{part}.weight": tensor}
    half = tensor.shape[0] // 2
    return {
        f"{layer}.to_k.weight": tensor.rows(0, half),
        f"{layer}.to_v.weight": tensor.rows(half, 2 * half),
    }
