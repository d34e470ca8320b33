"""Choices among the options of preprocessors."""

from enum import StrEnum


class ControlKind(StrEnum):
    """The kinds of maps that ControlNets are trained on."""

    CANNY = "canny"
    DEPTH = "depth"
    SOFTEDGE = "softedge"
    LINEART = "lineart"
    SCRIBBLE = "scribble"
    POSE = "pose"
    NORMAL = "normal"
    SEG = "seg"
    TILE = "tile"
    SHUFFLE = "shuffle"
    COLOR = "color"
    RECOLOR = "recolor"
    INPAINT = "inpaint"
    # No map: the picture itself, which the denoiser's self-attention sees.
    REFERENCE = "reference"


class NormalLayout(StrEnum):
    """The colours of a normal map's directions.

    BAE is red to the left, green up, blue to the viewer, as NormalBae's; MIDAS has red and blue
    swapped, as sd-webui-controlnet's `normal_midas`.
    """

    BAE = "bae"
    MIDAS = "midas"


class OnnxPixels(StrEnum):
    """The numbers that a network takes for the levels of a picture.

    IMAGENET: from 0 to 1, less the mean of ImageNet's pictures and by their deviation; UNIT: from 0
    to 1; SIGNED: from -1 to 1; LEVELS: from 0 to 255.
    """

    IMAGENET = "imagenet"
    UNIT = "unit"
    SIGNED = "signed"
    LEVELS = "levels"


class OnnxValues(StrEnum):
    """The levels of a map that a network's numbers become.

    STRETCHED: black for the least, white for the greatest; UNIT, SIGNED and LEVELS as `OnnxPixels`;
    CLASSES: the colour that the ADE20K data set has for the likeliest class.
    """

    STRETCHED = "stretched"
    UNIT = "unit"
    SIGNED = "signed"
    LEVELS = "levels"
    CLASSES = "classes"
