"""IP-Adapter files: what kind an adapter is, the denoiser and the encoder it needs, its network."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from backends.base import FileSlice
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.errors import EngineError
from engine.families.registry import FAMILIES
from engine.graphs.image_prompts import AttendingLayer
from engine.graphs.ip_adapter import (
    FullProjection,
    IpAdapterConfig,
    LinearProjection,
    Projection,
    Resampler,
    ip_adapter,
)
from engine.image_prompts.adapter_keys import AdapterTensors, adapter_tensors
from engine.weights.weight_set import WeightSet

# The name under which an adapter's runs are timed.
ADAPTER = "image_adapter"
_HEAD_WIDTH = 64
# The beginning of an adapter's names in a UNet that diffusers saved with it.
_WITHIN_UNET = "encoder_hid_proj.image_projection_layers."
# The width of a face's embedding by insightface's networks.
_FACE_WIDTH = 512
# The width of the resampler of Kolors' adapter, whose denoiser attends as SDXL's.
_KOLORS_WIDTH = 2048
# Families by the number of layers that attend and the width of the text.
_FAMILIES = {(16, 768): "sd1", (16, 1024): "sd2", (70, 2048): "sdxl"}


class ImageAdapter(msgspec.Struct, frozen=True):
    """An image prompt adapter: its sizes and its weights.

    `widths` are those of the denoiser's layers that it was made for, in the file's order.
    """

    path: Path
    digest: str
    config: IpAdapterConfig
    widths: tuple[int, ...]
    tensors: AdapterTensors

    @property
    def title(self) -> Sentence:
        """The kind in words."""
        match self.config.projection:
            case LinearProjection():
                return sentence("an IP-Adapter")
            case FullProjection():
                return sentence("an IP-Adapter full face")
            case Resampler():
                return sentence("an IP-Adapter Plus")

    @property
    def family(self) -> str:
        """The name of the family that the adapter is for, by its shapes; "" for an unknown one."""
        return _FAMILIES.get((len(self.widths), self.config.context_width), "")

    def require_fitting(self, layers: Sequence[AttendingLayer], context_width: int) -> None:
        """Raise EngineError(CHECKPOINT_MISMATCH) unless the adapter is for this denoiser."""
        widths = tuple(layer.width for layer in layers)
        if (widths, context_width) == (self.widths, self.config.context_width):
            return
        model = _FAMILIES.get((len(widths), context_width), "")
        raise EngineError(
            ErrorCode.CHECKPOINT_MISMATCH,
            sentence(
                "The image prompt adapter {adapter} is for {family}; the model is {model}.",
                adapter=self.path.name,
                family=_title(self.family) or sentence("another kind of model"),
                model=_title(model) or sentence("of another kind"),
            ),
            sentence("Choose an adapter that was made for the model's family."),
        )

    def weights(self, layers: Sequence[AttendingLayer]) -> dict[str, FileSlice]:
        """Return the weights by canonical names, those of a denoiser's layers by their names."""
        weights: dict[str, FileSlice] = dict(self.tensors.projection)
        for place, layer in enumerate(layers):
            number = 2 * place + 1
            weights[f"{layer.name}.to_k_ip.weight"] = self.tensors.keys[number]
            weights[f"{layer.name}.to_v_ip.weight"] = self.tensors.values[number]
        return weights

    def network(self, layers: Sequence[AttendingLayer], seen_tokens: int) -> Network:
        """Return the network that makes keys and values for the layers of a denoiser.

        `seen_tokens` is the number of the encoder's states.
        """
        weights = self.weights(layers)
        emit = partial(ip_adapter, config=self.config, layers=layers, seen_tokens=seen_tokens)
        rows = {"batch": offered(1, 2, 2)}
        return Network(ADAPTER, emit, WeightSet(self.digest, weights), rows, self.path.stem)


