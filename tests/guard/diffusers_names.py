"""The original layout's names as diffusers has them, for checkpoints in folders."""

import re

from tests.families.listings import Listing, UNetSizes, VaeSizes, ldm_unet, ldm_vae

_UNET_TOPS = {
    "time_embed.0": "time_embedding.linear_1",
    "time_embed.2": "time_embedding.linear_2",
    "label_emb.0.0": "add_embedding.linear_1",
    "label_emb.0.2": "add_embedding.linear_2",
    "input_blocks.0.0": "conv_in",
    "out.0": "conv_norm_out",
    "out.2": "conv_out",
}
_RESNET = {
    "in_layers.0": "norm1",
    "in_layers.2": "conv1",
    "emb_layers.1": "time_emb_proj",
    "out_layers.0": "norm2",
    "out_layers.3": "conv2",
    "skip_connection": "conv_shortcut",
}
_MIDDLE = {
    "middle_block.0.": "mid_block.resnets.0.",
    "middle_block.1.": "mid_block.attentions.0.",
    "middle_block.2.": "mid_block.resnets.1.",
}
_BLOCK = re.compile(r"(input|output)_blocks\.(\d+)\.(\d+)\.(.+)")
_VAE = [
    (r"(encoder|decoder)\.(down|up)\.(\d+)\.block\.(\d+)\.", r"\1.\2_blocks.\3.resnets.\4."),
    (r"\.(down|up)\.(\d+)\.(down|up)sample\.conv", r".\1_blocks.\2.\3samplers.0.conv"),
    (r"nin_shortcut", "conv_shortcut"),
    (r"mid\.block_1", "mid_block.resnets.0"),
    (r"mid\.block_2", "mid_block.resnets.1"),
    (r"mid\.attn_1\.norm", "mid_block.attentions.0.group_norm"),
    (r"mid\.attn_1\.([qkv])\.", r"mid_block.attentions.0.to_\1."),
    (r"mid\.attn_1\.proj_out", "mid_block.attentions.0.to_out.0"),
    (r"norm_out", "conv_norm_out"),
]
_UP_LEVEL = re.compile(r"up_blocks\.(\d+)")


def diffusers_unet(sizes: UNetSizes) -> Listing:
    """`UNet2DConditionModel`'s names and shapes."""
    return {_unet_name(name, sizes.blocks): shape for name, shape in ldm_unet(sizes).items()}


def _unet_name(name: str, blocks: int) -> str:
    top, _, kind = name.rpartition(".")
    if top in _UNET_TOPS:
        return f"{_UNET_TOPS[top]}.{kind}"
    for before, after in _MIDDLE.items():
        if name.startswith(before):
            return after + _in_resnet(name.removeprefix(before))
    found = _BLOCK.fullmatch(name)
    assert found, name
    way, number, part, rest = found[1], int(found[2]), int(found[3]), found[4]
    level, layer = divmod(number - (way == "input"), blocks + 1)
    block = f"{'down' if way == 'input' else 'up'}_blocks.{level}"
    if rest.startswith("op."):
        return f"{block}.downsamplers.0.conv.{kind}"
    if rest.startswith("conv."):
        return f"{block}.upsamplers.0.conv.{kind}"
    return f"{block}.{'attentions' if part else 'resnets'}.{layer}.{_in_resnet(rest)}"


def _in_resnet(rest: str) -> str:
    leaf, _, kind = rest.rpartition(".")
    return f"{_RESNET[leaf]}.{kind}" if leaf in _RESNET else rest


def diffusers_vae(sizes: VaeSizes) -> Listing:
    """`AutoencoderKL`'s names and shapes: its levels on the way up count from the lowest."""
    names: Listing = {}
    highest = len(sizes.multipliers) - 1
    for name, shape in ldm_vae(sizes).items():
        for pattern, replacement in _VAE:
            name = re.sub(pattern, replacement, name)
        name = _UP_LEVEL.sub(lambda found: f"up_blocks.{highest - int(found[1])}", name)
        attends = ".attentions.0.to_" in name
        names[name] = shape[:2] if attends else shape
    return names
