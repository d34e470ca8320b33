"""The diffusers pipelines that make a picture from a text with an ordinary checkpoint.

Other pipelines use a UNet of the same shapes for other tasks (Marigold estimates depth, Zero-1-to-3
rotates an object).
"""

import re

# Class names: the base name, an optional addition such as ControlNet, and an optional start.
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
    """Tell whether a pipeline class (`_class_name` in `model_index.json`) is text-to-image."""
    return bool(_PIPELINE.fullmatch(pipeline))


def is_for_sdxl(pipeline: str) -> bool:
    """Tell whether a text-to-image pipeline class is for SDXL."""
    return "XL" in pipeline
