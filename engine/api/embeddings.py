"""Embeddings (textual inversion) in requests and records."""

import msgspec

# The most embeddings whose hashes a request has.
MAX_EMBEDDINGS = 256


class EmbeddingHash(msgspec.Struct, frozen=True, kw_only=True):
    """A name by which a prompt names an embedding, and the first digits of the file's SHA-256.

    The hash finds the file where the name does not: files have other names on other machines.
    """

    name: str
    hash: str


class EmbeddingReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An embedding in a picture's record: the prompt's name for it, and its file.

    `vectors` is the number of tokens that it takes. `path` is None for one that a LoRA bundles.
    """

    name: str
    path: str | None = None
    sha256: str | None = None
    vectors: int = 1
