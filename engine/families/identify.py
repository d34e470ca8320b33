"""From a path to a checkpoint whose family, parts and gaps are known; no weight is read.

`identify` reads one file or folder, `supply` puts in parts from others, `require_complete` is asked
before anything runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from backends.base import FileSlice
from engine.api.checkpoints import Gap
from engine.api.remedies import DeclareFamily, PartFile, SupplyParts, UseAsPart
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import (
    DiffusersFolder,
    ReadIndex,
    is_checkpoint_folder,
    read_folder,
    read_part,
)
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.errors import EngineError
from engine.families import sd1, sd2, sdxl, sdxl_refiner
from engine.families.base import Component, Family, IdentifiedCheckpoint, Parts
from engine.families.hints import NO_HINTS, read_hints
from engine.families.kind import Kind
from engine.families.merging import as_said, with_part
from engine.families.recognition import listing, recognise
from engine.families.shared.kl_vae.tiny_vaes import (
    is_tiny_vae,
    is_tiny_vae_folder,
    named_space,
    tiny_vae_parts,
)
from engine.families.shared.stable_diffusion.distillation import with_hints
from engine.families.shared.stable_diffusion.fitting import require_same_factor
from engine.families.shared.stable_diffusion.latent_diffusion import SUBFOLDERS
from engine.families.shared.stable_diffusion.pipelines import draws_after_text
from engine.file_paths import is_folder
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.tiny_vae import TinyVaeConfig

FAMILIES: tuple[Family, ...] = (sd1.FAMILY, sd2.FAMILY, sdxl.FAMILY, sdxl_refiner.FAMILY)

# The words CLIP's own tokenizer, which the app brings, can say.
CLIP_VOCABULARY = 49408


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
        folder = read_folder(path, SUBFOLDERS, read)
        family = _family_of_folder(folder, wanted)
        parts = as_said(family.read_folder(folder), override)
        checkpoint = family.assemble(path, parts)
        checkpoint = with_hints(checkpoint, read_hints(path), folder.scheduler)
        return replace(checkpoint, override=override)
    index = read(path)
    family = _family(index.tensors, path, wanted)
    parts = as_said(family.read_file(index, frozenset(Component)), override)
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
            part = _read_part(family, component, path, read)
            if component is Component.VAE:
                require_same_factor(parts, part)
            parts = with_part(parts, component, part, path)
    if files.denoiser:
        parts = as_said(parts, checkpoint.override)
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
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            f"{checkpoint.path.name} has no {names}.",
            detail="\n".join(f"{gap.component}: {fit.path}" for gap in gaps for fit in gap.fits),
            remedies=(
                SupplyParts(
                    components=tuple(component.value for component in checkpoint.missing),
                    files=tuple(
                        PartFile(component=gap.component, path=gap.fits[0].path)
                        for gap in gaps
                        if gap.fits
                    ),
                ),
            ),
        )
    require_words(checkpoint)


def require_words(checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError where a text encoder has words of its own and no tokenizer tells them."""
    configs = (source.config for source in checkpoint.components.values())
    vocabularies = (text.vocabulary for text in configs if isinstance(text, ClipTextConfig))
    words = min(vocabularies, default=CLIP_VOCABULARY)
    if words < CLIP_VOCABULARY and checkpoint.tokenizer is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            f"The text encoder of {checkpoint.path.name} knows {words} words of its own, "
            "and its tokenizer is missing.",
            "Use the diffusers folder it came from, with its tokenizer.",
        )


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


def _family(
    tensors: Mapping[str, FileSlice],
    path: Path,
    wanted: Family | None = None,
    *,
    draws: bool = False,
) -> Family:
    """`draws`: somebody said that its UNet draws after a text, whatever it looks like."""
    text = listing(tensors)
    kind = recognise(text)
    if kind is not None and not ((wanted or draws) and kind.is_checkpoint and kind.beside_unet):
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
    tensors = {
        f"{name}.{key}": tensor
        for name, part in folder.parts.items()
        for key, tensor in part.index.tensors.items()
    }
    draws = draws_after_text(folder.pipeline)
    has_denoiser = any(SUBFOLDERS[name] is Component.DENOISER for name in folder.parts)
    if has_denoiser and wanted is None and folder.pipeline and not draws:
        raise _other_pipeline(folder)
    if has_denoiser:
        return _family(tensors, folder.path, wanted, draws=draws)
    family = next((family for family in FAMILIES if family.is_for(folder.pipeline)), None)
    if family is not None and tensors:
        return family
    raise EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"The folder {folder.path.name} is for {folder.pipeline or 'no pipeline'} and has no UNet; "
        f"this version runs {_titles()}.",
        _choose(),
    )


def _other_pipeline(folder: DiffusersFolder) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"The folder {folder.path.name} is for {folder.pipeline}, which is not run.",
        f"{_choose()} If its parts are nevertheless an ordinary one's, say of which family.",
    )


def _not_ours(path: Path, kind: Kind) -> EngineError:
    if kind.is_checkpoint:
        return EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            f"{path.name} is {kind.title}, which is not run yet.",
            _choose(),
        )
    parts = tuple(component.value for component in kind.supplies)
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"{path.name} is {kind.title}, not a model.",
        _choose(),
        remedies=(UseAsPart(components=parts),) if parts else (),
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
    possible = tuple(family.name for family in FAMILIES if family.rules_out(text) is None)
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"{path.name} is not a model this version knows.",
        _choose(),
        detail=f"{len(tensors)} tensors: {first}" if tensors else "no tensors",
        remedies=(DeclareFamily(families=possible),) if possible else (),
    )


def _choose() -> str:
    return f"Choose a model of one of these: {_titles()}."


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
    subfolder = next(name for name, one in SUBFOLDERS.items() if one is component)
    if is_checkpoint_folder(path):
        folder = read_folder(path, SUBFOLDERS, read)
        _family_of_folder(folder)
        parts = {name: part for name, part in folder.parts.items() if name == subfolder}
    else:
        part = read_part(path, read)
        folder = DiffusersFolder(path.parent, "", {})
        parts = {subfolder: part} if part else {}
    return family.read_folder(replace(folder, parts=parts))


def _cannot_supply(component: Component, path: Path, why: str) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"{path.name} cannot supply the {component.label}: {why}.",
        remedies=(SupplyParts(components=(component.value,)),),
    )
