"""From a path to a checkpoint whose family, parts and gaps are known; no weight is read.

`identify` reads one file or folder, `supply` puts in parts from others, `require_complete` is asked
before anything runs.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from backends.base import FileSlice
from engine.api.checkpoints import Gap
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.diffusers_folder import (
    DiffusersFolder,
    ReadIndex,
    find_tokenizer,
    is_checkpoint_folder,
    read_folder,
    read_scheduler,
    read_text_encoder,
    read_unet,
    read_vae,
)
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.errors import EngineError
from engine.families import sd1, sd2, sdxl, sdxl_refiner
from engine.families.base import Component, Family, IdentifiedCheckpoint, Parts
from engine.families.distillation import with_hints
from engine.families.hints import NO_HINTS, read_hints
from engine.families.recognition import Kind, listing, recognise
from engine.families.tiny_vaes import (
    is_tiny_vae,
    is_tiny_vae_folder,
    named_space,
    tiny_vae_parts,
)
from engine.file_paths import is_folder
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.tiny_vae import TinyVaeConfig

FAMILIES: tuple[Family, ...] = (sd1.FAMILY, sd2.FAMILY, sdxl.FAMILY, sdxl_refiner.FAMILY)

# The words CLIP's own tokenizer, which the app brings, can say.
CLIP_VOCABULARY = 49408
_BY_LEVELS = {PredictionType.EDM, PredictionType.EDM_V}


def identify(
    path: Path, read: ReadIndex = read_index, override: CheckpointOverride = NO_OVERRIDE
) -> IdentifiedCheckpoint:
    """What the checkpoint at `path` is. Raises EngineError for what is none, or not one we run.

    `read` reads a file's header: `KnownFiles.read_index` where there is a cache. `override` is what
    a person says of it; a family that its shapes rule out raises CHECKPOINT_MISMATCH.
    """
    path = path.absolute()  # weights stay where they are, wherever the process goes
    wanted = _family_named(override.family) if override.family else None
    if is_folder(path):
        folder = read_folder(path, read)
        family = _family_of_folder(folder, wanted)
        parts = _as_said(family.read_folder(folder), override)
        checkpoint = family.assemble(path, parts)
        checkpoint = with_hints(checkpoint, read_hints(path), folder.scheduler)
        return replace(checkpoint, override=override)
    index = read(path)
    family = _family(index.tensors, path, wanted)
    parts = _as_said(family.read_file(index, frozenset(Component)), override)
    checkpoint = with_hints(family.assemble(path, parts), NO_HINTS)
    return replace(checkpoint, file=index.state, override=override)


def supply(
    checkpoint: IdentifiedCheckpoint, files: ComponentFiles, read: ReadIndex = read_index
) -> IdentifiedCheckpoint:
    """The checkpoint with parts from other files: a part alone, or one of a whole checkpoint."""
    family = _family_named(checkpoint.family)
    parts = checkpoint.parts
    for component, name in (
        (Component.TEXT_ENCODER, files.text_encoder),
        (Component.TEXT_ENCODER_2, files.text_encoder_2),
        (Component.DENOISER, files.denoiser),
        (Component.VAE, files.vae),
    ):
        if name is not None:
            path = Path(name).absolute()
            parts = _with_part(parts, component, _read_part(family, component, path, read), path)
    if files.denoiser:
        parts = _as_said(parts, checkpoint.override)
    assembled = family.assemble(checkpoint.path, parts)
    supplied = with_hints(assembled, NO_HINTS if files.denoiser else checkpoint.hints)
    # People know a checkpoint by its denoiser.
    file = None if files.denoiser else checkpoint.file
    return replace(supplied, file=file, override=checkpoint.override)


def require_complete(checkpoint: IdentifiedCheckpoint, gaps: Sequence[Gap] = ()) -> None:
    """Raise EngineError naming what is missing and how to supply it, if anything is.

    `gaps` has the files that hold it, as far as one has looked for them.
    """
    if checkpoint.missing:
        names = " and no ".join(component.label for component in checkpoint.missing)
        options = " ".join(component.option for component in checkpoint.missing)
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            f"{checkpoint.path.name} has no {names}.",
            f"Supply it with {options}: such a file alone, or a checkpoint to take it from."
            + _offered(gaps),
            "\n".join(f"{gap.option} {fit.path}" for gap in gaps for fit in gap.fits),
        )
    configs = (source.config for source in checkpoint.components.values())
    words = min(text.vocabulary for text in configs if isinstance(text, ClipTextConfig))
    if words < CLIP_VOCABULARY and checkpoint.tokenizer is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            f"The text encoder of {checkpoint.path.name} knows {words} words of its own, "
            "and its tokenizer is missing.",
            "Use the diffusers folder it came from, with its tokenizer.",
        )


def _offered(gaps: Sequence[Gap]) -> str:
    """The best of a person's files, as options."""
    best = [(gap.option, shlex.quote(gap.fits[0].path)) for gap in gaps if gap.fits]
    given = " ".join(f"{option} {path}" for option, path in best)
    return f" Of your files these fit best: {given}" if given else ""


