"""Preprocessors: their names, options and table. One turns a picture into a ControlNet's map.

Names, options, bounds and defaults are sd-webui-controlnet's (`scripts/preprocessor`).
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

import msgspec

from engine.api.fields import within
from engine.api.map_choices import ControlKind, NormalLayout, OnnxPixels, OnnxValues
from engine.api.masks import Margins
from engine.api.sentences import Sentence, sentence


class PreprocessorName(StrEnum):
    """The identifier of a preprocessor."""

    CANNY = "canny"
    INVERT = "invert"
    THRESHOLD = "threshold"
    BLUR = "blur_gaussian"
    COLOR_GRID = "color_grid"
    TILE_RESAMPLE = "tile_resample"
    SCRIBBLE_XDOG = "scribble_xdog"
    SHUFFLE = "shuffle"
    RECOLOR_LUMINANCE = "recolor_luminance"
    RECOLOR_INTENSITY = "recolor_intensity"
    LINEART_STANDARD = "lineart_standard"
    LINEART = "lineart"
    SOFTEDGE_HED = "softedge_hed"
    SOFTEDGE_PIDINET = "softedge_pidinet"
    SCRIBBLE_HED = "scribble_hed"
    SCRIBBLE_PIDINET = "scribble_pidinet"
    DEPTH_ANYTHING_V2 = "depth_anything_v2"
    NORMAL_DEPTH = "normal_depth"
    DW_OPENPOSE = "dw_openpose"
    ONNX = "onnx"
    REFERENCE_ONLY = "reference_only"


class MapTarget(msgspec.Struct, frozen=True):
    """The width and height in pixels of the picture that follows a map.

    A map of another shape fills it and is cropped, or, `whole`, fits into it. `margins` are those
    of the canvas around the picture that the map is made of, in its pixels: the map then has the
    part of the canvas that the picture covers.
    """

    width: int
    height: int
    whole: bool = False
    margins: Margins = (0, 0, 0, 0)


class _Scaled(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a preprocessor that resizes the picture first."""

    # Pixels of the map's shorter side; None: as many as its target needs ("pixel perfect").
    resolution: Annotated[int | None, within(64, 2048)] = 512


class _Options(msgspec.Struct, frozen=True, kw_only=True, tag_field="preprocessor"):
    """Options of a preprocessor that keeps the picture's size."""


class _ScaledOptions(_Scaled, frozen=True, kw_only=True, tag_field="preprocessor"):
    """Options of a preprocessor that makes maps of a resolution."""


class CannyOptions(_ScaledOptions, frozen=True, tag="canny"):
    """Thresholds of the gradient |dx| + |dy|, in levels of 8 bits."""

    low: Annotated[int, within(1, 255, "low threshold")] = 100
    high: Annotated[int, within(1, 255, "high threshold")] = 200


class InvertOptions(_Options, frozen=True, tag="invert"):
    """No options."""


class ThresholdOptions(_ScaledOptions, frozen=True, tag="threshold"):
    """The level that a white pixel's darkest channel is above."""

    threshold: Annotated[int, within(0, 255)] = 127


class BlurOptions(_ScaledOptions, frozen=True, tag="blur_gaussian"):
    """The standard deviation of the Gaussian, in pixels of the map."""

    sigma: Annotated[float, within(0.01, 64)] = 9.0


class ColorGridOptions(_ScaledOptions, frozen=True, tag="color_grid"):
    """The resolution; cells are 64 pixels wide."""


class TileOptions(_Options, frozen=True, tag="tile_resample"):
    """The divisor of each side; below 1.1 the picture stays as it is."""

    down_sampling_rate: Annotated[float, within(1, 8, "down-sampling rate")] = 1.0


class XdogOptions(_ScaledOptions, frozen=True, tag="scribble_xdog"):
    """The threshold of twice the difference of Gaussians, in levels of 8 bits."""

    threshold: Annotated[int, within(1, 64)] = 32


class ShuffleOptions(_ScaledOptions, frozen=True, tag="shuffle"):
    """The seed of NumPy's Mersenne Twister.

    sd-webui-controlnet seeds it with the picture's seed plus its subseed modulo 2^32; without a
    subseed that is twice the seed.
    """

    seed: Annotated[int, within(0, 2**32 - 1)] = 0


class LuminanceOptions(_Options, frozen=True, tag="recolor_luminance"):
    """The exponent of the lightness from 0 to 1."""

    gamma: Annotated[float, within(0.1, 2)] = 1.0


class IntensityOptions(_Options, frozen=True, tag="recolor_intensity"):
    """The exponent of the brightest channel from 0 to 1."""

    gamma: Annotated[float, within(0.1, 2)] = 1.0


