"""The messages about the user's models; `engine.api.messages` has the others."""

from typing import TypeAlias

from engine.api.message import Message
from engine.api.model_files import ModelInfo


class ListModels(Message, frozen=True, kw_only=True):
    """List the user's files of weights of every kind. Answered by ModelsListed, after ModelsFound.

    They lie below `Configure.models`, below `folders` and where embeddings are looked for. Other
    queries are answered in between.
    """

    query: int
    folders: tuple[str, ...]


class DescribeModel(Message, frozen=True, kw_only=True):
    """Describe one file of weights, wherever it lies. Answered by ModelsFound with that file."""

    query: int
    path: str


class HashModel(Message, frozen=True, kw_only=True):
    """Hash a file in the background. Answered by ModelHashed; ModelHashing tells how far it is."""

    query: int
    path: str


class FindModel(Message, frozen=True, kw_only=True):
    """Find a file that is not at `stated` any more by its digest. Answered by ModelFound.

    The digest is that of samples, as records have it. Jobs find files in the same folders.
    """

    query: int
    stated: str
    digest: str


class ModelsFound(Message, frozen=True, kw_only=True):
    """Some of the files that ListModels asks for, or the one that DescribeModel asks for.

    A file that had to be opened is sent twice: first without the facts that are in it.
    """

    query: int
    models: tuple[ModelInfo, ...]


class ModelsListed(Message, frozen=True, kw_only=True):
    """The answer to ListModels: every file was sent, and these folders were looked through."""

    query: int
    folders: tuple[str, ...]


class ModelHashed(Message, frozen=True, kw_only=True):
    """The answer to HashModel: the SHA-256 if it is known; else it follows with ModelHashing."""

    query: int
    sha256: str


class ModelFound(Message, frozen=True, kw_only=True):
    """The answer to FindModel: the file's path now; None if no file has its content."""

    query: int
    path: str | None


class ModelHashing(Message, frozen=True, kw_only=True):
    """Progress of a file that HashModel named; `sha256` is empty until the end.

    A file that cannot be read to its end, or changed meanwhile, has `failed`.
    """

    path: str
    done_bytes: int
    total_bytes: int
    sha256: str = ""
    failed: bool = False


ModelQuery: TypeAlias = ListModels | DescribeModel | HashModel | FindModel
ModelAnswer: TypeAlias = ModelsListed | ModelHashed | ModelFound