# --- recognising ---


def _family_named(name: str) -> Family:
    family = next((family for family in FAMILIES if family.name == name), None)
    if family is None:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"There is no family {name!r}.",
            f"Families: {', '.join(family.name for family in FAMILIES)}.",
        )
    return family


def _family(tensors: Mapping[str, FileSlice], path: Path, wanted: Family | None = None) -> Family:
    text = listing(tensors)
    kind = recognise(text)
    if kind is not None:
        raise _not_ours(path, kind)
    found = next((family for family in FAMILIES if family.recognises(text)), None)
    if wanted is not None and wanted is not found:
        reason = wanted.rules_out(text) or (f"its shapes are {found.title}'s" if found else None)
        if reason is not None:
            raise _ruled_out(path, wanted, found, reason)
        return wanted
    if found is None:
        raise _unknown(path, tensors, text)
    return found


def _family_of_folder(folder: DiffusersFolder, wanted: Family | None = None) -> Family:
    parts = {
        "unet": folder.unet,
        "text_encoder": folder.text_encoder,
        "text_encoder_2": folder.text_encoder_2,
        "vae": folder.vae,
    }
    tensors = {
        f"{name}.{key}": tensor
        for name, part in parts.items()
        if part
        for key, tensor in part.index.tensors.items()
    }
    if folder.unet is not None:
        return _family(tensors, folder.path, wanted)
    family = next((family for family in FAMILIES if folder.pipeline in family.pipelines), None)
    if family is not None and tensors:
        return family
    raise EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"The folder {folder.path.name} is for {folder.pipeline or 'no pipeline'} and has no UNet; "
        f"this version runs {_titles()}.",
        _choose(),
    )


def _not_ours(path: Path, kind: Kind) -> EngineError:
    if kind.is_checkpoint:
        return EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            f"{path.name} is {kind.title}, which is not run yet.",
            _choose(),
        )
    hint = _choose().rstrip(".")
    if kind.supplies:
        options = " or ".join(component.option for component in kind.supplies)
        hint += f" and give this file beside it with {options}"
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"{path.name} is {kind.title}, not a checkpoint.",
        f"{hint}.",
    )


def _ruled_out(path: Path, wanted: Family, found: Family | None, reason: str) -> EngineError:
    instead = f" It is {found.title}." if found else ""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"{path.name} cannot be taken for {wanted.title}: {reason}.",
        f"Leave its family to the file.{instead}",
    )


def _unknown(path: Path, tensors: Mapping[str, FileSlice], text: str) -> EngineError:
    first = ", ".join(ascii(name) for name in sorted(tensors)[:3])
    possible = ", ".join(family.name for family in FAMILIES if family.rules_out(text) is None)
    say = f" If you know that it is one, say which: --family, one of {possible}."
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"{path.name} is not a checkpoint this version knows.",
        _choose() + (say if possible else ""),
        detail=f"{len(tensors)} tensors: {first}" if tensors else "no tensors",
    )


def _choose() -> str:
    return f"Choose a checkpoint of one of these: {_titles()}."


def _titles() -> str:
    return ", ".join(family.title for family in FAMILIES)


# --- parts from elsewhere ---


def _read_part(family: Family, component: Component, path: Path, read: ReadIndex) -> Parts:
    if component is Component.VAE and is_tiny_vae_folder(path):
        path = path / "diffusion_pytorch_model.safetensors"
    parts = _read_folder_part(family, component, path, read) if is_folder(path) else None
    if parts is None:
        index = read(path)
        if component is Component.VAE and is_tiny_vae(index.tensors):
            return _read_tiny_vae(family, index, read)
        text = listing(index.tensors)
        kind = recognise(text)
        if kind is not None and component not in kind.supplies:
            raise _cannot_supply(component, path, f"it is {kind.title}")
        other = next((one for one in FAMILIES if one.recognises(text)), family)
        if not _may_supply(other, family, component):
            raise _cannot_supply(component, path, f"it is of the family {other.title}")
        parts = family.read_file(index, frozenset({component}))
    if component not in parts.sources:
        raise _cannot_supply(component, path, "it has none")
    return parts


def _read_tiny_vae(family: Family, index: TensorIndex, read: ReadIndex) -> Parts:
    space = named_space(index.path)
    if space not in (None, family.latents):
        raise _cannot_supply(Component.VAE, index.path, f"its name says {space and space.name}")
    parts = tiny_vae_parts(index, read)
    config = parts.sources[Component.VAE].config
    if isinstance(config, TinyVaeConfig) and not config.decoder_blocks:
        raise _cannot_supply(Component.VAE, index.path, "it has no decoder")
    return parts


