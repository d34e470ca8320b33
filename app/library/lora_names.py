"""Finds listed LoRA files by names and hashes as the engine does (`engine.lora.folder`)."""

from collections.abc import Iterable

from engine.api.lora_files import LoraInfo
from engine.api.lora_names import NamedFiles, order_in_folder

# The shortest beginning of a hash that names a file: A1111's oldest has 8 digits.
_LEAST_DIGITS = 8


class LoraNames:
    """The names and hashes of listed files. Of several files of one name the first is taken."""

    def __init__(self, infos: Iterable[LoraInfo]) -> None:
        """`infos` are in the order of the listed folders."""
        every = _in_order(tuple(infos))
        self._files = NamedFiles(every, lambda info: info.name, lambda info: info.title)
        self._hashed = [info for info in every if info.hashes]

    def meant_by(self, name: str, digits: str | None = None) -> tuple[LoraInfo, ...]:
        """Return the files that a name may mean, the one that is taken first; those with a hash.

        The `digits` of a hash choose between files, and find one where the name finds none.
        """
        named = self._files.meant_by(name)
        if digits is None or len(digits) < _LEAST_DIGITS:
            return named
        wanted = digits.casefold()
        right = tuple(info for info in named if _has_hash(info, wanted))
        if right:
            return right[:1]
        return tuple(info for info in self._hashed if _has_hash(info, wanted))[:1] or named

    def same_name(self, info: LoraInfo) -> tuple[LoraInfo, ...]:
        """Return all files of a file's name, itself among them; empty if it has the name alone."""
        found = self._files.with_stem_of(info)
        return found if len(found) > 1 and info in found else ()


def _in_order(infos: tuple[LoraInfo, ...]) -> list[LoraInfo]:
    """Return files in the engine's order: by folder, then by `order_in_folder`."""
    roots: dict[str, int] = {}
    for info in infos:
        roots.setdefault(_root(info), len(roots))

    return sorted(
        infos, key=lambda info: (roots[_root(info)], order_in_folder(info.name, info.path))
    )


def _root(info: LoraInfo) -> str:
    return info.path.replace("\\", "/").rpartition(".")[0].removesuffix(info.name)


def _has_hash(info: LoraInfo, wanted: str) -> bool:
    """Return True if one of the hashes begins with the other: tools write more or fewer digits."""
    return any(digest.startswith(wanted) or wanted.startswith(digest) for digest in info.hashes)
