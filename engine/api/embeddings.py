"""Embeddings (textual inversion) in requests and records."""

import msgspec

from engine.api.sentences import Text

# The most embeddings whose hashes a request has.
MAX_EMBEDDINGS = 256


class EmbeddingHash(msgspec.Struct, frozen=True, kw_only=True):
    """A name by which a prompt names an embedding, and the first digits of the file's SHA-256.

    The hash finds the file where the name does not: files have other names on other machines.
    """

    name: str
    hash: str


class EmbeddingInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that prompts name as an embedding, for lists to choose from.

    `vectors` is the number of tokens that it takes. `widths` are those of the text encoders that it
    has vectors for, in ascending order, and `purpose` says in words what it is for.
    """

    name: str
    path: str = ""
    vectors: int = 0
    widths: tuple[int, ...] = ()
    purpose: str = ""
    # The checkpoint that it was trained on, where the file tells it.
    trained_on: str = ""
    # The picture beside the file or in it, and the time of its last change.
    preview: str = ""
    preview_modified_ns: int = 0
    # The reason why the file cannot be used; empty if it can.
    problem: Text = ""


class EmbeddingReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An embedding in a picture's record: the prompt's name for it, and its file.

    `vectors` is the number of tokens that it takes. `path` is None for one that a LoRA bundles.
    """

    name: str
    path: str | None = None
    sha256: str | None = None
    vectors: int = 1
