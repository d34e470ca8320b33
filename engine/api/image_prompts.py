"""Image prompts in requests and records: pictures that an IP-Adapter turns into tokens."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import length_within, span_within, within

# The most image prompts of a request.
MAX_IMAGE_PROMPTS = 16
# The largest weight of either sign; the controls of every tool end earlier.
MAX_IMAGE_PROMPT_WEIGHT = 10.0
# The most further pictures of an image prompt.
MAX_FURTHER_PICTURES = 15


class AdapterBlocks(StrEnum):
    """The blocks of the denoiser that an image prompt acts on, or how strongly on which.

    Style and composition after InstantStyle (Wang et al. 2024); all are weight types of
    ComfyUI_IPAdapter_plus.
    """

    ALL = "all"
    STYLE = "style"
    COMPOSITION = "composition"
    STYLE_AND_COMPOSITION = "style_and_composition"
    STRONG_STYLE = "strong_style"  # all but the composition's
    # The blocks of the other one show the picture to the negative prompt: they lead away from it.
    STYLE_PRECISE = "style_precise"
    COMPOSITION_PRECISE = "composition_precise"
    # The weight falls, rises, or both, from the first block to the last.
    EASE_IN = "ease_in"
    EASE_OUT = "ease_out"
    EASE_IN_OUT = "ease_in_out"
    REVERSE_IN_OUT = "reverse_in_out"
    # A fifth of the weight on the way down, in the middle, on the way up, or outside the middle.
    WEAK_INPUT = "weak_input"
    WEAK_MIDDLE = "weak_middle"
    WEAK_OUTPUT = "weak_output"
    STRONG_MIDDLE = "strong_middle"


class AdapterScaling(StrEnum):
    """The numbers that the weight of an image prompt multiplies.

    These are the values of "embeds_scaling" in ComfyUI_IPAdapter_plus.
    """

    VALUES = "values"  # "V only"; the weight of every other tool
    KEYS_AND_VALUES = "keys_and_values"  # "K+V"
    # Less in narrow layers, as their width is to 1280: "K+V w/ C penalty".
    KEYS_AND_VALUES_BY_WIDTH = "keys_and_values_by_width"
    # Of the values only their mean over the tokens: "K+mean(V) w/ C penalty".
    KEYS_AND_MEAN_BY_WIDTH = "keys_and_mean_by_width"


class PictureCombination(StrEnum):
    """The way in which the pictures of one image prompt become one.

    These are the values of "combine_embeds" in ComfyUI_IPAdapter_plus.
    """

    CONCAT = "concat"  # all tokens of all pictures, attended to together
    # What the encoder sees in them, number by number.
    ADD = "add"
    SUBTRACT = "subtract"  # the mean of the others is taken from the first
    AVERAGE = "average"
    # The mean, each number divided by the norm of it over the pictures.
    NORM_AVERAGE = "norm_average"


class ImagePrompt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture as a prompt, the adapter that reads it, and how strongly.

    `image` is empty if imported metadata tells of an image prompt without its picture, which is
    then left out with a warning.
    """

    image: str
    # The adapter: the path of its file, or a name that is looked for in the folders of models.
    # None, or a name that is not found: the image prompt is left out with a warning.
    adapter: str | None = None
    # The file or folder of the CLIP vision encoder; None: the fitting one among the user's files.
    encoder: str | None = None
    weight: Annotated[
        float,
        within(-MAX_IMAGE_PROMPT_WEIGHT, MAX_IMAGE_PROMPT_WEIGHT, "weight of an image prompt"),
    ] = 1.0
    # The start and the end of its effect, as fractions of the steps.
    range: Annotated[tuple[float, float], span_within(0, 1, "range of an image prompt")] = (
        0.0,
        1.0,
    )
    blocks: AdapterBlocks = AdapterBlocks.ALL
    scaling: AdapterScaling = AdapterScaling.VALUES
    # Pictures that are seen together with the first; one that is empty is not known.
    further: Annotated[
        tuple[str, ...], length_within(0, MAX_FURTHER_PICTURES, "number of further pictures")
    ] = ()
    combination: PictureCombination = PictureCombination.CONCAT
    # A picture that is white where the image prompt acts; None: everywhere.
    mask: str | None = None
    # A hash in hexadecimal digits by which the adapter is found where its path is not.
    hash: str | None = None
    # The digests of samples of the adapter's file and of the encoder's, as a record has them, by
    # which they are found under other names.
    digest: str | None = None
    encoder_digest: str | None = None
    # False if the image prompt is kept in the list of the form without being used.
    enabled: bool = True


class ImagePromptReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An image prompt in a picture's record: its adapter, its encoder and its picture."""

    name: str
    # None if the adapter was not found; the picture was made without it.
    path: str | None = None
    digest: str = ""
    # Eight digits by which sd-webui-controlnet names a file.
    short_hash: str = ""
    encoder: str | None = None
    encoder_digest: str = ""
    weight: float = 1.0
    image_sha256: str = ""
    further_sha256: tuple[str, ...] = ()
