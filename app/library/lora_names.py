"""Finds listed LoRA files by names and hashes as the engine does (`engine.lora.folder`)."""

from collections import defaultdict
from collections.abc import Iterable

from engine.api.lora_files import LoraInfo

_SUFFIXES = (".safetensors", ".sft", ".pt", ".ckpt")
_SAFETENSORS = _SUFFIXES[:2]
# The shortest beginning of a hash that names a file: A1111's oldest has 8 digits.
_LEAST_DIGITS = 8


class LoraNames:
    """The names and hashes of listed files. Of several files of one name the first is taken."""

    def __init__(self, infos: Iterable[LoraInfo]) -> None:
        """`infos` are in the order of the listed folders."""
        every = _in_order(tuple(infos))
        self._by_stem: dict[str, list[LoraInfo]] = defaultdict(list)
        self._by_title: dict[str, list[LoraInfo]] = defaultdict(list)
        self._hashed = [info for info in every if info.hashes]
        for info in every:
            self._by_stem[_stem(info.name.casefold())].append(info)
            if info.title:
                self._by_title[info.title.casefold()].append(info)

    def meant_by(self, name: str, digits: str | None = None) -> tuple[LoraInfo, ...]:
        """Return the files that a name may mean, the one that is taken first; those with a hash.

        A name is a file's, with or without suffix and folder, else that in its metadata. The
        `digits` of a hash choose between files, and find one where the name finds none.
        """
        named = self._named(name)
        if digits is None or len(digits) < _LEAST_DIGITS:
            return named
        wanted = digits.casefold()
        right = tuple(info for info in named if _has_hash(info, wanted))
        if right:
            return right[:1]
        return tuple(info for info in self._hashed if _has_hash(info, wanted))[:1] or named

    def same_name(self, info: LoraInfo) -> tuple[LoraInfo, ...]:
        """Return all files of a file's name, itself among them; empty if it has the name alone."""
        found = tuple(self._by_stem.get(_stem(info.name.casefold()), ()))
        return found if len(found) > 1 and info in found else ()

    def _named(self, name: str) -> tuple[LoraInfo, ...]:
        parts = [part for part in name.strip().replace("\\", "/").split("/") if part]
        if not parts:
            return ()
        parts[-1] = _without_suffix(parts[-1])
        alike = self._by_stem.get(parts[-1].casefold(), ())
        for first in range(len(parts)):
            tail = "/".join(parts[first:])
            near = tuple(info for info in alike if _ends(info.name.casefold(), tail.casefold()))
            if near:
                return tuple(info for info in near if _ends(info.name, tail)) or near
        titled = self._by_title.get(parts[0].casefold(), ()) if len(parts) == 1 else ()
        return tuple(info for info in titled if info.title == parts[0]) or tuple(titled)


def _in_order(infos: tuple[LoraInfo, ...]) -> list[LoraInfo]:
    """Return files in the engine's order: by folder, then those that lie less deep."""
    roots: dict[str, int] = {}
    for info in infos:
        roots.setdefault(_root(info), len(roots))

    def key(info: LoraInfo) -> tuple[int, int, str, bool]:
        is_pickle = not info.path.casefold().endswith(_SAFETENSORS)
        return roots[_root(info)], info.name.count("/"), info.name.casefold(), is_pickle

    return sorted(infos, key=key)


def _root(info: LoraInfo) -> str:
    path = info.path.replace("\\", "/")
    return path[: max(path.rfind(info.name), 0)]


def _stem(name: str) -> str:
    return name.rpartition("/")[2]


def _without_suffix(name: str) -> str:
    folded = name.casefold()
    suffix = next((one for one in _SUFFIXES if folded.endswith(one) and folded != one), "")
    return name[: len(name) - len(suffix)]


def _ends(name: str, tail: str) -> bool:
    return name == tail or name.endswith(f"/{tail}")


def _has_hash(info: LoraInfo, wanted: str) -> bool:
    """Return True if one of the hashes begins with the other: tools write more or fewer digits."""
    return any(one.startswith(wanted) or wanted.startswith(one) for one in info.hashes)
