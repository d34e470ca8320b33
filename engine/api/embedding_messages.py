"""The messages about embeddings; `engine.api.messages` has the others."""

from engine.api.embeddings import EmbeddingInfo
from engine.api.message import Message


class DescribeEmbeddings(Message, frozen=True, kw_only=True):
    """Describe embeddings by their names. Answered by EmbeddingsDescribed.

    Their files are read. Other queries are answered in between.
    """

    query: int
    names: tuple[str, ...]


class EmbeddingsDescribed(Message, frozen=True, kw_only=True):
    """The answer to DescribeEmbeddings: those of the names that have a file."""

    query: int
    embeddings: tuple[EmbeddingInfo, ...]