class LineartStandardOptions(_ScaledOptions, frozen=True, tag="lineart_standard"):
    """The resolution."""


class LineartOptions(_ScaledOptions, frozen=True, tag="lineart"):
    """The resolution."""


class HedOptions(_ScaledOptions, frozen=True, tag="softedge_hed"):
    """`safe` for edges of three levels, which hide less of the picture in them."""

    safe: bool = False


class PidinetOptions(_ScaledOptions, frozen=True, tag="softedge_pidinet"):
    """`safe` for edges of three levels, which hide less of the picture in them."""

    safe: bool = False


class ScribbleHedOptions(_ScaledOptions, frozen=True, tag="scribble_hed"):
    """The resolution."""


class ScribblePidinetOptions(_ScaledOptions, frozen=True, tag="scribble_pidinet"):
    """The resolution."""


class DepthOptions(_ScaledOptions, frozen=True, tag="depth_anything_v2"):
    """The resolution of the map; the network sees at least 518 pixels a side."""


class NormalOptions(_ScaledOptions, frozen=True, tag="normal_depth"):
    """The depth from farthest to nearest, and the share of it that is background and left flat.

    `depth` is in Sobel's units, of which a slope of 45 degrees has pi / 4 a pixel.
    """

    background: Annotated[float, within(0, 1)] = 0.4
    depth: Annotated[float, within(1, 10_000)] = 1000.0
    layout: NormalLayout = NormalLayout.BAE


class PoseOptions(_ScaledOptions, frozen=True, tag="dw_openpose"):
    """The parts of people that are drawn."""

    body: bool = True
    hands: bool = True
    face: bool = True


class OnnxOptions(_ScaledOptions, frozen=True, tag="onnx"):
    """The numbers that a network takes and makes."""

    pixels: OnnxPixels = OnnxPixels.IMAGENET
    values: OnnxValues = OnnxValues.STRETCHED
    # Pixels of the square that it sees; None: its file's own size, else the map's.
    side: Annotated[int | None, within(32, 2048)] = None
    invert: bool = False


class ReferenceOptions(_Options, frozen=True, tag="reference_only"):
    """The share of the negative prompt's prediction that attends to itself alone.

    The more, the closer the style is to the reference's.
    """

    style_fidelity: Annotated[float, within(0, 1, "style fidelity")] = 0.5


# The options of one preprocessor; their type names it.
MapOptions = (
    CannyOptions
    | InvertOptions
    | ThresholdOptions
    | BlurOptions
    | ColorGridOptions
    | TileOptions
    | XdogOptions
    | ShuffleOptions
    | LuminanceOptions
    | IntensityOptions
    | LineartStandardOptions
    | LineartOptions
    | HedOptions
    | PidinetOptions
    | ScribbleHedOptions
    | ScribblePidinetOptions
    | DepthOptions
    | NormalOptions
    | PoseOptions
    | OnnxOptions
    | ReferenceOptions
)


class Preprocessor(msgspec.Struct, frozen=True):
    """A preprocessor: its title, a sentence about it, its options and the controls it serves.

    `files` are the usual names of the files of weights that it can run, none for most, and `beside`
    that of a second file that it needs.
    """

    title: Sentence
    about: Sentence
    options: type[MapOptions]
    serves: tuple[ControlKind, ...]
    files: tuple[str, ...] = ()
    beside: str = ""


