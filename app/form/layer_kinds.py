"""The two kinds of pictures that steer the next ones: control layers and image prompts."""

from pathlib import PureWindowsPath
from typing import Literal

import msgspec

from engine.api.control import MAX_CONTROLS, ControlLayer
from engine.api.features import Features, OptionalSetting
from engine.api.image_prompts import MAX_IMAGE_PROMPTS, ImagePrompt
from engine.api.model_files import ModelKind
from engine.api.preprocessors import PreprocessorName
from engine.api.weight_suffixes import NETWORK_SUFFIXES

# The file of a layer that has none because the model itself follows its picture.
MODEL_ITSELF = ""
Layer = ControlLayer | ImagePrompt


class LayerKind(msgspec.Struct, frozen=True):
    """A kind of layer: its field of the form, its field for a file, and the files that it takes."""

    field: Literal["controls", "image_prompts"]
    file: str
    files: ModelKind
    # The folder below that of the models where such files are put.
    folder: str
    setting: OptionalSetting
    most: int
    make: type[ControlLayer] | type[ImagePrompt]

    def file_of(self, layer: Layer) -> str | None:
        """Return the file that a layer states, which may be only its name; None for none.

        A reference, which has no file, states its preprocessor.
        """
        if isinstance(layer, ControlLayer) and layer.is_reference:
            return PreprocessorName.REFERENCE_ONLY.value
        return getattr(layer, self.file)

    def is_offered(self, features: Features) -> bool:
        """Return True if such files were made for a checkpoint's architecture."""
        return self.setting in features.options

    def with_file(self, layer: Layer, file: str | None) -> Layer:
        """Return a layer with another file."""
        return msgspec.structs.replace(layer, **{self.file: file})


CONTROL_LAYERS = LayerKind(
    "controls",
    "network",
    ModelKind.CONTROLNET,
    "controlnet",
    OptionalSetting.CONTROLS,
    MAX_CONTROLS,
    ControlLayer,
)
IMAGE_PROMPTS = LayerKind(
    "image_prompts",
    "adapter",
    ModelKind.IP_ADAPTER,
    "ipadapter",
    OptionalSetting.IMAGE_PROMPTS,
    MAX_IMAGE_PROMPTS,
    ImagePrompt,
)


def file_name(stated: str) -> str:
    """Return the name in a stated path of any system, without the hash that A1111 adds to it."""
    name = PureWindowsPath(stated.replace("/", "\\")).name
    before, bracket, after = name.rpartition(" [")
    return before if bracket and after.endswith("]") else name


def bare_name(stated: str) -> str:
    """Return the name in a stated path in lower case, without a suffix of files of weights."""
    name = file_name(stated).lower()
    return next((name.removesuffix(end) for end in NETWORK_SUFFIXES if name.endswith(end)), name)


def is_whole_path(stated: str) -> bool:
    """Return True for a path from its root on, of any system."""
    return bool(PureWindowsPath(stated.replace("/", "\\")).anchor)
