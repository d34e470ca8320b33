"""Tiny autoencoders (TAESD, TAESDXL, TAESD3, TAEF1): reading their layouts and finding their files.

The original has two files with numbered layers, `taesd_encoder` and `taesd_decoder`; ComfyUI joins
both in one file, with a prefix per side; diffusers' `AutoencoderTiny` is one file. The decoder's
first layer, a clamp, has no weights, and diffusers does not count it. The tiny autoencoders of SD
and SDXL have the same shapes: only `taesdxl` in the name of the file or folder shows SDXL's. Of
those with 16 channels `taef1` in the name shows Flux.1's, `taesd3` SD 3's.
"""

import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from engine.api.sentences import as_it_is, sentence
from engine.api.weight_suffixes import SAFETENSORS_SUFFIXES
from engine.checkpoints.diffusers_configs import PipelineFile, read_config
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.errors import EngineError
from engine.families.checkpoint import Component, ComponentSource, Parts
from engine.families.refusals import cannot_supply
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace
from engine.file_paths import is_folder
from engine.folders import weights_below
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.weights.stored import StoredWeight

_SUFFIXES = frozenset({*SAFETENSORS_SUFFIXES, ".pth", ".pt"})
_LABEL = as_it_is("VAE")
_MOST_BYTES = 32 << 20
_MOST_FILES = 5000
_NAME = re.compile(r"taesd|taef1", re.IGNORECASE)
_OTHER_SIDE = {"encoder": "decoder", "decoder": "encoder"}
_KEY = re.compile(
    r"(?:(?:taesd_|taesd3_|taef1_)?(?P<side>encoder|decoder)\.)?(?P<layers>layers\.)?(?P<place>\d+)\."
    r"(?P<rest>(?:conv\.[024]\.)?(?:weight|bias))"
)


def is_tiny_vae(tensors: Mapping[str, StoredWeight]) -> bool:
    """Tell whether all tensors belong to a tiny autoencoder, or to its encoder or decoder alone."""
    return bool(tensors) and all(_KEY.fullmatch(name) for name in tensors)


def is_tiny_vae_folder(path: Path) -> bool:
    """Tell whether a folder holds diffusers' `AutoencoderTiny` and nothing else."""
    config = path / "config.json"
    return config.is_file() and read_config(config, PipelineFile).class_name == "AutoencoderTiny"


def named_space(path: Path) -> LatentSpace | None:
    """Return the latent space that the name of a file or of its folder shows, or None."""
    name = next((name for name in (path.name, path.parent.name) if _NAME.search(name)), None)
    if name is None:
        return None
    if "taef1" in name.casefold():
        return latent_spaces.FLUX
    if "taesd3" in name.casefold():
        return latent_spaces.SD3
    return latent_spaces.SDXL if "xl" in name.casefold() else latent_spaces.SD


def read_tiny_vae(path: Path, read: ReadIndex, space: LatentSpace) -> Parts | None:
    """Read a tiny autoencoder for latents of `space`; return None for other files and folders.

    Raises EngineError: CHECKPOINT_CORRUPT, and CHECKPOINT_MISMATCH for a tiny autoencoder without a
    decoder or with the name of another latent space.
    """
    if is_tiny_vae_folder(path):
        path = path / "diffusion_pytorch_model.safetensors"
    if is_folder(path):
        return None
    index = read(path)
    if not is_tiny_vae(index.tensors):
        return None
    named = named_space(path)
    if named not in (None, space):
        raise cannot_supply(
            _LABEL,
            Component.VAE,
            path,
            sentence("its name says {value}", value=named and named.name),
        )
    parts = tiny_vae_parts(index, read)
    config = parts.sources[Component.VAE].config
    if isinstance(config, TinyVaeConfig) and not config.decoder_blocks:
        raise cannot_supply(_LABEL, Component.VAE, path, sentence("it has no decoder"))
    return parts


