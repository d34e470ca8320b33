"""Finds control networks, adapters, encoders and the like by paths, names, hashes and contents.

Names and hashes are those of other tools' records; the digests of samples are those of ours.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from engine.api.lora_names import NamedFiles
from engine.api.sentences import Sentence, sentence
from engine.api.weight_suffixes import NETWORK_SUFFIXES, ONNX_SUFFIX
from engine.checkpoints.diffusers_folder import ReadIndex, read_part
from engine.checkpoints.files import read_index
from engine.checkpoints.index import sampled_digest
from engine.errors import EngineError
from engine.file_paths import exists, is_folder
from engine.folders import weights_below
from engine.lora.hashes import legacy_hash
from engine.lora.listed_facts import ListedFacts
from engine.lora.names_below import NamesBelow, Report, report_nothing

# The folder of a diffusers network is the file's own.
_OF_FOLDER = "config.json"
_MOST_FILES = 50_000
_MOST_DIGITS = 64
_HASH = re.compile(r"[0-9a-f]{8,64}")

# Tells whether a file is of the wanted kind; may raise EngineError or OSError for one that is not.
Accepts = Callable[[Path], object]


def accept_any(_path: Path) -> None:
    """Accept a file of any kind."""


def content_digest(path: Path, read: ReadIndex = read_index) -> str | None:
    """Return the digest of samples of a file, or of a diffusers folder; None if it is unreadable.

    The same file has the same digest in every record.
    """
    try:
        if is_folder(path):
            part = read_part(path, read)
            return part.index.digest if part else None
        if path.suffix.lower() == ONNX_SUFFIX:
            with path.open("rb") as file:
                return sampled_digest(file, b"", path.stat().st_size)
        return read(path).digest
    except (EngineError, OSError):
        return None


def short_hash(path: Path) -> str:
    """Return the digits by which sd-webui-controlnet names a file; none for a folder."""
    try:
        return "" if is_folder(path) else legacy_hash(path)
    except OSError:
        return ""


def looked_for(name: str | None, digits: str | None) -> Iterator[Sentence]:
    """Yield hints on a name and a hash by which a file was looked for."""
    if name:
        yield sentence("It was looked for in the folders of models.")
    if digits:
        hash_ = digits[:_MOST_DIGITS]
        yield sentence("Its hash is {hash}, by which Civitai may find it.", hash=hash_)


class WantedNetwork(msgspec.Struct, frozen=True):
    """A file that a request names: `stated` is a path or a name.

    `digits` are those of a tool's hash, `digest` is that of samples.
    """

    stated: str
    digits: str | None = None
    digest: str | None = None

    @property
    def is_path(self) -> bool:
        """True for a whole path, on this machine or another."""
        return Path(self.stated).is_absolute()


class NetworkLookup:
    """Finds files in folders of models, which are listed once, when a file is not where it was."""

    def __init__(
        self,
        folders: Iterable[Path] = (),
        read: ReadIndex = read_index,
        known: ListedFacts | None = None,
        report: Report = report_nothing,
    ) -> None:
        """`known` keeps hashes; `report` is called while files are hashed, and may raise."""
        self.folders = tuple(folders)
        self._read = read
        # No folder: the names of files are read one by one.
        self._hashes = NamesBelow((), known or ListedFacts(), report)

    def find(self, wanted: WantedNetwork, accepts: Accepts = accept_any) -> Path | None:
        """Return the path that is there, else the file with the content, the hash or the name.

        Only files that are accepted count. Raises what `report` raises.
        """
        path = Path(wanted.stated)
        if wanted.is_path and exists(path):
            return path
        name = path.name if wanted.is_path else wanted.stated
        found = self.with_content(wanted) or self._with_digits(name, wanted.digits, accepts)
        return found or next(self._called(name, accepts), None)

    def with_content(self, wanted: WantedNetwork) -> Path | None:
        """Return the file, or the diffusers folder, with the digest; None without one."""
        if not wanted.digest:
            return None
        suffix = Path(wanted.stated).suffix.lower()
        files = [file.path for file in self._files]
        alike = [path for path in files if path.suffix.lower() == suffix]
        if suffix not in NETWORK_SUFFIXES:
            alike = [
                path for path in dict.fromkeys(path.parent for path in files) if _is_whole(path)
            ]
        found = (path for path in alike if content_digest(path, self._read) == wanted.digest)
        return next(found, None)

    def _with_digits(self, name: str, digits: str | None, accepts: Accepts) -> Path | None:
        """Return the file with a tool's hash: one of the name first, then any."""
        plain = (digits or "").strip().casefold().removeprefix("0x")
        if not _HASH.fullmatch(plain):
            return None
        named = list(self._called(name, accepts))
        every = [file.path for file in self._files]
        has = (path for path in (*named, *every) if self._hashes.of(path).has(plain))
        right = next((path for path in has if _accepted(path, accepts)), None)
        if right is not None or named:
            return right
        # Small files first: checkpoints take longest, and are seldom the ones.
        hashed = self._hashes.hash_until(plain, sorted(every, key=_size))
        return hashed.path if hashed and _accepted(hashed.path, accepts) else None

    def _called(self, name: str, accepts: Accepts) -> Iterator[Path]:
        plain = name.replace("\\", "/")
        stem, dot, suffix = plain.rpartition(".")
        meant = stem if dot and f".{suffix.lower()}" in NETWORK_SUFFIXES else plain
        if not meant.strip():
            return
        yield from (
            file.path for file in self._named.meant_by(meant) if _accepted(file.path, accepts)
        )

    @cached_property
    def _files(self) -> Sequence["_Listed"]:
        return tuple(_below(self.folders))[:_MOST_FILES]

    @cached_property
    def _named(self) -> "NamedFiles[_Listed]":
        every = (*self._files, *_folders_of(self._files))
        return NamedFiles(every, lambda file: file.name, lambda _file: "")


class _Listed(msgspec.Struct, frozen=True):
    """A file and its path below the folder in which it was found, without suffix and with `/`."""

    path: Path
    name: str


def _below(folders: Iterable[Path]) -> Iterator[_Listed]:
    for folder in folders:
        for path in weights_below(folder, NETWORK_SUFFIXES, inside_checkpoints=True):
            if not is_folder(path):
                yield _Listed(path, path.relative_to(folder).with_suffix("").as_posix())


def _folders_of(files: Iterable[_Listed]) -> Iterator[_Listed]:
    """Yield the diffusers folders of files under the names of the folders."""
    found = {file.path.parent: file.name.rpartition("/")[0] for file in files}
    yield from (_Listed(path, name) for path, name in found.items() if name and _is_whole(path))


def _is_whole(folder: Path) -> bool:
    return exists(folder / _OF_FOLDER)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _accepted(path: Path, accepts: Accepts) -> bool:
    try:
        accepts(path)
    except (EngineError, OSError):
        return False
    return True
