"""Facts about embeddings in the user's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.form.embedding_list import EmbeddingFit
from app.notices.wording import worded
from engine.api.embeddings import EmbeddingInfo
from engine.api.reasons import known_purpose

translate = QCoreApplication.translate


def embedding_summary(info: EmbeddingInfo | None) -> str:
    """Return the models that an embedding is for, and the number of its vectors."""
    if info is None or info.problem:
        return ""
    if info.vectors == 1:
        vectors = translate("embeddings", "1 vector")
    else:
        vectors = translate("embeddings", "{n} vectors").format(n=QLocale().toString(info.vectors))
    return " · ".join(filter(None, (_purpose(info), vectors)))


def _purpose(info: EmbeddingInfo) -> str:
    return worded(known_purpose(info.purpose))


def name_reason(tool: str) -> str:
    """Return the reason why an embedding cannot be used that no prompt for a tool can name."""
    text = translate("embeddings", "Prompts as in {tool} cannot have its name: rename the file.")
    return text.format(tool=tool)


def embedding_reason(info: EmbeddingInfo | None, fit: EmbeddingFit) -> str:
    """Return the reason why an embedding has no effect, or only some; empty if it has all."""
    if info is None:
        return ""
    if info.problem:
        text = translate("embeddings", "Has no effect: {problem}")
        return text.format(problem=worded(info.problem))
    if fit is EmbeddingFit.ALL:
        return ""
    if fit is EmbeddingFit.SOME:
        text = translate(
            "embeddings", "Only some of the text encoders take it: it is for {purpose}."
        )
    else:
        text = translate("embeddings", "Has no effect: it is for {purpose}, the model is another.")
    return text.format(purpose=_purpose(info))