def tiny_vae_parts(index: TensorIndex, read: ReadIndex) -> Parts:
    """Read a tiny autoencoder as a VAE; a missing encoder or decoder is read from a file beside.

    Raises EngineError(CHECKPOINT_CORRUPT).
    """
    weights, digest = _canonical(index), index.digest
    sides = {name.split(".")[0] for name in weights}
    other_path = _other_side(index.path, sides)
    if other_path is not None:
        other = read(other_path)
        weights |= _canonical(other)
        digest = combined_digest(digest, other.digest)
    config = _config(weights, index.path)
    space = named_space(index.path)
    evidence = sentence(
        "tiny VAE (TAESD), {channels} latent channels, {naming}",
        channels=config.latent_channels,
        naming=sentence("of {family} by its name", family=space.name)
        if space
        else sentence("of this family, as no name says otherwise"),
    )
    source = ComponentSource(Component.VAE, config, weights)
    return Parts({Component.VAE: source}, digest, (evidence,))


def find_tiny_decoder(folder: Path, space: str, read: ReadIndex) -> Parts | None:
    """Return the first tiny decoder below a folder for the latent space named `space`, or None."""
    for path in islice(_candidates(folder), _MOST_FILES):
        named = named_space(path)
        if named is None or named.name != space:
            continue
        try:
            index = read(path)
            if not is_tiny_vae(index.tensors):
                continue
            parts = tiny_vae_parts(index, read)
        except EngineError:
            continue
        config = parts.sources[Component.VAE].config
        if isinstance(config, TinyVaeConfig) and config.decoder_blocks:
            return parts
    return None


def _candidates(folder: Path) -> Iterator[Path]:
    for path in weights_below(folder, _SUFFIXES, inside_checkpoints=True):
        if not (_NAME.search(path.name) or _NAME.search(path.parent.name)):
            continue
        try:
            facts = path.stat()
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= _MOST_BYTES:
            yield path


def _other_side(path: Path, sides: set[str]) -> Path | None:
    """Return the file of the other side, as `taesd_encoder` for `taesd_decoder`; None if absent.

    `sides` are the sides that the file at `path` holds.
    """
    if len(sides) != 1:
        return None
    (side,) = sides
    other = path.with_name(path.name.replace(side, _OTHER_SIDE[side]))
    return other if other != path and other.is_file() else None


def _canonical(index: TensorIndex) -> dict[str, StoredWeight]:
    """Return the tensors under diffusers' names."""
    matches = {name: _KEY.fullmatch(name) for name in index.tensors}
    # Without a prefix, layer 0 shows the side: only an encoder's has weights.
    alone = "encoder" if "0.weight" in index.tensors else "decoder"
    weights: dict[str, StoredWeight] = {}
    for name, match in matches.items():
        if match is None:
            raise damaged(
                index.path, sentence("it holds {name!r}, which no tiny VAE has", name=name)
            )
        side, place = match["side"] or alone, int(match["place"])
        if side == "decoder" and not match["layers"]:
            place -= 1
        weights[f"{side}.layers.{place}.{match['rest']}"] = index.tensors[name]
    return weights


def _config(weights: Mapping[str, StoredWeight], path: Path) -> TinyVaeConfig:
    encoder, decoder = (_blocks(weights, side) for side in ("encoder", "decoder"))
    first = weights.get("decoder.layers.0.weight") or weights.get("encoder.layers.0.weight")
    if first is None or len(first.shape) != 4:
        raise damaged(path, sentence("it has no first layer of a tiny VAE"))
    channels = first.shape[1] if decoder else _last(weights, "encoder").shape[0]
    return TinyVaeConfig(channels, first.shape[0], encoder, decoder)


def _blocks(weights: Mapping[str, StoredWeight], side: str) -> tuple[int, ...] | None:
    """Return the number of residual blocks at each resolution; None for a missing side."""
    places = sorted({int(name.split(".")[2]) for name in weights if name.startswith(f"{side}.")})
    if not places:
        return None
    counts = [0]
    for place in places[1:]:
        if f"{side}.layers.{place}.conv.0.weight" in weights:
            counts[-1] += 1
        elif place != places[-1]:
            counts.append(0)
    return tuple(counts)


def _last(weights: Mapping[str, StoredWeight], side: str) -> StoredWeight:
    last = max(int(name.split(".")[2]) for name in weights if name.startswith(f"{side}."))
    return weights[f"{side}.layers.{last}.weight"]
