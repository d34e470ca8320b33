"""The description of any file of weights, from its header, its metadata and the cards beside it."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import msgspec

from backends.base import DType
from engine.api.lora_files import MOST_CHARACTERS, MOST_WORDS, LoraInfo
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.reasons import known_kind
from engine.api.sentences import sentence
from engine.checkpoints.diffusers_folder import is_checkpoint_folder
from engine.checkpoints.files import read_index
from engine.checkpoints.index import FileState, TensorIndex
from engine.checkpoints.sidecars import cards_of
from engine.control.reading import read_control_network
from engine.embeddings.file import name_of
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.file_contents import read_header
from engine.families.identify import identify
from engine.families.listing import Listing
from engine.families.model_kinds import kind_of_foreign, kind_of_parts
from engine.families.recognition import lone_parts, recognise
from engine.families.registry import FAMILIES
from engine.image_prompts.adapters import read_adapter
from engine.image_prompts.encoders import is_encoder
from engine.jobs.lora_descriptions import LoraDescriber
from engine.lora.files_below import ListedFile
from engine.preprocessors.annotators import is_annotator
from engine.upscalers.reading import upscaler_in
from engine.weights.sources import stored_bytes

_SHA256_DIGITS = 64
# The usual folders of other tools, in lower case, and what they are for.
_FOLDERS = {
    **dict.fromkeys(("lora", "loras", "lycoris"), ModelKind.LORA),
    **dict.fromkeys(("embedding", "embeddings", "textual_inversion"), ModelKind.EMBEDDING),
    **dict.fromkeys(("vae", "vaes", "vae_approx", "vae-taesd", "taesd"), ModelKind.VAE),
    **dict.fromkeys(
        ("clip", "text_encoder", "text_encoders", "text-encoder"), ModelKind.TEXT_ENCODER
    ),
    **dict.fromkeys(("unet", "diffusion_models"), ModelKind.DENOISER),
    **dict.fromkeys(("controlnet", "t2i_adapter"), ModelKind.CONTROLNET),
    **dict.fromkeys(("upscale_models", "esrgan", "realesrgan", "swinir"), ModelKind.UPSCALER),
    **dict.fromkeys(("ipadapter", "ip_adapter"), ModelKind.IP_ADAPTER),
    **dict.fromkeys(("clip_vision", "image_encoder"), ModelKind.VISION_ENCODER),
    **dict.fromkeys(("hypernetwork", "hypernetworks"), ModelKind.OTHER),
}


class ModelDescriber:
    """Opens files and folders and describes them; one that nothing can use has a `problem`."""

    def __init__(self) -> None:
        self._describe_lora = LoraDescriber()

    def __call__(self, listed: ListedFile, root: str) -> ModelInfo:
        """Open a file or a diffusers folder, which was listed below `root`, and describe it."""
        bare, path = bare_info(listed, root), Path(listed.path)
        if is_checkpoint_folder(path):
            return _checkpoint(bare)
        try:
            index = read_index(path, _no_digest)
        except EngineError as error:
            return _read(bare, problem=error.text, hint=error.advice)
        return msgspec.structs.replace(
            self._by_content(bare, listed, index), identity=_identity(index)
        )

    def _by_content(self, bare: ModelInfo, listed: ListedFile, index: TensorIndex) -> ModelInfo:
        listing = Listing(index.tensors)
        found = recognise(listing)
        info = _read(
            bare,
            precisions=_precisions(tensor.dtype for tensor in index.tensors.values()),
            **_facts(index),
        )
        if is_annotator(index):
            return _read(info, kind=ModelKind.OTHER)
        parts = lone_parts(listing, found.kind)
        if found.kind is None:
            if found.family is not None:
                return _checkpoint(info, index)
            if parts:
                return _read(info, kind=kind_of_parts(parts))
            upscaler = _upscaler(info, index)
            if upscaler is not None:
                return upscaler
            lora = self._describe_lora(listed)
            return _checkpoint(info, index) if lora.problem else _lora(info, lora)
        kind = kind_of_foreign(found.kind)
        match kind:
            case ModelKind.LORA:
                return _lora(info, self._describe_lora(listed))
            case ModelKind.CHECKPOINT:
                return _checkpoint(info, index)
            case _:
                of_another = _of_another_network(info, index, kind)
                if of_another is not None:
                    return of_another
                title = found.kind.title
                runs = kind is ModelKind.EMBEDDING or bool(parts)
                unused = sentence("It is {title}, which is not used yet.", title=known_kind(title))
                problem = "" if runs else unused
                info = _read(info, kind=kind, purpose=title, problem=problem)
                if kind is not ModelKind.EMBEDDING:
                    return info
                # The word to write is the name, whatever else a card states.
                return _read(info, trigger_words=(name_of(Path(listed.path)),))


def bare_info(listed: ListedFile, root: str) -> ModelInfo:
    """Return the description of a file that has not been opened."""
    return ModelInfo(
        path=listed.path,
        name=listed.name,
        root=root,
        size=listed.stamp.size,
        modified_ns=listed.stamp.modified_ns,
        is_read=False,
        kind=_kind_by_folder(Path(listed.path)),
        preview=listed.preview,
        preview_modified_ns=listed.preview_modified_ns,
    )


def _checkpoint(info: ModelInfo, index: TensorIndex | None = None) -> ModelInfo:
    """Add what the families say of a checkpoint, or why none runs it.

    `index` is its file's, which is not read again: a header has thousands of entries.
    """

    def read(path: Path) -> TensorIndex:
        return index if index is not None and path == index.path else read_header(path)

    try:
        found = identify(Path(info.path), read)
    except EngineError as error:
        return _read(info, kind=ModelKind.CHECKPOINT, problem=error.text, hint=error.advice)
    parts = tuple(component for component in Component if component in found.components)
    weights = [weight for part in parts for weight in found.components[part].weights.values()]
    return _read(
        info,
        kind=kind_of_parts(parts),
        families=(found.family,),
        variant=found.variant,
        missing=tuple(component.value for component in found.missing),
        precisions=info.precisions or _precisions(weight.dtype for weight in weights),
        size=info.size or sum(stored_bytes(weight) for weight in weights),
        step_parameters=_of_denoiser(found),
    )


def _of_denoiser(found: IdentifiedCheckpoint) -> int | None:
    part = found.components.get(Component.DENOISER)
    return part and sum(weight.elements for weight in part.weights.values())


def _control_network(info: ModelInfo, index: TensorIndex) -> ModelInfo:
    """Add what a control network is and for which family, or why it is not run."""
    try:
        found = read_control_network(index.path, lambda _: index)
    except EngineError as error:
        problem = {"problem": error.text, "hint": error.advice}
        return _read(info, kind=ModelKind.CONTROLNET, **problem)
    facts = {
        "purpose": str(found.title),
        "follows": found.stated_kind,
        "step_parameters": found.step_parameters,
    }
    return _read(info, kind=ModelKind.CONTROLNET, families=(found.family,), **facts)


def _of_another_network(info: ModelInfo, index: TensorIndex, kind: ModelKind) -> ModelInfo | None:
    """Add what is known of a network beside a checkpoint; None for one that is not run."""
    match kind:
        case ModelKind.CONTROLNET:
            return _control_network(info, index)
        case ModelKind.IP_ADAPTER:
            return _image_adapter(info, index)
        case ModelKind.VISION_ENCODER if is_encoder(index):
            return _read(info, kind=kind)
        case ModelKind.UPSCALER:
            return _upscaler(info, index)
        case _:
            return None


def _image_adapter(info: ModelInfo, index: TensorIndex) -> ModelInfo:
    """Add what an image prompt adapter is and for which family, or why it is not run."""
    kind = ModelKind.IP_ADAPTER
    try:
        found = read_adapter(index.path, lambda _: index)
    except EngineError as error:
        return _read(info, kind=kind, problem=error.text, hint=error.advice)
    families = (found.family,) if found.family else ()
    return _read(info, kind=kind, purpose=str(found.title), families=families)


def _upscaler(info: ModelInfo, index: TensorIndex) -> ModelInfo | None:
    """Add what an upscaler's tensors say; None for a file that is none which is run."""
    try:
        found = upscaler_in(index)
    except EngineError as error:
        return _read(info, kind=ModelKind.UPSCALER, problem=error.text, hint=error.advice)
    if found is None:
        return None
    title, scale = found.architecture, found.network.scale
    return _read(info, kind=ModelKind.UPSCALER, variant=title, scale=scale)


