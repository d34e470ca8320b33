"""CLIP's vision encoders in the user's files: their sizes and their networks.

Read are transformers' names (`CLIPVisionModelWithProjection`, `CLIPModel`), with or without their
prefix, and OpenCLIP's and OpenAI's own (`visual.`), as ComfyUI's `comfy/clip_vision.py` reads them.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec

from backends.base import FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_configs import read_config
from engine.checkpoints.diffusers_folder import ReadIndex, read_part
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.errors import EngineError
from engine.families.shared.clip.open_clip import LEAVES
from engine.file_paths import is_folder
from engine.graphs.clip_text import Activation, Projection
from engine.graphs.clip_vision import ClipVisionConfig, clip_vision
from engine.weights.weight_set import WeightSet

# The name under which an encoder's runs are timed.
ENCODER = "image_encoder"
# The name of transformers' files of weights before safetensors.
_OLDER = "pytorch_model"
_VISION = "vision_model."
_PATCHES = "vision_model.embeddings.patch_embedding.weight"
_PLACES = "vision_model.embeddings.position_embedding.weight"
_LINEAR, _MATRIX = "visual_projection.weight", "visual_projection"
# The prefixes of OpenCLIP's names: within the whole, or alone.
_ORIGINAL = ("visual.", "")
_ORIGINAL_SIGN = "transformer.resblocks.0.attn.in_proj_weight"
_TOPS = {
    "class_embedding": "embeddings.class_embedding",
    "conv1.weight": "embeddings.patch_embedding.weight",
    "positional_embedding": "embeddings.position_embedding.weight",
    "ln_pre.weight": "pre_layrnorm.weight",
    "ln_pre.bias": "pre_layrnorm.bias",
    "ln_post.weight": "post_layernorm.weight",
    "ln_post.bias": "post_layernorm.bias",
}
_BLOCK = re.compile(r"transformer\.resblocks\.(\d+)\.(.+)\.(weight|bias)")
_FUSED = re.compile(r"transformer\.resblocks\.(\d+)\.attn\.in_proj_(weight|bias)")
# Heads by width: ViT-B, L, H and bigG; other networks have heads of 64.
_HEADS = {768: 12, 1024: 16, 1280: 16, 1664: 16}
_HEAD_WIDTH = 64
# Networks of this width and below are OpenAI's, with its activation; OpenCLIP trained larger ones.
_OPENAIS = 1024
_TITLES = {1024: "CLIP ViT-L/14", 1280: "CLIP ViT-H/14", 1664: "CLIP ViT-bigG/14"}


class _VisionFile(msgspec.Struct, frozen=True):
    """The settings of `config.json` that shapes do not show; of a whole CLIP in a part of it."""

    hidden_size: int | None = None
    hidden_act: str | None = None
    num_attention_heads: int | None = None
    vision_config: "_VisionFile | None" = None


class VisionEncoder(msgspec.Struct, frozen=True):
    """A CLIP vision encoder: its sizes and its weights by canonical names."""

    path: Path
    digest: str
    config: ClipVisionConfig
    weights: Mapping[str, FileSlice]

    @property
    def title(self) -> str:
        """The encoder's usual name; its sizes where it has none."""
        config = self.config
        return _TITLES.get(config.width, f"CLIP ({config.layers} x {config.width})")

    def gives(self, *, states: bool) -> int:
        """Return the width of its states, or of a picture's embedding; 0 if it has none."""
        return self.config.width if states else self.config.projected_width

    def network(self, *, states: bool) -> Network:
        """Return the network that gives the states of pictures, or their embeddings."""
        emit = partial(clip_vision, config=self.config, states=states)
        weights = WeightSet(self.digest, self.weights)
        return Network(ENCODER, emit, weights, {"batch": offered(1, 2, 2)}, self.path.stem)


def read_encoder(path: Path, read: ReadIndex = read_index) -> VisionEncoder:
    """Read an encoder's file, or transformers' folder of it.

    Raises the reader's errors, and EngineError(CHECKPOINT_UNKNOWN_FAMILY) for another network.
    """
    index = _index(path, read)
    settings = _settings(path if is_folder(path) else path.parent)
    weights = _canonical(index.tensors)
    try:
        config = _config(weights, settings)
    except (KeyError, ValueError) as error:
        raise _refused(path) from error
    return VisionEncoder(path, index.digest, config, weights)


