"""The engine's descriptions of LoRA files, for lists to choose from."""

import msgspec

from engine.api.sentences import Text
from engine.api.values import SamplerName, ScheduleName

# The most trigger words of a file, and the most characters of each text about a file.
MOST_WORDS = 20
MOST_CHARACTERS = 200


class FewStepSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a LoRA that makes a checkpoint draw in few steps, as its author gives them.

    `title` is the name of the method, such as "LCM". Guidance 1 is no guidance.
    """

    title: str
    sampler: SamplerName
    schedule: ScheduleName
    steps: int
    guidance: float


class LoraInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A LoRA file in a list; texts that are not known are empty.

    `name` is the path below the folder that was listed, without suffix and with `/`.
    """

    path: str
    name: str
    # In bytes, and in nanoseconds since 1970.
    size: int
    modified_ns: int
    # False while the file has not been opened: then only the facts above are known.
    is_read: bool = True
    title: str = ""
    # The purpose in words, such as "a LoRA for SDXL", and the base model as the trainer gives it.
    purpose: str = ""
    base_model: str = ""
    # The names of the families here that it is for, and True if it is certainly for no other.
    families: tuple[str, ...] = ()
    is_certain: bool = False
    # The words that its author states, else the most frequent tags of its training.
    trigger_words: tuple[str, ...] = ()
    # The picture beside the file, and the time of its last change.
    preview: str = ""
    preview_modified_ns: int = 0
    # Hashes that the metadata and cards state, in hexadecimal digits: the first 12 of that of its
    # tensors, by which A1111 names a LoRA, and SHA-256 of the file.
    hashes: tuple[str, ...] = ()
    # The largest rank of its changes; None if they have no rank.
    rank: int | None = None
    few_steps: FewStepSettings | None = None
    # True for a control-LoRA, with which the model itself follows a map.
    takes_map: bool = False
    # True for an embedding, which is none and which prompts name.
    is_embedding: bool = False
    # The reason why the file cannot be used as a LoRA; empty if it can.
    problem: Text = ""
