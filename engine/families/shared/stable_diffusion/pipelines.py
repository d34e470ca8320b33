"""Diffusers' pipelines that make a picture of a text with an ordinary checkpoint.

Others give the same UNet another meaning (Marigold estimates depth, Zero-1-to-3 turns the object),
which no shape shows.
"""

import re

# What a pipeline adds around the checkpoint, and what it begins from.
_PIPELINE = re.compile(
    r"(StableDiffusion(XL)?("
    r"|Adapter|AttendAndExcite|ControlNet|ControlNetPAG|ControlNetUnion|DiffEdit|KDiffusion"
    r"|LongPromptWeighting|ModelEditing|PAG|Panorama|Paradigms|Pix2PixZero|SAG|Safe)"
    r"(Img2Img|Inpaint|InstructPix2Pix)?Pipeline(Legacy|Safe)?"
    r"|SDXL(LongPromptWeighting)?Pipeline|LatentConsistencyModel(Img2Img)?Pipeline"
    r"|SemanticStableDiffusionPipeline|CycleDiffusionPipeline|DiffusionPipeline"
    r"|LEditsPPPipelineStableDiffusion(XL)?|TextToVideoZero(SDXL)?Pipeline)"
)


def draws_after_text(pipeline: str) -> bool:
    """Tell whether the class of a pipeline (`_class_name` in `model_index.json`) is one of them."""
    return bool(_PIPELINE.fullmatch(pipeline))


def is_for_sdxl(pipeline: str) -> bool:
    """Tell whether such a pipeline is for SDXL."""
    return "XL" in pipeline