def is_encoder(index: TensorIndex) -> bool:
    """Tell whether a file has the weights of a CLIP vision encoder."""
    try:
        _config(_canonical(index.tensors), _VisionFile())
    except (KeyError, ValueError):
        return False
    return True


def _index(path: Path, read: ReadIndex) -> TensorIndex:
    """Read a file, or the weights in transformers' folder of an encoder."""
    if not is_folder(path):
        return read(path)
    older = path / f"{_OLDER}.bin"
    if older.is_file() and not any(path.glob("*.safetensors")):
        return read(older)
    part = read_part(path, read)
    if part is None:
        raise _refused(path)
    return part.index


def _settings(folder: Path) -> _VisionFile:
    """Return the settings in a folder's `config.json`; none where it is of another network."""
    path = folder / "config.json"
    if not path.is_file():
        return _VisionFile()
    whole = read_config(path, _VisionFile)
    return whole.vision_config or whole


def _canonical(tensors: Mapping[str, FileSlice]) -> dict[str, FileSlice]:
    """Return the vision encoder's tensors by canonical names, without all others."""
    for prefix in _ORIGINAL:
        if f"{prefix}{_ORIGINAL_SIGN}" in tensors and f"{prefix}conv1.weight" in tensors:
            return _of_open_clip(tensors, prefix)
    prefix = _VISION if _PATCHES.removeprefix(_VISION) in tensors else ""
    named = {
        name if name.startswith(_LINEAR) else f"{prefix}{name}": tensor
        for name, tensor in tensors.items()
    }
    return {
        name: tensor
        for name, tensor in named.items()
        if name.startswith((_VISION, _LINEAR)) and not name.endswith("position_ids")
    }


def _of_open_clip(tensors: Mapping[str, FileSlice], prefix: str) -> dict[str, FileSlice]:
    """Return tensors by transformers' names; `visual_projection` stays transposed, as stored."""
    named: dict[str, FileSlice] = {}
    for whole, tensor in tensors.items():
        name = whole.removeprefix(prefix)
        if name in _TOPS:
            named[f"{_VISION}{_TOPS[name]}"] = tensor
        elif name == "proj":
            named[_MATRIX] = tensor
        elif fused := _FUSED.fullmatch(name):
            third = tensor.shape[0] // 3
            layer = f"{_VISION}encoder.layers.{fused[1]}.self_attn"
            for place, part in enumerate("qkv"):
                rows = tensor.rows(place * third, (place + 1) * third)
                named[f"{layer}.{part}_proj.{fused[2]}"] = rows
        elif (block := _BLOCK.fullmatch(name)) and block[2] in LEAVES:
            named[f"{_VISION}encoder.layers.{block[1]}.{LEAVES[block[2]]}.{block[3]}"] = tensor
    return named


def _config(weights: Mapping[str, FileSlice], settings: _VisionFile) -> ClipVisionConfig:
    """Read the sizes. Raises KeyError and ValueError for another network."""
    width, _, patch, _ = weights[_PATCHES].shape
    if settings.hidden_size != width:
        settings = _VisionFile()  # of another network in the same folder
    patches = weights[_PLACES].shape[0] - 1
    layers = 0
    while f"vision_model.encoder.layers.{layers}.layer_norm1.weight" in weights:
        layers += 1
    linear, matrix = weights.get(_LINEAR), weights.get(_MATRIX)
    projected = linear.shape[0] if linear else matrix.shape[1] if matrix else 0
    usual = "quick_gelu" if width <= _OPENAIS else "gelu"
    return ClipVisionConfig(
        width=width,
        mlp_width=weights["vision_model.encoder.layers.0.mlp.fc1.weight"].shape[0],
        layers=layers,
        heads=settings.num_attention_heads or _HEADS.get(width) or max(1, width // _HEAD_WIDTH),
        projected_width=projected,
        side=round(patches**0.5) * patch,
        patch=patch,
        activation=Activation(settings.hidden_act or usual),
        projection=Projection.MATRIX if matrix else Projection.LINEAR,
    )


def _refused(path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence("{path} is no CLIP vision encoder.", path=path.name),
        sentence("Image prompts need the encoder that their adapter was trained with."),
    )
