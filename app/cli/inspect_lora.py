"""`safelight inspect` of a LoRA."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.cli.terminal import ByteBar, print_json, say
from app.model_folders import named_folders
from app.paths import Paths
from engine.api.lora_files import LoraInfo
from engine.checkpoints.faults import unreadable
from engine.checkpoints.full_hash import MODEL_HASH_DIGITS, TENSORS_HASH_DIGITS
from engine.errors import Cancelled
from engine.jobs.lora_descriptions import LoraDescriber
from engine.lora.files_below import list_one
from engine.lora.folder import LoraFolders
from engine.lora.hashes import LoraHashes, hashes_of


class LoraOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The JSON output for a LoRA: its description, and its hashes if they were asked for."""

    lora: LoraInfo
    sha256: str | None = None
    tensors_hash: str | None = None


def find_lora(name: str, paths: Paths) -> Path | None:
    """Return the LoRA of this name in the LoRA folders; None without one."""
    found = LoraFolders(paths.models, named_folders(paths)).look().find(name)
    return found.path if found else None


def describe(path: Path) -> LoraInfo | None:
    """Return the description of a LoRA file; None for any other file."""
    listed = list_one(path)
    info = LoraDescriber()(listed) if listed else None
    return info if info and not info.problem else None


def show(info: LoraInfo, *, hashes: bool, as_json: bool) -> None:
    """Print what is known of a LoRA; with `hashes`, read it to its end for these."""
    found = _hashes(Path(info.path), info.size) if hashes else None
    if as_json:
        whole, tensors = (found.whole, found.tensors) if found else (None, None)
        print_json(LoraOutput(lora=info, sha256=whole, tensors_hash=tensors))
        return
    say(info.path)
    for line in _lines(info, found):
        say(line)


def _hashes(path: Path, size: int) -> LoraHashes:
    bar = ByteBar("Hashing", size)
    try:
        return hashes_of(path, bar.show)
    except OSError as error:
        raise unreadable(path, error) from error
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        bar.clear()


def _lines(info: LoraInfo, hashes: LoraHashes | None) -> Iterator[str]:
    facts = {
        "is": info.purpose,
        "title": info.title,
        "base model": info.base_model,
        "trigger words": ", ".join(info.trigger_words),
        "rank": "" if info.rank is None else f"at most {info.rank}",
        "few steps": _few_steps(info),
        "hash": f"{hashes.whole[:MODEL_HASH_DIGITS]} (AutoV2), of {hashes.whole}" if hashes else "",
        "AutoV3": (hashes.tensors or "")[:TENSORS_HASH_DIGITS] if hashes else "",
        "stated hashes": "" if hashes else ", ".join(info.hashes),
    }
    yield from (f"  {name:<15}{text}" for name, text in facts.items() if text)
    yield f"  {'apply it with':<15}--lora {_quoted(info.path)}:1, or <lora:{info.name}:1>"


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path


def _few_steps(info: LoraInfo) -> str:
    few = info.few_steps
    if few is None:
        return ""
    return f"{few.title}: {few.sampler.label}, {few.steps} steps, guidance {few.guidance:g}"
