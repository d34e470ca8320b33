"""The names of a CLIP text encoder's layers in LoRA files: Hugging Face's and OpenCLIP's."""

import re
from collections.abc import Iterator, Mapping

from engine.families.shared.clip.open_clip import LEAVES, TOPS
from engine.lora.layers import Target

PROJECTION = "text_projection"
TABLES = ("embeddings.token_embedding", "embeddings.position_embedding")
_MODEL = "text_model."
_LAYER = re.compile(r"text_model\.encoder\.layers\.(\d+)\.(.+)")
_OPEN_CLIP_LEAVES = {leaf: original for original, leaf in LEAVES.items()}
_OPEN_CLIP_TOPS = {f"{_MODEL}{top}": original for original, top in TOPS.items()}
_FUSED = ("q", "k", "v")
# Diffusers' first LoRA files name the projections as in a UNet.
_AS_IN_UNET = {
    "self_attn.q_proj": "self_attn.to_q",
    "self_attn.k_proj": "self_attn.to_k",
    "self_attn.v_proj": "self_attn.to_v",
    "self_attn.out_proj": "self_attn.to_out",
}


def clip_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    """Return the targets by all names of the layers; `targets` are by canonical layer name."""
    names: dict[str, tuple[Target, ...]] = {layer: (target,) for layer, target in targets.items()}
    for layer, target in targets.items():
        # transformers 5 has no `text_model.`
        names[layer.removeprefix(_MODEL)] = (target,)
        for name in _other_names(layer):
            names[name] = (target,)
    names.update(_fused(targets))
    return names


def _other_names(layer: str) -> Iterator[str]:
    match = _LAYER.fullmatch(layer)
    if match is None:
        top = _OPEN_CLIP_TOPS.get(f"{layer}.weight")
        if top is not None:
            yield top.removesuffix(".weight")
        return
    number, leaf = match[1], match[2]
    if leaf in _OPEN_CLIP_LEAVES:
        yield f"transformer.resblocks.{number}.{_OPEN_CLIP_LEAVES[leaf]}"
    if leaf in _AS_IN_UNET:
        for start in (_MODEL, ""):
            yield f"{start}encoder.layers.{number}.{_AS_IN_UNET[leaf]}"


def _fused(targets: Mapping[str, Target]) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Yield OpenCLIP's fused projections: each is a third of query, key and value."""
    for layer in targets:
        match = _LAYER.fullmatch(layer)
        if match is None or match[2] != "self_attn.q_proj":
            continue
        names = (f"{layer.removesuffix('q_proj')}{part}_proj" for part in _FUSED)
        thirds = [targets[name] for name in names if name in targets]
        if len(thirds) == len(_FUSED):
            yield f"transformer.resblocks.{match[1]}.attn.in_proj", tuple(_parts(thirds))


def _parts(thirds: list[Target]) -> Iterator[Target]:
    start = 0
    for target in thirds:
        stop = start + target.shape[0]
        yield Target(target.component, target.layer, target.shape, part=(start, stop))
        start = stop