_DEPTH = "depth_anything_v2_vits.pth", "depth_anything_v2_vitb.pth"
_HED, _PIDINET = ("ControlNetHED.pth",), ("table5_pidinet.pth",)
_LINES = (ControlKind.CANNY, ControlKind.LINEART, ControlKind.SCRIBBLE)
PREPROCESSORS: Mapping[PreprocessorName, Preprocessor] = MappingProxyType(
    {
        PreprocessorName.CANNY: Preprocessor(
            sentence("Canny"),
            sentence("Thin white lines where brightness or colour changes at once."),
            CannyOptions,
            (ControlKind.CANNY,),
        ),
        PreprocessorName.INVERT: Preprocessor(
            sentence("Invert"),
            sentence("A drawing of dark lines on white, turned into white lines on black."),
            InvertOptions,
            _LINES,
        ),
        PreprocessorName.THRESHOLD: Preprocessor(
            sentence("Threshold"),
            sentence("White where a picture is bright, black elsewhere."),
            ThresholdOptions,
            (ControlKind.SCRIBBLE,),
        ),
        PreprocessorName.BLUR: Preprocessor(
            sentence("Gaussian blur"),
            sentence("The picture without its details, which are painted anew."),
            BlurOptions,
            (ControlKind.TILE,),
        ),
        PreprocessorName.COLOR_GRID: Preprocessor(
            sentence("Color grid"),
            sentence("The picture's colours in squares of 64 pixels."),
            ColorGridOptions,
            (ControlKind.COLOR,),
        ),
        PreprocessorName.TILE_RESAMPLE: Preprocessor(
            sentence("Tile"),
            sentence("The picture itself, made smaller so that its details are painted anew."),
            TileOptions,
            (ControlKind.TILE,),
        ),
        PreprocessorName.SCRIBBLE_XDOG: Preprocessor(
            sentence("Scribble (XDoG)"),
            sentence("Rough white strokes, by a difference of two blurs."),
            XdogOptions,
            (ControlKind.SCRIBBLE,),
        ),
        PreprocessorName.SHUFFLE: Preprocessor(
            sentence("Content shuffle"),
            sentence("The picture's colours and materials, pulled about at random."),
            ShuffleOptions,
            (ControlKind.SHUFFLE,),
        ),
        PreprocessorName.RECOLOR_LUMINANCE: Preprocessor(
            sentence("Recolor by luminance"),
            sentence("The picture's lightness without its colours."),
            LuminanceOptions,
            (ControlKind.RECOLOR,),
        ),
        PreprocessorName.RECOLOR_INTENSITY: Preprocessor(
            sentence("Recolor by intensity"),
            sentence("The brightest of each pixel's three channels."),
            IntensityOptions,
            (ControlKind.RECOLOR,),
        ),
        PreprocessorName.LINEART_STANDARD: Preprocessor(
            sentence("Standard lineart"),
            sentence("White lines of a drawing that is dark on white."),
            LineartStandardOptions,
            (ControlKind.LINEART,),
        ),
        PreprocessorName.LINEART: Preprocessor(
            sentence("Lineart"),
            sentence("White lines as an artist would draw a photograph."),
            LineartOptions,
            (ControlKind.LINEART,),
            ("sk_model.pth", "sk_model2.pth"),
        ),
        PreprocessorName.SOFTEDGE_HED: Preprocessor(
            sentence("Soft edges (HED)"),
            sentence("Soft white edges, the stronger the more they matter."),
            HedOptions,
            (ControlKind.SOFTEDGE,),
            _HED,
        ),
        PreprocessorName.SOFTEDGE_PIDINET: Preprocessor(
            sentence("Soft edges (PiDiNet)"),
            sentence("Soft white edges with fewer details, by a small network."),
            PidinetOptions,
            (ControlKind.SOFTEDGE,),
            _PIDINET,
        ),
        PreprocessorName.SCRIBBLE_HED: Preprocessor(
            sentence("Scribble (HED)"),
            sentence("Rough white strokes along the edges that matter most."),
            ScribbleHedOptions,
            (ControlKind.SCRIBBLE,),
            _HED,
        ),
        PreprocessorName.SCRIBBLE_PIDINET: Preprocessor(
            sentence("Scribble (PiDiNet)"),
            sentence("Rough white strokes along edges, by a small network."),
            ScribblePidinetOptions,
            (ControlKind.SCRIBBLE,),
            _PIDINET,
        ),
        PreprocessorName.DEPTH_ANYTHING_V2: Preprocessor(
            sentence("Depth (Depth Anything V2)"),
            sentence("The nearer, the brighter."),
            DepthOptions,
            (ControlKind.DEPTH,),
            _DEPTH,
        ),
        PreprocessorName.NORMAL_DEPTH: Preprocessor(
            sentence("Normals (from depth)"),
            sentence("The direction of each surface as a colour, from the depth of the picture."),
            NormalOptions,
            (ControlKind.NORMAL,),
            _DEPTH,
        ),
        PreprocessorName.DW_OPENPOSE: Preprocessor(
            sentence("Pose (DWPose)"),
            sentence("People as coloured figures: bodies, hands and faces."),
            PoseOptions,
            (ControlKind.POSE,),
            ("dw-ll_ucoco_384.onnx",),
            "yolox_l.onnx",
        ),
        PreprocessorName.ONNX: Preprocessor(
            sentence("Network of an ONNX file"),
            sentence("The result of any network that makes a map of a picture."),
            OnnxOptions,
            (ControlKind.SEG, ControlKind.DEPTH, ControlKind.NORMAL, ControlKind.SOFTEDGE),
            ("model.onnx",),
        ),
        PreprocessorName.REFERENCE_ONLY: Preprocessor(
            sentence("Reference"),
            sentence("The picture's look and subject, seen by the model itself: no network."),
            ReferenceOptions,
            (ControlKind.REFERENCE,),
        ),
    }
)


def name_of(options: MapOptions) -> PreprocessorName:
    """Return the name of the preprocessor whose options these are."""
    return PreprocessorName(str(options.__struct_config__.tag))
