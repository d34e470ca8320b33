"""Control layers in requests and records: pictures that a ControlNet or an adapter follows."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import span_within, within
from engine.api.preprocessors import ControlKind, MapOptions, MapTarget, ReferenceOptions

# The most control layers of a request.
MAX_CONTROLS = 16
# The largest weight of either sign; the controls of every tool end earlier.
MAX_CONTROL_WEIGHT = 10.0


class ControlMode(StrEnum):
    """The balance between prompt and control, as sd-webui-controlnet's control modes have it."""

    BALANCED = "balanced"
    # The control weakens from the innermost block outwards.
    PROMPT = "prompt"
    # The same weakening, and only the prompt's own prediction is controlled, not the negative's.
    CONTROL = "control"


class ControlResize(StrEnum):
    """The way in which a picture of another shape becomes a map of the picture's size."""

    STRETCH = "stretch"  # A1111's "just resize"
    CROP = "crop"  # "crop and resize": fills the size, the rest is cut off
    FILL = "fill"  # "resize and fill": all of it fits, the borders' colours surround it


class ControlLayer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture to follow, the network that follows it, and how strongly.

    `image` is the path of a picture; without a `preprocessor` it is the map itself. It is empty if
    imported metadata tells of a layer without its picture: the layer is left out with a warning.
    """

    image: str
    # A ControlNet, a control-LoRA, a T2I-Adapter or a LLLite: the path of its file or folder, or a
    # name that is looked for in the folders of models. None, or a name that is not found: the layer
    # is left out with a warning.
    network: str | None = None
    preprocessor: MapOptions | None = None
    # The file of weights for a preprocessor that needs one; None: looked for by its usual names.
    preprocessor_weights: str | None = None
    weight: Annotated[
        float, within(-MAX_CONTROL_WEIGHT, MAX_CONTROL_WEIGHT, "weight of a control layer")
    ] = 1.0
    # The start and the end of its effect, as fractions of the steps.
    range: Annotated[tuple[float, float], span_within(0, 1, "range of a control layer")] = (
        0.0,
        1.0,
    )
    mode: ControlMode = ControlMode.BALANCED
    # The start picture's map stays with that where the canvas grows around it.
    resize: ControlResize = ControlResize.CROP
    # The kind of the map, for networks that take several; None: that of the preprocessor, or what
    # the network's file tells.
    kind: ControlKind | None = None
    # A picture that is white where the layer acts; None: everywhere. For inpainting networks it is
    # the area that is painted anew, by default that of the request's mask.
    mask: str | None = None
    # A hash in hexadecimal digits by which the network is found where its path is not.
    hash: str | None = None
    # The digests of samples of the network's file and of the preprocessor's, as a record has them,
    # by which they are found under other names.
    digest: str | None = None
    preprocessor_digest: str | None = None
    # False if the layer is kept in the list of the form without being used.
    enabled: bool = True

    @property
    def is_reference(self) -> bool:
        """True if the denoiser's self-attention sees the picture, for which there is no network."""
        return isinstance(self.preprocessor, ReferenceOptions)

    def target(self, width: int, height: int) -> MapTarget:
        """Return what the map is for, in a picture of this width and height."""
        return MapTarget(width, height, whole=self.resize is ControlResize.FILL)


class ControlReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A control layer in a picture's record: what its network is, and whether it acted."""

    name: str
    # None if the file was not found, and the picture was made without it; and for a reference.
    path: str | None = None
    # A hash of samples of the file, as the checkpoint's; empty if the file was not found.
    digest: str = ""
    kind: ControlKind | None = None
    weight: float = 1.0
    # A hash of samples of the preprocessor's weights; empty without any.
    preprocessor_digest: str = ""
    # Eight digits by which sd-webui-controlnet names a file; empty for a folder.
    short_hash: str = ""
    # Hashes of the bytes of the map, and of the picture that it was made of.
    map_sha256: str = ""
    image_sha256: str = ""
