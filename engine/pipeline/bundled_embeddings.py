"""The embeddings that LoRA files bundle, which prompts name as those in folders.

As A1111 does (`extensions-builtin/Lora/networks.py`, `load_networks`), those of a LoRA are known
while it acts, and come before a file of the same name.
"""

from collections.abc import Iterable, Mapping

from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.embeddings.file import bundled
from engine.errors import EngineError
from engine.lora.file import LoraFile


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
                message = f'The embedding "{embedding.name[:80]}" was not used: {error.message}'
                warnings.append(ErrorInfo(ErrorCode.EMBEDDING_REMARK, message, error.hint))
    return found, tuple(warnings)
