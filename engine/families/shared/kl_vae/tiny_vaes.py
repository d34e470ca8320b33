"""Tiny autoencoders (TAESD, TAESDXL, TAESD3, TAEF1, TAEF2): their layouts, and finding their files.

The original has two files with numbered layers, `taesd_encoder` and `taesd_decoder`; ComfyUI saves
both in one file, with a prefix per side and the scale of its latents; diffusers' `AutoencoderTiny`
is one file, and `taef2.safetensors` has its names. The decoder's first layer, a clamp, has no
weights, and diffusers does not count it. The tiny autoencoders of SD and SDXL have the same shapes:
only `taesdxl` in the name of the file or folder shows SDXL's. Of those with 16 channels `taef1` in
the name shows Flux.1's, `taesd3` SD 3's. TAEF2, of FLUX.2, is known by its keys: no other has
normalisations. FLUX.2's transformer has its latent packed, 2 x 2 cells in one.
"""

import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.checkpoints.diffusers_configs import PipelineFile, read_config
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.errors import EngineError
from engine.families.checkpoint import Component, ComponentSource, Parts
from engine.families.refusals import cannot_supply
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace
from engine.families.tiny_files import TINY_NAME
from engine.file_paths import is_folder
from engine.folders import repository_of
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.weights.stored import StoredWeight

_LABEL = as_it_is("VAE")
_MOST_BYTES = 32 << 20
_OTHER_SIDE = {"encoder": "decoder", "decoder": "encoder"}
_KEY = re.compile(
    r"(?:(?:taesd_|taesd3_|taef[12]_)?(?P<side>encoder|decoder)\.)?(?P<layers>layers\.)?(?P<place>\d+)\."
    r"(?P<rest>(?:conv\.[024]\.)?(?:weight|bias)|pool\.(?:[013]\.weight|1\.bias))"
)
# A scale that ComfyUI saves beside the layers; it is that of the latent space.
_SCALES = frozenset({"vae_scale", "vae_shift"})
_SPACES = {"taef1": latent_spaces.FLUX, "taef2": latent_spaces.FLUX2, "taesd3": latent_spaces.SD3}
# The branch with a normalisation, which TAEF2 alone has, and the cells that its latent packs.
_BRANCH = ".pool.1.weight"
_PACKED = 2


def is_tiny_vae(tensors: Mapping[str, StoredWeight]) -> bool:
    """Tell whether all tensors belong to a tiny autoencoder, or to its encoder or decoder alone."""
    layers = tensors.keys() - _SCALES
    return bool(layers) and all(_KEY.fullmatch(name) for name in layers)


def is_tiny_vae_folder(path: Path) -> bool:
    """Tell whether a folder holds diffusers' `AutoencoderTiny` and nothing else."""
    config = path / "config.json"
    return config.is_file() and read_config(config, PipelineFile).class_name == "AutoencoderTiny"


def named_space(path: Path) -> LatentSpace | None:
    """Return the latent space that the name of a file, its folder or its repository shows."""
    names = path.name, path.parent.name, repository_of(path.parent)
    name = next((name for name in names if TINY_NAME.search(name)), "").casefold()
    if not name:
        return None
    for word, space in _SPACES.items():
        if word in name:
            return space
    return latent_spaces.SDXL if "xl" in name else latent_spaces.SD


def read_tiny_vae(path: Path, read: ReadIndex, space: LatentSpace) -> Parts | None:
    """Read a tiny autoencoder for latents of `space`; return None for other files and folders.

    Raises EngineError: CHECKPOINT_CORRUPT, and CHECKPOINT_MISMATCH for a tiny autoencoder without a
    decoder, or with the keys or the name of another latent space.
    """
    if is_tiny_vae_folder(path):
        path = path / "diffusion_pytorch_model.safetensors"
    if is_folder(path):
        return None
    index = read(path)
    if not is_tiny_vae(index.tensors):
        return None
    _require_space(index, space)
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
    evidence = sentence(
        "tiny VAE (TAESD), {channels} latent channels, {naming}",
        channels=config.latent_channels,
        naming=_words_of_space(index),
    )
    source = ComponentSource(Component.VAE, config, weights)
    return Parts({Component.VAE: source}, digest, (evidence,))


def find_tiny_decoder(files: Iterable[Path], space: LatentSpace, read: ReadIndex) -> Parts | None:
    """Return the first tiny decoder among the files for latents of `space`, or None.

    Only files whose names tell the space are read (`named_space`).
    """
    for path in files:
        if named_space(path) is space and _is_small(path):
            parts = _decoder_in(path, space, read)
            if parts is not None:
                return parts
    return None


def _is_small(path: Path) -> bool:
    try:
        facts = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= _MOST_BYTES


def _decoder_in(path: Path, space: LatentSpace, read: ReadIndex) -> Parts | None:
    try:
        index = read(path)
        parts = tiny_vae_parts(index, read) if is_tiny_vae(index.tensors) else None
    except EngineError:
        return None
    config = parts.sources[Component.VAE].config if parts else None
    if not isinstance(config, TinyVaeConfig) or not config.decoder_blocks:
        return None
    return parts if config.latent_channels == len(space.preview.weights) else None


def _space_by_keys(names: Iterable[str]) -> LatentSpace | None:
    """Return the latent space that keys tell: FLUX.2's, or None."""
    return latent_spaces.FLUX2 if any(name.endswith(_BRANCH) for name in names) else None


def _require_space(index: TensorIndex, space: LatentSpace) -> None:
    """Raise EngineError(CHECKPOINT_MISMATCH) for a file that is told to be of another space."""
    by_keys, named = _space_by_keys(index.tensors), named_space(index.path)
    if by_keys is not None and by_keys is not space:
        why = sentence("it is of the family {title}", title=by_keys.name)
    elif by_keys is None and named not in (None, space):
        why = sentence("its name says {value}", value=named and named.name)
    else:
        return
    raise cannot_supply(_LABEL, Component.VAE, index.path, why)


def _words_of_space(index: TensorIndex) -> Sentence:
    by_keys, named = _space_by_keys(index.tensors), named_space(index.path)
    if by_keys is not None:
        return sentence("of {family} by its keys", family=by_keys.name)
    if named is not None:
        return sentence("of {family} by its name", family=named.name)
    return sentence("of this family, as no name says otherwise")


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
    matches = {name: _KEY.fullmatch(name) for name in index.tensors if name not in _SCALES}
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
    is_packed = _space_by_keys(weights) is latent_spaces.FLUX2
    patch = _PACKED if is_packed else 1
    return TinyVaeConfig(
        channels * patch**2,
        first.shape[0],
        encoder,
        decoder,
        patch=patch,
        normalises=is_packed,
    )


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