def _lora(info: ModelInfo, lora: LoraInfo) -> ModelInfo:
    stated = (digest for digest in lora.hashes if len(digest) == _SHA256_DIGITS)
    return _read(
        info,
        kind=ModelKind.LORA,
        purpose=lora.purpose,
        families=lora.families,
        title=lora.title,
        trigger_words=lora.trigger_words,
        sha256=info.sha256 or next(stated, ""),
        problem=lora.problem,
    )


class _Facts(TypedDict):
    title: str
    base_model: str
    trigger_words: tuple[str, ...]
    sha256: str
    families: tuple[str, ...]


def _facts(index: TensorIndex) -> _Facts:
    """Return what metadata and cards state, each from the first that states it."""
    cards = cards_of(index)
    base = next((card.base_model for card in cards if card.base_model), "")
    words = next((card.trained_words for card in cards if card.trained_words), ())
    hashes = next((card.hashes for card in cards if card.hashes), frozenset[str]())
    family = FAMILIES.of_base_model(base) if base else None
    return _Facts(
        title=next((card.title for card in cards if card.title), ""),
        base_model=base,
        trigger_words=tuple(word[:MOST_CHARACTERS] for word in words[:MOST_WORDS]),
        # Several hashes are those of several files of one page.
        sha256=next(iter(hashes)) if len(hashes) == 1 else "",
        families=(family.name,) if family else (),
    )


def _read(bare: ModelInfo, **facts: object) -> ModelInfo:
    return msgspec.structs.replace(bare, is_read=True, **facts)


def _precisions(types: Iterable[DType]) -> tuple[str, ...]:
    return tuple(sorted({dtype.value.lower() for dtype in types}))


def _identity(index: TensorIndex) -> str:
    state = index.state
    return "" if state is None else f"{state.size:x}-{state.header[:32]}"


def _no_digest(_: FileState) -> str:
    """Spare the reading of the file beyond its header: a list needs no digest."""
    return "none"


def _kind_by_folder(path: Path) -> ModelKind:
    """Return the kind that the nearest folder with a usual name is for."""
    for folder in reversed(path.parent.parts):
        kind = _FOLDERS.get(folder.lower())
        if kind is not None:
            return kind
    return ModelKind.CHECKPOINT
