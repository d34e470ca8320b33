"""Finding embeddings by name in folders; a file is read only when a text names it."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from engine.checkpoints.files import read_index
from engine.checkpoints.full_hash import hash_file
from engine.embeddings.embedding import Embedding
from engine.embeddings.file import (
    PICTURE_SUFFIXES,
    WEIGHT_SUFFIXES,
    ReadIndex,
    read_embeddings,
)
from engine.embeddings.folder import EmbeddingFile, Listing, folders_of_tools, list_folders
from engine.errors import EngineError

_MOST_KEPT = 512
# Opening a PyTorch file takes a process, so at most this many are opened to learn their words.
_MOST_OPENED = 64
# Fewer digits of a hash fit several files by chance; a larger file is no embedding.
_LEAST_DIGITS = 8
_MOST_HASHED_BYTES = 64 << 20


class Found(msgspec.Struct, frozen=True):
    """The result of a search: an embedding, or the error of the file that was found."""

    embedding: Embedding | None = None
    error: EngineError | None = None


class Embeddings(Protocol):
    """The embeddings that texts may name. A search returns None if there is no such file."""

    def names(self) -> tuple[str, ...]:
        """Return the names without suffixes, without duplicates."""
        ...

    def named(self, name: str) -> Found | None:
        """Find by one of `names`."""
        ...

    def at_path(self, name: str) -> Found | None:
        """Find by a name or a path below a folder, with or without suffix, as ComfyUI does."""
        ...

    def of_word(self, word: str) -> Found | None:
        """Find by the word that a file itself names, as "<cat-toy>", else by the name in it."""
        ...

    def of_hash(self, digits: str) -> Found | None:
        """Find by the first digits of a file's SHA-256, or of that of its tensors."""
        ...


class NoEmbeddings:
    """`Embeddings` without any."""

    def names(self) -> tuple[str, ...]:
        """Return no name."""
        return ()

    def named(self, name: str) -> Found | None:
        """Return None."""
        return None

    def at_path(self, name: str) -> Found | None:
        """Return None."""
        return None

    def of_word(self, word: str) -> Found | None:
        """Return None."""
        return None

    def of_hash(self, digits: str) -> Found | None:
        """Return None."""
        return None


NO_EMBEDDINGS: Embeddings = NoEmbeddings()


class WithBundled(msgspec.Struct, frozen=True, eq=False):
    """The embeddings that other files bundle, by name; then those of `library`."""

    bundled: Mapping[str, Embedding]
    library: Embeddings = NO_EMBEDDINGS

    def names(self) -> tuple[str, ...]:
        """Return the bundled names, then the library's."""
        return tuple(dict.fromkeys((*self.bundled, *self.library.names())))

    def named(self, name: str) -> Found | None:
        """Find by one of `names`."""
        mine = self.bundled.get(name)
        return Found(mine) if mine is not None else self.library.named(name)

    def at_path(self, name: str) -> Found | None:
        """Find by a bundled name, else as the library does."""
        mine = self.bundled.get(name)
        return Found(mine) if mine is not None else self.library.at_path(name)

    def of_word(self, word: str) -> Found | None:
        """Find by a bundled name in angle brackets, else as the library does."""
        mine = self.bundled.get(_inner(word))
        return Found(mine) if mine is not None else self.library.of_word(word)

    def of_hash(self, digits: str) -> Found | None:
        """Find as the library does."""
        return self.library.of_hash(digits)


class _Known(msgspec.Struct):
    """A listing, its files by name, by ComfyUI's spellings, and by their words once looked for.

    Spellings are listed as they are, and again without case.
    """

    listing: Listing
    by_name: dict[str, list[EmbeddingFile]] = msgspec.field(
        default_factory=dict[str, list[EmbeddingFile]]
    )
    spelled: dict[str, list[EmbeddingFile]] = msgspec.field(
        default_factory=dict[str, list[EmbeddingFile]]
    )
    folded: dict[str, list[EmbeddingFile]] = msgspec.field(
        default_factory=dict[str, list[EmbeddingFile]]
    )
    words: dict[str, EmbeddingFile] | None = None

    def add(self, file: EmbeddingFile) -> None:
        """Note a file under its name and spellings."""
        self.by_name.setdefault(file.name, []).append(file)
        for spelling in dict.fromkeys(file.spellings):
            self.spelled.setdefault(spelling, []).append(file)
        for spelling in dict.fromkeys(map(str.casefold, file.spellings)):
            self.folded.setdefault(spelling, []).append(file)