def read_adapter(path: Path, read: ReadIndex = read_index) -> ImageAdapter:
    """Recognise a file by its keys and read its sizes.

    Raises the reader's errors, and EngineError: CHECKPOINT_UNKNOWN_FAMILY for a file that is none
    or needs what is not here, CHECKPOINT_CORRUPT for one that lacks weights.
    """
    index = read(path)
    found = adapter_tensors(index.tensors)
    if any(name.startswith(_WITHIN_UNET) for name in found.others):
        raise _refused(
            path,
            sentence("It is a UNet that was saved with an adapter in it."),
            sentence("Choose the adapter's own file."),
        )
    if not found.projection or not found.keys:
        raise _refused(path, sentence("It has no keys of an IP-Adapter."))
    _require_no_face(path, found)
    count = len(found.keys)
    numbers = [2 * place + 1 for place in range(count)]
    if sorted(found.keys) != numbers or sorted(found.values) != numbers:
        raise _refused(path, sentence("It is for a kind of model that is not run here."))
    widths = tuple(found.keys[number].shape[0] for number in numbers)
    context_width = found.keys[1].shape[1]
    config = _config(path, found.projection, context_width)
    return ImageAdapter(path, index.digest, config, widths, found)


def _title(family: str) -> str:
    return FAMILIES.named(family).title if family else ""


def is_adapter(tensors: Mapping[str, FileSlice]) -> bool:
    """Tell whether a file has the keys of an IP-Adapter, usable or not."""
    found = adapter_tensors(tensors)
    return bool(found.projection and found.keys)


def _require_no_face(path: Path, found: AdapterTensors) -> None:
    """Refuse adapters that are shown the embedding of a face: FaceID, its variants, InstantID."""
    names = found.projection
    seen = names.get("proj_in.weight")
    is_face = (
        any(name.startswith("perceiver_resampler.") for name in names)
        or any("_lora." in name for name in found.others)
        or ("ff.net.2.weight" in names and "ff.net.2.bias" in names and not _is_full(names))
        or (seen is not None and seen.shape[1] == _FACE_WIDTH)
    )
    if is_face:
        raise _refused(
            path,
            sentence(
                "It is a FaceID adapter: it needs a network that recognises faces (insightface), "
                "which Safelight does not have."
            ),
            sentence("Choose one that sees the whole picture, such as IP-Adapter Plus Face."),
        )


def _is_full(names: Mapping[str, FileSlice]) -> bool:
    """Tell full face from FaceID, whose MLP is as wide as a face's embedding."""
    first = names.get("ff.net.0.proj.weight")
    return first is not None and first.shape[0] == first.shape[1] != _FACE_WIDTH


def _config(path: Path, names: Mapping[str, FileSlice], context_width: int) -> IpAdapterConfig:
    try:
        seen_width, projection = _projection(names, context_width)
    except (KeyError, ValueError, IndexError) as error:
        raise EngineError(
            ErrorCode.CHECKPOINT_CORRUPT,
            sentence("The image prompt adapter {path} lacks some of its weights.", path=path.name),
            sentence("Download it again."),
            detail=str(error),
        ) from error
    if isinstance(projection, Resampler) and projection.width == _KOLORS_WIDTH:
        raise _refused(path, sentence("It is for Kolors, which is not run here."))
    return IpAdapterConfig(seen_width, context_width, projection)


def _projection(names: Mapping[str, FileSlice], context_width: int) -> tuple[int, Projection]:
    """Return the width of what the adapter is shown, and the sizes of its projection."""
    if "image_embeds.weight" in names:
        outer, inner = names["image_embeds.weight"].shape
        return inner, LinearProjection(outer // context_width)
    if "ff.net.0.proj.weight" in names:
        return names["ff.net.0.proj.weight"].shape[1], FullProjection()
    _, tokens, width = names["latents"].shape
    layers = 0
    while f"layers.{layers}.attn.to_q.weight" in names:
        layers += 1
    first = names["layers.0.ff.1.net.0.proj.weight"].shape[0]
    heads = names["layers.0.attn.to_q.weight"].shape[0] // _HEAD_WIDTH
    inner = names["proj_in.weight"].shape[1]
    return inner, Resampler(tokens, width, first, layers, heads)


def _refused(path: Path, why: Sentence, hint: Sentence | None = None) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence(
            "{path} cannot be used as an image prompt adapter. {why}", path=path.name, why=why
        ),
        hint or sentence("Choose an IP-Adapter, IP-Adapter Plus or full face file for the model."),
    )
