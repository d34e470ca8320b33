"""Components of a diffusers folder: canonical weights, and sizes checked against `config.json`.

Only `config.json` states heads, groups and epsilons. Its other claims are compared with the shapes
of the weights, because folders assembled by hand sometimes mix the configuration of one checkpoint
with the weights of another.
"""

from pathlib import Path

import msgspec

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import (
    ClipTextFile,
    UNetConstants,
    UNetFile,
    VaeConstants,
    VaeFile,
    unusual,
)
from engine.checkpoints.diffusers_folder import DiffusersFolder, FolderPart, find_tokenizer
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.clip.sizes import ClipTextFacts, clip_text_config
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.stable_diffusion.key_layout import KEY_LAYOUT
from engine.families.shared.unet.sizes import UNetFacts, unet_config
from engine.graphs.clip_text import Activation

_ADVICE = sentence("Choose a model with Stable Diffusion's usual network.")


class FolderSource(msgspec.Struct, frozen=True):
    """A component, and the number of unused tensors in its file."""

    source: ComponentSource
    ignored: int


def folder_source(component: Component, part: FolderPart, vae: VaeFile | None) -> FolderSource:
    """Read a component of a folder; `vae` is the configuration of the folder's VAE, if any."""
    match component:
        case Component.DENOISER:
            return unet_source(part)
        case Component.VAE:
            return vae_source(part, vae)
        case _:
            return clip_text_source(component, part)


def sample_size(unet: FolderPart | None) -> int | None:
    """Return the side of the latents in the UNet's training, in cells; None if not stated."""
    size = unet.config(UNetFile).sample_size if unet else None
    return next(iter(size), None) if isinstance(size, tuple) else size


def tokenizer_of_folder(folder: DiffusersFolder, *subfolders: str) -> Path | None:
    """Return the folder of CLIP's tokenizer: beside its weights, or a subfolder; or None."""
    encoder = folder.parts.get("text_encoder")
    places = (
        encoder.path if encoder else None,
        *(folder.path / subfolder for subfolder in subfolders),
    )
    return next(filter(None, (find_tokenizer(place) for place in places if place)), None)


def unet_source(part: FolderPart) -> FolderSource:
    """Read the UNet of a folder, and check its configuration. Raises EngineError."""
    path, stated = part.index.path, part.config(UNetFile)
    file = path.parent / "config.json"
    require_usual(file, unusual(stated, UNetConstants), _ADVICE)
    require_usual(file, _unknown_parts(stated), _ADVICE)
    named = KEY_LAYOUT.canonical(Component.DENOISER, part.index.tensors, path)
    heads = stated.num_attention_heads or stated.attention_head_dim
    facts = UNetFacts(heads, stated.norm_num_groups, stated.norm_eps)
    config = unet_config(named.weights, facts, path)
    layers = tuple(len(block.depths) for block in config.down)
    check_claims(
        file,
        (
            ("block_out_channels", stated.block_out_channels, tuple(b.width for b in config.down)),
            ("layers_per_block", _per_level(stated.layers_per_block, len(layers)), layers),
            ("in_channels", stated.in_channels, config.in_channels),
            ("out_channels", stated.out_channels, config.out_channels),
            (
                "cross_attention_dim",
                _per_level(stated.cross_attention_dim, len(layers)),
                (config.context_width,) * len(layers),
            ),
        ),
    )
    source = ComponentSource(Component.DENOISER, config, named.weights)
    return FolderSource(source, named.ignored)


def vae_source(part: FolderPart, stated: VaeFile | None = None) -> FolderSource:
    """Read the VAE of a folder, and check its configuration. Raises EngineError.

    `stated` is the configuration where it was read before.
    """
    path, stated = part.index.path, stated or part.config(VaeFile)
    file = path.parent / "config.json"
    require_usual(file, (*unusual(stated, VaeConstants), *_half_normalised(stated)), _ADVICE)
    named = KEY_LAYOUT.canonical(Component.VAE, part.index.tensors, path)
    config = vae_config(named.weights, path, stated.norm_num_groups)
    of_decoder = stated.decoder_block_out_channels or stated.block_out_channels
    check_claims(
        file,
        (
            ("block_out_channels", stated.block_out_channels, config.widths),
            ("decoder_block_out_channels", of_decoder, config.widths_of("decoder")),
            ("layers_per_block", stated.layers_per_block, config.layers),
            ("latent_channels", stated.latent_channels, config.core_channels),
        ),
    )
    return FolderSource(ComponentSource(Component.VAE, config, named.weights), named.ignored)


def clip_text_source(
    component: Component, part: FolderPart, keys: KeyLayout = KEY_LAYOUT
) -> FolderSource:
    """Read a CLIP text encoder of a folder by the family's `keys`, and check its configuration.

    Raises EngineError.
    """
    path, stated = part.index.path, part.config(ClipTextFile)
    file = path.parent / "config.json"
    if stated.hidden_act not in set(Activation):
        require_usual(file, (f"hidden_act = {stated.hidden_act!r}",), _ADVICE)
    named = keys.canonical(component, part.index.tensors, path)
    facts = ClipTextFacts(
        stated.num_attention_heads, Activation(stated.hidden_act), stated.layer_norm_eps
    )
    config = clip_text_config(named.weights, path, facts)
    check_claims(
        file,
        (
            ("vocab_size", stated.vocab_size, config.vocabulary),
            ("hidden_size", stated.hidden_size, config.width),
            ("intermediate_size", stated.intermediate_size, config.mlp_width),
            ("num_hidden_layers", stated.num_hidden_layers, config.layers),
            ("max_position_embeddings", stated.max_position_embeddings, config.positions),
        ),
    )
    return FolderSource(ComponentSource(component, config, named.weights), named.ignored)


def _half_normalised(stated: VaeFile) -> tuple[str, ...]:
    """Return a complaint unless means and deviations are both absent or one per channel."""
    found = [len(values) for values in (stated.latents_mean, stated.latents_std) if values]
    if found in ([], [stated.latent_channels] * 2):
        return ()
    return (f"latents_mean = {stated.latents_mean}, latents_std = {stated.latents_std}",)


def _unknown_parts(stated: UNetFile) -> tuple[str, ...]:
    known = (
        ("addition_embed_type", stated.addition_embed_type, {None, "text_time"}),
        (
            "mid_block_type",
            stated.mid_block_type,
            {None, "UNetMidBlock2DCrossAttn", "UNetMidBlock2D"},
        ),
    )
    return tuple(f"{field} = {value!r}" for field, value, values in known if value not in values)


def _per_level(value: int | tuple[int, ...], levels: int) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,) * levels