class EmbeddingLibrary:
    """The embeddings in folders and their subfolders, those of the first folders first.

    Folders need not exist. Last come those in the folders of tools that were named later. May be
    used from any thread.
    """

    def __init__(self, folders: Sequence[Path], read: ReadIndex = read_index) -> None:
        """`read` reads the index of a file of tensors."""
        self._folders, self._read = tuple(folders), read
        self._of_tools: tuple[Path, ...] = ()
        self._lock = threading.Lock()
        self._known: _Known | None = None
        # The result of reading a file in a state: path, time of modification in ns, size.
        self._kept: dict[tuple[Path, int, int], tuple[Embedding, ...] | EngineError] = {}
        self._digests: dict[tuple[Path, int, int], tuple[str, ...]] = {}

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are looked into, with all below them; they need not exist."""
        with self._lock:
            return (*self._folders, *self._of_tools)

    def look_into_tools(self, tools: Iterable[Path]) -> None:
        """Look into the folders of embeddings of these tools, too, instead of the last ones."""
        found = folders_of_tools(tools)
        with self._lock:
            if found != self._of_tools:
                self._of_tools, self._known = found, None

    def look_again(self) -> tuple[Path, ...]:
        """List the folders anew, whatever their times say; return those that are there."""
        with self._lock:
            self._known = None
            return self._listed().listing.looked_through

    def names(self) -> tuple[str, ...]:
        """Return the names without suffixes, without duplicates, in order of folders and paths."""
        with self._lock:
            return tuple(self._listed().by_name)

    def named(self, name: str) -> Found | None:
        """Find by one of `names`."""
        with self._lock:
            return self._first_of(self._listed().by_name.get(name, ()))

    def at_path(self, name: str) -> Found | None:
        """Find by a name or a path below a folder, with or without suffix.

        Case counts only where several files differ in it alone.
        """
        wanted = name.replace("\\", "/").strip("/")
        with self._lock:
            known = self._listed()
            files = known.spelled.get(wanted) or known.folded.get(wanted.casefold(), ())
            return self._first_of(files)

    def of_word(self, word: str) -> Found | None:
        """Find by the word that a file itself names, as "<cat-toy>", else by the name in it."""
        with self._lock:
            known = self._listed()
            by_name = known.by_name.get(_inner(word), ())
            # Other files are opened only if no file has the name.
            file = by_name[0] if by_name else self._words(known).get(word)
            if file is None:
                return None
            read = self._read_now(file)
            several = () if isinstance(read, EngineError) else read
            mine = next((embedding for embedding in several if embedding.token == word), None)
            return Found(mine) if mine is not None else self._first_of(by_name)

    def of_hash(self, digits: str) -> Found | None:
        """Find by the first digits of a file's SHA-256, or of that of its tensors."""
        wanted = digits.casefold()
        if len(wanted) < _LEAST_DIGITS:
            return None
        with self._lock:
            for file in self._listed().listing.files:
                if any(digest.startswith(wanted) for digest in self._hashes(file)):
                    return self._first_of([file])
        return None

    def _hashes(self, file: EmbeddingFile) -> tuple[str, ...]:
        """Return a file's hashes, computed once; none for a file that cannot be read."""
        try:
            facts = file.path.stat()
            key = (file.path, facts.st_mtime_ns, facts.st_size)
            if facts.st_size > _MOST_HASHED_BYTES:
                return ()
            if key not in self._digests:
                found = hash_file(file.path, lambda _: None, tensors=True)
                is_plain = file.path.suffix.lower() != WEIGHT_SUFFIXES[0]
                both = (found.whole,) if is_plain else (found.whole, found.tensors or found.whole)
                self._digests[key] = both
            return self._digests[key]
        except OSError:
            return ()

    def _first_of(self, files: Sequence[EmbeddingFile]) -> Found | None:
        if not files:
            return None
        read = self._read_now(files[0])
        if isinstance(read, EngineError):
            return Found(error=read)
        others = tuple(file.path for file in files[1:])
        return Found(msgspec.structs.replace(read[0], others=others) if others else read[0])

    def _read_now(self, file: EmbeddingFile) -> tuple[Embedding, ...] | EngineError:
        """Return a file's embeddings, or its error; an unchanged file is not read again."""
        try:
            facts = file.path.stat()
            key = (file.path, facts.st_mtime_ns, facts.st_size)
        except OSError:
            key = (file.path, -1, -1)
        if key not in self._kept:
            while len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            try:
                self._kept[key] = read_embeddings(file.path, self._read)
            except EngineError as error:
                self._kept[key] = error
        return self._kept[key]

    def _words(self, known: _Known) -> Mapping[str, EmbeddingFile]:
        """Return the files by the words in them; some PyTorch files may be left out."""
        if known.words is None:
            known.words = {}
            opened = 0
            for file in known.listing.files:
                suffix = file.path.suffix.lower()
                opened += suffix in WEIGHT_SUFFIXES[1:]
                if suffix in PICTURE_SUFFIXES or opened > _MOST_OPENED:
                    continue
                read = self._read_now(file)
                for embedding in () if isinstance(read, EngineError) else read:
                    if embedding.token:
                        known.words.setdefault(embedding.token, file)
        return known.words

    def _listed(self) -> _Known:
        """Return the files of all folders, listed again if a folder has changed."""
        if self._known is None or not self._known.listing.is_current:
            self._known = _Known(list_folders((*self._folders, *self._of_tools)))
            for file in self._known.listing.files:
                self._known.add(file)
        return self._known


def _inner(word: str) -> str:
    return word.removeprefix("<").removesuffix(">")
