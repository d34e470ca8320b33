"""The messages about LoRA files; `engine.api.messages` has the others."""

from engine.api.lora_files import LoraInfo
from engine.api.message import Message


class ListLoras(Message, frozen=True, kw_only=True):
    """List the user's LoRA files. Answered by LorasListed, after LorasFound.

    They lie in the usual folders below `Configure.models` and in `folders`, which from now on are
    those of `Configure.lora_folders`. Other queries are answered in between.
    """

    query: int
    folders: tuple[str, ...]


class InspectLora(Message, frozen=True, kw_only=True):
    """Describe a file that may be a LoRA, wherever it lies. Answered by LoraInspected."""

    query: int
    path: str


class LorasFound(Message, frozen=True, kw_only=True):
    """Some of the files that ListLoras asks for.

    A file that had to be opened is sent twice: first without the facts that are in it.
    """

    query: int
    loras: tuple[LoraInfo, ...]


class LorasListed(Message, frozen=True, kw_only=True):
    """The answer to ListLoras: every file was sent, and these folders were looked through.

    They are those of embeddings, too. `embeddings` are the names of the embeddings that prompts may
    name, without suffixes.
    """

    query: int
    folders: tuple[str, ...]
    embeddings: tuple[str, ...] = ()


class LoraInspected(Message, frozen=True, kw_only=True):
    """The answer to InspectLora; a file that is no LoRA has a `problem`."""

    query: int
    lora: LoraInfo
