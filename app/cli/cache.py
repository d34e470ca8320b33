"""`safelight cache`: list or clear cached data."""

import argparse
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import msgspec

from app.cli.terminal import print_json, print_note, print_table, say
from app.paths import find_paths
from engine.api.machine import ArtifactInfo
from engine.api.sentences import sentence
from engine.api.values import ArtifactKind, ErrorCode
from engine.compile.cache import NetworkCache
from engine.errors import EngineError

_KINDS = {
    ArtifactKind.COMPILED_NETWORK: "compiled",
    ArtifactKind.CONVERTED_WEIGHTS: "converted weights",
    ArtifactKind.MERGED_WEIGHTS: "merged weights",
    ArtifactKind.ENCODED_PROMPTS: "encoded prompts",
}


class CacheOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight cache --json`; `freed_bytes` counts deleted bytes."""

    folder: str
    artifacts: tuple[ArtifactInfo, ...]
    freed_bytes: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("action", nargs="?", choices=("list", "clear"), default="list")
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to clear; default: all")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """List the cached artifacts, or delete them; an artifact that a job uses stays."""
    folder = find_paths().cache
    cache = NetworkCache(folder)
    before = cache.listed()
    freed = 0
    if options.action == "clear":
        _require_known(options.names, before)
        cache.remove(options.names)
        freed = _bytes(before) - _bytes(cache.listed())
    left = cache.listed()
    if options.json:
        print_json(CacheOutput(str(folder), left, freed))
        return 0
    if options.action == "clear":
        say(f"{_size(freed)} freed.")
        in_use = [entry for entry in left if not options.names or entry.name in options.names]
        for entry in in_use:
            print_note(f"{entry.name} is in use and stays.")
        return 0
    _print(left, str(folder))
    return 0


def _require_known(names: Collection[str], entries: Sequence[ArtifactInfo]) -> None:
    unknown = sorted(set(names) - {entry.name for entry in entries})
    if unknown:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("The cache holds nothing called {unknown}.", unknown=unknown[0]),
            sentence("`safelight cache` lists what it holds."),
        )


def _print(entries: Sequence[ArtifactInfo], folder: str) -> None:
    if not entries:
        say(f"Nothing is kept in {folder}.")
        return
    rows = [
        (
            entry.name,
            _KINDS[entry.kind],
            entry.network or "-",
            entry.checkpoint or "any",
            entry.device or "any",
            _size(entry.bytes),
            f"{datetime.fromtimestamp(entry.last_used, UTC).astimezone():%Y-%m-%d %H:%M}",
        )
        for entry in sorted(entries, key=lambda entry: -entry.last_used)
    ]
    print_table(("NAME", "KIND", "NETWORK", "MODEL", "DEVICE", "SIZE", "LAST USED"), rows)
    say()
    say(f"{_size(_bytes(entries))} in {folder}; all of it can be made again.")


def _bytes(entries: Sequence[ArtifactInfo]) -> int:
    return sum(entry.bytes for entry in entries)


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
