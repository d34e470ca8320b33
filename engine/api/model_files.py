"""The engine's descriptions of files of weights, for the list of the user's models."""

from enum import StrEnum

import msgspec

from engine.api.map_choices import ControlKind
from engine.api.sentences import Text
from engine.api.weight_suffixes import WEIGHT_SUFFIXES

# The suffixes of the files in a list of models, in lower case.
MODEL_SUFFIXES = frozenset(WEIGHT_SUFFIXES)


class ModelKind(StrEnum):
    """The kind of a file of weights, by what is in it."""

    CHECKPOINT = "checkpoint"
    LORA = "lora"
    EMBEDDING = "embedding"
    VAE = "vae"
    TEXT_ENCODER = "text_encoder"
    # A denoiser without the other parts of a checkpoint.
    DENOISER = "denoiser"
    # A ControlNet, a control-LoRA, a T2I-Adapter or a ControlNet-LLLite.
    CONTROLNET = "controlnet"
    IP_ADAPTER = "ip_adapter"
    # A CLIP vision encoder, which reads the pictures of IP-Adapters.
    VISION_ENCODER = "vision_encoder"
    UPSCALER = "upscaler"
    OTHER = "other"


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of weights or a diffusers folder in a list; texts that are not known are empty.

    `name` is the path below `root`, the folder that was listed, without suffix and with `/`.
    """

    path: str
    name: str
    root: str
    # In bytes, and in nanoseconds since 1970; the size of a diffusers folder is that of its files.
    size: int
    modified_ns: int
    # False while the file has not been opened: then only the facts above are known.
    is_read: bool = True
    kind: ModelKind = ModelKind.OTHER
    # The content in words, such as "a LoRA for SDXL" or "a Flux model".
    purpose: str = ""
    # The names of the families here that it is for; a checkpoint has one.
    families: tuple[str, ...] = ()
    variant: str = ""
    title: str = ""
    # The base model as the metadata gives it.
    base_model: str = ""
    trigger_words: tuple[str, ...] = ()
    # The number formats of the stored weights, such as "f16".
    precisions: tuple[str, ...] = ()
    # The parts that a checkpoint lacks, as fields of `ComponentFiles`.
    missing: tuple[str, ...] = ()
    # The reason why nothing here can use the file, and what to do; empty if it can be used.
    problem: Text = ""
    hint: Text = ""
    # SHA-256 of the whole file, if it was computed or a card states it.
    sha256: str = ""
    # The picture beside the file, and the time of its last change.
    preview: str = ""
    preview_modified_ns: int = 0
    # The kind of maps that a control network's own tensors state; None where only names may tell.
    follows: ControlKind | None = None
    # The growth of each side by an upscaler; 0 for other kinds, and where it is not known.
    scale: int = 0
    # The parameters that are used in each step of a picture, those of a checkpoint's denoiser or of
    # a control network; 0 for a network that runs once. None for other kinds, and if not known.
    step_parameters: int | None = None
    # A digest of size and header, by which a file is known after it was moved; empty if unread.
    identity: str = ""