def _may_supply(giver: Family, taker: Family, component: Component) -> bool:
    """VAEs of one latent space fit each other; what text encoders are is told by their sizes."""
    match component:
        case Component.DENOISER:
            return giver is taker
        case Component.VAE:
            return giver.latents is taker.latents
        case Component.TEXT_ENCODER | Component.TEXT_ENCODER_2:
            return True


def _read_folder_part(family: Family, component: Component, path: Path, read: ReadIndex) -> Parts:
    """A component of a diffusers folder, or of the subfolder that holds nothing else."""
    if is_checkpoint_folder(path):
        folder = read_folder(path, read)
        _family_of_folder(folder)
    else:
        folder = DiffusersFolder(
            path=path,
            pipeline="",
            unet=read_unet(path, read) if component is Component.DENOISER else None,
            vae=read_vae(path, read) if component is Component.VAE else None,
            text_encoder=(
                read_text_encoder(path, read) if component is Component.TEXT_ENCODER else None
            ),
            text_encoder_2=(
                read_text_encoder(path, read) if component is Component.TEXT_ENCODER_2 else None
            ),
            scheduler=read_scheduler(path.parent / "scheduler"),
            tokenizer=find_tokenizer(path) or find_tokenizer(path.parent / "tokenizer"),
        )
    return family.read_folder(
        replace(
            folder,
            unet=folder.unet if component is Component.DENOISER else None,
            vae=folder.vae if component is Component.VAE else None,
            text_encoder=folder.text_encoder if component is Component.TEXT_ENCODER else None,
            text_encoder_2=(
                folder.text_encoder_2 if component is Component.TEXT_ENCODER_2 else None
            ),
        )
    )


def _with_part(parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
    """`parts` with a component of `other`, and with what is said about that component there."""
    whole = replace(
        parts,
        sources={**parts.sources, component: other.sources[component]},
        digest=combined_digest(parts.digest, component, other.digest),
        evidence=(
            *parts.evidence,
            f"{component.label} from {path.name}: {'; '.join(other.evidence)}",
        ),
    )
    match component:
        case Component.DENOISER:
            return _with_denoiser(whole, other)
        case Component.VAE if _normalises(parts) or _normalises(other):
            return replace(whole, vae_fits_f16=other.vae_fits_f16)
        case Component.VAE:
            return replace(
                whole,
                latent_scale=other.latent_scale,
                latent_shift=other.latent_shift,
                vae_fits_f16=other.vae_fits_f16,
            )
        case Component.TEXT_ENCODER_2:
            return whole
        case Component.TEXT_ENCODER:
            same_words = _vocabulary(parts) in {None, _vocabulary(other)}
            kept = parts.tokenizer if same_words else None
            return replace(whole, tokenizer=other.tokenizer or kept)


def _with_denoiser(parts: Parts, other: Parts) -> Parts:
    """What is said of the denoiser of `other`, which `parts` have got."""
    # How latents are normalised is the denoiser's; where it is not, the VAE tells.
    same = _normalises(parts) == _normalises(other)
    return replace(
        parts,
        latent_scale=parts.latent_scale if same else None,
        latent_shift=parts.latent_shift if same else None,
        levels=other.levels,
        statistics=other.statistics,
        prediction=other.prediction,
        reason=other.reason,
        zero_terminal_snr=other.zero_terminal_snr,
        sample_size=other.sample_size,
        unstated=other.unstated,
        cards=other.cards,
    )


def _normalises(parts: Parts) -> bool:
    """Whether a denoiser sees latents that are normalised channel by channel."""
    return parts.statistics is not None or parts.prediction is PredictionType.EDM


def _vocabulary(parts: Parts) -> int | None:
    source = parts.sources.get(Component.TEXT_ENCODER)
    return (
        source.config.vocabulary if source and isinstance(source.config, ClipTextConfig) else None
    )


def _as_said(parts: Parts, override: CheckpointOverride) -> Parts:
    """Parts whose denoiser predicts what a person says."""
    said = override.prediction
    if said is None:
        return parts
    found = f"{parts.prediction.label} because {parts.reason}"
    reason = "you say so" + ("" if said is parts.prediction else f" (found: {found})")
    # Levels that are no timesteps are those of EDM alone.
    levels = parts.levels if said in _BY_LEVELS else None
    return replace(parts, prediction=said, reason=reason, levels=levels, unstated=None)


def _cannot_supply(component: Component, path: Path, why: str) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"{path.name} cannot supply the {component.label}: {why}.",
        f"Give a file that holds one with {component.option}.",
    )
