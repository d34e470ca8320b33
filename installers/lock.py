"""Renews `inputs.toml`: `python -m installers.lock`.

Wheels are those that constraints.txt chooses for Python 3.13, which uv resolves for each system;
addresses, sizes and hashes come from the package index. Each system adds files of its own.
"""

import json
import os
import subprocess
import tomllib
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import msgspec
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename

from installers.inputs import INPUTS, File, InputError, Inputs, Target
from installers.trimming import read_trim

PYTHON = (3, 13)
_INDEX = "https://pypi.org/simple"
_ROOT = Path(__file__).parents[1]
_UV = _ROOT / "build" / "uv" / "bin" / "uv"
_HEADER = "# Every file that the installers are made of. Made by `make installers-lock`.\n"


@dataclass(frozen=True)
class _Platform:
    """A target as uv calls it, and the platform tags of wheels that run there, best first."""

    uv: str
    tags: tuple[str, ...]


def _manylinux(newest: int) -> tuple[str, ...]:
    named = (f"manylinux_2_{minor}_x86_64" for minor in range(newest, 4, -1))
    return (*named, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")


_PLATFORMS = {
    Target.LINUX: _Platform("x86_64-manylinux_2_34", _manylinux(34)),
    Target.WINDOWS: _Platform("x86_64-pc-windows-msvc", ("win_amd64",)),
    Target.MACOS: _Platform("aarch64-apple-darwin", tuple(mac_platforms((14, 0), "arm64"))),
}


def main() -> None:
    """Write `inputs.toml` anew."""
    from installers.systems import SYSTEMS

    wheels = _merged(wheel for target in Target for wheel in _wheels(target))
    files = [file for system in SYSTEMS.values() for file in system.newest_files()]
    inputs = Inputs(tuple(wheels), tuple(files))
    INPUTS.write_text(_HEADER + toml(inputs), encoding="utf-8")


def toml(inputs: Inputs) -> str:
    """Return inputs as TOML with a table for each file, so that changes are easy to read."""
    tables: list[str] = []
    for section in ("wheels", "files"):
        for file in getattr(inputs, section):
            values = msgspec.to_builtins(file)
            lines = (f"{key} = {json.dumps(value)}" for key, value in values.items())
            tables.append("\n".join(("", f"[[{section}]]", *lines)))
    return "\n".join(tables) + "\n"


@cache
def index_files(name: str) -> list[dict[str, object]]:
    """Return the index's entries for all files of a distribution."""
    request = urllib.request.Request(f"{_INDEX}/{name}/")
    request.add_header("Accept", "application/vnd.pypi.simple.v1+json")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["files"]


def index_file(entry: Mapping[str, object], name: str, version: str, target: Target) -> File:
    """Return an entry of the index as a pinned file."""
    hashes = cast("Mapping[str, str]", entry["hashes"])
    url, size = cast("str", entry["url"]), cast("int", entry["size"])
    return File(name, version, url, size, hashes["sha256"], (target,))


def _wheels(target: Target) -> Iterable[File]:
    best_first = {tag: rank for rank, tag in enumerate(_tags(target))}
    for name, version in _resolved(target):
        ranked: list[tuple[int, str, File]] = []
        for entry in index_files(name):
            file_name = cast("str", entry["filename"])
            if not file_name.endswith(".whl") or entry.get("yanked"):
                continue
            _, of, _, tags = parse_wheel_filename(file_name)
            fitting = [best_first[tag] for tag in tags if tag in best_first]
            if str(of) == version and fitting:
                found = index_file(entry, name, version, target)
                ranked.append((min(fitting), file_name, found))
        if not ranked:
            raise InputError(f"The index has no wheel of {name} {version} for {target}.")
        yield min(ranked, key=lambda one: one[:2])[2]


def _tags(target: Target) -> Iterable[Tag]:
    platforms = _PLATFORMS[target].tags
    yield from cpython_tags(PYTHON, platforms=platforms)
    yield from compatible_tags(PYTHON, f"cp{PYTHON[0]}{PYTHON[1]}", platforms)


def _resolved(target: Target) -> list[tuple[str, str]]:
    """Return names and versions of all distributions that a system's tree has."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = "\n".join(project["project"]["dependencies"])
    command = [
        str(_UV), "pip", "compile", "-", "--quiet", "--no-config", "--no-header", "--no-annotate",
        "--only-binary", ":all:", "--default-index", _INDEX,
        "--constraint", str(_ROOT / "constraints.txt"),
        "--python-version", ".".join(map(str, PYTHON)),
        "--python-platform", _PLATFORMS[target].uv,
    ]  # fmt: skip
    own = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    environment = {**own, "MACOSX_DEPLOYMENT_TARGET": "14.0"}
    done = subprocess.run(
        command, input=wanted, env=environment, check=True, capture_output=True, text=True
    )
    pairs = (line.partition(";")[0].strip().split("==") for line in done.stdout.splitlines())
    named = [(canonicalize_name(name), version) for name, version in pairs]
    left_out = read_trim().left_out
    return [(name, version) for name, version in named if name not in left_out]


def _merged(wheels: Iterable[File]) -> list[File]:
    """Return each wheel once, with all the systems that take it, sorted by name."""
    targets: dict[str, list[Target]] = defaultdict(list)
    first: dict[str, File] = {}
    for wheel in wheels:
        first.setdefault(wheel.url, wheel)
        targets[wheel.url].extend(wheel.targets)
    merged = (
        msgspec.structs.replace(one, targets=tuple(targets[url])) for url, one in first.items()
    )
    return sorted(merged, key=lambda wheel: (wheel.name, wheel.url))


if __name__ == "__main__":
    main()
