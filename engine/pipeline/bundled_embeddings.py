"""The embeddings that LoRA files bundle, which prompts name as those in folders.

As A1111 does (`extensions-builtin/Lora/networks.py`, `load_networks`), those of a LoRA are known
while it acts, and come before a file of the same name.
"""

from collections.abc import Iterable, Mapping

from engine.api.values import ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.embeddings.file import bundled
from engine.errors import EngineError
from engine.lora.file import LoraFile
from engine.text.embedding_warnings import unreadable


def bundled_embeddings(
    files: Iterable[LoraFile],
) -> tuple[Mapping[str, Embedding], tuple[ErrorInfo, ...]]:
    """Return the embeddings of files by name, the last of equal names, and warnings."""
    found: dict[str, Embedding] = {}
    warnings: list[ErrorInfo] = []
    for file in files:
        for embedding in file.embeddings:
            try:
                found[embedding.name] = bundled(embedding.name, embedding.tensors)
            except EngineError as error:
                warnings.append(unreadable(embedding.name, error))
    return found, tuple(warnings)
