"""The keys of transformers with Flux.1's blocks, in the original layout, ComfyUI's, diffusers'.

Canonical are diffusers' names. Layers that the original layout holds in one (`qkv`, `linear1`) are
cut into rows of the file, so that nothing is copied. The last modulation is cut in both layouts,
since they hold its halves in opposite order.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.api.sentences import sentence
from engine.families.shared.keys.layout import NetworkKeys, Rename
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.rows import rows
from engine.weights.stored import StoredWeight

_DOUBLE = (
    r"norm1(_context)?\.linear|attn\.(to_[qkv]|add_[qkv]_proj|to_out\.0|to_add_out)"
    r"|ff(_context)?\.net\.(0\.proj|2)"
)
_SINGLE = r"norm\.linear|attn\.to_[qkv]|proj_mlp|proj_out"
_GRAMMAR = re.compile(
    r"(x_embedder|context_embedder|proj_out|norm_out\.(scale|shift)"
    r"|time_text_embed\.(timestep|guidance|text)_embedder\.linear_[12]"
    rf"|transformer_blocks\.\d+\.({_DOUBLE})|single_transformer_blocks\.\d+\.({_SINGLE})"
    r")\.(weight|bias)"
    r"|transformer_blocks\.\d+\.attn\.norm_(added_)?[qk]\.weight"
    r"|single_transformer_blocks\.\d+\.attn\.norm_[qk]\.weight"
)
# The beginnings of names in the original layout, and diffusers'.
MODULES = {
    "img_in.": "x_embedder.",
    "txt_in.": "context_embedder.",
    "time_in.in_layer.": "time_text_embed.timestep_embedder.linear_1.",
    "time_in.out_layer.": "time_text_embed.timestep_embedder.linear_2.",
    "vector_in.in_layer.": "time_text_embed.text_embedder.linear_1.",
    "vector_in.out_layer.": "time_text_embed.text_embedder.linear_2.",
    "guidance_in.in_layer.": "time_text_embed.guidance_embedder.linear_1.",
    "guidance_in.out_layer.": "time_text_embed.guidance_embedder.linear_2.",
    "double_blocks.": "transformer_blocks.",
    "single_blocks.": "single_transformer_blocks.",
    "final_layer.linear.": "proj_out.",
    "final_layer.adaLN_modulation.1.": "norm_out.",
}
# Some files call the scale of a norm its weight.
_NORM = re.compile(r"(?<=_norm\.)weight$")
# The names of layers within blocks.
LAYERS = {
    ".img_mod.lin.": ".norm1.linear.",
    ".txt_mod.lin.": ".norm1_context.linear.",
    ".img_attn.qkv.": ".attn.to_qkv.",
    ".txt_attn.qkv.": ".attn.add_qkv_proj.",
    ".img_attn.norm.query_norm.scale": ".attn.norm_q.weight",
    ".img_attn.norm.key_norm.scale": ".attn.norm_k.weight",
    ".txt_attn.norm.query_norm.scale": ".attn.norm_added_q.weight",
    ".txt_attn.norm.key_norm.scale": ".attn.norm_added_k.weight",
    ".img_attn.proj.": ".attn.to_out.0.",
    ".txt_attn.proj.": ".attn.to_add_out.",
    ".img_mlp.0.": ".ff.net.0.proj.",
    ".img_mlp.2.": ".ff.net.2.",
    ".txt_mlp.0.": ".ff_context.net.0.proj.",
    ".txt_mlp.2.": ".ff_context.net.2.",
    ".modulation.lin.": ".norm.linear.",
    ".norm.query_norm.scale": ".attn.norm_q.weight",
    ".norm.key_norm.scale": ".attn.norm_k.weight",
    ".linear2.": ".proj_out.",
}
_ORIGINAL = "double_blocks."
# Layers that are cut into rows, each with the names of its parts.
JOINED_ATTENTION = {
    ".attn.to_qkv.": (".attn.to_q.", ".attn.to_k.", ".attn.to_v."),
    ".attn.add_qkv_proj.": (".attn.add_q_proj.", ".attn.add_k_proj.", ".attn.add_v_proj."),
}
JOINED = {
    **JOINED_ATTENTION,
    ".linear1.": (".attn.to_q.", ".attn.to_k.", ".attn.to_v.", ".proj_mlp."),
}


@dataclass(frozen=True)
class FluxNames:
    """The names of a transformer's tensors in the original layout, and diffusers'.

    `modules` has beginnings of names, `layers` those of layers within blocks, `joined` the layers
    that are cut, under diffusers' names. `measure` ends the name of a tensor of the first layer
    whose rows are as many as the transformer is wide.
    """

    modules: Mapping[str, str]
    layers: Mapping[str, str]
    joined: Mapping[str, tuple[str, ...]]
    measure: str

    def unpacked(
        self, tensors: Mapping[str, StoredWeight], path: Path
    ) -> Mapping[str, StoredWeight]:
        """Rename tensors of the original layout, and cut those that hold several weights."""
        original = any(name.startswith(_ORIGINAL) for name in tensors)
        first = tensors.get(("img_in." if original else "x_embedder.") + self.measure)
        width = first.shape[0] if first is not None and first.shape else 0
        found: dict[str, StoredWeight] = {}
        for name, tensor in tensors.items():
            renamed = self._diffusers_name(name) if original else name
            for part, weight in self._parts(renamed, tensor, width, path, original=original):
                if part in found:
                    raise damaged(path, sentence("it holds {name!r} under two names", name=part))
                found[part] = weight
        return found

    def _diffusers_name(self, name: str) -> str:
        """Return diffusers' name of a layer in the original layout; joined layers keep one name."""
        name = _NORM.sub("scale", name)
        renamed = self._module.sub(lambda match: self.modules[match[0]], name)
        return self._layer.sub(lambda match: self.layers[match[0]], renamed, count=1)

    def _parts(
        self, name: str, tensor: StoredWeight, width: int, path: Path, *, original: bool
    ) -> Iterator[tuple[str, StoredWeight]]:
        """Yield the weights that a tensor holds, each with its name."""
        joint = self._joint.search(name)
        if original and joint is not None:
            names = [name.replace(joint[0], part) for part in self.joined[joint[0]]]
            rest = len(names) > len(JOINED_ATTENTION[".attn.to_qkv."])
            yield from rows(names, name, tensor, width, path, rest=rest)
            return
        begins = "norm_out." if original else "norm_out.linear."
        if not name.startswith(begins):
            yield name, tensor
            return
        halves = ("shift", "scale") if original else ("scale", "shift")
        names = [f"norm_out.{half}.{name.removeprefix(begins)}" for half in halves]
        yield from rows(names, name, tensor, width, path)

    @cached_property
    def _module(self) -> re.Pattern[str]:
        return re.compile("^(?:" + "|".join(map(re.escape, self.modules)) + ")")

    @cached_property
    def _layer(self) -> re.Pattern[str]:
        longest_first = sorted(self.layers, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)))

    @cached_property
    def _joint(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.joined)))


def as_they_are(names: Collection[str], path: Path) -> Rename:
    """Return a function that changes no name: `FluxNames.unpacked` renames."""
    return str


FLUX_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    leftovers=re.compile(r"(model_ema|loss)\."),
    renaming=as_they_are,
    unpacked=FluxNames(MODULES, LAYERS, JOINED, measure="bias").unpacked,
)
